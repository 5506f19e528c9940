"""Ten things that spc does in a line or two. CI runs this file."""

import numpy as np
import scipy.sparse
from scipy.sparse.linalg import cg

import spc

rng = np.random.default_rng(0)
A = scipy.sparse.random_array((200, 300), density=0.05, format="csr", rng=rng)
x = rng.random(300)

# 1. As numpy.einsum, with sparse operands.
assert np.allclose(spc.einsum("ij,j->i", A, x), A @ x)

# 2. A sparse result.
gram = spc.einsum("ij,kj->ik", A, A, format="csr").to_scipy()
assert np.allclose(gram.toarray(), (A @ A.T).toarray())

# 3. Index notation, with numbers.
y = spc.einsum("y(i) = b(i) + alpha * A(i,j) * x(j)", A=A, x=x, b=np.ones(200), alpha=0.5)
assert np.allclose(y, 1 + 0.5 * (A @ x))

# 4. A kernel that is compiled once and writes into an array.
spmv, out = spc.kernel("y(i) = A(i,j) * x(j)", A="csr"), np.empty(200)
spmv(A, x, out=out)
assert np.allclose(out, A @ x)

# 5. Sampled products: only where A has entries.
U, V = rng.random((200, 8)), rng.random((300, 8))
sampled = spc.einsum("ij,ik,jk->ij", A, U, V, format="csr").to_scipy()
assert np.allclose(sampled.toarray(), A.toarray() * (U @ V.T))

# 6. Shortest ways: another semiring.
W = scipy.sparse.random_array((50, 50), density=0.2, format="csr", rng=rng)
row_max = spc.einsum("m(i) = max(j)(W(i,j))", W=W)
assert np.allclose(row_max, W.toarray().max(1))

# 7. A tensor of order 3 in a tree, and its product with two factors.
coordinates = [rng.integers(0, extent, 500) for extent in (20, 30, 40)]
X = spc.tensor((coordinates, rng.random(500)), format="csf", shape=(20, 30, 40))
B, C = rng.random((30, 16)), rng.random((40, 16))
assert np.allclose(spc.einsum("ijk,jr,kr->ir", X, B, C), np.einsum("ijk,jr,kr->ir", X.to_numpy(), B, C))


# 8. A stub with formats as annotations.
@spc.jit
def mttkrp(X: "csf", B: "dense", C: "dense") -> "dense":
    "Y(i,r) = X(i,j,k) * B(j,r) * C(k,r)"


assert mttkrp(X, B, C).shape == (20, 16)

# 9. A decomposition.
model = spc.cp_als(X, rank=3, iterations=10)
print("CP: weights", model.weights.round(2), "fit", round(model.fit, 3))

# 10. An operator for SciPy's solvers.
S = scipy.sparse.csr_array(gram + 10 * scipy.sparse.eye_array(200))
solution, info = cg(spc.aslinearoperator(S), np.ones(200))
assert info == 0 and np.allclose(S @ solution, 1, atol=1e-3)

print(X)
print(spmv.explain())
