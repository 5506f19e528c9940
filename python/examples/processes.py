"""A kernel on the processes of MPI, as docs/python.md shows it: `mpirun -n 4 python -m mpi4py processes.py`. CI runs this file on four."""

import numpy as np, scipy.sparse, spc

A = scipy.sparse.random_array((1000, 1000), density=0.01, format="csr", rng=np.random.default_rng(1))
x = np.ones(1000)

from mpi4py import MPI

y = spc.einsum("ij,j->i", A, x, ranks=MPI.COMM_WORLD)   # the same call in all processes, of the same inputs
if MPI.COMM_WORLD.rank == 0:
    assert np.allclose(y, A @ x)                        # None in the others
else:
    assert y is None
