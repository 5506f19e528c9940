"""Evaluates contractions and sums of sparse tensors with MLIR's sparsifier, as the wheel `finch-mlir` has it.

Standard input is a JSON array of cases, standard output one of results: the elements of a dense result in row-major order,
or null where MLIR refuses the case.

    {"extents": {"i": 3, "j": 4}, "operator": "*", "target": ["i"],
     "operands": [{"indices": ["i", "j"], "levels": [[0, "dense"], [1, "compressed"]], "values": [[0.0, 2.0, ...], ...]}, ...]}

The result is the sum of the product (or of the sum) of the operands over all indices that the target lacks.
"""

import ctypes
import json
import os
import pathlib
import signal
import sys

import numpy
import mlir_finch
from mlir_finch import execution_engine, ir, passmanager, runtime

LIBRARY = pathlib.Path(list(mlir_finch.__path__)[0]).parent / "lib" / "libmlir_c_runner_utils.so"


def tensor_type(shape, encoding=""):
    return f"tensor<{'x'.join(map(str, shape))}xf64{encoding}>"


def encoding(levels):
    modes = ", ".join(f"d{mode}" for mode in range(len(levels)))
    stored = ", ".join(f"d{mode} : {kind}" for mode, kind in levels)
    return f", #sparse_tensor.encoding<{{ map = ({modes}) -> ({stored}) }}>"


def module(case):
    """The case as text: operands come dense, and are converted to their formats."""
    extents, operands, target = case["extents"], case["operands"], case["target"]
    variables = list(extents)
    all_of = ", ".join(variables)
    shape = [extents[index] for index in target]
    maps = [f"affine_map<({all_of}) -> ({', '.join(indices)})>" for indices in [o["indices"] for o in operands] + [target]]
    kinds = ", ".join('"parallel"' if variable in target else '"reduction"' for variable in variables)
    parameters, lines, names, types = [], [], [], []
    for number, operand in enumerate(operands):
        plain = tensor_type([extents[index] for index in operand["indices"]])
        parameters.append(f"%a{number}: {plain}")
        name = f"%a{number}"
        if any(kind != "dense" for _, kind in operand["levels"]):
            stored = tensor_type([extents[index] for index in operand["indices"]], encoding(operand["levels"]))
            lines.append(f"  %s{number} = sparse_tensor.convert {name} : {plain} to {stored}")
            name, plain = f"%s{number}", stored
        names.append(name)
        types.append(plain)
    result = tensor_type(shape)
    operation = {"*": "arith.mulf", "+": "arith.addf"}[case["operator"]]
    body, value = [], "%x0"
    for number in range(1, len(operands)):
        body.append(f"    %v{number} = {operation} {value}, %x{number} : f64")
        value = f"%v{number}"
    scalars = ", ".join(f"%x{number}: f64" for number in range(len(operands)))
    return "\n".join(
        [
            f"func.func @main({', '.join(parameters)}, %out: {result}) -> {result} attributes {{ llvm.emit_c_interface }} {{",
            *lines,
            f"  %r = linalg.generic {{ indexing_maps = [{', '.join(maps)}], iterator_types = [{kinds}] }}",
            f"      ins({', '.join(names)} : {', '.join(types)}) outs(%out : {result}) {{",
            f"    ^bb({scalars}, %old: f64):",
            *body,
            f"    %sum = arith.addf %old, {value} : f64",
            "    linalg.yield %sum : f64",
            f"  }} -> {result}",
            f"  return %r : {result}",
            "}",
        ]
    )


def evaluate(case):
    with ir.Context():
        compiled = ir.Module.parse(module(case))
        passmanager.PassManager.parse("builtin.module(sparsifier{})").run(compiled.operation)
        engine = execution_engine.ExecutionEngine(compiled, opt_level=0, shared_libs=[str(LIBRARY)])
        shape = [case["extents"][index] for index in case["target"]]
        arrays = [numpy.array(operand["values"], dtype=float) for operand in case["operands"]] + [numpy.zeros(shape)]
        arguments = [ctypes.pointer(ctypes.pointer(runtime.get_ranked_memref_descriptor(array))) for array in arrays]
        result = runtime.make_nd_memref_descriptor(len(shape), ctypes.c_double)()
        engine.invoke("main", ctypes.pointer(ctypes.pointer(result)), *arguments)
        return runtime.ranked_memref_to_numpy(ctypes.pointer(result)).ravel().tolist()


def apart(case):
    """In a process of its own: what MLIR can't do may end it, or keep it for ever."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        try:
            answer = json.dumps(evaluate(case))
        except Exception:
            answer = "null"
        os.write(writer, answer.encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as answer:
        text = answer.read()
    os.waitpid(child, 0)
    return json.loads(text or b"null")


json.dump([apart(case) for case in json.load(sys.stdin)], sys.stdout)
