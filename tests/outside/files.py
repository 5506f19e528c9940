"""Tensor files, written and read by code of this folder alone.

Each writer takes the entries of a tensor and a `Presentation`, which says how they stand in the file: in which order, with which
duplicates, comments, number formats, compressed or not. Each reader gives shape (None where the file says none), fill value
(None), coordinates and values.
"""

import ast
import gzip
import random
import re
import struct
from dataclasses import dataclass

import numpy as np

NPY = {"f64": "<f8", "f32": "<f4", "i64": "<i8", "i32": "<i4", "u8": "|u1", "bool": "|b1", "c64": "<c16", "c32": "<c8"}


@dataclass(frozen=True)
class Presentation:
    kind: str  # tns, mtx, npy, spct (through `spc convert`), or scalar: a number on the command line
    gz: bool = False
    seed: int = 0
    plain: bool = True  # sorted, without duplicates, comments and odd numbers
    style: str = "general"  # of .mtx: general, array, pattern, symmetric, skew-symmetric, hermitian
    format: str = None  # of .spct

    def name(self, tensor):
        return f"{tensor}.{self.kind}{'.gz' if self.gz else ''}"

    def states_shape(self):
        return self.kind in ("mtx", "npy", "spct")


def number(value, element, rng=None):
    """A number as text."""
    if element in ("c64", "c32"):
        return f"{number(value.real, 'f64', rng)} {number(value.imag, 'f64', rng)}"
    if element == "bool":
        return "1" if value else "0"
    if element in ("i64", "i32", "u8"):
        value = int(value)
        if rng and value >= 0 and rng.random() < 0.1:
            return f"+{value}"
        return str(value)
    value = float(value)
    if np.isnan(value):
        return "nan"
    if np.isinf(value):
        return "inf" if value > 0 else "-inf"
    text = repr(value)
    if rng and rng.random() < 0.2:
        text = rng.choice([f"{value:.17e}", f"{value:.20g}", text.upper(), f"+{text}" if text[0] != "-" else text])
    if rng is None and text.endswith(".0"):
        text = text[:-2]
    return text


def split_up(coordinates, values, element, rng):
    """The same entries with some in parts that sum up to them, where that is exact."""
    if element == "bool" or not len(values):
        return coordinates, values
    rows, parts = [], []
    for row, value in zip(coordinates, values):
        parts_of = [float(value.real), float(value.imag)]
        small = all(abs(part) < 2**20 and part * 4 == int(part * 4) for part in parts_of)
        if small and rng.random() < 0.4:
            first = rng.randint(0, int(value)) if element == "u8" else rng.randint(-3, 3)
            rows += [row, row]
            parts += [first, value - first]
        else:
            rows.append(row)
            parts.append(value)
    return np.array(rows, np.int64).reshape(len(rows), coordinates.shape[1]), np.array(parts, values.dtype)


def tns(coordinates, values, element, shape, presentation):
    rng = random.Random(presentation.seed)
    if presentation.plain:
        lines = [" ".join([str(int(part) + 1) for part in row] + [number(value, element)]) for row, value in zip(coordinates, values)]
        return ("\n".join(lines) + "\n" if lines else "# nothing\n").encode()
    if rng.random() < 0.4:
        coordinates, values = split_up(coordinates, values, element, rng)
    order = list(range(len(values)))
    if rng.random() < 0.5:
        rng.shuffle(order)
    end = "\r\n" if rng.random() < 0.1 else "\n"
    blank = rng.choice([" ", " ", "\t", "  "])
    lines = [f"# a tensor of {len(values)} entries"] if rng.random() < 0.5 else []
    for place in order:
        fields = [str(int(part) + 1) for part in coordinates[place]] + [number(values[place], element, rng)]
        line = blank.join(fields)
        if rng.random() < 0.05:
            line = f"  {line} "
        lines.append(line)
        if rng.random() < 0.03:
            lines.append(rng.choice(["", "# here", "   "]))
    text = end.join(lines) + (end if rng.random() < 0.9 else "")
    if not order:
        text = "# nothing\n"
    return (("\ufeff" if rng.random() < 0.05 else "") + text).encode()


