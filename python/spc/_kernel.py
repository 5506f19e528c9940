"""Kernels: compiled for the formats of their operands, and called."""

from __future__ import annotations

import functools
import inspect
import operator
import os
import re
import threading
import warnings
from collections import OrderedDict
from typing import Any, Callable, Iterable, NamedTuple

import numpy as np

from . import _convert, _einsum, _native, _ranks, _warnings
from ._array import Array, read
from ._gradient import Gradient
from ._prepared import Prepared


_NUMBERS = (float, int, complex, bool)
_ELEMENT_NAMES = frozenset(_convert.ELEMENTS) | {"bf16"}


# What elements without an entry are, behind a format.
_FILL = re.compile(r"\s+fill\s.*$")


def _split(format: str) -> tuple[str | None, str]:
    """The element type of a format as ``f32 csr``, if it says one, and the rest."""
    first, _, rest = format.strip().partition(" ")
    return (first, rest.strip() or "dense") if first in _ELEMENT_NAMES else (None, format.strip())


@functools.lru_cache(4096)
def _resolved(format: str, order: int) -> str:
    return _native._format(format, order)


def _common(elements: Iterable[str]) -> str | None:
    """The element type that NumPy promotes these to; none of none, and of truth values, which are masks."""
    dtypes = [_convert.ELEMENTS.get(element, np.float32) for element in elements]
    found = np.result_type(*dtypes) if dtypes else np.dtype(bool)
    return None if found.kind == "b" else _convert.element(found)


class Iterated(NamedTuple):
    """What :meth:`Kernel.iterate` computed."""

    results: Any
    steps: int
    is_met: bool
    history: list[float]


