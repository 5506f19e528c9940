"""Known faults, by which the generator leaves programs out; `--all` makes them too.

An entry stays only as long as the fault: a cause, and what is left out for it.
"""

KNOWN = {
    "fill in files": "results with a fill value other than zero in .npy (sparse) and .tns (dense)",
    "names across terms": "`--dim` reaches the first term only: files must say all extents",
    "linear coordinates": "linear coordinates of more than 64 bits overflow",
    "inner splits": "the inner part of a split is split again",
    "shifted columns": "`Y(i, j) = A(i + 5, j)` of an operand stored by columns goes over all `i`: minutes for long modes",
    "widened terms": "`y(j) = x(j) - (2 + b(i, j))` with `b: u8` and `y: f64` sums `2 + b` as one term",
    "sizes of two statements": "`--dim Y1_size=` is unknown where two statements assign `Y` at the same computed index",
    "roots that reduce": "`=` with `min`, `max` or `prod` at the root behind `where`, or at computed indices",
}
