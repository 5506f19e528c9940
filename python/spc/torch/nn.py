"""Layers of graph networks and sparse models, each a few lines of notation.

A graph is a tensor ``edges`` of shape ``(2, E)``: the vertices that edges come from, and those that they lead to. No layer makes a temporary
of edges × features.
"""

from __future__ import annotations

import math
from typing import Any

import torch

from . import Sparse, _of, op

__all__ = ["EmbeddingBag", "GATConv", "GCNConv", "SDDMM", "SpMM", "SparseLinear"]


class SpMM(torch.nn.Module):
    """A sparse matrix times a dense one: ``Y(i,r) = A(i,j) * X(j,r)``."""

    kernel = op("Y(i,r) = A(i,j) * X(j,r)")

    def forward(self, A: torch.Tensor | Sparse, X: torch.Tensor) -> torch.Tensor:
        return self.kernel(A, X)


class SDDMM(torch.nn.Module):
    """A product of dense matrices at the entries of a sparse one: ``S(i,j) = A(i,j) * Q(i,k) * K(j,k)``."""

    kernel = op("S(i,j) = A(i,j) * Q(i,k) * K(j,k)", S="like A")

    def forward(self, A: torch.Tensor | Sparse, Q: torch.Tensor, K: torch.Tensor) -> torch.Tensor | Sparse:
        return self.kernel(A, Q, K)


class GCNConv(torch.nn.Module):
    """Graph convolution: sums over neighbours and the vertex itself, divided by roots of degrees.

    Kipf and Welling, Semi-Supervised Classification with Graph Convolutional Networks, 2017, equation 2.

    :param in_channels: features of a vertex.
    :param out_channels: features of the result.
    """

    degrees = op("d(dst(e)) += w(e)")
    kernel = op("y(dst(e),r) += s(dst(e)) * w(e) * s(src(e)) * x(src(e),r)")

    def __init__(self, in_channels: int, out_channels: int, bias: bool = True):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.empty(in_channels, out_channels))
        self.bias = torch.nn.Parameter(torch.zeros(out_channels)) if bias else None
        torch.nn.init.xavier_uniform_(self.weight)

    def forward(self, x: torch.Tensor, edges: torch.Tensor, weight: torch.Tensor | None = None) -> torch.Tensor:
        """
        :param x: vertices × features.
        :param edges: of shape ``(2, E)``, without loops: each vertex is its own neighbour with weight 1.
        :param weight: of each edge; 1 if not given.
        """
        src, dst, extents = edges[0], edges[1], {"dst": x.shape[0]}
        w = x.new_ones(edges.shape[1]) if weight is None else weight
        s = (self.degrees(w=w, dst=dst, extents=extents) + 1).rsqrt()
        x = x @ self.weight
        y = self.kernel(w=w, s=s, x=x, src=src, dst=dst) + (s * s)[:, None] * x
        return y if self.bias is None else y + self.bias


class GATConv(torch.nn.Module):
    """Graph attention: sums over neighbours with weights that are a softmax of scores.

    Veličković et al., Graph Attention Networks, 2018, equations 1 to 6. The greatest score of a vertex is subtracted before ``exp``, so that
    scores of any size are finite.

    :param in_channels: features of a vertex.
    :param out_channels: features of each head.
    :param heads: which are concatenated, or averaged where ``concat`` is false.
    """

    projections = op("a(i,h) = x(i,h,r) * c(h,r)")
    scores = op("s(e,h) = a(dst(e),h) + b(src(e),h)")
    greatest = op("top(dst(e),h) max= max(s(e,h), slope * s(e,h))")
    parts = op("p(e,h) = exp(max(s(e,h), slope * s(e,h)) - top(dst(e),h))")
    totals = op("t(dst(e),h) += p(e,h)")
    sums = op("y(dst(e),h,r) += p(e,h) * x(src(e),h,r)")
    means = op("z(i,h,r) = y(i,h,r) / max(t(i,h), least)")

    def __init__(self, in_channels: int, out_channels: int, heads: int = 1, concat: bool = True, negative_slope: float = 0.2, bias: bool = True):
        super().__init__()
        self.heads, self.concat, self.negative_slope = heads, concat, negative_slope
        self.weight = torch.nn.Parameter(torch.empty(in_channels, heads * out_channels))
        self.attention_to = torch.nn.Parameter(torch.empty(heads, out_channels))
        self.attention_from = torch.nn.Parameter(torch.empty(heads, out_channels))
        self.bias = torch.nn.Parameter(torch.zeros(heads * out_channels if concat else out_channels)) if bias else None
        for parameter in (self.weight, self.attention_to, self.attention_from):
            torch.nn.init.xavier_uniform_(parameter)

    def forward(self, x: torch.Tensor, edges: torch.Tensor) -> torch.Tensor:
        """
        :param x: vertices × features.
        :param edges: of shape ``(2, E)``, with a loop for each vertex that is its own neighbour. A vertex without edges gets zeros.
        """
        src, dst, extents = edges[0], edges[1], {"dst": x.shape[0]}
        x = (x @ self.weight).unflatten(1, (self.heads, -1))
        a, b = self.projections(x, self.attention_to), self.projections(x, self.attention_from)
        s, slope = self.scores(a=a, b=b, src=src, dst=dst), self.negative_slope
        # Weights don't change with what is subtracted, so nothing is gained by it.
        top = self.greatest(s=s.detach(), slope=slope, dst=dst, extents=extents)
        p = self.parts(s=s, slope=slope, top=top, dst=dst)
        t = self.totals(p=p, dst=dst, extents=extents)
        y = self.means(y=self.sums(p=p, x=x, src=src, dst=dst, extents=extents), t=t, least=torch.finfo(t.dtype).tiny)
        y = y.flatten(1) if self.concat else y.mean(1)
        return y if self.bias is None else y + self.bias


