"""Promises 1, 2, 21 and 30 at length: a writer killed at random moments, power loss, a server under load for a long time, backups.

python benchmarks/faults.py kill [writes] [kills]       # 10,000 labels, 100 kills by default
python benchmarks/faults.py power [labels] [points]     # 500 labels, 200 points by default, each without and with torn writes
python benchmarks/faults.py soak [minutes]              # 30 minutes of people, imports, exports, restarts and kills by default
python benchmarks/faults.py backup [kills]              # a process that makes backups, killed 100 times by default
python benchmarks/faults.py --smoke                     # two kills in twenty labels, to see that it runs
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np
from measure import SMOKE

sys.path.insert(0, str(Path(__file__).parents[1]))
from tests.helpers.faults import backups_killed, darkened, killed
from tests.helpers.projects import make
from tests.helpers.soak import soak as soaked


def kill(folder, writes=10_000, kills=100):
    found = killed(make(folder / "p.ask"), writes, kills, np.random.default_rng(0))
    print(f"promise 1: {found}")
    return found.lost == 0 and found.damage is None and found.slowest < 5


def power(folder, labels=500, points=200):
    kept = True
    for torn in (False, True):
        path = make(folder / f"{torn}.ask")
        found = darkened(path, labels, points, np.random.default_rng(0), torn)
        print(f"promise 2, unsynced writes {'torn' if torn else 'dropped'}: {found}")
        kept &= found.lost == found.unreadable == 0
    return kept


def soak(folder, minutes=30):
    print(f"promise 21, {minutes} minutes:")
    return soaked(60 * minutes)


def backup(folder, kills=100):
    found = backups_killed(make(folder / "p.ask", 250), kills, np.random.default_rng(0))
    print(f"promise 30: {found}")
    return found.torn == 0


if __name__ == "__main__":
    given = sys.argv[1:] if not SMOKE else ["kill", "20", "2"]
    what = {"kill": kill, "power": power, "soak": soak, "backup": backup}[given[0]]
    with tempfile.TemporaryDirectory() as folder:
        sys.exit(0 if what(Path(folder), *map(int, given[1:])) else "a promise is not kept")
