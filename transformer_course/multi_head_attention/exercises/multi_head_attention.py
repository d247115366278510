"""Multi-head attention."""

from __future__ import annotations

import torch

from autograder.authoring.contract import (
    OF_ATTENTION,
    Contract,
    combine,
    masked,
    special,
)
from autograder.authoring.draw import Draw
from autograder.authoring.inputs import sizes_of, with_zeros
from autograder.authoring.notation import case, edit, right, source
from autograder.authoring.specification import Inputs, Maker, Specification
from transformer_course.multi_head_attention.exercises._inputs import (
    linear_parameters,
    multi_head_inputs,
    uneven_sizes,
)
from transformer_course.multi_head_attention.exercises._multi_head_attention_heads import (
    DROP,
    DROPOUT,
    NUMBER_OF_HEADS,
    SCALING,
    SPLITTING,
)
from transformer_course.multi_head_attention.exercises._multi_head_attention_inputs import (
    INPUTS,
    MASKS,
    PROJECTIONS,
    RESULTS,
    STATES,
)


def _weights_made_visible(draw: Draw) -> Inputs:
    """Values such that each head's output is its weights, twice over (see the probe)."""
    batch, h, lq, lk = 2, 3, 4, 5
    d_model = h * 2 * lk
    square = (d_model, d_model)
    inputs = linear_parameters(draw, 0.125, w_q=square, w_k=square, w_v=square, w_o=square)
    for name in ("w_v", "w_o"):
        inputs[f"weights.{name}.weight"] = torch.eye(d_model)
        inputs[f"weights.{name}.bias"] = torch.zeros(d_model)
    rates = torch.tensor([0.125, 0.1875, 0.25])
    return inputs | {
        "query": draw.tensor(batch, lq, d_model, scale=1.0),
        "key": draw.tensor(batch, lk, d_model, scale=1.0),
        "value": torch.eye(lk).repeat(1, 2 * h).expand(batch, -1, -1).clone(),
        "num_heads": torch.tensor(h),
        "rate": rates[int(draw.ids(0, 3))],
    }


def _same_queries_and_keys(draw: Draw) -> Inputs:
    """A sequence that looks at itself, and gets something else."""
    inputs = multi_head_inputs(2, 2, 3, lq=4, lk=4)(draw)
    return inputs | {"key": inputs["query"].clone()}


def _three_heads(mask: str) -> Maker:
    shape = sizes_of(mask, B=2, h=3, Lq=4, Lk=5)
    return multi_head_inputs(2, 3, 2, lq=4, lk=5, mask=shape)


CASES = [
    case("plain", "three different inputs, no mask", multi_head_inputs(2, 3, 4, lq=5, lk=7),
         "Print the shape after each step and compare with hint 2."),
    case("refuse", "numbers of heads that do not divide d_model", lambda draw: {"refuse": uneven_sizes(draw)},
         "The docstring names the error to raise.", aspect="errors", open=True),
    case("padding", "a padding mask (B, 1, Lk), and gradients",
         multi_head_inputs(3, 2, 3, lq=4, lk=5, mask=(3, 1, 5), pull=True),
         "Every head must respect the mask, and every input needs its gradient.", aspect="masks"),
    case("queries_and_keys", "a mask (Lq, Lk), and large scores",
         multi_head_inputs(2, 4, 3, lq=6, lk=5, mask=(6, 5), scale=1.5),
         "A 2-D mask applies to all sentences and heads.", aspect="masks"),
    case("a_mask_per_head", "a mask for each head (B, h, Lq, Lk)",
         multi_head_inputs(2, 3, 5, lq=4, lk=6, mask=(2, 3, 4, 6)),
         "Each head has its own mask here.", aspect="masks"),
    case("as_many_sentences_as_heads", "a mask (B, Lq, Lk), with as many sentences as heads",
         multi_head_inputs(3, 3, 2, lq=5, lk=4, mask=(3, 5, 4)),
         "A 3-D mask applies to all heads and differs by sentence.", aspect="masks"),
    case("dropout", "dropout in training, and none in evaluation", _weights_made_visible,
         "Dropout belongs on the attention weights, after the softmax, with the given probability.",
         aspect="mode"),
    case("single_head", "a single head, one sentence", multi_head_inputs(1, 1, 6, lq=3, lk=4, mask=(1, 3, 4)),
         "Nothing changes in principle with one head.", hidden_only=True, aspect="masks"),
]

