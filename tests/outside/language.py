"""Programs as data, and their text.

The classes are what docs/reference/language.md describes and no more. Nothing here reads `.ti` text: the generator makes these values, `evaluate`
says what they mean, and `text` prints them.
"""

from dataclasses import dataclass

ELEMENTS = ["f64", "f32", "i64", "i32", "u8", "bool", "c64", "c32"]
FLOATS = ("f64", "f32")
INTEGERS = ("i64", "i32", "u8")
COMPLEX = ("c64", "c32")
PART = {"c64": "f64", "c32": "f32"}
WHOLE = {"f64": "c64", "f32": "c32"}

# Every value of the first is one of the others.
WIDENS = {
    "u8": ("i32", "i64", "f32", "f64", "c32", "c64"),
    "i32": ("i64", "f64", "c64"),
    "f32": ("f64", "c32", "c64"),
    "f64": ("c64",),
    "c32": ("c64",),
    "i64": (),
    "bool": (),
    "c64": (),
}

# ---------------------------------------------------------------------------------------------------------------------
# Indices


@dataclass(frozen=True)
class Var:
    """An index variable."""

    name: str


@dataclass(frozen=True)
class Num:
    value: int


@dataclass(frozen=True)
class Length:
    """`extent(k)` in an index: how many values a variable has."""

    name: str


@dataclass(frozen=True)
class Op:
    """`left operator right` of indices."""

    operator: str
    left: object
    right: object


@dataclass(frozen=True)
class Window:
    """`start..start + extent`; the first window of each access runs with the first of the others."""

    place: int
    start: int
    extent: int


def index_variables(index):
    """The variables of an index in the order of the text; windows have names that no text can have."""
    match index:
        case Var(name):
            return [name]
        case Num() | Length():
            return []
        case Window(place):
            return [f"window {place}"]
        case Op(_, left, right):
            return list(dict.fromkeys(index_variables(left) + index_variables(right)))


def index_value(index, value):
    """The value of an index, where `value` is that of a variable (numbers or arrays); of an extent as `extent k`."""
    match index:
        case Var(name):
            return value(name)
        case Num(number):
            return number
        case Length(name):
            return value(f"extent {name}")
        case Window(place, start, _):
            return value(f"window {place}") + start
        case Op("+", left, right):
            return index_value(left, value) + index_value(right, value)
        case Op("-", left, right):
            return index_value(left, value) - index_value(right, value)
        case Op("*", left, right):
            return index_value(left, value) * index_value(right, value)
        case Op("/", left, right):
            return index_value(left, value) // index_value(right, value)
        case Op("%", left, right):
            return index_value(left, value) % index_value(right, value)


def index_range(index, extent):
    """The least and the greatest value of an index by interval arithmetic."""
    match index:
        case Var(name):
            return 0, max(extent(name) - 1, 0)
        case Num(number):
            return number, number
        case Length(name):
            return extent(name), extent(name)
        case Window(place, start, length):
            return start, start + max(length - 1, 0)
        case Op(operator, left, right):
            (a, b), (c, d) = index_range(left, extent), index_range(right, extent)
            match operator:
                case "+":
                    return a + c, b + d
                case "-":
                    return a - d, b - c
                case "*":
                    all = [a * c, a * d, b * c, b * d]
                    return min(all), max(all)
                case "/":
                    return a // c, b // c
                case "%":
                    return (a, b) if a >= 0 and b < c else (0, c - 1)


# ---------------------------------------------------------------------------------------------------------------------
# Expressions. `type` is the element type that an expression has by itself; None where it takes one, as literals do.


@dataclass(frozen=True)
class Literal:
    text: str
    suffix: str = None


@dataclass(frozen=True)
class Access:
    name: str
    indices: tuple


@dataclass(frozen=True)
class Index:
    """An index variable as a value."""

    name: str


@dataclass(frozen=True)
class Count:
    """`extent(k)` as a value."""

    name: str


@dataclass(frozen=True)
class Unary:
    operator: str
    operand: object


@dataclass(frozen=True)
class Binary:
    operator: str
    left: object
    right: object


@dataclass(frozen=True)
class Call:
    """A function, `select`, or a conversion, which has the name of an element type."""

    name: str
    arguments: tuple


@dataclass(frozen=True)
class Reduce:
    """`sum(i, j)(body)`"""

    name: str
    variables: tuple
    body: object


PLACES = ("argmax", "argmin")
"""Reductions that give an index."""
REDUCTIONS = {"sum": "+", "prod": "*", "min": "min", "max": "max", "any": "|", "all": "&"}


def children(expr):
    match expr:
        case Unary(_, operand):
            return [operand]
        case Binary(_, left, right):
            return [left, right]
        case Call(_, arguments):
            return list(arguments)
        case Reduce(_, _, body):
            return [body]
    return []


def with_children(expr, new):
    match expr:
        case Unary(operator, _):
            return Unary(operator, new[0])
        case Binary(operator, _, _):
            return Binary(operator, new[0], new[1])
        case Call(name, _):
            return Call(name, tuple(new))
        case Reduce(name, variables, _):
            return Reduce(name, variables, new[0])
    return expr


def terms(expr):
    match expr:
        case Unary("-", operand):
            return terms(operand)
        case Binary("+" | "-", left, right):
            return terms(left) + terms(right)
    return [expr]


def accesses(expr):
    if isinstance(expr, Access):
        return [expr]
    return [access for child in children(expr) for access in accesses(child)]