def mtx(coordinates, values, element, shape, presentation):
    rng = random.Random(presentation.seed)
    field = "complex" if element[0] == "c" else "integer" if element in ("i64", "i32", "u8", "bool") else "real"
    symmetry = presentation.style if presentation.style in ("symmetric", "skew-symmetric", "hermitian") else "general"
    if presentation.style == "pattern":
        field = "pattern"
    comments = "" if presentation.plain else "% a matrix\n%\n\n" if rng.random() < 0.3 else "% a matrix\n"
    if presentation.style == "array":
        dense = np.zeros(shape, values.dtype)
        dense[tuple(coordinates.T)] = values
        head = f"%%MatrixMarket matrix array {field} general\n{comments}{shape[0]} {shape[1]}\n"
        return (head + "".join(number(value, element) + "\n" for value in dense.T.reshape(-1))).encode()
    keep = np.ones(len(values), bool)
    if symmetry == "skew-symmetric":
        keep = coordinates[:, 0] > coordinates[:, 1]
    elif symmetry != "general":
        keep = coordinates[:, 0] >= coordinates[:, 1]
    coordinates, values = coordinates[keep], values[keep]
    if not presentation.plain and symmetry == "general" and field != "pattern" and rng.random() < 0.4:
        coordinates, values = split_up(coordinates, values, element, rng)
    order = list(range(len(values)))
    if not presentation.plain:
        rng.shuffle(order)
    banner = "%%MatrixMarket matrix coordinate" if rng.random() < 0.7 else "%%matrixmarket Matrix Coordinate"
    lines = [f"{banner} {field} {symmetry}\n{comments}{shape[0]} {shape[1]} {len(values)}"]
    for place in order:
        row = " ".join(str(int(part) + 1) for part in coordinates[place])
        lines.append(row if field == "pattern" else f"{row} {number(values[place], element, None if presentation.plain else rng)}")
    return ("\n".join(lines) + "\n").encode()


def npy(coordinates, values, element, shape, presentation):
    rng = random.Random(presentation.seed)
    descr = NPY[element]
    if not presentation.plain and element == "f64" and rng.random() < 0.3:
        for narrow, other in (("<f4", np.float32), ("<i4", np.int32), ("<i8", np.int64)):
            with np.errstate(all="ignore"):
                same = np.all(values.astype(other).astype(values.dtype) == values) if np.all(np.isfinite(values)) else False
            if same and not np.any(np.signbit(values) & (values == 0)) and np.all(np.abs(values) < 2**30):
                descr = narrow
                break
    dense = np.zeros(shape, np.dtype(descr))
    if len(values):
        dense[tuple(coordinates.T) if shape else ()] = values if shape else values[0]
    fortran = not presentation.plain and rng.random() < 0.3
    version = 2 if not presentation.plain and rng.random() < 0.2 else 1
    head = f"{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {tuple(int(part) for part in shape)!r}, }}"
    length = 2 if version == 1 else 4
    padding = -(8 + length + len(head) + 1) % 64
    head = head + " " * padding + "\n"
    size = struct.pack("<H" if version == 1 else "<I", len(head))
    return b"\x93NUMPY" + bytes([version, 0]) + size + head.encode("latin1") + dense.tobytes("F" if fortran else "C")


WRITERS = {"tns": tns, "mtx": mtx, "npy": npy}


def write(path, coordinates, values, element, shape, presentation):
    data = WRITERS[presentation.kind](coordinates, values, element, shape, presentation)
    if presentation.gz:
        cut = len(data) // 2
        several = presentation.seed % 3 == 0
        data = gzip.compress(data[:cut], 1, mtime=0) + gzip.compress(data[cut:], 1, mtime=0) if several else gzip.compress(data, 1, mtime=0)
    with open(path, "wb") as file:
        file.write(data)


# ---------------------------------------------------------------------------------------------------------------------


class Malformed(Exception):
    """A file that is not what its kind prescribes."""


def as_numbers(fields, element):
    if element in ("c64", "c32"):
        pairs = np.array([float(field) for field in fields], np.float64).reshape(-1, 2)
        # A sum with 1j times an infinity would be NaN.
        return pairs.view(np.complex128).reshape(-1)
    if element == "bool":
        if any(field not in ("0", "1") for field in fields):
            raise Malformed(f"truth values {sorted(set(fields))[:4]}")
        return np.array([field == "1" for field in fields], np.bool_)
    if element in ("i64", "i32", "u8"):
        try:
            return np.array([int(field) for field in fields], {"i64": np.int64, "i32": np.int32, "u8": np.uint8}[element])
        except (ValueError, OverflowError) as error:
            raise Malformed(str(error)) from error
    values = np.array([float(field) for field in fields], np.float64)
    if element == "f32":
        with np.errstate(all="ignore"):
            narrow = values.astype(np.float32).astype(np.float64)
        return narrow
    return values


