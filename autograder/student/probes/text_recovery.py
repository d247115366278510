"""Probes of unit 06, text recovery. Lists of texts travel as JSON."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn

from autograder.student.exercise import WrongAnswer
from autograder.student.probes import Inputs, Seen, describe, probe, returned, tensor
from autograder.student.recovery import checkpoint
from autograder.student.recovery.text import PAD, tokenize_13a


def as_json(value: object, name: str) -> str:
    """A student's answer of lists, numbers and texts, as JSON.

    Raises:
        WrongAnswer: there is something else in it.
    """
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise WrongAnswer(
            f"expected {name} to be made of lists, numbers and texts, got "
            f"{describe(value)}"
        ) from error


def text(value: object, name: str) -> str:
    """The text itself.

    Raises:
        WrongAnswer: it is none.
    """
    if not isinstance(value, str):
        raise WrongAnswer(f"expected {name} to be a text, got {describe(value)}")
    return value


def number(value: object, name: str) -> torch.Tensor:
    """A number as a tensor without dimensions.

    Raises:
        WrongAnswer: it is none.
    """
    if isinstance(value, torch.Tensor) and value.numel() == 1:
        return value.detach().reshape(()).to(torch.get_default_dtype())
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise WrongAnswer(f"expected {name} to be a number, got {describe(value)}")
    return torch.tensor(float(value))


# --- the data ------------------------------------------------------------------------


@probe("text_recovery/normalise")
def normalise(function: Callable[..., Any], inputs: Inputs) -> Seen:
    """The normalised sentences."""
    sentences = json.loads(inputs["sentences"])
    return {
        "words": as_json([text(function(s), "the words") for s in sentences], "them")
    }


@probe("text_recovery/eliminate")
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


@probe("text_recovery/split_pairs")
def split_pairs(function: Callable[..., Any], inputs: Inputs) -> Seen:
    """The three lists of pairs, and the given list afterwards."""
    pairs = [tuple(pair) for pair in json.loads(inputs["pairs"])]
    splits = function(pairs)
    if not isinstance(splits, Mapping) or set(splits) != {"train", "dev", "test"}:
        raise WrongAnswer(
            'expected a dict with the keys "train", "dev" and "test", got '
            f"{describe(splits)}"
        )
    seen = {split: as_json(list(splits[split]), split) for split in splits}
    ordered = {split: seen[split] for split in ("train", "dev", "test")}
    return ordered | {"pairs afterwards": as_json(pairs, "pairs")}


@probe("text_recovery/word_tokenizer")
def word_tokenizer(tokenizer_class: Callable[..., Any], inputs: Inputs) -> Seen:
    """The vocabulary, ids of new texts, their texts again, and a decoded row of ids."""
    texts, least = json.loads(inputs["texts"]), inputs.get("min_freq")
    made = (
        tokenizer_class(texts)
        if least is None
        else tokenizer_class(texts, min_freq=int(least))
    )
    new = json.loads(inputs["new"])
    ids = [list(made.encode(t)) for t in new]
    row = inputs["row"] % len(list(made.vocab))
    return {
        "vocab": as_json(list(made.vocab), "vocab"),
        "ids": as_json(ids, "the ids"),
        "texts again": as_json([text(made.decode(i), "a text") for i in ids], "texts"),
        "decoded ids": text(made.decode(row.tolist()), "the decoded ids"),
        "decoded tensor": text(made.decode(int(i) for i in row), "the decoded ids"),
    }


@probe("text_recovery/merge_pair")
def merge_pair(function: Callable[..., Any], inputs: Inputs) -> Seen:
    """The merged lists, and what became of the given ones."""
    seen, rows = [], json.loads(inputs["rows"])
    for symbols, pair in rows:
        merged = function(symbols, tuple(pair))
        if not isinstance(merged, list | tuple):
            raise WrongAnswer(f"expected a list of symbols, got {describe(merged)}")
        seen.append(list(merged))
    return {
        "merged": as_json(seen, "the symbols"),
        "symbols afterwards": as_json([symbols for symbols, _ in rows], "symbols"),
    }


@probe("text_recovery/learn_merges")
def learn_merges(function: Callable[..., Any], inputs: Inputs) -> Seen:
    """The merges, and the counts afterwards."""
    counts = json.loads(inputs["counts"])
    merges = function(counts, int(inputs["num_merges"]))
    if not isinstance(merges, list | tuple):
        raise WrongAnswer(f"expected a list of pairs, got {describe(merges)}")
    return {
        "merges": as_json([list(pair) for pair in merges], "the merges"),
        "counts afterwards": as_json(counts, "counts"),
    }


@probe("text_recovery/segment")
def segment(function: Callable[..., Any], inputs: Inputs) -> Seen:
    """The symbols of some words, and the merges afterwards."""
    merges = [tuple(pair) for pair in json.loads(inputs["merges"])]
    words = json.loads(inputs["words"])
    symbols = [list(function(word, merges)) for word in words]
    return {
        "symbols": as_json(symbols, "the symbols"),
        "merges afterwards": as_json(merges, "merges"),
    }


# --- training ------------------------------------------------------------------------


@probe("text_recovery/collate")
def collate(function: Callable[..., Any], inputs: Inputs) -> Seen:
    """The three tensors, and the examples afterwards."""
    examples = [(source, target) for source, target in json.loads(inputs["examples"])]
    longest = inputs.get("max_len")
    batch = function(examples) if longest is None else function(examples, int(longest))
    names = ("source", "target_in", "target_out")
    found = {
        n: tensor(t, n) for n, t in zip(names, returned(batch, *names), strict=True)
    }
    return found | {"examples afterwards": as_json(examples, "the examples")}


@probe("text_recovery/smoothed_loss")
def smoothed_loss(function: Callable[..., Any], inputs: Inputs) -> Seen:
    """The loss, its gradient, and the inputs afterwards."""
    logits, target = inputs["logits"], inputs["target"]
    extra = [float(inputs["smoothing"])] if "smoothing" in inputs else []
    leaf = logits.clone().requires_grad_()
    loss = tensor(function(leaf.clone(), target, *extra), "the loss")
    seen = {"loss": loss}
    if loss.requires_grad and loss.dim() == 0:
        seen["gradient"] = torch.autograd.grad(loss, leaf)[0]
    return seen | {"target afterwards": target}


@probe("text_recovery/learning_rate")
def learning_rate(function: Callable[..., Any], inputs: Inputs) -> Seen:
    """The rates of all steps, and of a few beyond the last."""
    warmup, total = int(inputs["warmup"]), int(inputs["total"])
    peak = float(inputs["peak"])
    rates = [
        number(function(step, warmup, total, peak), "the rate")
        for step in range(1, total + 4)
    ]
    return {"rate": torch.stack(rates)}


class Table(nn.Module):
    """A tiny model: logits (B, Lt, V) looked up by target token and source.

    It notes its mode, and whether gradients are recorded, each time it is asked. In
    training mode it adds ``noise``, as dropout would.
    """

    def __init__(self, table: torch.Tensor, events: list[str]):
        super().__init__()
        self.table = nn.Parameter(table.clone())
        self.bias = nn.Parameter(torch.zeros_like(table[0]))
        self.events = events

    def forward(self, source: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        mode = "training" if self.training else "evaluation"
        self.events.append(f"forward in {mode}")
        if not torch.is_grad_enabled():
            self.events.append("without gradients")
        logits = self.table[target] + 0.5 * self.table[source[:, :1]] + self.bias
        return logits * (1.5 if self.training else 1.0)


class Watched(torch.optim.SGD):
    """Plain gradient descent that notes what it is told to do."""

    events: list[str]

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget gradients, and note it."""
        self.events.append("zero_grad")
        super().zero_grad(set_to_none)

    def step(self, closure: Any = None) -> Any:
        """Take a step, and note it."""
        self.events.append("optimizer step")
        return super().step(closure)


