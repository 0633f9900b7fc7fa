"""Pictures -> rows and graphs: every common format, what is broken said in a sentence, and like pictures joined."""

from __future__ import annotations

import os
import struct
import subprocess
import sys
import zlib
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageOps, features

import askgraph as ag
from askgraph.errors import FileError, GraphError
from askgraph.graph.pictures import describe_pictures
from askgraph.io import pixels
from askgraph.io.pictures import SUFFIXES, folder_table, picture_rows
from askgraph.io.pixels import read_picture, small_picture, to_rgb
from askgraph.support.threads import Budget
from tests.helpers.complaints import complaint

RNG = np.random.default_rng(0)


def scene(kind, shift=0):
    """A picture of 48 × 40 pixels: bars upright or lying, or a disk, moved a little."""
    y, x = np.mgrid[:40, :48]
    value = {
        "upright": (x + shift) // 6 % 2,
        "lying": (y + shift) // 6 % 2,
        "disk": (x - 24 - shift) ** 2 + (y - 20) ** 2 < 150,
    }
    return np.uint8(40 + 170 * value[kind])


@pytest.mark.parametrize("shape", [(32, 32, 3)])
def test_a_row_has_three_parts_of_unit_length(shape):
    row, flat = describe_pictures(np.stack([RNG.integers(0, 256, shape, dtype=np.uint8), np.full(shape, 7, np.uint8)]))
    np.testing.assert_allclose([np.linalg.norm(part) for part in np.split(row, [1764, 2020])], 1, atol=1e-5)
    assert np.isfinite(flat).all()
    assert np.linalg.norm(flat[:2020]) == 0
    assert np.linalg.norm(flat[2020:]) == pytest.approx(1)


