"""Random storage formats, as text."""

KINDS = ["padded", "bitmap", "hashed", "banded", "run", "sliced", "grouped"]
WIDTHS = {"u8": 256, "u16": 65536, "u32": 2**32, "u64": 2**63}


def dense(order):
    return "dense"


def width(rng, extent, chance=0.15):
    """An index width that holds all coordinates of a mode, most of the time none."""
    if rng.random() > chance:
        return None
    fitting = [name for name, most in WIDTHS.items() if extent <= most]
    return rng.choice(fitting)


def level(rng, kind, extent):
    parts = []
    wide = width(rng, extent)
    if kind == "compressed":
        if rng.random() < 0.05:
            parts.append("unordered")
        if wide:
            parts.append(wide)
        if rng.random() < 0.07:
            parts.append("pos = u64")
    elif kind == "sliced":
        if rng.random() < 0.6:
            parts.append(f"rows = {rng.choice([1, 2, 3, 4, 8])}")
        if wide:
            parts.append(wide)
    elif kind == "grouped":
        if rng.random() < 0.5:
            parts.append(f"limit = {rng.choice([1, 2, 3])}")
        if wide:
            parts.append(wide)
    elif kind in ("padded", "hashed", "banded", "run", "singleton", "flagged") and wide:
        parts.append(wide)
    return f"{kind}({', '.join(parts)})" if parts else kind


def chain(rng, extents):
    """Coordinates of several modes side by side."""
    if len(extents) == 1:
        return [level(rng, "compressed", extents[0])]
    repeat = "singleton(nonunique)"
    return ["compressed(nonunique)"] + [repeat] * (len(extents) - 2) + [level(rng, "singleton", extents[-1])]


def mixed(rng, extents):
    kinds = []
    while len(kinds) < len(extents):
        left = extents[len(kinds) :]
        match rng.randrange(6):
            case 0 | 1:
                kinds.append("dense")
            case 2:
                kinds.append(level(rng, "compressed", left[0]))
            case 3:
                kinds += chain(rng, left[: 1 + rng.randrange(len(left))])
            case _:
                kinds.append(level(rng, rng.choice(KINDS), left[0]))
    return kinds


NAMED = {
    1: ["[compressed]", "csf", "alto", "lco", "mcoo", "coo", "bcsf(2)", "bcsf(4)", "hicoo(4)", "tiled(2)", "tiled(8)"],
    2: [
        "csr", "csc", "dcsr", "coo", "csf", "bcsr(2)", "bcsr(3)", "bcsr(4)", "bcsr(16)", "csb(2)", "csb(8)", "dia", "tiled(3)",
        "tiled(4)", "bcsf(2)", "bcsf(4)", "scoo", "mcoo", "lco", "alto", "hicoo(2)", "hicoo(128)", "ghicoo(2)", "shicoo(4)",
        "hocoo", "hocsr", "hocfs_csr", "cfb", "ell", "sell(2)", "sell(8)", "hocfs_ell", "hocfs", "fcoo", "skyline",
    ],
    3: [
        "csf", "coo", "scoo", "mcoo", "lco", "alto", "hicoo(2)", "hicoo(4)", "hicoo(128)", "ghicoo(4)", "shicoo(2)", "hocoo",
        "hocsr", "cfb", "ell", "sell(4)", "hocfs_ell", "hocfs", "fcoo", "bcsf(2)", "tiled(2)", "skyline",
    ],
    4: ["csf", "coo", "lco", "alto", "hicoo(2)", "mcoo", "bcsf(2)", "hocsr", "ell", "fcoo"],
}