class Kernel:
    """A kernel: call it with its inputs by position or by name.

    It is compiled at the first call with inputs of some formats and element types, and kept for these. Results are NumPy arrays
    where they are dense, numbers where they have no modes, else :class:`spc.Array`; several are a tuple.

    ``out=`` is an array, or a tuple of arrays, that dense results are written into: C-contiguous, of the result's shape and element
    type, sharing no memory with the inputs. After a ``KeyboardInterrupt`` they hold anything, and a kernel that was in the middle of a
    chunk may write to them until the next call, which waits for it.

    ``ranks=4`` shares the work out among four threads that exchange messages, ``ranks=MPI.COMM_WORLD`` among the processes of a
    communicator of mpi4py's, all of which make the same call with the same inputs. Then the results are those of the first rank, and the
    others get ``None``; a rank that fails raises an exception in all. ``distribute=`` says what is shared out: ``"X"`` the entries of
    ``X`` in equal numbers, ``"X:2x2x1"`` a grid over its modes, ``"i"`` the range of an index of the result; without it, what costs least.

    With ``ranks=`` an input may be the path of a file. Of a ``.tns``, ``.mtx`` or ``.spct`` file whose entries are shared out, each rank reads
    its part, and none has all of it, where the format of the input is declared, or the file has one and ``distribute=`` names the input.
    """

    def __init__(self, text: str, formats: dict[str, str], *, dimensions: dict[str, int] | None = None,
                 backend: str | None = None, deterministic: bool = False, warns: bool = True):
        self._text, self._warns = text, warns
        self._formats = dict(formats)
        self._dimensions = list((dimensions or {}).items())
        self._backend, self._deterministic = backend, deterministic
        self._compiled: dict[Any, _native.Kernel] = {}
        self._lock = threading.Lock()
        self._last: _native.Kernel | None = None
        self._is_whole = "{" in text
        # Wrong texts and formats are refused here, with the place, and the names of the inputs are known from here on.
        self._defaults, probe = self._checked()
        self.inputs: list[str] = probe.inputs
        self.results: list[str] = probe.results
        self._declared = {name: (element, format, order) for name, element, format, order in probe.declared}
        self._maps = {name: (order, others) for name, order, others in probe.maps}
        self._places = {name: place for place, name in enumerate(self.inputs)}

    def __reduce__(self) -> Any:
        return _remade, (self._text, self._formats, dict(self._dimensions), self._backend, self._deterministic, self._warns)

    def _checked(self) -> tuple[list[tuple[str, str]], _native.Kernel]:
        """The formats of a call whose inputs are not known yet, and the kernel for them."""
        def made(formats: list[tuple[str, str]]) -> tuple[list[tuple[str, str]], _native.Kernel]:
            return formats, _native.Kernel(self._text, formats, self._dimensions, backend="interpreter")

        if self._is_whole:
            return made(list(self._formats.items()))
        names = _native._names(self._text)
        declared = [_split(self._formats[name])[0] for name in names[1:] if name in self._formats]
        element = _common(stated for stated in declared if stated is not None)
        try:
            return made(self._typed(names, element))
        except SyntaxError:
            # Whether inputs are of the type of the result, or complex, or truth values, the first call says.
            of_result = _split(self._formats.get(names[0], ""))[0]
            for other in [*([of_result] if of_result else []), "c64", "bool"] if element is None else []:
                try:
                    return made(self._typed(names, other))
                except SyntaxError:
                    pass
            raise

    def _typed(self, names: list[str], element: str | None) -> list[tuple[str, str]]:
        """The declared formats, with an element type where none is declared."""
        if element is None:
            return list(self._formats.items())
        formats = dict.fromkeys(names, "") | self._formats
        return [(name, format if _split(format)[0] else f"{element} {format}".strip()) for name, format in formats.items()]

    def __call__(self, *args: Any, out: Any = None, ranks: Any = None, distribute: str | None = None, **named: Any) -> Any:
        if ranks is not None:
            return self._on(_ranks.checked(ranks), args, named, out, distribute)
        if distribute is not None:
            raise TypeError("distribute= is for ranks: say ranks=, too")
        kernel, inputs = self._for(args, named)
        if out is not None:
            outs = out if isinstance(out, (tuple, list)) else (out,)
            kernel.call_into(inputs, list(outs))
            return out
        results = kernel.call(inputs)
        if len(results) == 1:
            return _given(results[0])
        return tuple(map(_given, results))

    def iterate(self, times: int, *args: Any, feed: dict[str, str], until: str | None = None, **named: Any) -> Iterated:
        """Calls the kernel at most ``times`` times, each time with results of the time before as inputs.

        :param feed: the inputs that take results: ``{"x": "y"}``. Both have the same format and element type.
        :param until: a rule that ends it before: ``"change < 1e-6"``, a result without modes, ``<``, ``<=``, ``>`` or ``>=``, and a number.
        :returns: ``results`` of the last call, ``steps``, ``is_met`` (whether the rule held after the last) and ``history`` (what it saw).

        What is made of other inputs alone is made once. Inputs are left as they are.

        >>> step = spc.kernel("fn step(x: f64) -> (y: f64, change: f64) { y = (x + 2 / x) / 2; change = abs(y - x); }")
        >>> found = step.iterate(50, 1.0, feed={"x": "y"}, until="change < 1e-9")
        >>> found.steps, found.is_met
        (5, True)
        """
        times = operator.index(times)
        if times < 1:
            raise ValueError(f"times={times}: it is called once at least")
        kernel, inputs = self._for(args, named)
        results, steps, is_met, history = kernel.iterate(inputs, list(feed.items()), times, until)
        given = [_given(result) for result in results]
        return Iterated(given[0] if len(given) == 1 else tuple(given), steps, is_met, history)

    def grad(self, *by: str) -> Gradient:
        """The gradient by some inputs, all of real numbers if none is named: what a loss gains by each, given what it gains by the results.

        It is a kernel that the compiler makes of this one's notation. That by a sparse input has the entries of the input.

        >>> loss = spc.kernel("f = w(i) * x(i) * x(i)")
        >>> loss.grad("x")(np.array([1.0, 2.0]), np.array([3.0, 4.0]))
        array([ 6., 16.])
        >>> spmv = spc.kernel("y(i) = A(i,j) * x(j)")
        >>> dA, dx = spmv.grad("A", "x")(A, x, dy=np.ones(3))
        """
        return Gradient(self, by)

    def _for(self, args: tuple[Any, ...], named: dict[str, Any]) -> tuple[_native.Kernel, tuple[Any, ...]]:
        """What runs for these inputs, and the inputs in order."""
        if named:
            args = self._ordered(args, named)
        elif len(args) != len(self.inputs):
            raise TypeError(f"the kernel takes {len(self.inputs)} inputs ({', '.join(self.inputs)}), and got {len(args)}")
        inputs, key = self._inputs(args)
        kernel = self._compiled.get(key)
        if kernel is None:
            kernel = self._compile(inputs, key)
        self._last = kernel
        return kernel, inputs

    def _on(self, ranks: Any, args: tuple[Any, ...], named: dict[str, Any], out: Any, distribute: str | None) -> Any:
        """The results of all ranks together, on the first."""
        with _ranks.agreed(ranks):
            if out is not None:
                raise TypeError("out= is for one rank: with ranks=, results are new arrays")
            problem = self._problem(args, named, distribute)
        return self._results(problem.run(ranks, distribute))

    def prepare(self, *args: Any, ranks: Any, distribute: str | None = None, **named: Any) -> Prepared:
        """The kernel with these inputs on ranks, to be run many times with other elements of the dense ones.

        It is planned and compiled once, and what a rank has of the sparse inputs stays there. ``ranks`` and ``distribute`` are those of a
        call. Arrays are copied. See :class:`spc.Prepared`.

        >>> with spmv.prepare(A, x, ranks=4) as prepared:
        ...     y = prepared(x=other)
        """
        ranks = _ranks.checked(ranks)
        with _ranks.agreed(ranks):
            problem = self._problem(args, named, distribute, keeps=True)
        return Prepared(self, problem, problem.prepare(ranks, distribute), ranks)

    def _results(self, made: list[tuple[str, _native.Storage]] | None) -> Any:
        """Results of ranks as users get them: nothing but on the first one."""
        if made is None:
            return None
        found = dict(made)
        results = [_given(found[name]) for name in self.results]
        return results[0] if len(results) == 1 else tuple(results)

    def _problem(self, args: tuple[Any, ...], named: dict[str, Any], distribute: str | None = None, keeps: bool = False,
                 in_parts: bool = True) -> _native.Problem:
        ordered = zip(self.inputs, self._ordered(args, named))
        of_file = (lambda name, path: self._read(name, path, distribute)) if in_parts else (lambda _, path: read(path))
        given = [of_file(name, value) if _ranks.is_path(value) else value for name, value in ordered]
        inputs, _ = self._inputs(given)
        formats = [] if self._is_whole else self._formats_for(inputs)
        return _native.Problem(self._text, formats, self._dimensions, self._backend, self._deterministic, self.inputs, inputs, keeps)

    def _read(self, name: str, path: Any, distribute: str | None) -> Array | _native.SharedFile:
        """An input that is in a file: of one that is shared out so that ranks can read parts of it, nothing is read yet."""
        formats = [] if self._is_whole else list(self._formats.items())
        if _native._takes_parts(self._text, formats, self._deterministic, distribute, name):
            stated = self._declared[name][0] if self._is_whole or _split(self._formats.get(name, "dense"))[0] else None
            shared = _native._shared_file(os.fspath(path), stated)
            # A text has no format of its own.
            if shared is not None and (self._is_whole or shared.format is not None or name in self._formats):
                return shared
        return read(path)

    def placements(self, *args: Any, ranks: int, **named: Any) -> list[dict[str, Any]]:
        """How the work can be shared out among so many ranks, for these inputs, and what each way costs; the one that takes least time
        comes first. It is made of coordinates alone: nothing runs.

        Each is a dictionary of ``distribute``, as a call takes it, ``bytes`` that all ranks send, ``most_bytes_of_a_rank`` that one sends
        or takes, ``messages``, ``imbalance`` (the entries of the rank that has most, over the mean), ``modelled_seconds``,
        ``estimated_result_bytes`` of entries of sparse results, which are not among ``bytes``, and ``bytes_on_every_rank``, of operands
        that are not sent.
        """
        return self._problem(args, named, in_parts=False).plans(operator.index(ranks))

    def _ordered(self, args: tuple[Any, ...], named: dict[str, Any]) -> tuple[Any, ...]:
        found = dict(zip(self.inputs, args))
        if len(args) > len(self.inputs):
            raise TypeError(f"the kernel takes {len(self.inputs)} inputs ({', '.join(self.inputs)}), and got {len(args) + len(named)}")
        for name, value in named.items():
            self._known(name)
            if name in found:
                raise TypeError(f"there are two values for the input {name!r}")
            found[name] = value
        missing = [name for name in self.inputs if name not in found]
        if missing:
            raise TypeError(f"there is no value for the input {missing[0]!r}")
        return tuple(found[name] for name in self.inputs)

    def _known(self, name: str) -> None:
        if name not in self._places:
            raise TypeError(f"there is no input {name!r}: the kernel takes {', '.join(self.inputs)}")

    def _inputs(self, args: Iterable[Any], names: Iterable[str] | None = None) -> tuple[tuple[Any, ...], Any]:
        """The inputs, or those of some names, as the native half takes them, and what they are compiled for."""
        if self._maps and names is None:
            args = self._with_maps(tuple(args))
        inputs: list[Any] = []
        key: list[Any] = []
        for name, arg in zip(self.inputs if names is None else names, args):
            if type(arg) is np.ndarray and arg.flags.c_contiguous and name not in self._formats and not self._is_whole and arg.dtype.isbuiltin == 1:
                inputs.append(arg)
                key.append((arg.dtype.char, arg.ndim))
                continue
            if type(arg) in _NUMBERS:
                inputs.append(arg)
                key.append("number")
                continue
            if type(arg) is _native.SharedFile:
                inputs.append(arg)
                key.append("file")
                continue
            if type(arg) is Array and not (self._is_whole or name in self._formats):
                _readable(arg, name)
                inputs.append(arg._storage)
                key.append(arg._key)
                continue
            storage = _readable(arg, name) if type(arg) is Array else _storage(arg, name)
            if self._is_whole or name in self._formats:
                storage = self._fitted(name, storage)
            inputs.append(storage)
            key.append(_convert.label_of(storage))
        return tuple(inputs), tuple(key)

    def _with_maps(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """The inputs with arrays of indices as tensors of one mode more."""
        given = dict(zip(self.inputs, args))
        for name, (order, others) in self._maps.items():
            array = given[name]
            if not isinstance(array, np.ndarray) and np.ndim(array) == order + 1:
                continue
            array = array.to_numpy() if isinstance(array, Array) else np.asarray(array)
            if array.ndim != order:
                raise ValueError(f"`{name}` is an array of indices with {order} modes, and the input has {array.ndim}")
            extents = (np.shape(given[other])[mode] for other, mode in others if other not in self._maps and np.ndim(given[other]) > mode)
            try:
                given[name] = indices(array, next(extents, None))
            except (IndexError, TypeError) as error:
                raise type(error)(f"`{name}`: {error}") from None
        return tuple(given.values())

    def _fitted(self, name: str, storage: _native.Storage) -> _native.Storage:
        """An input in the format that was declared for it."""
        element, format, order = self._declared[name]
        if len(storage.shape) != order:
            raise ValueError(f"`{name}` has {order} modes, and the input {len(storage.shape)}")
        is_stated = self._is_whole or _split(self._formats[name])[0] is not None
        if is_stated and storage.element != element:
            raise TypeError(f"`{name}` has elements {element}, and the input {storage.element}: convert it with astype")
        if storage.format == format or (not self._is_whole and _narrow(storage.format) == format):
            return storage
        if storage.nnz > 1000:
            _warnings.copied(f"`{name}` is stored as {format}, and the input as {storage.format}: it is converted in each call; make a tensor "
                          "of it once, with spc.tensor(…, format=…)")
        return storage.convert(format)

    def _compile(self, inputs: tuple[Any, ...], key: Any) -> _native.Kernel:
        with self._lock:
            kernel = self._compiled.get(key)
            if kernel is None:
                formats = [] if self._is_whole else self._formats_for(inputs)
                kernel = _native.Kernel(self._text, formats, self._dimensions, self._backend, self._deterministic)
                for warning in kernel.warnings if self._warns else ():
                    warnings.warn(warning, stacklevel=5)
                if kernel.fallback is not None:
                    _warnings.interpreted(kernel.fallback)
                self._compiled[key] = kernel
        return kernel

    def _formats_for(self, inputs: tuple[Any, ...]) -> list[tuple[str, str]]:
        formats: dict[str, str] = {}
        dtypes = []
        for name, value in zip(self.inputs, inputs):
            if isinstance(value, np.ndarray):
                formats[name] = f"{_convert.element(value.dtype)} dense"
                dtypes.append(value.dtype)
            elif isinstance(value, _native.Storage):
                fill = _FILL.search(self._formats.get(name, ""))
                said = fill.group() if fill else f" fill {value.fill}" if value.fill else ""
                formats[name] = f"{value.element} {value.format}{said}" if value.shape else f"{value.element} dense"
                if name not in self._maps:
                    dtypes.append(_convert.dtype_of(value))
            elif isinstance(value, _native.SharedFile):
                declared = _split(self._formats[name])[1] if name in self._formats else value.format
                formats[name] = f"{value.element} {declared}"
                dtypes.append(_convert.dtype_named(value.element))
        numbers = [type(value) for value in inputs if type(value) in _NUMBERS]
        dtype = np.result_type(*dtypes) if dtypes else np.dtype(np.float64)
        if complex in numbers:
            dtype = np.result_type(dtype, np.complex64)
        if float in numbers and dtype.kind in "iub":
            dtype = np.dtype(np.float64)
        element = _convert.element(dtype)
        for name in [*self.inputs, *self.results]:
            if name not in formats:
                stated, format = _split(self._formats.get(name, "dense"))
                formats[name] = f"{stated or element} {format}"
        # A number has no format, only an element type.
        return [(name, format if self._declared[name][2] else format.split()[0]) for name, format in formats.items()]

    def _any(self) -> _native.Kernel:
        """The kernel of the last call, or for the formats that were declared."""
        return self._last or _native.Kernel(self._text, self._defaults, self._dimensions, self._backend, self._deterministic)

    def code(self, language: str = "rust") -> str:
        """The loops as ``"rust"`` or as ``"cuda"``: for the inputs of the last call, or for the declared formats before the first."""
        return self._any().code(language)

    def explain(self) -> str:
        """The loops, and what was decided and why."""
        return self._any().explain()

    @property
    def backend(self) -> str:
        """What runs the kernel: ``native``, ``jit`` or ``interpreter``."""
        return self._any().backend

    @property
    def tier(self) -> str:
        """How the kernel of the last call runs: ``cached`` or ``rustc`` as native code of the Rust compiler, ``catalogue`` as native code
        that came with the package, ``jit`` as machine code made at once, or ``interpreter``; :attr:`tier_reason` says why."""
        return self._any().tier

    @property
    def tier_reason(self) -> str:
        """Why it runs in that way."""
        return self._any().tier_reason

    def settle(self) -> Kernel:
        """Waits for the Rust compiler where it is at work in the background, so that later calls run what it makes."""
        for made in list(self._compiled.values()):
            made.settle()
        return self

    def __repr__(self) -> str:
        return f"<spc.Kernel {self._text.strip()!r}>"


def _remade(text: str, formats: dict[str, str], dimensions: dict[str, int], backend: str | None, deterministic: bool, warns: bool) -> Kernel:
    """A kernel that was pickled: it is compiled again, or found on disk."""
    return Kernel(text, formats, dimensions=dimensions, backend=backend, deterministic=deterministic, warns=warns)


def _readable(array: Array, name: str) -> _native.Storage:
    """The storage of an array whose fill value a format can name."""
    fill = array.fill if array.is_sparse else None
    if fill and not _convert.is_named(fill):
        raise ValueError(f"`{name}`: elements that are not stored are {fill}, which no format names: pass .to_numpy() of it")
    return array._storage


def _storage(arg: Any, name: str) -> _native.Storage:
    try:
        return _convert.storage(arg)
    except (ValueError, TypeError) as error:
        raise type(error)(f"`{name}`: {error}") from error


@functools.lru_cache(4096)
def _narrow(format: str) -> str:
    """A format with the widths of indices that it has if it says none."""
    return (format.replace("(u64, pos = u64)", "").replace("(nonunique, u64, pos = u64)", "(nonunique)")
            .replace("(nonunique, u64)", "(nonunique)"))


def _given(storage: _native.Storage) -> Any:
    """A result as users get it."""
    if storage.plain_shape is None and not storage.is_dense:
        return Array(storage)
    array = _convert.numpy_of(storage)
    return array[()] if array.ndim == 0 else array


def indices(array: Any, extent: int | None = None) -> Array:
    """An array of integers as kernels take it where it stands as an index of another: ``src`` in ``"y(e) = x(src(e))"``.

    A call makes this of the array that it gets, and checks each element; what is made here is checked once. ``extent`` is the length of the mode
    that the elements are indices of, the least that holds all of them if it is not given. The result has that mode as its last.

    >>> src = spc.indices([2, 0, 2], 4)
    >>> src.shape
    (3, 4)
    >>> spc.kernel("y(e) = x(src(e))")(x=np.arange(4.0), src=src)
    array([2., 0., 2.])
    """
    return Array(_native.Storage.of_indices(np.ascontiguousarray(array), extent))


def kernel(text: str, *, dimensions: dict[str, int] | None = None, backend: str | None = None, deterministic: bool = False,
           **formats: str) -> Kernel:
    """A kernel, to be called many times.

    :param text: an assignment in index notation, ``"y(i) = A(i,j) * x(j)"``, or a whole kernel with declared formats,
        ``"fn spmv(A: csr, x: dense) -> y: dense { y(i) = A(i,j) * x(j); }"``.
    :param formats: of an assignment, the format of each tensor by name, ``A="csr"``, ``y="f32 dense"``. An input without one is taken in the
        format that it has; a result without one is dense. Without an element type, an input has its own, and a result that which NumPy
        promotes those of the inputs to.
    :param dimensions: extents of indices that no input has.
    :param backend: ``"native"`` waits for the Rust compiler, ``"jit"`` makes machine code at once, ``"interpreter"`` makes none. Without it
        a kernel that was not compiled before begins as machine code, and later calls run what the Rust compiler makes in the background.
        The two may differ by rounding.
    :param deterministic: the same bits on any number of threads and ranks, and in each call; the first call waits for the Rust compiler.
    """
    return Kernel(text, formats, dimensions=dimensions, backend=backend, deterministic=deterministic)


_CACHE: OrderedDict[Any, Any] = OrderedDict()
_MOST = 512


def _cached(key: Any, make: Callable[[], Any]) -> Any:
    made = _CACHE.get(key)
    if made is None:
        made = _CACHE[key] = make()
        if len(_CACHE) > _MOST:
            _CACHE.popitem(last=False)
    return made


def einsum(text: Any, *operands: Any, format: str | None = None, out: Any = None, dimensions: dict[str, int] | None = None,
           ranks: Any = None, distribute: str | None = None, optimize: Any = None, **named: Any) -> Any:
    """A product of tensors, summed over the indices that the result does not have.

    ``einsum("ij,j->i", A, x)`` takes operands in order, as NumPy does, also as ``einsum(A, [0, 1], x, [1], [0])``;
    ``einsum("y(i) = A(i,j) * x(j)", A=A, x=x)`` any index notation and operands by name.

    :param operands: what :func:`spc.tensor` takes, and numbers. Those of an einsum string are promoted as by NumPy, and an extent of 1 is
        repeated.
    :param format: the format of the result; dense if not given.
    :param out: the array that a dense result is written into.
    :param ranks: how many threads are ranks, or a communicator of mpi4py's: see :class:`spc.Kernel`.
    :param distribute: what ranks share out. Operands of an einsum string are ``A``, ``B`` and so on.
    :param optimize: taken as NumPy's einsum takes it, and of no effect: the compiler plans every product.
    :returns: an array, a number, or a :class:`spc.Array` in ``format``.
    """
    if not isinstance(text, str):
        text, given = _einsum.text_of((text, *operands))
        operands = tuple(given)
    elif not _einsum.is_einsum(text):
        compiled = _of_text(text, format, dimensions)
        return compiled(*operands, ranks=ranks, distribute=distribute, out=out, **named)
    if named:
        raise TypeError(f"an einsum string takes operands in order, and there is {next(iter(named))}=")
    if ranks is None:
        compiled, operands = _of_einsum(text, operands, format, dimensions, merges=True)
        return compiled(*operands, out=out, distribute=distribute)
    ranks = _ranks.checked(ranks)
    with _ranks.agreed(ranks):
        compiled, operands = _of_einsum(text, operands, format, dimensions, merges=False)
    return compiled(*operands, ranks=ranks, distribute=distribute, out=out)


def _of_text(text: str, format: str | None, dimensions: dict[str, int] | None) -> Kernel:
    key = (text, format, tuple(sorted(dimensions.items())) if dimensions else ())
    made = _CACHE.get(key)
    if made is None:
        made = _cached(key, lambda: _assignment(text, format, dimensions))
    return made


def _of_einsum(text: str, operands: tuple[Any, ...], format: str | None, dimensions: dict[str, int] | None,
               merges: bool) -> tuple[Kernel, tuple[Any, ...]]:
    """The kernel of an einsum string for these operands, and the operands that it takes: an object that is given twice once."""
    operands = tuple([_convert.widened_elements(each) if isinstance(each, np.ndarray) else each for each in operands])
    said = _einsum.Operands.of(operands, "..." in text, merges)
    key = (text, said, format, tuple(sorted(dimensions.items())) if dimensions else ())
    made = _CACHE.get(key)
    if made is None:
        found = _einsum.translate(text, said)
        # A number has no format.
        stated = " ".join(filter(None, (said.element, format or ("dense" if said.element else None)))) if found.order else said.element
        formats = {found.result: stated} if stated else {}
        made = _cached(key, lambda: (Kernel(found.text, formats, dimensions=dimensions, warns=False), found.counts))
    compiled, counts = made
    for number, (operand, count) in enumerate(zip(operands, counts), 1):
        order = _einsum.order(operand)
        if order is not None and order != count:
            raise ValueError(f"the operand {number} has {order} modes, and {text!r} says {count}")
    return compiled, said.given(operands)


def _assignment(text: str, format: str | None, dimensions: dict[str, int] | None) -> Kernel:
    if format is None:
        return Kernel(text, {}, dimensions=dimensions)
    result = text.partition("=")[0].partition("(")[0].strip().rstrip("+").strip()
    return Kernel(text, {result: format}, dimensions=dimensions)


def explain(text: str, **formats: str) -> str:
    """The loops that a kernel becomes for these formats, and what was decided and why."""
    return Kernel(text, formats, backend="interpreter").explain()


def jit(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """A kernel of a stub: its annotations are formats, and its docstring is the assignment.

    >>> @spc.jit
    ... def spmv(A: "csr", x: "dense") -> "dense":
    ...     "y(i) = A(i,j) * x(j)"
    """
    if function is None:
        return lambda function: jit(function, **options)
    text = inspect.getdoc(function)
    if not text:
        raise TypeError(f"the docstring of {function.__name__} is to be the assignment of the kernel")
    annotations = dict(function.__annotations__)
    result = annotations.pop("return", None)
    formats = {name: format for name, format in annotations.items() if isinstance(format, str)}
    if len(formats) < len(annotations):
        wrong = next(name for name in annotations if name not in formats)
        raise TypeError(f"the annotation of {wrong!r} is to be a format, as \"csr\"")
    if result is not None:
        formats[text.partition("=")[0].partition("(")[0].strip().rstrip("+").strip()] = result
    made = Kernel(text, formats, **options)
    parameters = list(inspect.signature(function).parameters)
    missing = [name for name in made.inputs if name not in parameters] or [name for name in parameters if name not in made.inputs]
    if missing:
        raise TypeError(f"{function.__name__} and its kernel do not agree on the input {missing[0]!r}")

    @functools.wraps(function)
    def call(*args: Any, out: Any = None, ranks: Any = None, distribute: str | None = None, **named: Any) -> Any:
        named.update(zip(parameters, args))
        return made(out=out, ranks=ranks, distribute=distribute, **named)

    call.kernel = made  # type: ignore[attr-defined]
    return call
