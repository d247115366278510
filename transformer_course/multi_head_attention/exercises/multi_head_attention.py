"""Cases and mistakes for an exercise: multi-head attention.

Most of the mistakes are in `_multi_head_attention_mistakes`.
"""

from __future__ import annotations

import torch

from autograder.authoring.contract import OF_ATTENTION, Contract
from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, sizes, source, wrong
from autograder.authoring.specification import Inputs, Specification
from transformer_course.multi_head_attention.exercises._multi_head_attention_mistakes import (
    ARGUMENTS,
    ATTENTION,
    DROP,
    MERGED,
    MISTAKES,
    OUTPUT,
    write_attention,
)


def _draw_uneven(draw: Draw) -> Inputs:
    """Draw three pairs (d_model, number of heads) that a module must refuse."""
    heads = 3 + int(draw.ids(0, 4))
    return {"refuse": torch.tensor([[heads * 3 + 1, heads], [heads - 1, heads], [heads * 4 - 1, heads]])}


def _draw_key_of_zeros(draw: Draw, B: int, Lk: int, d_model: int) -> torch.Tensor:
    """A key sequence with a zero vector at one position, which is not masked."""
    return draw.tensor(B, Lk, d_model).index_fill(1, torch.tensor([1]), 0.0)


_MASKS = ("1 Lk", "1 Lq Lk", "B 1 Lk", "B Lq Lk", "B 1 1 Lk", "1 h 1 Lk", "1 h Lq Lk", "B h 1 Lk", "B h Lq Lk")

CASES = [
    case("plain", "three different inputs, no mask", sizes(B=2, Lq=5, Lk=7, d_model=12, num_heads=3, scale=0.5),
         "Print the shape after each step and compare with hint 2."),
    case("refuse", "numbers of heads that do not divide d_model", _draw_uneven,
         "The docstring names the error to raise.", aspect="errors", open=True),
    case("padding", "a padding mask (B, 1, Lk)",
         sizes(B=3, Lq=4, Lk=5, d_model=6, num_heads=2, scale=1.0, mask="B 1 Lk"),
         "Every head must respect the mask, and every input needs its gradient.", aspect="masks"),
    case("queries_and_keys", "a mask (Lq, Lk), and large scores",
         sizes(B=2, Lq=6, Lk=5, d_model=12, num_heads=4, scale=2.0, mask="Lq Lk"),
         "A 2-D mask applies to all sentences and heads.", aspect="masks"),
    case("a_mask_per_head", "a mask for each head (B, h, Lq, Lk)",
         sizes(B=2, Lq=4, Lk=6, d_model=15, num_heads=3, scale=0.5, mask="B num_heads Lq Lk"),
         "Each head has its own mask here.", aspect="masks"),
    case("as_many_sentences_as_heads", "a mask (B, Lq, Lk), with as many sentences as heads",
         sizes(B=3, Lq=5, Lk=4, d_model=6, num_heads=3, scale=1.0, mask="B Lq Lk"),
         "A 3-D mask applies to all heads and differs by sentence.", aspect="masks"),
    # Values that let the probe read weights off the output, twice in each head.
    case("dropout", "dropout in training, and none in evaluation",
         sizes(B=2, Lq=4, Lk=5, d_model=30, num_heads=3, scale=1.0, weights=0.125,
               dropout=lambda draw: (0.125, 0.1875, 0.25)[int(draw.ids(0, 3))],
               value=lambda draw: torch.eye(5).repeat(2, 1, 6)),
         "Dropout belongs on the attention weights, after the softmax, with the given probability.", aspect="mode"),
    case("single_head", "a single head, one sentence",
         sizes(B=1, Lq=3, Lk=4, d_model=6, num_heads=1, scale=1.0, mask="B Lq Lk"),
         "Nothing changes in principle with one head.", hidden_only=True, aspect="masks"),
]

