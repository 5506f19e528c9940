"""Random kernels with a `repeat`, beside NumPy; and what is refused."""

import numpy as np
import pytest
import scipy.sparse

import spc


class Generator:
    """A kernel as text, and the same as lines of NumPy."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.n = int(self.rng.integers(2, 8))
        self.A = scipy.sparse.csr_array(
            scipy.sparse.random_array((self.n, self.n), density=0.5, rng=self.rng, data_sampler=self.rng.standard_normal)
        )
        count = int(self.rng.integers(1, 4))
        kinds = ["let", "result", "parameter"]
        self.carried = {f"v{place}": kinds[self.rng.integers(3)] for place in range(count)}
        self.lets = 0

    def pick(self, choices):
        return choices[self.rng.integers(len(choices))]

    def term(self, vectors, scalars):
        """A vector of (text, NumPy), of vectors that are there by now: names in the text, and in NumPy."""
        text, value = self.pick(vectors)
        other, its = self.pick(vectors)
        choice = self.rng.integers(7)
        if choice == 0:
            return f"0.4 * A(i, j) * {text}(j)", f"0.4 * (A @ {value})"
        if choice == 1:
            return f"0.4 * sum(j)(A(j, i) * {text}(j))", f"0.4 * (A.T @ {value})"
        if choice == 2:
            return f"0.5 * {text}(i) - 0.3 * {other}(i)", f"0.5 * {value} - 0.3 * {its}"
        if choice == 3:
            return f"max({text}(i), 0.5 * {other}(i))", f"np.maximum({value}, 0.5 * {its})"
        if choice == 4 and scalars:
            scalar, number = self.pick(scalars)
            return f"{text}(i) / (1 + abs({scalar}))", f"{value} / (1 + abs({number}))"
        if choice == 5:
            return f"select({text}(i) < {other}(i), {text}(i), b(i))", f"np.where({value} < {its}, {value}, b)"
        return f"0.25 * ({text}(i) + b(i)) where i > 0", f"np.where(np.arange(n) > 0, 0.25 * ({value} + b), 0)"

    def kernel(self):
        before, inside, after, lines = [], [], [], []
        parameters, results, starts = ["A: csr", "b: dense"], [], []
        for name, kind in self.carried.items():
            factor = self.rng.integers(1, 4)
            if kind == "parameter":
                parameters.append(f"{name}: dense")
                starts.append(f"{name} = {name}_given")
            else:
                if kind == "result":
                    results.append(f"{name}: dense")
                before.append(("let " if kind == "let" else "") + f"{name}(i) = {factor} * b(i)")
                starts.append(f"{name} = {factor} * b")
        inside.append("let seen = sum(i)(" + " + ".join(f"{name}(i)" for name in self.carried) + ")")
        lines.append("seen = " + " + ".join(f"{name}.sum()" for name in self.carried))
        vectors, scalars = [(name, name) for name in self.carried] + [("b", "b")], [("seen", "seen")]
        for name in self.rng.permutation(list(self.carried)):
            while self.rng.random() < 0.4:
                self.lets += 1
                let = f"t{self.lets}"
                if self.rng.random() < 0.4:
                    text, value = self.pick(vectors)
                    inside.append(f"let {let} = sum(i)(0.1 * {text}(i))")
                    lines.append(f"{let} = np.sum(0.1 * {value})")
                    scalars.append((let, let))
                else:
                    text, value = self.term(vectors, scalars)
                    inside.append(f"let {let}(i): dense = {text}")
                    lines.append(f"{let} = {value}")
                    vectors.append((let, let))
            text, value = self.term(vectors, scalars)
            spelt = f"next {name}" if self.rng.random() < 0.3 else f"{name}'"
            inside.append(f"{spelt}(i) = {text}")
            lines.append(f"{name}_next = {value}")
            vectors.append((f"{name}'", f"{name}_next"))
        name = self.pick(list(self.carried))
        rounds = int(self.rng.integers(1, 7))
        rule, holds = self.pick(
            [
                ("", "False"),
                (f"until sum(i)(abs({name}'(i) - {name}(i))) < 0.2 or ", f"np.abs({name}_next - {name}).sum() < 0.2"),
                (f"until sum(i)({name}(i)) > sum(i)({name}'(i)) or ", f"{name}.sum() > {name}_next.sum()"),
                (f"until all(i)({name}'(i) >= {name}(i)) or ", f"np.all({name}_next >= {name})"),
                ("until rounds >= 2 or ", "rounds >= 2"),
            ]
        )
        results += ["s: f64", "rounds: i64"]
        # All of what the last round has made, too.
        made = [*self.carried, *(name for name, _ in vectors if name.startswith("t"))]
        total = " + ".join(["sum(i, j)(A(i, j) * b(j))", *(name for name, _ in scalars)])
        after.append("s = sum(i)(" + " + ".join(f"{name}(i)" for name in made) + f") + {total}")
        self.sums, self.scalars = made, [name for name, _ in scalars]
        body = "".join(f"    {line};\n" for line in before)
        body += f"    repeat rounds {rule}{rounds} {{\n" + "".join(f"        {line};\n" for line in inside) + "    }\n"
        body += "".join(f"    {line};\n" for line in after)
        text = f"fn f({', '.join(parameters)}) -> ({', '.join(results)}) {{\n{body}}}\n"
        program = "\n".join(starts) + f"\nrounds = 0\nfor _ in range({rounds}):\n"
        program += "".join(f"    {line}\n" for line in lines) + f"    holds = {holds}\n    rounds += 1\n"
        program += "".join(f"    {name} = {name}_next\n" for name in self.carried) + "    if holds: break\n"
        return text, program, [result.split(":")[0] for result in results]


@pytest.mark.parametrize("seed", range(40))
def test_random_repeats_as_numpy(seed):
    generator = Generator(seed)
    text, program, results = generator.kernel()
    b = generator.rng.standard_normal(generator.n)
    given = {name: generator.rng.standard_normal(generator.n) for name in generator.carried}
    scope = {"np": np, "A": generator.A.toarray(), "b": b, "n": generator.n}
    scope |= {f"{name}_given": value for name, value in given.items()}
    exec(program, scope)
    scope["s"] = (scope["A"] @ b).sum() + sum(scope[name] for name in generator.scalars)
    scope["s"] += sum(scope[name].sum() for name in generator.sums)
    parameters = [given[name] for name, kind in generator.carried.items() if kind == "parameter"]
    kernel = spc.kernel(text)
    for _ in range(2):
        found = kernel(generator.A, b, *parameters)
        for name, value in zip(results, found, strict=True):
            np.testing.assert_allclose(value, scope[name], atol=1e-9, err_msg=f"{name} of\n{text}\n{program}")
    for name, value in given.items():
        assert value is given[name]


def test_inputs_stay_what_they_are():
    kernel = spc.kernel("fn f(x: dense) -> y: dense { repeat 5 { y(i) = 2 * x(i); x' = y; } }")
    x = np.ones(100_000)
    assert kernel(x)[0] == 32 and np.all(x == 1)


def test_memory_does_not_grow_with_rounds():
    kernel = spc.kernel(
        "fn f(x: dense, n: dense) -> y: dense { y(i) = x(i); repeat 400 { let t(i): dense = y(i) + n(i); y'(i) = t(i) / 2; } }"
    )
    x = np.ones(1_000_000)
    kernel(x, x)
    import resource

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    kernel(x, x)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64_000


def test_nan_ends_with_an_error():
    kernel = spc.kernel("fn f(x: f64) -> y: f64 { y = x; repeat until y' < 1e-9 or 50 { y' = (y - y) / (y - y); } }")
    with pytest.raises(ValueError, match="NaN after step 1"):
        kernel(1.0)


def test_shapes_that_do_not_fit_are_refused():
    kernel = spc.kernel("fn f(A: csr, x: dense) -> y: dense { repeat 3 { y(i) = A(i, j) * x(j); x' = y; } }")
    with pytest.raises((spc.SpcError, ValueError), match="extent"):
        kernel(scipy.sparse.csr_array(np.ones((3, 4))), np.ones(4))
