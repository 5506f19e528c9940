"""Operators of torch: values and gradients beside plain torch, compiled, exported, batched."""

import pickle

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import spc  # noqa: E402
import spc.torch  # noqa: E402
from torch.autograd import gradcheck, gradgradcheck  # noqa: E402

KINDS = ["csr", "csc", "coo"]


@pytest.fixture(autouse=True)
def seed():
    torch.manual_seed(7)


def dense(*shape, grad=False):
    return torch.rand(*shape, dtype=torch.float64, requires_grad=grad)


def pattern(rows, columns, density=0.5):
    return dense(rows, columns) * (torch.rand(rows, columns) < density)


def sparse(kind, *args):
    return getattr(pattern(*args), f"to_sparse_{kind}")()


@pytest.mark.parametrize("kind", ["csr", "coo", "strided"])
def test_gradients_of_a_matrix_have_its_layout(kind):
    op = spc.torch.op("Y(i,r) = A(i,j) * X(j,r)")
    plain, X = pattern(5, 4), dense(4, 3, grad=True)
    A = plain.clone() if kind == "strided" else getattr(plain, f"to_sparse_{kind}")()
    A.requires_grad_()
    Y = op(A, X)
    torch.testing.assert_close(Y, plain @ X)
    (Y * Y).sum().backward()
    wanted = plain.clone().requires_grad_()
    other = X.detach().clone().requires_grad_()
    ((wanted @ other) ** 2).sum().backward()
    torch.testing.assert_close(X.grad, other.grad)
    assert A.grad.layout == A.layout
    mask = plain != 0 if kind != "strided" else torch.ones_like(plain)
    torch.testing.assert_close(A.grad.to_dense() if kind != "strided" else A.grad, wanted.grad * mask)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("result", ["like A", "csr"])
def test_first_and_second_gradients_of_sampled_products(kind, result):
    op = spc.torch.op("S(i,j) = A(i,j) * Q(i,k) * K(j,k)", S=result)
    A = spc.torch.Sparse(sparse(kind, 5, 4))
    values = A.values.clone().requires_grad_()

    def run(values, Q, K):
        return op(A.with_values(values), Q, K).values

    given = values, dense(5, 3, grad=True), dense(4, 3, grad=True)
    assert gradcheck(run, given)
    assert gradgradcheck(run, given)
    found = op(A, *given[1:]).to_torch().to_dense()
    torch.testing.assert_close(found, A.to_torch().to_dense() * (given[1] @ given[2].T))


@pytest.mark.parametrize("kind", KINDS)
def test_first_and_second_gradients_of_a_product(kind):
    op = spc.torch.op("Y(i,r) = A(i,j) * X(j,r)")
    A = spc.torch.Sparse(sparse(kind, 5, 4))
    given = A.values.clone().requires_grad_(), dense(4, 3, grad=True)
    assert gradcheck(lambda values, X: op(A.with_values(values), X), given)
    assert gradgradcheck(lambda values, X: op(A.with_values(values), X), given)


def test_results_with_entries_are_tensors_of_torch():
    op = spc.torch.op("S(i,j) = A(i,j) * Q(i,k) * K(j,k)", S="like A")
    A = sparse("csr", 5, 4).requires_grad_()
    S = op(A, dense(5, 3), dense(4, 3))
    assert S.layout is torch.sparse_csr and torch.equal(S.col_indices(), A.col_indices())
    S.values().sum().backward()
    assert A.grad.layout is torch.sparse_csr
    C = spc.torch.op("C(i,k) = A(i,j) * B(j,k)", C="csr")(A.detach(), sparse("csr", 4, 6))
    assert C.layout is torch.sparse_csr and C.shape == (5, 6)


def messages():
    src, dst = torch.tensor([0, 2, 1, 1, 3]), torch.tensor([1, 4, 0, 1, 1])
    op = spc.torch.op("y(dst(e),r) += w(e) * x(src(e),r)")
    return src, dst, lambda w, x: op(w=w, x=x, src=src, dst=dst, extents={"dst": 6})


def test_arrays_of_indices_beside_index_add():
    src, dst, run = messages()
    given = dense(5, grad=True), dense(4, 3, grad=True)
    w, x = given
    torch.testing.assert_close(run(*given), torch.zeros(6, 3, dtype=torch.float64).index_add(0, dst, w[:, None] * x[src]))
    assert gradcheck(run, given) and gradgradcheck(run, given)
    gather = spc.torch.op("y(e,r) = x(src(e),r)")
    torch.testing.assert_close(gather(src=src, x=x), x[src])


def test_index_arrays_that_change_are_seen():
    gather = spc.torch.op("y(e) = x(src(e))")
    src, x = torch.tensor([0, 2, 1]), dense(3)
    torch.testing.assert_close(gather(src=src, x=x), x[src])
    src[0] = 1
    torch.testing.assert_close(gather(src=src, x=x), x[src])
    src[0] = 3
    with pytest.raises(IndexError, match="src"):
        gather(src=src, x=x)


