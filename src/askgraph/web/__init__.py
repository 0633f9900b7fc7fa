"""The labeling page and the server behind it. What a project stores and computes belongs in workbench."""
