"""Programs at random, each the program of a seed."""

import random
from math import prod

import numpy as np

import formats
from evaluate import DTYPE
from files import Presentation
from known import KNOWN
from language import (
    children, with_children, COMPLEX, FLOATS, INTEGERS, PART, WIDENS, Access, Binary, Call, Count, Definition, Index, Kernel, Length, Literal, Num, Op, PLACES,
    Reduce, Statement, Tensor,
    Unary, Var, Window, accesses, free_variables, index_range, index_variables, terms,
)
from program import Input, Program
from ranks import some_ranks

VARIABLES = ["i", "j", "k", "l", "m", "n", "r", "s", "row", "col", "q0", "ii"]
TENSORS = ["A", "B", "C", "D", "X", "Z", "W", "x", "z", "w", "u", "v", "M", "a", "b", "c", "G", "H"] + [f"{letter}{other}" for letter in "ABvx" for other in "abcde"]
BASE = ["f64"] * 8 + ["f32"] * 3 + ["i64", "i64", "i32", "i32", "u8", "bool", "bool", "c64", "c32"]

SMALL = [1, 2, 2, 3, 3, 3, 4, 4, 5, 5, 6, 7]
EDGES = [7, 8, 9, 15, 16, 17, 31, 33, 63, 64, 65]
LONG = [255, 256, 257, 257]
LONGER = [65535, 65536, 65537]
HUGE = [2**32 - 1, 2**32, 2**32 + 1, 532924, 17262471, 2480308, 2**40, 2**62]


class Style:
    """How values are combined, so that missing entries that are not zero mean something."""

    def __init__(self, name, times, plus, reduction, fill):
        self.name, self.times, self.plus, self.reduction, self.fill = name, times, plus, reduction, fill


PLAIN = Style("plain", "*", "+", None, None)
LEAST = Style("least", "+", "min", "min=", "inf")
GREATEST = Style("greatest", "+", "max", "max=", "-inf")
PRODUCTS = Style("products", "*", "*", "*=", "1")
ANY = Style("any", "&&", "||", "|=", None)
ALL = Style("all", "||", "&&", "&=", "true")
FILLED = Style("filled", "*", "+", None, "7")