class WatchedSchedule:
    """Halves the rate at every step, and notes it."""

    def __init__(self, optimizer: Watched):
        self.optimizer, self.events = optimizer, optimizer.events

    def step(self) -> None:
        """Halve the rate."""
        self.events.append("scheduler step")
        for group in self.optimizer.param_groups:
            group["lr"] *= 0.5


def _loss(logits: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    return F.cross_entropy(logits.flatten(0, -2), target.flatten(), ignore_index=PAD)


def _batches(inputs: Inputs) -> list[tuple[torch.Tensor, ...]]:
    count = int(inputs["batches"])
    parts = ("source", "target_in", "target_out")
    return [tuple(inputs[f"{part} {i}"] for part in parts) for i in range(count)]


@probe("text_recovery/train_epoch")
def train_epoch(function: Callable[..., Any], inputs: Inputs) -> Seen:
    """The mean loss, the order of events, and the weights after the epoch."""
    events: list[str] = []
    model = Table(inputs["table"], events).eval()
    Watched.events = events
    optimizer = Watched(model.parameters(), lr=0.5, momentum=0.9)
    extra = {"clip": float(inputs["clip"])} if "clip" in inputs else {}
    model.table.grad = torch.ones_like(model.table)  # of somebody who came before
    loss = function(
        model,
        iter(_batches(inputs)),
        _loss,
        optimizer,
        WatchedSchedule(optimizer),
        **extra,
    )
    return {
        "mean loss": number(loss, "the mean loss"),
        "order of events": ", ".join(_collapsed(events)),
        "table after the epoch": model.table,
        "bias after the epoch": model.bias,
    }


def _collapsed(events: list[str]) -> list[str]:
    """Events in their order, repeated ones once.

    Gradients may be forgotten in several ways; the weights afterwards show whether they
    were.
    """
    told = [event for event in events if event != "zero_grad"]
    return [event for event, _ in itertools.groupby(told)]


@probe("text_recovery/evaluate")
def evaluate(function: Callable[..., Any], inputs: Inputs) -> Seen:
    """The mean loss, what the model noted, its mode and its weights afterwards."""
    events: list[str] = []
    model = Table(inputs["table"], events).train(bool(inputs["training"]))
    loss = function(model, iter(_batches(inputs)), _loss)
    modes = {e for e in events if e.startswith("forward")}
    return {
        "mean loss": number(loss, "the mean loss"),
        "modes": ", ".join(sorted(modes)),
        "gradients are recorded": str("without gradients" not in events),
        "in training mode afterwards": str(model.training),
        "table afterwards": model.table,
    }


# --- BLEU ----------------------------------------------------------------------------


@probe("text_recovery/clipped_matches")
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


@probe("text_recovery/corpus_bleu")
def corpus_bleu(function: Callable[..., Any], inputs: Inputs) -> Seen:
    """BLEU with the defaults and with each combination of switches."""
    hypotheses = json.loads(inputs["hypotheses"])
    references = json.loads(inputs["references"])
    seen = {"BLEU": number(function(hypotheses, references), "BLEU")}
    for name in json.loads(inputs["switches"]):
        tokens, smooth, effective = name.split(", ")
        value = function(
            hypotheses, references, tokenize=_TOKENIZE[tokens], smooth=smooth,
            effective_order=effective == "effective order",
        )  # fmt: skip
        seen[f"BLEU ({name})"] = number(value, "BLEU")
    return seen


# --- decoding ------------------------------------------------------------------------


class Script(nn.Module):
    """A model whose every score we know: tables by sentence and place, and by prefix.

    Logits after ``target[:, : t + 1]`` are ``places[sentence, t]`` plus the sum of
    ``habits[token]`` over the whole prefix. The sentence is read from the memory *and*
    the source, so that both must belong to the prefix. Training mode shifts the scores
    by one token.
    """

    def __init__(self, places: torch.Tensor, habits: torch.Tensor):
        super().__init__()
        self.places = nn.Parameter(places)  # (S, T, V)
        self.habits = nn.Parameter(habits)  # (V, V)
        self.asked: list[int] = []

    def encode(self, source: torch.Tensor) -> torch.Tensor:
        """Which sentence it is, as a one-hot vector at every place: (B, Ls, S)."""
        rows = F.one_hot(source[:, :1] - 4, len(self.places)).to(self.places.dtype)
        return rows.expand(-1, source.size(1), -1)

    def decode(
        self, target: torch.Tensor, memory: torch.Tensor, source: torch.Tensor
    ) -> torch.Tensor:
        """Logits (B, Lt, V)."""
        self.asked.append(target.size(1))
        rows = (memory[:, 0] + self.encode(source)[:, 0]) / 2  # (B, S)
        known = torch.arange(target.size(1)).clamp(max=self.places.size(1) - 1)
        logits = torch.einsum("bs,stv->btv", rows, self.places[:, known])
        logits = logits + self.habits[target].cumsum(dim=1)
        return logits.roll(1, dims=-1) if self.training else logits

    def forward(self, source: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        """Logits (B, Lt, V)."""
        return self.decode(target, self.encode(source), source)


def _decoded(found: object, model: Script) -> Seen:
    ids = tensor(found, "the ids")
    return {
        "ids": ids,
        "has a gradient": str(ids.is_floating_point() and ids.requires_grad),
        "longest prefix asked for": torch.tensor(max(model.asked, default=0)),
    }


@probe("text_recovery/greedy_decode")
def greedy_decode(function: Callable[..., Any], inputs: Inputs) -> Seen:
    """The ids, how long the prefixes grew, and the source afterwards."""
    model = Script(inputs["places"], inputs["habits"]).train()
    source, longest = inputs["source"], inputs.get("max_len")
    ids = function(model, source) if longest is None else function(
        model, source, int(longest)
    )  # fmt: skip
    return _decoded(ids, model) | {"source afterwards": source}


@probe("text_recovery/beam_search")
def beam_search(function: Callable[..., Any], inputs: Inputs) -> Seen:
    """The ids of each beam size, how long prefixes grew, and the source afterwards."""
    seen, source = {}, inputs["source"]
    for size in json.loads(inputs["beam_sizes"]):
        model = Script(inputs["places"], inputs["habits"]).train()
        ids = function(
            model, source, beam_size=size, max_len=int(inputs["max_len"]),
            alpha=float(inputs["alpha"]),
        )  # fmt: skip
        ids = tensor(ids, "the ids")
        seen[f"ids, k = {size}"] = _trimmed(ids)
        seen[f"longest prefix, k = {size}"] = torch.tensor(max(model.asked, default=0))
    return seen | {"source afterwards": source}


def _trimmed(ids: torch.Tensor) -> torch.Tensor:
    """Without columns of PAD at the end: they say nothing."""
    if ids.dim() != 2 or ids.is_floating_point():
        return ids
    while ids.size(1) > 1 and bool((ids[:, -1] == PAD).all()):
        ids = ids[:, :-1]
    return ids


# --- the model -----------------------------------------------------------------------


def _recovered(function: Callable[..., Any], inputs: Inputs) -> Seen:
    """The recovered texts; the answer has the name of its measure."""
    sources = json.loads(inputs["sources"])
    texts = function(list(sources))
    if not isinstance(texts, Iterable) or isinstance(texts, str):
        raise WrongAnswer(f"expected a list of texts, got {describe(texts)}")
    texts = [text(t, "each of them") for t in texts]
    if len(texts) != len(sources):
        raise WrongAnswer(f"expected {len(sources)} texts, got {len(texts)}")
    return {"bleu": as_json(texts, "the texts")}


@probe("text_recovery/model", here=_recovered)
def model(function: Callable[..., Any], inputs: Inputs) -> Seen:
    """A sample of recovered texts, and the file whose weights they should come from.

    The judge decodes all of the sources, with those weights.
    """
    seen = _recovered(function, {"sources": inputs["sample"]})
    path = checkpoint.handed_in()
    if path.is_file() and 0 < path.stat().st_size <= checkpoint.LIMIT + 2**20:
        data = bytearray(path.read_bytes())
        seen = {**seen, "checkpoint": torch.frombuffer(data, dtype=torch.uint8)}
    return seen
