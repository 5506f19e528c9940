"""What docs/python.md shows of arrays. CI runs this file."""

import tempfile

import numpy as np, scipy.sparse, spc

rng = np.random.default_rng(0)

A = spc.tensor(scipy.sparse.random_array((1000, 800), density=0.01, format="csr", rng=rng))
x = np.ones(800)

y = A @ x                                  # products, with arrays of NumPy's too
B = np.log1p(abs(A)) * 2 - A               # NumPy's functions and operators: sparse
C = A @ A.T                                # sparse
s = A.sum(axis=0) / A.shape[0]             # dense
top = A[A.argmax(axis=0), np.arange(800)]  # NumPy's indices
rows = A[10:20, ::2]
P = np.concatenate([A, B]).reshape(2, 1000, 800)

assert B.is_sparse and C.is_sparse and not s.is_sparse and P.shape == (2, 1000, 800)
assert np.allclose(y, A.to_scipy() @ x) and np.allclose(top.to_numpy(), A.max(axis=0))
assert rows.shape == (10, 400) and np.allclose(B.to_numpy(), np.log1p(abs(A.to_numpy())) * 2 - A.to_numpy())

U, V = spc.asarray(rng.random((1000, 16))), spc.asarray(rng.random((800, 16)))

y = (A * (U @ V.T)).sum(axis=1)   # an expression: nothing is computed yet
y.shape, y.dtype                  # known at once
print(y.explain())                # R(i) = sum(j)((A(i,j) * sum(k)(B(i,k) * C(j,k)))), and its loops
y.to_numpy()                      # computed: one loop over the entries of A

assert np.allclose(y, (A.to_numpy() * (U.to_numpy() @ V.to_numpy().T)).sum(axis=1))
assert y.explain().startswith("an array") and (A * (U @ V.T)).sum(axis=1).explain().startswith("R(i) = sum(j)((A(i,j) * sum(k)(B(i,k) * C(j,k))))")

np.exp(A).fill          # 1.0: what is not stored
(A >= 0).fill           # True
np.exp(A).nnz == A.nnz  # True

assert np.exp(A).fill == 1 and (A >= 0).fill and np.exp(A).nnz == A.nnz

D = A.set(A < 0.5, 0)                     # another array, without these entries
D = A.prune(0.1)                          # without entries of at most 0.1
D.coords, D.data, D.density               # what is stored

E = A.copy()
E[E < 0.5] = 0                            # the array E has new contents
E[3, 10:20] = 1
E[[4, 5], :] = A[:2]                      # of sparse values only entries are visited
E += 2 * A                                # E is the same object, and its element type stays

assert D.nnz < A.nnz and len(D.data) == D.coords.shape[1] and E[3, 10] == 1 + 2 * A[3, 10]

xp = A.__array_namespace__()              # spc.array_api
xp.sum(xp.multiply(A, A), axis=0)

from scipy.sparse.linalg import cg, svds

S = A.T @ A + spc.tensor(scipy.sparse.eye_array(800, format="csr"))
solution, info = cg(S, x)                 # SciPy's solvers take arrays
singular = svds(A, k=3, v0=x)[1]

assert info == 0 and np.allclose(S @ solution, x, atol=1e-3) and len(singular) == 3

X = spc.tensor((rng.integers(0, 30, (3, 2000)).tolist(), rng.random(2000)), shape=(30, 30, 30))
model = spc.cp_als(X, rank=3)
weights, factors = model                  # as TensorLy has them
model.at([[0, 1], [2, 2], [5, 9]])        # two elements of the model, and no others
model.norm(), model.fit_of(X)             # of Gram matrices and the entries of X
model.arranged().fixed_signs()            # from the largest weight, the largest element of columns positive
model.score(spc.cp_als(X, rank=3, seed=1))   # how alike two models are, and which components belong together
spc.tucker(X, ranks=[2, 2, 2]).project(X) # the core of a tensor in the model's factors

assert np.allclose(model.at([0, 2, 5]), model.to_numpy()[0, 2, 5]) and model.arranged().rank == 3

sales = spc.from_table({"shop": ["Oslo", "Rome", "Oslo"], "product": ["tea", "tea", "salt"], "price": [3.0, 2.5, 1.0]},
                       keys=["shop", "product"], values="price")
sales["Oslo", "tea"]                      # 3.0
sales.sum("product")["Oslo"]              # 4.0: the labels stay
sales.array                               # the array, of shape (2, 2)

assert sales["Oslo", "tea"] == 3 and sales.sum("product")["Oslo"] == 4 and sales.array.shape == (2, 2)

with tempfile.TemporaryDirectory() as folder:
    A.write(f"{folder}/a.mtx")
    assert (spc.read(f"{folder}/a.mtx") == A).all()
