"""Fast greedy decoding and beam search with a handed-in Transformer.

Unlike the notebooks' loop, it uses a KV cache and drops rows that have ended.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from transformer_course.library.decoding import padded
from transformer_course.library.text import BOS, EOS, PAD, Tokenizer

Branch = Callable[[Tensor], Tensor]


def recover_with_cache(
    transformer: nn.Module,
    tokenizer: Tokenizer,
    sources: Sequence[str],
    batch_size: int = 250,
    smallest_margins: Tensor | None = None,
    beam: int = 1,
    alpha: float = 1.0,
) -> list[str]:
    """Return the text that a Transformer recovers from each damaged source text.

    It is a fast version of `library.decoding.recover`, with a KV cache.

    Args:
        smallest_margins: a number for each source. Greedy decoding lowers it in
            place to the smallest gap between the two best logits of any token.
        beam, alpha: see `beam_search`; a beam of 1 is greedy.
    """
    rows = [[*tokenizer.encode(source), EOS] for source in sources]
    order = sorted(range(len(rows)), key=lambda i: len(rows[i]))  # little padding
    texts = [""] * len(rows)
    for start in range(0, len(order), batch_size):
        chosen = order[start : start + batch_size]
        batch = padded([rows[i] for i in chosen])
        # Indexing copies, so the lowered margins are written back below.
        margins = None if smallest_margins is None else smallest_margins[chosen]
        if beam > 1:
            ids = beam_search(transformer, batch, beam, alpha)
        else:
            ids = greedy(transformer, batch, smallest_margins=margins)
        if smallest_margins is not None and margins is not None:
            smallest_margins[chosen] = margins
        for i, row in zip(chosen, ids.tolist(), strict=True):
            texts[i] = tokenizer.decode(row)
    return texts


@torch.no_grad()
def greedy(
    transformer: Any,
    source: Tensor,
    max_len: int = 60,
    smallest_margins: Tensor | None = None,
) -> Tensor:
    """Append the most probable token to each row until all rows have ended.

    Args:
        transformer: unit 4's ``Transformer``, in eval mode.
        source: ids (B, Ls), int64.
        smallest_margins: (B,); lowered in place to the smallest difference between
            the two best logits over all tokens of a row.

    Returns:
        Ids (B, L) with L <= max_len, int64, without BOS, and only PAD after EOS.
    """
    answers = torch.full((source.size(0), max_len), PAD)  # (B, max_len)
    live = torch.arange(source.size(0))  # the rows that have not ended: (b,)
    steps = _Steps(transformer, source)
    token = torch.full_like(source[:, 0], BOS)  # (b,)
    for position in range(max_len):
        logits = steps.logits(token, position)  # (b, V)
        token = logits.argmax(dim=-1)  # (b,)
        if smallest_margins is not None:
            best, next_best = logits.topk(2).values.unbind(-1)  # (b,)
            smallest_margins[live] = smallest_margins[live].minimum(best - next_best)
        answers[live, position] = token
        going = token != EOS  # (b,)
        if not going.all():
            live, token = live[going], token[going]
            steps.keep(going)
        if not len(live):
            return answers[:, : position + 1]
    return answers


@torch.no_grad()
def beam_search(
    transformer: Any, source: Tensor, beam: int, alpha: float, max_len: int = 60
) -> Tensor:
    """Find the finished hypothesis with the largest log-probability / length**alpha.

    Args:
        source: ids (B, Ls), int64.
        beam: the number of hypotheses to keep for each source.
        alpha: 0 compares log-probabilities; larger values prefer longer texts.

    Returns:
        Ids (B, L) as in `greedy`, of an unfinished hypothesis if none is finished.
    """
    rows = source.size(0)
    answers = torch.full((rows, max_len), PAD)
    best = torch.full((rows,), -torch.inf)  # scores of the best finished hypotheses
    steps = _Steps(transformer, source.repeat_interleave(beam, dim=0))
    live = torch.arange(rows)  # sources whose search has not ended: (b,)
    scores = torch.full((rows, beam), -torch.inf)
    # At first all hypotheses of a source are equal, so only one is continued.
    scores[:, 0] = 0.0
    written = torch.empty(rows, beam, 0, dtype=torch.int64)
    token = torch.full((rows * beam,), BOS)
    for position in range(max_len):
        gains = steps.logits(token, position).log_softmax(-1).view(len(live), beam, -1)
        gains[..., [PAD, BOS]] = -torch.inf
        total = (scores[..., None] + gains).flatten(1)  # (b, beam * V)
        # At most half of these end with EOS, so `beam` of them remain to be continued.
        values, chosen = total.topk(2 * beam)  # (b, 2 * beam)
        parents, tokens = chosen // gains.size(-1), chosen % gains.size(-1)
        is_eos = tokens == EOS
        length = (position + 1) ** alpha
        # As is usual, EOS counts only among the `beam` best candidates.
        finished = values[:, :beam].masked_fill(~is_eos[:, :beam], -torch.inf) / length
        top, at = finished.max(dim=1)
        for i in (top > best[live]).nonzero()[:, 0].tolist():
            row, prefix = live[i], written[i, parents[i, at[i]]]
            best[row] = top[i]
            answers[row] = PAD
            answers[row, :position] = prefix
            answers[row, position] = EOS
        # Finished hypotheses get larger keys, so they come last.
        order = (is_eos.long() * 2 * beam + torch.arange(2 * beam)).argsort(dim=1)
        continuing = order[:, :beam]  # the unfinished hypotheses, the best first
        scores, parents, tokens = (
            x.gather(1, continuing) for x in (values, parents, tokens)
        )
        written = written.gather(1, parents[..., None].expand(-1, -1, position))
        written = torch.cat([written, tokens[..., None]], dim=-1)
        # A longer hypothesis could still be better than the best finished one.
        going = best[live] < scores[:, 0] / max_len**alpha
        if position + 1 == max_len or not going.any():
            break
        rows_kept = (torch.arange(len(live))[:, None] * beam + parents)[going].flatten()
        steps.keep(rows_kept)
        live, scores, written = live[going], scores[going], written[going]
        token = tokens[going].flatten()
    for i in (best[live] == -torch.inf).nonzero()[:, 0].tolist():
        answers[live[i], : written.size(-1)] = written[i, 0]
    return answers


class _Steps:
    """A decoder with a KV cache, which computes one position at a time.

    Keys and values are (b, h, L, d_k), for the b rows that have not ended.
    """

    def __init__(self, transformer: Any, source: Tensor):
        self._transformer = transformer
        memory = transformer.encode(source)  # (B, Ls, d_model)
        self._memory_mask = (source != PAD)[:, None, None]  # (B, 1, 1, Ls)
        self._mask = torch.zeros(len(source), 1, 1, 0, dtype=torch.bool)
        layers = transformer.decoder.layers
        self._memory = [_project_memory(la.cross_attention, memory) for la in layers]
        empty = memory[:, :0]
        self._prefix = [_project_memory(la.self_attention, empty) for la in layers]

    def logits(self, token: Tensor, position: int) -> Tensor:
        """Logits (b, V) of the next token, given each row's newest ``token`` (b,)."""
        model = self._transformer
        self._mask = torch.cat([self._mask, (token != PAD)[:, None, None, None]], -1)
        x = model.target.embedding(token)[:, None] * model.target.scale
        # The vectors that positions add do not depend on the input, so zeros will do.
        zeros = x.new_zeros(1, position + 1, x.size(-1))
        x = x + model.target.positions(zeros)[:, -1:]  # (b, 1, d_model)
        for n, layer in enumerate(model.decoder.layers):
            x = _run_layer(layer, x, self._replace_sublayers(n, layer))
        logits: Tensor = model.output(model.decoder.norm(x))  # (b, 1, V)
        return logits[:, 0]

    def _replace_sublayers(self, n: int, layer: Any) -> tuple[Branch, ...]:
        """Return functions for layer n's sublayers; the two attentions use the caches.

        Each of the three maps (b, 1, d_model) to the same shape.
        """

        def attend(x: Tensor) -> Tensor:
            """Self-attention from the newest position; extends the cache."""
            new = _project_memory(layer.self_attention, x)
            before = self._prefix[n]
            self._prefix[n] = (
                torch.cat([before[0], new[0]], dim=2),  # (b, h, position + 1, d_k)
                torch.cat([before[1], new[1]], dim=2),
            )
            return _attend(layer.self_attention, x, self._prefix[n], self._mask)

        def look_up(x: Tensor) -> Tensor:
            memory, mask = self._memory[n], self._memory_mask
            return _attend(layer.cross_attention, x, memory, mask)

        return attend, look_up, layer.feed_forward

    def keep(self, going: Tensor) -> None:
        """Drop all rows of the caches but those that ``going`` selects.

        ``going`` is a mask (b,), or the indices of the rows in their new order.
        """
        self._mask, self._memory_mask = self._mask[going], self._memory_mask[going]
        self._memory = [(k[going], v[going]) for k, v in self._memory]
        self._prefix = [(k[going], v[going]) for k, v in self._prefix]


