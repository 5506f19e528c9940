"""Kernels that are prepared on ranks once, and run many times."""

from __future__ import annotations

import operator
from typing import Any, Iterable, Protocol

import numpy as np

from . import _convert, _native, _ranks


class _Kernel(Protocol):
    """What is asked of a kernel that is prepared."""

    _text: str

    def _known(self, name: str) -> None: ...

    def _inputs(self, args: Iterable[Any], names: Iterable[str] | None = None) -> tuple[tuple[Any, ...], Any]: ...

    def _results(self, made: list[tuple[str, _native.Storage]] | None) -> Any: ...


class Prepared:
    """A kernel on ranks, as :meth:`spc.Kernel.prepare` makes it: each rank keeps its part of the inputs and what it has made last.

    A call takes other elements of dense inputs by name, which stay until others come, runs the kernel, and gives the results as a call of
    the kernel does: on the first rank, and ``None`` on the others. With :meth:`run` and :meth:`feed` results stay where they are. Each rank
    that is a process calls the same methods in the same order.

    Given arrays are copied: what happens to them later is of no matter. What is refused (an input that is sparse, of another shape, or of no
    such name) changes nothing. After whatever else goes wrong on a rank, and after a ``KeyboardInterrupt``, it is closed. It is for one
    thread at a time, and for the process that has made it, not for one that is forked.
    """

    def __init__(self, kernel: _Kernel, problem: _native.Problem, prepared: _native.Prepared, ranks: Any):
        self._kernel, self._problem, self._prepared, self._ranks = kernel, problem, prepared, ranks

    def __call__(self, **inputs: Any) -> Any:
        """Runs it, with other elements of these inputs, and gives the results."""
        return self._call(inputs, runs=1, gathers=True)

    def run(self, **inputs: Any) -> None:
        """Runs it, with other elements of these inputs. The results stay with the ranks."""
        self._call(inputs, runs=1)

    def feed(self, **results: str) -> None:
        """Makes results of the last run inputs of the next: ``feed(x="y")``. Rows go from rank to rank, and no rank has all of them.

        Shapes and element types have to be alike, and the result dense.
        """
        self._call({}, feeds=results)

    def gather(self) -> Any:
        """The results of the last run, on the first rank."""
        return self._call({}, gathers=True)

    def iterate(self, times: int, **results: str) -> Any:
        """Runs it so many times, with :meth:`feed` in between, and gives the results of the last run: ``iterate(10, x="y")``."""
        times = operator.index(times)
        if times < 1:
            raise ValueError(f"times={times}: it runs once at least")
        return self._call({}, runs=times, feeds=results, gathers=True)

    @property
    def placement(self) -> dict[str, Any]:
        """How the work is shared out, and what that costs: see :meth:`spc.Kernel.placements`."""
        return self._prepared.placement

    def close(self) -> None:
        """Ends what runs for it, also on a ``with`` block's end. It may be called again."""
        self._prepared.close()

    def __enter__(self) -> Prepared:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _call(self, inputs: dict[str, Any], runs: int = 0, feeds: dict[str, str] | None = None, gathers: bool = False) -> Any:
        with _ranks.agreed(self._ranks):
            self._prepared.check()
            given = self._given(inputs)
        return self._kernel._results(self._prepared.call(given, runs, list((feeds or {}).items()), gathers))

    def _given(self, inputs: dict[str, Any]) -> list[tuple[str, Any]]:
        for name in inputs:
            self._kernel._known(name)
        values = [self._number(name, value) if isinstance(value, (int, float, complex)) else value for name, value in inputs.items()]
        return list(zip(inputs, self._kernel._inputs(values, inputs)[0]))

    def _number(self, name: str, value: complex) -> Any:
        """A number of Python's as an array of the input's elements."""
        dtype = np.dtype(_convert.ELEMENTS[self._problem.element(name)])
        made = np.asarray(value, dtype)
        if dtype.kind in "iub" and made != value:
            raise ValueError(f"`{name}` has elements {dtype}, and {value} is none of them")
        return made

    def __repr__(self) -> str:
        return f"<spc.Prepared {self._kernel._text.strip()!r} by {self.placement['distribute']!r}>"
