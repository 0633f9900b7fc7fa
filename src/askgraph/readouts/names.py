"""The readouts by their names."""

from __future__ import annotations

from typing import cast

from askgraph.errors import SettingError
from askgraph.readouts.cautious import Cautious
from askgraph.readouts.checked import Checked
from askgraph.readouts.readout import Readout, ReadoutFunction
from askgraph.readouts.readouts import Consensus, Map, Mass, Reweighted, Tempered, Votes

READOUTS: dict[str, Readout] = {
    "map": Map(),
    "mass": Mass(),
    "tempered": Tempered(),
    "consensus": Consensus(),
    "cautious": Cautious(),
    "reweighted": Reweighted(),
    "votes": Votes(),
}
OWN = {Checked, *map(type, READOUTS.values())}


def as_readout(readout: str | Readout | ReadoutFunction) -> Readout:
    """Return a readout by name, or the one given; what one of the user's own returns is checked."""
    if type(readout) in OWN:
        return cast(Readout, readout)
    if not isinstance(readout, str) and callable(readout):
        return Checked(readout)
    if isinstance(readout, str) and readout in READOUTS:
        return READOUTS[readout]
    names = ", ".join(map(repr, READOUTS))
    raise SettingError(f"no readout called {readout!r}: choose one of {names}, or pass a function of the field")
