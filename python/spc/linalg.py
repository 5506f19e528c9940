"""Solving with sparse matrices: triangular solves, incomplete factorizations, and Krylov methods.

>>> import numpy as np, scipy.sparse, spc
>>> from spc import linalg
>>> A = scipy.sparse.diags_array([-1.0, 4.0, -1.0], offsets=[-1, 0, 1], shape=(100, 100), format="csr")
>>> x, info = linalg.cg(A, np.ones(100), M=linalg.ic(A))
>>> info, bool(np.allclose(A @ x, 1, atol=1e-4))
(0, True)

Names and arguments are those of ``scipy.sparse.linalg``. Matrices are what :func:`spc.tensor` takes.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ._array import Array, tensor
from ._kernel import Kernel, kernel

__all__ = ["Incomplete", "Solution", "aslinearoperator", "bicgstab", "cg", "gmres", "ic", "ilu", "spsolve_triangular"]


def aslinearoperator(matrix: Any) -> Any:
    """A matrix as a ``scipy.sparse.linalg.LinearOperator``: products with vectors and matrices from both sides are compiled kernels.

    :param matrix: a matrix that :func:`spc.tensor` takes, of shape ``(m, n)``; its indices are checked once. Solvers take an
        :class:`spc.Array` as it is, too.
    """
    from scipy.sparse.linalg import LinearOperator

    a = tensor(matrix)
    if a.ndim != 2:
        raise ValueError(f"an operator is a matrix, and the tensor has {a.ndim} modes")
    dtype = a.dtype if a.dtype.kind in "fc" else np.dtype(np.float64)
    return LinearOperator(a.shape, dtype=dtype, matvec=a.matvec, rmatvec=a.rmatvec, matmat=a.matmat, rmatmat=a.rmatmat)


def spsolve_triangular(A: Any, b: Any, lower: bool = True, unit_diagonal: bool = False) -> np.ndarray:
    """The solution ``x`` of ``A @ x = b`` for a triangular matrix, as ``scipy.sparse.linalg.spsolve_triangular`` gives it.

    :param A: a sparse matrix that :func:`spc.tensor` takes, of shape ``(n, n)``. Only the triangle is read, whatever is stored beside it.
    :param b: right-hand sides, of shape ``(n,)`` or ``(n, m)``.
    :param lower: whether the triangle is the lower one.
    :param unit_diagonal: whether the diagonal is ones, and is not read.
    :returns: an array of the shape of ``b``.
    :raises ValueError: where a number on the diagonal is zero or not stored; the message names its place.
    """
    a = _square(A)
    b = _sides(b, a.shape[0])
    dtype = _real(a.dtype, b.dtype)
    a = a if a.dtype == dtype else a.astype(dtype)
    return _triangular(b.ndim, bool(lower), bool(unit_diagonal))(A=a, b=b.astype(dtype, copy=False))


@functools.lru_cache(maxsize=8)
def _triangular(order: int, lower: bool, unit_diagonal: bool) -> Kernel:
    column, comes_before = ("", ", r")[order - 1], "<" if lower else ">"
    rest = f"b(i{column}) - sum(j)(A(i, j) * x(j{column}) where j {comes_before} i)"
    return kernel(f"x(i{column}) = {rest}" if unit_diagonal else f"x(i{column}) = ({rest}) / A(i, i)", A="csr")


# Incomplete factorizations.


class Incomplete:
    """A matrix that is almost ``A``, and that one can solve with: what :func:`ilu` and :func:`ic` give.

    It is ``tril(F) @ diag(1 / d) @ triu(F)``, where ``F`` is :attr:`factors` and ``d`` its diagonal, and has entries where ``A`` has.
    ``M @ b`` and ``M.solve(b)`` solve with it: so it is the ``M`` of solvers here, and of those of SciPy.
    """

    def __init__(self, factors: Array):
        #: Both triangles, with one diagonal: a matrix in rows.
        self.factors = factors
        self.shape, self.dtype, self.ndim = factors.shape, factors.dtype, 2

    def solve(self, b: Any) -> np.ndarray:
        """The solution of two triangular systems.

        :param b: right-hand sides, of shape ``(n,)`` or ``(n, m)``.
        :returns: an array of the shape of ``b``.
        :raises ValueError: where a number on the diagonal is zero or not stored; the message names its place.
        """
        b = _sides(b, self.shape[0])
        factors, dtype = self.factors, _real(self.dtype, b.dtype)
        factors = factors if factors.dtype == dtype else factors.astype(dtype)
        return _solve(b.ndim, _ELEMENTS[dtype.char])(F=factors, b=b.astype(dtype, copy=False))

    matvec = matmat = __matmul__ = solve

    def __repr__(self) -> str:
        return f"<Incomplete factorization, {self.shape[0]} x {self.shape[1]} with {self.factors.nnz} entries of {self.dtype}>"


def ilu(A: Any) -> Incomplete:
    """The incomplete factorization of ``A`` into triangles that have entries where ``A`` has: ILU(0).

    It is the line ``F(i, j) = A(i, j) - sum(k)(F(i, k) * F(k, j) / F(k, k) where k < i && k < j) where A(i, j)``.

    :param A: a sparse matrix that :func:`spc.tensor` takes, of shape ``(n, n)``.
    :raises ValueError: where a pivot is zero or not stored; the message names its place.
    """
    a = _square(A)
    a = a.astype(_real(a.dtype))
    factors = _factors("k < i && k < j", "F(k, j)")(A=a)
    zero = np.flatnonzero(factors.diagonal().to_numpy() == 0)
    if len(zero):
        raise ValueError(f"the pivot of row {zero[0]} is zero or not stored; another order of rows and columns may help")
    return Incomplete(factors)


def ic(A: Any, shift: float = 0.0) -> Incomplete:
    """The incomplete Cholesky factorization of a symmetric matrix, IC(0): half of the work of :func:`ilu`.

    :param A: a sparse matrix that :func:`spc.tensor` takes, of shape ``(n, n)``, real and positive definite. The lower triangle is read.
    :param shift: the diagonal is multiplied by ``1 + shift`` first, which makes a factorization possible where it is not.
    :raises ValueError: where a pivot is not positive; the message names its place.
    """
    a = _square(A)
    if a.dtype.kind == "c":
        raise ValueError(f"the matrix of ic() is real, and here {a.dtype}; ilu() takes complex ones")
    a = _triangle("j <= i")(A=a.astype(_real(a.dtype)), shift=float(shift))
    lower = _factors("k < j && j <= i", "F(j, k)")(A=a)
    diagonal = lower.diagonal().to_numpy()
    bad = np.flatnonzero(~(diagonal > 0))
    if len(bad):
        message = f"the pivot of row {bad[0]} is {diagonal[bad[0]]}, and those of a positive definite matrix are positive"
        raise ValueError(f"{message}; ic(A, shift=0.01) makes the diagonal larger")
    return Incomplete(lower + _triangle("j < i")(A=lower, shift=0.0).T)


@functools.lru_cache(maxsize=4)
def _factors(before: str, other: str) -> Kernel:
    factor = f"F(i, j) = A(i, j) - sum(k)(F(i, k) * {other} / F(k, k) where {before}) where A(i, j)"
    return kernel(factor, A="csr", F="csr")


@functools.lru_cache(maxsize=4)
def _triangle(condition: str) -> Kernel:
    scaled = "A(i, j) * select(i == j, 1 + shift, 1)"
    return kernel(f"T(i, j) = {scaled} where A(i, j) && {condition}", A="csr", T="csr")


# How the notation calls the types that solvers compute with, by NumPy's letters.
_ELEMENTS = {"f": "f32", "d": "f64", "F": "c32", "D": "c64"}


@functools.lru_cache(maxsize=8)
def _solve(order: int, element: str) -> Kernel:
    column = ("", ", r")[order - 1]
    return kernel(f"""fn solve(F: {element} csr, b: {element} dense) -> x: {element} dense {{
        let y(i{column}) = (b(i{column}) - sum(j)(F(i, j) * y(j{column}) where j < i)) / F(i, i);
        x(i{column}) = y(i{column}) - sum(j)(F(i, j) * x(j{column}) where j > i) / F(i, i);
    }}""")


# Krylov methods.


class Solution(tuple[np.ndarray, int]):
    """What a method has found: ``x, info = cg(A, b)``, as from SciPy.

    ``info`` is 0 where the residual is as small as it was asked to be, the number of iterations where it is not, and -1 where the method
    broke down.
    """

    history: np.ndarray
    message: str

    def __new__(cls, x: np.ndarray, info: int, history: np.ndarray, message: str) -> Solution:
        made = super().__new__(cls, (x, info))
        #: The norm of the residual at first, and after each iteration.
        made.history = history
        #: How it ended.
        made.message = message
        return made

    def __getnewargs__(self) -> Any:
        return (*self, self.history, self.message)

    @property
    def x(self) -> np.ndarray:
        """The solution, or the last approximation."""
        return self[0]

    @property
    def info(self) -> int:
        """0 where it converged."""
        return self[1]

    def plot(self, axes: Any = None) -> Any:
        """Draws the norm of the residual by iterations, with a logarithmic axis, into axes of matplotlib's; gives them."""
        if axes is None:
            from matplotlib import pyplot

            axes = pyplot.figure().subplots()
        axes.semilogy(self.history)
        axes.set_xlabel("iteration")
        axes.set_ylabel("norm of the residual")
        return axes

    def __repr__(self) -> str:
        return f"<Solution: {self.message}>"


