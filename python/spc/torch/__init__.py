"""Kernels as operators of PyTorch: with gradients, in ``torch.compile`` and ``torch.export``, under autocast and ``vmap``.

>>> import torch, spc.torch
>>> spmm = spc.torch.op("Y(i,r) = A(i,j) * X(j,r)")
>>> A = torch.eye(3).to_sparse_csr().requires_grad_()
>>> spmm(A, torch.ones(3, 2)).sum().backward()
>>> A.grad.layout
torch.sparse_csr
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Any, Callable, NamedTuple, Sequence

import numpy as np
import torch
from torch.multiprocessing.reductions import StorageWeakRef

from .. import _native
from .._flat import Flat, Operand, Operation, Source
from .._kernel import Kernel

__all__ = ["Op", "Sparse", "nn", "op", "settle"]


def op(kernel: str | Kernel, *, dimensions: dict[str, int] | None = None, backend: str | None = None, deterministic: bool = False,
       **formats: str) -> Op:
    """A kernel as an operator on torch tensors: a function that is differentiable as often as its notation is.

    :param kernel: index notation, a whole kernel with declared formats, or what :func:`spc.kernel` made.
    :param formats: those of results, as of :func:`spc.kernel`: ``S="csr"``, or ``S="like A"`` for a result with the entries of an input.
        Operands are taken as they come: strided, CSR, CSC or COO.
    """
    return Op(kernel, formats, dimensions, backend, deterministic)


class Op(Operation):
    """An operator on torch tensors on the CPU; see :func:`spc.torch.op`.

    It is called with inputs by position or by name. Sparse inputs have gradients with their own entries and layout. Arrays of indices, as
    ``src`` in ``x(src(e))``, are tensors of integers. The mode that they are indices of has its extent from another input, as ``x``; where
    there is none, as for ``dst`` in ``y(dst(e)) += …``, from ``extents={"dst": n}``.

    Index arrays are checked and copied when they are first seen, and again after torch has changed them in place.
    """

    def __init__(self, kernel: str | Kernel, formats: dict[str, str], dimensions: dict[str, int] | None, backend: str | None, deterministic: bool):
        super().__init__(kernel, formats, dimensions, backend, deterministic)
        self._names: dict[tuple[Operand, ...], str] = {}

    def __call__(self, *args: Any, extents: dict[str, Any] | None = None, **named: Any) -> Any:
        given = self._given(args, named, extents or {})
        if any(isinstance(value, torch.Tensor) and value.layout is not torch.strided for value in given.values()):
            return self._not_compiled(given, extents)
        return self._called(given, extents)

    @torch.compiler.disable
    def _not_compiled(self, given: dict[str, Any], extents: dict[str, Any] | None) -> Any:
        """A call that breaks the graph of ``torch.compile``, which has no index arrays of sparse tensors."""
        return self._called(given, extents)

    def _called(self, given: dict[str, Any], extents: dict[str, Any] | None) -> Any:
        parts = {name: _parts(name, value, name in self._kernel._maps, given) for name, value in given.items()}
        sizes = [size for name, part in parts.items() for size in (part.sizes if part.operand.kind != "map" else
                                                                  (self._extent(name, given, extents or {}),))]
        arrays = [array for part in parts.values() for array in part.arrays]
        name = self._prepared(tuple(part.operand for part in parts.values()))
        flat = getattr(self, name)
        made = getattr(torch.ops.spc, name)(*arrays, sizes)
        found = [made] if isinstance(made, torch.Tensor) else list(made)
        results = []
        wrap, shapes = _of if any(isinstance(value, Sparse) for value in given.values()) else _sparse, None
        for name, result in flat.results.items():
            own, found = found[:result.arrays], found[result.arrays:]
            if result.like:
                pattern, known = flat.of(result.like, arrays, sizes)
                results.append(wrap(result.operand, (*pattern[:-1], own[0]), tuple(known)))
            elif result.operand.is_sparse:
                shapes = shapes or flat.shapes([array.shape for array in arrays], sizes)
                results.append(wrap(result.operand, own, shapes[name]))
            else:
                results.append(own[0])
        return results[0] if len(results) == 1 else tuple(results)

    # Compilers of graphs can't look into this, and take a text for its result: the name of the kernel here and of the operator in torch.
    @torch.compiler.assume_constant_result
    def _prepared(self, operands: tuple[Operand, ...]) -> str:
        name = self._names.get(operands)
        if name is None:
            made = self._made(operands)
            _registered(made)
            name = self._names[operands] = f"kernel_{made.digest}"
            setattr(self, name, made)
        return name

    def __repr__(self) -> str:
        return f"<spc.torch.Op {self._text.strip()!r}>"


class Sparse:
    """A sparse matrix or tensor as its index arrays and its values, which are a tensor of their own: a parameter, say.

    Operators take it for a sparse input, and then give it for sparse results. What torch's sparse tensors have not: gradients of any
    order (torch takes second derivatives through its own for zero), ``torch.compile``, and CSC leaves.

    >>> A = spc.torch.Sparse(torch.eye(3).to_sparse_csr())
    >>> A = A.with_values(torch.nn.Parameter(A.values))
    >>> spmm(A, X).sum().backward()
    >>> A.values.grad.shape
    torch.Size([3])
    """

    def __init__(self, tensor: torch.Tensor):
        parts = _parts("tensor", tensor, False, {})
        if not parts.operand.is_sparse:
            raise TypeError("the tensor is strided, and has no entries: pass one of layout CSR, CSC or COO")
        self._operand, self.shape = parts.operand, tuple(tensor.shape)
        self.indices: tuple[torch.Tensor, ...] = parts.arrays[:-1]
        self.values = parts.arrays[-1]

    def with_values(self, values: torch.Tensor) -> Sparse:
        """The same entries with other values, in the same order."""
        return _of(self._operand, (*self.indices, values), self.shape)

    def to_torch(self) -> torch.Tensor:
        """A sparse tensor of torch's, in the same memory."""
        return _sparse(self._operand, (*self.indices, self.values), self.shape)

    def __repr__(self) -> str:
        return f"<spc.torch.Sparse {self._operand.kind} of shape {self.shape}, {self.values.shape[0]} entries>"


