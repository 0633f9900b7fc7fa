"""The pixels of picture files in RGB, upright, within a number of bytes that all threads share."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import numpy as np
from PIL import Image, UnidentifiedImageError
from PIL.JpegImagePlugin import JpegImageFile
from PIL.TiffImagePlugin import BITSPERSAMPLE, ROWSPERSTRIP, TILELENGTH, TILEWIDTH

from askgraph.errors import FileError
from askgraph.graph.pictures import SIDE
from askgraph.io.text import FilePath
from askgraph.support.files import reading
from askgraph.support.memory import give_back
from askgraph.support.threads import Budget
from askgraph.types import AnyArray

FORMATS = ("PNG", "JPEG", "GIF", "WEBP", "BMP", "AVIF", "TIFF")  # no format that runs a program or has a language
AMPLE = 4  # times the size to compare at: a JPEG file is unpacked no larger, which is many times faster
BAD = "save it anew as PNG or JPEG"
BUDGET = Budget(400_000_000)  # bytes of all pictures read at a time: with the program itself below 512 MB
BESIDE = {"WEBP": 12, "AVIF": 12, "BMP": 2}  # bytes per pixel that reading takes beside the picture itself
STRIP = 2**21  # pixels that become RGB at a time; in a larger picture a level of 255 may come out as its neighbor
CONVERTING, STRETCHING = 20, 32  # bytes per pixel of a strip that becomes RGB, and of one in gray of more than 8 bits
LARGE = 2**25  # bytes: after a picture of more, freed memory is given back to the system, which takes a millisecond
ORIENTATION = 0x0112  # the tag of EXIF that says how to set a picture upright: a key of TURNS, or 1
TURNS = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}
SIDEWAYS = (5, 6, 7, 8)  # turns that make rows of columns
FROM_END = (3, 4, 7, 8)  # turns that begin with the last row, or column


def small_picture(picture: FilePath | Image.Image) -> Image.Image:
    """Return a picture in RGB at the size to compare at."""
    if isinstance(picture, Image.Image):
        return _shrunk(picture)
    with _loaded(picture, AMPLE * SIDE) as (loaded, turn):
        return _shrunk(loaded, turn)


def read_picture(path: FilePath) -> Image.Image:
    """Read a picture file as RGB, the right way up."""
    with bombs_refused(), _loaded(path) as (loaded, turn):
        return to_rgb(loaded, turn)


@contextmanager
def bombs_refused() -> Iterator[None]:
    """Make the warning of Pillow about a picture that is too large an error; other warnings are silent: odd metadata does no harm.

    The filters are those of the process, so threads enter this once, together.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", Image.DecompressionBombWarning)
        yield


@contextmanager
def _loaded(path: FilePath, least: int | None = None) -> Iterator[tuple[Image.Image, int]]:
    """Return a context with a picture file that is read and the turn that sets it upright; it waits for bytes of other threads.

    With ``least`` only a small picture is wanted, and a JPEG file may come with fewer pixels, but not below that many each way.
    """
    with reading(path, "a picture", BAD):
        _check_plain(path)
        try:
            with Image.open(path, formats=_known_formats()) as opened:
                beside = _bytes_beside(opened)
                if least is not None:
                    opened.draft("RGB", (least, least))
                wanted = beside + _bytes_of(opened) + _bytes_to_convert(opened, whole=least is None)
                _check_fits(path, wanted)
                with BUDGET.take(wanted), _freed(opened, wanted):
                    opened.load()
                    yield opened, opened.getexif().get(ORIENTATION, 1)
        except (Image.DecompressionBombWarning, Image.DecompressionBombError):
            limit = f"{(Image.MAX_IMAGE_PIXELS or 0) // 10**6:,} million pixels"
            raise FileError(f"{path}: unpacks to more than {limit}; make it smaller") from None
        except UnidentifiedImageError:
            raise FileError(f"{path}: not a picture, or not PNG, JPEG, GIF, WebP, BMP, AVIF or TIFF; {BAD}") from None


@contextmanager
def _freed(opened: Image.Image, taken: int) -> Iterator[None]:
    """Return a context after which the memory of a picture is free, for the system too if it is much."""
    try:
        yield
    finally:
        opened.close()
        if taken > LARGE:
            give_back()


def _check_plain(path: FilePath) -> None:
    """Raise an error for what is there and is not a file: a pipe would never end."""
    if os.path.exists(path) and not os.path.isfile(path):
        raise FileError(f"{path}: a folder, a pipe or a device; give a picture file")


def _check_fits(path: FilePath, wanted: int) -> None:
    if wanted > BUDGET.whole:
        raise FileError(
            f"{path}: takes {wanted / 1e6:,.0f} MB to read, and all pictures together may take {BUDGET.whole / 1e6:,.0f} MB; "
            "make it smaller"
        )


def _bytes_of(picture: Image.Image) -> int:
    """Return the bytes of a picture in memory."""
    each = 1 if picture.mode in ("1", "L", "P") else 2 if picture.mode.startswith("I;16") else 4
    return each * picture.width * picture.height


def _bytes_beside(opened: Any) -> int:
    """Return the bytes that reading a picture takes beside its own."""
    pixels = opened.width * opened.height
    if isinstance(opened, JpegImageFile):
        coefficients = 2 * len(opened.getbands()) * pixels
        return 0 if _in_one_scan(opened) else coefficients
    if opened.format == "TIFF":
        return _bytes_beside_tiff(opened)
    return BESIDE.get(opened.format, 0) * pixels


