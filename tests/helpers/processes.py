"""The program in a process of its own, as people start it."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

ASKGRAPH = [sys.executable, "-m", "askgraph"]


def start(words: list[Any], **options: Any) -> subprocess.Popen[str]:
    """Start ``python -m askgraph`` with these words; what it says is read together, as on a terminal."""
    command = [*ASKGRAPH, *map(str, words)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)


def run(*words: Any, timeout: float = 300.0, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run ``python -m askgraph`` with these words to its end."""
    command = [*ASKGRAPH, *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=False, **options)