MISTAKES = [
    *SPLITTING,
    *SCALING,
    *PROJECTIONS,
    *INPUTS,
    *MASKS,
    *RESULTS,
    *NUMBER_OF_HEADS,
    *DROPOUT,
    *STATES,
]

ACCEPTED = [
    right("view_transpose_by_hand", source("""
        import math
        class MultiHeadAttention(nn.Module):
            def __init__(self, d_model, num_heads, dropout=0.0):
                super().__init__()
                if d_model % num_heads:
                    raise ValueError("d_model must be a multiple of num_heads")
                self.num_heads = num_heads
                self.h, self.d_k, self.p = num_heads, d_model // num_heads, dropout
                self.w_q = nn.Linear(d_model, d_model)
                self.w_k = nn.Linear(d_model, d_model)
                self.w_v = nn.Linear(d_model, d_model)
                self.w_o = nn.Linear(d_model, d_model)
                self.drop = nn.Dropout(dropout)

            def forward(self, query, key, value, mask=None):
                B, Lq, D = query.shape
                Lk = key.shape[1]
                q = self.w_q(query).view(B, Lq, self.h, self.d_k).transpose(1, 2)
                k = self.w_k(key).view(B, Lk, self.h, self.d_k).transpose(1, 2)
                v = self.w_v(value).view(B, Lk, self.h, self.d_k).transpose(1, 2)
                scores = torch.matmul(q, k.transpose(2, 3)) / math.sqrt(self.d_k)
                if mask is not None:
                    if mask.dim() == 3:
                        mask = mask.unsqueeze(1)
                    scores = scores.masked_fill(mask == 0, float("-inf"))
                attn = torch.softmax(scores, dim=-1)
                out = torch.matmul(self.drop(attn), v)
                out = out.transpose(1, 2).contiguous().view(B, Lq, D)
                return self.w_o(out), attn
        """)),
    right("einsum_and_minus_1e9", source("""
        import torch.nn.functional as F
        class MultiHeadAttention(nn.Module):
            def __init__(self, d_model, num_heads, dropout=0.0):
                super().__init__()
                if d_model % num_heads:
                    raise ValueError("d_model must be a multiple of num_heads")
                self.num_heads = num_heads
                self.h, self.d_k, self.p = num_heads, d_model // num_heads, dropout
                self.w_q = nn.Linear(d_model, d_model)
                self.w_k = nn.Linear(d_model, d_model)
                self.w_v = nn.Linear(d_model, d_model)
                self.w_o = nn.Linear(d_model, d_model)
                pass

            def forward(self, query, key, value, mask=None):
                q = self.w_q(query).unflatten(2, (self.h, self.d_k))
                k = self.w_k(key).unflatten(2, (self.h, self.d_k))
                v = self.w_v(value).unflatten(2, (self.h, self.d_k))
                scores = torch.einsum("bqhd,bkhd->bhqk", q, k) * self.d_k ** -0.5
                mask = mask_for_heads(mask)
                if mask is not None:
                    scores = torch.where(mask, scores, -1e9)
                weights = F.dropout(scores.softmax(-1), self.p, self.training)
                out = torch.einsum("bhqk,bkhd->bqhd", weights, v)
                return self.w_o(out.flatten(2)), weights
        """)),
    right("loop_over_heads", source("""
        class MultiHeadAttention(nn.Module):
            def __init__(self, d_model, num_heads, dropout=0.0):
                super().__init__()
                if d_model % num_heads:
                    raise ValueError("d_model must be a multiple of num_heads")
                self.num_heads = num_heads
                self.h, self.d_k, self.p = num_heads, d_model // num_heads, dropout
                self.w_q = nn.Linear(d_model, d_model)
                self.w_k = nn.Linear(d_model, d_model)
                self.w_v = nn.Linear(d_model, d_model)
                self.w_o = nn.Linear(d_model, d_model)
                self.drop = nn.Dropout(p=dropout)

            def forward(self, query, key, value, mask=None):
                outs, maps = [], []
                full = None if mask is None else mask_for_heads(mask).expand(-1, self.h, -1, -1)
                q, k, v = self.w_q(query), self.w_k(key), self.w_v(value)
                for i in range(self.h):
                    part = slice(i * self.d_k, (i + 1) * self.d_k)
                    m = None if full is None else full[:, i]
                    _, w = attention.scaled_dot_product_attention(
                        q[..., part], k[..., part], v[..., part], m)
                    w = self.drop(w)
                    outs.append(w @ v[..., part])
                    maps.append(w)
                return self.w_o(torch.cat(outs, dim=-1)), torch.stack(maps, dim=1)
        """)),
    right("fused_kernel_for_the_output", source("""
        import torch.nn.functional as F
        class MultiHeadAttention(nn.Module):
            def __init__(self, d_model, num_heads, dropout=0.0):
                super().__init__()
                if d_model % num_heads:
                    raise ValueError("d_model must be a multiple of num_heads")
                self.num_heads = num_heads
                self.h, self.d_k, self.p = num_heads, d_model // num_heads, dropout
                self.w_q = nn.Linear(d_model, d_model)
                self.w_k = nn.Linear(d_model, d_model)
                self.w_v = nn.Linear(d_model, d_model)
                self.w_o = nn.Linear(d_model, d_model)
                pass

            def forward(self, query, key, value, mask=None):
                q, k, v = (split_heads(w(x), self.h) for w, x in
                           ((self.w_q, query), (self.w_k, key), (self.w_v, value)))
                mask = mask_for_heads(mask)
                p = self.p if self.training else 0.0
                out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, dropout_p=p)
                with torch.no_grad():
                    weights = attention.scaled_dot_product_attention(q, k, v, mask)[1]
                return self.w_o(merge_heads(out)), weights
        """)),
    right("bmm_with_folded_batch", source("""
        class MultiHeadAttention(nn.Module):
            def __init__(self, d_model, num_heads, dropout=0.0):
                super().__init__()
                if d_model % num_heads:
                    raise ValueError("d_model must be a multiple of num_heads")
                self.num_heads = num_heads
                self.h, self.d_k, self.p = num_heads, d_model // num_heads, dropout
                self.w_q = nn.Linear(d_model, d_model)
                self.w_k = nn.Linear(d_model, d_model)
                self.w_v = nn.Linear(d_model, d_model)
                self.w_o = nn.Linear(d_model, d_model)
                self.drop = nn.Dropout(dropout)

            def forward(self, query, key, value, mask=None):
                B, Lq, Lk = query.size(0), query.size(1), key.size(1)
                def fold(y):
                    return y.view(B, -1, self.h, self.d_k).transpose(1, 2).reshape(
                        B * self.h, -1, self.d_k)
                q, k, v = fold(self.w_q(query)), fold(self.w_k(key)), fold(self.w_v(value))
                scores = torch.bmm(q / self.d_k ** 0.5, k.transpose(1, 2))
                if mask is not None:
                    m = mask_for_heads(mask).expand(B, self.h, Lq, Lk).reshape(-1, Lq, Lk)
                    bias = torch.zeros_like(scores).masked_fill_(~m, float("-inf"))
                    scores = scores + bias
                weights = self.drop(nn.Softmax(dim=-1)(scores))
                out = torch.bmm(weights, v).view(B, self.h, Lq, self.d_k)
                out = out.permute(0, 2, 1, 3).reshape(B, Lq, -1)
                return (self.w_o(out), weights.view(B, self.h, Lq, Lk))
        """)),
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
    right("three_inputs_in_one_product", source("""
        class MultiHeadAttention(nn.Module):
            def __init__(self, d_model, num_heads, dropout=0.0):
                super().__init__()
                if d_model % num_heads:
                    raise ValueError("d_model must be a multiple of num_heads")
                self.num_heads = num_heads
                self.h, self.d_k, self.p = num_heads, d_model // num_heads, dropout
                self.w_q = nn.Linear(d_model, d_model)
                self.w_k = nn.Linear(d_model, d_model)
                self.w_v = nn.Linear(d_model, d_model)
                self.w_o = nn.Linear(d_model, d_model)
                self.dropout = nn.Dropout(dropout)

            def forward(self, query, key, value, mask=None):
                shapes = (query, "w_q"), (key, "w_k"), (value, "w_v")
                heads = []
                for x, name in shapes:
                    layer = getattr(self, name)
                    w = layer.weight.view(self.h, self.d_k, -1)
                    b = layer.bias.view(self.h, 1, self.d_k)
                    heads.append(torch.einsum("bld,hkd->bhlk", x, w) + b)
                q, k, v = heads
                _, weights = attention.scaled_dot_product_attention(q, k, v, mask_for_heads(mask))
                weights = self.dropout(weights)
                w_o = self.w_o.weight.view(-1, self.h, self.d_k)
                return torch.einsum("bhqk,ohk->bqo", weights @ v, w_o) + self.w_o.bias, weights
        """)),
    right("positions_first_heads_last", source("""
        import math
        class MultiHeadAttention(nn.Module):
            def __init__(self, d_model, num_heads, dropout=0.0):
                super().__init__()
                if d_model % num_heads:
                    raise ValueError("d_model must be a multiple of num_heads")
                self.h = num_heads
                for name in ("w_q", "w_k", "w_v", "w_o"):
                    setattr(self, name, nn.Linear(d_model, d_model))
                self.softmax = nn.Softmax(dim=1)
                self.drop = nn.Dropout(dropout)

            def forward(self, query, key, value, mask=None):
                q = self.w_q(query).unflatten(-1, (self.h, -1)).transpose(0, 1)
                k = self.w_k(key).unflatten(-1, (self.h, -1)).transpose(0, 1)
                v = self.w_v(value).unflatten(-1, (self.h, -1)).transpose(0, 1)
                scores = torch.einsum("ibhd,jbhd->ijbh", q, k) / math.sqrt(q.size(-1))
                if mask is not None:
                    allowed = mask_for_heads(mask).permute(2, 3, 0, 1)
                    scores = scores.masked_fill(~allowed, float("-inf"))
                weights = self.drop(self.softmax(scores))
                out = torch.einsum("ijbh,jbhd->ibhd", weights, v)
                return self.w_o(out.flatten(2)).transpose(0, 1), weights.permute(2, 3, 0, 1)
        """)),
    right("dropout_by_hand", edit(DROP, """
        p = self.dropout.p
        if self.training and p > 0:
            keep = torch.rand_like(weights) >= p
            weights = weights * keep / (1 - p)
        """), tests="returned"),
]

