"""Match the words of sources with those of their targets, or of a model's texts.

The matches show how sources were made, and whether a model keeps their words.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from transformer_course.library import abilities
from transformer_course.library.corpora import Pair

_FORM = 0.4  # the smallest common prefix of two forms of a word, as a share of letters
_EXACT, _INFLECTED = 3, 2  # the weights of a pair of words in an alignment
_LONGEST = 60  # the number of words of a text that are considered


def share_of_words(sources: Sequence[str], texts: Sequence[str]) -> float:
    """The share of the sources' words that occur in their texts in the same order."""
    wanted = kept_count = 0
    for source, text in zip(sources, texts, strict=True):
        words = _list_words(source)
        wanted += len(words)
        kept_count += len(_align(words, _list_words(text)))
    return kept_count / wanted if wanted else 0.0


def fit(pairs: Sequence[Pair]) -> float:
    """Measure how well pairs agree with a pipeline that drops certain words, 0 to 1.

    The pairs yield a rule: a word is kept if at least half of its occurrences in
    the targets are also in the source. The result is the F1 score with which this
    rule predicts the words of the sources.
    """
    rows = [(_list_words(source), _list_words(target)) for source, target in pairs]
    positions = [{j for _, j in _align(*row)} for row in rows]
    times = Counter(word for _, target in rows for word in target)
    kept_counts = Counter(
        target[j] for (_, target), matches in zip(rows, positions, strict=True)
        for j in matches
    )  # fmt: skip
    is_kept = {word for word in kept_counts if 2 * kept_counts[word] >= times[word]}
    correct = sum(kept_counts[word] for word in is_kept)
    predicted = sum(times[word] for word in is_kept)
    source_words = sum(len(source) for source, _ in rows)
    return 2 * correct / (predicted + source_words) if source_words else 0.0


def _list_words(text: str) -> list[str]:
    """The first words of a text in lower case, without punctuation."""
    return [w for w in map(str.lower, abilities.words(text)) if _is_word(w)][:_LONGEST]


def _is_word(token: str) -> bool:
    return any(character.isalnum() for character in token)


def _align(source: Sequence[str], target: Sequence[str]) -> list[tuple[int, int]]:
    """Find the common subsequence of two lists of words with the largest weight.

    Returns:
        The index pairs (i, j) of the matching words, in order.
    """
    # best[i][j] is the largest weight for source[i:] and target[j:]; the second loop
    # follows the choices that led to best[0][0].
    weights = [[_weigh(a, b) for b in target] for a in source]
    best = [[0] * (len(target) + 1) for _ in range(len(source) + 1)]
    for i in range(len(source) - 1, -1, -1):
        for j in range(len(target) - 1, -1, -1):
            best[i][j] = max(
                best[i + 1][j],
                best[i][j + 1],
                weights[i][j] + best[i + 1][j + 1] if weights[i][j] else 0,
            )
    indices, i, j = list[tuple[int, int]](), 0, 0
    while i < len(source) and j < len(target):
        if weights[i][j] and best[i][j] == weights[i][j] + best[i + 1][j + 1]:
            indices.append((i, j))
            i, j = i + 1, j + 1
        elif best[i][j] == best[i + 1][j]:
            i += 1
        else:
            j += 1
    return indices


def _weigh(word: str, other_word: str) -> int:
    """The weight of two aligned words; 0 if they are not forms of the same word."""
    if word == other_word:
        return _EXACT
    if word[:2] != other_word[:2]:  # most pairs, so this is fast
        return 0
    letters = enumerate(zip(word, other_word, strict=False))
    prefix = next(
        (i for i, (a, b) in letters if a != b), min(len(word), len(other_word))
    )
    return _INFLECTED if prefix >= _FORM * max(len(word), len(other_word)) else 0
