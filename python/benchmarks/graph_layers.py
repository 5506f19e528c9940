"""Layers of graph networks, forward and backward, beside plain torch and PyTorch Geometric, in one run.

`python benchmarks/graph_layers.py [--vertices N] [--edges E] [--features F] [--repeat N] [--only NAME]`: a table of milliseconds of a forward
and a backward pass (the median), and of the memory that the process takes at most beyond libraries and inputs, f32, on two threads. Each line
is a process of its own, which is warm: of spc, the Rust compiler has made its kernels. *torch CSR* is `torch.sparse.mm`, *torch* gathers rows
and adds them with `index_add`. Libraries that are not there are left out.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import importlib
import importlib.util
import json
import statistics
import subprocess
import sys
import time
import warnings
from typing import Any, Callable

HEADS = 4

Step = Callable[[], None]


def status(name: str) -> float:
    """Megabytes that the system says of this process: ``VmRSS`` now, ``VmHWM`` at most."""
    with open("/proc/self/status") as told:
        return next(int(line.split()[1]) * 1024 / 1e6 for line in told if line.startswith(name))


def settled() -> float:
    """Megabytes that this process has now, from which on the most are counted."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    with open("/proc/self/clear_refs", "w") as reset:
        reset.write("5")
    return status("VmRSS")


class Inputs:
    def __init__(self, vertices: int, edges: int, features: int):
        import torch
        torch.manual_seed(1)
        self.vertices, self.features = vertices, features
        places = torch.unique(torch.randint(0, vertices * vertices, (edges,)))
        # In the order of what edges lead to, as of a matrix in CSR.
        self.dst, self.src = places // vertices, places % vertices
        self.edges = torch.stack([self.src, self.dst])
        rows = torch.searchsorted(self.dst.contiguous(), torch.arange(vertices + 1))
        self.w = torch.rand(len(places))
        self.csr = torch.sparse_csr_tensor(rows, self.src, self.w, (vertices, vertices), check_invariants=True)
        self.x = torch.randn(vertices, features, requires_grad=True)
        self.dy = torch.randn(vertices, features)


def trained(run: Callable[..., Any], given: Inputs, *by: Any) -> Step:
    import torch

    def step() -> None:
        torch.autograd.grad(run(), by, given.dy)
    return step


def spmm_spc(given: Inputs, by_values: bool) -> Step:
    import spc.torch
    A = spc.torch.Sparse(given.csr)
    w = given.w.requires_grad_(by_values)
    layer = spc.torch.nn.SpMM()
    return trained(lambda: layer(A.with_values(w), given.x), given, *([w] if by_values else []), given.x)


def spmm_csr(given: Inputs, by_values: bool) -> Step:
    import torch
    A = given.csr.requires_grad_(by_values)
    return trained(lambda: torch.sparse.mm(A, given.x), given, *([A] if by_values else []), given.x)


def messages_spc(given: Inputs, by_values: bool) -> Step:
    import spc.torch
    op = spc.torch.op("y(dst(e),r) += w(e) * x(src(e),r)")
    w = given.w.requires_grad_(by_values)
    extents = {"dst": given.vertices}
    return trained(lambda: op(w=w, x=given.x, src=given.src, dst=given.dst, extents=extents), given, *([w] if by_values else []), given.x)


def messages_torch(given: Inputs, by_values: bool) -> Step:
    import torch
    w = given.w.requires_grad_(by_values)

    def run() -> Any:
        return torch.zeros(given.vertices, given.features).index_add(0, given.dst, w[:, None] * given.x[given.src])
    return trained(run, given, *([w] if by_values else []), given.x)


def gcn_spc(given: Inputs) -> Step:
    import spc.torch
    layer = spc.torch.nn.GCNConv(given.features, given.features)
    return trained(lambda: layer(given.x, given.edges), given, given.x, *layer.parameters())


def gcn_torch(given: Inputs) -> Step:
    import torch
    weight = torch.randn(given.features, given.features, requires_grad=True)

    def run() -> Any:
        s = (torch.zeros(given.vertices).index_add(0, given.dst, torch.ones(len(given.dst))) + 1).rsqrt()
        x = given.x @ weight
        y = torch.zeros_like(x).index_add(0, given.dst, (s[given.dst] * s[given.src])[:, None] * x[given.src])
        return y + (s * s)[:, None] * x
    return trained(run, given, given.x, weight)


def gcn_csr(given: Inputs) -> Step:
    import torch
    weight = torch.randn(given.features, given.features, requires_grad=True)
    ones = torch.sparse_csr_tensor(given.csr.crow_indices(), given.csr.col_indices(), torch.ones(len(given.w)), given.csr.shape)

    def run() -> Any:
        s = (given.csr.crow_indices().diff() + 1).float().rsqrt()
        x = s[:, None] * (given.x @ weight)
        return s[:, None] * (torch.sparse.mm(ones, x) + x)
    return trained(run, given, given.x, weight)


