"""What a program means: dense loops over all indices, by NumPy.

Each value is an array with an axis for every index variable of its statement. Beside the numbers go a bound of the rounding
errors that any order of sums and factors may have, and the elements that docs/reference/infinities.md leaves open: what depends on an infinity or
NaN that is stored, on a comparison that rounding may decide either way, on an overflow.

Axes of up to `Program.long` coordinates are whole. Longer ones have the coordinates at which some operand has an entry; the generator
makes sure that everything else is missing there.
"""

from fractions import Fraction

import numpy as np

from formats import is_dense
from language import (
    COMPLEX, INTEGERS, REDUCTIONS, WIDENS, Access, Binary, Call, Count, Index, Literal, Reduce, Unary, Var, ELEMENTS, ARITHMETIC, common,
    free_variables, index_value, index_variables, kind,
)

MOST = 3_000_000

DTYPE = {
    "f64": np.float64, "f32": np.float64, "i64": np.int64, "i32": np.int32, "u8": np.uint8, "bool": np.bool_,
    "c64": np.complex128, "c32": np.complex128,
}
UNIT = {"f64": 2.0**-53, "c64": 2.0**-51, "f32": 2.0**-24, "c32": 2.0**-22}
BITS = {"f64": 53, "c64": 53, "f32": 24, "c32": 24}
LARGEST = {"f64": 2.0**1000, "c64": 2.0**500, "f32": 2.0**120, "c32": 2.0**60}
SMALLEST = {"f64": 2.0**-1000, "c64": 2.0**-500, "f32": 2.0**-120, "c32": 2.0**-60}


class TooLarge(Exception):
    """More elements than shall be computed here."""


def is_rounded(element):
    return element in UNIT


class Value:
    """Numbers of an element type; for those that are rounded their bounds.

    `magnitude` is what the sum of the absolute values of all terms is, `error` a bound of the error, `opens` says which elements
    may be anything (`False`: none), and `grid` is g where all are multiples of 2^-g and so small that nothing was rounded.
    """

    __slots__ = ("element", "v", "magnitude", "error", "opens", "grid")

    def __init__(self, element, v, magnitude=None, error=0.0, opens=False, grid=None):
        self.element, self.v, self.opens = element, v, opens
        if is_rounded(element):
            self.magnitude = np.abs(v) if magnitude is None else magnitude
            self.error = error
            self.grid = grid
            if grid is not None and not (largest(self.magnitude) * 2.0**grid < 2.0 ** BITS[element]):
                self.grid = None
            if self.grid is not None:
                self.error = 0.0
            beyond = (self.magnitude > LARGEST[element]) & np.isfinite(self.magnitude) | np.isnan(v) | np.isnan(self.error)
            beyond = beyond | (np.isinf(self.magnitude) & ~np.isinf(v))
            if np.any(beyond):
                self.opens = self.opens | beyond
        else:
            self.magnitude, self.error, self.grid = None, 0.0, 0


def largest(array):
    return float(np.max(array, initial=0.0))


def rounding(element, magnitude, times=1):
    return times * UNIT[element] * magnitude


def grid_of(v):
    """The grid of numbers that are read."""
    if v.dtype.kind == "c":
        parts = [grid_of(v.real), grid_of(v.imag)]
        return None if None in parts else max(parts)
    if not np.all(np.isfinite(v)):
        return None
    for grid in (0, 2, 6, 12):
        scaled = v * 2.0**grid
        if np.all(np.abs(scaled) < 2.0**20) and np.all(scaled == np.rint(scaled)):
            return grid
    return None


class Held:
    """A tensor while a program runs. Axes that are not whole have one place more, for all other coordinates."""

    def __init__(self, element, shape, fill, coordinates):
        self.element, self.shape, self.fill = element, tuple(shape), fill
        self.coordinates = coordinates  # for each mode None, or the coordinates that are told apart
        size = [extent if own is None else len(own) + 1 for extent, own in zip(shape, coordinates)]
        if np.prod([float(part) for part in size]) > MOST:
            raise TooLarge(f"a tensor of {size}")
        self.v = np.full(size, fill, DTYPE[element])
        self.stored = np.zeros(size, np.bool_)
        self.opens = np.zeros(size, np.bool_)
        self.magnitude = None
        self.error = None
        if is_rounded(element):
            self.magnitude = np.array(np.where(np.isfinite(self.v), np.abs(self.v), 0.0))
            self.error = np.zeros(size)
        self.touched = False

    def places(self, indices):
        """Positions in the arrays for coordinates, each an array."""
        found = []
        for own, index in zip(self.coordinates, indices):
            if own is None:
                found.append(index)
            else:
                place = np.searchsorted(own, index)
                there = (place < len(own)) & (own[np.minimum(place, len(own) - 1)] == index) if len(own) else index < 0
                found.append(np.where(there, place, len(own)))
        return tuple(np.broadcast_arrays(*found)) if found else ()

    def read(self, places):
        if not is_rounded(self.element):
            return Value(self.element, self.v[places], opens=self.opens[places])
        if not self.touched and not np.any(self.opens):
            v = self.v[places]
            return Value(self.element, v, self.magnitude[places], 0.0, False, grid_of(self.v) if self.v.size < 5000 else grid_of(v))
        v, magnitude, error, opens = self.v[places], self.magnitude[places], self.error[places], self.opens[places]
        grid = grid_of(v) if not np.any(error) else None
        return Value(self.element, v, magnitude, error, opens, grid)