MAPS = {
    1: [
        "(i) -> [i / 4: compressed, i % 4: dense]", "(i) -> [i / 8: dense, i % 8: compressed]",
        "(i) -> [i / 2: compressed, i % 2: compressed(u8)]", "(i) -> [i / 16: bitmap, i % 16: dense]",
    ],
    2: [
        "(i, j) -> [i + j: compressed, j: compressed]", "(i, j) -> [j / 2: compressed, i: dense, j % 2: dense]",
        "(i, j) -> [j - i: dense, i: dense]", "(i, j) -> [j - i: compressed, i: compressed]",
        "(i, j) -> [i * extent(j) + j: compressed]", "(i, j) -> [i + j * extent(i): compressed(u64)]",
        "(i, j) -> [linear(j, i): compressed]", "(i, j) -> [interleave(j, i): compressed(u64)]",
        "(i, j) -> [i / 4: dense, j / 8: compressed, i % 4: dense, j % 8: dense]",
        "(i, j) -> [i / 3: compressed, j: compressed, i % 3: dense]", "(i, j) -> [j: compressed, i / 5: compressed, i % 5: bitmap]",
        "(i, j) -> [i: dense, j / 4: compressed, j % 4: dense]", "(i, j) -> [i / 4: dense, j: dense, i % 4: dense]",
        "(i, j) -> [i - j: compressed, j: dense]", "(i, j) -> [j: dense, i + j: compressed]",
        "(i, j) -> [i / 2: compressed(nonunique), j / 2: singleton, i % 2: dense, j % 2: dense]",
        "(i, j) -> [2 * i + j: compressed, j: compressed]", "(i, j) -> [i + 3: compressed, j: dense]",
    ],
    3: [
        "(i, j, k) -> [i / 2: compressed, j: compressed, k: compressed, i % 2: dense]",
        "(i, j, k) -> [k: compressed, i * extent(j) + j: compressed]", "(i, j, k) -> [linear(i, j): compressed, k: dense]",
        "(i, j, k) -> [interleave(i, j): compressed(u64), k: compressed]", "(i, j, k) -> [i: dense, linear(k, j): compressed]",
        "(i, j, k) -> [i / 4: dense, j / 4: compressed, k: compressed, i % 4: dense, j % 4: dense]",
        "(i, j, k) -> [i + k: compressed, j: dense, k: compressed]",
    ],
}

# Formats in which what is stored is what there are entries of, so that a mask means one thing.
EXACT = {
    1: ["[compressed]", "csf", "[bitmap]", "[hashed]", "lco", "alto"],
    2: ["csr", "csc", "dcsr", "coo", "csf", "[dense, bitmap]", "[compressed, hashed]", "lco", "alto", "mcoo", "hicoo(2)", "csb(2)", "ell"],
    3: ["csf", "coo", "[dense, dense, compressed]", "[dense, compressed, compressed]", "lco", "alto", "hicoo(4)", "fcoo"],
    4: ["csf", "coo", "lco", "alto"],
}


def is_dense(text):
    return text == "dense" or not any(word in text for word in SPARSE)


SPARSE = [
    "compressed", "singleton", "padded", "bitmap", "hashed", "banded", "run", "sliced", "diagonal", "flagged", "grouped", "csr", "csc", "coo",
    "csf", "csb", "dia", "lco", "alto", "hicoo", "hoc", "cfb", "ell", "structured", "skyline", "mine",
]


def sparse(rng, extents, definitions):
    """A format that is not dense in all modes; may add to the definitions, which are pairs of a name and a body."""
    len(extents)
    for _ in range(50):
        found = any_format(rng, extents, definitions)
        if not is_dense(found):
            return found
    return "csf"