_DROPOUT = [
    wrong("dropout_missing", "There is no dropout on the weights in training.",
          "Where in `forward` do you call your dropout layer? Do you use what it returns?",
          edit(DROP, "weights"),
          edit(f"weights = {DROP}", DROP, name="dropout_discarded"), tests="training"),
    wrong("dropout_depends_on_the_mask", "Whether weights are dropped in training depends on whether there is a mask.",
          "What does the mask have to do with dropout?",
          edit(DROP, f"{DROP} if mask is None else weights"),
          edit(DROP, f"weights if mask is None else {DROP}", name="no_dropout_without_a_mask")),
    wrong("dropout_always", "Dropout stays on in eval mode: `F.dropout` does not know the mode of your module.",
          "Which argument of `F.dropout` says whether you are training?",
          edit(DROP, "nn.functional.dropout(weights, self.dropout.p)")),
    wrong("dropout_after_the_weights", "Dropout acts on the values or on the output, not on the weights alone.",
          "If the weight of a key is dropped for one query, do the other queries and heads still attend to it?",
          edit(DROP, "weights", OUTPUT, f"self.dropout({OUTPUT})"),
          edit(DROP, "weights", MERGED, f"self.dropout({MERGED})", name="dropout_on_heads"),
          edit(OUTPUT, f"self.dropout({OUTPUT})", name="dropout_on_both"),
          edit(f"weights = {DROP}", "v = self.dropout(v)", name="dropout_on_values")),
    wrong("dropout_before_softmax", "Dropout acts before the softmax, where a zero does not give a weight of zero.",
          "What is e^0? After dropout, which weights should be exactly zero?",
          edit(DROP, "weights", ARGUMENTS, "(self.dropout(q), k, v, mask)"),
          edit(DROP, "weights", ATTENTION, write_attention(scores="self.dropout(scores)"), name="dropout_on_scores")),
    wrong("dropout_rate_fixed", "The dropout probability is fixed at 0.1.",
          "Which number was passed to `__init__`?",
          edit("nn.Dropout(dropout)", "nn.Dropout(0.1)")),
    wrong("dropped_are_kept", "Dropping and keeping are mixed up: a weight is dropped with probability `1 - dropout`.",
          "Out of a hundred weights, how many should be dropped at a rate of 0.1?",
          edit(DROP, "weights * (torch.rand_like(weights) <= self.dropout.p) / (1 - self.dropout.p) "
                     "if self.training and self.dropout.p else weights"),
          edit("nn.Dropout(dropout)", "nn.Dropout(1 - dropout)", name="dropout_rate_of_keeping")),
    wrong("dropout_not_rescaled", "Weights are dropped, but the remaining ones are not scaled up in return.",
          "Averaged over many calls, are the training weights equal to those of eval mode?",
          edit(DROP, "weights * (torch.rand_like(weights) >= self.dropout.p) if self.training else weights")),
    wrong("dropout_renormalised",
          "After dropout, the weights are rescaled to sum to one again.",
          "According to the demonstration above, do rows sum to one in training mode?",
          edit(DROP, f"{DROP}\nweights = weights / weights.sum(-1, keepdim=True)")),
    wrong("dropped_together",
          "Several weights are dropped together (a whole map or row, or alike for all queries, heads or sentences), "
          "but each weight should be dropped independently.",
          "How many random decisions do the weights `(B, h, Lq, Lk)` need?",
          edit("nn.Dropout(dropout)", "nn.Dropout2d(dropout)"),
          edit(DROP, "weights * self.dropout(torch.ones_like(weights[..., :1]))", name="dropout_of_whole_queries"),
          edit(DROP, "weights * self.dropout(torch.ones_like(weights[:, :, :1]))", name="dropout_alike_for_queries"),
          edit(DROP, "weights * self.dropout(torch.ones_like(weights[:, :1]))", name="dropout_alike_for_heads"),
          edit(DROP, "weights * self.dropout(torch.ones_like(weights[:1]))", name="dropout_alike_for_sentences")),
    wrong("same_weights_dropped_every_time", "Training drops the same weights in every call.",
          "What stays the same from call to call: a seed, or a stored mask?",
          edit(f"weights = {DROP}", f"torch.manual_seed(0)\nweights = {DROP}")),
    wrong("dropout_in_place",
          "Dropout writes into the weights that the softmax needs for its gradient, so training stops with an error.",
          "What does `inplace=True` overwrite, and what still needs it?",
          edit(DROP, "nn.functional.dropout(weights, self.dropout.p, self.training, inplace=True)")),
]

