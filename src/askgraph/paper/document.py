"""Write a page of headings, paragraphs, lists, tables and pictures as Markdown and as one self-contained HTML file."""

from __future__ import annotations

import base64
import html
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

IN_CONTENTS = 2  # headings up to this level are listed in the table of contents


@dataclass(frozen=True)
class Heading:
    """A heading; level 1 is the largest."""

    level: int
    text: str

    @property
    def anchor(self) -> str:
        """The name by which a link finds the heading, as Markdown viewers make it."""
        return re.sub(r"[^\w\- ]", "", self.text.lower()).strip().replace(" ", "-")


@dataclass(frozen=True)
class Paragraph:
    """Running text, whose lines are joined; **bold**, `code` and [links](#anchor) are marked as in Markdown."""

    text: str

    def __str__(self) -> str:
        """Return the text in one line."""
        return " ".join(self.text.split())


@dataclass(frozen=True)
class Bullets:
    """A list, one text per item."""

    items: Sequence[str]


@dataclass(frozen=True)
class Table:
    """A header and rows of text."""

    header: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True)
class Picture:
    """An SVG file, by its path relative to the page, and its description; it is never drawn larger than it is."""

    path: str
    words: str


@dataclass(frozen=True)
class Contents:
    """The table of contents: a link to each larger heading after it."""


Block = Heading | Paragraph | Bullets | Table | Picture | Contents

STYLE = """
body { max-width: 62rem; margin: 2rem auto; padding: 0 1rem; font: 16px/1.5 system-ui, sans-serif; color: #222; background: #fff }
table { border-collapse: collapse; margin: 1rem 0; font-size: 0.86rem; display: block; overflow-x: auto }
th, td { padding: 0.25rem 0.6rem; border-bottom: 1px solid #ddd; text-align: left; vertical-align: top }
th { border-bottom: 2px solid #888 }
img { max-width: 100%; height: auto }
h2 { margin-top: 2.5rem } h3 { margin-top: 1.8rem }
h2, h3 { scroll-margin-top: 1rem }
a { color: #0b5cad }
code { background: #f2f2f2; padding: 0 0.2rem }
"""


def as_markdown(blocks: Sequence[Block]) -> str:
    """Return the page as Markdown."""
    return "\n\n".join(_markdown(block) for block in _with_contents(blocks)) + "\n"


def as_html(blocks: Sequence[Block], folder: Path) -> str:
    """Return the page as HTML with its pictures embedded."""
    title = next(block.text for block in blocks if isinstance(block, Heading))
    body = "\n".join(_html(block, folder) for block in _with_contents(blocks))
    head = '<meta charset="utf-8"><meta name="viewport" content="width=device-width">'
    return (
        f'<!doctype html><html lang="en"><head>{head}<title>{html.escape(title)}</title><style>{STYLE}</style></head>\n'
        f"<body>\n{body}\n</body></html>\n"
    )


def link(heading: Heading, words: str = "") -> str:
    """Return a link to a heading of the same page."""
    return f"[{words or heading.text}](#{heading.anchor})"


def _with_contents(blocks: Sequence[Block]) -> list[Block]:
    return [_contents(blocks[at:]) if isinstance(block, Contents) else block for at, block in enumerate(blocks)]


def _contents(blocks: Sequence[Block]) -> Bullets:
    headings = [block for block in blocks if isinstance(block, Heading) and block.level <= IN_CONTENTS]
    return Bullets([link(heading) for heading in headings])


def _markdown(block: Block) -> str:
    match block:
        case Heading(level, text):
            return f"{'#' * level} {text}"
        case Paragraph():
            return str(block)
        case Picture(path, words):
            return f"![{words}]({path})"
        case Bullets(items):
            return "\n".join(f"- {' '.join(item.split())}" for item in items)
        case Table(header, rows):
            lines = [header, ["---"] * len(header), *rows]
            return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)
        case Contents():
            raise AssertionError("replaced by a list before")


def _html(block: Block, folder: Path) -> str:
    match block:
        case Heading(level, text):
            return f'<h{level} id="{block.anchor}">{_inline(text)}</h{level}>'
        case Paragraph():
            return f"<p>{_inline(str(block))}</p>"
        case Picture(path, words):
            data = base64.b64encode((folder / path).read_bytes()).decode()
            return f'<p><img alt="{html.escape(words)}" src="data:image/svg+xml;base64,{data}"></p>'
        case Bullets(items):
            return "<ul>\n" + "\n".join(f"<li>{_inline(' '.join(item.split()))}</li>" for item in items) + "\n</ul>"
        case Table(header, rows):
            head = "".join(f"<th>{_inline(cell)}</th>" for cell in header)
            body = "\n".join("<tr>" + "".join(f"<td>{_inline(cell)}</td>" for cell in row) + "</tr>" for row in rows)
            return f"<table><thead><tr>{head}</tr></thead><tbody>\n{body}\n</tbody></table>"
        case Contents():
            raise AssertionError("replaced by a list before")


def _inline(text: str) -> str:
    safe = html.escape(text, quote=False)
    safe = re.sub(r"\*\*(.+?)\*\*", r"<strong>\1</strong>", safe)
    safe = re.sub(r"`(.+?)`", r"<code>\1</code>", safe)
    return re.sub(r"\[([^\]]+)\]\((#[\w\-]+)\)", r'<a href="\2">\1</a>', safe)
