"""The same on a GPU, through CuPy: conjugate gradients, sparse products, kernels."""
