"""Probes of unit 06: the pipeline, the split, the tokenizers."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import torch

from autograder.checks.exercise import WrongAnswerError
from autograder.checks.probes import Inputs, Seen, describe, probe
from autograder.library.text import UNK
from autograder.units.text_recovery.probes.observing import (
    as_json,
    holder,
    kinds,
    text,
)


@probe("text_recovery/normalise", results="words")
def normalise(function: Callable[..., Any], inputs: Inputs) -> Seen:
    """The normalised sentences."""
    sentences = json.loads(inputs["sentences"])
    return {
        "words": as_json([text(function(s), "the words") for s in sentences], "them")
    }


@probe("text_recovery/eliminate", results="level *")
def eliminate(function: Callable[..., Any], inputs: Inputs) -> Seen:
    """What is left of some texts at the levels that are asked for."""
    lemmas, dropped = json.loads(inputs["lemmas"]), json.loads(inputs["dropped"])
    texts = json.loads(inputs["texts"])

    def left(level: int) -> list[str]:
        return [
            text(
                function(t, level, frozenset(dropped), lambda w: lemmas.get(w, w)),
                "what is left",
            )
            for t in texts
        ]

    levels = json.loads(inputs["levels"])
    return {f"level {level}": as_json(left(level), "it") for level in levels}


@probe(
    "text_recovery/split_pairs",
    results="train; dev; test",
    calls="kind of a pair; * afterwards",
)
def split_pairs(function: Callable[..., Any], inputs: Inputs) -> Seen:
    """The three lists of pairs, and the given list afterwards."""
    pairs = [tuple(pair) for pair in json.loads(inputs["pairs"])]
    splits = function(pairs)
    if not isinstance(splits, Mapping) or set(splits) != {"train", "dev", "test"}:
        raise WrongAnswerError(
            'expected a dict with the keys "train", "dev" and "test", got '
            f"{describe(splits)}"
        )
    seen = {split: as_json(list(splits[split]), split) for split in splits}
    ordered = {split: seen[split] for split in ("train", "dev", "test")}
    return ordered | {
        "kind of a pair": kinds(pair for split in splits for pair in splits[split]),
        "pairs afterwards": as_json(pairs, "pairs"),
    }


@probe(
    "text_recovery/word_tokenizer",
    results="vocab; length; tokens of the ids; texts of *",
    calls="kind of vocab; * afterwards",
)
def word_tokenizer(tokenizer_class: Callable[..., Any], inputs: Inputs) -> Seen:
    """The vocabulary; or the tokens of new texts; or the texts of some tokens.

    Ids go through the tokenizer's own vocabulary, in and out: whose words stand in
    another order may encode and decode rightly all the same.
    """
    texts, least = json.loads(inputs["texts"]), inputs.get("min_freq")
    rare = {} if least is None else {"min_freq": int(least)}
    made = tokenizer_class(iter(texts) if rare else texts, **rare)
    if least is None:
        tokenizer_class(texts[:1])  # another one, which is nobody's business
    vocab = list(made.vocab)
    if "new" in inputs:
        found = [[vocab[i] for i in made.encode(t)] for t in json.loads(inputs["new"])]
        return {"tokens of the ids": as_json(found, "the tokens")}
    if "rows" in inputs:
        return _decoded(made, vocab, json.loads(inputs["rows"]))
    return {
        "vocab": as_json(vocab, "vocab"),
        "kind of vocab": holder(made.vocab),
        "length": torch.tensor(len(made)),
    }


def _decoded(made: Any, vocab: list[Any], rows: list[list[str | int]]) -> Seen:
    """The texts of rows of tokens; a number is the id of a special one."""
    places = {token: i for i, token in enumerate(vocab)}
    ids = [[t if isinstance(t, int) else places.get(t, UNK) for t in r] for r in rows]
    given = [list(row) for row in ids]
    found = [text(made.decode(row), "a text") for row in given]
    through = [text(made.decode(iter(row)), "a text") for row in ids]
    return {
        "texts of ids": as_json(found, "the texts"),
        "texts of an iterator's ids": as_json(through, "the texts"),
        "the same ids afterwards": str(given == ids),
    }


@probe(
    "text_recovery/merge_pair",
    results="merged",
    calls="kind of the symbols; * afterwards",
)
def merge_pair(function: Callable[..., Any], inputs: Inputs) -> Seen:
    """The merged lists, and what became of the given ones."""
    seen, new, rows = [], True, json.loads(inputs["rows"])
    given = []
    for symbols, pair in rows:
        merged = function(symbols, tuple(pair))
        if not isinstance(merged, list | tuple):
            raise WrongAnswerError(
                f"expected a list of symbols, got {describe(merged)}"
            )
        seen.append(list(merged))
        given.append(merged)
        new &= merged is not symbols
    return {
        "merged": as_json(seen, "the symbols"),
        "kind of the symbols": kinds(given),
        "symbols afterwards": as_json([symbols for symbols, _ in rows], "symbols"),
        "new lists afterwards": str(new),
    }


@probe(
    "text_recovery/learn_merges",
    results="merges",
    calls="kind of a merge; merges of a second call, for num_merges = 0; * afterwards",
)
def learn_merges(function: Callable[..., Any], inputs: Inputs) -> Seen:
    """The merges, and none where none is asked for; the counts afterwards."""
    counts = json.loads(inputs["counts"])
    merges, none = (function(counts, n) for n in (int(inputs["num_merges"]), 0))
    for found in (merges, none):
        if not isinstance(found, list | tuple):
            raise WrongAnswerError(f"expected a list of pairs, got {describe(found)}")
    return {
        "merges": as_json([list(pair) for pair in merges], "the merges"),
        "kind of a merge": kinds(merges),
        "merges of a second call, for num_merges = 0": as_json(
            [list(pair) for pair in none], "the merges"
        ),
        "counts afterwards": as_json(counts, "counts"),
    }


@probe(
    "text_recovery/segment",
    results="symbols",
    calls="kind of the symbols; "
    "symbols of a second call, the first ones written over; * afterwards",
)
def segment(function: Callable[..., Any], inputs: Inputs) -> Seen:
    """The symbols of some words, and the merges afterwards."""
    merges = [tuple(pair) for pair in json.loads(inputs["merges"])]
    words = json.loads(inputs["words"])
    found = [function(word, merges) for word in words]
    symbols = [list(each) for each in found]
    of_which_kind = kinds(found)
    for each in found:
        if isinstance(each, list):
            each.append("?")  # a result is the caller's, who may write into it
    again = [list(function(word, merges)) for word in words]
    return {
        "symbols": as_json(symbols, "the symbols"),
        "kind of the symbols": of_which_kind,
        "symbols of a second call, the first ones written over": as_json(
            again, "the symbols"
        ),
        "merges afterwards": as_json(merges, "merges"),
    }
