"""Patching tools for the bug clinic, correct and buggy ones, and their model.

They run on the judge's side, so students see only what the tools return.
"""

from __future__ import annotations

import torch
from torch import Tensor

from transformer_course.look_inside.probes.stand_in import StandIn

D_MODEL, HEADS, GROUPS = 8, 4, 2


def make_model(seed: int, blocks: int, vocab_size: int) -> StandIn:
    """Make a small model whose weights are determined by a seed."""
    random = torch.Generator().manual_seed(seed)
    d_k = D_MODEL // HEADS
    shapes = {"embedding.weight": (vocab_size, D_MODEL)}
    for i in range(blocks):
        shapes[f"blocks.{i}.attention.w_v.weight"] = (GROUPS * d_k, D_MODEL)
        shapes[f"blocks.{i}.attention.w_o.weight"] = (D_MODEL, HEADS * d_k)
        shapes[f"blocks.{i}.feed_forward.weight"] = (D_MODEL, D_MODEL)
    shapes["output.weight"] = (vocab_size, D_MODEL)
    weights: dict[str, Tensor] = {
        f"weights.{name}": torch.randn(shape, generator=random)
        for name, shape in shapes.items()
    }
    return StandIn(weights | {"heads": torch.tensor((HEADS, GROUPS))})


class PatchingTool:
    """A tool that runs a model on a text with one hidden state from another text.

    ``style`` is "hooks" or "loop"; ``bug`` is the name of a bug, or "" for none.
    """

    def __init__(self, model: StandIn, style: str, bug: str):
        self.model, self.style, self.bug = model, style, bug
        self._left: list[tuple[int, int, Tensor]] = []  # patches of unremoved hooks
        self._cache: dict[tuple[int, ...], list[Tensor]] = {}
        self._first: list[Tensor] = []

    @torch.no_grad()
    def __call__(
        self, ids: Tensor, other_ids: Tensor, block: int, position: int
    ) -> Tensor:
        """Return the logits for `ids`, with one state from a run on `other_ids`.

        Args:
            ids, other_ids: two texts of the same length, `(1, L)`.
            block, position: the state is that which enters this block at this position.
        """
        if self.bug == "wrong way round":
            ids, other_ids = other_ids, ids
        position = {
            "one late": min(position + 1, ids.size(1) - 1),
            "always the last position": ids.size(1) - 1,
            "always the first position": 0,
        }.get(self.bug, position)
        block = 0 if self.bug == "always the first block" else block
        if self.bug == "in place":
            return self._patch_in_place(ids, other_ids, block, position)
        states = self._list_states(ids if self.bug == "own states" else other_ids)
        self._first = self._first or states  # those of the first call
        if self.bug == "states of the first call" and (
            self._first[0].shape == states[0].shape
        ):
            states = self._first
        if self.bug == "attention only":
            return self._patch_attention(ids, states[block], block, position)
        late = self.bug == "next block"  # counts as 1
        change = block + late, position, states[block + late]
        # The other style, and the bugs that remain, run the blocks in a loop.
        if self.style == "hooks" and not self.bug:
            return self._patch_by_hook(ids, *change)
        logits = self._compute_logits(
            self.model.embedding(ids), 0, [*self._left, change]
        )
        if self.bug == "hook stays":
            self._left.append(change)
        return logits

    def _list_states(self, ids: Tensor) -> list[Tensor]:
        """The states that enter each block, and the output of the last one."""
        states = [self.model.embedding(ids)]
        for i, block in enumerate(self.model.blocks):
            states.append(block(self._patch(states[-1], i, self._left)))
        return states

    def _compute_logits(
        self, x: Tensor, begin: int, changes: list[tuple[int, int, Tensor]]
    ) -> Tensor:
        """Logits from the state x that enters block ``begin``, with patches applied."""
        for i, block in enumerate(self.model.blocks):
            if i >= begin:
                x = block(self._patch(x, i, changes))
        x = self._patch(x, len(self.model.blocks), changes)
        return self._project(x)

    def _project(self, x: Tensor) -> Tensor:
        """Logits from the output of the last block, as the model computes them."""
        logits: Tensor = self.model.output(
            x / x.square().mean(-1, keepdim=True).add(1e-6).sqrt()
        )
        return logits

    def _patch(
        self, x: Tensor, block: int, changes: list[tuple[int, int, Tensor]]
    ) -> Tensor:
        """Return x, the input of a block, with those changes that are for this block.

        A change is (number of a block, position, states of another run).
        """
        for at, position, new in changes:
            if at == block and x.shape == new.shape:
                x = x.clone()
                where = {
                    "whole text": slice(None),
                    "all later positions": slice(position, None),
                    "all earlier positions": slice(position + 1),
                }.get(self.bug, slice(position, position + 1))
                if self.bug == "added":
                    x[:, where] += new[:, where]
                elif self.bug == "half of the components":
                    x[:, where, : D_MODEL // 2] = new[:, where, : D_MODEL // 2]
                else:
                    x[:, where] = new[:, where]
        return x

    def _patch_by_hook(
        self, ids: Tensor, block: int, position: int, state: Tensor
    ) -> Tensor:
        """Logits with the state patched by a hook on the module before the block."""
        stages = [self.model.embedding, *self.model.blocks]
        here = (torch.arange(ids.size(1)) == position)[:, None]
        handle = stages[block].register_forward_hook(
            lambda module, arguments, output: torch.where(here, state, output)
        )
        try:
            logits: Tensor = self.model(ids)
        finally:
            handle.remove()
        return logits

    def _patch_in_place(
        self, ids: Tensor, other_ids: Tensor, block: int, position: int
    ) -> Tensor:
        """Patch states in a cache, so that later calls read patched states (a bug)."""
        own, other = (
            self._cache.setdefault(tuple(text[0].tolist()), self._list_states(text))
            for text in (ids, other_ids)
        )
        own[block][:, position] = other[block][:, position]
        return self._compute_logits(own[block], block, [])

    def _patch_attention(
        self, ids: Tensor, state: Tensor, block: int, position: int
    ) -> Tensor:
        """Patch the output of a block's attention instead of the block's input."""
        layer = self.model.get_submodule(f"blocks.{block}.attention")
        new = layer(state)
        here = (torch.arange(ids.size(1)) == position)[:, None]
        handle = layer.register_forward_hook(
            lambda module, arguments, output: torch.where(here, new, output)
        )
        logits: Tensor = self.model(ids)
        handle.remove()
        return logits
