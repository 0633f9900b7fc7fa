"""Memory, threads, files, npz archives, hashes, messages, progress bars and compilation: nothing that knows of graphs or labels."""
