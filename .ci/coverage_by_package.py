"""Print a table of the lines that the tests ran, per package, from the data of the last run with coverage.

make coverage
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import coverage


def main() -> None:
    """Print the table."""
    data = coverage.Coverage()
    data.load()
    lines: Counter[str] = Counter()
    missed: Counter[str] = Counter()
    for file in data.get_data().measured_files():
        _, statements, _, missing, _ = data.analysis2(file)
        parts = Path(file).parts[len(Path(file).parts) - Path(file).parts[::-1].index("askgraph") :]
        package = parts[0] if len(parts) > 1 else "askgraph"
        lines[package] += len(statements)
        missed[package] += len(missing)
    if not lines:
        sys.exit("no coverage data here: make coverage measures it")
    print("| package | lines | run |\n|---|---|---|")
    for package in sorted(lines):
        print(f"| {package} | {lines[package]:,} | {1 - missed[package] / lines[package]:.0%} |")
    print(f"| all | {lines.total():,} | {1 - missed.total() / lines.total():.0%} |")


if __name__ == "__main__":
    main()
