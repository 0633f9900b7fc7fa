"""The files of a dataset: found in a folder, packed or not, or fetched from where they are published."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import io
import itertools
import os
import tarfile
import urllib.request
import zipfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, Any
from urllib.error import HTTPError

from askgraph.errors import FileError
from askgraph.support.files import replacing
from askgraph.support.progress import bar, log

LARGEST = 64 * 2**20  # bytes, packed or unpacked: over twice the largest of these files
STEP = 2**16
TIMEOUT = 30.0  # seconds without a byte
OPENERS: dict[str, Callable[..., Any]] = {"": open, ".gz": gzip.open, ".bz2": bz2.open}


@dataclass(frozen=True)
class File:
    """One published file: its place in the data folder, its address (perhaps of an archive), and what it holds."""

    path: str
    address: str
    sha256: str | None
    lines: int | None = None

    @property
    def name(self) -> str:
        """Its name without the folder."""
        return PurePosixPath(self.path).name

    def found(self, root: Path) -> Path | None:
        """Where it lies in this folder: plain, .gz or .bz2."""
        places = (root / f"{self.path}{suffix}" for suffix in OPENERS)
        return next((place for place in places if place.is_file()), None)

    def flaw(self, content: bytes) -> str | None:
        """What tells this content from the published one."""
        digest, lines = hashlib.sha256(content).hexdigest(), len(content.splitlines())
        if self.lines not in (None, lines):
            return f"it has {lines} lines, not {self.lines}"
        return f"its sha256 is {digest}, not {self.sha256}" if self.sha256 not in (None, digest) else None


def read(source: File, root: Path) -> bytes:
    """The content of a file that lies in this folder, unpacked and checked."""
    path = source.found(root)
    if path is None:
        place = root / source.path
        raise FileError(
            f"no {place} (nor .gz, .bz2); put {source.name}, unpacked from {source.address}, into {place.parent}"
        )
    try:
        with OPENERS[path.suffix if path.suffix in OPENERS else ""](path, "rb") as file:
            content = _limited(file)
        flaw = source.flaw(content)
    except Exception as error:  # damage shows in many ways below; all of them mean this
        flaw = f"it cannot be read: {error}"
    if flaw:
        raise FileError(f"{path} is not the published file ({flaw}); replace it by that of {source.address}")
    return content


def download(sources: Iterable[File], root: Path) -> None:
    """Fetch these files into this folder, each address once; only what is whole and right is kept."""
    for address, group in itertools.groupby(sources, lambda source: source.address):
        wanted = list(group)
        try:
            packed = _fetched(address)
            contents = [_checked(source, packed) for source in wanted]
            for source, content in zip(wanted, contents, strict=True):
                _write(root / source.path, content)
        except Exception as error:  # a network, a disk and three formats fail in many ways; all of them mean this
            names, folder = " and ".join(source.name for source in wanted), (root / wanted[0].path).parent
            message = f"{address} did not give {names} ({error}); get it by other means and put {names} into {folder}"
            raise FileError(message) from None


def _fetched(address: str) -> bytes:
    log.info("downloading %s", address)
    request = urllib.request.Request(address, headers={"User-Agent": "askgraph"})
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT) as reply:
            return _received(reply, int(reply.headers.get("Content-Length") or 0), PurePosixPath(address).name)
    except HTTPError as error:
        error.close()
        raise


def _received(reply: IO[bytes], total: int, name: str) -> bytes:
    content = bytearray()
    with bar(total, f"downloading {name}") as tick:
        while len(content) <= LARGEST and (part := reply.read(STEP)):
            content += part
            tick(len(part))
    whole = _limited(io.BytesIO(content))
    if len(whole) < total:
        raise ValueError(f"{len(whole)} of {total} bytes came")
    return whole


def _limited(file: Any) -> bytes:
    content: bytes = file.read(LARGEST + 1)
    if len(content) > LARGEST:
        raise ValueError(f"over {LARGEST} bytes, more than any of these files has")
    return content


def _checked(source: File, packed: bytes) -> bytes:
    unpack = UNPACKERS.get(PurePosixPath(source.address).suffix)
    content = unpack(packed, source.name) if unpack else packed
    if flaw := source.flaw(content):
        raise ValueError(f"{source.name}: {flaw}")
    return content


def _member(names: Iterable[str], name: str) -> str:
    """The archive's member of this name, in whatever folder."""
    found = next((member for member in names if PurePosixPath(member).name == name), None)
    if found is None:
        raise ValueError(f"no {name} in the archive")
    return found


def _from_tgz(packed: bytes, name: str) -> bytes:
    with gzip.open(io.BytesIO(packed)) as unpacked:
        plain = io.BytesIO(_limited(unpacked))
    with tarfile.open(fileobj=plain, mode="r:") as archive:
        member = archive.extractfile(_member(archive.getnames(), name))
        if member is None:
            raise ValueError(f"{name} is no file in the archive")
        return _limited(member)


def _from_zip(packed: bytes, name: str) -> bytes:
    with zipfile.ZipFile(io.BytesIO(packed)) as archive, archive.open(_member(archive.namelist(), name)) as member:
        return _limited(member)


def _from_bz2(packed: bytes, name: str) -> bytes:
    with bz2.open(io.BytesIO(packed)) as content:
        return _limited(content)


UNPACKERS = {".tgz": _from_tgz, ".zip": _from_zip, ".bz2": _from_bz2}


def _write(path: Path, content: bytes) -> None:
    """Whole or not at all, even where two processes write it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path, path.with_name(f"{path.name}.{os.getpid()}.part")) as file:
        file.write(content)