def held_input(tensor, shape, coordinates, values, long):
    """A parameter with its entries."""
    fill = constant(tensor.fill, tensor.element)
    whole = np.prod([float(extent) for extent in shape]) <= MOST and all(extent <= long for extent in shape)
    own = [None if whole else np.unique(coordinates[:, mode]) for mode in range(len(shape))]
    held = Held(tensor.element, shape, fill, own)
    if not shape:
        held.v[()] = values[0]
        if is_rounded(tensor.element):
            finite = np.isfinite(values[0])
            held.magnitude[()], held.opens[()] = (np.abs(values[0]), False) if finite else (0.0, True)
    if tensor.format is not None and is_dense(tensor.format):
        held.stored[...] = True
    if shape and len(coordinates):
        places = held.places([coordinates[:, mode] for mode in range(len(shape))])
        held.v[places] = values
        held.stored[places] = True
        if is_rounded(tensor.element):
            finite = np.isfinite(values)
            held.magnitude[places] = np.where(finite, np.abs(values), 0.0)
            held.opens[places] |= ~finite
    return held


def constant(written, element):
    """A fill value; zero where none is written."""
    if written is None:
        return DTYPE[element](0)
    if element == "bool":
        return written == "true"
    if element in INTEGERS:
        if written.startswith("0x"):
            return DTYPE[element](int(written, 0))
        whole = Fraction(written)
        assert whole.denominator == 1, f"{element} can't hold {written}"
        return DTYPE[element](int(whole))
    return np.float64(np.float32(written)) if element in ("f32", "c32") else np.float64(written)


def neutral(operator, element):
    """What a reduction of nothing is."""
    match operator:
        case "+":
            return DTYPE[element](0)
        case "*":
            return DTYPE[element](1)
        case "min":
            return np.iinfo(DTYPE[element]).max if element in INTEGERS else np.inf
        case "max":
            return np.iinfo(DTYPE[element]).min if element in INTEGERS else -np.inf
        case "|":
            return DTYPE[element](0)
        case "&":
            return True if element == "bool" else DTYPE[element](~DTYPE[element](0))


# ---------------------------------------------------------------------------------------------------------------------
# Operators


def convert(value, element):
    """As Rust's `as`; truth values are 0 and 1."""
    if value.element == element:
        return value
    v, opens = value.v, value.opens
    if element == "bool":
        if is_rounded(value.element):
            opens = opens | (np.abs(v) <= value.error) & (np.asarray(value.error) > 0)
        return Value(element, v != 0, opens=opens)
    if value.element == "bool":
        return Value(element, v.astype(DTYPE[element]), opens=opens, grid=0)
    if element in INTEGERS:
        if value.element in INTEGERS:
            return Value(element, v.astype(DTYPE[element]), opens=opens)
        if np.any(value.error):
            opens = opens | (np.trunc(v - value.error) != np.trunc(v + value.error))
        return Value(element, saturated(v, element), opens=opens)
    if value.element in INTEGERS:
        new = v.astype(np.float64)
        error = 0.0
        if largest(np.abs(new)) * 1.0 >= 2.0 ** BITS[element]:
            error = rounding(element, np.abs(new), 2)
        if element in ("f32", "c32"):
            new = new.astype(np.float32).astype(np.float64)
        return Value(element, new.astype(DTYPE[element]), error=error, opens=opens, grid=0)
    new, error, grid = v, value.error, value.grid
    if BITS[element] < BITS[value.element]:
        new = narrowed(v)
        if grid is None:
            error = error + rounding(element, np.where(np.isfinite(v), np.abs(v), 0.0), 2)
    return Value(element, new.astype(DTYPE[element]), value.magnitude, error, opens, grid)


def narrowed(v):
    with np.errstate(all="ignore"):
        if v.dtype.kind == "c":
            return v.astype(np.complex64).astype(np.complex128)
        return v.astype(np.float32).astype(np.float64)


def saturated(v, element):
    limits = np.iinfo(DTYPE[element])
    v = np.where(np.isnan(v), 0.0, np.trunc(v))
    inside = np.where((v >= float(limits.min)) & (v < float(limits.max)), v, 0.0).astype(DTYPE[element])
    return np.where(v >= float(limits.max), limits.max, np.where(v < float(limits.min), limits.min, inside)).astype(DTYPE[element])