def any_format(rng, extents, definitions):
    order = len(extents)
    roll = rng.random()
    if roll < 0.35 and order in NAMED:
        return rng.choice(NAMED[order])
    if roll < 0.5 and order in MAPS:
        body = rng.choice(MAPS[order])
        if rng.random() < 0.4:
            return defined(rng, body, definitions)
        return body
    if order == 2 and extents[0] == extents[1] and roll < 0.52:
        return "[dense, diagonal]" if rng.random() < 0.5 else "diagonal"
    if order == 2 and roll < 0.54:
        return "structured(4, 4)"
    modes = list(range(order))
    if rng.random() < 0.35:
        rng.shuffle(modes)
    sizes = [extents[mode] for mode in modes]
    match rng.randrange(7):
        case 0:
            kinds = ["dense"] * order
        case 1:
            kinds = ["compressed"] * order
        case 2:
            kinds = chain(rng, sizes)
        case 3:
            outer = rng.randrange(order + 1)
            kinds = ["dense"] * outer + ["compressed"] * (order - outer)
        case _:
            kinds = mixed(rng, sizes)
    if modes == sorted(modes):
        body = f"[{', '.join(kinds)}]"
    else:
        names = [f"m{mode}" for mode in range(order)]
        body = f"({', '.join(names)}) -> [{', '.join(f'm{mode}: {kind}' for mode, kind in zip(modes, kinds))}]"
    if rng.random() < 0.1:
        return defined(rng, body, definitions, is_dense(body))
    return body


def defined(rng, body, definitions, plain=False):
    """The same by a name; a number of it may be an argument."""
    name = f"{'tile' if plain else 'mine'}{len(definitions)}"
    for block in ("4", "2", "8"):
        if f"/ {block}:" in body and f"% {block}:" in body and rng.random() < 0.7:
            changed = body.replace(f"/ {block}:", "/ B:").replace(f"% {block}:", "% B:")
            definitions.append((f"{name}(B)", changed))
            return f"{name}({block})"
    definitions.append((name, body))
    return name


# For modes of any extent: no level is as long as a mode.
HUGE = {
    1: ["[compressed]", "csf", "coo", "lco", "alto", "[hashed]", "[compressed(u64)]", "hicoo(128)", "bcsf(4)"],
    2: [
        "dcsr", "coo", "csf", "lco", "alto", "mcoo", "hocoo", "[compressed(u64), compressed(u64)]", "[compressed, hashed]", "fcoo",
        "(i, j) -> [j: compressed, i: compressed]", "(i, j) -> [i * extent(j) + j: compressed(u64)]", "hicoo(128)",
        "(i, j) -> [i / 1024: compressed, j / 1024: compressed, i % 1024: compressed(u16), j % 1024: compressed(u16)]",
        "(i, j) -> [j - i: compressed, i: compressed]", "(i, j) -> [i + j: compressed, j: compressed]", "bcsf(4)",
        "(i, j) -> [interleave(j, i): compressed(u64)]", "(i, j) -> [16 * i + j: compressed, j: compressed]",
    ],
    3: [
        "csf", "coo", "lco", "alto", "mcoo", "hicoo(128)", "(i, j, k) -> [k: compressed, linear(i, j): compressed(u64)]",
        "(i, j, k) -> [interleave(i, j): compressed(u64), k: compressed]", "(i, j, k) -> [k: compressed, j: compressed, i: compressed]",
    ],
    4: ["csf", "coo", "lco", "alto", "hicoo(128)"],
}

# For modes beyond 32 bits.
HUGE64 = {
    1: ["[compressed(u64)]", "alto", "lco", "[hashed(u64)]", "(i) -> [i / 1048576: compressed(u64), i % 1048576: compressed]"],
    2: [
        "[compressed(u64), compressed(u64)]", "[compressed(nonunique, u64), singleton(u64)]", "alto", "lco",
        "(i, j) -> [j: compressed(u64), i: compressed(u64)]", "(i, j) -> [j - i: compressed(u64), i: compressed(u64)]",
        "(i, j) -> [i + j: compressed(u64), j: compressed(u64)]", "(i, j) -> [16 * i + j: compressed(u64), j: compressed(u64)]",
        "(i, j) -> [interleave(j, i): compressed(u64)]", "(i, j) -> [linear(j, i): compressed(u64)]",
    ],
    3: ["[compressed(u64), compressed(u64), compressed(u64)]", "alto", "lco",
        "(i, j, k) -> [k: compressed(u64), linear(i, j): compressed(u64)]"],
    4: ["[compressed(u64), compressed(u64), compressed(u64), compressed(u64)]", "alto", "lco"],
}
