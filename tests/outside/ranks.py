"""Random numbers of ranks, and what they share out."""

from language import Access, Binary, Call, Count, Index, Unary, Var, accesses, children, index_variables, terms
from program import BISECTION, Ranks

COUNTS = [1, 2, 3, 4, 5, 7, 16]


def some_ranks(generator, kernel):
    """Mostly what can be shared out, now and then what can't. None for most of the programs in which nothing can."""
    rng = generator.rng
    count = rng.choice([count for count in COUNTS if count <= generator.options.ranks])
    statement = kernel.statements[-1]
    read = [access for access in accesses(statement.value) if access.indices]
    stored = {tensor.name for tensor in kernel.parameters if generator.is_sparse(tensor)}
    sparse = [access.name for access in read if access.name in stored]
    likely = [name for name in sparse if sparse.count(name) == 1 and all(name in factors(term) for term in terms(statement.value))]
    ranges = [index.name for index in statement.target.indices if isinstance(index, Var) and index.name not in numbers(statement)]
    several = len(kernel.statements) > 1
    if several or not likely and not ranges:
        if rng.random() < 0.9:
            return None
    roll = rng.random()
    if roll < 0.05 and read:
        # A dense operand, or an index of no result.
        access = rng.choice(read)
        names = [name for index in access.indices for name in index_variables(index) if not name.startswith("window")]
        return Ranks(count, rng.choice([access.name] + names), (), rng.random() < 0.5)
    if likely and roll < 0.75 or sparse and roll < 0.08:
        shared = rng.choice(likely if likely and roll > 0.08 else sparse)
        order = len(generator.shapes[shared])
        grid = some_grid(rng, count, order) if rng.random() < 0.6 else ()
        if rng.random() < 0.02:
            grid = grid + (rng.choice([1, 2]),)
        elif rng.random() < 0.25:
            grid = BISECTION
        return Ranks(count, shared, grid, rng.random() < 0.5)
    if ranges and roll < 0.93:
        return Ranks(count, rng.choice(ranges), (), rng.random() < 0.5)
    return Ranks(count)


def factors(expr):
    """The operands without which a product is nothing."""
    match expr:
        case Access(name, _):
            return {name}
        case Unary("-", operand):
            return factors(operand)
        case Binary("*" | "&&", left, right):
            return factors(left) | factors(right)
        case Binary("/", left, _):
            return factors(left)
        case Call(_, (operand,)):
            return factors(operand)
    return set()


def read_by(statement):
    return accesses(statement.value) + ([statement.mask] if statement.mask else [])


def numbers(statement):
    """Index variables that are more than places: in an expression, or in a computed index."""
    found = set()
    def walk(expr):
        if isinstance(expr, (Index, Count)):
            found.add(expr.name)
        for child in children(expr):
            walk(child)
    walk(statement.value)
    for access in [statement.target] + read_by(statement):
        alone = [index.name for index in access.indices if isinstance(index, Var)]
        found |= {name for name in alone if alone.count(name) > 1}
        found |= {name for index in access.indices if not isinstance(index, Var) for name in index_variables(index)}
    return found


def some_grid(rng, count, order):
    """So many cells."""
    grid = [1] * order
    factor = 2
    while count > 1:
        while count % factor == 0:
            grid[rng.randrange(order)] *= factor
            count //= factor
        factor += 1
    return tuple(grid)


def fewer(ranks):
    """Simpler ones."""
    yield None
    if ranks.directive:
        yield Ranks(ranks.count, ranks.shared, ranks.grid)
    if ranks.shared is not None:
        yield Ranks(ranks.count)
    if ranks.grid:
        yield Ranks(ranks.count, ranks.shared, (), ranks.directive)
    for less in [count for count in COUNTS if count < ranks.count]:
        if not ranks.grid or ranks.grid == BISECTION:
            yield Ranks(less, ranks.shared, ranks.grid, ranks.directive)
            continue
        for mode in range(len(ranks.grid)):
            grid = tuple(less if place == mode else 1 for place in range(len(ranks.grid)))
            yield Ranks(less, ranks.shared, grid, ranks.directive)
