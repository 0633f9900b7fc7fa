"""Memory limits, threads, files, progress bars, npz archives and compilation: nothing that knows of graphs or labels."""