_Apply = Callable[[np.ndarray], np.ndarray]
# After each iteration, a method gives the norm of the residual, and how to form the approximation.
_Steps = Iterator[tuple[float, Callable[[], np.ndarray]]]


def cg(A: Any, b: Any, x0: Any = None, *, rtol: float = 1e-5, atol: float = 0.0, maxiter: int | None = None, M: Any = None,
       callback: Callable[[np.ndarray], Any] | None = None) -> Solution:
    """Solves ``A @ x = b`` for a symmetric (Hermitian) positive definite matrix by conjugate gradients.

    :param A: a matrix that :func:`spc.tensor` takes, or what has ``A @ x``, of shape ``(n, n)``.
    :param b: the right-hand side, of shape ``(n,)``.
    :param x0: where to begin, of shape ``(n,)``: zeros without it.
    :param rtol: the norm of ``b - A @ x`` shall be at most this part of the norm of ``b``,
    :param atol: or at most this.
    :param maxiter: the most iterations: ``10 * n`` without it.
    :param M: what almost solves with ``A``, as :func:`ic` gives it: what has ``M @ r``.
    :param callback: is called with ``x`` after each iteration.
    """
    return _solved(_cg, A, b, x0, rtol, atol, maxiter, M, callback)


def bicgstab(A: Any, b: Any, x0: Any = None, *, rtol: float = 1e-5, atol: float = 0.0, maxiter: int | None = None, M: Any = None,
             callback: Callable[[np.ndarray], Any] | None = None) -> Solution:
    """Solves ``A @ x = b`` for any square matrix by stabilized biconjugate gradients.

    The arguments are those of :func:`cg`; an ``M`` is what :func:`ilu` gives. An iteration has two products with ``A``.
    """
    return _solved(_bicgstab, A, b, x0, rtol, atol, maxiter, M, callback)


