"""Expressions: operations on arrays that are done when a value is needed.

An array holds either storage or a node: :class:`Map` of elements, :class:`Contract` of products, :class:`View` of modes. Nothing here is
computed before :func:`evaluate`, which chooses one of four ways:

* an expression of dense arrays only is NumPy's;
* a function of the elements of one sparse array is NumPy's function of the stored values, and of the fill value;
* an expression that index notation has, with the meaning that NumPy gives it, is one kernel: ``(A * (U @ V.T)).sum(axis=1)`` is

      R(i) = sum(j)((A(i,j) * sum(k)((B(i,k) * C(j,k)))))

  whose operands are the distinct arrays, and which is kept for other arrays of these formats and element types;
* any other function of elements is NumPy's, of the values at all coordinates where an operand stores one.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from typing import Any, Callable, Iterator, NamedTuple, Sequence

import numpy as np

from . import _convert, _native, _structure, _warnings

#: Larger expressions are computed in parts: no text may be nested deeper than 64, and planning takes time.
MOST_OPERATIONS = 24
#: So many sparse operands are merged by one statement.
MOST_SPARSE = 12


class Function:
    """A function of elements: NumPy's, and how index notation writes it, if it does with the same meaning.

    :param loops: of each operand the element type that the function takes; its own if that is none.
    :param given: of each operand the element type that it has.
    """

    __slots__ = ("name", "call", "loops", "dtype", "template", "is_cheap", "is_written", "key", "fills")

    def __init__(self, name: str, call: Callable[..., Any], loops: Sequence[np.dtype | None], dtype: np.dtype,
                 template: str | None = None, is_cheap: bool = False, given: Sequence[np.dtype] = ()):
        self.name, self.call, self.loops, self.dtype = name, call, tuple(loops), dtype
        self.template, self.is_cheap = template, is_cheap
        self.key = (name, self.loops)
        #: What it is of fill values and numbers.
        self.fills: dict[Any, Any] = {}
        #: Whether index notation has it for these operands.
        self.is_written = template is not None and all(loop is None or is_converted(own, loop) for own, loop in zip(given, self.loops, strict=True))


# By the kind of the elements: i, u, f, c, b as in NumPy.
_ARITHMETIC: dict[np.ufunc, dict[str, str]] = {
    np.add: {"iufc": "({} + {})", "b": "({} || {})"},
    np.subtract: {"iufc": "({} - {})"},
    np.multiply: {"iufc": "({} * {})", "b": "({} && {})"},
    np.true_divide: {"f": "({} / {})"},
    np.negative: {"ifc": "(-{})"},
    np.positive: {"iufc": "{}"},
    np.absolute: {"if": "abs({})"},
    np.conjugate: {"c": "conj({})", "iuf": "{}"},
    np.less: {"iuf": "({} < {})"}, np.less_equal: {"iuf": "({} <= {})"},
    np.greater: {"iuf": "({} > {})"}, np.greater_equal: {"iuf": "({} >= {})"},
    np.equal: {"iuf": "({} == {})"}, np.not_equal: {"iuf": "({} != {})"},
    np.logical_and: {"b": "({} && {})"}, np.logical_or: {"b": "({} || {})"}, np.logical_not: {"b": "(!{})"},
    np.bitwise_and: {"iu": "({} & {})", "b": "({} && {})"}, np.bitwise_or: {"iu": "({} | {})", "b": "({} || {})"},
}
# NumPy and the language round these in their own ways, and mean the same. What is left out differs: `maximum` of NaN, `rint` of 2.5,
# `floor_divide` and `remainder` of zeros and of negative numbers, `sign` of complex numbers.
_FUNCTIONS = {
    np.sqrt: "sqrt", np.cbrt: "cbrt", np.exp: "exp", np.log: "ln", np.log2: "log2", np.log10: "log10", np.sin: "sin", np.cos: "cos", np.tan: "tan",
    np.arcsin: "asin", np.arccos: "acos", np.arctan: "atan", np.sinh: "sinh", np.cosh: "cosh", np.tanh: "tanh", np.arcsinh: "asinh",
    np.arccosh: "acosh", np.arctanh: "atanh", np.floor: "floor", np.ceil: "ceil", np.trunc: "trunc",
}
COMPARISONS = frozenset([np.less, np.less_equal, np.greater, np.greater_equal, np.equal, np.not_equal])

_RESOLVED: dict[Any, Function] = {}


def function_of(ufunc: np.ufunc, kinds: tuple[Any, ...]) -> Function:
    """A function of NumPy's for operands of some element types, or of Python's numbers, whose type follows that of the others."""
    key = (ufunc, kinds)
    found = _RESOLVED.get(key)
    if found is None:
        *loops, dtype = ufunc.resolve_dtypes((*(np.dtype(bool) if kind is bool else kind for kind in kinds), None))
        # A number of Python's is converted to the type that is taken.
        given = [loop if isinstance(kind, type) else kind for kind, loop in zip(kinds, loops)]
        found = _RESOLVED[key] = Function(ufunc.__name__, ufunc, loops, dtype, _template(ufunc, loops), ufunc in _ARITHMETIC, given)
    return found


def _template(ufunc: np.ufunc, loops: Sequence[np.dtype]) -> str | None:
    # Halves are rounded by NumPy after each operation, by a kernel once.
    if len({*loops}) != 1 or loops[0] not in _convert.NAMES or loops[0].char == "e":
        return None
    if ufunc in _FUNCTIONS:
        return f"{_FUNCTIONS[ufunc]}({{}})" if loops[0].kind == "f" else None
    return next((text for kinds, text in _ARITHMETIC.get(ufunc, {}).items() if loops[0].kind in kinds), None)


def cast(given: np.dtype, dtype: np.dtype) -> Function:
    """The conversion of elements, as by ``astype``."""
    key = (given, dtype)
    found = _RESOLVED.get(key)
    if found is None:
        text = _converted("{}", given, dtype)
        found = _RESOLVED[key] = Function(f"astype({dtype})", lambda values: np.asarray(values).astype(dtype)[()], [given], dtype, text, True, [given])
    return found


def _converted(text: str, given: np.dtype, wanted: np.dtype) -> str | None:
    """A value in another element type; nothing where NumPy and the language convert differently."""
    if _convert.computed(given) == _convert.computed(wanted):
        return text
    if wanted.kind == "b":
        return f"({text} != 0)" if given.kind in "iuf" else None
    if wanted.char == "e" or given.kind == "c" != wanted.kind or given.kind == "f" and wanted.kind in "iu":
        return None
    return f"{_convert.computed(wanted)}({text})"


def is_converted(given: np.dtype, wanted: np.dtype) -> bool:
    """Whether a kernel converts elements as NumPy does."""
    return _converted("", given, wanted) is not None


def broadcast(shapes: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    """The shape that NumPy broadcasts these to."""
    first: tuple[int, ...] = ()
    for shape in shapes:
        if shape and shape != first:
            if first:
                return np.broadcast_shapes(*shapes)
            first = shape
    return first


class Node:
    """An operation that has not been done: its operands, and what is known of its result."""

    __slots__ = ("args", "shape", "dtype", "sparse", "fill", "key", "size", "merged", "uses", "is_written", "dense_call")

    args: tuple[Any, ...]
    shape: tuple[int, ...]
    dtype: np.dtype
    #: What is not stored, if something is not.
    fill: Any
    #: What a kernel of it is kept for, beside its operands.
    key: Any
    #: How many operations it has, how often it reads a sparse array, and how many expressions read it.
    size: int
    merged: int
    uses: int
    #: Whether index notation has it, with NumPy's meaning.
    is_written: bool
    #: Of each mode, whether only some of its indices are stored.
    sparse: tuple[bool, ...]
    dense_call: Callable[..., Any]

    def _begin(self, args: tuple[Any, ...], shape: tuple[int, ...], dtype: np.dtype) -> None:
        self.args, self.shape, self.dtype, self.uses = args, shape, dtype, 0
        size, merged = 1, 0
        for arg in args:
            if is_array(arg):
                node = arg._node
                if node is not None:
                    node.uses += 1
                    size += node.size
                    merged += node.merged
                elif arg._is_sparse:
                    merged += 1
        self.size, self.merged = size, merged

    @property
    def is_large(self) -> bool:
        """Whether it is computed in parts."""
        return self.size > MOST_OPERATIONS or self.merged > MOST_SPARSE


def zero(dtype: np.dtype) -> Any:
    """The zero of an element type."""
    found = _ZEROS.get(dtype)
    if found is None:
        found = _ZEROS[dtype] = dtype.type(0)
    return found


_ZEROS: dict[np.dtype, Any] = {}


def _settled(flags: tuple[bool, ...], shape: tuple[int, ...]) -> tuple[bool, ...]:
    """Which modes of a product are stored sparsely: none, where only one would be."""
    count = sum(flags)
    return flags if count >= 2 or count == 1 and math.prod(shape) >= _structure.VAST else (False,) * len(flags)


class Map(Node):
    """A function of the elements of arrays, which are broadcast."""

    __slots__ = ("function",)

    def __init__(self, function: Function, args: tuple[Any, ...], shape: tuple[int, ...]):
        self._begin(args, shape, function.dtype)
        self.function, self.dense_call = function, function.call
        self.is_written, self.key = function.is_written, function.key
        sparse, fills, has_dense = [], [], False
        for arg in args:
            if not is_array(arg) or not arg._ndim:
                fills.append(item(arg))
            elif arg._is_sparse:
                sparse.append(arg)
                fills.append(arg._fill if arg._fill is not None else arg.fill)
            else:
                has_dense = True
        self.fill = None
        if not sparse:
            self.sparse = (False,) * len(shape)
        elif not has_dense:
            self.sparse = (True,) * len(shape)
            self.fill = _filled(function, fills)
        else:
            self._annihilated(function.name, sparse)

    def _annihilated(self, name: str, sparse: list[Any]) -> None:
        """The pattern beside dense operands: that of operands whose fill value decides alone."""
        left, shape = self.args[0], self.shape
        if name in ("multiply", "logical_and", "bitwise_and"):
            deciding = [array for array in sparse if not array.fill]
        elif name == "divide" and left.is_sparse and not left.fill and not getattr(self.args[1], "is_sparse", False):
            deciding = [left]
        elif name == "where" and left.is_sparse and left.shape == shape:
            rest = self.args[1 if left.fill else 2]
            if not rest.ndim or rest.is_sparse:
                self.sparse, self.fill = (True,) * len(shape), self.dtype.type(rest.fill if rest.ndim else item(rest))
                return
            deciding = []
        else:
            deciding = []
        flags = [False] * len(shape)
        for array in deciding:
            behind = len(shape) - array.ndim
            for mode, (flag, extent) in enumerate(zip(array.sparse, array.shape), behind):
                flags[mode] |= flag and extent == shape[mode]
        self.sparse = tuple(flags) if all(flags) else _settled(tuple(flags), shape)
        if any(self.sparse):
            self.fill = zero(self.dtype)

    def base(self) -> Any:
        """The array of whose stored values this is a function, if there is one: the pattern is the same."""
        found = None
        for arg in self.args:
            if is_array(arg) and arg.ndim:
                if not arg.is_sparse or arg.shape != self.shape:
                    return None
                inner = arg._node.base() if isinstance(arg._node, Map) else None
                arg = arg if inner is None else inner
                if found is not None and arg is not found:
                    return None
                found = arg
        return found


class Contract(Node):
    """The sum of products over the labels that the result does not have; of truth values, whether any product is true."""

    __slots__ = ("labels", "result", "extents")

    def __init__(self, args: tuple[Any, ...], labels: tuple[tuple[int, ...], ...], result: tuple[int, ...], dtype: np.dtype,
                 dense_call: Callable[..., Any]):
        self.labels, self.result = labels, result
        extents: dict[int, int] = {}
        self.extents = extents
        flags = dict.fromkeys(result, False)
        for array, of_array in zip(args, labels):
            deciding = array.is_sparse and not array.fill
            for label, extent, flag in zip(of_array, array.shape, array.sparse):
                known = extents.get(label, 1)
                if known == 1:
                    extents[label] = extent
                elif extent != known and extent != 1:
                    raise ValueError(f"an index has {known} and {extent} values in operands of the shapes "
                                     f"{', '.join(str(arg.shape) for arg in args)}")
                # An operand that is broadcast has no pattern along that mode.
                if deciding and flag and extent != 1 and label in flags:
                    flags[label] = True
        self._begin(args, tuple([extents[label] for label in result]), dtype)
        self.dense_call = dense_call
        self.sparse = _settled(tuple(flags.values()), self.shape)
        self.fill = zero(dtype) if True in self.sparse else None
        self.is_written = True
        self.key = (labels, result, dtype)


class View(Node):
    """The same elements in other modes: ``axes`` says for each mode of the operand which one of the result it is, or none."""

    __slots__ = ("axes",)

    def __init__(self, array: Any, axes: Sequence[int | None], shape: tuple[int, ...], dense_call: Callable[..., Any]):
        self._begin((array,), shape, array.dtype)
        self.axes, self.dense_call = tuple(axes), dense_call
        self.sparse = (array.is_sparse,) * len(shape)
        self.fill = array.fill if array.is_sparse else None
        # Elements that are repeated have an index that no operand has.
        self.is_written = all(extent == 1 or mode in self.axes for mode, extent in enumerate(shape))
        self.key = (self.axes, len(shape))


def is_array(value: Any) -> bool:
    """Whether an operand is an array of ours, not a number."""
    return hasattr(value, "_node")


def item(value: Any) -> Any:
    """The number of an array without modes, or a number."""
    return value.scalar() if is_array(value) else value


def _filled(function: Function, fills: list[Any]) -> Any:
    """A function of fill values and numbers. A zero that is not stored has no sign."""
    key = tuple(fills)
    made = function.fills.get(key)
    if made is None:
        with np.errstate(all="ignore"):
            made = function.dtype.type(function.call(*(_as(fill, loop) for fill, loop in zip(fills, function.loops))))
        made = made if made else zero(function.dtype)
        if len(function.fills) >= 64:
            function.fills.clear()
        function.fills[key] = made
    return made


def _is_stored(array: Any) -> bool:
    return array is not None and array._node is None


def _as(value: Any, dtype: np.dtype | None) -> Any:
    return value if dtype is None or getattr(value, "dtype", None) == dtype else dtype.type(value)


# How a node is computed.


def evaluate(array: Any) -> _native.Storage:
    """The elements of an expression."""
    node = array._node
    if not array._is_sparse and not any(map(_has_sparse, node.args)):
        made = np.asarray(_dense(array))
        # What NumPy gives may be a view of an operand.
        is_own = not any(np.may_share_memory(made, _convert.values_of(leaf._storage)) for leaf in operands(node))
        return dense_storage(made if is_own else made.copy())
    if isinstance(node, Map):
        return _mapped(array, node)
    if isinstance(node, View):
        return _viewed(array, node)
    return _contracted(array, node)


def _has_sparse(arg: Any) -> bool:
    """Whether an operand, or an operand of it, is sparse."""
    return is_array(arg) and (arg._is_sparse or arg._node is not None and any(map(_has_sparse, arg._node.args)))


def dense_storage(made: Any) -> _native.Storage:
    return _native.Storage.of_dense(np.ascontiguousarray(made) if np.ndim(made) else np.asarray(made))


def _dense(arg: Any) -> Any:
    """An operand as NumPy has it: a dense expression is computed by NumPy."""
    if not is_array(arg):
        return arg
    node = arg._node
    if node is None or arg.is_sparse or any(map(_has_sparse, node.args)):
        return _convert.numpy_of(arg._storage, arg.fill) if arg.is_sparse else _convert.numpy_of(arg._storage)
    args = [_dense(each) for each in node.args]
    if isinstance(node, Map):
        # NumPy's numbers are of the type that was resolved; a ufunc resolves the same again.
        with np.errstate(all="ignore"):
            made = node.function.call(*(_typed(each, loop) for each, loop in zip(args, node.function.loops)))
    else:
        made = node.dense_call(*args)
    return np.asarray(made, dtype=node.dtype)


def _typed(value: Any, loop: np.dtype | None) -> Any:
    return value if loop is None or value.dtype is loop or value.dtype == loop else value.astype(loop)


def _mapped(array: Any, node: Map) -> _native.Storage:
    base = node.base()
    if base is not None and base._node is None:
        return _of_values(base, array)
    if array.is_sparse and not array.fill and _kept_in_notation(array):
        return _run(array)
    if base is not None:
        return _of_values(base, array)
    if not array.is_sparse:
        with np.errstate(all="ignore"):
            made = node.function.call(*(_typed(_dense(each), loop) for each, loop in zip(node.args, node.function.loops)))
        return dense_storage(np.broadcast_to(np.asarray(made, dtype=node.dtype), node.shape))
    return _structure.mapped(node)


def _of_values(base: Any, array: Any) -> _native.Storage:
    """A function of the stored values of one array: the pattern stays."""
    storage = base._whole
    stored = _convert.values_of(storage)
    with np.errstate(all="ignore"):
        values = _values(array, base, stored)
    if values.shape != stored.shape:
        # A function of numbers only gives one value for all.
        values = np.full(len(stored), values)
    return storage.with_values(np.ascontiguousarray(values, dtype=array.dtype))


def _values(arg: Any, base: Any, values: np.ndarray) -> Any:
    if arg is base:
        return values
    if not is_array(arg):
        return arg
    if not arg.ndim:
        return item(arg)
    node = arg._node
    return node.function.call(*(_typed(_values(each, base, values), loop) for each, loop in zip(node.args, node.function.loops)))


def _viewed(array: Any, node: View) -> _native.Storage:
    (arg,) = node.args
    is_permuted = set(node.axes) == set(range(len(node.shape)))
    if is_permuted and arg._node is not None and not array.fill and _kept_in_notation(array):
        return _run(array)
    if not arg.is_sparse:
        return dense_storage(node.dense_call(_dense(arg)))
    return _structure.viewed(arg, node.axes, node.shape)


def _contracted(array: Any, node: Contract) -> _native.Storage:
    if not node.result and len(node.args) == 1 and (found := _summed(node, array.dtype)) is not None:
        return found
    if _kept_in_notation(array):
        return _run(array)
    for arg in node.args:
        arg.compute()
    if not all(_is_written_leaf(arg, node) for arg in node.args):
        return _unwritten(array, node)
    return _run(array)


def _unwritten(array: Any, node: Contract) -> _native.Storage:
    """A sum of an array whose fill value no format names; products of such arrays are dense."""
    (labels, *others), (arg, *_) = node.labels, node.args
    if others or len(set(labels)) < len(labels):
        fill = next(arg.fill for arg in node.args if not _is_written_leaf(arg, node))
        raise ValueError(f"elements that are not stored are {fill}, and no kernel has a product with them: write .to_numpy() of that operand")
    axes = tuple(mode for mode, label in enumerate(labels) if label not in node.result)
    found = _structure.reduced(np.add, _structure.entries(arg), axes, array.dtype)
    if isinstance(found, _structure.Entries):
        dense = np.full(found.shape, found.fill, dtype=array.dtype)
        dense[found.coordinates] = found.values
        found = dense
    return dense_storage(np.transpose(found, np.argsort(np.argsort(node.result))))


def _summed(node: Contract, dtype: np.dtype) -> _native.Storage | None:
    """The sum of all elements of an array, whose values are there or are made of those that are: NumPy adds in pairs."""
    (arg,) = node.args
    inner = arg._node
    is_plain = len(set(node.labels[0])) == arg.ndim
    if not is_plain or not arg.is_sparse or not (inner is None or isinstance(inner, Map) and _is_stored(inner.base())):
        return None
    storage = arg._whole
    values = _convert.values_of(storage)
    if arg.fill and len(values) != storage.nnz:
        # Blocks and padded rows have values beside those of entries.
        values = _structure.entries(arg).values
    if dtype.kind == "b":
        return dense_storage(np.asarray(values.any() or bool(arg.fill) and storage.nnz < arg.size))
    with np.errstate(all="ignore"):
        total = values.sum(dtype=dtype)
        if arg.fill:
            missing = dtype.type(arg.size - len(values))
            total = total + dtype.type(arg.fill) * missing if missing else total
    return dense_storage(np.asarray(total, dtype=dtype))


# What of an expression is one kernel.


def _kept_in_notation(array: Any) -> bool:
    """Whether an expression is one kernel: operands that are not written into it are computed before."""
    return array._node.is_written and _prepared(array, sampled=False)


def _prepared(array: Any, sampled: bool) -> bool:
    """Computes the operands that are no part of the kernel, and says whether it can read the others.

    :param sampled: whether elements are used only where a sparse array has entries.
    """
    node = array._node
    if isinstance(node, Map):
        sampled |= any(node.sparse) and node.function.name in ("multiply", "divide")
    elif isinstance(node, Contract):
        sampled = False
    for arg in node.args:
        if is_array(arg):
            inner = arg._node
            if inner is not None and not (_is_inlined(arg, node, sampled) and _prepared(arg, sampled)):
                arg.compute()
            if arg._node is None and not _is_written_leaf(arg, node):
                return False
    return True


def _is_inlined(arg: Any, parent: Node, sampled: bool) -> bool:
    """Whether an operand that is not computed yet is part of its parent's kernel: where that costs no more than to compute it first."""
    node = arg._node
    if not node.is_written or arg.is_sparse and arg.fill or parent.is_large:
        return False
    if isinstance(parent, Map) and parent.function.name == "divide" and arg is parent.args[1] and _has_sparse(arg):
        # Where nothing is stored, a kernel divides by nothing.
        return False
    if isinstance(node, View):
        inner = node.args[0]
        return inner._node is None or _is_inlined(inner, parent, sampled)
    if isinstance(node, Contract):
        # A dense product is formed where the sparse factor has entries, however often.
        return sampled and not arg.is_sparse or node.uses <= 1
    if isinstance(parent, Contract):
        return arg.is_sparse and node.function.is_cheap
    return arg.is_sparse or sampled