def _in_one_scan(jpeg: Any) -> bool:
    """Return whether a JPEG file has all its colors in one scan: what has several is held whole, however small it is unpacked."""
    file = jpeg.fp
    file.seek(2)  # after the mark that begins the file; segments follow, each with its mark and its length
    while "progressive" not in jpeg.info and len(head := file.read(5)) == 5 and head[0] == 0xFF:
        if head[1] == 0xDA:  # a scan, and how many colors it has
            return bool(head[4] == len(jpeg.getbands()))
        file.seek(int.from_bytes(head[2:4], "big") - 3, os.SEEK_CUR)
    return False


def _bytes_beside_tiff(tiff: Any) -> int:
    """Return the bytes of one tile or strip, which is unpacked whole and may be all of the picture, and of a turned copy."""
    tags, (width, height) = tiff.tag_v2, tiff.size
    block = max(width * min(tags.get(ROWSPERSTRIP, height), height), tags.get(TILEWIDTH, 0) * tags.get(TILELENGTH, 0))
    turned = _bytes_of(tiff) if tags.get(ORIENTATION, 1) in TURNS else 0
    return int(block * max(sum(tags.get(BITSPERSAMPLE, (1,))) // 8, 4)) + turned


def _bytes_to_convert(opened: Image.Image, whole: bool) -> int:
    """Return the bytes that a strip takes on its way to RGB, and all of the picture in RGB if that is wanted."""
    pixels, each = opened.width * opened.height, STRETCHING if _is_deep(opened) else CONVERTING
    return each * min(max(STRIP, *opened.size), pixels) + (4 * pixels if whole else 0)


@cache
def _known_formats() -> list[str]:
    Image.init()  # Pillow loads what reads a format when it is first needed, and an early version has no AVIF
    return [name for name in FORMATS if name in Image.OPEN]


def to_rgb(picture: Image.Image, turn: int = 1) -> Image.Image:
    """Return the first frame in RGB: transparent on white, and gray of more than 8 bits stretched from darkest to lightest.

    ``turn`` is the orientation of EXIF: how to set the picture upright.
    """
    return _stacked(_strips(picture, turn), *_upright_size(picture, turn))


def _shrunk(picture: Image.Image, turn: int = 1) -> Image.Image:
    """Return a picture in RGB at the size to compare at; of a large one, strips are made narrow as soon as they are converted."""
    if picture.width * picture.height <= STRIP:
        narrow = to_rgb(picture, turn)
    else:
        strips = (strip.resize((SIDE, strip.height), Image.Resampling.BILINEAR) for strip in _strips(picture, turn))
        narrow = _stacked(strips, SIDE, _upright_size(picture, turn)[1])
    return narrow.resize((SIDE, SIDE), Image.Resampling.BILINEAR)


def _stacked(strips: Iterable[Image.Image], width: int, height: int) -> Image.Image:
    """Return strips of RGB, from the top, as one picture."""
    whole, top = Image.new("RGB", (width, height)), 0
    for strip in strips:
        whole.paste(strip, (0, top))
        top += strip.height
    return whole


def _strips(picture: Image.Image, turn: int) -> Iterator[Image.Image]:
    """Return a picture in strips of RGB, upright, from the top: converted as a whole it takes up to 30 bytes per pixel."""
    if not _is_deep(picture):
        yield from map(_on_white, _pieces(picture, turn))
        return
    extremes = [(values.min(), values.max()) for values in map(_values, _pieces(picture, turn))]
    darkest, lightest = min(low for low, _ in extremes), max(high for _, high in extremes)
    for piece in _pieces(picture, turn):
        gray = (_values(piece) - darkest) * (255 / ((lightest - darkest) or 1.0))
        yield Image.fromarray(np.uint8(gray)).convert("RGB")


def _pieces(picture: Image.Image, turn: int) -> Iterator[Image.Image]:
    """Return a picture in its own mode, upright, some rows at a time from the top."""
    width, height = _upright_size(picture, turn)
    rows = max(STRIP // width, 1)
    for top in range(0, height, rows):
        piece = picture.crop(_box(picture, turn, top, min(top + rows, height)))
        yield piece.transpose(TURNS[turn]) if turn in TURNS else piece


def _upright_size(picture: Image.Image, turn: int) -> tuple[int, int]:
    return (picture.height, picture.width) if turn in SIDEWAYS else picture.size


def _box(picture: Image.Image, turn: int, top: int, end: int) -> tuple[int, int, int, int]:
    """Return where the rows from ``top`` to ``end`` of the upright picture lie in the picture as it is."""
    if turn in SIDEWAYS:
        width = picture.width
        return (width - end, 0, width - top, picture.height) if turn in FROM_END else (top, 0, end, picture.height)
    height = picture.height
    return (0, height - end, picture.width, height - top) if turn in FROM_END else (0, top, picture.width, end)


def _is_deep(picture: Image.Image) -> bool:
    return picture.mode.startswith(("I", "F"))


def _values(gray: Image.Image) -> AnyArray:
    return np.nan_to_num(np.asarray(gray, dtype=np.float64))


def _on_white(picture: Image.Image) -> Image.Image:
    if not picture.has_transparency_data:
        return picture.convert("RGB")
    layer = picture.convert("RGBA")
    return Image.alpha_composite(Image.new("RGBA", layer.size, "white"), layer).convert("RGB")
