"""The processes of an MPI job and a graph spread over them; no fields, no labels."""