def gmres(A: Any, b: Any, x0: Any = None, *, rtol: float = 1e-5, atol: float = 0.0, restart: int = 20, maxiter: int | None = None,
          M: Any = None, callback: Callable[[np.ndarray], Any] | None = None) -> Solution:
    """Solves ``A @ x = b`` for any square matrix by generalized minimal residuals, begun anew after ``restart`` iterations.

    The arguments are those of :func:`cg`; an ``M`` is what :func:`ilu` gives. An iteration is one product with ``A``, and ``maxiter`` is the
    most of them. ``2 * restart`` vectors are kept.
    """
    if restart < 1:
        raise ValueError(f"restart={restart}: one vector at least is kept")
    return _solved(functools.partial(_gmres, restart=restart), A, b, x0, rtol, atol, maxiter, M, callback)


def _solved(method: Callable[[_Apply, _Apply, np.ndarray, np.ndarray], _Steps], A: Any, b: Any, x0: Any, rtol: float, atol: float,
            maxiter: int | None, M: Any, callback: Callable[[np.ndarray], Any] | None) -> Solution:
    """Runs a method until the residual is small, there are too many iterations, or it breaks down."""
    a = A if hasattr(A, "shape") and hasattr(A, "__matmul__") and not hasattr(A, "nnz") and not isinstance(A, np.ndarray) else _square(A)
    b = np.asarray(b)
    if b.shape != a.shape[:1]:
        raise ValueError(f"the right-hand side has the shape {tuple(a.shape[:1])}, and here {b.shape}")
    dtype = _real(a.dtype, b.dtype, *(() if x0 is None else (np.asarray(x0).dtype,)))
    if isinstance(a, Array) and a.dtype != dtype:
        a = a.astype(dtype)
    b = b.astype(dtype, copy=False)
    x = np.zeros_like(b) if x0 is None else np.array(x0, dtype)
    if x.shape != b.shape:
        raise ValueError(f"x0 has the shape {b.shape}, and here {x.shape}")
    most = 10 * len(b) if maxiter is None else maxiter
    threshold = max(rtol * float(np.linalg.norm(b)), atol)
    steps = method(_product(a), _preconditioner(M), b, x)
    history: list[float] = []
    info, message, approximation = -1, "", lambda: x
    with np.errstate(all="ignore"):
        for norm, form in steps:
            history.append(norm)
            number = len(history) - 1
            if not np.isfinite(norm):
                message = f"the residual is {norm} after {number} iterations"
                break
            approximation = form
            if callback is not None and number > 0:
                callback(form())
            if norm <= threshold:
                info, message = 0, f"converged in {number} iterations: the residual is {norm:.3g}"
                break
            if number >= most:
                info, message = number, f"not converged in {number} iterations: the residual is {norm:.3g}, and should be {threshold:.3g}"
                break
        else:
            message = f"broke down after {len(history) - 1} iterations: the residual is {history[-1]:.3g}"
        return Solution(approximation(), info, np.array(history), message)


