"""What English texts mean: the mean of the vectors of their words, which an installed package carries; nothing is fetched."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Sequence
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from askgraph.graph.blocks import centered
from askgraph.types import AnyArray, Array

PACKAGE = "wordllama"
MEANINGS = ("none", "auto", PACKAGE)
EXTRA = 'comparing what texts mean needs wordllama and tokenizers: pip install "askgraph[meaning]"'
WEIGHTS, PIECES = "weights/l2_supercat_256.safetensors", "tokenizers/l2_supercat_tokenizer_config.json"
TABLE = "embedding.weight"  # of the weights: one row per piece of a word
SHAPE = (32_000, 256)
TEXTS_PER_BLOCK = 5_000  # texts that are taken apart at a time
LETTERS = re.compile(r"[^\W\d_]+")
ENGLISH = 0.05  # the least share of words that are among COMMON; English titles have 0.1, German texts 0
COMMON = {
    "the", "of", "and", "to", "that", "is", "for", "with", "are", "be", "by", "this", "from", "have", "had", "not", "they",
    "you", "his", "their", "which", "would", "can", "were", "been", "there", "what", "who", "how", "when", "your", "our",
    "its", "about", "than", "more", "into", "if",
}  # fmt: skip


class WordVectors(NamedTuple):
    """Vectors of pieces of words: the package that carries them, its version, the sha256 of the weights, and both tables."""

    package: str
    version: str
    checksum: str
    table: AnyArray
    split: Callable[[Sequence[str]], list[Sequence[int]]]

    def __str__(self) -> str:
        """Return the package and its version."""
        return f"{self.package} {self.version}"

    def describe(self) -> dict[str, str]:
        """Return what a project keeps of the vectors that it was made with."""
        return {"name": self.package, "version": self.version, "sha256": self.checksum}


@cache
def find_words() -> WordVectors | None:
    """Return the vectors of the installed package; None where it, its files or what takes words apart is not there."""
    spec = find_spec("wordllama")  # not imported: it would configure logging
    if spec is None or not spec.submodule_search_locations:
        return None
    folder = Path(next(iter(spec.submodule_search_locations)))
    try:
        from tokenizers import Tokenizer

        weights, number = (folder / WEIGHTS).read_bytes(), version(PACKAGE)
        pieces = Tokenizer.from_file(str(folder / PIECES))
    except Exception:  # tokenizers raises nothing narrower for a file that it cannot read
        return None
    if (table := _read_table(weights)) is None:
        return None
    pieces.no_truncation()
    pieces.no_padding()

    def split(texts: Sequence[str]) -> list[Sequence[int]]:
        return [one.ids for one in pieces.encode_batch(list(texts), add_special_tokens=False)]

    return WordVectors(PACKAGE, number, hashlib.sha256(weights).hexdigest(), table, split)


def _read_table(weights: bytes) -> AnyArray | None:
    """Return the table of a safetensors file in half precision; None where it is another one."""
    size = int.from_bytes(weights[:8], "little")
    try:
        about = json.loads(weights[8 : 8 + size])[TABLE]
        start, end = about["data_offsets"]
        if (about["dtype"], about["shape"]) != ("F16", list(SHAPE)):
            return None
        values = np.frombuffer(weights[8 + size + start : 8 + size + end], dtype="<f2")
    except (ValueError, KeyError, TypeError):
        return None
    return None if values.size != SHAPE[0] * SHAPE[1] else values.reshape(SHAPE).astype(np.float32)


class Meaning(NamedTuple):
    """What gives a further text a row beside those of texts: vectors of words, and the mean of all texts."""

    words: WordVectors
    mean: Array

    def row_of(self, text: str) -> Array:
        """Return the row of a further text, less the mean of the texts before it."""
        return centered(_sums([text], self.words), self.mean)[0]


def meaning_rows(texts: Sequence[str], words: WordVectors) -> tuple[Array, Meaning]:
    """Return one row per text, and what gives a further text a row: the mean of the vectors of its words, less that of all texts.

    Rows have length 1; a text without words, and one that says what all say, has a row of zeros.
    """
    blocks = [texts[at : at + TEXTS_PER_BLOCK] for at in range(0, len(texts), TEXTS_PER_BLOCK)]
    rows, mean = centered(np.vstack([_sums(block, words) for block in blocks]))
    return rows, Meaning(words, mean)


def _sums(texts: Sequence[str], words: WordVectors) -> Array:
    """Return the sum of the vectors of the pieces of each text."""
    rows = words.split(texts)
    starts = np.cumsum([0, *map(len, rows)])
    places = np.minimum(np.fromiter((k for row in rows for k in row), np.int64, starts[-1]), len(words.table) - 1)
    counts = csr_array((np.ones(places.size, np.float32), places, starts), shape=(len(texts), len(words.table)))
    counts.sum_duplicates()
    return np.asarray(counts @ words.table, dtype=np.float64)


def is_english(texts: Sequence[str]) -> bool:
    """Return whether texts are in English: whether at least 5 % of their words are function words of English.

    >>> is_english(["the cat is on the mat"]), is_english(["die Katze ist auf der Matte"])
    (True, False)
    """
    words = [word for text in texts for word in LETTERS.findall(text.lower())]
    return bool(words) and sum(word in COMMON for word in words) >= ENGLISH * len(words)
