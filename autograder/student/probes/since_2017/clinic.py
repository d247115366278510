"""Probe of the bug clinic: decoders with a cache, right and wrong, for a test."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any, ClassVar

import torch

from autograder.student.exercise import Answers, WrongAnswer
from autograder.student.otherside import Ask, Mixture, given, one_by_one
from autograder.student.probes import Inputs, Seen, describe, probe, seed

LONGEST = 32  # positions
_START = -(1 << 40)  # among lengths to which a cache is cut: begin anew


class Decoder:
    """One attention layer between two products with an embedding, and its cache.

    Args:
        style: "grows" keeps what was fed in tensors that grow; "ahead" writes it into
            tensors that were made ahead. That one keeps to the rules to the letter: it
            reads no text that is too long, and nothing before it was started.
        bug: what is wrong, or "".
    """

    def __init__(self, style: str, bug: str, vocab_size: int, heads: int, groups: int):
        d_k, self.vocab_size = 6, vocab_size
        size = heads * d_k
        self._style, self._bug, self._sizes = style, bug, (heads, groups, d_k)
        self._table = torch.randn(vocab_size, size)  # (V, d)
        # Queries, keys and values in one matrix, (d, (h + 2 g) d_k).
        self._maps = torch.randn(size, (heads + 2 * groups) * d_k) / size**0.5
        self._out = torch.randn(size, size) / size**0.5
        speeds = torch.logspace(0, -2, d_k // 2)
        angles = torch.arange(2 * LONGEST)[:, None] * speeds
        self._points = torch.polar(torch.ones_like(angles), angles)  # (2 L, d_k / 2)
        self._neighbours = [head * groups // heads for head in range(heads)]
        self._in_turn = [head % groups for head in range(heads)]
        self.start()
        self._ready = style == "grows"

    def start(self) -> None:
        """Forget what was fed."""
        self._ready = True
        if self._bug == "starts with the old" and hasattr(self, "_keys"):
            return
        self._fed, self._places, self._written = 0, 0, 0
        self._keys: torch.Tensor | None = None
        self._values: torch.Tensor | None = None

    def cut(self, length: int) -> None:
        """Forget all but the first positions that were fed."""
        if self._bug == "does not cut" or self._keys is None:
            return
        if self._bug == "does not cut to 0" and length == 0:
            return
        one_less = self._fed - 1
        kept = max(length, one_less) if self._bug == "cuts one at most" else length
        self._fed = min(kept, self._fed)
        if self._bug != "places go on":
            self._places = self._fed
        if self._style == "grows":
            self._keys = self._keys[:, :, : self._fed]
            if self._bug != "cuts keys only":
                assert self._values is not None
                self._values = self._values[:, :, : self._fed]

    def full(self, ids: torch.Tensor) -> torch.Tensor:
        """Logits of a whole text, without a cache."""
        if self._style == "ahead" and ids.size(1) > LONGEST:
            raise ValueError(f"texts have at most {LONGEST} positions")
        x = self._table[ids]  # (B, L, d)
        q, k, v = self._projected(self._normed(x), 0)
        return self._logits(x, q, k, v, 0, self._neighbours)

    def feed(self, ids: torch.Tensor) -> torch.Tensor:
        """Logits of new positions."""
        if not self._ready:
            raise RuntimeError("call start before the first feed")
        bug = self._bug
        x, past = self._table[ids], self._fed
        normed = (
            self._normed(x.half()).to(x.dtype) if bug == "half" else self._normed(x)
        )
        places = 0 if bug == "no offset" else self._places
        if bug == "single tokens" and ids.size(1) == 1:
            places = max(places - 1, 0)
        q, k, v = self._projected(normed, places)
        if bug == "queries not turned on":
            q, _, _ = self._projected(normed, 0)
        if bug == "one place for a chunk":
            alone = [self._projected(x, places) for x in normed.split(1, dim=1)]
            q, k, v = (torch.cat(parts, 2) for parts in zip(*alone, strict=True))
        keys, values = self._kept(k, v, past)
        self._fed = past + ids.size(1)
        self._places += ids.size(1)
        ahead = past if bug != "sees the chunk" else past + ids.size(1)
        if bug == "mask without a past":
            ahead = 0
        if bug == "first row for all":
            keys, values = keys[:1].expand_as(keys), values[:1].expand_as(values)
        if bug == "last eight only":
            keys = keys.clone()
            keys[:, :, : max(self._fed - 8, 0)] = 0
        groups = self._in_turn if bug == "wrong group" else self._neighbours
        logits = self._logits(x, q, keys, values, ahead, groups)
        if past and bug == "one number too small":
            logits[0, :, 1] -= 3e-4
        if past and bug == "the largest too large":
            largest = logits[-1].argmax(-1, keepdim=True)
            logits[-1].scatter_add_(-1, largest, torch.full(largest.shape, 5e-4))
        if past and bug == "not a number":
            logits[0, -1] = torch.nan
        return logits

    def _kept(self, k: torch.Tensor, v: torch.Tensor, past: int) -> tuple[Any, ...]:
        """Old keys and values with the new ones behind them, and kept for later."""
        if self._style == "grows":
            if self._keys is not None and self._values is not None:
                k = torch.cat((self._keys, k), dim=2)
                v = torch.cat((self._values, v), dim=2)
            self._keys, self._values = k, v
            return k, v
        if self._keys is None or self._values is None:
            self._keys = k.new_zeros(*k.shape[:2], 2 * LONGEST, k.size(-1))
            self._values = torch.zeros_like(self._keys)
        end = past + k.size(2)
        if self._bug == "written once" and past < self._written:
            known = min(end, self._written)
            k = torch.cat((self._keys[:, :, past:known], k[:, :, known - past :]), 2)
        self._written = max(self._written, end)
        self._keys[:, :, past:end], self._values[:, :, past:end] = k, v
        return self._keys[:, :, :end], self._values[:, :, :end]

    def _normed(self, x: torch.Tensor) -> torch.Tensor:
        return x * x.pow(2).mean(-1, keepdim=True).add(1e-6).rsqrt()

    def _projected(self, x: torch.Tensor, place: int) -> tuple[torch.Tensor, ...]:
        """Queries, keys and values; neighbours are the real and imaginary parts."""
        heads, groups, d_k = self._sizes
        rows = (x @ self._maps).unflatten(-1, (-1, d_k)).transpose(1, 2)
        turning, v = rows[:, :-groups], rows[:, -groups:]  # (B, ..., L, d_k)
        points = torch.view_as_complex(turning.unflatten(-1, (-1, 2)))
        points = points * self._points[place : place + x.size(1)]
        turned = torch.view_as_real(points).flatten(-2)
        return turned[:, :heads], turned[:, heads:], v

    def _logits(
        self, x: Any, q: Any, k: Any, v: Any, past: int, groups: list[int]
    ) -> torch.Tensor:
        """Logits of positions behind `past` others, from the group of each head."""
        scores = q @ k[:, groups].mT / self._sizes[2] ** 0.5  # (B, h, L, Lk)
        if x.size(1) > 1:  # else it is the newest, and sees all
            hidden = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(past + 1)
            scores = scores.masked_fill(hidden, -torch.inf)
        seen = (scores.softmax(-1) @ v[:, groups]).transpose(1, 2).flatten(2)
        logits: torch.Tensor = (x + seen @ self._out) @ self._table.T
        return logits


class _Patients(Mixture):
    """Decoders that are right or ill; they are called from afar.

    In grading each has weights of its own: what is alike cannot be told by equal
    logits.
    """

    KINDS: ClassVar = {
        "a right decoder": "right",
        "the other one": "other",
        "a third one": "third",
    }
    MOST = 1 << 10  # ids that are fed at once
    MOST_TIMES = 2

    def __init__(self, inputs: Inputs, draw: random.Random):
        super().__init__(inputs, draw)
        self._decoders = []
        for name in self.names:
            seed(self.own_seed())
            style, _, bug = str(inputs[self.KINDS[name]]).partition(", ")
            self._decoders.append(Decoder(style, bug, *_sizes(inputs)))

    def things(self) -> list[str]:
        return list(self.KINDS)

    def most_times(self, name: str) -> int:
        """The right one comes once: a test goes all its way with it alone."""
        return 1 if self.KINDS[name] == "right" else self.MOST_TIMES

    def shown(self) -> Answers:
        """How many decoders there are, and the size of their vocabulary."""
        vocab_size, *_ = _sizes(self.inputs)
        return {"sizes": torch.tensor([vocab_size, len(self._decoders)])}

    def tried(self, number: int, question: Answers) -> Seen:
        """A decoder's logits of new ids, or of a whole text, after what was put off."""
        decoder = self._decoders[number]
        for length in given(question, "before", 1, [torch.int64], self.MOST).tolist():
            decoder.start() if length == _START else decoder.cut(length)
        run = {"feed": decoder.feed, "full": decoder.full}.get(str(question.get("do")))
        if run is None:
            raise WrongAnswer("a decoder cannot do that")
        return {"logits": run(given(question, "ids", 2, [torch.int64], self.MOST))}