def _product(a: Any) -> _Apply:
    """Products with a matrix."""
    if not isinstance(a, Array):
        return lambda x: a @ x
    multiply = _spmv()
    return lambda x: multiply(A=a, x=x)


@functools.lru_cache(maxsize=1)
def _spmv() -> Kernel:
    return kernel("y(i) = A(i, j) * x(j)")


def _preconditioner(given: Any) -> _Apply:
    if given is None:
        return lambda r: r
    if hasattr(given, "__matmul__"):
        return lambda r: given @ r
    if hasattr(given, "matvec"):
        return given.matvec
    raise TypeError(f"M is what has M @ r, as ilu() and ic() give it, and {type(given).__name__} has not")


def _norm(r: np.ndarray) -> float:
    return float(np.sqrt(np.vdot(r, r).real))


def _cg(apply: _Apply, precondition: _Apply, b: np.ndarray, x: np.ndarray) -> _Steps:
    r = b - apply(x) if x.any() else b.copy()
    yield _norm(r), lambda: x
    z = precondition(r)
    p, scaled = z.copy(), np.empty_like(r)
    rho = np.vdot(r, z)
    while rho != 0:
        q = apply(p)
        along = np.vdot(p, q)
        if along == 0:
            return
        x += np.multiply(p, rho / along, out=scaled)
        r -= np.multiply(q, rho / along, out=scaled)
        yield _norm(r), lambda: x
        z = precondition(r)
        rho, before = np.vdot(r, z), rho
        p *= rho / before
        p += z


