"""Baselines that recover a sentence by copying, by a rule, or by what is frequent."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import Any

from transformer_course.library.corpora import Pair

EDGE = ""  # the "word" before the first and after the last one


def copy(source: str) -> str:
    """Return the source unchanged."""
    return source


def rule(source: str) -> str:
    """Begin the source with a capital letter, and end it with a full stop."""
    return f"{source[:1].upper()}{source[1:]}."


class Insertion:
    """A baseline that inserts between words what was most often there in training.

    It sees only two neighbouring words at a time, so better context can beat it.
    """

    def __init__(self, pairs: Iterable[Pair]):
        self._gaps: dict[Any, Counter[Any]] = defaultdict(Counter)
        self._forms: dict[Any, Counter[Any]] = defaultdict(Counter)
        for source, target in pairs:
            self._learn(source.split(), target)

    def _learn(self, words: list[str], target: str) -> None:
        """Count the texts between a source's words in its target, and the words' forms.

        Counting stops at the first word that the target has only in another form.
        """
        position, lower = 0, target.lower()
        before = EDGE
        for word in words:
            match = re.search(rf"\b{re.escape(word)}\b", lower[position:])
            if match is None:
                return  # the target inflects the word, so the alignment is lost
            start, end = position + match.start(), position + match.end()
            self._count_gap(before, word, target[position:start])
            self._forms[word][target[start:end]] += 1
            before, position = word, end
        self._count_gap(before, EDGE, target[position:])

    def _count_gap(self, previous: str, following: str, gap: str) -> None:
        self._gaps[previous, following][gap] += 1
        self._gaps[following][gap] += 1

    def __call__(self, source: str) -> str:
        """Return the sentence that is recovered from a source."""
        words, text = source.split(), ""
        for previous, following in zip([EDGE, *words], [*words, EDGE], strict=True):
            # For a new pair, what was most often before the second word.
            gaps = self._gaps.get((previous, following)) or self._gaps.get(following)
            text += gaps.most_common(1)[0][0] if gaps else " "
            forms = self._forms.get(following)
            text += forms.most_common(1)[0][0] if forms else following
        return " ".join(text.split())
