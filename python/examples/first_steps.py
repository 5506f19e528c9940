"""What README.md shows. CI runs this file."""

import numpy as np, scipy.sparse, spc

A = scipy.sparse.random_array((1000, 1000), density=0.01, format="csr")
y = spc.einsum("ij,j->i", A, np.ones(1000))                 # as numpy.einsum
C = spc.einsum("ij,jk->ik", A, A, format="csr").to_scipy()  # a sparse result
spmv = spc.kernel("y(i) = 2 * A(i,j) * x(j)", A="csr")      # compiled once
y = spmv(A, y)

assert np.allclose(y, 2 * A @ (A @ np.ones(1000)))
assert abs(C - A @ A).max() < 1e-9
