"""What people say, checked and as numbers: plain labels, shares, and codings that make rows of numbers of answers; no graph, no field."""
