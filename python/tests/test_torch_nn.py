"""Layers beside plain torch: values, and gradients by parameters and inputs."""

import runpy
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

import spc.torch  # noqa: E402

nn = spc.torch.nn


@pytest.fixture(autouse=True)
def double():
    torch.manual_seed(3)
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


def agree(layer, plain, *inputs):
    """Compares values, and gradients of a sum with some weights, of a layer and of plain torch."""
    by = [*layer.parameters(), *(each for each in inputs if isinstance(each, torch.Tensor) and each.requires_grad)]
    found, wanted = layer(*inputs), plain(*inputs)
    torch.testing.assert_close(found, wanted)
    weights = torch.rand_like(wanted)
    for got, want in zip(torch.autograd.grad((found * weights).sum(), by), torch.autograd.grad((wanted * weights).sum(), by)):
        torch.testing.assert_close(got, want)


def graph(vertices=7, edges=20):
    return torch.randint(0, vertices, (2, edges))


def test_spmm_and_sddmm():
    D = torch.rand(5, 4) * (torch.rand(5, 4) < 0.5)
    A = spc.torch.Sparse(D.to_sparse_csr())
    X, Q = torch.rand(4, 3, requires_grad=True), torch.rand(5, 3, requires_grad=True)
    agree(nn.SpMM(), lambda A, X: D @ X, A, X)
    S = nn.SDDMM()(A, Q, X)
    torch.testing.assert_close(S.to_torch().to_dense(), D * (Q @ X.T))
    assert nn.SDDMM()(D.to_sparse_coo(), Q, X).layout is torch.sparse_coo


@pytest.mark.parametrize("weighted", [False, True])
def test_gcn(weighted):
    edges, x = graph(), torch.rand(7, 3, requires_grad=True)
    weight = torch.rand(20, requires_grad=True) if weighted else None
    layer = nn.GCNConv(3, 4)

    def plain(x, edges, weight):
        A = torch.eye(7).index_put((edges[1], edges[0]), torch.ones(20) if weight is None else weight, accumulate=True)
        s = A.sum(1).rsqrt()
        return s[:, None] * (A @ (s[:, None] * (x @ layer.weight))) + layer.bias

    agree(layer, plain, x, edges, weight)


@pytest.mark.parametrize("heads, concat", [(1, True), (3, True), (2, False)])
def test_gat(heads, concat):
    # A vertex that no edge leads to, and an edge that is there twice.
    edges, x = torch.cat([graph(6), torch.tensor([[1, 1, 6], [2, 2, 0]])], 1), torch.rand(7, 3, requires_grad=True)
    layer = nn.GATConv(3, 4, heads=heads, concat=concat)

    def plain(x, edges):
        y = (x @ layer.weight).unflatten(1, (heads, 4))
        s = torch.nn.functional.leaky_relu((y * layer.attention_to).sum(-1)[edges[1]] + (y * layer.attention_from).sum(-1)[edges[0]], 0.2)
        p = torch.zeros_like(s)
        for vertex in range(7):
            p = torch.where((edges[1] == vertex)[:, None], s.masked_fill((edges[1] != vertex)[:, None], -torch.inf).softmax(0), p)
        out = torch.zeros(7, heads, 4).index_add(0, edges[1], p[..., None] * y[edges[0]])
        return (out.flatten(1) if concat else out.mean(1)) + layer.bias

    agree(layer, plain, x, edges)


def test_scores_of_any_size_are_finite():
    edges, x = torch.stack([torch.arange(5).repeat(5), torch.arange(5).repeat_interleave(5)]), 1e4 * torch.rand(5, 3).float()
    layer = nn.GATConv(3, 4, heads=2).float()
    y = layer(x, edges)
    y.sum().backward()
    assert y.isfinite().all() and all(parameter.grad.isfinite().all() for parameter in layer.parameters())


@pytest.mark.parametrize("shape", [(6,), (4, 6), (2, 3, 6)])
def test_sparse_linear(shape):
    layer = nn.SparseLinear.random(6, 5, 0.5)
    assert len(layer.values) == 15
    x = torch.rand(shape, requires_grad=True)

    def plain(x):
        rows = torch.arange(5).repeat_interleave(3)
        W = torch.zeros(5, 6).index_put((rows, layer.weight.indices[1]), layer.values)
        return x @ W.T + layer.bias

    agree(layer, plain, x)


@pytest.mark.parametrize("mode", ["sum", "mean"])
@pytest.mark.parametrize("weighted", [False, True])
def test_embedding_bag(mode, weighted):
    if mode == "mean" and weighted:
        pytest.skip("torch has weights for sums only")
    layer = nn.EmbeddingBag(9, 4, mode)
    bags = torch.randint(0, 9, (5, 3))
    flat, offsets = torch.randint(0, 9, (8,)), torch.tensor([0, 2, 2, 5])

    def plain(input, offsets, weights):
        return torch.nn.functional.embedding_bag(input, layer.weight, offsets, mode=mode, per_sample_weights=weights)

    def weights(like):
        return torch.rand(like.shape, requires_grad=True) if weighted else None

    agree(layer, plain, bags, None, weights(bags))
    agree(layer, plain, flat, offsets, weights(flat))


def test_layers_are_compiled_as_one_graph_and_learn():
    edges, x, target = graph(7, 30), torch.rand(7, 3), torch.rand(7, 4)
    first, second = nn.GCNConv(3, 8), nn.GATConv(8, 4)
    model = torch.compile(lambda x: second(torch.relu(first(x, edges)), edges), fullgraph=True, backend="aot_eager")
    optimizer = torch.optim.Adam([*first.parameters(), *second.parameters()], lr=0.02)
    losses = []
    for _ in range(30):
        loss = ((model(x) - target) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(float(loss.detach()))
    assert losses[-1] < losses[0] / 2


def test_what_the_guide_shows():
    pytest.importorskip("jax")
    examples = Path(__file__).parent.parent / "examples" / "frameworks.py"
    if not examples.exists():
        pytest.skip("the examples are not beside the tests")
    torch.set_default_dtype(torch.float32)
    runpy.run_path(str(examples))