def of_geometric(name: str, **options: Any) -> Callable[[Inputs], Step]:
    def make(given: Inputs) -> Step:
        import torch_geometric.nn
        heads = options.get("heads", 1)
        layer = getattr(torch_geometric.nn, name)(given.features, given.features // heads, **options)
        return trained(lambda: layer(given.x, given.edges), given, given.x, *layer.parameters())
    return make


def gat_spc(given: Inputs) -> Step:
    import spc.torch
    layer = spc.torch.nn.GATConv(given.features, given.features // HEADS, heads=HEADS)
    return trained(lambda: layer(given.x, given.edges), given, given.x, *layer.parameters())


def gat_torch(given: Inputs) -> Step:
    import torch
    heads, each = HEADS, given.features // HEADS
    weight = torch.randn(given.features, given.features, requires_grad=True)
    to, of = torch.randn(heads, each, requires_grad=True), torch.randn(heads, each, requires_grad=True)
    src, dst = given.src, given.dst

    def run() -> Any:
        x = (given.x @ weight).unflatten(1, (heads, each))
        s = torch.nn.functional.leaky_relu((x * to).sum(-1)[dst] + (x * of).sum(-1)[src], 0.2)
        top = torch.full((given.vertices, heads), -torch.inf).index_reduce(0, dst, s.detach(), "amax")
        p = (s - top[dst]).exp()
        t = torch.zeros(given.vertices, heads).index_add(0, dst, p)
        return (torch.zeros_like(x).index_add(0, dst, p[..., None] * x[src]) / t.clamp_min(1e-30)[..., None]).flatten(1)
    return trained(run, given, given.x, weight, to, of)


CASES: dict[str, dict[str, Callable[[Inputs], Step]]] = {
    "SpMM, by X": {"spc": lambda given: spmm_spc(given, False), "torch CSR": lambda given: spmm_csr(given, False),
                   "torch": lambda given: messages_torch(given, False)},
    "SpMM, by A and X": {"spc": lambda given: spmm_spc(given, True), "torch CSR": lambda given: spmm_csr(given, True),
                         "torch": lambda given: messages_torch(given, True)},
    "messages, by x": {"spc": lambda given: messages_spc(given, False), "torch": lambda given: messages_torch(given, False)},
    "messages, by w and x": {"spc": lambda given: messages_spc(given, True), "torch": lambda given: messages_torch(given, True)},
    "GCN": {"spc": gcn_spc, "torch CSR": gcn_csr, "torch": gcn_torch, "PyG": of_geometric("GCNConv")},
    "GAT": {"spc": gat_spc, "torch": gat_torch, "PyG": of_geometric("GATConv", heads=HEADS)},
}


def measure(case: str, library: str, given: Inputs, repeat: int) -> dict[str, float]:
    module = {"spc": "spc.torch", "PyG": "torch_geometric.nn"}.get(library, "torch")
    importlib.import_module(module)
    before = settled()
    step = CASES[case][library](given)
    for _ in range(2):
        step()
    if library == "spc":
        import spc.torch
        spc.torch.settle()
        step()
    seconds = []
    for _ in range(repeat):
        begin = time.perf_counter()
        step()
        seconds.append(time.perf_counter() - begin)
    return {"ms": 1e3 * statistics.median(seconds), "MB": status("VmHWM") - before}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--vertices", type=int, default=100_000)
    parser.add_argument("--edges", type=int, default=1_000_000)
    parser.add_argument("--features", type=int, default=32)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--limit", type=int, default=120, help="seconds for a line")
    parser.add_argument("--only", default="", help="cases whose name has this")
    parser.add_argument("--one", nargs=2, metavar=("CASE", "LIBRARY"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        warnings.simplefilter("ignore")
        import torch

        import spc
        torch.set_num_threads(2)
        spc.set_threads(2)
        given = Inputs(options.vertices, options.edges, options.features)
        print(json.dumps(measure(*options.one, given, options.repeat)))
        return
    print(f"{options.vertices:,} vertices, {options.edges:,} edges, {options.features} features, f32, 2 threads\n")
    print(f"| {'':<20} | {'library':<9} |      ms | of spc |     MB |\n|{'-' * 22}|{'-' * 11}|--------:|-------:|-------:|")
    for case, libraries in CASES.items():
        if options.only not in case:
            continue
        reference = None
        for library in libraries:
            if library == "PyG" and importlib.util.find_spec("torch_geometric") is None:
                continue
            sizes = [f"--{name}={getattr(options, name)}" for name in ("vertices", "edges", "features", "repeat")]
            command = [sys.executable, __file__, *sizes, "--one", case, library]
            try:
                done = subprocess.run(command, capture_output=True, text=True, timeout=options.limit)
            except subprocess.TimeoutExpired:
                print(f"| {case:<20} | {library:<9} | more than {options.limit} s | | |", flush=True)
                continue
            if done.returncode:
                print(f"| {case:<20} | {library:<9} | {(done.stderr.strip().splitlines() or ['ended'])[-1][:80]} | | |", flush=True)
                continue
            found = json.loads(done.stdout.splitlines()[-1])
            reference = reference or found["ms"]
            print(f"| {case:<20} | {library:<9} | {found['ms']:>7.1f} | {found['ms'] / reference:>6.2f} | {found['MB']:>6.0f} |", flush=True)


if __name__ == "__main__":
    main()