def _is_written_leaf(arg: Any, parent: Node) -> bool:
    """Whether a kernel can read an array: formats name fill values that are real numbers."""
    fill = arg.fill if arg.is_sparse else None
    # A kernel is compiled for a fill value; a function of elements has an easier way.
    return not fill or isinstance(parent, Contract) and _convert.is_named(fill)


class _Plan(NamedTuple):
    kernel: _native.Kernel
    text: str


_PLANS: OrderedDict[Any, _Plan] = OrderedDict()
_MOST_PLANS = 512


def _run(array: Any) -> _native.Storage:
    plan, inputs = _plan(array)
    return plan.kernel.call(inputs)[0]


def _plan(array: Any) -> tuple[_Plan, tuple[Any, ...]]:
    """The kernel of an expression, and its operands."""
    walk = _Walk(not isinstance(array._node, Contract))
    shape = array.shape
    ones = 1 in shape and tuple(extent == 1 for extent in shape)
    key = (walk.signature(array), tuple(walk.kinds), array.sparse, shape != () and max(shape) > 1 << 31, array.dtype, ones)
    plan = _PLANS.get(key)
    if plan is None:
        plan = _PLANS[key] = _compiled(array, walk)
        if len(_PLANS) > _MOST_PLANS:
            _PLANS.popitem(last=False)
    return plan, tuple(walk.inputs)


