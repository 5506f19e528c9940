"""Warnings, each at the line outside of this package that caused it."""

from __future__ import annotations

import os
import sys
import warnings


class CopyWarning(UserWarning):
    """An operand was copied, as its arrays are not in an order that a kernel reads."""


class InterpreterWarning(RuntimeWarning):
    """Kernels run in the interpreter: there is no Rust compiler, and no machine code can be made."""


def copied(message: str) -> None:
    """Warns of an operand that is copied."""
    _warn(message, CopyWarning)


_is_known = False


def interpreted(reason: str) -> None:
    """Warns of kernels that run in the interpreter: once in a process."""
    global _is_known
    if not _is_known:
        _is_known = True
        _warn(f"kernels run in the interpreter, 50 to 1,800 times slower than native code: {reason}", InterpreterWarning)


def _warn(message: str, category: type[Warning]) -> None:
    frame, level = sys._getframe(1), 2
    while frame is not None and os.path.dirname(frame.f_code.co_filename) == os.path.dirname(__file__):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)
