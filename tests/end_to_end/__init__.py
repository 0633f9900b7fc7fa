"""Server, browser, command line and MPI, from end to end."""
