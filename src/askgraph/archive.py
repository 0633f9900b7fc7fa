"""Arrays and plain values in npz files: written whole or not at all, read without unpickling anything."""

from __future__ import annotations

import json
import os
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from askgraph.errors import FileError
from askgraph.types import AnyArray


def save_arrays(path: str | os.PathLike[str], **arrays: Any) -> None:
    """Write one npz file; a file that is there is replaced only once the new one is whole."""
    part = Path(f"{os.fspath(path)}.part")
    try:
        with part.open("wb") as file:
            np.savez(file, **arrays)
        part.replace(path)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise FileError(f"{path}: cannot be written ({error.strerror}); choose another place") from None


def load_arrays(path: str | os.PathLike[str]) -> dict[str, AnyArray]:
    """The arrays of an npz file; never unpickles, and refuses what unpacks to far more than it should."""
    try:
        with zipfile.ZipFile(path) as packed:
            full, small = (sum(getattr(e, k) for e in packed.infolist()) for k in ("file_size", "compress_size"))
        if full > 2**26 and full > 200 * small:
            raise FileError(f"{path}: {small} bytes would unpack to {full}; save it without compression")
        with np.load(path, allow_pickle=False) as stored:
            return {key: stored[key] for key in stored.files}
    except FileError:
        raise
    except OSError as error:
        raise FileError(f"{path}: cannot be read ({error.strerror or error})") from None
    except Exception as error:  # damage shows in many ways below; all of them mean this
        raise FileError(f"{path}: not a readable npz file ({error!r}); write it anew, without object arrays") from None


def as_json(values: Any, what: str) -> str:
    """Values as JSON, if JSON gives the same back; tuples come back as tuples."""
    try:
        text = json.dumps(values)
        if from_json(text) == values:
            return text
    except (TypeError, ValueError):
        pass
    kinds = sorted({type(value).__name__ for value in values or ()})
    raise FileError(f"{what} of type {', '.join(kinds)} cannot be saved: use text, numbers or tuples of them")


def from_json(text: str) -> Any:
    """What ``as_json`` was given, lists as tuples."""
    return _thawed(json.loads(text))


def _thawed(value: Any) -> Any:
    return tuple(map(_thawed, value)) if isinstance(value, list) else value