def test_several_results_numbers_and_functions():
    op = spc.torch.op("fn both(x: dense, alpha: f64) -> (y: dense, s: f64) { y(i) = alpha * exp(x(i)); s = sum(i)(x(i) * x(i)); }")
    x, alpha = dense(4, grad=True), torch.tensor(0.5, dtype=torch.float64, requires_grad=True)
    assert gradcheck(op, (x, alpha)) and gradgradcheck(op, (x, alpha))
    y, s = op(x, 2)
    torch.testing.assert_close(y, 2 * x.exp())
    assert s.shape == ()


def test_compiled_as_one_graph():
    A = spc.torch.Sparse(sparse("csr", 5, 4))
    sampled, product = spc.torch.op("S(i,j) = A(i,j) * Q(i,k) * K(j,k)", S="like A"), spc.torch.op("Y(i,r) = A(i,j) * X(j,r)")

    def loss(values, Q, K):
        return (product(sampled(A.with_values(values), Q, K), K).relu() * 2).sum()

    given = A.values.clone().requires_grad_(), dense(5, 3, grad=True), dense(4, 3, grad=True)
    wanted = torch.autograd.grad(loss(*given), given)
    compiled = torch.compile(loss, fullgraph=True, backend="aot_eager")
    for found, want in zip(torch.autograd.grad(compiled(*given), given), wanted):
        torch.testing.assert_close(found, want)


def test_compiled_with_extents_that_change():
    op = spc.torch.op("y(dst(e),r) += x(src(e),r)")
    compiled = torch.compile(lambda x, src, dst: op(x=x, src=src, dst=dst, extents={"dst": x.shape[0]}) * 2, fullgraph=True, dynamic=True,
                             backend="aot_eager")
    for count in [5, 9]:
        x, src, dst = dense(count, 3), torch.randint(0, count, (20,)), torch.randint(0, count, (20,))
        torch.testing.assert_close(compiled(x, src, dst), torch.zeros_like(x).index_add(0, dst, x[src]) * 2)


def test_compiled_with_sparse_tensors_of_torch():
    op = spc.torch.op("Y(i,r) = A(i,j) * X(j,r)")
    A, X = sparse("csr", 5, 4).requires_grad_(), dense(4, 3)
    torch.compile(lambda A, X: (op(A, X) * 2).sum(), backend="aot_eager")(A, X).backward()
    assert A.grad.layout is torch.sparse_csr


def test_export():
    op = spc.torch.op("y(dst(e),r) += x(src(e),r)")

    class Sum(torch.nn.Module):
        def forward(self, x, src, dst):
            return op(x=x, src=src, dst=dst, extents={"dst": x.shape[0]})

    given = dense(4, 3), torch.tensor([0, 1, 2]), torch.tensor([3, 3, 0])
    torch.testing.assert_close(torch.export.export(Sum(), given).module()(*given), Sum()(*given))


def test_autocast_and_vmap():
    op = spc.torch.op("Y(i,r) = A(i,j) * X(j,r)")
    A, X = torch.rand(5, 4).to_sparse_csr(), torch.rand(4, 3)
    with torch.autocast("cpu", torch.bfloat16):
        assert op(A, X.bfloat16()).dtype == torch.float32
    with pytest.raises(TypeError, match="bfloat16"):
        op(A, X.bfloat16())
    B, batch = spc.torch.Sparse(A), torch.rand(6, 4, 3)
    torch.testing.assert_close(torch.vmap(lambda X: op(B, X))(batch), A.to_dense() @ batch)


@pytest.mark.parametrize("text, shapes", [
    ("y(i) = x(2*i + k) * w(k)", {"x": (10,), "w": (3,)}),
    ("c(i + j) += a(i) * b(j)", {"a": (5,), "b": (4,)}),
    ("y(i) = sum(k)(A(i,k)) / extent(k)", {"A": (3, 4)}),
    ("fn t(A: dense, x: dense) -> y: dense { let t(i,k) = A(i,j) * A(k,j); y(k) = t(i,k) * x(i); }", {"A": (3, 4), "x": (3,)}),
    ("y = x(i)", {"x": (3,)}),
])
def test_shapes_without_a_run(text, shapes):
    op = spc.torch.op(text)
    given = {name: dense(*shape) for name, shape in shapes.items()}
    wanted = op(**given)
    with torch._subclasses.FakeTensorMode() as mode:
        found = op(**{name: mode.from_tensor(value) for name, value in given.items()})
    assert (found.shape, found.dtype) == (wanted.shape, wanted.dtype)


def test_opcheck():
    src, dst, run = messages()
    run(dense(5), dense(4, 3))
    A = spc.torch.Sparse(sparse("csr", 5, 4))
    op = spc.torch.op("Y(i,r) = A(i,j) * X(j,r)")
    op(A, dense(4, 3))
    operator = getattr(torch.ops.spc, *op._names.values()).default
    torch.library.opcheck(operator, (*A.indices, A.values.clone().requires_grad_(), dense(4, 3, grad=True), [5, 4]))