def _bicgstab(apply: _Apply, precondition: _Apply, b: np.ndarray, x: np.ndarray) -> _Steps:
    r = b - apply(x) if x.any() else b.copy()
    yield _norm(r), lambda: x
    shadow, p = r.copy(), r.copy()
    rho = np.vdot(shadow, r)
    while rho != 0:
        direction = precondition(p)
        v = apply(direction)
        along = np.vdot(shadow, v)
        if along == 0:
            return
        alpha = rho / along
        r = r - alpha * v
        correction = precondition(r)
        t = apply(correction)
        length = np.vdot(t, t)
        # Where nothing is left, there is nothing to correct.
        omega = np.vdot(t, r) / length if length != 0 else 0.0
        x += alpha * direction
        x += omega * correction
        r -= omega * t
        yield _norm(r), lambda: x
        if omega == 0:
            return
        rho, before = np.vdot(shadow, r), rho
        p -= omega * v
        p *= rho / before * alpha / omega
        p += r


def _gmres(apply: _Apply, precondition: _Apply, b: np.ndarray, x: np.ndarray, restart: int) -> _Steps:
    most = max(min(restart, len(b)), 1)
    r = b - apply(x) if x.any() else b.copy()
    norm = _norm(r)
    yield norm, lambda: x
    basis = np.empty((most + 1, len(b)), b.dtype)
    preconditioned = np.empty((most, len(b)), b.dtype)
    while norm != 0:
        basis[0] = r / norm
        # Of the upper triangle that rotations make of the Hessenberg matrix, and of the right-hand side.
        triangle, side = np.zeros((most, most), b.dtype), np.zeros(most + 1, b.dtype)
        side[0] = norm
        rotations: list[tuple[Any, Any]] = []
        count = 0
        while count < most:
            preconditioned[count] = precondition(basis[count])
            w = apply(preconditioned[count])
            size = _norm(w)
            known = basis[:count + 1]
            column = np.conj(known @ np.conj(w))
            w = w - column @ known
            # Once more, for what rounding has left.
            again = np.conj(known @ np.conj(w))
            w -= again @ known
            remaining = _norm(w)
            # What rounding has left is nothing.
            column = np.append(column + again, remaining if remaining > 10 * np.finfo(b.dtype).eps * size else 0.0)
            for place, (cosine, sine) in enumerate(rotations):
                one, other = column[place], column[place + 1]
                column[place], column[place + 1] = cosine * one + sine * other, -np.conj(sine) * one + cosine * other
            one, length = column[count], np.hypot(abs(column[count]), abs(column[count + 1]))
            if length <= 10 * np.finfo(b.dtype).eps * size:
                return
            phase = one / abs(one) if one != 0 else 1.0
            cosine, sine = abs(one) / length, phase * np.conj(column[count + 1]) / length
            rotations.append((cosine, sine))
            is_last = column[count + 1] == 0
            column[count] = phase * length
            triangle[:count + 1, count] = column[:count + 1]
            side[count + 1] = -np.conj(sine) * side[count]
            side[count] = cosine * side[count]
            if not is_last:
                basis[count + 1] = w / remaining
            count += 1
            form = functools.partial(_combined, x, preconditioned, triangle, side, count)
            yield float(abs(side[count])), form
            if is_last:
                break
        x += form() - x
        r = b - apply(x)
        norm = _norm(r)


def _combined(x: np.ndarray, directions: np.ndarray, triangle: np.ndarray, side: np.ndarray, count: int) -> np.ndarray:
    """The approximation with the least residual among combinations of directions."""
    weights = np.linalg.solve(triangle[:count, :count], side[:count])
    return x + weights @ directions[:count]


def _square(A: Any) -> Array:
    a = tensor(A)
    if a.ndim != 2 or a.shape[0] != a.shape[1]:
        raise ValueError(f"the matrix is square, and its shape is {a.shape}")
    return a


def _sides(b: Any, extent: int) -> np.ndarray:
    b = np.asarray(b)
    if b.ndim not in (1, 2) or b.shape[0] != extent:
        raise ValueError(f"right-hand sides have the shape ({extent},) or ({extent}, m), and here {b.shape}")
    return b


def _real(*dtypes: Any) -> np.dtype:
    """The type to divide in: integers are `float64`."""
    dtype = np.result_type(*dtypes)
    return dtype if dtype.kind in "fc" else np.dtype(np.float64)
