"""The processes of an MPI job and a graph distributed over them; no fields, no labels."""
