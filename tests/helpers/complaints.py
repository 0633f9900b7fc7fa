"""What readers say of bad files."""

from __future__ import annotations

from askgraph.errors import FileError


def complaint(read, otherwise):
    """What a FileError said."""
    try:
        read()
    except FileError as error:
        return str(error)
    return otherwise
