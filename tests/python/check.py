"""Recomputes a kernel of tests/tests/real_data.rs with NumPy and SciPy and compares.

    python check.py FILE SPARSE OUT RANK RESULT.tns DENSE...

FILE is the sparse operand (.tns.gz or .mtx.gz), SPARSE its indices ("ijk"), OUT those of the result ("ir"), DENSE those of
each dense operand ("jr" "kr"). Indices that FILE does not have run to RANK. The dense operands are made by `element`, as in
the Rust test. Exit status 0 when the results agree, 1 when they do not.
"""

import gzip
import sys

import numpy
import scipy.io
import scipy.sparse


def element(operand, index):
    """The element of a dense operand; `index` holds one array for each mode."""
    total = numpy.full(numpy.broadcast(*index).shape, operand, dtype=numpy.int64)
    for mode, part in enumerate(index):
        total = total + part * (7 + operand + 3 * mode)
    return (total % 13 + 1) / 16.0


def read(path):
    """Coordinates from 0 (one array for each mode) and values."""
    if path.endswith(".mtx.gz"):
        matrix = scipy.sparse.coo_matrix(scipy.io.mmread(gzip.open(path)))
        return [matrix.row.astype(numpy.int64), matrix.col.astype(numpy.int64)], matrix.data.astype(float), matrix.shape
    table = numpy.loadtxt(gzip.open(path), ndmin=2)
    indices = [table[:, mode].astype(numpy.int64) - 1 for mode in range(table.shape[1] - 1)]
    return indices, table[:, -1], tuple(int(index.max()) + 1 for index in indices)


def product(sparse, out, rank, dense, indices, values, shape):
    """The result as a dense array, by gathering for every entry and adding at its place."""
    place = dict(zip(sparse, indices))
    extent = dict(zip(sparse, shape))
    free = [name for name in dict.fromkeys("".join(dense) + out) if name not in place]
    for name in free:
        extent[name] = rank
    result = numpy.zeros([extent[name] for name in out])
    for point in numpy.ndindex(*[rank] * len(free)):
        at = {**place, **{name: numpy.int64(value) for name, value in zip(free, point)}}
        terms = values.copy()
        for number, names in enumerate(dense):
            terms = terms * element(number, [at[name] for name in names])
        numpy.add.at(result, tuple(numpy.broadcast_to(at[name], terms.shape) for name in out), terms)
    return result


def matrix_product(rank, dense, indices, values, shape):
    """SpMV and SpMM as SciPy has them."""
    matrix = scipy.sparse.csr_matrix((values, indices), shape=shape)
    columns = numpy.arange(shape[1])
    if len(dense[0]) == 1:
        return matrix @ element(0, [columns])
    return matrix @ element(0, [columns[:, None], numpy.arange(rank)[None, :]])


def main(path, sparse, out, rank, result_path, *dense):
    rank = int(rank)
    indices, values, shape = read(path)
    is_product = sparse == "ij" and len(dense) == 1 and dense[0] in ("j", "jr") and out in ("i", "ir")
    if is_product:
        expected = matrix_product(rank, dense, indices, values, shape)
    else:
        expected = product(sparse, out, rank, dense, indices, values, shape)
    table = numpy.loadtxt(result_path, ndmin=2)
    found = numpy.zeros(expected.shape)
    found[tuple(table[:, mode].astype(int) - 1 for mode in range(expected.ndim))] = table[:, -1]
    difference = numpy.abs(found - expected).max()
    scale = max(1.0, numpy.abs(expected).max())
    if difference > 1e-11 * scale:
        worst = numpy.unravel_index(numpy.abs(found - expected).argmax(), expected.shape)
        print(f"{path}: {found[worst]} at {worst}, expected {expected[worst]}")
        sys.exit(1)


if __name__ == "__main__":
    main(*sys.argv[1:])