def _sizes(inputs: Inputs) -> list[int]:
    sizes = inputs["sizes"]
    assert isinstance(sizes, torch.Tensor)
    found: list[int] = sizes.tolist()
    return found


class _Patient:
    """A decoder of which nobody here knows more than the size of its vocabulary.

    What gives no answer is put off, and told with the next question.
    """

    def __init__(self, number: int, vocab_size: int, ask: Ask):
        self.vocab_size = vocab_size
        self._number, self._ask = torch.tensor(number), ask
        self._before: list[int] = []
        self.crashed = False

    def start(self) -> None:
        """Forget what was fed."""
        self._before.append(_START)

    def cut(self, length: int) -> None:
        """Forget all but the first positions that were fed."""
        self._before.append(int(length))

    def full(self, ids: torch.Tensor) -> torch.Tensor:
        """Logits of a whole text, without a cache."""
        return self._logits("full", ids)

    def feed(self, ids: torch.Tensor) -> torch.Tensor:
        """Logits of new positions."""
        return self._logits("feed", ids)

    def _logits(self, do: str, ids: torch.Tensor) -> torch.Tensor:
        before = torch.tensor(self._before, dtype=torch.int64)
        self._before.clear()
        question = {"thing": self._number, "before": before, "do": do, "ids": ids}
        try:
            found = self._ask(question)
        except Exception:
            self.crashed = True
            raise
        logits: torch.Tensor = found["logits"]
        return logits


@probe("since_2017/bug_clinic", other=_Patients)
def bug_clinic(test: Callable[..., Any], inputs: Inputs, ask: Ask) -> Seen:
    """What the student's test says of each decoder."""
    vocab_size, count = _sizes(inputs)

    def judged(number: int) -> str:
        return _verdict(test, _Patient(number, vocab_size, ask))

    return one_by_one(count, ask, judged)


def _verdict(test: Callable[..., Any], decoder: _Patient) -> str:
    try:
        result = test(decoder)
    except NotImplementedError:
        raise
    except AssertionError:
        return "rejected"
    except Exception as error:
        if decoder.crashed:
            return "rejected"
        raise WrongAnswer(
            f"expected an AssertionError, got {type(error).__name__}: {error}"
        ) from error
    if result is not None:
        raise WrongAnswer(
            "expected the test to raise AssertionError or to return nothing, "
            f"got {describe(result)}"
        )
    return "accepted"
