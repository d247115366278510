"""Probes of unit 05: greedy decoding."""

from __future__ import annotations

from functools import partial
from typing import Any

import torch
from torch import nn

from autograder.checks.exercise import Answers, WrongAnswerError
from autograder.checks.interactor import Ask, Interactor, require_tensor
from autograder.checks.probes import Inputs, Log, Seen, describe, probe, tensor
from transformer_course.library.written_rows import trim_at_eos
from transformer_course.sequence_reversal.probes.observing import BOS, EOS, PAD


class _Lines(Interactor):
    """The judge's side: a model with a fixed output ("line") for each source.

    After a correct prefix and with the source's memory, it predicts the line's next
    token, and otherwise the last id of the vocabulary. A second choice is so close
    that rounding may prefer it.
    """

    keeps = frozenset({"lines", "noise"})
    MOST = 1 << 16  # entries of one tensor in a question

    def answer(self, question: Answers) -> Seen:
        """Compute logits (B, T, V) for "source" (B, Ls) and prefixes "tokens" (B, T).

        Raises:
            WrongAnswerError: a shape or a source is not one of the case.
        """
        source = require_tensor(question, "source", 2, [torch.int64], self.MOST)
        tokens = require_tensor(question, "tokens", 2, [torch.int64], self.MOST)
        known_sources, noise = self.inputs["source"], self.inputs["noise"]
        if source.shape != (len(tokens), known_sources.size(1)):
            raise WrongAnswerError("the model was given a source of another shape")
        matches = torch.eq(source[:, None], known_sources).all(-1)  # (B, rows)
        if not bool(matches.any(-1).all()):
            raise WrongAnswerError(
                "the model was given a source that nobody asked it about"
            )
        lines = self.inputs["lines"][matches.int().argmax(-1)]  # (B, most)
        width = tokens.size(1)
        if not 0 < width <= min(len(noise), lines.size(1)):
            raise WrongAnswerError(f"the model was asked for token {width} of a row")
        logits = noise[:width].repeat(len(source), 1, 1) - 8  # (B, T, V): below zero
        is_correct = self._matches_line(tokens, lines)
        if "memory" in question:
            memory = require_tensor(question, "memory", 3, [torch.float32], self.MOST)
            is_correct &= (memory == _make_memory(source)).all(dim=1)  # (B, 1)
        # After a wrong prefix, the last id is the best, so that the mistake shows.
        best = torch.where(is_correct, lines[:, :width], logits.size(-1) - 1)  # (B, T)
        # A second token is only slightly worse: code that compares rounded
        # probabilities finds both equal, and may take this one.
        rival = torch.where(best > 0, best - 1, best + 1)
        most = logits.gather(-1, best[..., None]) + 3  # (B, T, 1)
        logits = logits.scatter(-1, rival[..., None], most - 2**-14)
        return {"logits": logits.scatter(-1, best[..., None], most)}

    @staticmethod
    def _matches_line(tokens: torch.Tensor, lines: torch.Tensor) -> torch.Tensor:
        """Return whether each prefix is BOS and the start of its row's line, (B, T).

        Tokens after an EOS of the line may differ.
        """
        line_tokens = lines[:, : tokens.size(1) - 1]
        over = (line_tokens == EOS).int().cumsum(1) > 0
        over = over.roll(1, dims=1)  # only after EOS: EOS itself has to match
        over[:, :1] = False
        matches = (tokens[:, 1:] == line_tokens) | over
        return torch.cat((tokens[:, :1] == BOS, matches), dim=1).cumprod(1).bool()


def _make_memory(source: torch.Tensor) -> torch.Tensor:
    """The memory that the stand-in model encodes: simply the source, as (B, Ls, 1)."""
    return source[..., None].float()


