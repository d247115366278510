"""Probes of unit 06: BLEU, resampling, alignments, mistakes by kind."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping
from typing import Any

import torch

from autograder.checks.exercise import WrongAnswerError
from autograder.checks.probes import Inputs, Seen, describe, kind, probe, returned
from transformer_course.library.text import tokenize_13a
from transformer_course.text_recovery.probes.observing import as_json, number


@probe(
    "text_recovery/clipped_matches", results="matches and totals", calls="* afterwards"
)
def clipped_matches(function: Callable[..., Any], inputs: Inputs) -> Seen:
    """Matches and totals for n from 1 to 4 of every hypothesis; inputs afterwards."""
    rows = json.loads(inputs["rows"])
    found = [
        [
            [int(number(x, name)) for x, name in zip(pair, _PAIR, strict=True)]
            for n in range(1, 5)
            for pair in [returned(function(own, others, n), *_PAIR)]
        ]
        for own, others in rows
    ]
    return {
        "matches and totals": torch.tensor(found),  # (rows, 4, 2)
        "inputs afterwards": as_json(rows, "the inputs"),
    }


_PAIR = ("matches", "total")
_TOKENIZE = {"13a": tokenize_13a, "none": str.split}


@probe(
    "text_recovery/bleu",
    results="BLEU; BLEU (cut at spaces)",
    calls="kind of BLEU; * afterwards",
)
def bleu(function: Callable[..., Any], inputs: Inputs) -> Seen:
    """BLEU with 13a and with tokens that are cut at spaces; the texts afterwards."""
    hypotheses = json.loads(inputs["hypotheses"])
    references = json.loads(inputs["references"])
    found = function(hypotheses, references)
    other = function(hypotheses, references, str.split)
    return {
        "BLEU": number(found, "BLEU"),
        "BLEU (cut at spaces)": number(other, "BLEU"),
        "kind of BLEU": kind(found),
        "hypotheses afterwards": as_json(hypotheses, "the hypotheses"),
        "references afterwards": as_json(references, "the references"),
    }


@probe(
    "text_recovery/corpus_bleu",
    results="BLEU; BLEU (*)",
    calls="kind of BLEU; * afterwards",
)
def corpus_bleu(function: Callable[..., Any], inputs: Inputs) -> Seen:
    """BLEU with the defaults and with each combination of switches."""
    hypotheses = json.loads(inputs["hypotheses"])
    references = json.loads(inputs["references"])
    bleu = function(hypotheses, references)
    seen: Seen = {"BLEU": number(bleu, "BLEU"), "kind of BLEU": kind(bleu)}
    for name in json.loads(inputs["switches"]):
        tokens, smooth, effective = name.split(", ")
        value = function(
            hypotheses, references, tokenize=_TOKENIZE[tokens], smooth=smooth,
            effective_order=effective == "effective order",
        )  # fmt: skip
        seen[f"BLEU ({name})"] = number(value, "BLEU")
    return seen | {
        "hypotheses afterwards": as_json(hypotheses, "the hypotheses"),
        "references afterwards": as_json(references, "the references"),
    }


_INTERVAL = ("low", "high", "wins")


@probe(
    "text_recovery/paired_bootstrap", results="low; high; wins", calls="* afterwards"
)
def paired_bootstrap(function: Callable[..., Any], inputs: Inputs) -> Seen:
    """The interval and the wins; the counts and the generator afterwards."""
    first, second = inputs["first"], inputs["second"]
    rng, resamples = random.Random(int(inputs["seed"])), int(inputs["resamples"])
    extra = [resamples] if resamples else []
    found = returned(function(first, second, _share, rng, *extra), *_INTERVAL)
    pairs = zip(_INTERVAL, found, strict=True)
    return {name: number(value, name) for name, value in pairs} | {
        "first afterwards": first,
        "second afterwards": second,
        "the generator's next number afterwards": torch.tensor(rng.randrange(10**6)),
    }


def _share(total: torch.Tensor) -> float:
    """A score of summed counts (matches, total, length): not linear, as BLEU is not.

    Ten times the counts give another score, so a mean cannot replace the sum.
    """
    matches, count, length = (float(n) for n in total)
    return 100 * (matches / count) ** 2 * count / (length + 50)


@probe(
    "text_recovery/align",
    results="tokens of the output; tokens of the original; pairs that differ",
    calls="* afterwards",
)
def align(function: Callable[..., Any], inputs: Inputs) -> Seen:
    """Both sides of each alignment, how many pairs differ; the tokens afterwards."""
    rows = json.loads(inputs["rows"])
    sides: list[list[list[str]]] = []
    changes = []
    for output, original in rows:
        pairs = _pairs(function(output, original))
        sides.append([[a for a, _ in pairs if a is not None],
                      [b for _, b in pairs if b is not None]])  # fmt: skip
        changes.append(sum(a != b for a, b in pairs))
    return {
        "tokens of the output": as_json([own for own, _ in sides], "the tokens"),
        "tokens of the original": as_json([other for _, other in sides], "the tokens"),
        "pairs that differ": torch.tensor(changes),
        "tokens afterwards": as_json(rows, "the tokens"),
    }


def _pairs(found: object) -> list[tuple[str | None, str | None]]:
    if not isinstance(found, list | tuple):
        raise WrongAnswerError(f"expected a list of pairs, got {describe(found)}")
    for pair in found:
        if not isinstance(pair, list | tuple) or len(pair) != 2:
            raise WrongAnswerError(f"expected pairs of two, got {describe(pair)}")
        if all(side is None for side in pair):
            raise WrongAnswerError(
                "expected at least one token in each pair, got two None"
            )
        for side in pair:
            if side is not None and not isinstance(side, str):
                raise WrongAnswerError(
                    f"expected tokens and None, got {describe(side)}"
                )
    return [(a, b) for a, b in found]


_KINDS = ("case", "punctuation", "function word", "form", "word")


@probe("text_recovery/error_kinds", results="mistakes of the kind *")
def error_kinds(function: Callable[..., Any], inputs: Inputs) -> Seen:
    """The number of mistakes of each kind, for each list of pairs."""
    lemmas, words = json.loads(inputs["lemmas"]), json.loads(inputs["words"])
    found = []
    for row in json.loads(inputs["rows"]):
        pairs = ((a, b) for a, b in row)
        kinds = function(pairs, frozenset(words), lambda word: lemmas.get(word, word))
        if not isinstance(kinds, Mapping):
            raise WrongAnswerError(f"expected a dict of numbers, got {describe(kinds)}")
        other = [kind for kind in kinds if kind not in _KINDS]
        if other:
            raise WrongAnswerError(f"there is no such kind: {str(other[0])[:40]!r}")
        found.append(torch.stack([number(kinds.get(k, 0), repr(k)) for k in _KINDS]))
    counts = torch.stack(found)  # (rows, kinds)
    return {f"mistakes of the kind {k}": counts[:, i] for i, k in enumerate(_KINDS)}
