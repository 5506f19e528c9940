"""Smaller programs: each candidate is a program with one thing less."""

from dataclasses import replace

import numpy as np

from files import Presentation
from language import (
    Access, Literal, Op, Reduce, Tensor, Var, accesses, children, free_variables, index_variables, with_children,
)
from ranks import fewer


def smaller(program):
    kernel = program.kernel
    if program.ranks is not None:
        for ranks in fewer(program.ranks):
            yield replace(program, ranks=ranks)
    if program.others:
        yield replace(program, others=())
    if program.inline:
        yield replace(program, inline=False)
    if program.threads > 1:
        yield replace(program, threads=1)
    if kernel.schedule:
        yield with_kernel(program, schedule=())
        for place in range(len(kernel.schedule)):
            yield with_kernel(program, schedule=kernel.schedule[:place] + kernel.schedule[place + 1 :])
    for place, statement in enumerate(kernel.statements):
        rest = kernel.statements[:place] + kernel.statements[place + 1 :]
        if rest:
            yield with_kernel(program, statements=rest)
        if statement.mask:
            yield with_statement(program, place, replace(statement, mask=None))
    for place, statement in enumerate(kernel.statements):
        for value in smaller_exprs(statement.value):
            yield with_statement(program, place, replace(statement, value=value))
        if statement.declares is not None and statement.declares.format is not None:
            yield with_statement(program, place, replace(statement, declares=Tensor(statement.target.name, None)))
    for name, kind in program.outputs.items():
        if kind != "tns":
            # A fill value other than zero is for the kind of file that failed.
            result = next(tensor for tensor in kernel.results if tensor.name == name)
            operators = [statement.operator for statement in kernel.statements if statement.target.name == name]
            is_zero = result.fill is None and operators[0] in ("=", "+=", "|=")
            for simpler in ("tns", "npy") if is_zero else ():
                if kind != simpler:
                    yield replace(program, outputs={**program.outputs, name: simpler})
    for name, data in program.inputs.items():
        plain = Presentation("tns", plain=True)
        if data.presentation.kind not in ("scalar", "tns") and program.shapes[name]:
            yield with_input(program, name, replace(data, presentation=plain), program.shapes[name])
        elif data.presentation.kind == "tns" and data.presentation != plain:
            yield with_input(program, name, replace(data, presentation=plain))
    # Extents, and with them what lies outside.
    for name, extent in program.extents.items():
        for less in dict.fromkeys([extent // 2, extent - 1]):
            if 0 <= less < extent and not name.startswith("window"):
                changed = cut(program, name, less)
                if changed is not None:
                    yield changed
    for tensor in kernel.parameters + kernel.results:
        for format in simpler_formats(tensor, program):
            yield with_tensor(program, replace(tensor, format=format))
        if tensor.element != "f64" and tensor.element not in ("bool",):
            pass
        if tensor.fill is not None:
            yield with_tensor(program, replace(tensor, fill=None))
    for name, data in program.inputs.items():
        count = len(data.values)
        if not program.shapes[name] or data.presentation.style in ("symmetric", "skew-symmetric", "hermitian"):
            continue
        if count > 3:
            half = count // 2
            for keep in (slice(0, half), slice(half, count)):
                yield with_input(program, name, replace(data, coordinates=data.coordinates[keep], values=data.values[keep]))
        if count <= 40:
            for place in range(count):
                keep = [other for other in range(count) if other != place]
                yield with_input(program, name, replace(data, coordinates=data.coordinates[keep], values=data.values[keep]))
        if count <= 40 and data.values.dtype != np.bool_ and np.any(data.values != 1):
            yield with_input(program, name, replace(data, values=np.ones_like(data.values)))


def with_kernel(program, **changes):
    kernel = replace(program.kernel, **changes)
    made = {statement.target.name for statement in kernel.statements}
    used = {access.name for statement in kernel.statements for access in accesses(statement.value)}
    used |= {statement.mask.name for statement in kernel.statements if statement.mask}
    kernel = replace(
        kernel,
        parameters=tuple(tensor for tensor in kernel.parameters if tensor.name in used),
        results=tuple(tensor for tensor in kernel.results if tensor.name in made),
    )
    inputs = {tensor.name: program.inputs[tensor.name] for tensor in kernel.parameters}
    outputs = {tensor.name: program.outputs[tensor.name] for tensor in kernel.results}
    program = replace(program, kernel=kernel, inputs=inputs, outputs=outputs)
    return replace(program, dims=dims(program))


def dims(program):
    """What is still there to have an extent."""
    names = set()
    tensors = {tensor.name for tensor in program.kernel.parameters + program.kernel.results}
    for statement in program.kernel.statements:
        tensors.add(statement.target.name)
        names |= set(free_variables(statement.value))
        names |= {name for part in walk(statement.value) if isinstance(part, Reduce) for name in part.variables}
        for access in [statement.target] + ([statement.mask] if statement.mask else []):
            names |= {name for index in access.indices for name in index_variables(index)}
    return tuple(
        (name, extent) for name, extent in program.dims
        if name in names or any(name.startswith(tensor) and name.endswith("_size") for tensor in tensors)
    )


def walk(expr):
    yield expr
    for child in children(expr):
        yield from walk(child)


def with_statement(program, place, statement):
    statements = list(program.kernel.statements)
    statements[place] = statement
    return with_kernel(program, statements=tuple(statements))


def with_tensor(program, tensor):
    swap = lambda tensors: tuple(tensor if other.name == tensor.name else other for other in tensors)
    kernel = replace(program.kernel, parameters=swap(program.kernel.parameters), results=swap(program.kernel.results))
    return replace(program, kernel=kernel)


def with_input(program, name, data, shape=None):
    """With other data; where the file no longer says its shape, `--dim` does."""
    program = replace(program, inputs={**program.inputs, name: data})
    if shape is not None:
        more = dict(program.dims)
        for statement in program.kernel.statements:
            for access in accesses(statement.value) + ([statement.mask] if statement.mask else []):
                if access.name == name:
                    for mode, index in enumerate(access.indices):
                        if isinstance(index, Var):
                            more[index.name] = shape[mode]
                        else:
                            more[f"{name}{mode + 1}_size"] = shape[mode]
        program = replace(program, dims=tuple(sorted(more.items())))
    return program


def cut(program, name, extent):
    """With a shorter index; only where it stands alone in each access."""
    extents = {**program.extents, name: extent}
    shapes = dict(program.shapes)
    for statement in program.kernel.statements:
        for access in accesses(statement.value) + [statement.target] + ([statement.mask] if statement.mask else []):
            shape = list(shapes[access.name])
            for mode, index in enumerate(access.indices):
                if isinstance(index, Var) and index.name == name:
                    shape[mode] = extent
                elif name in index_variables(index) and isinstance(index, Op) and index.operator == "-":
                    return None
            shapes[access.name] = tuple(shape)
    inputs = {}
    for tensor, data in program.inputs.items():
        shape = np.array(shapes[tensor], np.int64)
        inside = np.all(data.coordinates < shape, axis=1) if len(shape) else np.ones(len(data.values), bool)
        inputs[tensor] = replace(data, coordinates=data.coordinates[inside], values=data.values[inside])
    more = tuple((of, extent if of == name else size) for of, size in program.dims)
    return replace(program, extents=extents, shapes=shapes, inputs=inputs, dims=more)


def simpler_formats(tensor, program):
    if tensor.format is None:
        return
    len(program.shapes[tensor.name])
    total = 1
    for extent in program.shapes[tensor.name]:
        total *= extent
    options = (["dense"] if total < 100_000 else []) + ["csf"]
    for format in options:
        if tensor.format == format:
            return
        yield format


def smaller_exprs(expr):
    yield from children(expr)
    if not isinstance(expr, (Literal, Access)):
        yield Literal("2")
    for place, child in enumerate(children(expr)):
        for less in smaller_exprs(child):
            new = list(children(expr))
            new[place] = less
            yield with_children(expr, new)
