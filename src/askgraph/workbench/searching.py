"""Search texts for a regular expression, in a process of its own that can be stopped: Python's own search cannot be.

An expression such as ``(a+)+$`` can take longer than the universe is old on a line of text. So `search` runs this file as a
program, which knows nothing but the expression and the texts, and ends it when its time is over.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress

SECONDS = 10.0  # for all texts together; 200,000 sentences take less than one
MAX_TEXT_CHARACTERS = 100_000  # of each text; what comes after them is not looked at
BATCH_CHARACTERS = 8_000_000  # texts sent to a process together
MAX_BYTES = 2**30  # of memory for the process, where the system can limit it


class TooSlow(Exception):
    """The search took longer than it may."""


def search(expression: str, case: bool, texts: Iterable[Sequence[str]]) -> list[int]:
    """Return which items have a text that an expression is found in; ``texts`` are those of each item.

    Raises ``ValueError`` if it is not a regular expression, and `TooSlow` if it takes too long.
    """
    found: list[int] = []
    end = time.monotonic() + SECONDS
    for first, batch in _batches(texts):
        asked = json.dumps({"expression": expression, "case": case, "texts": batch, "seconds": SECONDS})
        command = [sys.executable, "-I", "-S", __file__]  # alone: no packages, no variables of the environment
        try:
            done = subprocess.run(
                command, input=asked.encode(), capture_output=True, timeout=end - time.monotonic(), check=True
            )
        except (subprocess.TimeoutExpired, subprocess.CalledProcessError):  # or the system has ended it
            raise TooSlow from None
        said = json.loads(done.stdout)
        if "error" in said:
            raise ValueError(said["error"])
        found += [first + k for k in said["found"]]
    return found


def _batches(texts: Iterable[Sequence[str]]) -> Iterator[tuple[int, list[list[str]]]]:
    """Yield the texts of items in parts, each with the number of its first item; one empty part if there are none."""
    first, size, batch = 0, 0, list[list[str]]()
    for own in texts:
        batch.append([text[:MAX_TEXT_CHARACTERS] for text in own])
        size += sum(map(len, batch[-1]))
        if size > BATCH_CHARACTERS:
            yield first, batch
            first, size, batch = first + len(batch), 0, []
    yield first, batch


def _limit(seconds: float) -> None:
    """Let the system end this process if its parent has not: it could have been ended itself."""
    with suppress(ImportError, ValueError, OSError):  # not on Windows, nor above limits that are there already
        import resource

        resource.setrlimit(resource.RLIMIT_CPU, (int(seconds) + 1, int(seconds) + 1))
        resource.setrlimit(resource.RLIMIT_AS, (MAX_BYTES, MAX_BYTES))


def main() -> None:
    """Read an expression and texts as JSON, and print which items have it, or what is wrong with it."""
    asked = json.load(sys.stdin)
    _limit(asked["seconds"])
    try:
        has = re.compile(asked["expression"], 0 if asked["case"] else re.IGNORECASE).search
        said: dict[str, object] = {"found": [k for k, own in enumerate(asked["texts"]) if any(map(has, own))]}
    except (re.error, OverflowError, RecursionError) as error:
        said = {"error": str(error)}
    json.dump(said, sys.stdout)


if __name__ == "__main__":
    main()
