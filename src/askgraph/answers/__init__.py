"""What people say, checked and as numbers: labels, shares, and codings that make rows of numbers; no graph, no field."""
