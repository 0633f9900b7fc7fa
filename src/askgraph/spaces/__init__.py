"""Where arrays live and what looks across them: NumPy here, a GPU, the processes of an MPI job."""
