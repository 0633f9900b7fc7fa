"""A project is one file: items, their graph, and the log of all answers. No server and no command line in here."""