class Generator:
    def __init__(self, seed, options):
        self.rng = rng = random.Random(seed)
        self.seed, self.options = seed, options
        self.element = rng.choice(BASE)
        self.style = self.some_style()
        self.extents = {}
        self.shapes = {}
        self.parameters = []
        self.inputs = {}
        self.dims = {}
        self.definitions = []
        self.names = rng.sample(TENSORS, len(TENSORS))
        self.is_mask = set()
        self.like = {}  # operands with the coordinates of another
        self.full = set()  # dense operands that divide
        self.data = rng.choice(["dyadic"] * 6 + ["real"] * 3 + ["wide", "special"])
        self.budget = 1
        self.computes = rng.random() < 0.4
        self.label = ""

    def chance(self, share):
        return self.rng.random() < share

    def allows(self, cause):
        """Whether programs that show a known fault shall be made."""
        return self.options.all or cause not in KNOWN

    def some_style(self):
        roll = self.rng.random()
        if self.element == "bool":
            return ANY if roll < 0.7 else ALL
        if self.element in FLOATS and roll < 0.12:
            return LEAST if roll < 0.08 else GREATEST
        if roll < 0.17:
            return PRODUCTS
        if roll < 0.27:
            return FILLED
        return PLAIN

    # -----------------------------------------------------------------------------------------------------------------
    # Extents

    def extent(self):
        roll = self.rng.random()
        if roll < 0.04:
            return 0
        if roll < 0.7:
            return self.rng.choice(SMALL)
        if roll < 0.94:
            return self.rng.choice(EDGES)
        if roll < 0.985:
            return self.rng.choice(LONG)
        return self.rng.choice(LONGER)

    def new_variable(self, extent=None, most=60_000):
        name = next(name for name in self.rng.sample(VARIABLES, len(VARIABLES)) if name not in self.extents)
        if extent is None:
            extent = self.extent()
            while extent > 5 and self.budget * extent > most:
                extent = self.rng.choice(SMALL)
        self.budget *= max(extent, 1)
        self.extents[name] = extent
        return name

    # -----------------------------------------------------------------------------------------------------------------
    # Operands

    def new_name(self):
        return self.names.pop()

    def operand(self, variables, sparse=None, element=None, fill=None, mask=False, indices=None, format=None, full=False):
        """A new parameter at indices: variables, some of them computed where the program computes indices."""
        element = element or self.some_element()
        given = indices is not None
        indices = list(indices) if indices else [Var(name) for name in variables]
        if self.computes and not mask and not full and not given and self.chance(0.5):
            indices = self.computed(indices, variables)
        name = self.new_name()
        shape = tuple(self.mode_extent(name, mode, index) for mode, index in enumerate(indices))
        if format is None:
            if mask:
                format = self.rng.choice(formats.EXACT[len(shape)])
            elif sparse is True:
                format = formats.sparse(self.rng, shape, self.definitions)
            elif sparse is False:
                format = self.dense_format(len(shape))
            else:
                format = formats.any_format(self.rng, shape, self.definitions) if self.chance(0.6) else "dense"
        if len(shape) == 2 and "diagonal" in format and shape[0] != shape[1]:
            format = "dcsr"
        self.parameters.append(Tensor(name, element, format, fill, element != "f64" or self.chance(0.2)))
        self.shapes[name] = shape
        if mask:
            self.is_mask.add(name)
        if full:
            self.full.add(name)
        return Access(name, tuple(indices))

    def dense_format(self, order):
        if order > 1 and self.chance(0.25):
            if self.chance(0.4):
                return f"tiled({self.rng.choice([2, 4, 8])})"
            modes = list(range(order))
            self.rng.shuffle(modes)
            names = "ijkl"[:order]
            return f"({', '.join(names)}) -> [{', '.join(f'{names[mode]}: dense' for mode in modes)}]"
        return "dense"

    def mode_extent(self, name, mode, index):
        """The extent of a mode, with room behind what is reached now and then."""
        match index:
            case Var(variable):
                return self.extents[variable]
        low, high = index_range(index, self.extents.__getitem__)
        assert low >= 0, index
        empty = any(self.extents[variable] == 0 for variable in index_variables(index))
        if index not in self.sizes:
            # One computed index has one extent.
            self.sizes[index] = 0 if empty and self.chance(0.5) else high + 1 + (self.rng.randrange(4) if self.chance(0.4) else 0)
        return self.sizes[index]

    sizes = None

    def computed(self, indices, variables):
        """Some of the indices computed instead."""
        found = list(indices)
        for mode in range(len(found)):
            if not self.chance(0.6) or not isinstance(found[mode], Var):
                continue
            found[mode] = self.index(found[mode].name, variables)
        return found

    def index(self, own, variables):
        rng = self.rng
        extent = self.extents.__getitem__
        value = Var(own)
        match rng.randrange(12):
            case 10 | 11:
                # A number of mixed radix, or one in which values meet.
                inner = rng.choice(variables)
                counted = inner if self.chance(0.8) else rng.choice(variables)
                value = Op("+", Op("*", value, Length(counted)), Var(inner))
                value = value if counted == inner else Op("+", value, Op("*", Num(2), Var(counted)))
            case 0:
                return Num(rng.randrange(4))
            case 1 | 2:
                value = Op("+", value, Num(rng.randrange(1, 4)))
            case 3:
                value = Op("*", Num(rng.randrange(1, 4)), value)
            case 4 if len(variables) > 1:
                value = Op("+", value, Var(rng.choice(variables)))
            case 5:
                value = Op("/", value, Num(rng.choice([2, 3, 4, 8])))
            case 6:
                value = Op("%", value, Num(rng.choice([1, 2, 3, 4, 8])))
            case 7 if len(variables) > 1:
                value = Op("-", value, Var(rng.choice(variables)))
            case 8:
                value = Op("-", Num(max(extent(own) - 1, 0)), value)
            case _:
                value = Op("+", Op("*", Num(2), value), Var(rng.choice(variables)))
        if index_range(value, extent)[1] > 70_000:
            return Var(own)
        low, _ = index_range(value, extent)
        if low < 0:
            value = Op("+", Num(-low), value) if self.chance(0.5) else Op("+", value, Num(-low))
        return value

    def some_element(self):
        if self.element == "bool":
            return "bool"
        if self.chance(0.12):
            element = self.rng.choice(BASE)
            if element != "bool" and not (element in COMPLEX and self.element not in COMPLEX):
                return element
        return self.element

    def scalar(self):
        name = self.new_name()
        element = self.some_element()
        self.parameters.append(Tensor(name, element))
        self.shapes[name] = ()
        return self.as_element(Access(name, ()), element)

    def as_element(self, expr, element, always=False):
        """Converted to the type of the program, by itself or in words."""
        if element == self.element:
            return expr
        if element in WIDENS and self.element in WIDENS[element] and not always and self.chance(0.4) and not self.at_root:
            return expr
        return Call(self.element, (expr,))

    at_root = True

    # -----------------------------------------------------------------------------------------------------------------
    # Expressions

    def some(self, variables, most=3):
        count = min(len(variables), 1 + self.rng.randrange(most))
        chosen = self.rng.sample(variables, count)
        if self.chance(0.6):
            chosen.sort(key=variables.index)
        if self.chance(0.04) and len(chosen) < 3:
            chosen.append(chosen[0])
        return chosen

    def read(self, variables, sparse=None):
        """A new operand over some variables, or one again that was read before."""
        fill = self.operand_fill()
        if self.made and self.chance(0.4):
            fitting = [made for made in self.made if all(name in variables for name in self.made[made][1])]
            if fitting:
                name = self.rng.choice(fitting)
                element, indices = self.made[name]
                self.used.add(name)
                return self.as_element(Access(name, tuple(Var(index) for index in indices)), element)
        if self.chance(0.12):
            again = [
                access for access in self.accessed
                if all(name in variables for index in access.indices for name in index_variables(index))
            ]
            if again:
                access = self.rng.choice(again)
                return self.as_element(access, self.element_of(access.name))
        element = self.some_element()
        if fill in ("inf", "-inf") and element not in FLOATS or fill is not None and element in COMPLEX + ("bool",) and fill != "true":
            element = self.element
        if element in INTEGERS and fill is not None and not fill.isdigit():
            fill = "3"
        access = self.operand(self.some(variables), sparse, element, fill if sparse is not False else None)
        self.accessed.append(access)
        return self.as_element(access, element)

    def operand_fill(self):
        if self.style.fill is None or self.style is PRODUCTS and self.element in COMPLEX:
            return None
        if self.style is FILLED:
            if self.element in COMPLEX:
                return None
            return self.rng.choice([None, "1", "7", "3"] + (["0.5", "-2"] if self.element in FLOATS else []))
        return self.style.fill if self.chance(0.8) else None

    def element_of(self, name):
        for tensor in self.parameters:
            if tensor.name == name:
                return tensor.element
        return self.made[name][0]

    def literal(self):
        rng = self.rng
        if self.element == "bool":
            return Literal(rng.choice(["true", "false"]))
        if self.element in INTEGERS:
            text = rng.choice(["2", "1", "3", "0", "7", "0x10", "1_0"])
        else:
            text = rng.choice(["2", "0.5", "1", "1.5", "0", "3", "0.25", "1e1", "0.1", "2.0"])
        suffix = self.element if self.chance(0.1) and "x" not in text else None
        return Literal(text, suffix)

    def factor(self, variables, depth):
        was, self.at_root = self.at_root, False
        try:
            return self.any_factor(variables, depth)
        finally:
            self.at_root = was

    def any_factor(self, variables, depth):
        rng, element = self.rng, self.element
        if element == "bool":
            return self.truth(variables, depth)
        roll = rng.randrange(30)
        if self.style in (LEAST, GREATEST):
            if depth > 0 and roll < 4:
                return Call(rng.choice(["min", "max"]), (self.factor(variables, depth - 1), self.factor(variables, depth - 1)))
            if roll < 6:
                return self.literal()
            if roll < 8:
                return self.scalar()
            return self.read(variables) if variables else self.scalar()
        if not variables and roll >= 14:
            return self.scalar() if self.chance(0.7) else self.literal()
        if depth > 0:
            match roll:
                case 0 if element != "u8":
                    return Unary("-", self.factor(variables, depth - 1))
                case 1 | 2 | 3:
                    operator = rng.choice(["+", "-", "*", "+", "-"])
                    if element in INTEGERS and self.chance(0.25):
                        operator = rng.choice(["&", "|"])
                    return Binary(operator, self.factor(variables, depth - 1), self.factor(variables, depth - 1))
                case 4:
                    return self.quotient(variables, depth - 1)
                case 5 | 6:
                    return self.call(variables, depth - 1)
                case 7:
                    return self.choice(variables, depth - 1)
                case 8 | 9:
                    return self.reduction(variables, depth - 1)
        if roll == 10 and variables:
            return (Count if self.chance(0.3) else Index)(rng.choice(variables))
        if roll == 11:
            return self.literal()
        if roll in (12, 13) or not variables:
            return self.scalar()
        return self.read(variables)

    def truth(self, variables, depth):
        rng = self.rng
        roll = rng.randrange(24)
        if depth > 0:
            match roll:
                case 0 | 1:
                    return Unary("!", self.truth(variables, depth - 1))
                case 2 | 3 | 4 | 5:
                    operator = rng.choice(["&&", "||", "&&", "||", "!=", "=="])
                    return Binary(operator, self.truth(variables, depth - 1), self.truth(variables, depth - 1))
                case 6:
                    return Call("select", (self.truth(variables, 0), self.truth(variables, 0), self.truth(variables, 0)))
                case 7 | 8:
                    return self.reduction(variables, depth - 1)
                case 9 | 10 | 11:
                    element = rng.choice(["f64", "i64", "i32", "f32", "u8"])
                    left = self.operand(self.some(variables), None, element) if variables else Literal("1")
                    right = Literal(rng.choice(["0", "1", "2"]))
                    if self.chance(0.3) and variables:
                        right = self.operand(self.some(variables), None, element)
                    if not isinstance(left, Literal):
                        return Binary(rng.choice(["<", "<=", ">", ">=", "==", "!="]), left, right)
        if roll == 12 and variables:
            return Binary(rng.choice(["<=", "<", "==", ">"]), Index(rng.choice(variables)), Literal(rng.choice(["1", "2", "5"])))
        if roll == 13:
            return self.literal()
        if roll == 14 or not variables:
            return self.scalar()
        return self.read(variables)

    def quotient(self, variables, depth):
        above = self.factor(variables, depth)
        if self.element in INTEGERS:
            return Binary(self.rng.choice(["/", "/", "%"]), above, Literal(self.rng.choice(["1", "2", "3", "5", "7"])))
        if self.element in FLOATS and self.chance(0.2):
            return Binary("%", above, Literal(self.rng.choice(["2", "0.5", "3"])))
        if self.chance(0.4) and variables:
            return Binary("/", above, self.operand(self.some(variables), False, self.element, full=True))
        if self.element in FLOATS and self.chance(0.5):
            return Binary("/", above, Binary("+", Call("abs", (self.factor(variables, depth),)), Literal("1")))
        return Binary("/", above, Literal(self.rng.choice(["4", "2", "3", "10"])))

    def call(self, variables, depth):
        rng, element = self.rng, self.element
        if element in COMPLEX:
            name = rng.choice(["conj", "re", "im", "abs", "sqrt", "exp", "complex"])
            if name == "complex":
                PART[element]
                parts = tuple(Call("re", (Call(element, (self.factor(variables, 0),)),)) for _ in range(2))
                return Call("complex", parts)
            if name == "exp":
                return Call("exp", (Binary("/", self.factor(variables, 0), Literal("8")),))
            inner = Call(name, (Call(element, (self.factor(variables, depth),)),))
            return Call(element, (inner,)) if name in ("re", "im", "abs") else inner
        if element in INTEGERS or self.chance(0.4):
            name = rng.choice(["min", "max", "abs", "sign"])
            if name in ("abs", "sign"):
                if name == "abs" and element == "u8":
                    return self.factor(variables, depth)
                return Call(name, (self.factor(variables, depth),))
            return Call(name, (self.factor(variables, depth), self.factor(variables, depth)))
        name = rng.choice(
            ["sqrt", "exp", "ln", "pow", "log2", "log10", "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh",
             "tanh", "asinh", "acosh", "atanh", "floor", "ceil", "round", "trunc"]
        )
        argument = self.factor(variables, depth)
        positive = lambda: Binary("+", Call("abs", (argument,)), Literal(rng.choice(["1", "0.5"])))
        match name:
            case "sqrt" | "ln" | "log2" | "log10":
                return Call(name, (positive(),))
            case "acosh":
                return Call(name, (Binary("+", Call("abs", (argument,)), Literal("1.5")),))
            case "exp" | "sinh" | "cosh":
                return Call(name, (Call("min", (Binary("/", argument, Literal("4")), Literal("8"))),))
            case "asin" | "acos" | "atanh":
                return Call(name, (Binary("/", Call("sin", (argument,)), Literal("2")),))
            case "pow":
                exponent = rng.choice([Literal("2"), Literal("0.5"), Literal("3"), Unary("-", Literal("1"))])
                return Call(name, (positive(), exponent))
            case "atan2":
                return Call(name, (argument, positive()))
        return Call(name, (argument,))

    def choice(self, variables, depth):
        rng = self.rng
        left, right = self.factor(variables, 0), self.factor(variables, 0)
        if isinstance(left, (Literal, Index, Count)) or isinstance(left, Reduce) and left.name in PLACES:
            left = Call(self.element, (left,))
        operator = rng.choice(["==", "!="] if self.element in COMPLEX else ["<", "<=", ">", ">=", "==", "!="])
        condition = Binary(operator, left, right)
        if self.chance(0.2):
            condition = Unary("!", condition)
        if self.chance(0.15):
            return Call(self.element, (condition,))
        return Call("select", (condition, self.factor(variables, depth), self.factor(variables, depth)))

    def reduction(self, variables, depth):
        """A sum over a variable of its own."""
        if self.budget > 4000 or len(self.extents) > 7:
            return self.read(variables) if variables else self.scalar()
        before = self.budget
        bound = [self.new_variable(most=20_000) for _ in range(1 if self.chance(0.8) else 2)]
        inner = variables + bound
        element = self.element
        places = prod(self.extents[name] for name in bound)
        if element not in COMPLEX + ("bool",) and 0 < places <= 65 and self.chance(0.3):
            body = self.operand([], indices=[Var(name) for name in bound + (self.some(variables, 2) if variables else [])])
            self.budget = before * places
            return Reduce(self.rng.choice(PLACES), tuple(bound), body)
        if element == "bool":
            name = self.rng.choice(["any", "all"])
        elif element in COMPLEX:
            name = self.rng.choice(["sum", "sum", "prod"])
        else:
            name = self.rng.choice(["sum", "sum", "sum", "min", "max", "prod"])
            if element in INTEGERS and self.chance(0.2):
                name = self.rng.choice(["any", "all"])
        if name == "prod" and element not in INTEGERS and max(self.extents[variable] for variable in bound) > 20:
            name = "sum"
        parts = [self.operand([variable] + (self.some(variables, 1) if variables and self.chance(0.6) else [])) for variable in bound]
        told = {name for access in parts for index in access.indices for name in index_variables(index)}
        parts += [self.operand([variable], indices=[Var(variable)]) for variable in bound if variable not in told]
        body = None
        for access in parts:
            part = self.as_element(access, self.element_of(access.name))
            body = part if body is None else Binary(self.style.times, body, part)
        if self.chance(0.4):
            body = Binary(self.style.times, body, self.factor(inner, 0))
        if name in ("min", "max") and any(self.extents[variable] == 0 for variable in bound):
            name = "sum"
        self.budget = before * max(1, int(np.prod([max(self.extents[variable], 1) for variable in bound]) ** 0.5))
        return Reduce(name, tuple(bound), body)

    def term(self, variables, sparse):
        """A product; with a sparse operand over all of `sparse` where it is not None."""
        factors = [self.factor(variables, 2) for _ in range(self.rng.choice([0, 0, 1, 1, 2] if sparse is not None else [1, 1, 2, 2, 3]))]
        if sparse is not None:
            fill = self.style.fill if self.style is not FILLED else None
            groups = [sparse]
            if len(sparse) > 3 or len(sparse) > 1 and self.chance(0.2):
                groups = [sparse[:2], sparse[2:]]
            for group in [group for group in groups if group]:
                was, self.computes = self.computes, False
                access = self.operand(list(group), True, self.element, fill)
                self.computes = was
                self.accessed.append(access)
                factors.insert(self.rng.randrange(len(factors) + 1), access)
            if self.style is PRODUCTS:
                factors = [factor for factor in factors if isinstance(factor, Access) and factor.indices]
        value = factors[0]
        for factor in factors[1:]:
            value = Binary(self.style.times, value, factor) if self.chance(0.8) else Binary(self.style.times, factor, value)
        return value

    def plus(self, left, right):
        if self.style.plus in ("min", "max"):
            return Call(self.style.plus, (left, right))
        operator = self.style.plus
        if operator == "+" and self.chance(0.4):
            operator = "-"
        return Binary(operator, left, right)

    # -----------------------------------------------------------------------------------------------------------------
    # Data

    def is_sparse(self, tensor):
        return tensor.format is not None and not formats.is_dense(tensor.format)

    def values(self, tensor, count):
        rng, element = self.rng, tensor.element
        how = self.data
        if tensor.name in self.full:
            return np.array([rng.choice([1, 2, 4, 0.5, -2, 3] if element in FLOATS + COMPLEX else [1, 2, 3]) for _ in range(count)], DTYPE[element])
        if element == "bool":
            return np.array([rng.random() < 0.6 for _ in range(count)], np.bool_)
        if element in INTEGERS:
            if how == "wide":
                limits = np.iinfo(DTYPE[element])
                pool = [limits.max, limits.min, limits.max - 1, 1, 0, 2, 3]
                return np.array([rng.choice(pool) for _ in range(count)], DTYPE[element])
            low = 0 if element == "u8" else -4
            return np.array([rng.randint(low, 9) for _ in range(count)], DTYPE[element])
        def one():
            if how == "dyadic":
                return rng.choice([1, 2, -1, 0.5, 1.5, -2, 3, 0.25, -0.75, 2.5])
            if how == "real":
                return rng.uniform(-2, 2)
            if how == "wide":
                return rng.choice([1.0, -0.0, 0.0, 1e30, -1e30, 1e-30, 3.5, -7.0] if element in ("f64", "c64") else [1.0, -0.0, 0.0, 1e5, -1e5, 1e-5, 3.5])
            if rng.random() < 0.2:
                return rng.choice([np.inf, -np.inf, np.nan])
            return rng.choice([1.0, 2.0, -1.0, 0.5])
        if element in COMPLEX:
            if how == "special":
                how = "dyadic"
            v = np.array([complex(one(), one()) for _ in range(count)], np.complex128)
            return v.astype(np.complex64).astype(np.complex128) if element == "c32" else v
        v = np.array([one() for _ in range(count)], np.float64)
        return v.astype(np.float32).astype(np.float64) if element == "f32" else v

    def entries(self, tensor, shape):
        """Coordinates of a parameter's entries."""
        rng = self.rng
        order = len(shape)
        total = 1
        for extent in shape:
            total *= extent
        if order == 0:
            return np.zeros((1, 0), np.int64)
        if total == 0:
            return np.zeros((0, order), np.int64)
        sparse = self.is_sparse(tensor)
        density = 1.0 if not sparse and self.chance(0.85) or tensor.name in self.full else rng.choice([0.0, 0.05, 0.1, 0.3, 0.3, 0.5, 0.9, 1.0])
        if total > 20_000 and sparse:
            density = min(density, 2000 / total)
        if total <= 300_000:
            if density == 1.0:
                places = np.arange(total)
            else:
                places = np.sort(np.array(rng.sample(range(total), round(density * total)), np.int64))
            coordinates = np.stack(np.unravel_index(places, shape), axis=1).astype(np.int64).reshape(-1, order)
        else:
            edges = [{0, 1, extent // 2, extent - 2, extent - 1, rng.randrange(extent), rng.randrange(extent)} for extent in shape]
            edges = [sorted(part for part in mode if 0 <= part < extent) for mode, extent in zip(edges, shape)]
            found = {tuple(rng.choice(mode) for mode in edges) for _ in range(rng.choice([0, 1, 3, 8, 20]))}
            coordinates = np.array(sorted(found), np.int64).reshape(-1, order)
        if sparse and order > 1 and self.chance(0.08) and len(coordinates):
            # One giant row.
            keep = coordinates[:, 0] == coordinates[rng.randrange(len(coordinates)), 0]
            coordinates = coordinates[keep]
        if "structured" in (tensor.format or ""):
            coordinates = coordinates
        if "diagonal" in (tensor.format or ""):
            coordinates = coordinates[coordinates[:, 0] == coordinates[:, 1]]
        return coordinates

    def fill_inputs(self):
        for tensor in sorted(self.parameters, key=lambda tensor: tensor.name in self.like):
            shape = self.shapes[tensor.name]
            coordinates = self.entries(tensor, shape)
            if tensor.name in self.like and self.like[tensor.name] in self.inputs:
                coordinates = self.inputs[self.like[tensor.name]].coordinates
            values = self.values(tensor, len(coordinates))
            presentation = self.presentation(tensor, shape, coordinates, values)
            if self.like and shape and presentation.kind != "tns":
                presentation = Presentation("tns", seed=presentation.seed, plain=presentation.plain)
            if presentation.style in ("symmetric", "skew-symmetric", "hermitian"):
                coordinates, values = mirrored(coordinates, values, presentation.style, tensor.element)
            if presentation.style == "pattern":
                values = np.ones_like(values)
            self.inputs[tensor.name] = Input(coordinates, values, presentation)

    def presentation(self, tensor, shape, coordinates, values):
        rng = self.rng
        seed = rng.randrange(2**31)
        if not shape:
            return Presentation("scalar" if self.chance(0.85) or self.data == "special" else "npy", seed=seed)
        kinds = ["tns"] * 5
        total = 1
        for extent in shape:
            total *= extent
        zero = tensor.fill in (None, "0")
        # Of an array, what is zero is no entry.
        everything = len(values) == total and not np.any(values == 0)
        array = total <= 300_000 and tensor.name not in self.is_mask and (zero or everything) and tensor.fill != "true"
        array = array and not (tensor.element in FLOATS + COMPLEX and np.any((values == 0) & np.signbit(values.real)))
        array = array and (tensor.fill is None or everything)
        if array:
            kinds += ["npy"] * 4
        if len(shape) == 2:
            kinds += ["mtx"] * 4
        # Of a .spct file each rank may read its part.
        if array and self.chance(0.3 if self.options.ranks else 0.15):
            kinds = ["spct"]
        kind = rng.choice(kinds)
        style = "general"
        if kind == "mtx":
            options = ["general"] * 4
            if array:
                options += ["array"]
            plain = self.is_sparse(tensor) and tensor.name not in self.full and tensor.element != "bool" and self.data == "dyadic"
            if plain and "diagonal" not in tensor.format:
                options += ["pattern"]
                if shape[0] == shape[1]:
                    options += ["symmetric"] * 3
                    if tensor.element != "u8":
                        options += ["skew-symmetric"]
                    if tensor.element in COMPLEX:
                        options += ["hermitian"] * 2
            style = rng.choice(options)
        format = None
        if kind == "spct":
            format = tensor.format if self.chance(0.6) and "mine" not in tensor.format and "tile" not in tensor.format else formats.NAMED[len(shape)][0] if len(shape) in formats.NAMED else "csf"
        return Presentation(kind, kind != "spct" and self.chance(0.15), seed, self.chance(0.4), style, format)

    # -----------------------------------------------------------------------------------------------------------------
    # The rest of a program

    def some_dims(self):
        """What `--dim` says: what no file does, and some of what files do."""
        dims = {}
        for statement in self.statements:
            pinned = set()
            for access in accesses(statement.value) + ([statement.mask] if statement.mask else []):
                if access.name in self.inputs and self.inputs[access.name].presentation.states_shape():
                    pinned |= {index.name for index in access.indices if isinstance(index, Var)}
            used = set()
            for access in accesses(statement.value) + [statement.target] + ([statement.mask] if statement.mask else []):
                used |= {name for index in access.indices for name in index_variables(index)}
            used |= {name for name in free_variables(statement.value)}
            for name in used:
                if not name.startswith("window") and (name not in pinned or self.chance(0.15)):
                    dims[name] = self.extents[name]
            for expr in walk(statement.value):
                if isinstance(expr, Reduce):
                    for name in expr.variables:
                        if name not in pinned:
                            dims[name] = self.extents[name]
        for statement in self.statements:
            seen = set()
            for access in [statement.target] + accesses(statement.value) + ([statement.mask] if statement.mask else []):
                for mode, index in enumerate(access.indices):
                    if not isinstance(index, Var) and index not in seen:
                        # The first that has it gives it its name.
                        seen.add(index)
                        dims[f"{access.name}{mode + 1}_size"] = self.sizes[index]
        return tuple(sorted(dims.items()))

    def output_kind(self, tensor, shape):
        rng = self.rng
        total = 1
        for extent in shape:
            total *= extent
        kinds = ["tns"] * 4 + ["-"]
        zero = tensor.fill is None and self.first(tensor.name) in ("=", "+=", "|=") or tensor.fill == "0"
        if total <= 300_000:
            kinds += ["npy"] * 4
        if len(shape) <= 2 and zero:
            kinds += ["mtx"] * 2
        kind = rng.choice(kinds)
        if kind in ("tns", "npy", "mtx"):
            if self.chance(0.1) and zero:
                return f"spct>{kind}"
            if self.chance(0.12):
                return f"{kind}.gz"
        return kind

    def first(self, name):
        operators = [statement.operator for statement in self.statements if statement.target.name == name]
        return "=" if "=" in operators else operators[0]

    statements = ()

    def finish(self, kernel, **more):
        self.statements = kernel.statements
        rng = self.rng
        used = {access.name for statement in kernel.statements for access in accesses(statement.value)}
        used |= {statement.mask.name for statement in kernel.statements if statement.mask}
        self.parameters = [tensor for tensor in self.parameters if tensor.name in used]
        rng.shuffle(self.parameters)
        kernel = Kernel(kernel.name, tuple(self.parameters), kernel.results, kernel.statements, kernel.schedule)
        self.fill_inputs()
        outputs = {tensor.name: self.output_kind(tensor, self.shapes[tensor.name]) for tensor in kernel.results}
        if sum(kind == "-" for kind in outputs.values()) > 1 or len(outputs) > 1:
            outputs = {name: "tns" if kind == "-" else kind for name, kind in outputs.items()}
        inline = len(kernel.statements) == 1 and not kernel.schedule and self.chance(0.15)
        ranks = some_ranks(self, kernel) if self.options.ranks else None
        if self.options.ranks and ranks is None:
            raise LeftOut
        if ranks is not None and ranks.directive:
            inline = False
        if inline and any(tensor.format is None for tensor in kernel.parameters + kernel.results if tensor.element != "f64"):
            inline = False
        others = ()
        if self.chance(0.12):
            others = (Kernel("other", (Tensor("A", "f64", "csr"), Tensor("x", "f64", "dense")), (Tensor("y", "f64", "dense"),), (
                Statement(Access("y", (Var("i"),)), "=", Binary("*", Access("A", (Var("i"), Var("j"))), Access("x", (Var("j"),)))),)),)
            inline = False
        return Program(
            kernel, dict(self.extents), dict(self.shapes), self.inputs, outputs, self.some_dims(),
            tuple(Definition(name, body) for name, body in self.definitions), others, rng.choice([1, 1, 2, 3, 4, 5]), inline,
            self.label, self.seed & (2**40 - 1), ranks, **more,
        )

    # -----------------------------------------------------------------------------------------------------------------
    # Kinds of programs

    def program(self):
        self.sizes, self.made, self.used, self.accessed = {}, {}, set(), []
        roll = self.rng.random()
        only = self.options.only
        kinds = [("general", 0.5), ("schedule", 0.22), ("shift", 0.1), ("huge", 0.1), ("mask", 0.08)]
        for name, share in kinds:
            if only == name or only is None and roll < share:
                self.label = name
                return getattr(self, name)()
            roll -= share
        self.label = "general"
        return self.general()

    def general(self):
        rng = self.rng
        count = rng.choice([1, 2, 2, 2, 3, 3, 4])
        variables = [self.new_variable() for _ in range(count)]
        # A kernel of several statements does not run on ranks.
        several = self.chance(0.06 if self.options.ranks else 0.45)
        statements, results = [], []
        target = rng.sample(variables, rng.randrange(min(count, 3) + 1))
        if several:
            for _ in range(rng.choice([0, 1, 1, 2])):
                statements.append(self.temporary(variables))
        sparse = bool(target) and self.chance(0.35)
        if not sparse and len(target) < 3 and self.chance(0.04):
            # An index that no operand has.
            target.append(self.new_variable())
        result = self.result_name()
        tensor, made = self.result(result, target, variables, sparse, several)
        results.append(tensor)
        statements += made
        if several and self.chance(0.3) and len(target) > 0:
            # A second result, which may read the first.
            indices = self.statement_targets[result]
            if all(isinstance(index, Var) for index in indices) and not self.is_sparse(tensor):
                self.made[result] = (tensor.element, [index.name for index in indices])
            other = rng.sample(variables, rng.randrange(min(count, 3) + 1))
            tensor, made = self.result(self.result_name(), other, variables, False, True)
            results.append(tensor)
            statements += made
        statements = self.needed(statements, results)
        return self.finish(Kernel(self.kernel_name(), (), tuple(results), tuple(statements)))

    def needed(self, statements, results):
        """Without temporaries that nothing reads."""
        names = {tensor.name for tensor in results}
        while True:
            read = {access.name for statement in statements for access in accesses(statement.value)}
            kept = [statement for statement in statements if statement.target.name in names or statement.target.name in read]
            if len(kept) == len(statements):
                return kept
            statements = kept

    def kernel_name(self):
        return self.rng.choice(["kernel", "k", "f", "step", "main", "run", "product"])

    def result_name(self):
        for name in ["Y", "y", "S", "t", "R"]:
            if name not in self.shapes and name not in self.made:
                self.shapes[name] = None
                return name

    statement_targets = None

    def result(self, name, target, variables, sparse, several):
        """A result and the statements that make it."""
        rng, style, element = self.rng, self.style, self.element
        if self.statement_targets is None:
            self.statement_targets = {}
        sums = [variable for variable in variables if variable not in target]
        if style is PRODUCTS and any(self.extents[variable] > 12 for variable in sums + ["".join(target)] if variable in self.extents) and element not in INTEGERS:
            self.style = style = PLAIN
        if sparse and style is PRODUCTS:
            sparse = False
        indices = [Var(variable) for variable in target]
        meets = False
        if self.computes and target and not sparse and self.chance(0.4):
            indices = self.computed(indices, target)
            {variable for index in indices for variable in index_variables(index)}
            meets = not self.is_injective(indices, target)
        operator = self.operator(meets)
        if sparse and not style.reduction:
            operator = rng.choice(["=", "=", "+="])
        elif sparse and element == "bool":
            operator = style.reduction
        mask = None
        terms = rng.choice([1, 1, 1, 2, 2, 3])
        all = list(variables)
        # A sparse result is full where a term has no sparse operand over all of its indices.
        full = sparse and self.chance(0.3)
        over = lambda: target if sparse and not (full and self.chance(0.6)) else None
        value = self.term(all, over())
        for _ in range(terms - 1):
            value = self.plus(value, self.term(all, over()))
        value = self.anchored(value, indices)
        if target and self.chance(0.12) and all_plain(indices):
            mask = self.operand(rng.sample(target, len(target)) if self.chance(0.8) else self.some(target, 2), mask=True, element=rng.choice([element, "bool", "f64"]))
            if len(set(index.name for index in mask.indices)) < len(mask.indices):
                mask = None
        self.shapes[name] = tuple(self.mode_extent(name, mode, index) for mode, index in enumerate(indices))
        fill = self.result_fill(operator, sparse, len(indices), meets)
        if sparse:
            format = formats.sparse(rng, self.shapes[name], self.definitions)
            if "structured" in format or "diagonal" in format:
                format = "csr" if len(indices) == 2 else "csf"
        else:
            format = self.dense_format(len(indices))
        if not indices:
            format = fill = None
        tensor = Tensor(name, element, format, fill, element != "f64" or self.chance(0.2))
        self.statement_targets[name] = indices
        access = Access(name, tuple(indices))
        operator = operator if not (operator == "*=" and self.products_leave(value, target)) else "+=" if element != "bool" else "|="
        statements = [Statement(access, operator, value, mask)]
        while several and len(statements) < 3 and self.chance(0.3) and not (sparse and style is not PLAIN):
            value = self.anchored(self.term(all, over()), indices)
            later = self.later(meets)
            if later == "*=" and self.products_leave(value, target):
                later = "+="
            if sparse:
                later = "+=" if element != "bool" else "|="
            statements.append(Statement(access, later, value))
        return tensor, statements

    def products_leave(self, value, target):
        """Whether a product over what is summed leaves the range of any number."""
        sums = [name for name in free_variables(value) if name not in target]
        size = 1
        for name in sums:
            size *= max(self.extents[name], 1)
        return self.element not in INTEGERS and size > 12

    def anchored(self, value, indices):
        """Index variables that are values stand as an index somewhere in the statement."""
        told = {name for index in indices for name in index_variables(index)}
        told |= {name for access in accesses(value) for index in access.indices for name in index_variables(index)}
        def change(expr):
            if isinstance(expr, (Index, Count)) and expr.name not in told:
                return Literal("2")
            return with_children(expr, [change(child) for child in children(expr)])
        return change(value)

    def is_injective(self, indices, target):
        """Whether each variable of the target is told by an index of its own: `2 * i + 3`."""
        alone = set()
        for index in indices:
            names = index_variables(index)
            match index:
                case Op("+", Op("*", Var(outer), Length(counted)), Var(inner)) if counted == inner != outer:
                    alone |= {outer, inner}
            linear = not any(isinstance(part, Op) and part.operator in "/%" for part in index_parts(index))
            if len(names) == 1 and linear and self.strictly(index, names[0]):
                alone.add(names[0])
        return {name for index in indices for name in index_variables(index)} <= alone

    def strictly(self, index, name):
        from language import index_value
        return index_value(index, lambda _: 0) != index_value(index, lambda _: 1)

    def operator(self, meets):
        rng, element = self.rng, self.element
        reduction = self.style.reduction
        if reduction and (meets or self.chance(0.75)):
            return reduction
        if element == "bool":
            return rng.choice(["|=", "&="]) if meets or self.chance(0.7) else rng.choice(["|=", "|=", "&="])
        if meets:
            return "+="
        if element in COMPLEX:
            return rng.choice(["=", "=", "=", "+=", "*="])
        if element in INTEGERS and self.chance(0.15):
            return rng.choice(["|=", "&="])
        if self.style in (LEAST, GREATEST):
            return rng.choice(["=", reduction])
        return rng.choice(["=", "=", "=", "=", "=", "+=", "+=", "min=", "max=", "*="])

    def later(self, meets):
        if self.element == "bool":
            return self.rng.choice(["|=", "&="])
        if self.style in (LEAST, GREATEST):
            return self.style.reduction
        if self.element in COMPLEX:
            return self.rng.choice(["+=", "*="])
        return self.rng.choice(["+=", "+=", "min=", "max=", "*="])

    def result_fill(self, operator, sparse, order, meets):
        """The fill value that a result declares."""
        start = {"min=": "inf", "max=": "-inf", "*=": "1", "&=": "true"}.get(operator)
        if sparse:
            wanted = self.style.fill if self.style is not FILLED else None
            if wanted is None and operator in ("=", "+=", "|="):
                return None
            if self.element in INTEGERS and operator in ("min=", "max="):
                return None
            return wanted
        if operator == "=" and order and self.chance(0.06) and self.element in FLOATS + INTEGERS and not meets:
            return self.rng.choice(["7", "1", "0"])
        if start and self.chance(0.3):
            if start in ("inf", "-inf") and self.element not in FLOATS or start == "true" and self.element != "bool" or start == "1" and self.element == "bool":
                return None
            return start
        return None

    def temporary(self, variables):
        rng = self.rng
        name = f"T{len(self.made)}"
        target = rng.sample(variables, rng.randrange(min(len(variables), 3) + 1))
        others = [variable for variable in variables if variable not in target]
        inside = target + (others[:1] if self.chance(0.5) and self.element != "bool" else [])
        sparse = bool(target) and self.style is PLAIN and self.chance(0.4)
        over = lambda: target if sparse and not self.chance(0.15) else None
        value = self.term(inside, over())
        if self.chance(0.3):
            value = self.plus(value, self.term(inside, over()))
        value = self.anchored(value, [Var(variable) for variable in target])
        if self.style is PRODUCTS or self.style is FILLED:
            sparse = False
        shape = tuple(self.extents[variable] for variable in target)
        declares = Tensor(name, None)
        if self.chance(0.4):
            format = None
            if target:
                format = formats.sparse(rng, shape, self.definitions) if sparse else "dense"
                if "structured" in format or "diagonal" in format:
                    format = "csf"
            declares = Tensor(name, self.element, format, None, True)
        else:
            value = self.typed(value)
        self.shapes[name] = shape
        self.made[name] = (self.element, target)
        return Statement(Access(name, tuple(Var(variable) for variable in target)), "=", value, None, declares)

    def typed(self, value):
        """With a type of its own, and that of the program."""
        from language import kind
        own = kind(value, self.element_of)
        return value if own == self.element else Call(self.element, (value,))

    def shift(self):
        """Windows, convolutions, diagonals, blocks."""
        rng = self.rng
        self.computes = False
        if self.element == "bool":
            self.element, self.style = "f64", PLAIN
        if self.style in (LEAST, GREATEST, PRODUCTS):
            self.style = PLAIN
        style = rng.randrange(6)
        name = self.result_name()
        one = lambda: rng.random() < 0.5
        sparse_of = lambda: True if self.chance(0.5) else False
        operator = "="
        if style == 0:
            # Windows.
            order = rng.choice([1, 2, 2, 3])
            for place in range(order):
                self.extents[f"window {place}"] = rng.choice([0, 1, 2, 3, 4, 7, 8])
            def windows():
                return tuple(Window(place, rng.randrange(5), self.extents[f"window {place}"]) for place in range(order))
            target = windows()
            value = None
            for _ in range(rng.choice([1, 1, 2])):
                access = self.operand([], sparse_of(), self.element, None, indices=windows())
                value = access if value is None else Binary(rng.choice(["+", "*", "-"]), value, access)
            operator = rng.choice(["=", "=", "+="])
        elif style == 1:
            # Convolutions.
            dimensions = rng.choice([1, 1, 2])
            out = [self.new_variable(rng.choice([1, 2, 3, 7, 8, 9, 16])) for _ in range(dimensions)]
            inner = [self.new_variable(rng.choice([1, 2, 3])) for _ in range(dimensions)]
            step = [rng.choice([1, 1, 2, 3]) for _ in range(dimensions)]
            at = [Op("+", Op("*", Num(a), Var(i)) if a > 1 else Var(i), Var(k)) for a, i, k in zip(step, out, inner)]
            x = self.operand([], sparse_of(), self.element, None, indices=at)
            w = self.operand(inner, sparse_of(), self.element)
            target = tuple(Var(i) for i in out)
            value = Binary("*", x, w)
        elif style == 2:
            # Polynomials.
            a, b = self.new_variable(rng.choice([1, 3, 5, 8, 9])), self.new_variable(rng.choice([1, 2, 4, 7]))
            value = Binary("*", self.operand([a], sparse_of(), self.element), self.operand([b], sparse_of(), self.element))
            target = (Op("+", Var(a), Var(b)),)
            operator = "+="
        elif style == 3:
            # Diagonals and rows.
            i = self.new_variable(rng.choice([1, 3, 5, 8, 9, 17]))
            access = self.operand([], sparse_of(), self.element, None, indices=[Var(i), Var(i)])
            value = access
            if one():
                row = self.operand([], sparse_of(), self.element, None, indices=[Num(rng.randrange(3)), Var(i)])
                value = Binary(rng.choice(["+", "*"]), access, row)
            target = rng.choice([(Var(i),), (Var(i), Var(i)), (Op("+", Var(i), Num(2)), Var(i)), ()])
        elif style == 4:
            # Blocks and remainders.
            i = self.new_variable(rng.choice([1, 3, 5, 8, 9, 16, 17, 33]))
            block = rng.choice([2, 3, 4, 8])
            value = self.operand([i], sparse_of(), self.element)
            if one():
                value = Binary("*", value, self.operand([], False, self.element, None, indices=[Op("/", Var(i), Num(block))]))
            if one():
                target = (Op("/", Var(i), Num(block)), Op("%", Var(i), Num(block)))
            else:
                target = rng.choice([(Op("/", Var(i), Num(block)),), (Op("%", Var(i), Num(block)),)])
            operator = "+="
        else:
            # Stencils and reversals.
            i = self.new_variable(rng.choice([1, 3, 5, 8, 9, 16]))
            extent = self.extents[i]
            value = None
            format = sparse_of()
            for _ in range(rng.choice([1, 2, 3])):
                index = rng.choice([Op("+", Var(i), Num(rng.randrange(1, 5))), Op("-", Num(extent + rng.randrange(3)), Var(i)), Var(i), Op("*", Num(3), Var(i))])
                access = self.operand([], format, self.element, None, indices=[index])
                value = access if value is None else self.plus(value, access)
            target = rng.choice([(Var(i),), (Op("+", Var(i), Num(3)),), (Op("*", Num(2), Var(i)),), (Op("-", Num(max(extent - 1, 0)), Var(i)),)])
        self.shapes[name] = tuple(self.mode_extent(name, mode, index) for mode, index in enumerate(target))
        format = self.dense_format(len(target)) if target else None
        names = [name for index in target for name in index_variables(index)]
        if target and one() and (self.all_sparse(value, names) or self.chance(0.3)):
            format = formats.sparse(rng, self.shapes[name], self.definitions)
            if "structured" in format or "diagonal" in format:
                format = "csf"
        result = Tensor(name, self.element, format, None, True)
        return self.finish(Kernel(self.kernel_name(), (), (result,), (Statement(Access(name, target), operator, value),)))

    def all_sparse(self, value, names):
        """Whether a value is missing where its operands are."""
        return all(self.is_sparse(tensor) for tensor in self.parameters)

    def mask(self):
        """Masks, over what the result has and over what is summed."""
        rng = self.rng
        self.computes = False
        if self.style is PRODUCTS:
            self.style = PLAIN
        i, j = self.new_variable(), self.new_variable()
        k = self.new_variable()
        target = rng.choice([[i, j], [i, j], [i], []])
        free = [i, j, k] if self.chance(0.6) else [i, j]
        value = self.anchored(self.term(free, None), [Var(variable) for variable in target])
        have = free_variables(value)
        summed = [name for name in have if name not in target]
        over = rng.sample(target, len(target)) if target else []
        if summed and (self.chance(0.5) or not over):
            # The mask chooses terms of the sum.
            over = over[: rng.randrange(len(over) + 1)] + [rng.choice(summed)]
        if not over:
            over = [name for name in have][:1]
        if not over:
            value = self.operand([i], None, self.element)
            over = [i]
        mask = self.operand(over, mask=True, element=rng.choice([self.element, "bool", "f64"]))
        operator = self.operator(False)
        if operator == "*=" and self.products_leave(value, target):
            operator = "="
        if operator == "=" and self.element == "bool":
            operator = "|="
        name = self.result_name()
        sparse = target and all(name in over for name in target) and set(over) == set(target) and self.chance(0.5)
        shape = tuple(self.extents[variable] for variable in target)
        self.shapes[name] = shape
        format = None
        if target:
            format = formats.sparse(rng, shape, self.definitions) if sparse else self.dense_format(len(target))
            if "structured" in format or "diagonal" in format:
                format = "csf"
        tensor = Tensor(name, self.element, format, None, True)
        access = Access(name, tuple(Var(variable) for variable in target))
        return self.finish(Kernel(self.kernel_name(), (), (tensor,), (Statement(access, operator, value, mask),)))

    def huge(self):
        """Modes that are longer than memory, with few entries."""
        rng = self.rng
        self.computes = False
        if self.style is not PLAIN:
            self.style = PLAIN
            if self.element == "bool":
                self.element = "f64"
        self.data = "dyadic"
        extent = lambda: rng.choice(HUGE[:6] if self.chance(0.6) else HUGE if self.chance(0.6) else LONGER + LONG + SMALL + EDGES)
        kind = rng.randrange(7)
        count = rng.choice([2, 2, 3, 3, 4]) if kind != 0 else 1
        variables = []
        for _ in range(count):
            name = next(name for name in rng.sample(VARIABLES, len(VARIABLES)) if name not in self.extents)
            self.extents[name] = extent()
            variables.append(name)
        def sparse(names):
            shape = [self.extents[name] for name in names]
            return self.operand(list(names), True, self.element, format=self.huge_format(shape))
        name = self.result_name()
        target = list(variables)
        match kind:
            case 0 | 1:
                value = sparse(variables)
                for _ in range(rng.choice([0, 1, 2])):
                    value = Binary(rng.choice(["+", "-", "*"]), value, sparse(variables))
            case 2:
                value = sparse(variables)
                rng.shuffle(target)
            case 3:
                target = variables[:-1]
                value = Binary("*", sparse(variables), sparse(variables[-1:]))
            case 4:
                target = variables[: rng.randrange(len(variables))]
                value = sparse(variables)
            case 5:
                value = Binary("*", sparse(variables[:1]), sparse(variables[1:]))
            case _:
                # Shifted.
                first = variables[0]
                self.extents[first] = min(self.extents[first], 2**61)
                offset = rng.choice([1, 5, 1000, 2**20])
                shape = [self.extents[variable] for variable in variables]
                indices = [Op("+", Var(first), Num(offset))] + [Var(variable) for variable in variables[1:]]
                shape[0] += offset
                format = self.huge_format(shape)
                if not self.allows("shifted columns"):
                    format = f"[{', '.join(['compressed(u64)'] * len(shape))}]"
                value = self.operand([], True, self.element, format=format, indices=indices)
        [variable for variable in variables if self.extents[variable] > 70_000]
        shape = tuple(self.extents[variable] for variable in target)
        self.shapes[name] = shape
        total = 1
        for part in shape:
            total *= part
        format = "dense" if total <= 70_000 and self.chance(0.6) else self.huge_format(shape)
        if not target:
            format = None
        tensor = Tensor(name, self.element, format, None, True)
        access = Access(name, tuple(Var(variable) for variable in target))
        return self.finish(Kernel(self.kernel_name(), (), (tensor,), (Statement(access, "=", value),)))

    def huge_format(self, shape):
        options = formats.HUGE.get(len(shape), ["csf"])
        if any(extent > 2**32 for extent in shape):
            options = formats.HUGE64[len(shape)]
        bits = sum(max(extent - 1, 1).bit_length() for extent in shape)
        size = int(np.prod([int(extent) for extent in shape], dtype=object)) if shape else 1
        if bits > 64 and not self.chance(0.03):
            options = [option for option in options if "alto" not in option and "interleave" not in option]
        if size >= 2**63 and not self.chance(0.03):
            options = [option for option in options if not any(word in option for word in ("lco", "linear", "extent", "16 *"))]
        if any(extent > 2**31 for extent in shape) and not any(extent > 2**32 for extent in shape):
            options = [option for option in options if "i + j" not in option and "j - i" not in option and "16 *" not in option]
        return self.rng.choice(options) if shape else None

    def schedule(self):
        from schedules import scheduled
        return scheduled(self)


def all_plain(indices):
    return all(isinstance(index, Var) for index in indices)


def index_parts(index):
    yield index
    if isinstance(index, Op):
        yield from index_parts(index.left)
        yield from index_parts(index.right)


def walk(expr):
    from language import children
    yield expr
    for child in children(expr):
        yield from walk(child)


def mirrored(coordinates, values, style, element):
    """Entries of which the lower triangle says all."""
    lower = coordinates[:, 0] > coordinates[:, 1] if style == "skew-symmetric" else coordinates[:, 0] >= coordinates[:, 1]
    coordinates, values = coordinates[lower], values[lower]
    diagonal = coordinates[:, 0] == coordinates[:, 1]
    if style == "hermitian":
        values = np.where(diagonal, values.real, values).astype(values.dtype)
    other = {"symmetric": values, "skew-symmetric": -values, "hermitian": np.conj(values)}[style]
    above = ~diagonal
    all = np.concatenate([coordinates, coordinates[above][:, ::-1]])
    return all, np.concatenate([values, other[above]])


class LeftOut(Exception):
    """A program that shows a known fault, or, where programs run on ranks, of which nothing can be shared out."""


def generate(seed, options):
    for attempt in range(100):
        try:
            return Generator(seed + (attempt << 40), options).program()
        except LeftOut:
            continue
    raise AssertionError("nothing but known faults")