def test_refusals():
    op = spc.torch.op("y(dst(e),r) += w(e) * x(src(e),r)")
    src = torch.tensor([0, 1])
    with pytest.raises(TypeError, match="extents="):
        op(w=dense(2), x=dense(3, 2), src=src, dst=src)
    with pytest.raises(TypeError, match="array of indices"):
        op(w=dense(2), x=dense(3, 2), src=dense(2), dst=src, extents={"dst": 2})
    with pytest.raises(TypeError, match="like B"):
        spc.torch.op("S(i,j) = A(i,j) * 2", S="like B")
    with pytest.raises(TypeError, match="no sparse operand"):
        spc.torch.op("S(i,j) = A(i,j) * 2", S="like A")(dense(2, 2))
    with pytest.raises(TypeError, match="list"):
        spc.torch.op("y(i) = 2 * x(i)")([1.0])
    with pytest.raises(SyntaxError):
        spc.torch.op("y(i) = ")


def test_arrays_of_numpy_numbers_and_slices_are_taken():
    A = spc.torch.Sparse(sparse("csr", 5, 4))
    scaled = spc.torch.op("S(i,j) = c * A(i,j)", S="like A")
    torch.testing.assert_close(scaled(A=A, c=0.1).values, 0.1 * A.values, rtol=1e-15, atol=0)
    op = spc.torch.op("y(i) = 2 * x(i)")
    torch.testing.assert_close(op(np.arange(3.0)), torch.arange(3.0, dtype=torch.float64) * 2)
    torch.testing.assert_close(op(torch.arange(6.0)[::2]), torch.arange(6.0)[::2] * 2)


def test_entries_that_are_not_as_torch_says_are_refused():
    op, X = spc.torch.op("Y(i,r) = A(i,j) * X(j,r)"), dense(3, 2)
    for indices in [[[1, 0], [0, 2]], [[1, 1], [0, 0]], [[0, 1], [0, 3]]]:
        A = torch.sparse_coo_tensor(torch.tensor(indices), dense(2), (2, 3), is_coalesced=True, check_invariants=False)
        with pytest.raises(ValueError, match="`A`"):
            op(A, X)
    twice = torch.sparse_coo_tensor(torch.tensor([[1, 1], [0, 0]]), torch.ones(2, dtype=torch.float64), (2, 3)).requires_grad_()
    Y = op(twice, X)
    torch.testing.assert_close(Y[1], 2 * X[0])
    Y.sum().backward()
    csr = torch.sparse_csr_tensor(torch.tensor([0, 2, 3]), torch.tensor([2, 0, 1]), dense(3), (2, 3), check_invariants=False)
    with pytest.raises(ValueError, match="`A`"):
        op(csr, X)


@pytest.mark.parametrize("kind", KINDS)
def test_matrices_without_entries_or_rows(kind):
    op = spc.torch.op("Y(i,r) = A(i,j) * X(j,r)")
    for rows in [2, 0]:
        A, X = spc.torch.Sparse(getattr(torch.zeros(rows, 3), f"to_sparse_{kind}")()), torch.rand(3, 2, requires_grad=True)
        A = A.with_values(A.values.requires_grad_())
        Y = op(A, X)
        assert Y.shape == (rows, 2) and not Y.any()
        Y.sum().backward()
        assert not X.grad.any() and A.values.grad.shape == (0,)


def test_gradients_through_vmap_and_inference_mode():
    op, A, X = spc.torch.op("Y(i,r) = A(i,j) * X(j,r)"), spc.torch.Sparse(sparse("csr", 5, 4)), dense(6, 4, 3, grad=True)
    torch.vmap(lambda X: op(A, X))(X).sum().backward()
    torch.testing.assert_close(X.grad, A.to_torch().to_dense().sum(0)[:, None].expand(6, 4, 3))
    with torch.inference_mode():
        torch.testing.assert_close(op(A, X[0]), A.to_torch().to_dense() @ X[0])


def test_results_without_gradients():
    op = spc.torch.op("fn f(x: dense) -> (y: i64 dense, z: dense) { y(i) = argmax(j)(x(i,j)); z(i) = sum(j)(x(i,j) * x(i,j)); }")
    x = dense(3, 4, grad=True)
    y, z = op(x)
    z.sum().backward()
    assert torch.equal(y, x.argmax(1)) and not y.requires_grad
    torch.testing.assert_close(x.grad, 2 * x.detach())
    refused = spc.torch.op("y(i) *= x(i,j)")
    with pytest.raises(SyntaxError, match="E0133"):
        refused(x).sum().backward()


def test_operators_are_pickled():
    op = spc.torch.op("S(i,j) = A(i,j) * x(i)", S="like A")
    A, x = sparse("csr", 5, 4), dense(5)
    op(A, x)
    made = pickle.loads(pickle.dumps(op))
    assert made._names == {}
    torch.testing.assert_close(made(A, x).values(), op(A, x).values())