def _of(operand: Operand, arrays: Sequence[torch.Tensor], shape: tuple[Any, ...]) -> Sparse:
    made = Sparse.__new__(Sparse)
    made._operand, made.shape, made.indices, made.values = operand, tuple(shape), tuple(arrays[:-1]), arrays[-1]
    return made


class _Parts(NamedTuple):
    operand: Operand
    arrays: tuple[torch.Tensor, ...]
    sizes: tuple[Any, ...]


def _parts(name: str, value: Any, is_map: bool, given: dict[str, Any]) -> _Parts:
    """An input as its arrays. Gradients pass through to the sparse tensor that values are of."""
    if isinstance(value, Sparse):
        return _Parts(value._operand, (*value.indices, value.values), value.shape)
    if not isinstance(value, torch.Tensor):
        if isinstance(value, (bool, int, float, complex)):
            value = torch.tensor(value, dtype=None if isinstance(value, complex) else _beside(given))
        elif isinstance(value, np.ndarray):
            value = torch.from_numpy(value)
        else:
            raise TypeError(f"`{name}` is a {type(value).__name__}: spc.torch takes tensors of torch, and numbers")
    if value.device.type != "cpu":
        raise TypeError(f"`{name}` is on {value.device}: move it with .cpu()")
    if is_map:
        if value.is_floating_point() or value.is_complex() or value.dtype == torch.bool:
            raise TypeError(f"`{name}` is an array of indices, and its elements are {value.dtype}")
        return _Parts(Operand("map", value.ndim + 1), (value,), ())
    order, shape = value.ndim, tuple(value.shape)
    if value.layout is torch.strided:
        return _Parts(Operand("dense", order), (value,), ())
    if value.layout is torch.sparse_coo:
        if value.dense_dim():
            raise TypeError(f"`{name}` has {value.dense_dim()} dense modes behind its sparse ones: spc.torch takes none")
        value = value.coalesce()
        return _Parts(Operand("coo", order), (value.indices(), value.values()), shape)
    if value.layout in (torch.sparse_csr, torch.sparse_csc) and order == 2:
        is_csr = value.layout is torch.sparse_csr
        pattern = (value.crow_indices(), value.col_indices()) if is_csr else (value.ccol_indices(), value.row_indices())
        return _Parts(Operand("csr" if is_csr else "csc", 2), (*pattern, value.values()), shape)
    raise TypeError(f"`{name}` is a tensor of layout {value.layout}, which is none that spc reads: convert it with to_sparse_csr()")


def _beside(given: dict[str, Any]) -> torch.dtype | None:
    """The type of a number: the widest of the floating-point tensors beside it."""
    found = None
    for value in given.values():
        tensor = value.values if isinstance(value, Sparse) else value
        if isinstance(tensor, torch.Tensor) and tensor.is_floating_point():
            found = tensor.dtype if found is None else torch.promote_types(found, tensor.dtype)
    return found


