"""What docs/python.md shows. CI runs this file."""

import numpy as np, scipy.sparse, spc

A = scipy.sparse.random_array((1000, 1000), density=0.01, format="csr")
x = np.ones(1000)

y = spc.einsum("ij,j->i", A, x)                              # a NumPy array
C = spc.einsum("ij,jk->ik", A, A, format="csr").to_scipy()   # a sparse result
y = spc.einsum("y(i) = 2 * A(i,j) * x(j)", A=A, x=x)         # any index notation

assert np.allclose(y, 2 * A @ x)
assert abs(C - A @ A).max() < 1e-9

spmv = spc.kernel("y(i) = A(i,j) * x(j)", A="csr")   # inputs by position or by name
spmv(A, x)
spmv(x=x, A=A)
out = np.empty(1000)
spmv(A, x, out=out)                                  # writes into an array that is there

@spc.jit
def mttkrp(X: "csf", B: "dense", C: "dense") -> "dense":
    "Y(i,r) = X(i,j,k) * B(j,r) * C(k,r)"

assert np.allclose(out, A @ x)
X = spc.tensor(([np.array([0, 1]), np.array([1, 2]), np.array([3, 0])], np.array([2.0, 3.0])), format="csf", shape=(2, 3, 4))
B, D = np.ones((3, 8)), np.ones((4, 8))
assert np.allclose(mttkrp(X, B, D), [[2.0] * 8, [3.0] * 8])

src, dst, w = np.array([0, 2, 2, 1]), np.array([1, 1, 0, 2]), np.array([0.5, 1.0, 2.0, 0.25])
features = np.arange(6.0).reshape(3, 2)
pass_on = spc.kernel("y(dst(e),r) += w(e) * x(src(e),r)")   # no array of edges and features is made
y = pass_on(src=src, dst=dst, w=w, x=features)
ends = spc.indices(dst, 3)                                  # checked once, for many calls
y = pass_on(src=src, dst=ends, w=w, x=features)

expected = np.zeros((3, 2))
np.add.at(expected, dst, w[:, None] * features[src])
assert np.allclose(y, expected)

gradient = pass_on.grad("w", "x")
dw, dx = gradient(src=src, dst=ends, w=w, x=features, dy=np.ones((3, 2)))
dA, dx = spmv.grad("A", "x")(A, x, dy=np.ones(1000))        # dA has the entries of A
loss = spc.kernel("f = w(i) * x(i) * x(i)").grad("x")
dx = loss(w, w)                                             # a result without modes gains 1

assert np.allclose(dw, features[src].sum(axis=1)) and dA.nnz == A.nnz and np.allclose(dx, 2 * w * w)

y = spc.einsum("ij,j->i", A, x, ranks=4)                # four threads that exchange messages
y = spmv(A, x, ranks=4, distribute="A:2x2")             # the cells of a grid over the modes of A
model = spc.cp_als(X, rank=2, ranks=4)
spmv.placements(A, x, ranks=64)                         # what 64 ranks would send, without a run
model = spc.tucker(X, ranks=[1, 1, 1], on_ranks=4)      # here `ranks` are the extents of the core

assert np.allclose(y, A @ x) and model.core.shape == (1, 1, 1)
assert spmv.placements(A, x, ranks=64)[-1]["bytes"] > 0

with spmv.prepare(A, x, ranks=4) as prepared:
    for scale in [1, 2, 3]:
        y = prepared(x=scale * x)      # rows of x go to where they are needed; A stays
    prepared.run(x=x)                  # the result stays with the ranks
    prepared.feed(x="y")               # x is y of the last run: rows go from rank to rank, and none has all of them
    prepared.run()
    y = prepared.gather()              # A (A x)
    y = prepared.iterate(10, x="y")    # ten runs, fed in between

    assert np.allclose(prepared(x=x), A @ x)
