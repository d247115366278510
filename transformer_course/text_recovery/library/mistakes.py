"""Count the kinds of mistakes in the outputs of a model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from transformer_course.library.corpora import all_function_words
from transformer_course.library.text import lemma, tokenize_13a

KINDS = ("case", "punctuation", "function word", "form", "word")
Pair = tuple[str | None, str | None]


def mistakes_of(outputs: Sequence[str], originals: Sequence[str]) -> list[int]:
    """Count the mistakes in a model's outputs; return one count for each of ``KINDS``.

    A mistake is a token that is wrong, missing or superfluous.
    """
    counts = Counter[str]()
    for text, original in zip(outputs, originals, strict=True):
        pairs = align(tokenize_13a(text), tokenize_13a(original))
        counts.update(kind_of(*pair) for pair in pairs if pair[0] != pair[1])
    return [counts[kind] for kind in KINDS]


def align(output: Sequence[str], original: Sequence[str]) -> list[Pair]:
    """Align two lists of tokens with the fewest differences (Levenshtein 1966).

    Returns:
        Pairs (token of the output or None, token of the original or None), in order.
    """
    # cost[i][j] is the number of differences between output[:i] and original[:j]; the
    # second loop goes back from the end along the cheapest steps.
    cost = [[i + j for j in range(len(original) + 1)] for i in range(len(output) + 1)]
    for i, token in enumerate(output, 1):
        for j, wanted in enumerate(original, 1):
            cost[i][j] = min(
                cost[i - 1][j - 1] + (token != wanted),
                cost[i - 1][j] + 1,
                cost[i][j - 1] + 1,
            )
    pairs: list[Pair] = []
    i, j = len(output), len(original)
    while i or j:
        differ = bool(i and j) and output[i - 1] != original[j - 1]
        if i and j and cost[i][j] == cost[i - 1][j - 1] + differ:
            i, j = i - 1, j - 1
            pairs.append((output[i], original[j]))
        elif i and cost[i][j] == cost[i - 1][j] + 1:
            i -= 1
            pairs.append((output[i], None))
        else:
            j -= 1
            pairs.append((None, original[j]))
    return pairs[::-1]


def kind_of(output: str | None, original: str | None) -> str:
    """Return the first of `KINDS` that describes the difference between aligned tokens.

    None stands for a token that the output or the original lacks.
    """
    present = [token.lower() for token in (output, original) if token is not None]
    is_pair = len(present) == 2
    if is_pair and present[0] == present[1]:
        return "case"
    if not any(character.isalnum() for token in present for character in token):
        return "punctuation"
    if all(token in all_function_words() for token in present):
        return "function word"
    if is_pair and lemma(present[0]) == lemma(present[1]):
        return "form"
    return "word"