def _sparse(operand: Operand, arrays: Sequence[torch.Tensor], sizes: Sequence[Any]) -> torch.Tensor:
    """A sparse tensor of arrays: gradients pass through to its values."""
    if operand.kind == "coo":
        return torch.sparse_coo_tensor(arrays[0], arrays[1], tuple(sizes), is_coalesced=True, check_invariants=False)
    make = torch.sparse_csr_tensor if operand.kind == "csr" else torch.sparse_csc_tensor
    return make(*arrays, tuple(sizes), check_invariants=False)


class _Kept(NamedTuple):
    owners: tuple[StorageWeakRef, ...]
    versions: tuple[int, ...]
    storage: _native.Storage


_PATTERNS: OrderedDict[Any, _Kept] = OrderedDict()
_MOST = 256


def _keeper(tensors: dict[int, torch.Tensor]) -> Callable[..., _native.Storage]:
    """What keeps checked copies of index arrays as long as torch has their memory, and while it has not changed them."""
    def keep(kind: Any, arrays: Sequence[np.ndarray], make: Callable[[], _native.Storage]) -> _native.Storage:
        own = [tensors[id(array)] for array in arrays]
        try:
            versions = tuple(tensor._version for tensor in own)
        except RuntimeError:
            # Tensors of inference mode count no changes.
            return make()
        storages = [tensor.untyped_storage() for tensor in own]
        key = kind, tuple((storage._cdata, tensor.storage_offset(), tensor.shape, tensor.stride(), tensor.dtype)
                          for storage, tensor in zip(storages, own))
        kept = _PATTERNS.get(key)
        if kept is not None and kept.versions == versions and not any(owner.expired() for owner in kept.owners):
            return kept.storage
        for old in [old for old, kept in list(_PATTERNS.items()) if any(owner.expired() for owner in kept.owners)]:
            _PATTERNS.pop(old, None)
        made = make()
        _PATTERNS[key] = _Kept(tuple(map(StorageWeakRef, storages)), versions, made)
        while len(_PATTERNS) > _MOST:
            _PATTERNS.popitem(last=False)
        return made

    return keep


