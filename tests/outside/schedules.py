"""Kernels with schedules."""

from dataclasses import replace

import formats
from language import Access, Binary, Kernel, Statement, Tensor, Var, free_variables, text

# The result's variables, and those of each factor of each term; capitals are operands that may be sparse.
TEMPLATES = [
    ("ij", ["ij"]), ("ij", ["Ij", "ij"]), ("ij", ["ij + ij"]), ("ij", ["IJ + IJ"]), ("i", ["IJ j"]), ("i", ["ij j"]),
    ("ij", ["ik kj"]), ("ij", ["ik kj"]), ("ij", ["IK kj"]), ("ij", ["IK KJ"]), ("ij", ["IJ ik kj"]), ("ir", ["IJK jr kr"]),
    ("jr", ["IJK ir kr"]), ("ij", ["IJK k"]), ("ijr", ["IJK kr"]), ("", ["i i"]), ("", ["IJ"]), ("", ["ij ij"]), ("i", ["ij"]),
    ("j", ["ij"]), ("i", ["IJ j + i"]), ("ij", ["i j"]), ("ijk", ["ij jk"]), ("i", ["i + i"]), ("i", ["I + I"]), ("i", ["ijk j k"]),
    ("ij", ["IJK jk"]), ("ji", ["IJ"]), ("ijk", ["IJK + IJK"]), ("i", ["i"]),
]
BLOCKS = [2, 3, 4, 4, 8, 8, 16, 32]


def scheduled(generator):
    self, rng = generator, generator.rng
    self.computes = False
    from generate import ANY, PLAIN
    if self.style.name not in ("plain", "any", "least"):
        self.style = ANY if self.element == "bool" else PLAIN
    target, terms = rng.choice(TEMPLATES)
    terms = terms[0].split(" + ") if len(terms) == 1 else ["ij", "ij"]
    letters = list(dict.fromkeys("".join(terms).lower().replace(" ", "")))
    rename = {}
    for letter in letters:
        rename[letter] = self.new_variable(rng.choice([1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 0 if self.chance(0.3) else 6, 70 if len(letters) < 3 else 10]))
    fill = self.style.fill if self.style.fill and self.element in ("f64", "f32") else None
    if self.style.name == "least" and fill is None:
        self.style = PLAIN
    value, sparse_names, factors = None, [], []
    dense_only = self.chance(0.35)
    for term in terms:
        product = None
        for factor in term.split():
            names = [rename[letter.lower()] for letter in factor]
            is_sparse = factor.isupper() and not dense_only
            format = None
            if is_sparse:
                format = rng.choice({1: ["[compressed]"], 2: ["csr", "csr", "dcsr", "coo", "csc", "bcsr(4)", "alto", "hicoo(4)", "ell", "sell(4)"], 3: ["csf", "csf", "coo", "hicoo(2)", "[dense, compressed, compressed]", "alto"]}[len(names)])
            elif not factor.isupper() and self.chance(0.1):
                is_sparse = None
            access = self.operand(names, is_sparse, self.element, fill if is_sparse else None, format=format)
            if is_sparse:
                sparse_names.append((access.name, names))
            factors.append(access)
            product = access if product is None else Binary(self.style.times, product, access)
        if self.chance(0.2):
            product = Binary(self.style.times, product, self.scalar())
        value = product if value is None else self.plus(value, product)
    names = [rename[letter] for letter in target]
    operator = self.style.reduction or ("|=" if self.element == "bool" else rng.choice(["=", "=", "+="]))
    name = self.result_name()
    shape = tuple(self.extents[variable] for variable in names)
    self.shapes[name] = shape
    format = None
    if names:
        format = self.dense_format(len(names))
        covering = all(any(set(names) <= set(over) for _, over in sparse_names) for _ in terms) and len(sparse_names) >= len(terms)
        if covering and self.chance(0.4):
            format = rng.choice({1: ["[compressed]"], 2: ["csr", "dcsr", "coo", "csc"], 3: ["csf", "coo"]}[len(names)])
    result_fill = fill if format and not formats.is_dense(format) else None
    if len(sparse_names) > 1 and self.chance(0.3):
        # Operands whose entries are at the same places.
        (one, over), (other, others) = sparse_names[:2]
        format_of = {tensor.name: tensor.format for tensor in self.parameters}
        if over == others and one != other:
            self.parameters = [replace(tensor, format=format_of[one]) if tensor.name == other else tensor for tensor in self.parameters]
            self.like[other] = one
    directives = schedule(self, names, [rename[letter] for letter in letters], sparse_names, value)
    if self.like and self.chance(0.7):
        other, one = next(iter(self.like.items()))
        directives = [f"same_pattern({one}, {other})"]
    elif sparse_names and len(sparse_names) == 1 and self.chance(0.12):
        directives = [f"stream({sparse_names[0][0]}, {rng.choice([1, 2, 3, 7, 16])})"]
    tensor = Tensor(name, self.element, format, result_fill, True)
    statement = Statement(Access(name, tuple(Var(variable) for variable in names)), operator, value)
    return self.finish(Kernel(self.kernel_name(), (), (tensor,), (statement,), tuple(directives)))