ACCEPTED = [
    right("by_hand_with_minus_1e9", edit(ATTENTION, """
        scores = torch.einsum("bhqd,bhkd->bhqk", q, k) * q.size(-1) ** -0.5
        if mask is not None:
            scores = torch.where(mask, scores, -1e9)
        weights = scores.softmax(-1)
        """, DROP, "nn.functional.dropout(weights, self.dropout.p, self.training)")),
    right("fused_kernel_for_the_output", edit(ATTENTION, """
        p = self.dropout.p if self.training else 0.0
        out = nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask, dropout_p=p)
        with torch.no_grad():
            weights = attention.scaled_dot_product_attention(q, k, v, mask)[1]
        """, DROP, "weights", "weights @ v", "out")),
    right("loop_over_heads", edit(ATTENTION, """
        masks = [None] * self.num_heads if mask is None else mask.expand(-1, self.num_heads, -1, -1).unbind(1)
        pairs = [attention.scaled_dot_product_attention(q[:, i], k[:, i], v[:, i], m) for i, m in enumerate(masks)]
        weights = torch.stack([pair[1] for pair in pairs], dim=1)
        """, MERGED, "torch.cat([w @ x for w, x in zip(weights.unbind(1), v.unbind(1))], dim=-1)")),
    right("other_order_other_initialisation", source("""
        class HeadsError(ValueError):
            pass


        class MultiHeadAttention(nn.Module):
            def __init__(self, d_model, num_heads, dropout=0.0):
                super().__init__()
                if d_model % num_heads:
                    raise HeadsError("d_model must be divisible by num_heads")
                self.d_k = d_model // num_heads
                self.h = num_heads
                self.attn_drop = nn.Dropout(dropout)
                for name in ("w_o", "w_v", "w_k", "w_q"):
                    layer = nn.Linear(d_model, d_model)
                    nn.init.xavier_uniform_(layer.weight)
                    nn.init.zeros_(layer.bias)
                    setattr(self, name, layer)

            def forward(self, query, key, value, mask=None):
                q = torch.stack(self.w_q(query).split(self.d_k, dim=-1), dim=1)
                k = torch.stack(self.w_k(key).split(self.d_k, dim=-1), dim=1)
                v = torch.stack(self.w_v(value).split(self.d_k, dim=-1), dim=1)
                q = q * self.d_k ** -0.25
                k = k * self.d_k ** -0.25
                scores = q @ k.mT
                if mask is not None:
                    while mask.dim() < 4:
                        mask = mask.unsqueeze(-3)
                    scores.masked_fill_(mask.logical_not(), torch.finfo(scores.dtype).min)
                scores = scores - scores.max(dim=-1, keepdim=True).values
                weights = scores.exp() / scores.exp().sum(dim=-1, keepdim=True)
                heads = self.attn_drop(weights) @ v
                return self.w_o(torch.cat(list(heads.unbind(1)), dim=-1)), weights
        """)),
    right("heads_in_the_last_dimension", edit(ATTENTION, """
        q, k, v = (x.permute(2, 0, 1, 3) for x in (q, k, v))
        scores = torch.einsum("ibhd,jbhd->ijbh", q, k) * q.size(-1) ** -0.5
        if mask is not None:
            scores = scores.masked_fill(~mask.permute(2, 3, 0, 1), float("-inf"))
        weights = scores.softmax(dim=1)  # (Lq, Lk, B, h)
        """, MERGED, 'torch.einsum("bhij,jbhd->ibhd", weights, v).flatten(2).transpose(0, 1)',
        DROP, "self.dropout(weights).permute(2, 3, 0, 1)")),
    right("dropout_by_hand", edit(DROP, """
        weights
        p = self.dropout.p
        if self.training and p > 0:
            keep = torch.rand_like(weights) >= p
            weights = weights * keep / (1 - p)
        """), tests="returned"),
]

EXERCISE = Specification(
    target="MultiHeadAttention",
    results="output, weights",
    gradients=False,  # of the output alone; the weights may be detached
    fixed="d_model",
    parts="weights",
    contract=Contract(
        on=("plain", "padding"), ways=OF_ATTENTION, shown=True, alone=True,
        dropout=(("padding",), {"make.dropout": 0.375}),
        sizes={
            "heads of one feature": {"num_heads": 12},
            "as many sentences as queries, and a mask (Lq, Lk)": {"B": 5, "mask": "Lq Lk"},
            "as many sentences as heads, and a mask (B, 1, Lq, Lk)": {"B": 3, "mask": "B 1 Lq Lk"},
            "equal sizes, and a mask (B, h, Lq, Lk)":
                {"B": 2, "Lq": 2, "Lk": 2, "num_heads": 2, "mask": "B num_heads Lq Lk"},
            "a position of zeros": {"key": _draw_key_of_zeros},
            **{f"a mask ({shape.replace(' ', ', ')})": {"mask": shape.replace("h", "num_heads")} for shape in _MASKS},
        },
    ),
    ready_made=("F.multi_head_attention_forward", "torch._native_multi_head_attention"),
    cases=CASES, mutants=[*MISTAKES, *_DROPOUT], accepted=ACCEPTED,
)