_DTYPES = {np.dtype(name): getattr(torch, name) for name in (
    "float64", "float32", "float16", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool", "complex64", "complex128")}
_ELEMENTS = {dtype: element for element, dtype in _DTYPES.items()}


def _element(name: str, tensor: torch.Tensor) -> np.dtype:
    try:
        return _ELEMENTS[tensor.dtype]
    except KeyError:
        raise TypeError(f"`{name}` has elements {tensor.dtype}, which spc.torch does not take: convert it with .float(), or call under "
                        "torch.autocast") from None


_OPERATORS: dict[str, Any] = {}
_FLATS: list[Flat] = []


def settle() -> None:
    """Waits for the Rust compiler where it is at work in the background for an operator, so that later calls run what it makes."""
    for flat in _FLATS:
        flat.kernel.settle()


def _registered(flat: Flat) -> Any:
    """The operator of torch for a kernel: there is one for each text and way in which operands are stored."""
    made = _OPERATORS.get(flat.digest)
    if made is None:
        made = _OPERATORS[flat.digest] = _register(flat)
        _FLATS.append(flat)
    return made


def _dtypes(flat: Flat, tensors: Sequence[torch.Tensor]) -> dict[str, np.dtype]:
    return {name: _element(name, tensors[flat.values(name)]) for name in flat.operands}


def _register(flat: Flat) -> Any:
    arrays = flat.arrays
    counts = sum(result.arrays for result in flat.results.values())
    taken = ", ".join([*(f"Tensor a{place}" for place in range(len(arrays))), "SymInt[] sizes"])
    schema = f"({taken}) -> ({', '.join(['Tensor'] * counts)})"

    def run(*args: Any) -> Any:
        *tensors, sizes = args
        _dtypes(flat, tensors)
        lent = [tensor.detach().contiguous().resolve_conj().resolve_neg().numpy() for tensor in tensors]
        # The keeper is asked by the arrays that are lent, and `contiguous` gives the same memory where there is nothing to do.
        made = flat.run(lent, sizes, _keeper({id(array): tensor for array, tensor in zip(lent, tensors)}))
        found = tuple(map(torch.from_numpy, made))
        return found[0] if counts == 1 else found

    def fake(*args: Any) -> Any:
        *tensors, sizes = args
        shapes = flat.shapes([tensor.shape for tensor in tensors], sizes)
        elements = flat.elements(_dtypes(flat, tensors))
        found: list[torch.Tensor] = []
        for name, result in flat.results.items():
            dtype = _DTYPES[elements[name]]
            if result.like:
                found.append(tensors[flat.values(result.like)].new_empty(tensors[flat.values(result.like)].shape, dtype=dtype))
            elif result.operand.is_sparse:
                entries = torch.library.get_ctx().new_dynamic_size()
                shape, kind = shapes[name], result.operand.kind
                if kind == "coo":
                    found.append(torch.empty((result.operand.order, entries), dtype=torch.int64))
                else:
                    found.append(torch.empty(shape[0 if kind == "csr" else 1] + 1, dtype=torch.int64))
                    found.append(torch.empty(entries, dtype=torch.int64))
                found.append(torch.empty(entries, dtype=dtype))
            else:
                found.append(torch.empty(shapes[name], dtype=dtype))
        return found[0] if counts == 1 else tuple(found)

    operator = torch.library.custom_op(f"spc::kernel_{flat.digest}", run, mutates_args=(), schema=schema)
    operator.register_fake(fake)
    operator.register_autograd(_backward(flat), setup_context=_context)
    operator.register_autocast("cpu", torch.float32)
    operator.register_vmap(_each(lambda: operator))

    def call(*args: Any) -> tuple[torch.Tensor, ...]:
        found = operator(*args)
        return (found,) if isinstance(found, torch.Tensor) else tuple(found)

    return call


def _context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
    *tensors, sizes = inputs
    outputs = (output,) if isinstance(output, torch.Tensor) else tuple(output)
    # Sparse results lend their entries to the gradient.
    ctx.save_for_backward(*tensors, *(each for each in outputs if each.dtype == torch.int64))
    ctx.places = [place for place, each in enumerate(outputs) if each.dtype == torch.int64]
    ctx.inputs, ctx.sizes = len(tensors), sizes
    ctx.shapes = [each.shape for each in outputs]


def _backward(flat: Flat) -> Callable[..., Any]:
    def backward(ctx: Any, *gained: Any) -> Any:
        saved = ctx.saved_tensors
        tensors, outputs = saved[:ctx.inputs], dict(zip(ctx.places, saved[ctx.inputs:]))
        by = tuple(name for name in flat.operands
                   if ctx.needs_input_grad[flat.values(name)] and tensors[flat.values(name)].is_floating_point())
        found: list[Any] = [None] * (ctx.inputs + 1)
        if not by:
            return tuple(found)
        gradient, sources = flat.gradient(by, _dtypes(flat, tensors))
        arrays, sizes = _arrays_of(flat, sources, tensors, ctx.sizes, outputs, gained)
        for name, made in zip(by, _registered(gradient)(*arrays, sizes)):
            found[flat.values(name)] = made
        return tuple(found)

    return backward


def _arrays_of(flat: Flat, sources: list[Source], tensors: Sequence[torch.Tensor], sizes: Sequence[Any], outputs: dict[int, torch.Tensor],
               gained: Sequence[torch.Tensor]) -> tuple[list[torch.Tensor], list[Any]]:
    """The arrays and sizes of a gradient's operands, of those of the kernel and of what the loss gains by its results."""
    places, count = {}, 0
    for name, result in flat.results.items():
        places[name] = count
        count += result.arrays
    arrays: list[torch.Tensor] = []
    known: list[Any] = []
    for source in sources:
        if source.kind == "input":
            own, shape = flat.of(source.name, tensors, sizes)
        else:
            result, place = flat.results[source.name], places[source.name]
            if source.kind == "like":
                own, shape = flat.of(result.like or "", tensors, sizes)
                own = (*own[:-1], gained[place])
            else:
                own = [outputs[place + number] if place + number in outputs else gained[place + number] for number in range(result.arrays)]
                shape = flat.shapes([tensor.shape for tensor in tensors], sizes)[source.name] if result.operand.is_sparse else ()
        arrays += own
        known += shape
    return arrays, known


def _each(operator: Callable[[], Any]) -> Callable[..., Any]:
    """A rule for ``vmap``: one call after another."""
    def rule(info: Any, in_dims: tuple[Any, ...], *args: Any) -> tuple[Any, Any]:
        calls = []
        for number in range(info.batch_size):
            found = operator()(*(arg if dim is None or isinstance(dim, list) else arg.select(dim, number) for arg, dim in zip(args, in_dims)))
            calls.append((found,) if isinstance(found, torch.Tensor) else tuple(found))
        stacked = tuple(torch.stack(results) for results in zip(*calls))
        return (stacked[0], 0) if len(stacked) == 1 else (stacked, (0,) * len(stacked))

    return rule


from . import nn  # noqa: E402
