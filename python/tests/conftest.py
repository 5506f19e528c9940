import gc
import os
import shutil
import warnings

import numpy as np
import pytest
import scipy.sparse

import spc

ELEMENTS = ["float64", "float32", "int64", "complex128"]

needs_rustc = pytest.mark.skipif(shutil.which("rustc") is None, reason="there is no Rust compiler")


@pytest.fixture
def rng():
    return np.random.default_rng(7)


def matrix(rng, shape=(12, 18), density=0.3, dtype="float64", format="csr", index="int32"):
    """A matrix of SciPy's with indices of some width."""
    dense = (rng.random(shape) < density) * rng.integers(1, 9, shape)
    dense = dense.astype(dtype)
    if dense.dtype.kind == "c":
        dense = dense * (1 + 2j)
    made = scipy.sparse.coo_array(dense)
    made = made.tobsr(blocksize=(3, 2)) if format == "bsr" else made.asformat(format)
    if format == "bsr":
        made.sort_indices()
    if format == "coo":
        made = scipy.sparse.coo_array((made.data, tuple(array.astype(index) for array in made.coords)), shape=shape)
    elif format == "dia":
        made.offsets = made.offsets.astype(index)
    else:
        made.indptr, made.indices = made.indptr.astype(index), made.indices.astype(index)
    return made


def quiet(body):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", spc.CopyWarning)
        return body()


def resident():
    """The bytes of memory that this process has now."""
    gc.collect()
    with open("/proc/self/statm") as told:
        return int(told.read().split()[1]) * os.sysconf("SC_PAGESIZE")