def schedule(generator, target, variables, sparse, value):
    """Directives that have a chance: each kind keeps its own rules, the rest is for the compiler to say."""
    rng = generator.rng
    order = target + [name for name in variables if name not in target]
    if sparse and rng.random() < 0.8:
        # As the first sparse operand is stored.
        stored = sparse[0][1]
        order = stored + [name for name in order if name not in stored]
    loops = list(order)
    dict(generator.extents)
    constant = {}
    directives = []
    walked = {name for _, names in sparse for name in names}
    fresh = iter([f"t{number}" for number in range(40)])
    steps = rng.choice([1, 1, 2, 2, 3, 4])
    fused = False
    plain = [(name, names) for name, names in sparse if stores_modes(generator, name)]
    if plain and rng.random() < 0.3:
        name, names = plain[0]
        if len(names) > 1 and order[: len(names)] == names:
            fused_name = names[0]
            for other in names[1:]:
                new = next(fresh)
                directives.append(f"fuse({fused_name}, {other}, {new})")
                fused_name = new
            loops = [fused_name] + order[len(names) :]
        else:
            fused_name = names[0]
        if rng.random() < 0.8:
            new = next(fresh)
            directives.append(f"positions({fused_name}, {name}, {new})")
            loops = [new if loop == fused_name else loop for loop in loops]
            fused_name = new
            if rng.random() < 0.7:
                outer, inner = next(fresh), next(fresh)
                directives.append(f"split({fused_name}, {outer}, {inner}, {rng.choice(BLOCKS)})")
                loops[loops.index(fused_name) : loops.index(fused_name) + 1] = [outer, inner]
                fused_name = outer
        if rng.random() < 0.6:
            directives.append(f"parallel({fused_name})")
        return directives
    for _ in range(steps):
        if not loops:
            break
        match rng.randrange(8):
            case 0 | 1 | 2:
                loop = rng.choice(loops)
                block = rng.choice(BLOCKS)
                outer, inner = next(fresh), next(fresh)
                directives.append(f"split({loop}, {outer}, {inner}, {block})")
                place = loops.index(loop)
                loops[place : place + 1] = [outer, inner]
                constant[inner] = block
                if rng.random() < 0.35:
                    again = rng.choice([outer, inner])
                    smaller = rng.choice(BLOCKS)
                    a, b = next(fresh), next(fresh)
                    directives.append(f"split({again}, {a}, {b}, {smaller})")
                    place = loops.index(again)
                    loops[place : place + 1] = [a, b]
                    constant.pop(again, None)
                    constant[b] = smaller
            case 3 if len(loops) > 1 and not sparse:
                shuffled = list(loops)
                rng.shuffle(shuffled)
                if rng.random() < 0.3:
                    shuffled = shuffled[: max(2, len(shuffled) - 1)]
                else:
                    loops = shuffled
                directives.append(f"reorder({', '.join(shuffled)})")
            case 4 if len(loops) > 1 and not sparse and not fused:
                place = rng.randrange(len(loops) - 1)
                a, b = loops[place : place + 2]
                new = next(fresh)
                if {a, b} <= set(target):
                    directives.append(f"fuse({a}, {b}, {new})")
                    loops[place : place + 2] = [new]
                    fused = True
            case 5 if not any(directive.startswith("parallel") for directive in directives):
                loop = loops[0] if rng.random() < 0.9 else rng.choice(loops)
                directives.append(f"parallel({loop})")
            case 6 if not any(directive.startswith("vector") for directive in directives):
                inner = [loop for loop in loops if loop in target and loop not in walked]
                if inner and loops[-1] == inner[-1]:
                    directives.append(f"vector({inner[-1]})")
            case 7:
                inner = [loop for loop, block in constant.items() if loop in loops and block <= 16]
                if inner:
                    loop = inner[0]
                    directives.append(f"unroll({loop})")
                    constant.pop(loop)
    if not directives and rng.random() < 0.5:
        part = precomputed(rng, value, target)
        if part:
            directives.append(part)
    if not directives:
        loop = loops[0] if loops else None
        if loop:
            directives.append(f"parallel({loop})")
    return directives


def stores_modes(generator, name):
    """Whether the levels of an operand are its modes in order."""
    format = next(tensor.format for tensor in generator.parameters if tensor.name == name)
    return format.startswith("[") or format in ("csr", "dcsr", "coo", "csf")


def precomputed(rng, value, target):
    """A product of two factors in a workspace over an index of the result."""
    if not isinstance(value, Binary) or value.operator not in ("*", "&&"):
        return None
    part = value if rng.random() < 0.5 else rng.choice([value.left, value.right])
    over = [name for name in free_variables(part) if name in target]
    if not over:
        return None
    return f"precompute({text(part)}, {over[-1]}, pw)"