def free_variables(expr):
    """The variables that no reduction inside binds, in the order of the text."""
    match expr:
        case Access(_, indices):
            found = [name for index in indices for name in index_variables(index)]
        case Index(name):
            found = [name]
        case Reduce(_, variables, body):
            found = [name for name in free_variables(body) if name not in variables]
        case _:
            found = [name for child in children(expr) for name in free_variables(child)]
    return list(dict.fromkeys(found))


ARITHMETIC = ("+", "-", "*", "/", "%", "&", "|")
RANK = ["bool", "u8", "i32", "i64", "f32", "f64", "c32", "c64"]


def kind(expr, element_of):
    """The element type that an expression has by itself; `element_of` is that of a tensor by its name."""
    match expr:
        case Literal(_, suffix):
            return "bool" if expr.text in ("true", "false") else suffix
        case Access(name, _):
            return element_of(name)
        case Index() | Count() | Reduce("argmax" | "argmin"):
            return None
        case Unary("!", _):
            return "bool"
        case Unary(_, operand):
            return kind(operand, element_of)
        case Binary(operator, left, right):
            return common([left, right], element_of) if operator in ARITHMETIC else "bool"
        case Call(name, arguments):
            if name in ELEMENTS:
                return name
            if name == "select":
                return common(arguments[1:], element_of)
            element = common(arguments, element_of)
            if name in ("abs", "re", "im"):
                return PART.get(element, element)
            if name == "complex":
                return WHOLE.get(element, element)
            return element
        case Reduce(_, _, body):
            return kind(body, element_of)


def common(exprs, element_of):
    kinds = [kind(expr, element_of) for expr in exprs]
    kinds = [kind for kind in kinds if kind is not None]
    return max(kinds, key=RANK.index) if kinds else None


# ---------------------------------------------------------------------------------------------------------------------
# Kernels and programs


@dataclass(frozen=True)
class Tensor:
    """A parameter, a result or a declared temporary. `format` None: a scalar, or a temporary of which nothing is said."""

    name: str
    element: str
    format: str = None
    fill: str = None
    says_element: bool = True


@dataclass(frozen=True)
class Statement:
    target: Access
    operator: str
    value: object
    mask: Access = None
    declares: Tensor = None
    """A temporary: what `let` says of it; its `element` None where nothing is said."""


@dataclass(frozen=True)
class Kernel:
    name: str
    parameters: tuple
    results: tuple
    statements: tuple
    schedule: tuple = ()
    """Directives as text."""


@dataclass(frozen=True)
class Definition:
    """`format NAME = BODY;`"""

    name: str
    body: str


PRECEDENCE = [["||"], ["&&"], ["==", "!=", "<", "<=", ">", ">="], ["|"], ["&"], ["+", "-"], ["*", "/", "%"]]
LEVEL = {operator: level for level, operators in enumerate(PRECEDENCE) for operator in operators}
UNARY = len(PRECEDENCE)


def index_text(index, above=0):
    match index:
        case Var(name):
            return name
        case Num(number):
            return str(number) if number >= 0 else f"(0 - {-number})"
        case Length(name):
            return f"extent({name})"
        case Window(_, start, extent):
            return f"{start}..{start + extent}"
        case Op(operator, left, right):
            level = LEVEL[operator]
            text = f"{index_text(left, level)} {operator} {index_text(right, level + 1)}"
            return f"({text})" if level < above else text


def text(expr, above=0):
    """The text of an expression, with the parentheses that it needs where an operator of level `above` is around it."""
    match expr:
        case Literal(written, suffix):
            return written + (suffix or "")
        case Index(name):
            return name
        case Count(name):
            return f"extent({name})"
        case Access(name, indices):
            return name if not indices else f"{name}({', '.join(index_text(index) for index in indices)})"
        case Unary(operator, operand):
            printed = operator + text(operand, UNARY)
            return f"({printed})" if above > UNARY else printed
        case Binary(operator, left, right):
            level = LEVEL[operator]
            # Comparisons do not chain.
            inner = level + 1 if PRECEDENCE[level][0] == "==" else level
            printed = f"{text(left, inner)} {operator} {text(right, level + 1)}"
            return f"({printed})" if level < above else printed
        case Call(name, arguments):
            return f"{name}({', '.join(text(argument) for argument in arguments)})"
        case Reduce(name, variables, body):
            return f"{name}({', '.join(variables)})({text(body)})"


def declaration(tensor):
    """What follows the colon."""
    element = tensor.element if tensor.says_element or tensor.format is None else None
    parts = [part for part in (element, tensor.format) if part]
    if tensor.fill is not None:
        parts.append(f"fill {tensor.fill}")
    return " ".join(parts)


def statement_text(statement):
    target = text(statement.target)
    made = statement.declares
    let = ""
    if made is not None:
        let = "let "
        if made.format is not None or made.element is not None:
            target += f": {declaration(made)}"
    mask = f" where {text(statement.mask)}" if statement.mask else ""
    return f"{let}{target} {statement.operator} {text(statement.value)}{mask};"


def kernel_text(kernel):
    parameters = ", ".join(f"{tensor.name}: {declaration(tensor)}" for tensor in kernel.parameters)
    results = [f"{tensor.name}: {declaration(tensor)}" for tensor in kernel.results]
    results = results[0] if len(results) == 1 else f"({', '.join(results)})"
    lines = [f"fn {kernel.name}({parameters}) -> {results} {{"]
    lines += [f"    {statement_text(statement)}" for statement in kernel.statements]
    lines.append("}")
    if kernel.schedule:
        lines.append("schedule { " + " ".join(f"{directive};" for directive in kernel.schedule) + " }")
    return "\n".join(lines) + "\n"