EXERCISE = Specification(
    target="MultiHeadAttention",
    aspects={"mode": 5.5, "weights": 4.0},  # dropout is one of its things
    contract=Contract(
        arguments="query: B Lq d; key: B Lk d; value: B Lk d; mask?: Lq Lk | B Lq Lk | B h Lq Lk",
        results="output: B Lq d; weights: B h Lq Lk", on=("plain", "padding"), ways=OF_ATTENTION, module=True,
        shown=True, alone=True, dropout=(("padding", "plain"), {"rate": 0.375}),
        sizes=combine(
            special(
                one_sentence=multi_head_inputs(1, 2, 3, lq=4, lk=5, mask=(1, 4, 5)),
                one_query=multi_head_inputs(2, 3, 4, lq=1, lk=5, mask=(2, 1, 5)),
                one_key=multi_head_inputs(2, 3, 4, lq=5, lk=1),
                heads_of_size_one=multi_head_inputs(2, 3, 1, lq=4, lk=5, mask=(4, 5)),
                equal_sizes=multi_head_inputs(3, 3, 3, lq=3, lk=3, mask=(3, 3, 3)),
                as_many_sentences_as_queries=multi_head_inputs(3, 2, 3, lq=3, lk=4, mask=(3, 4)),
                many_heads=multi_head_inputs(1, 20, 1, lq=2, lk=3),
                a_position_of_zeros=with_zeros(multi_head_inputs(2, 2, 3, lq=3, lk=4), "query", "key", "value"),
                values_of_their_own=_same_queries_and_keys,
                as_many_sentences_as_heads_and_a_mask_for_each_head=multi_head_inputs(
                    3, 3, 2, lq=4, lk=5, mask=(1, 3, 4, 5)
                ),
                as_many_sentences_as_heads_and_a_mask_for_each_sentence=(
                    multi_head_inputs(3, 3, 2, lq=4, lk=5, mask=(3, 1, 4, 5))
                ),
                equal_sizes_and_four_dimensions=multi_head_inputs(2, 2, 2, lq=2, lk=2, mask=(2, 2, 2, 2)),
            ),
            masked(
                _three_heads, *("1 Lk", "1 Lq Lk", "B 1 Lk", "B Lq Lk", "B 1 1 Lk", "B 1 Lq Lk"),
                *("1 h Lq Lk", "B h 1 Lk", "1 h 1 Lk", "B h Lq Lk"),
            ),
        ),
    ),
    ready_made=("F.multi_head_attention_forward", "torch._native_multi_head_attention"),
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