def both_grids(a, b):
    return None if a.grid is None or b.grid is None else max(a.grid, b.grid)


def arithmetic(operator, a, b):
    element, opens = a.element, a.opens | b.opens
    if not is_rounded(element):
        return Value(element, whole(operator, a.v, b.v), opens=opens)
    if operator in "+-":
        v = a.v + b.v if operator == "+" else a.v - b.v
        magnitude = a.magnitude + b.magnitude
        error = a.error + b.error + rounding(element, magnitude)
        return Value(element, v, magnitude, error, opens, both_grids(a, b))
    if operator == "*":
        v = a.v * b.v
        magnitude = a.magnitude * b.magnitude
        error = np.abs(a.v) * b.error + np.abs(b.v) * a.error + a.error * b.error + rounding(element, magnitude, 2)
        magnitude = np.where(np.isinf(v), 0.0, magnitude)
        below = (magnitude < SMALLEST[element]) & (a.v != 0) & (b.v != 0)
        if np.any(below):
            opens = opens | below
        grid = None if a.grid is None or b.grid is None else a.grid + b.grid
        return Value(element, v, magnitude, error, opens, grid)
    if operator == "/":
        opens = opens | (np.abs(b.v) <= b.error)
        divisor = np.where(np.abs(b.v) > b.error, b.v, 1.0)
        v = a.v / divisor
        least = np.abs(divisor) - b.error
        magnitude = a.magnitude / least
        error = (a.error + np.abs(v) * b.error) / least + rounding(element, magnitude, 4)
        grid = None
        if a.grid is not None and b.v.size and np.all(b.v == b.v.flat[0]):
            power = np.log2(np.abs(b.v.flat[0])) if b.v.flat[0] != 0 else -1.0
            grid = a.grid + int(power) if 0 <= power < 60 and power == int(power) else None
        return Value(element, v, magnitude, error, opens, grid)
    if operator == "%":
        opens = opens | (b.v == 0)
        divisor = np.where(b.v == 0, 1.0, b.v)
        v = np.fmod(a.v, divisor)
        grid = both_grids(a, b)
        error = 0.0
        if grid is None:
            quotient = a.v / divisor
            slack = a.error + np.abs(quotient) * b.error + rounding(element, np.abs(a.v), 4)
            opens = opens | (np.abs(quotient - np.rint(quotient)) * np.abs(divisor) <= slack)
            error = slack
        return Value(element, v, np.maximum(np.abs(v), a.magnitude * 0), error, opens, grid)
    raise AssertionError(operator)


def whole(operator, a, b):
    """Of whole numbers; what leaves the range wraps around."""
    match operator:
        case "+":
            return a + b
        case "-":
            return a - b
        case "*":
            return a * b
        case "&":
            return a & b
        case "|":
            return a | b
        case "/" | "%":
            if np.any(b == 0):
                raise ZeroDivisionError
            # Exact beyond 53 bits, and -2^63 / -1 wraps around.
            quotient = a // b
            quotient = quotient + ((quotient * b != a) & ((a < 0) != (b < 0))).astype(a.dtype)
            return quotient if operator == "/" else a - quotient * b
    raise AssertionError(operator)


