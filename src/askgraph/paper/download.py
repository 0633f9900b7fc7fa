"""Find the files of a dataset in a folder, compressed or not, or download them from where they are published."""

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

MAX_BYTES = 64 * 2**20  # of a file, compressed or not: over twice the largest of these files; more is refused
CHUNK_BYTES = 2**16  # read at a time
TIMEOUT = 30.0  # seconds without a byte, after which a download fails
OPENERS: dict[str, Callable[..., Any]] = {"": open, ".gz": gzip.open, ".bz2": bz2.open}


@dataclass(frozen=True)
class File:
    """One published file: its path in the data folder, its address (or that of an archive), and its checksum."""

    path: str
    address: str
    sha256: str | None
    lines: int | None = None

    @property
    def name(self) -> str:
        """The name without the folder."""
        return PurePosixPath(self.path).name

    def found(self, root: Path) -> Path | None:
        """Return the path of the file in a folder, plain, .gz or .bz2; None if it is not there."""
        places = (root / f"{self.path}{suffix}" for suffix in OPENERS)
        return next((place for place in places if place.is_file()), None)

    def flaw(self, content: bytes) -> str | None:
        """Return how the content differs from the published one, or None."""
        digest, lines = hashlib.sha256(content).hexdigest(), len(content.splitlines())
        if self.lines not in (None, lines):
            return f"it has {lines} lines, not {self.lines}"
        return f"its sha256 is {digest}, not {self.sha256}" if self.sha256 not in (None, digest) else None


def read(source: File, root: Path) -> bytes:
    """Return the content of a file in a folder, decompressed and checked."""
    path = source.found(root)
    if path is None:
        place = root / source.path
        raise FileError(
            f"no {place} (nor .gz, .bz2); put {source.name}, unpacked from {source.address}, into {place.parent}"
        )
    try:
        with OPENERS[path.suffix if path.suffix in OPENERS else ""](path, "rb") as file:
            content = _read_limited(file)
        flaw = source.flaw(content)
    except Exception as error:  # the decompressors report damage by many exceptions
        flaw = f"it cannot be read: {error}"
    if flaw:
        raise FileError(f"{path} is not the published file ({flaw}); replace it by the one at {source.address}")
    return content


def download(sources: Iterable[File], root: Path) -> None:
    """Download files into a folder, each address once; keep only files that are complete and correct."""
    for address, group in itertools.groupby(sources, lambda source: source.address):
        wanted = list(group)
        try:
            packed = _fetch(address)
            contents = [_unpack(source, packed) for source in wanted]
            for source, content in zip(wanted, contents, strict=True):
                _write(root / source.path, content)
        except Exception as error:  # network, disk and archives fail by many exceptions
            names, folder = " and ".join(source.name for source in wanted), (root / wanted[0].path).parent
            message = f"{address} did not give {names} ({error}); get it by other means and put {names} into {folder}"
            raise FileError(message) from None


def _fetch(address: str) -> bytes:
    log.info("downloading %s", address)
    request = urllib.request.Request(address, headers={"User-Agent": "askgraph"})
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT) as reply:
            return _receive(reply, int(reply.headers.get("Content-Length") or 0), PurePosixPath(address).name)
    except HTTPError as error:
        error.close()
        raise


def _receive(reply: IO[bytes], total: int, name: str) -> bytes:
    content = bytearray()
    with bar(total, f"downloading {name}") as tick:
        while len(content) <= MAX_BYTES and (part := reply.read(CHUNK_BYTES)):
            content += part
            tick(len(part))
    whole = _read_limited(io.BytesIO(content))
    if len(whole) < total:
        raise ValueError(f"{len(whole)} of {total} bytes came")
    return whole


def _read_limited(file: Any) -> bytes:
    content: bytes = file.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        raise ValueError(f"over {MAX_BYTES} bytes, more than any of these files has")
    return content


def _unpack(source: File, packed: bytes) -> bytes:
    unpack = UNPACKERS.get(PurePosixPath(source.address).suffix)
    content = unpack(packed, source.name) if unpack else packed
    if flaw := source.flaw(content):
        raise ValueError(f"{source.name}: {flaw}")
    return content


def _find_member(names: Iterable[str], name: str) -> str:
    """Return the member of an archive with this name, in any folder."""
    found = next((member for member in names if PurePosixPath(member).name == name), None)
    if found is None:
        raise ValueError(f"no {name} in the archive")
    return found


def _from_tgz(packed: bytes, name: str) -> bytes:
    with gzip.open(io.BytesIO(packed)) as unpacked:
        plain = io.BytesIO(_read_limited(unpacked))
    with tarfile.open(fileobj=plain, mode="r:") as archive:
        member = archive.extractfile(_find_member(archive.getnames(), name))
        if member is None:
            raise ValueError(f"{name} is not a file in the archive")
        return _read_limited(member)


def _from_zip(packed: bytes, name: str) -> bytes:
    with zipfile.ZipFile(io.BytesIO(packed)) as archive, archive.open(_find_member(archive.namelist(), name)) as member:
        return _read_limited(member)


def _from_bz2(packed: bytes, name: str) -> bytes:
    with bz2.open(io.BytesIO(packed)) as content:
        return _read_limited(content)


UNPACKERS = {".tgz": _from_tgz, ".zip": _from_zip, ".bz2": _from_bz2}


def _write(path: Path, content: bytes) -> None:
    """Write a file in one step, also where two processes write the same one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path, path.with_name(f"{path.name}.{os.getpid()}.part")) as file:
        file.write(content)
