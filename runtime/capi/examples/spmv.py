"""spc from Python by its foreign-function interface alone: python3 spmv.py LIBRARY"""

import ctypes
import sys
from array import array

spc = ctypes.CDLL(sys.argv[1])
spc.spc_message.restype = ctypes.c_char_p
F64 = 0


class Indices(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("length", ctypes.c_uint64), ("bytes", ctypes.c_uint64)]


class Values(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("length", ctypes.c_uint64), ("element", ctypes.c_int32)]


def check(status):
    if status:
        raise RuntimeError(spc.spc_message().decode())


def made(function, *arguments):
    """The handle that a function gives."""
    handle = ctypes.c_uint64()
    check(function(*arguments, ctypes.byref(handle)))
    return handle


def indices(numbers):
    address, length = numbers.buffer_info()
    return Indices(address, length, numbers.itemsize)


def values(numbers):
    address, length = numbers.buffer_info()
    return Values(address, length, F64)


rows, columns = array("I", [0, 1, 3]), array("I", [1, 0, 2])
entries, x = array("d", [2.0, 3.0, 4.0]), array("d", [1.0, 10.0, 100.0])
number, shape = ctypes.c_uint64, (ctypes.c_uint64 * 1)(3)
matrix = made(spc.spc_tensor_csr, number(2), number(3), ctypes.byref(indices(rows)), ctypes.byref(indices(columns)),
              ctypes.byref(values(entries)), None)
vector = made(spc.spc_tensor_dense, 1, shape, ctypes.byref(values(x)), None)
builder = made(spc.spc_builder_new, "y(i) = A(i, j) * x(j)".encode())
check(spc.spc_builder_format(builder, b"A", b"csr"))
kernel = made(spc.spc_kernel_compile, builder)

result = ctypes.c_uint64()
inputs = (ctypes.c_uint64 * 2)(matrix.value, vector.value)
check(spc.spc_kernel_call(kernel, inputs, number(2), ctypes.byref(result), number(1)))
found = Values()
check(spc.spc_tensor_values(result, ctypes.byref(found)))
print((ctypes.c_double * found.length).from_address(found.data)[:])
for handle in (matrix, vector, builder, kernel, result):
    check(spc.spc_free(handle))
try:
    check(spc.spc_free(kernel))
except RuntimeError as error:
    print(str(error).partition(":")[2].strip())
