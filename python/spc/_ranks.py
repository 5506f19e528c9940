"""Calls on many ranks: threads of this process, or processes of MPI."""

from __future__ import annotations

import contextlib
import operator
import os
from collections.abc import Iterator
from typing import Any

from . import _native

MOST = 1024
"""The most ranks that run as threads."""


def checked(ranks: Any, option: str = "ranks") -> Any:
    """What ``ranks=``, or another option, says: a number of threads, or a communicator of mpi4py's."""
    if hasattr(ranks, "Ialltoallv") and hasattr(ranks, "Get_rank"):
        if getattr(ranks, "Is_inter", lambda: False)():
            raise TypeError(f"{option}= takes an intracommunicator: ask for .Merge() of this one")
        return ranks
    try:
        count = operator.index(ranks)
    except TypeError:
        count = None
    if count is None or isinstance(ranks, bool):
        raise TypeError(f"{option}={ranks!r}: say how many threads are ranks, or give a communicator of mpi4py's")
    if not 1 <= count <= MOST:
        raise ValueError(f"{option}={count}: 1 to {MOST} ranks run as threads")
    return count


def is_path(given: Any) -> bool:
    """Whether this is the path of a file."""
    return isinstance(given, (str, os.PathLike))


@contextlib.contextmanager
def agreed(ranks: Any) -> Iterator[None]:
    """Tells other processes of an exception, before they wait for this one."""
    try:
        yield
    except BaseException as error:
        _native._stopped(ranks, f"{type(error).__name__}: {error}")
        raise