def compared(operator, a, b):
    opens = a.opens | b.opens
    if is_rounded(a.element) and (a.grid is None or b.grid is None):
        slack = a.error + b.error
        opens = opens | (np.abs(a.v - b.v) <= slack) & (np.asarray(slack) > 0)
    compare = {"==": np.equal, "!=": np.not_equal, "<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal}
    return Value("bool", compare[operator](a.v, b.v), opens=opens)


def extreme(name, a, b):
    opens = a.opens | b.opens
    choose = np.minimum if name == "min" else np.maximum
    if not is_rounded(a.element):
        return Value(a.element, choose(a.v, b.v), opens=opens)
    return Value(
        a.element, choose(a.v, b.v), np.maximum(a.magnitude, b.magnitude), np.maximum(a.error, b.error), opens, both_grids(a, b)
    )


STEPS = {"floor": np.floor, "ceil": np.ceil, "trunc": np.trunc, "round": lambda v: np.trunc(v + np.copysign(0.5, v))}
SMOOTH = {
    "sqrt": np.sqrt, "exp": np.exp, "ln": np.log, "log2": np.log2, "log10": np.log10, "sin": np.sin, "cos": np.cos,
    "tan": np.tan, "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh,
    "asinh": np.arcsinh, "acosh": np.arccosh, "atanh": np.arctanh,
}


def function(name, a):
    element, v, opens = a.element, a.v, a.opens
    if name in STEPS:
        step = STEPS[name]
        if a.grid is None:
            opens = opens | (step(v - a.error) != step(v + a.error))
        return Value(element, step(v), None, 0.0, opens, 0 if a.grid is not None else None)
    if name == "abs":
        if element in INTEGERS:
            return Value(element, np.abs(v), opens=opens)
        if element in COMPLEX:
            part = "f64" if element == "c64" else "f32"
            return Value(part, np.abs(v), a.magnitude, a.error + rounding(part, a.magnitude, 4), opens)
        return Value(element, np.abs(v), a.magnitude, a.error, opens, a.grid)
    if name in ("re", "im"):
        part = "f64" if element == "c64" else "f32"
        return Value(part, (v.real if name == "re" else v.imag).copy(), a.magnitude, a.error, opens, a.grid)
    if name == "conj":
        return Value(element, np.conj(v), a.magnitude, a.error, opens, a.grid)
    f = SMOOTH[name]
    new = f(v)
    if name == "tan":
        opens = opens | (np.abs(np.cos(v)) < 1e-3)
    if element in COMPLEX:
        if name == "sqrt":
            # Beside the branch cut, rounding says on which side a number is.
            opens = opens | (v.real < 0) & (np.abs(v.imag) <= a.error + 8 * UNIT[element] * np.abs(v))
            moved = np.where(np.abs(v) > 4 * a.error, a.error / np.maximum(np.abs(new), 1e-300), np.sqrt(a.error + 0.0))
        else:
            moved = np.abs(new) * np.expm1(np.minimum(a.error + 0.0, 1.0))
        error = 2 * moved + rounding(element, np.abs(new) * (1.0 + np.abs(v)), 8)
        return Value(element, new, None, error, opens)
    low, high = f(v - a.error), f(v + a.error)
    edge = np.isnan(new) | ((np.isnan(low) | np.isnan(high)) & (np.asarray(a.error) > 0))
    opens = opens | edge | ~np.isfinite(new)
    moved = np.maximum(np.abs(low - new), np.abs(high - new))
    moved = np.where(edge, 0.0, moved)
    error = 2 * moved + rounding(element, np.abs(np.where(edge, 0.0, new)), 8) + SMALLEST[element]
    return Value(element, new, None, error, opens)


def of_two(name, a, b):
    f = {"pow": np.power, "atan2": np.arctan2}[name]
    new = f(a.v, b.v)
    moved = 0.0
    edge = ~np.isfinite(new)
    for x in (a.v - a.error, a.v + a.error):
        for y in (b.v - b.error, b.v + b.error):
            other = f(x, y)
            edge = edge | ~np.isfinite(other)
            moved = np.maximum(moved, np.abs(np.where(edge, 0.0, other - new)))
    opens = a.opens | b.opens | edge
    if name == "atan2":
        opens = opens | (a.v == 0) & (b.v <= 0) | (np.abs(new) > 3.1)
    error = 2 * moved + rounding(a.element, np.abs(np.where(edge, 0.0, new)), 16) + SMALLEST[a.element]
    return Value(a.element, new, None, error, opens)


def select(condition, yes, no):
    chosen = condition.v
    opens = condition.opens | np.where(chosen, yes.opens, no.opens)
    v = np.where(chosen, yes.v, no.v)
    if not is_rounded(yes.element):
        return Value(yes.element, v, opens=opens)
    pick = lambda a, b: np.where(chosen, a, b)
    return Value(
        yes.element, v, pick(yes.magnitude, no.magnitude), pick(yes.error, no.error), opens, both_grids(yes, no)
    )


def reduced(operator, value, axes, sizes, chosen):
    """Values combined over axes, of which `sizes` are the extents; of those that `chosen` says, where that is not None."""
    element = value.element
    shape = list(np.broadcast_shapes(value.v.shape, np.shape(chosen) if chosen is not None else ()))
    for axis, size in zip(axes, sizes):
        shape[axis] = size
    if np.prod([float(extent) for extent in shape]) > MOST:
        raise TooLarge(f"values of {shape}")
    spread = lambda array: np.broadcast_to(array, shape)
    start = neutral(operator, element)
    v, opens = spread(value.v), spread(value.opens)
    if chosen is not None:
        v, opens = np.where(chosen, v, start), opens & chosen
    axes = tuple(axes)
    opens = np.any(opens, axis=axes, keepdims=True)
    options = {"axis": axes, "keepdims": True}
    if operator in ("|", "&"):
        combine = np.bitwise_or if operator == "|" else np.bitwise_and
        if element == "bool":
            combine = np.logical_or if operator == "|" else np.logical_and
        for axis in axes:
            v = combine.reduce(v, axis=axis, keepdims=True)
        return Value(element, v, opens=opens)
    if operator in ("min", "max"):
        combine = np.min if operator == "min" else np.max
        v_new = combine(v, initial=start, **options)
    else:
        combine = np.sum if operator == "+" else np.prod
        v_new = combine(v, dtype=DTYPE[element], **options)
    if not is_rounded(element):
        return Value(element, v_new, opens=opens)
    magnitude, error = spread(value.magnitude), spread(value.error)
    if chosen is not None:
        magnitude = np.where(chosen, magnitude, 1.0 if operator == "*" else 0.0)
        error = np.where(chosen, error, 0.0)
    count = np.prod([shape[axis] for axis in axes])
    if operator == "+":
        magnitude = np.sum(magnitude, **options)
        error = np.sum(error, **options) + rounding(element, magnitude, count + 2)
        return Value(element, v_new, magnitude, error, opens, value.grid)
    if operator == "*":
        total = np.prod(magnitude, **options)
        error = np.prod(np.abs(v) + error, **options) - np.prod(np.abs(v), **options) + rounding(element, total, 3 * count + 2)
        above = np.prod(np.maximum(np.abs(v), 1.0), **options)
        below = np.prod(np.where(v == 0, 1.0, np.minimum(np.abs(v), 1.0)), **options)
        opens = opens | ~((above < LARGEST[element]) & (below > SMALLEST[element]))
        grid = 0 if value.grid == 0 else None
        return Value(element, v_new, total, error, opens, grid)
    magnitude = np.max(magnitude, initial=0.0, **options)
    error = np.max(error, initial=0.0, **options)
    return Value(element, v_new, magnitude, error, opens, value.grid)


# ---------------------------------------------------------------------------------------------------------------------
# Statements


class Statement:
    """The evaluation of one statement."""

    def __init__(self, program, tensors, statement):
        self.tensors, self.statement, self.extents = tensors, statement, program.extents
        names = list(dict.fromkeys(
            [name for index in statement.target.indices for name in index_variables(index)]
            + all_variables(statement.value)
            + [name for index in (statement.mask.indices if statement.mask else ()) for name in index_variables(index)]
        ))
        self.names = names
        self.coordinates = {name: program.axis(name) for name in names}
        if np.prod([float(len(own)) for own in self.coordinates.values()]) > 8 * MOST:
            raise TooLarge("an iteration space of this size")
        self.axis = {name: place for place, name in enumerate(names)}
        self.mask_variables = [name for index in (statement.mask.indices if statement.mask else ()) for name in index_variables(index)]

    def element_of(self, name):
        return self.tensors[name].element

    def along(self, name):
        """The coordinates of a variable along its axis, or `extent k`."""
        if name.startswith("extent "):
            return np.int64(self.extents[name.split()[1]])
        shape = [1] * len(self.names)
        shape[self.axis[name]] = -1
        return self.coordinates[name].reshape(shape)

    def indices(self, indices):
        one = np.zeros([1] * len(self.names), np.int64)
        return [one + index_value(index, self.along) for index in indices]

    def value(self, expr, element):
        """A value of an element type, converted to it where it is of another."""
        own = kind(expr, self.element_of) or element
        value = self.own(expr, own)
        assert own == element or element in WIDENS[own], (expr, own, element)
        return convert(value, element)

    def own(self, expr, element):
        match expr:
            case Literal(written, _):
                shape = [1] * len(self.names)
                v = np.full(shape, constant(written, element), DTYPE[element])
                return Value(element, v, grid=grid_of(v) if is_rounded(element) else 0)
            case Access(name, indices):
                held = self.tensors[name]
                places = held.places(self.indices(indices)) if indices else (np.zeros([1] * len(self.names), np.int64),)
                if not indices:
                    return scalar(held, len(self.names))
                return held.read(places)
            case Index(name):
                index = Value("i64", self.along(name))
                return convert(index, element)
            case Count(name):
                shape = [1] * len(self.names)
                return convert(Value("i64", np.full(shape, self.extents[name], np.int64)), element)
            case Unary("!", operand):
                operand = self.value(operand, "bool")
                return Value("bool", ~operand.v, opens=operand.opens)
            case Unary("-", operand):
                return negated(self.value(operand, element))
            case Binary("&&" | "||" as operator, left, right):
                left, right = self.value(left, "bool"), self.value(right, "bool")
                v = left.v & right.v if operator == "&&" else left.v | right.v
                return Value("bool", v, opens=left.opens | right.opens)
            case Binary(operator, left, right) if operator in ARITHMETIC:
                return arithmetic(operator, self.value(left, element), self.value(right, element))
            case Binary(operator, left, right):
                of = common([left, right], self.element_of) or "i64"
                return compared(operator, self.value(left, of), self.value(right, of))
            case Call(name, arguments) if name in ELEMENTS:
                return convert(self.value(arguments[0], kind(arguments[0], self.element_of) or name), name)
            case Call("select", (condition, yes, no)):
                return select(self.value(condition, "bool"), self.value(yes, element), self.value(no, element))
            case Call("sign", (operand,)):
                value = self.value(operand, element)
                opens = value.opens
                if is_rounded(element) and value.grid is None:
                    opens = opens | (np.abs(value.v) <= value.error) & (np.asarray(value.error) > 0)
                return Value(element, np.sign(value.v).astype(DTYPE[element]), opens=opens, grid=0)
            case Call("complex", (real, imaginary)):
                part = common([real, imaginary], self.element_of) or {"c64": "f64", "c32": "f32"}[element]
                real, imaginary = self.value(real, part), self.value(imaginary, part)
                new = real.v + 1j * imaginary.v
                return Value(
                    {"f64": "c64", "f32": "c32"}[part], new, real.magnitude + imaginary.magnitude, real.error + imaginary.error,
                    real.opens | imaginary.opens, both_grids(real, imaginary),
                )
            case Call(name, arguments):
                of = common(arguments, self.element_of) or element
                values = [self.value(argument, of) for argument in arguments]
                if name in ("min", "max"):
                    return extreme(name, *values)
                return of_two(name, *values) if len(values) == 2 else function(name, *values)
            case Reduce("argmax" | "argmin" as name, variables, body):
                value = self.value(body, kind(body, self.element_of) or "f64")
                return self.place(name, value, variables, element)
            case Reduce(name, variables, body):
                return self.reduce(REDUCTIONS[name], self.value(body, element), variables)
        raise AssertionError(expr)

    def reduce(self, operator, value, variables):
        if not variables:
            return value
        axes = [self.axis[name] for name in variables]
        sizes = [len(self.coordinates[name]) for name in variables]
        chosen = self.chosen() if any(name in self.mask_variables for name in variables) else None
        result = reduced(operator, value, axes, sizes, chosen)
        if any(np.any(tensor.opens) for tensor in self.tensors.values()):
            # Factors may be taken out of a sum: an infinity times a sum of nothing.
            if 0 in sizes:
                result.opens = result.opens | True
            elif chosen is not None:
                result.opens = result.opens | ~np.any(chosen, axis=tuple(axes), keepdims=True)
        return result

    def place(self, name, value, variables, element):
        """The least index, in rows where there are several, at which a value is the greatest or the least; nothing equals NaN."""
        axes = tuple(self.axis[variable] for variable in variables)
        number = np.zeros((), np.int64)
        for variable in variables:
            number = number * len(self.coordinates[variable]) + self.along(variable)
        shape = list(np.broadcast_shapes(value.v.shape, number.shape))
        v, opens = np.broadcast_to(value.v, shape), value.opens
        if is_rounded(value.element):
            opens = opens | (np.asarray(value.error) > 0)
        opens = np.any(np.broadcast_to(opens, shape), axis=axes, keepdims=True)
        missing = neutral("max" if name == "argmax" else "min", value.element)
        known = np.where(np.isnan(v), missing, v) if is_rounded(value.element) else v
        best = (np.max if name == "argmax" else np.min)(known, axis=axes, keepdims=True, initial=missing)
        is_best = v == best
        none = np.iinfo(np.int64).max
        first = np.min(np.where(is_best, np.broadcast_to(number, shape), none), axis=axes, keepdims=True, initial=none)
        found = convert(Value("i64", np.where(first == none, 0, first), opens=opens), element)
        found.v = np.where(first == none, neutral("min", element), found.v)
        return found

    def chosen(self):
        """Where the mask has an entry."""
        mask = self.statement.mask
        held = self.tensors[mask.name]
        return held.stored[held.places(self.indices(mask.indices))]

    def terms(self, expr, element):
        """A right-hand side whose terms are summed each over its own variables."""
        match expr:
            case Unary("-", operand):
                return negated(self.terms(operand, element))
            case Binary("+" | "-" as operator, left, right):
                return arithmetic(operator, self.terms(left, element), self.terms(right, element))
        return self.reduce("+", self.value(expr, element), self.summed(expr))

    def added(self, expr, element):
        """A right-hand side whose terms are added in the result's type, and combined all at once."""
        match expr:
            case Unary("-", Binary("+" | "-") as operand):
                return negated(self.added(operand, element))
            case Binary("+" | "-" as operator, left, right):
                return arithmetic(operator, self.added(left, element), self.added(right, element))
        return self.value(expr, element)

    def summed(self, expr):
        targets = [name for index in self.statement.target.indices for name in index_variables(index)]
        return [name for name in free_variables(expr) if name not in targets]

    def run(self):
        statement = self.statement
        target = self.tensors[statement.target.name]
        operator = {"=": "=", "+=": "+", "*=": "*", "min=": "min", "max=": "max", "|=": "|", "&=": "&"}[statement.operator]
        with np.errstate(all="ignore"):
            if operator in "=+":
                value = self.terms(statement.value, target.element)
            else:
                value = self.reduce(operator, self.added(statement.value, target.element), self.summed(statement.value))
            self.assign(target, operator, value)

    def assign(self, target, operator, value):
        names = list(dict.fromkeys(name for index in self.statement.target.indices for name in index_variables(index)))
        shape = [1] * len(self.names)
        for name in names:
            shape[self.axis[name]] = len(self.coordinates[name])
        chosen = None
        if self.statement.mask and all(name in names for name in self.mask_variables):
            chosen = np.broadcast_to(self.chosen(), shape).reshape(-1)
        flat = lambda array: np.broadcast_to(array, shape).reshape(-1)
        places = target.places([np.broadcast_to(index, shape).reshape(-1) for index in self.indices(self.statement.target.indices)])
        if not places:
            places = (np.zeros(1, np.int64),)
            target.v, target.opens = target.v.reshape(1), target.opens.reshape(1)
            if target.magnitude is not None:
                target.magnitude, target.error = target.magnitude.reshape(1), target.error.reshape(1)
        parts = [flat(value.v), flat(value.opens)]
        if is_rounded(target.element):
            parts += [flat(value.magnitude), flat(value.error)]
        if chosen is not None:
            places = tuple(place[chosen] for place in places)
            parts = [part[chosen] for part in parts]
        combine(target, operator, places, parts)


def combine(target, operator, places, parts):
    """Puts values in a tensor; those of one place are combined."""
    v, opens = parts[:2]
    rounded = is_rounded(target.element)
    fresh = not target.touched
    target.touched = True
    if operator == "=" or fresh:
        # The first statement begins with what changes nothing.
        target.v[places] = v if operator == "=" else neutral(operator, target.element)
        target.opens[places] = opens if operator == "=" else False
        if rounded:
            target.magnitude[places] = parts[2] if operator == "=" else (1.0 if operator == "*" else 0.0)
            target.error[places] = parts[3] if operator == "=" else 0.0
        if operator == "=":
            return
    np.logical_or.at(target.opens, places, opens)
    if operator in ("|", "&"):
        at = {"|": np.bitwise_or, "&": np.bitwise_and}[operator]
        at.at(target.v, places, v)
        return
    if not rounded:
        at = {"+": np.add, "*": np.multiply, "min": np.minimum, "max": np.maximum}[operator]
        at.at(target.v, places, v)
        return
    element = target.element
    magnitude, error = parts[2:]
    count = np.zeros(target.v.shape)
    np.add.at(count, places, 1.0)
    if operator == "+":
        np.add.at(target.v, places, v)
        np.add.at(target.magnitude, places, magnitude)
        np.add.at(target.error, places, error)
        target.error += (count > 0) * rounding(element, target.magnitude, count + 1)
    elif operator == "*":
        upper = np.abs(target.v) + target.error
        np.multiply.at(upper, places, np.abs(v) + error)
        np.multiply.at(target.v, places, v)
        np.multiply.at(target.magnitude, places, magnitude)
        new = upper - np.abs(target.v) + rounding(element, target.magnitude, 3 * count + 3)
        target.error[...] = np.where(count > 0, new, target.error)
    else:
        at = np.minimum if operator == "min" else np.maximum
        at.at(target.v, places, v)
        np.maximum.at(target.magnitude, places, magnitude)
        np.maximum.at(target.error, places, error)
    beyond = (target.magnitude > LARGEST[element]) & np.isfinite(target.magnitude) | np.isnan(target.v) | np.isnan(target.error)
    target.opens |= beyond


def scalar(held, axes):
    one = [1] * axes
    part = lambda array: array.reshape(one)
    if not is_rounded(held.element):
        return Value(held.element, part(held.v), opens=part(held.opens))
    grid = grid_of(held.v) if not np.any(held.error) else None
    return Value(held.element, part(held.v), part(held.magnitude), part(held.error), part(held.opens), grid)


def negated(value):
    v = -value.v
    return Value(value.element, v, value.magnitude, value.error, value.opens, value.grid)


def all_variables(expr):
    match expr:
        case Reduce(_, variables, body):
            return list(dict.fromkeys(list(variables) + all_variables(body)))
        case Access() | Index():
            return free_variables(expr)
        case Unary(_, operand):
            return all_variables(operand)
        case Binary(_, left, right):
            return list(dict.fromkeys(all_variables(left) + all_variables(right)))
        case Call(_, arguments):
            return list(dict.fromkeys(name for argument in arguments for name in all_variables(argument)))
    return []


def first_operator(kernel, name):
    """How the statements of a result assign it: `=` if any does, else the first one's operator."""
    operators = [statement.operator for statement in kernel.statements if statement.target.name == name]
    return "=" if "=" in operators else operators[0]


def fill_of(kernel, tensor):
    """What a result begins as."""
    if tensor.fill is not None:
        return constant(tensor.fill, tensor.element)
    operator = first_operator(kernel, tensor.name)
    if operator == "=":
        return DTYPE[tensor.element](0)
    return neutral({"+=": "+", "*=": "*", "min=": "min", "max=": "max", "|=": "|", "&=": "&"}[operator], tensor.element)


def evaluate(program):
    """The results of a program, by name, as `Held`."""
    kernel = program.kernel
    tensors = {}
    for tensor in kernel.parameters:
        data = program.inputs[tensor.name]
        tensors[tensor.name] = held_input(tensor, program.shapes[tensor.name], data.coordinates, data.values, program.long)
    elements = {tensor.name: tensor.element for tensor in kernel.parameters + kernel.results}
    for statement in kernel.statements:
        name = statement.target.name
        if name not in tensors:
            made = statement.declares
            if made is not None:
                element = made.element or kind(statement.value, elements.get) or "f64"
                fill = constant(made.fill, element) if made.fill else neutral("+", element) if statement.operator == "=" else 0
            else:
                tensor = next(result for result in kernel.results if result.name == name)
                element, fill = tensor.element, fill_of(kernel, tensor)
            elements[name] = element
            shape = program.shapes[name]
            tensors[name] = Held(element, shape, fill, target_axes(program, statement.target, shape))
        Statement(program, tensors, statement).run()
    return {tensor.name: tensors[tensor.name] for tensor in kernel.results}


def target_axes(program, target, shape):
    if np.prod([float(extent) for extent in shape]) <= MOST and all(extent <= program.long for extent in shape):
        return [None] * len(shape)
    axes = []
    for index, extent in zip(target.indices, shape):
        if extent <= program.long and isinstance(index, Var):
            axes.append(np.arange(extent))
            continue
        names = index_variables(index)
        values = np.zeros([1] * len(names), np.int64)
        along = {}
        for place, name in enumerate(names):
            shape_of = [1] * len(names)
            shape_of[place] = -1
            along[name] = program.axis(name).reshape(shape_of)
        value = lambda name: program.extents[name.split()[1]] if name.startswith("extent ") else along[name]
        axes.append(np.unique(values + index_value(index, value)))
    return axes


# ---------------------------------------------------------------------------------------------------------------------
# Comparison


def difference(held, shape, coordinates, values):
    """What is wrong with a result that was read back: its shape if the file says it, its entries; None if nothing is."""
    if shape is not None and tuple(shape) != held.shape:
        return f"the shape is {tuple(shape)}, and must be {held.shape}"
    coordinates = np.asarray(coordinates, np.int64).reshape(len(values), len(held.shape))
    if len(coordinates):
        outside = np.any((coordinates < 0) | (coordinates >= np.array(held.shape)), axis=1) if held.shape else np.zeros(len(coordinates), bool)
        if np.any(outside):
            return f"an entry at {tuple(coordinates[outside][0].tolist())}, outside of {held.shape}"
        if len(np.unique(coordinates, axis=0)) < len(coordinates):
            return "two entries at one place"
    got = np.full(held.v.shape, held.fill, DTYPE[held.element])
    if not held.shape:
        got = np.full((1,), held.fill, DTYPE[held.element])
        if len(values):
            got[0] = values[0]
    elif len(coordinates):
        places = held.places([coordinates[:, mode] for mode in range(len(held.shape))])
        # What is at a coordinate that nothing tells apart must be the fill value.
        beyond = np.zeros(len(coordinates), bool)
        for own, place in zip(held.coordinates, places):
            if own is not None:
                beyond |= place == len(own)
        strange = beyond & (np.asarray(values) != held.fill)
        if np.any(strange):
            return f"{np.asarray(values)[strange][0]} at {tuple(coordinates[strange][0].tolist())}, where nothing is"
        got[places] = values
    want = held.v.reshape(got.shape)
    opens = held.opens.reshape(got.shape)
    with np.errstate(all="ignore"):
        if is_rounded(held.element):
            magnitude, error = held.magnitude.reshape(got.shape), held.error.reshape(got.shape)
            slack = 4 * error + 8 * UNIT[held.element] * magnitude + SMALLEST[held.element]
            slack = np.where(np.isfinite(slack), slack, 0.0)
            wrong = ~((got == want) | (np.abs(got - want) <= slack)) & ~opens
        else:
            wrong = (got != want) & ~opens
    # The place for all other coordinates holds nothing.
    for mode, own in enumerate(held.coordinates):
        if own is not None:
            wrong[(slice(None),) * mode + (-1,)] = False
    if not np.any(wrong):
        return None
    place = tuple(int(part) for part in np.argwhere(wrong)[0])
    index = place if held.shape else ()
    index = tuple(int(own[part]) if own is not None else part for own, part in zip(held.coordinates, index))
    return f"{got[place]} at {index}, and must be {want[place]} ({int(np.sum(wrong))} of {wrong.size} are wrong)"
