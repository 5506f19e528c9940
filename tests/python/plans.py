"""Times lines of `spc bench plans` with opt_einsum and SciPy.

    python plans.py LINES MESH.mtx.gz GRAPH.mtx.gz [NAME...]

LINES is cli/src/bench/plans.ti. opt_einsum chooses the order of the products, as for dense operands; products of dense operands are its own,
those with a sparse one SciPy's. Lines with an operand or an intermediate result of more than two modes that is sparse are left out: SciPy has
matrices only. Printed are the least of the times in ms, without what is done once: reading, and the choice of the order.
"""

import gzip
import re
import sys
import time

import numpy
import opt_einsum
import scipy.io
import scipy.sparse as sparse


def lines(path):
    """The first kernel of each pair: name, data, extents, sparse operands, terms, target."""
    text = open(path).read()
    kernels = re.findall(r"/// on ([^\n]*)\nfn (\w+)\(([^)]*)\)[^{]*\{\s*([^;]*);\s*\}", text)
    for on, name, parameters, line in kernels:
        if name.endswith("_split") or not re.fullmatch(r"[\w(), *=]*", line):
            continue
        data, _, extents = on.partition(": ")
        extents = {key: int(value) for key, value in re.findall(r"(\w)=(\d+)", extents)}
        stored = {part.split(":")[0].strip() for part in parameters.split(", ") if "csr" in part}
        if "csf" in parameters or "fill" in parameters or "bool" in parameters:
            continue
        target, _, value = line.partition("=")
        factors = [(tensor, indices.replace(",", "").replace(" ", "")) for tensor, indices in re.findall(r"(\w+)\(([^)]*)\)", value)]
        target = "".join(re.findall(r"\(([^)]*)\)", target)).replace(",", "").replace(" ", "")
        yield name, data, extents, stored, factors, target


class Unsaid(Exception):
    pass


def pair(a, b, ia, ib, out):
    """The sum of products of two operands over the indices that are not in `out`."""
    if not sparse.issparse(a) and not sparse.issparse(b):
        return numpy.einsum(f"{ia},{ib}->{out}", a, b, optimize=True)
    def summed(x, ix, others):
        for mode in reversed(range(len(ix))):
            if ix[mode] not in others:
                x, ix = numpy.asarray(x.sum(axis=mode)).ravel() if x.ndim == 2 else x.sum(), ix[:mode] + ix[mode + 1:]
        return x, ix
    a, ia = summed(a, ia, ib + out)
    b, ib = summed(b, ib, ia + out)
    if len(ia) > 2 or len(ib) > 2 or not ia or not ib:
        raise Unsaid
    if set(ia) == set(ib):
        both = (a if sparse.issparse(a) else a) if len(ia) < 2 else a
        other = b if ia == ib else b.T
        product = both.multiply(other) if sparse.issparse(both) else other.multiply(both) if sparse.issparse(other) else both * other
        result, ir = summed(sparse.csr_matrix(product) if len(ia) == 2 else product, ia, out) if set(out) != set(ia) else (product, ia)
        return result if ir == out or len(ir) < 2 else result.T
    shared = [index for index in ia if index in ib]
    if len(shared) != 1:
        raise Unsaid
    shared = shared[0]
    if shared in out:
        # A row or a column times a number each.
        if len(ia) < len(ib):
            a, b, ia, ib = b, a, ib, ia
        if len(ib) != 1 or not sparse.issparse(a):
            raise Unsaid
        scaled = sparse.diags(b) @ a if ia[0] == shared else a @ sparse.diags(b)
        result, ir = summed(scaled.tocsr(), ia, out)
        return result if ir == out else result.T
    left = a if ia[-1] == shared else a.T
    right = b if ib[0] == shared else b.T
    result = left @ right
    ir = ia.replace(shared, "") + ib.replace(shared, "")
    return result if ir == out or len(ir) < 2 else result.T


def run(operands, subscripts, target, path):
    operands, subscripts = list(operands), list(subscripts)
    for step in path:
        chosen = sorted(step, reverse=True)
        parts = [(operands.pop(place), subscripts.pop(place)) for place in chosen]
        rest = "".join(subscripts) + target
        while len(parts) > 1:
            (a, ia), (b, ib) = parts.pop(), parts.pop()
            needed = rest + "".join(index for _, index in parts)
            out = "".join(dict.fromkeys(index for index in ia + ib if index in needed))
            out = target if not subscripts and not parts else out
            parts.append((pair(a, b, ia, ib, out), out))
        operands.append(parts[0][0])
        subscripts.append(parts[0][1])
    return operands[0]


def main():
    path, mesh, graph, *names = sys.argv[1:]
    read = {"mesh": mesh, "graph": graph}
    matrices = {name: sparse.csr_matrix(scipy.io.mmread(gzip.open(file))).astype(float) for name, file in read.items()}
    random = numpy.random.default_rng(1)
    for name, data, extents, stored, factors, target in lines(path):
        if names and name not in names or stored and data not in matrices:
            continue
        for tensor, indices in factors:
            if tensor in stored:
                extents.update(zip(indices, matrices[data].shape))
        # The modes of a tensor that is read twice have the same extents.
        for tensor, indices in factors * 2:
            for other, others in factors:
                if tensor == other:
                    extents.update((b, extents[a]) for a, b in zip(indices, others) if a in extents and b not in extents)
        shapes = [tuple(extents[index] for index in indices) for _, indices in factors]
        known = {}
        operands = [matrices[data] if tensor in stored else known.setdefault(tensor, random.random(shape)) for (tensor, _), shape in zip(factors, shapes)]
        subscripts = [indices for _, indices in factors]
        equation = ",".join(subscripts) + "->" + target
        order, _ = opt_einsum.contract_path(equation, *shapes, shapes=True)
        expression = None if stored else opt_einsum.contract_expression(equation, *shapes)
        work = lambda: run(operands, subscripts, target, order) if stored else expression(*operands)
        times = []
        try:
            begin = time.perf_counter()
            while not times or time.perf_counter() - begin < 0.5 and len(times) < 1000:
                start = time.perf_counter()
                work()
                times.append(time.perf_counter() - start)
        except Unsaid:
            continue
        print(f"{name} {1e3 * min(times):.3g}", flush=True)


main()
