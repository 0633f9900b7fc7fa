"""Sparse factors, multigrid, conjugate gradients and their kernels: matrices in, matrices out; no graph, no label."""
