"""What docs/python.md shows of PyTorch and JAX. It runs where both are there."""

import importlib.util

if not all(importlib.util.find_spec(name) for name in ("torch", "jax")):
    print("skipped: torch and jax are not both there")
    raise SystemExit(0)

import torch, spc.torch
from torch import nn

A = torch.eye(1000).to_sparse_csr().requires_grad_()
X = torch.rand(1000, 16)

spmm = spc.torch.op("Y(i,r) = A(i,j) * X(j,r)")
spmm(A, X).sum().backward()
A.grad                                             # sparse, with the entries of A

A = spc.torch.Sparse(A.detach())                   # index arrays, and values that are a tensor of their own
W = A.with_values(nn.Parameter(A.values))
spmm(W, X).sum().backward()
W.values.grad

sddmm = spc.torch.op("S(i,j) = A(i,j) * Q(i,k) * K(j,k)", S="like A")   # a result with the entries of A
S = sddmm(A, X, X)

send = spc.torch.op("y(dst(e),r) += w(e) * x(src(e),r)")                # messages along the edges of a graph
edges, w = torch.randint(0, 1000, (2, 5000)), torch.rand(5000)
y = send(w=w, x=X, src=edges[0], dst=edges[1], extents={"dst": 1000})

assert torch.allclose(S.to_torch().to_dense(), torch.eye(1000) * (X @ X.T))
assert torch.allclose(y, torch.zeros(1000, 16).index_add(0, edges[1], w[:, None] * X[edges[0]]), atol=1e-4)

layer = spc.torch.nn.GATConv(16, 8, heads=4)
model = torch.compile(layer, fullgraph=True, backend="eager")
model(X, edges).square().mean().backward()

assert layer.weight.grad.isfinite().all()

import jax, jax.numpy as jnp, spc.jax
from jax.experimental.sparse import BCOO

spmm = spc.jax.op("Y(i,r) = A(i,j) * X(j,r)")
A, X = BCOO.fromdense(jnp.eye(100)), jnp.ones((100, 16))

@jax.jit
def loss(data, X):
    return (spmm(BCOO((data, A.indices), shape=A.shape), X) ** 2).sum()

gradient = jax.grad(loss, (0, 1))(A.data, X)

assert jnp.allclose(gradient[0], 32) and jnp.allclose(gradient[1], 2)
