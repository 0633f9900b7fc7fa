"""Print the share of public names whose types are known, as pyright counts them; exit with 1 where it is below the goal.

``make release`` pipes the report of ``pyright --verifytypes askgraph --ignoreexternal --outputjson`` into it.
"""

from __future__ import annotations

import json
import sys

GOAL = 0.98  # scikit-learn has no types, so a class that inherits from one of its own is never wholly known


def main() -> None:
    """Read pyright's report from standard input."""
    found = json.load(sys.stdin)["typeCompleteness"]
    unknown = [symbol["name"] for symbol in found["symbols"] if symbol["isExported"] and not symbol["isTypeKnown"]]
    total = sum(found["exportedSymbolCounts"].values())
    print(f"types known: {found['completenessScore']:.2%} of {total:,} names; not: {', '.join(unknown)}")
    sys.exit(found["completenessScore"] < GOAL)


if __name__ == "__main__":
    main()