class _Walk:
    """The distinct operands of an expression in order of appearance."""

    __slots__ = ("inputs", "is_whole", "kinds", "numbers")

    def __init__(self, is_whole: bool = True) -> None:
        self.is_whole = is_whole
        self.inputs: list[Any] = []
        self.kinds: list[Any] = []
        self.numbers: dict[int, int] = {}

    def signature(self, arg: Any) -> Any:
        """What a kernel is kept for: the operations, and the operands by number."""
        if not is_array(arg):
            return self.number(arg)
        node = arg._node
        if node is None:
            return self.operand(arg)
        return (node.key, *[self.signature(each) for each in node.args])

    def number(self, value: Any) -> int:
        self.inputs.append(value.item())
        self.kinds.append(value.dtype)
        return len(self.inputs) - 1

    def operand(self, array: Any) -> int:
        shape = array._shape
        if not shape:
            return self.number(array.scalar())
        number = self.numbers.get(id(array))
        if number is None:
            number = self.numbers[id(array)] = len(self.inputs)
            # Products read what is stored of a symmetric operand; what is made of its elements one by one may be none.
            storage = array._whole if self.is_whole else array._storage
            self.inputs.append(storage)
            self.kinds.append((array._key if storage is array._storage else _convert.label_of(storage), len(shape), 1 in shape and tuple([mode for mode, extent in enumerate(shape) if extent == 1])))
        return number


