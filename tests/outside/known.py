"""Known faults, by which the generator leaves programs out; `--all` makes them too.

An entry stays only as long as the fault: a cause, and what is left out for it.
"""

KNOWN = {
    "shifted columns": "`Y(i, j) = A(i + 5, j)` of an operand stored by columns goes over all `i`: minutes for long modes",
}
