"""Tables as arrays: columns of keys are modes, with their labels."""

from __future__ import annotations

from typing import Any, Iterable, Mapping

import numpy as np

from . import _functions, _structure
from ._array import Array, of_entries


class Table:
    """An array whose modes have names, and whose indices have labels: see :func:`spc.from_table`.

    >>> sales = spc.from_table(df, keys=["shop", "product"], values="price")
    >>> sales.array.shape
    (3, 5)
    >>> sales.sum("product").to_pandas()
    >>> sales["Oslo", "tea"]
    """

    __slots__ = ("array", "labels")

    #: The values, with a mode for each key.
    array: Array
    #: Of each mode its name, and the label of each index.
    labels: dict[str, np.ndarray]

    def __init__(self, array: Array, labels: Mapping[str, Any]):
        self.array, self.labels = array, {name: np.asarray(each) for name, each in labels.items()}
        if tuple(map(len, self.labels.values())) != array.shape:
            raise ValueError(f"the labels {[len(each) for each in self.labels.values()]} do not fit the shape {array.shape}")

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the modes."""
        return tuple(self.labels)

    def _axes(self, names: Iterable[str]) -> tuple[int, ...]:
        wrong = [name for name in names if name not in self.labels]
        if wrong:
            raise KeyError(f"there is no mode {wrong[0]!r}: they are {', '.join(self.labels)}")
        return tuple(self.names.index(name) for name in names)

    def _reduced(self, function: Any, names: tuple[str, ...]) -> Table:
        axes = self._axes(names or self.names)
        left = {name: each for number, (name, each) in enumerate(self.labels.items()) if number not in axes}
        return Table(function(self.array, axis=axes), left)

    def sum(self, *names: str) -> Table:
        """The sum over modes; over all if none is named."""
        return self._reduced(_functions.sum, names)

    def mean(self, *names: str) -> Table:
        """The mean over modes, of absent entries too."""
        return self._reduced(_functions.mean, names)

    def max(self, *names: str) -> Table:
        """The greatest element over modes; absent entries are zeros."""
        return self._reduced(_functions.max, names)

    def min(self, *names: str) -> Table:
        """The least element over modes; absent entries are zeros."""
        return self._reduced(_functions.min, names)

    def __getitem__(self, labels: Any) -> Any:
        """The element at labels, one for each mode."""
        labels = labels if isinstance(labels, tuple) else (labels,)
        if len(labels) != len(self.labels):
            raise KeyError(f"an element has {len(self.labels)} labels, of {', '.join(self.labels)}, not {len(labels)}")
        return self.array[tuple(self._place(name, label) for name, label in zip(self.labels, labels))]

    def select(self, **labels: Any) -> Table:
        """The part at one label of some modes: ``sales.select(shop="Oslo")``."""
        self._axes(labels)
        index = tuple(self._place(name, labels[name]) if name in labels else slice(None) for name in self.labels)
        made = self.array[index]
        return Table(made if isinstance(made, Array) else _functions.array(made), {name: each for name, each in self.labels.items() if name not in labels})

    def _place(self, name: str, label: Any) -> int:
        known = self.labels[name]
        found = np.flatnonzero(known == label)
        if not len(found):
            raise KeyError(f"{label!r} is no label of {name!r}")
        return int(found[0])

    def to_pandas(self, value: str = "value") -> Any:
        """The stored entries as a data frame of pandas': a column of labels for each mode, and one of values."""
        import pandas

        coordinates, values = self.array.entries()
        columns = {name: each[place] for (name, each), place in zip(self.labels.items(), coordinates)}
        return pandas.DataFrame({**columns, value: values})

    def __repr__(self) -> str:
        modes = ", ".join(f"{name}: {len(each)}" for name, each in self.labels.items())
        return f"<spc.Table ({modes}) of {self.array.dtype}>"


def from_table(table: Any, keys: Iterable[str], values: str | None = None, *, duplicates: str = "sum") -> Table:
    """The array of a table: a mode for each column of keys, whose distinct values, in order, are the labels of its indices.

    >>> df = pandas.DataFrame({"shop": ["Oslo", "Rome", "Oslo"], "product": ["tea", "tea", "salt"], "price": [3.0, 2.5, 1.0]})
    >>> spc.from_table(df, keys=["shop", "product"], values="price").array.shape
    (2, 2)

    :param table: a data frame of pandas or polars, a table of pyarrow, or a dictionary of columns.
    :param keys: the names of columns of texts, numbers or dates.
    :param values: the column of values, whose element type the array has; without it, rows are counted.
    :param duplicates: what several rows with the same keys are: ``"sum"`` or ``"refuse"``.
    """
    names = list(keys)
    columns = [_column(table, name) for name in names]
    labels, coordinates = {}, []
    for name, column in zip(names, columns):
        known, places = np.unique(column.astype(str) if column.dtype == object else column, return_inverse=True)
        labels[name] = known
        coordinates.append(places.reshape(-1).astype(np.int64))
    counted = np.ones(len(columns[0]) if columns else 0, np.int64) if values is None else _column(table, values)
    if counted.dtype.kind not in "biufc":
        raise TypeError(f"the column {values!r} has {counted.dtype}, not numbers: convert it, or leave out values= to count rows")
    if duplicates not in ("sum", "refuse"):
        raise ValueError(f"duplicates={duplicates!r}: say 'sum' or 'refuse'")
    shape = tuple(map(len, labels.values()))
    made = _structure.summed(coordinates, counted, shape, refuses=duplicates == "refuse")
    return Table(of_entries(made), labels)


def _column(table: Any, name: str) -> np.ndarray:
    try:
        column = table[name]
    except Exception:
        raise KeyError(f"the table has no column {name!r}") from None
    made = np.asarray(column.to_numpy() if hasattr(column, "to_numpy") else column)
    if made.dtype == object:
        missing = np.array([each is None or each != each for each in made])
    else:
        missing = made != made
    if missing.any():
        raise ValueError(f"the column {name!r} has missing values: leave out these rows, or fill them")
    return made
