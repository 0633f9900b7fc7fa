"""The demo project of the page: handwritten digits as images, without labels."""

from __future__ import annotations

import struct
import uuid
import zlib
from pathlib import Path

import numpy as np

from askgraph.graph.build import nearest_neighbors
from askgraph.types import AnyArray
from askgraph.workbench.items import Items
from askgraph.workbench.new_project import usual_settings
from askgraph.workbench.store import Store

ENLARGE = 24  # pixels of the image per pixel of a digit, each way


def make_demo(folder: Path) -> Path:
    """Return the demo project in a folder; make it if it does not exist yet."""
    from sklearn.datasets import load_digits

    path, images = folder / "digits.ask", folder / "images"
    if path.exists():
        return path
    images.mkdir(parents=True, exist_ok=True)
    digits = load_digits()
    names = [f"{k:04}.png" for k in range(len(digits.images))]
    for name, pixels in zip(names, digits.images, strict=True):
        (images / name).write_bytes(png(255 - np.round(pixels * 255 / 16)))
    about = {
        "project": "digits",
        "uid": str(uuid.uuid4()),
        "classes": [str(digit) for digit in range(10)],
        "fields": {},
        "images": str(images.absolute()),
        "graph": ["10 nearest neighbors of each digit by its 64 pixels"],
        "settings": usual_settings("classes").to_json(),
        "seed": 0,
        "overlap": 1,
    }
    items = Items([str(k) for k in range(len(names))], images=list(names))
    Store.create(path, items, nearest_neighbors(digits.data, k=10), about)
    return path


def png(gray: AnyArray) -> bytes:
    """Return an enlarged PNG image of gray values from 0 to 255.

    >>> png(np.zeros((1, 1)))[1:4]
    b'PNG'
    """
    wide = np.kron(gray, np.ones((ENLARGE, ENLARGE))).astype(np.uint8)
    height, width = wide.shape
    lines = np.hstack(
        [np.zeros((height, 1), dtype=np.uint8), wide]
    ).tobytes()  # each line begins with its filter type, 0 for none
    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    parts = _chunk(b"IHDR", head), _chunk(b"IDAT", zlib.compress(lines, 9)), _chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
