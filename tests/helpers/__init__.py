"""What several test files use: engines, graphs, projects, servers, faults, and the paper as plain code."""
