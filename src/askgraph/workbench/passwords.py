"""The passwords of people who have a role, in a file in this user's own folder.

As the token of a server, they never lie in the project or beside it: neither a copy, a backup nor an export holds them, and whoever
sends a project cannot send a way into the server with it. Of a password the file holds what scrypt makes of it.
"""

from __future__ import annotations

import hmac
import json
import os
import secrets
from collections.abc import Mapping
from hashlib import scrypt, sha256
from pathlib import Path
from typing import Any

from askgraph.errors import FileError, LabelError
from askgraph.support.files import open_no_follow, replacing
from askgraph.workbench.project import Project
from askgraph.workbench.server_file import is_ours, server_file

SHORTEST, LONGEST = 8, 200  # characters of a password that somebody chooses
LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"  # of passwords that are made here: none looks like another
GROUPS, PER_GROUP = 4, 5  # of letters in such a password: 31 ** 20 are 99 bits
WORK = {"n": 2**14, "r": 8, "p": 5, "maxmem": 2**26, "dklen": 32}  # of scrypt: 16 MB and about 0.2 s
SALT_BYTES = 16
MAX_FILE_BYTES = 10**6  # no more is read: a person takes 150
NOBODY = "0" * (2 * SALT_BYTES + 2 * 32)  # what the password of an unknown person is compared with


class Passwords:
    """The passwords of one project. Every reading looks whether the file has changed, since a command may write it."""

    def __init__(self, project: str | os.PathLike[str]) -> None:
        self._path = server_file(Path(project)).with_suffix(".passwords.json")
        self._read: tuple[tuple[int, int, int] | None, dict[str, str]] = (None, {})

    def set(self, who: str, password: str) -> None:
        """Set the password of a person, in place of the one before."""
        check_password(password)
        salt = secrets.token_bytes(SALT_BYTES)
        self._write({**self._known(), who: salt.hex() + _derived(password, salt).hex()})

    def remove(self, who: str) -> None:
        """Forget the password of a person."""
        self._write({name: said for name, said in self._known().items() if name != who})

    def fits(self, who: str, password: str) -> str | None:
        """Return the stamp of a person whose password this is, else None; that of an unknown one takes as long to refuse."""
        known = self.stamp(who)
        said = known or NOBODY
        salt, expected = bytes.fromhex(said[: 2 * SALT_BYTES]), bytes.fromhex(said[2 * SALT_BYTES :])
        given = _derived(password[: LONGEST + 1], salt)  # one character more than any password has
        return known if hmac.compare_digest(given, expected) else None

    def stamp(self, who: str) -> str | None:
        """Return what stays the same until the password of a person is set anew; None for somebody without one."""
        return self._known().get(who)

    @property
    def people(self) -> list[str]:
        """Those who have a password."""
        return list(self._known())

    def _known(self) -> Mapping[str, str]:
        """Return what the file says, {name: salt and what scrypt made}; nothing from a file that another user could write."""
        try:
            with open(self._path, "rb", opener=open_no_follow) as file:
                found = os.fstat(file.fileno())
                if not is_ours(found):
                    return {}
                version = (found.st_ino, found.st_mtime_ns, found.st_size)
                if self._read[0] != version:
                    self._read = (version, _read(file.read(MAX_FILE_BYTES)))
                return self._read[1]
        except OSError:
            return {}

    def _write(self, known: Mapping[str, str]) -> None:
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with replacing(self._path, mode=0o600) as file:
                file.write(json.dumps(known, ensure_ascii=True).encode())
        except OSError as error:
            raise FileError(
                f"{self._path}: passwords cannot be stored there ({error.strerror}); set XDG_STATE_HOME to a folder that you can "
                "write to, for the server too"
            ) from None


def give_role(
    project: Project, by: str, who: str, role: str | None, password: str | None, key: str | None = None
) -> str:
    """Give a person a role and a password, which ends their sessions, or take both away; return the name as it is written."""
    passwords = Passwords(project.store.path)
    if role is None:
        gone = project.log.set_role(by, who, None, key).name or ""  # from now on nobody logs in by this name
        passwords.remove(gone)
        return gone
    if password is None:
        raise LabelError("a role comes with a password: give one")
    check_password(password)
    name = project.log.set_role(by, who, role, key).name or ""
    passwords.set(name, password)
    return name


def new_password() -> str:
    """Return a password that nobody can guess, and that can be read out and typed."""
    groups = ["".join(secrets.choice(LETTERS) for _ in range(PER_GROUP)) for _ in range(GROUPS)]
    return "-".join(groups)


def check_password(password: str) -> None:
    """Raise an error for a password that is too short, or longer than any that is compared."""
    if not SHORTEST <= len(password) <= LONGEST:
        raise LabelError(f"a password of {len(password):,} characters: give {SHORTEST} to {LONGEST}")


def _derived(password: str, salt: bytes) -> bytes:
    """Return what scrypt makes of a password; of its hash, since to scrypt a text and the same with zeros behind are one."""
    return scrypt(sha256(password.encode("utf-8", "surrogatepass")).digest(), salt=salt, **WORK)


def _read(content: bytes) -> dict[str, str]:
    try:
        said: Any = json.loads(content)
    except (ValueError, RecursionError):
        return {}
    if not isinstance(said, dict):
        return {}
    return {name: text for name, text in said.items() if isinstance(text, str) and _is_derived(text)}


def _is_derived(text: str) -> bool:
    return len(text) == len(NOBODY) and set(text) <= set("0123456789abcdef")
