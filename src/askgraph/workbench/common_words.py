"""Words that are common in some texts and rare in others: what texts that are alike have in common."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

import numpy as np

WORD = re.compile(r"[^\W\d_]{3,}")
COMMON = 0.2  # the share of some texts that a word has to be in, to be common there
TIMES = 1.5  # how many times as common as everywhere a word has to be: "the" and "provides" are common in all texts
LEAST_SCORE = 0.05  # of a word: the share of texts with it here times the log of how much larger that is than elsewhere


def words_of(text: str) -> set[str]:
    """Return the words of a text, of three letters or more, in lower case.

    >>> sorted(words_of("An SMTP server, a Server of 1998"))
    ['server', 'smtp']
    """
    return set(WORD.findall(text.casefold()))


def common_words(here: Sequence[set[str]], everywhere: Counter[str], n: int) -> list[str]:
    """Return the words that most distinguish some texts from all, the one that does most so first.

    Parameters
    ----------
    here
        The words of each of some texts.
    everywhere
        In how many of all texts each word is; these are among them.
    n
        The number of all texts.

    Returns
    -------
    list of str
        Words that are common here and rarer elsewhere.

    Examples
    --------
    >>> texts = [words_of(text) for text in ("mail server", "mail reader", "chess game", "game of chess")]
    >>> common_words(texts[:2], Counter(word for text in texts for word in text), 4)
    ['mail', 'reader', 'server']
    """
    found = Counter(word for words in here for word in words)
    shares = {word: count / len(here) for word, count in found.items() if count >= COMMON * len(here)}
    scores = {word: share * float(np.log(share * n / everywhere[word])) for word, share in shares.items()}
    kept = (w for w in scores if scores[w] >= LEAST_SCORE and shares[w] * n >= TIMES * everywhere[w])
    return sorted(kept, key=lambda word: (-scores[word], -len(word), word))