def _run_layer(layer: Any, x: Tensor, branches: tuple[Branch, ...]) -> Tensor:
    """Compute a decoder layer's output, with ``branches`` in place of its sublayers.

    The layer's own norms, residual connections and forward hooks are applied.
    """
    before = x
    norms = (layer.norm1, layer.norm2, layer.norm3)
    for branch, norm in zip(branches, norms, strict=True):
        x = x + branch(norm(x)) if layer.norm_first else norm(x + branch(x))
    for hook in layer._forward_hooks.values():  # such as that of a model's ablation
        x = hook(layer, (before,), x)
    return x


def _project_memory(attention: Any, x: Tensor) -> tuple[Tensor, Tensor]:
    """The keys and values of an attention layer for x, (b, h, L, d_k) each."""
    return (
        _split_heads(attention.w_k(x), attention.num_heads),
        _split_heads(attention.w_v(x), attention.num_heads),
    )


def _split_heads(x: Tensor, num_heads: int) -> Tensor:
    """Split features into heads: (b, L, d_model) to (b, h, L, d_k)."""
    batch, length, d_model = x.shape
    return x.view(batch, length, num_heads, d_model // num_heads).transpose(1, 2)


def _attend(
    attention: Any, x: Tensor, keys_values: tuple[Tensor, Tensor], mask: Tensor
) -> Tensor:
    """Compute an attention layer's output from x and from cached keys and values."""
    q = _split_heads(attention.w_q(x), attention.num_heads)  # (b, h, 1, d_k)
    mixed = F.scaled_dot_product_attention(q, *keys_values, attn_mask=mask)
    output: Tensor = attention.w_o(mixed.transpose(1, 2).flatten(2))  # (b, 1, d_model)
    return output
