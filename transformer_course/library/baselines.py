"""What a model has to beat: copying, a rule, and inserting what was seen most often."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import Any

from transformer_course.library.corpora import Pair

EDGE = ""  # stands before the first and behind the last word


def copy(source: str) -> str:
    """The source itself."""
    return source


def rule(source: str) -> str:
    """Begin the source with a capital letter, and end it with a full stop."""
    return f"{source[:1].upper()}{source[1:]}."


class Insertion:
    """Between two words, put what stood there most often in training.

    It knows the words on both sides (or, failing that, the one on the right) and the
    commonest form of each word. It sees no further, and that is its limit.
    """

    def __init__(self, pairs: Iterable[Pair]):
        self._gaps: dict[Any, Counter[Any]] = defaultdict(Counter)
        self._forms: dict[Any, Counter[Any]] = defaultdict(Counter)
        for source, target in pairs:
            self._learn(source.split(), target)

    def _learn(self, words: list[str], target: str) -> None:
        place, lower = 0, target.lower()
        before = EDGE
        for word in words:
            match = re.search(rf"\b{re.escape(word)}\b", lower[place:])
            if match is None:
                return  # another form of the word: nothing to learn from here
            start, end = place + match.start(), place + match.end()
            self._count_gap(before, word, target[place:start])
            self._forms[word][target[start:end]] += 1
            before, place = word, end
        self._count_gap(before, EDGE, target[place:])

    def _count_gap(self, previous: str, following: str, gap: str) -> None:
        self._gaps[previous, following][gap] += 1
        self._gaps[following][gap] += 1

    def __call__(self, source: str) -> str:
        words, text = source.split(), ""
        for previous, following in zip([EDGE, *words], [*words, EDGE], strict=True):
            gaps = self._gaps.get((previous, following)) or self._gaps.get(following)
            text += gaps.most_common(1)[0][0] if gaps else " "
            forms = self._forms.get(following)
            text += forms.most_common(1)[0][0] if forms else following
        return " ".join(text.split())
