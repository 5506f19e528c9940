"""Gradients of kernels: kernels that the compiler makes of their notation."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from . import _native


class Gradient:
    """What a loss gains by some inputs of a kernel, given what it gains by the results; see :meth:`spc.Kernel.grad`.

    It is called as the kernel is, and takes for each result ``y`` what the loss gains by it, by the name ``dy`` or behind the inputs in the
    order of the results; for a result without modes 1 if it is not given.
    """

    def __init__(self, kernel: Any, by: tuple[str, ...]):
        for name in by:
            kernel._known(name)
        self._kernel = kernel
        self._by = by or tuple(name for name in kernel.inputs if kernel._declared[name][0] in ("f64", "f32", "f16", "bf16"))
        self._made: dict[Any, Any] = {}
        if kernel._is_whole:
            # What has no gradient is refused here.
            self._for(())

    def __call__(self, *args: Any, **named: Any) -> Any:
        kernel = self._kernel
        given = {f"d{result}": named.pop(f"d{result}") for result in kernel.results if f"d{result}" in named}
        inputs, behind = args[:len(kernel.inputs)], args[len(kernel.inputs):]
        if len(behind) > len(kernel.results):
            raise TypeError(f"the gradient takes {len(kernel.inputs)} inputs and what is gained by {len(kernel.results)} results, and got {len(args)}")
        for result, value in zip(kernel.results, behind):
            if given.setdefault(f"d{result}", value) is not value:
                raise TypeError(f"there are two values for d{result}")
        values = dict(zip(kernel.inputs, kernel._ordered(inputs, named)))
        made = self._for(tuple(values.values()))
        return made(**{name: values[name] if name in values else self._gained(name, given) for name in made.inputs})

    def _for(self, args: tuple[Any, ...]) -> Any:
        """The kernel for inputs in these formats."""
        kernel = self._kernel
        inputs, key = kernel._inputs(args) if not kernel._is_whole else ((), ())
        made = self._made.get(key)
        if made is None:
            formats = [] if kernel._is_whole else kernel._formats_for(inputs)
            text = _native._gradient(kernel._text, formats, list(self._by))
            made = type(kernel)(text, {}, dimensions=dict(kernel._dimensions) if not kernel._is_whole else None, backend=kernel._backend,
                                deterministic=kernel._deterministic, warns=False)
            self._made[key] = made
        return made

    def _gained(self, name: str, given: dict[str, Any]) -> Any:
        """What the loss gains by a result, for the input of the gradient that stands for it."""
        # Where the kernel has a tensor of that name, it has a number behind it.
        result = name if name in given else re.sub(r"_[0-9]+$", "", name)
        if result in given:
            return given[result]
        plain = result[1:]
        declared = self._kernel._declared.get(plain)
        if declared is None or declared[2] != 0:
            raise TypeError(f"there is no value for {name}: what the loss gains by {plain}")
        return np.ones((), "float32" if declared[0] == "f32" else "float64")[()].item()

    def text(self, *args: Any, **named: Any) -> str:
        """The gradient as a text in the language, for inputs in the formats of these."""
        kernel = self._kernel
        return self._for(kernel._ordered(args, named) if not kernel._is_whole else ())._text

    def __repr__(self) -> str:
        return f"<spc.Gradient of {self._kernel!r} by {', '.join(self._by)}>"