_LETTERS = "ijklmnpqrstuvwxyz"
# `R` is the result.
_NAMES = "ABCDEFGHIJKLMNOPQSTUVWXYZ"


def _index(number: int) -> str:
    return _LETTERS[number] if number < len(_LETTERS) else f"i{number}"


def _name(number: int) -> str:
    return _NAMES[number] if number < len(_NAMES) else f"A{number}"


class _Text:
    """The text of an expression, written in the order in which a :class:`_Walk` meets its operands."""

    def __init__(self, rank: int):
        self.walk, self.indices = _Walk(), rank

    def fresh(self) -> str:
        self.indices += 1
        return _index(self.indices - 1)

    def of(self, arg: Any, at: Sequence[str]) -> str:
        """An operand at some indices: variables, or the index 0 of modes that are broadcast."""
        if not is_array(arg):
            return _name(self.walk.number(arg))
        node = arg._node
        if node is None:
            name = _name(self.walk.operand(arg))
            return f"{name}({','.join(at)})" if arg.ndim else name
        return {Map: self._map, Contract: self._contract, View: self._view}[type(node)](node, at)

    def _map(self, node: Map, at: Sequence[str]) -> str:
        texts = []
        for arg, loop in zip(node.args, node.function.loops):
            where: Sequence[str] = ()
            if is_array(arg):
                behind = len(node.shape) - arg.ndim
                where = ["0" if extent == 1 else at[mode] for mode, extent in enumerate(arg.shape, behind)]
            text = _converted(self.of(arg, where), arg.dtype, loop or arg.dtype)
            assert text is not None
            texts.append(text)
        assert node.function.template is not None
        return node.function.template.format(*texts)

    def _contract(self, node: Contract, at: Sequence[str]) -> str:
        names = dict(zip(node.result, at))
        summed = [label for label in node.extents if label not in names]
        for label in summed:
            # An index of one value is that.
            names[label] = self.fresh() if node.extents[label] != 1 else "0"
        factors = []
        for arg, labels in zip(node.args, node.labels):
            where = ["0" if extent == 1 else names[label] for label, extent in zip(labels, arg.shape)]
            factor = _converted(self.of(arg, where), arg.dtype, node.dtype)
            assert factor is not None
            factors.append(factor)
        product = f" {'&&' if node.dtype.kind == 'b' else '*'} ".join(factors)
        over = [names[label] for label in summed if names[label] != "0"]
        if not over:
            return product if len(factors) == 1 else f"({product})"
        return f"{'any' if node.dtype.kind == 'b' else 'sum'}({','.join(over)})({product})"

    def _view(self, node: View, at: Sequence[str]) -> str:
        (arg,) = node.args
        return self.of(arg, ["0" if mode is None or extent == 1 else at[mode] for mode, extent in zip(node.axes, arg.shape)])


