"""What people say, checked and as numbers: labels as plain values, classes as columns of votes; no graph and no field."""
