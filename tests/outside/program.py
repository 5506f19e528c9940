"""A program with its data: what one run of the command needs."""

from dataclasses import dataclass

import numpy as np

from files import Presentation
from language import Kernel, Num, Op, Var, accesses


@dataclass(frozen=True)
class Input:
    coordinates: np.ndarray  # a row for each entry
    values: np.ndarray
    presentation: Presentation


# In place of a grid: entries are cut in two again and again.
BISECTION = "bisection"


@dataclass(frozen=True)
class Ranks:
    """On how many ranks a program runs, and what they share out: an input, a grid over its modes, an index, or None for whatever costs
    least. `directive`: the schedule says it, and not the command."""

    count: int
    shared: str = None
    grid: tuple = ()
    directive: bool = False

    def option(self):
        if self.grid == BISECTION:
            return f"{self.shared}:{BISECTION}"
        return self.shared if not self.grid else f"{self.shared}:{'x'.join(map(str, self.grid))}"

    def text(self):
        if self.grid == BISECTION:
            return f"distribute({self.shared}: {BISECTION})"
        grid = f": grid({', '.join(map(str, self.grid))})" if self.grid else ""
        return f"distribute({self.shared}{grid})"


@dataclass(frozen=True)
class Program:
    kernel: Kernel
    extents: dict  # of index variables, by name
    shapes: dict  # of tensors, by name
    inputs: dict
    outputs: dict  # name of a result to the kind of its file: tns, mtx, npy, spct, each also with .gz; or `-`
    dims: tuple = ()
    definitions: tuple = ()
    others: tuple = ()  # further kernels of the file, before the one that is run
    threads: int = 1
    inline: bool = False  # an expression with `-f` in place of a file
    style: str = ""
    seed: int = 0
    ranks: Ranks = None

    @property
    def long(self):
        """The most coordinates of an axis that is whole."""
        return 300 if self.style == "huge" else 70_000

    def axis(self, name):
        """The coordinates of an index variable that are told apart."""
        extent = self.extents[name]
        if extent <= self.long:
            return np.arange(extent)
        found = [np.zeros(0, np.int64)]
        parameters = {tensor.name for tensor in self.kernel.parameters}
        for statement in self.kernel.statements:
            for access in accesses(statement.value) + ([statement.mask] if statement.mask else []):
                if access.name not in parameters:
                    continue
                for mode, index in enumerate(access.indices):
                    match index:
                        case Var(other) if other == name:
                            found.append(self.inputs[access.name].coordinates[:, mode])
                        case Op("+", Var(other), Num(offset)) if other == name:
                            found.append(self.inputs[access.name].coordinates[:, mode] - offset)
        all = np.unique(np.concatenate(found))
        return all[(all >= 0) & (all < extent)]