class SparseLinear(torch.nn.Module):
    """A linear layer whose matrix has few entries: ``y(b,o) = W(o,i) * x(b,i) + c(o)``.

    :param pattern: a sparse matrix of outputs × inputs, whose entries the layer has, and whose values it begins with.
    :param bias: whether ``c`` is there.
    """

    kernel = op("y(b,o) = W(o,i) * x(b,i)")

    def __init__(self, pattern: torch.Tensor | Sparse, bias: bool = True):
        super().__init__()
        made = pattern if isinstance(pattern, Sparse) else Sparse(pattern)
        self.operand, self.shape = made._operand, made.shape
        for number, indices in enumerate(made.indices):
            self.register_buffer(f"indices{number}", indices)
        self.values = torch.nn.Parameter(made.values.detach().clone())
        self.bias = torch.nn.Parameter(self.values.new_zeros(self.shape[0])) if bias else None

    @classmethod
    def random(cls, in_features: int, out_features: int, density: float, bias: bool = True) -> SparseLinear:
        """A layer with entries at random places, as many in each row, and values as those of :class:`torch.nn.Linear` with so many inputs."""
        count = max(1, round(density * in_features))
        columns = torch.rand(out_features, in_features).topk(count).indices.sort().values.flatten()
        rows = torch.arange(0, out_features * count + 1, count)
        values = (2 * torch.rand(out_features * count) - 1) / math.sqrt(count)
        return cls(torch.sparse_csr_tensor(rows, columns, values, (out_features, in_features), check_invariants=True), bias)

    @property
    def weight(self) -> Sparse:
        """The matrix, with the parameter as its values."""
        return _of(self.operand, (*self._buffers.values(), self.values), self.shape)  # type: ignore[arg-type]

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.kernel(W=self.weight, x=x.reshape(-1, x.shape[-1])).reshape(*x.shape[:-1], -1)
        return y if self.bias is None else y + self.bias


class EmbeddingBag(torch.nn.Module):
    """Sums or means of rows of a table, as :class:`torch.nn.EmbeddingBag`: ``y(b,d) = T(id(b,k),d)``.

    :param mode: ``"sum"`` or ``"mean"``.
    """

    bags = op("y(b,d) = sum(k)(w(b,k) * T(id(b,k),d))")
    kernel = op("y(bag(e),d) += w(e) * T(id(e),d)")

    def __init__(self, num_embeddings: int, embedding_dim: int, mode: str = "mean"):
        super().__init__()
        if mode not in ("sum", "mean"):
            raise ValueError(f"mode={mode!r}: it is \"sum\" or \"mean\"")
        self.mode = mode
        self.weight = torch.nn.Parameter(torch.randn(num_embeddings, embedding_dim))

    def forward(self, input: torch.Tensor, offsets: torch.Tensor | None = None, per_sample_weights: torch.Tensor | None = None) -> torch.Tensor:
        """
        :param input: rows of the table, bags × rows; or with ``offsets`` those of all bags, one after another.
        :param offsets: where each bag begins.
        :param per_sample_weights: a factor for each row.
        """
        w = self.weight.new_ones(input.shape) if per_sample_weights is None else per_sample_weights
        given: dict[str, Any] = {"T": self.weight, "id": input, "w": w}
        if input.ndim == 2:
            y = self.bags(**given)
            return y / max(input.shape[1], 1) if self.mode == "mean" else y
        if offsets is None:
            raise TypeError("offsets= is where each bag begins: it is there for an input of one mode")
        bag = torch.searchsorted(offsets, torch.arange(len(input)), right=True) - 1
        y = self.kernel(**given, bag=bag, extents={"bag": len(offsets)})
        if self.mode == "sum":
            return y
        counts = torch.diff(offsets, append=offsets.new_tensor([len(input)]))
        return y / counts.clamp_min(1)[:, None]
