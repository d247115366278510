"""Probes of unit 06: byte-pair encoding."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from autograder.checks.exercise import WrongAnswerError
from autograder.checks.probes import Inputs, Seen, describe, probe
from transformer_course.text_recovery.probes.observing import list_kinds, write_json


@probe(
    "text_recovery/merge_pair",
    results="merged",
    form="kind of the symbols",
    calls="the result is a new list; * afterwards",
)
def merge_pair(function: Callable[..., Any], inputs: Inputs) -> Seen:
    """Report the merged lists, whether each is a new list, and the original ones.

    Each row of the case has a list of symbols, and the pair of symbols to merge.
    """
    copies, are_new, rows = [], True, json.loads(inputs["rows"])
    answers = []
    for symbols, pair in rows:
        merged = _read_symbols(function(symbols, tuple(pair)))
        copies.append(list(merged))
        answers.append(merged)
        are_new &= merged is not symbols
    return {
        "merged": write_json(copies, "the symbols"),
        "kind of the symbols": list_kinds(answers),
        "symbols afterwards": write_json([symbols for symbols, _ in rows], "symbols"),
        "the result is a new list": "yes" if are_new else "no",
    }


def _read_symbols(result: object) -> list[Any] | tuple[Any, ...]:
    """Return a list or tuple of symbols; raise WrongAnswerError for other types."""
    if not isinstance(result, list | tuple):
        raise WrongAnswerError(f"expected a list of symbols, got {describe(result)}")
    return result


@probe(
    "text_recovery/learn_merges",
    results="merges",
    form="kind of a merge",
    calls="merges of a second call, for num_merges = 0; * afterwards",
)
def learn_merges(function: Callable[..., Any], inputs: Inputs) -> Seen:
    """Report the merges, the merges for `num_merges = 0`, and the counts afterwards."""
    counts = json.loads(inputs["counts"])
    merges, none = (function(counts, n) for n in (int(inputs["num_merges"]), 0))
    for answer in (merges, none):
        if not isinstance(answer, list | tuple):
            raise WrongAnswerError(f"expected a list of pairs, got {describe(answer)}")
    return {
        "merges": write_json([list(pair) for pair in merges], "the merges"),
        "kind of a merge": list_kinds(merges),
        "merges of a second call, for num_merges = 0": write_json(
            [list(pair) for pair in none], "the merges"
        ),
        "counts afterwards": write_json(counts, "counts"),
    }


@probe(
    "text_recovery/segment",
    results="symbols",
    calls="* afterwards",
    limits="symbols of a second call, the first ones written over",
)
def segment(function: Callable[..., Any], inputs: Inputs) -> Seen:
    """Report the symbols of some words, in two calls each, and the merges afterwards.

    Modifying the first results must not change those of the second calls.
    """
    merges = [tuple(pair) for pair in json.loads(inputs["merges"])]
    words = json.loads(inputs["words"])
    answers = [_read_symbols(function(word, merges)) for word in words]
    symbols = [list(answer) for answer in answers]
    for answer in answers:
        if isinstance(answer, list):
            answer.append("?")
    second_symbols = [list(_read_symbols(function(word, merges))) for word in words]
    return {
        "symbols": write_json(symbols, "the symbols"),
        "symbols of a second call, the first ones written over": write_json(
            second_symbols, "the symbols"
        ),
        "merges afterwards": write_json(merges, "merges"),
    }
