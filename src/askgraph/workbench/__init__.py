"""One project, one file: items, their graph, and everything people said about them."""