def _statement(array: Any) -> str:
    """The assignment that an expression is. An index of one value is 0 there, as in the operands."""
    at = ["0" if extent == 1 else _index(number) for number, extent in enumerate(array.shape)]
    right = _Text(array.ndim).of(array, at)
    return f"R({','.join(at)}) = {right}" if at else f"R = {right}"


def _compiled(array: Any, walk: _Walk) -> _Plan:
    text = _statement(array)
    names = [_name(number) for number in range(len(walk.inputs))]
    formats = []
    for name, value, kind in zip(names, walk.inputs, walk.kinds):
        formats.append((name, kind[0] if isinstance(kind, tuple) else _convert.computed(kind)))
    element = _convert.NAMES[array.dtype]
    formats.append(("R", f"{element} {_structure.sparse_format(array.shape, array.sparse)}" if array.ndim else element))
    kernel = _native.Kernel(text, formats, [])
    if kernel.fallback is not None:
        _warnings.interpreted(kernel.fallback)
    return _Plan(kernel, text)


def explain(array: Any) -> str:
    """The text of an expression, its loops, and why they are so."""
    node = array._node
    if node is None:
        return f"an array that is stored as {array._key}: there is nothing to compute\n"
    if not any(map(_has_sparse, node.args)) and not array.is_sparse:
        return "an expression of dense arrays: NumPy computes it\n"
    if isinstance(node, Map) and _is_stored(node.base()):
        return f"{node.function.name} of the values that are stored, by NumPy\n"
    if array.is_sparse and array.fill or not _kept_in_notation(array):
        name = node.function.name if isinstance(node, Map) else "change of modes" if isinstance(node, View) else "sum"
        return f"{name} of coordinates and values, by NumPy\n"
    plan, _ = _plan(array)
    return f"{plan.text}\n\n{plan.kernel.explain()}"


def operands(node: Node) -> Iterator[Any]:
    """The arrays that an expression reads."""
    for arg in node.args:
        if is_array(arg):
            if arg._node is None:
                yield arg
            else:
                yield from operands(arg._node)