def test_edges_are_counted_as_a_plain_loop_counts_them():
    from askgraph.graph.pictures import _edges

    gray = RNG.random((32, 32))
    down, right = np.gradient(gray)
    cells = np.zeros((8, 8, 9))
    for y in range(32):
        for x in range(32):
            turn = np.arctan2(down[y, x], right[y, x]) % np.pi / np.pi * 9
            low, length = int(turn), np.hypot(down[y, x], right[y, x])
            cells[y // 4, x // 4, low % 9] += length * (1 - (turn - low))
            cells[y // 4, x // 4, (low + 1) % 9] += length * (turn - low)
    blocks = []
    for y in range(7):
        for x in range(7):
            block = np.concatenate([cells[y, x], cells[y + 1, x], cells[y, x + 1], cells[y + 1, x + 1]])
            blocks.append(block / (np.linalg.norm(block) + 0.1))
    edges = _edges(np.stack([gray[::-1], gray]))
    np.testing.assert_allclose(edges[1].ravel(), np.concatenate(blocks), atol=1e-12)


def test_like_pictures_are_joined_from_files_and_from_memory(tmp_path):
    kinds = ["upright", "lying", "disk"] * 6
    images = [Image.fromarray(scene(kind, k // 3)) for k, kind in enumerate(kinds)]
    paths = [tmp_path / f"{k}.png" for k in range(18)]
    for path, image in zip(paths, images, strict=True):
        image.save(path)
    graph = ag.nearest_pictures(paths, k=3, names=[path.name for path in paths])
    assert graph.name(4) == "4.png"
    i, j = graph.weights.nonzero()
    assert all(kinds[a] == kinds[b] for a, b in zip(i, j, strict=True))
    same = ag.nearest_pictures(images, k=3)
    np.testing.assert_array_equal(same.weights.toarray(), graph.weights.toarray())


def saved(folder, name, image, **options):
    image.save(folder / name, **options)
    return folder / name


def test_every_kind_of_picture_is_read_as_people_see_it(tmp_path):
    gray = Image.fromarray(scene("disk"))
    (plain,) = describe_pictures(np.asarray(gray.convert("RGB").resize((32, 32)))[None])

    def likeness(path):
        ((row,), notes) = picture_rows([path])
        assert not notes, path
        return float(row @ plain) / 3

    color = gray.convert("RGB")
    exif = Image.Exif()
    exif[0x0112] = 6  # the camera was turned: the file lies on its side
    turned = saved(tmp_path, "turned.jpg", color.rotate(90, expand=True), exif=exif, quality=95)
    assert read_picture(turned).size == color.size
    sixteen = Image.fromarray(np.asarray(gray).astype(np.uint16) * 16)
    clear = Image.fromarray(np.dstack([scene("disk")] * 3 + [np.full((40, 48), 255, np.uint8)]))
    found = {
        "cmyk.jpg": saved(tmp_path, "cmyk.jpg", color.convert("CMYK"), quality=95),
        "animated.gif": saved(
            tmp_path, "animated.gif", gray, save_all=True, append_images=[Image.fromarray(scene("lying"))], duration=50
        ),
        "sixteen.png": saved(tmp_path, "sixteen.png", sixteen),
        "sixteen.tif": saved(tmp_path, "sixteen.tif", sixteen),
        "float.tif": saved(tmp_path, "float.tif", Image.fromarray(np.asarray(gray).astype(np.float32) / 255)),
        "palette.png": saved(tmp_path, "palette.png", color.quantize(8)),
        "turned.jpg": turned,
        "rgba.png": saved(tmp_path, "rgba.png", clear),
        "plain.bmp": saved(tmp_path, "plain.bmp", gray),
    }
    if features.check("webp"):
        found["plain.webp"] = saved(tmp_path, "plain.webp", color, lossless=True)
    low = {name: round(likeness(path), 2) for name, path in found.items() if likeness(path) < 0.75}
    assert not low
    assert set(found) >= {"cmyk.jpg", "sixteen.png", "rgba.png"}


def test_transparent_is_white_and_one_bit_is_black_and_white():
    nothing = Image.new("RGBA", (4, 4), (255, 0, 0, 0))
    assert to_rgb(nothing).getpixel((0, 0)) == (255, 255, 255)
    assert to_rgb(Image.new("1", (4, 4), 1)).getpixel((0, 0)) == (255, 255, 255)
    flat = Image.fromarray(np.full((4, 4), 1000, np.uint16))
    assert to_rgb(flat).getpixel((0, 0)) == (0, 0, 0)
    assert to_rgb(Image.fromarray(np.array([[np.nan, 1.0]], np.float32))).size == (2, 1)


def bomb(width, height):
    """A PNG file whose head promises so many pixels."""

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(b"\0" * 99)) + chunk(b"IEND", b"")


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("empty.png", b"", "not a picture"),
        ("words.png", b"these are words", "not a picture"),
        ("bomb.png", bomb(60_000, 60_000), "more than 89 million pixels; make it smaller"),
        ("large.png", bomb(10_000, 10_000), "more than 89 million pixels; make it smaller"),
        ("postscript.png", b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n", "not a picture"),
        ("short.png", bomb(400, 400), "not readable as a picture"),
    ],
)
def test_what_cannot_be_read_is_said_in_a_sentence(tmp_path, name, content, says):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(FileError, match=says) as raised:
        read_picture(path)
    assert name in str(raised.value)
    assert "\n" not in str(raised.value)


def noise(mode):
    """A picture of 90 × 70 pixels in some mode."""
    values = np.random.default_rng(1).integers(0, 256, (70, 90, 4), dtype=np.uint8)
    gray, deep = values[..., 0], values[..., 0].astype(np.int32) * 256 + values[..., 1]
    color = Image.fromarray(np.ascontiguousarray(values[..., :3]))
    made = {
        "P": lambda: color.quantize(8),
        "I;16": lambda: Image.fromarray(deep.astype(np.uint16)),
        "I": lambda: Image.fromarray(deep - 900),
        "F": lambda: Image.fromarray(np.where(gray < 20, np.nan, deep / 7).astype(np.float32)),
        "LA": lambda: Image.fromarray(values).convert("LA"),
        "RGBA": lambda: Image.fromarray(values),
    }
    return made[mode]() if mode in made else color.convert(mode)


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGB", "RGBA", "CMYK", "I;16", "I", "F"])
def test_a_picture_in_strips_is_the_picture_as_a_whole(tmp_path, monkeypatch, mode):
    picture, files = noise(mode), []
    for turn in range(1, 9) if mode in ("RGB", "I;16", "P") else (1,):
        exif = Image.Exif()
        exif[0x0112] = turn
        upside = picture.transpose(Image.Transpose.ROTATE_90) if turn > 4 else picture  # upright it is wider than high
        suffix = "tif" if mode in ("CMYK", "I", "F") else "png"
        files.append(saved(tmp_path, f"{turn}.{suffix}", upside, exif=exif))
    whole = [read_picture(file) for file in files]
    with Image.open(files[-1]) as plain:
        assert whole[-1].tobytes() == to_rgb(ImageOps.exif_transpose(plain)).tobytes()
    monkeypatch.setattr(pixels, "STRIP", 1000)
    for file, before in zip(files, whole, strict=True):
        assert read_picture(file).tobytes() == before.tobytes()
        rows_first = before.resize((32, 70), Image.Resampling.BILINEAR).resize((32, 32), Image.Resampling.BILINEAR)
        assert small_picture(file).tobytes() == rows_first.tobytes()
    assert small_picture(picture).size == (32, 32)


def several_scans(path, size):
    """A JPEG file with each of its three colors in a scan of its own, none of them progressive."""
    Image.new("L", (size, size), 90).save(path, "JPEG")
    gray = path.read_bytes()
    frame, scan = gray.index(b"\xff\xc0"), gray.index(b"\xff\xda")
    end = frame + 2 + int.from_bytes(gray[frame + 2 : frame + 4], "big")
    three = gray[frame + 4 : frame + 9] + b"\x03" + b"".join(bytes([k, 0x11, 0]) for k in (1, 2, 3))
    scans = b"".join(b"\xff\xda\x00\x08\x01" + bytes([k]) + gray[scan + 6 : -2] for k in (1, 2, 3))
    path.write_bytes(gray[:frame] + b"\xff\xc0\x00\x11" + three + gray[end:scan] + scans + b"\xff\xd9")
    return path


@pytest.mark.parametrize(
    ("name", "options", "refused"),
    [
        ("a.jpg", {}, False),
        ("a.jpg", {"progressive": True}, True),
        ("scans.jpg", None, True),
        ("a.png", {}, False),
        ("a.webp", {}, True),
        ("a.tif", {"compression": "tiff_lzw"}, False),
        ("a.tif", {"compression": "tiff_lzw", "strip_size": 10**9}, True),
    ],
)
def test_a_picture_that_takes_more_bytes_than_all_may_take_is_refused(tmp_path, monkeypatch, name, options, refused):
    if name == "a.webp" and not features.check("webp"):
        pytest.skip("this Pillow does not read WebP")
    size = 600
    path = tmp_path / name
    if options is None:
        several_scans(path, size)
        assert read_picture(path).size == (size, size)
    else:
        Image.new("RGB", (size, size)).save(path, **options)
    monkeypatch.setattr(pixels, "STRIP", size)
    monkeypatch.setattr(pixels, "BUDGET", Budget(5 * size * size))
    if refused:
        with pytest.raises(
            FileError, match=rf"{name}: takes \d+ MB to read, and all pictures together .*; make it smaller"
        ):
            small_picture(path)
    else:
        assert small_picture(path).size == (32, 32)


PEAK = """
import re, sys
from askgraph.io import pictures
pictures.TOGETHER = 1
print(pictures.picture_rows(sys.argv[1:])[1])
print(int(re.search(r"VmHWM:\\s+(\\d+) kB", open("/proc/self/status").read())[1]) // 1024)
"""


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the peak is read from /proc")
def test_promise_24_pictures_of_few_bytes_take_less_than_512_megabytes_in_all_threads(tmp_path):
    large = 6000, 6000
    files = [
        saved(tmp_path, "sixteen.png", Image.new("I;16", large)),
        saved(tmp_path, "rgba.png", Image.new("RGBA", large, (9, 9, 9, 9))),
        saved(tmp_path, "palette.png", Image.new("P", large), transparency=0),
    ]
    assert max(file.stat().st_size for file in files) < 400_000
    done = subprocess.run(
        [sys.executable, "-c", PEAK, *map(str, files)], capture_output=True, text=True, timeout=300, check=True
    )
    notes, megabytes = done.stdout.splitlines()
    assert notes == "[]"
    assert int(megabytes) < 512


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_named_like_a_picture_is_refused_and_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe.png")
    with pytest.raises(FileError, match=r"pipe\.png: a folder, a pipe or a device; give a picture file"):
        read_picture(tmp_path / "pipe.png")


def test_a_bad_picture_costs_only_its_own_edges(tmp_path):
    for k in range(6):
        Image.fromarray(scene("disk", k)).save(tmp_path / f"{k}.png")
    (tmp_path / "bad.png").write_bytes(b"nothing")
    paths = [*sorted(tmp_path.glob("[0-9].png")), tmp_path / "bad.png", tmp_path / "gone.png"]
    graph = ag.nearest_pictures(paths, k=2)
    assert graph.n_nodes == 8
    assert graph.degrees[6:].tolist() == [0, 0]
    assert any("2 pictures without an edge" in note and "bad.png" in note for note in graph.notes)
    with pytest.raises(FileError, match=r"no picture could be read \(.*gone"):
        ag.nearest_pictures([tmp_path / "gone.png", tmp_path / "bad.png"])
    with pytest.raises(GraphError, match="1 picture to compare"):
        ag.nearest_pictures([paths[0], tmp_path / "bad.png"])
    with pytest.raises(FileError, match="no picture"):
        ag.nearest_pictures([])


def test_no_damaged_picture_escapes(tmp_path):
    """Files cut short or with changed bytes are read, or refused with an error of askgraph; nothing else happens."""
    for name, options in (("a.png", {}), ("a.jpg", {}), ("a.gif", {}), ("a.tif", {}), ("a.bmp", {})):
        whole = saved(tmp_path, name, Image.fromarray(scene("disk")), **options).read_bytes()
        path = tmp_path / f"bad{name}"
        for _ in range(60):
            broken = bytearray(whole[: RNG.integers(1, len(whole) + 1)])
            broken[RNG.integers(len(broken))] = RNG.integers(256)
            path.write_bytes(broken)
            assert path.name in complaint(partial(read_picture, path), otherwise=path.name)


def test_a_folder_is_a_table_of_its_pictures(tmp_path):
    for name in ("b.png", "cats/1.JPG", "cats/more/2.gif", ".hidden.png", ".cache/3.png", "notes.txt"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"")
    table = folder_table(tmp_path)
    assert table.cells("file") == ["b.png", "cats/1.JPG", "cats/more/2.gif"]
    assert table.cells("folder") == [None, "cats", "more"]
    assert table.where(1) == "cats/1.JPG"
    assert ".tiff" in SUFFIXES
    (tmp_path / "none").mkdir()
    with pytest.raises(FileError, match="a folder without pictures"):
        folder_table(tmp_path / "none")


@pytest.mark.long
@pytest.mark.data
@pytest.mark.slow
def test_fifty_labels_tell_digits_in_png_files_apart(tmp_path):
    path = Path(os.environ["ASKGRAPH_DATA"]) / "trial" / "mnist_3000.npz"
    if not path.exists():
        pytest.skip(f"{path} is not there")
    with np.load(path) as found:
        images, digits = found["images"].reshape(-1, 28, 28), found["y"]
    for k, image in enumerate(images):
        Image.fromarray(image).save(tmp_path / f"{k}.png")
    learner = ag.Learner(ag.nearest_pictures([tmp_path / f"{k}.png" for k in range(len(digits))]), rng=0)
    for _ in range(50):
        node = learner.ask()
        learner.tell(node, digits[node])
    assert (learner.predict() == digits).mean() > 0.95  # 0.966 measured; plain pixels have 0.911