class _RemoteModel(nn.Module):
    """The student's side: a model that asks the judge for logits, and logs its mode."""

    def __init__(self, ask: Ask):
        super().__init__()
        self._ask = ask
        self.part = nn.Identity()  # a submodule with its own training mode
        self.scale = nn.Parameter(torch.ones(()))  # a trainable parameter
        self.frozen = nn.Parameter(torch.ones(()), requires_grad=False)
        self.modes = Log()
        self.gradients = Log()

    def forward(self, source: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
        return self._request_logits(source=source, tokens=tokens)

    def encode(self, source: torch.Tensor) -> torch.Tensor:
        """Compute the memory, for code that encodes once as in unit 4's Transformer."""
        self._log_modes()
        return _make_memory(source)

    def decode(
        self, tokens: torch.Tensor, memory: torch.Tensor, source: torch.Tensor
    ) -> torch.Tensor:
        return self._request_logits(source=source, tokens=tokens, memory=memory)

    def _request_logits(self, **question: torch.Tensor) -> torch.Tensor:
        """Ask the judge for the logits (B, T, V), and log the training modes."""
        self._log_modes()
        logits: torch.Tensor = self._ask(question)["logits"]
        return logits

    def _log_modes(self) -> None:
        """Log the training modes, and whether gradients are recorded."""
        self.modes += [self.training, self.part.training]
        self.gradients.append(torch.is_grad_enabled() and self.scale.requires_grad)


_of_decoding = partial(
    probe,
    interactor=_Lines,
    calls="* afterwards",
    learning="gradients recorded while decoding",
    mode="while decoding, in training mode",
)


@_of_decoding(
    "sequence_reversal/greedy_sequence",
    results="ids before EOS",
    form="form of the ids",
)
def greedy_sequence(function: Any, inputs: Inputs, ask: Ask) -> Seen:
    """Report the ids of one sequence, and the model's state after decoding."""
    ids, traces = _decode(function, inputs, ask)
    if not isinstance(ids, list) or not all(isinstance(token, int) for token in ids):
        raise WrongAnswerError(f"expected a list of ids, got {describe(ids)}")
    row = torch.tensor([ids], dtype=torch.int64)
    return {"ids before EOS": trim_at_eos(row), "form of the ids": row} | traces


@_of_decoding(
    "sequence_reversal/greedy_decode",
    results="tokens before EOS; rows that write on after EOS",
    form="form of the tokens",
)
def greedy_decode(function: Any, inputs: Inputs, ask: Ask) -> Seen:
    """Report the tokens of all rows, and the model's state after decoding."""
    tokens, traces = _decode(function, inputs, ask)
    tokens = tensor(tokens, "the tokens")
    return {
        "tokens before EOS": trim_at_eos(tokens),
        "rows that write on after EOS": _count_unended(tokens),
        "form of the tokens": tokens,
    } | traces


def _count_unended(tokens: torch.Tensor) -> torch.Tensor:
    """Count the rows in which a token other than EOS or PAD follows an EOS."""
    over = (tokens == EOS).cumsum(dim=-1) > 0
    return (over & (tokens != EOS) & (tokens != PAD)).any(dim=-1).sum()


def _decode(function: Any, inputs: Inputs, ask: Ask) -> tuple[Any, Seen]:
    """Decode the case's source with the student's function.

    Returns:
        The function's result, and what it did to the source, modes and gradients.
    """
    source, max_len = inputs["source"], int(inputs["max_len"])
    model = _RemoteModel(ask)
    model.train(bool(inputs["training"]))
    try:
        torch.set_grad_enabled(model.training)  # off in evaluation, as is usual
        result = function(model, source, max_len)
        recorded = torch.is_grad_enabled()
    finally:
        torch.set_grad_enabled(True)
    return result, {
        "while decoding, in training mode": torch.tensor(any(model.modes)),
        "gradients recorded while decoding": torch.tensor(any(model.gradients)),
        "in training mode afterwards": torch.tensor(model.training),
        "parts in training mode afterwards": torch.tensor(model.part.training),
        "two parameters learn afterwards": torch.tensor(
            [model.scale.requires_grad, model.frozen.requires_grad]
        ),
        "gradients are recorded afterwards": torch.tensor(recorded),
        "source afterwards": source,
    }
