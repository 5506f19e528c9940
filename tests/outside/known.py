"""Known faults, by which the generator leaves programs out; `--all` makes them too.

An entry stays only as long as the fault: a cause, and what is left out for it.
"""

KNOWN = {
    "shifted columns": "`Y(i, j) = A(i + 5, j)` of an operand stored by columns goes over all `i`: minutes for long modes",
    "long modes on ranks": "a plan has a place for each coordinate of a mode: no memory for modes of billions",
    "entries that no index cuts": "`y(i) = X(i + j) * b(j)` with `X` shared out: each rank has all entries of `X`, and they count many times",
    "blocked results on ranks": "a rank that combines what others have made of a result in blocks gathers the padding of its blocks, too",
    "windows on ranks": "`Y(2..6) = Z(3..7) * B(2..6)`: each rank is told the extent of a variable that the text has no name for",
    "diagonals on ranks": "of `[dense, diagonal]` a rank has other numbers of rows than of columns",
    "files that do not come in parts": "`--distribute X` of a `.spct` file as `ell` is refused without a word on what to do",
}