def read_tns(data, element, order):
    shape = fill = None
    rows, fields = [], []
    width = 2 if element in ("c64", "c32") else 1
    for line in data.decode().splitlines():
        if line.startswith("#"):
            said = re.match(r"#\s*(shape|fill)\s*:\s*(.*?)\s*$", line)
            if said and said[1] == "shape":
                shape = tuple(int(part) for part in re.findall(r"\d+", said[2]))
            elif said:
                fill = said[2]
            continue
        parts = line.split()
        if not parts:
            continue
        if len(parts) != order + width:
            raise Malformed(f"a line of {len(parts)} fields: {line!r}")
        rows.append([int(part) - 1 for part in parts[:order]])
        fields += parts[order:]
    return shape, fill, np.array(rows, np.int64).reshape(len(rows), order), as_numbers(fields, element)


def read_mtx(data, element, order):
    lines = [line for line in data.decode().splitlines() if line.strip()]
    banner = lines[0].split()
    if [part.lower() for part in banner[:3]] != ["%%matrixmarket", "matrix", "coordinate"] or banner[4].lower() != "general":
        raise Malformed(lines[0])
    field = banner[3].lower()
    expected = "complex" if element[0] == "c" else "integer" if element in ("i64", "i32", "u8", "bool") else "real"
    # Indices alone say a tensor of bool whose entries are all true.
    is_pattern = field == "pattern" and element == "bool"
    if field != expected and not is_pattern:
        raise Malformed(f"{field} of {element}")
    body = [line.split() for line in lines[1:] if not line.startswith("%")]
    rows, columns, count = (int(part) for part in body[0])
    if len(body) - 1 != count:
        raise Malformed(f"{len(body) - 1} of {count} entries")
    shape = (rows, columns)[:order]
    if order < 2 and columns != 1 or order < 1 and rows != 1:
        raise Malformed(f"a tensor of order {order} as {rows} x {columns}")
    coordinates = np.array([[int(part) - 1 for part in line[:2]] for line in body[1:]], np.int64).reshape(-1, 2)
    if np.any(coordinates < 0) or np.any(coordinates >= [rows, columns]):
        raise Malformed("an entry outside")
    if any(len(line) != (2 if is_pattern else 4 if element[0] == "c" else 3) for line in body[1:]):
        raise Malformed("a line of another number of fields")
    values = ["1"] * count if is_pattern else [part for line in body[1:] for part in line[2:]]
    return shape, None, coordinates[:, :order], as_numbers(values, element)


def read_npy(data, element, order):
    if data[:6] != b"\x93NUMPY":
        raise Malformed("no .npy file")
    length, start = (struct.unpack("<H", data[8:10])[0], 10) if data[6] == 1 else (struct.unpack("<I", data[8:12])[0], 12)
    head = ast.literal_eval(data[start : start + length].decode("latin1"))
    if head["descr"] != NPY[element]:
        raise Malformed(f"{head['descr']} of {element}")
    shape = head["shape"]
    body = data[start + length :]
    dtype = np.dtype(head["descr"])
    if len(body) != dtype.itemsize * int(np.prod(shape, dtype=np.int64)):
        raise Malformed(f"{len(body)} bytes for {shape}")
    array = np.frombuffer(body, dtype).reshape(shape, order="F" if head["fortran_order"] else "C")
    wide = {"f32": np.float64, "c32": np.complex128}.get(element, array.dtype)
    array = array.astype(wide)
    coordinates = np.indices(shape).reshape(len(shape), -1).T if shape else np.zeros((1, 0), np.int64)
    return shape, None, coordinates, array.reshape(-1)


READERS = {"tns": read_tns, "mtx": read_mtx, "npy": read_npy}


def parse(data, kind, gz, element, order):
    if gz:
        data = gzip.decompress(data)
    return READERS[kind](data, element, order)
