"""What is dropped on the first page: files that come as bytes, in parts, and lie in a folder of their own until they are used."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from uuid import uuid4

from askgraph.errors import FileError, FullError, LabelError, SettingError
from askgraph.io.pictures import is_picture
from askgraph.io.readers import EDGES, TABLES
from askgraph.io.text import TEXT
from askgraph.support.files import LONGEST_NAME, safe_name
from askgraph.workbench.shelf import PROJECT

LONGEST = 255  # bytes of the name of a file: what lies on this machine already keeps its name
MAX_BYTES, MAX_FILES = 2 * 2**30, 50_000  # of all that is dropped at once
READ = {*TABLES, *EDGES, *TEXT, PROJECT, ".npz", ".mtx", ".graphml", ".gml"}  # files that are not pictures


class Upload:
    """The files of one drop, in a folder of their own. Names of files lose everything that could lead elsewhere."""

    def __init__(self, folder: Path) -> None:
        self.id: str = uuid4().hex
        self.folder: Path = Path(tempfile.mkdtemp(prefix=".askgraph-", dir=folder))
        self.sizes: dict[str, int] = {}
        self.left_out: int = 0  # files of folders that are neither pictures nor tables, such as Thumbs.db

    def write(self, name: str, offset: int, data: bytes) -> None:
        """Add a part to a file; parts come in order."""
        longest = LONGEST_NAME if name.casefold().endswith(PROJECT) else LONGEST  # SQLite adds to the name of a project
        parts = [safe_name(part, longest) for part in name.replace("\\", "/").split("/") if part not in ("", ".")]
        inside = "/".join(parts[-4:])
        if not parts or not (is_picture(inside) or Path(inside).suffix.casefold() in READ or "." not in parts[-1]):
            if len(parts) > 1:
                self.left_out += offset == 0
                return
            raise FileError(f"{name[:100]}: a file of this type is not read; drop a table, pictures or an edge list")
        if self.sizes.get(inside, 0) != offset:
            raise LabelError(f"{inside}: a part of it is missing; drop it again")
        if sum(self.sizes.values()) + len(data) > MAX_BYTES or len(self.sizes) >= MAX_FILES:
            limit = f"{MAX_BYTES / 2**30:.0f} GB or {MAX_FILES:,} files"
            raise FullError(f"more than {limit} at once; use askgraph init on the command line")
        path = self.folder / inside
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with open(path, "ab" if offset else "wb") as file:
                file.write(data)
        except OSError as error:
            raise FullError(f"{inside}: cannot be stored ({error.strerror}); make room and drop it again") from None
        self.sizes[inside] = offset + len(data)

    @property
    def pictures(self) -> list[str]:
        """The names of the pictures."""
        return [name for name in self.sizes if is_picture(name)]

    @property
    def file(self) -> Path:
        """The one file that is not a picture."""
        found = [name for name in self.sizes if not is_picture(name)]
        if len(found) != 1:
            raise SettingError(
                f"{len(found)} files that are not pictures: drop one table, or one edge list, or pictures"
            )
        return self.folder / found[0]

    @property
    def project(self) -> Path | None:
        """The project that was dropped, by itself; None if other files were."""
        if not any(Path(name).suffix.casefold() == PROJECT for name in self.sizes):
            return None
        if len(self.sizes) > 1:
            raise SettingError(f"{len(self.sizes)} files, and one of them is a project (.ask): drop that one by itself")
        return self.file

    @property
    def common_folder(self) -> str | None:
        """The folder that all files lie in, or None."""
        first = {name.split("/")[0] if "/" in name else "" for name in self.sizes}
        return (first.pop() or None) if len(first) == 1 else None

    def drop(self) -> None:
        """Delete the files."""
        shutil.rmtree(self.folder, ignore_errors=True)
