"""The chat model SmolLM2-135M-Instruct, built from the classes of unit 7.

The notebook of unit 8 uses it to answer questions and to score texts.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from transformer_course.library.chat import prompt
from transformer_course.library.chat_in_classes import fill, new_network
from transformer_course.library.published import PublishedModel, available

EOS = 2  # <|im_end|>, the end of a turn
Change = Callable[[Tensor], Tensor]


def load_assistant(modern: ModuleType) -> Assistant | None:
    """Load SmolLM2 into the classes of ``modern``, the module of unit 7.

    If the model is not available, print what to install, and return None.
    """
    published = available("smollm2")
    return Assistant(modern, published) if published else None


class Assistant:
    """The published chat model SmolLM2, in the classes of unit 7 (``modern``)."""

    def __init__(self, modern: ModuleType, published: PublishedModel):
        self.modern, self.published = modern, published
        self.network: Any = new_network(modern)
        fill(self.network, modern, published.weights)

    def fill(self, change: Change) -> None:
        """Copy the published parameters into the network.

        ``change`` is applied to each weight matrix of the blocks before it is copied.
        """
        fill(self.network, self.modern, self.published.weights, change)

    @torch.no_grad()
    def answer(self, question: str, max_len: int = 24) -> str:
        """Answer greedily, in at most `max_len` tokens, with unit 7's cache."""
        new, caches = torch.tensor([self.published.encode(prompt(question))]), None
        ids: list[int] = []
        while len(ids) < max_len:
            logits, caches = self._cached_logits(new, caches)
            new = logits.argmax(-1)  # (1, 1)
            if new.item() == EOS:
                break
            ids.append(int(new.item()))
        return " ".join(self.published.decode(ids).split())

    @torch.no_grad()
    def log_probabilities(self, text: str, continuation: str) -> Tensor:
        """The log-probability of each token of a continuation of a text, `(T,)`."""
        encode = self.published.encode
        # The continuation begins where the ids of the text alone would end.
        start, ids = len(encode(text)), torch.tensor(encode(text + continuation))
        logits: Tensor = self.network(ids[None, :-1])[0]  # (L - 1, V)
        return logits.log_softmax(-1).gather(-1, ids[1:, None])[start - 1 :, 0]

    @torch.no_grad()
    def perplexity(self, text: str) -> float:
        """The perplexity per token of a text, computed in a single window."""
        ids = torch.tensor(self.published.encode(text))
        return F.cross_entropy(self.network(ids[None, :-1])[0], ids[1:]).exp().item()

    def _cached_logits(
        self, ids: Tensor, caches: list[Any] | None
    ) -> tuple[Tensor, list[Any]]:
        """Run the network on new ids, `(1, L)`, given each block's cache, if any.

        Return the logits of the last id, `(1, 1, V)`, and the extended caches.
        """
        x, after = self.network.embedding(ids), []
        blocks = self.network.blocks
        for block, cache in zip(blocks, caches or [None] * len(blocks), strict=True):
            mixed, cache = self.modern.attend_with_cache(
                block.attention, block.norm1(x), cache
            )
            x = x + mixed
            x = x + block.feed_forward(block.norm2(x))
            after.append(cache)
        x = self.network.norm(x)[:, -1:]
        return F.linear(x, self.network.embedding.weight), after
