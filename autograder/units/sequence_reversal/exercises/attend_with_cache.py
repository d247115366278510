"""Attention with a cache."""

from __future__ import annotations

import torch

from autograder.authoring.common import common
from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.specification import Inputs, Maker, Specification


def _steps_with_cache(batch: int, length: int, d_model: int, heads: int) -> Maker:
    def inputs(draw: Draw) -> Inputs:
        shapes: dict[str, tuple[int, ...]] = {}
        for name in ("w_q", "w_k", "w_v", "w_o"):
            shapes |= {f"{name}.weight": (d_model, d_model), f"{name}.bias": (d_model,)}
        made: Inputs = dict(draw.weights(**shapes))
        return made | {
            "x": draw.tensor(batch, length, d_model, scale=1.0),
            "other": draw.tensor(batch, length - 1, d_model, scale=1.0),
            "heads": torch.tensor(heads),
        }

    return inputs


_PAST = """
if cache is not None:
    keys = torch.cat((cache[0], keys), dim=1)  # (B, T + 1, d_model)
    values = torch.cat((cache[1], values), dim=1)
"""

CASES = [
    case("two_heads", "5 steps, 2 heads", _steps_with_cache(3, 5, 8, 2),
         "Compare with causal attention over all positions, row by row."),
    case("three_heads", "4 steps, 3 heads", _steps_with_cache(2, 4, 12, 3),
         "The first step has no past: its output is `w_o` of its own value."),
    case("long", "70 steps, 2 heads", _steps_with_cache(1, 70, 4, 2),
         "Does your cache depend on the number of steps?", hidden_only=True),
]

MISTAKES = [
    wrong("projected_twice",
          "A position is projected by `w_k` or `w_v` twice.",
          "Each key and each value is needed once. Where do you compute yours?",
          edit("keys, values = layer.w_k(x), layer.w_v(x)",
               "keys, values = layer.w_k(x), (layer.w_k(x), layer.w_v(x))[1]")),
    wrong("by_size",
          "The scores are divided by `d_k` itself, not by its square root.",
          "How do the scores of unit 2 depend on `d_k`?",
          edit("scaled_dot_product_attention(q, k, v)", "scaled_dot_product_attention(q / q.size(-1) ** 0.5, k, v)")),
    wrong("root_of_model_size",
          "The scores are divided by the square root of `d_model`, but a head compares vectors of size `d_k`.",
          "How many products are summed in one score?",
          edit("scaled_dot_product_attention(q, k, v)", "scaled_dot_product_attention(q / layer.num_heads**0.5, k, v)")),
    wrong("unscaled",
          "The scores are not scaled.",
          "What are dot products divided by before the softmax?",
          edit("scaled_dot_product_attention(q, k, v)", "scaled_dot_product_attention(q * q.size(-1) ** 0.5, k, v)")),
    wrong("is_causal",
          "From the second step on, the output is that of the first value alone: PyTorch's `is_causal` lets the first "
          "query see the first key only, and your query is the first one.",
          "Which row of a causal mask does the newest position need: the first one or the last?",
          edit("attention.scaled_dot_product_attention(q, k, v)",
               "F.scaled_dot_product_attention(q, k, v, is_causal=True), None")),
    wrong("first_cache_kept",
          "Your cache stops growing: after the first position, the same cache comes back each time.",
          "Which keys should the third call find in the cache?",
          edit("(keys, values)", "cache or (keys, values)")),
    wrong("no_past",
          "Each position sees only its own value: the cache is not used, or the newest value has replaced the old "
          "ones.",
          "How many keys and values should the third step have?",
          edit(_PAST, "")),
    wrong("last_only",
          "Your cache holds only the newest key and value, so the past is just one step deep.",
          "What must the cache contain after three steps?",
          edit("keys, values = layer.w_k(x), layer.w_v(x)", """
              keys, values = layer.w_k(x), layer.w_v(x)
              newest = keys, values
              """,
               "(keys, values)", "newest")),
    wrong("values_forgotten",
          "The keys and values of the past are mixed up.",
          "What do you put into the cache first, and what do you take out first?",
          edit("torch.cat((cache[0], keys)", "torch.cat((cache[1], keys)",
               "torch.cat((cache[1], values)", "torch.cat((cache[0], values)")),
    wrong("orders_differ",
          "Your cached keys and values are not in the same order.",
          "Which value belongs to the first key?",
          edit("torch.cat((cache[1], values)", "torch.cat((values, cache[1])")),
    wrong("keys_in_another_order",
          "Your cached keys and values are not in the same order.",
          "Which value belongs to the first key?",
          edit("torch.cat((cache[0], keys)", "torch.cat((keys, cache[0])")),
    wrong("past_unprojected",
          "Your cache holds inputs, so all keys and values are recomputed in every step. The results are right, but "
          "nothing is saved.",
          "Which tensors of the past never change, yet are all that later steps need?",
          source("""
              def attend_with_cache(layer, x, cache=None):
                  past = x if cache is None else torch.cat((cache, x), dim=1)
                  return layer(x, past, past)[0], past
              """)),
    wrong("past_unprojected_unseen",
          "Your cache holds inputs, so all keys and values are recomputed in every step, from the weights of `w_k` and "
          "`w_v`.",
          "Which tensors of the past never change, yet are all that later steps need?",
          source("""
              def attend_with_cache(layer, x, cache=None):
                  past = x if cache is None else torch.cat((cache, x), dim=1)
                  q, k, v = (
                      F.linear(rows, w.weight, w.bias).unflatten(-1, (layer.num_heads, -1)).transpose(1, 2)
                      for rows, w in ((x, layer.w_q), (past, layer.w_k), (past, layer.w_v))
                  )
                  out, _ = attention.scaled_dot_product_attention(q, k, v)
                  return layer.w_o(out.transpose(1, 2).flatten(2)), past
              """)),
    wrong("window",
          "Your cache forgets the earliest positions.",
          "How many positions may the newest one see?",
          edit("(keys, values)", "(keys[:, -64:], values[:, -64:])")),
    wrong("inputs_as_keys",
          "The cache holds old inputs where it should hold keys and values.",
          "What has to happen to an input before it can be compared with a query?",
          edit("(keys, values)",
               "(torch.cat((cache[0], x), 1), torch.cat((cache[1], x), 1)) if cache is not None else (x, x)")),
    wrong("new_not_seen",
          "From the second step on, the newest position sees only the past, not itself.",
          "May position t attend to itself under a causal mask?",
          source("""
              def attend_with_cache(layer, x, cache=None):
                  k, v = layer.w_k(x), layer.w_v(x)
                  old = (k, v) if cache is None else cache
                  q, a, b = (r.unflatten(-1, (layer.num_heads, -1)).transpose(1, 2) for r in (layer.w_q(x), *old))
                  out, _ = attention.scaled_dot_product_attention(q, a, b)
                  if cache is not None:
                      k, v = torch.cat((old[0], k), 1), torch.cat((old[1], v), 1)
                  return layer.w_o(out.transpose(1, 2).flatten(2)), (k, v)
              """)),
    wrong("cache_in_layer",
          "Keys of an earlier sequence are still there when a new one begins with `cache=None`.",
          "Where is your cache stored, and what empties it?",
          source("""
              def attend_with_cache(layer, x, cache=None):
                  past = layer.__dict__.setdefault('past', [])
                  past.append((layer.w_k(x), layer.w_v(x)))
                  keys, values = (torch.cat(r, dim=1) for r in zip(*past))
                  q, k, v = (r.unflatten(-1, (layer.num_heads, -1)).transpose(1, 2) for r in (layer.w_q(x), keys, values))
                  out, _ = attention.scaled_dot_product_attention(q, k, v)
                  return layer.w_o(out.transpose(1, 2).flatten(2)), past
              """),
          source("""
              def attend_with_cache(layer, x, cache=None, past=[]):
                  past.append((layer.w_k(x), layer.w_v(x)))
                  same = [p for p in past if p[0].shape == past[-1][0].shape]
                  keys, values = (torch.cat(r, dim=1) for r in zip(*same))
                  q, k, v = (r.unflatten(-1, (layer.num_heads, -1)).transpose(1, 2) for r in (layer.w_q(x), keys, values))
                  out, _ = attention.scaled_dot_product_attention(q, k, v)
                  return layer.w_o(out.transpose(1, 2).flatten(2)), past
              """, name="default_list")),
    wrong("old_cache_changed",
          "Your step changes the old cache. A caller that goes back to it finds keys of a future that never happened.",
          "Does your step make a new cache, or write into the one that it was given?",
          source("""
              def attend_with_cache(layer, x, cache=None):
                  cache = [] if cache is None else cache
                  cache.append((layer.w_k(x), layer.w_v(x)))
                  keys, values = (torch.cat(r, dim=1) for r in zip(*cache))
                  q, k, v = (r.unflatten(-1, (layer.num_heads, -1)).transpose(1, 2) for r in (layer.w_q(x), keys, values))
                  out, _ = attention.scaled_dot_product_attention(q, k, v)
                  return layer.w_o(out.transpose(1, 2).flatten(2)), cache
              """)),
    wrong("inputs_appended",
          "Your step changes the old cache, and what it keeps are inputs, which are projected again in every step.",
          "Does your step make a new cache, or write into the old one? Which tensors of the past never change, yet are all that later steps need?",
          source("""
              def attend_with_cache(layer, x, cache=None):
                  cache = [] if cache is None else cache
                  cache.append(x)
                  past = torch.cat(cache, dim=1)
                  return layer(x, past, past)[0], cache
              """)),
    wrong("one_head",
          "You ignore the heads: all features attend as one head.",
          "Where does your code use `num_heads`?",
          edit("(layer.num_heads, -1)", "(1, -1)")),
    wrong("heads_mixed",
          "Your split gives each head the wrong features.",
          "Which features belong to head 0: the first block, or every h-th one?",
          edit(".unflatten(-1, (layer.num_heads, -1)).transpose(1, 2)",
               ".unflatten(-1, (-1, layer.num_heads)).permute(0, 3, 1, 2)")),
    wrong("not_merged_back",
          "The heads were merged in the wrong order.",
          "After attention the shape is `(B, h, 1, d_k)`. Which dimension must come next to the features?",
          edit("heads.transpose(1, 2).flatten(2)", "heads.permute(0, 2, 3, 1).flatten(2)")),
    common("no_output_projection",
           edit("layer.w_o(heads.transpose(1, 2).flatten(2))", "heads.transpose(1, 2).flatten(2)")),
    wrong("cached_along_batch",
          "You concatenated old and new along the batch, not along the positions.",
          "Which dimension of `(B, T, d_model)` grows by one with each step?",
          edit("torch.cat((cache[0], keys), dim=1)", "torch.cat((cache[0], keys), dim=0)",
               "torch.cat((cache[1], values), dim=1)", "torch.cat((cache[1], values), dim=0)")),
    wrong("output_only",
          "Your function returns the output but no cache.",
          "How should the next step know the past?",
          edit(", (keys, values)", "")),
    common("pair_swapped",
           edit("return layer.w_o(heads.transpose(1, 2).flatten(2)), (keys, values)",
                "return (keys, values), layer.w_o(heads.transpose(1, 2).flatten(2))")),
]

ACCEPTED = [
    right("split_heads_cached", source("""
        def attend_with_cache(layer, x, cache=None):
            b, _, d = x.shape
            h = layer.num_heads
            split = lambda t: t.view(b, 1, h, d // h).transpose(1, 2)
            q, k, v = split(layer.w_q(x)), split(layer.w_k(x)), split(layer.w_v(x))
            if cache:
                k = torch.cat([cache['k'], k], 2)
                v = torch.cat([cache['v'], v], 2)
            out = F.scaled_dot_product_attention(q, k, v)
            out = out.transpose(1, 2).reshape(b, 1, d)
            return layer.w_o(out), {'k': k, 'v': v}
        """)),
    right("list_of_steps", source("""
        def attend_with_cache(layer, x, cache=None):
            cache = [*(cache or []), (layer.w_k(x), layer.w_v(x))]
            keys = torch.cat([k for k, _ in cache], dim=1)
            values = torch.cat([v for _, v in cache], dim=1)
            q, outs = layer.w_q(x), []
            size = q.size(-1) // layer.num_heads
            for i in range(layer.num_heads):
                part = slice(i * size, (i + 1) * size)
                score = q[..., part] @ keys[..., part].mT / size ** 0.5
                outs.append(score.softmax(-1) @ values[..., part])
            return layer.w_o(torch.cat(outs, -1)), cache
        """)),
    right("einsum", source("""
        def attend_with_cache(layer, x, cache=None):
            kv = torch.stack((layer.w_k(x), layer.w_v(x)))
            if cache is not None:
                kv = torch.cat((cache, kv), dim=2)
            h = layer.num_heads
            q = layer.w_q(x).unflatten(-1, (h, -1))
            k, v = kv.unflatten(-1, (h, -1))
            w = torch.einsum('bqhd,bkhd->bhqk', q, k) / math.sqrt(q.size(-1))
            out = torch.einsum('bhqk,bkhd->bqhd', w.softmax(-1), v)
            return layer.w_o(out.flatten(2)), kv
        """)),
    right("without_the_position_dimension", source("""
        def attend_with_cache(layer, x, cache=None):
            x = x[:, 0]
            heads = lambda rows: rows.view(len(rows), layer.num_heads, -1)
            cache = (cache or ()) + ((heads(layer.w_k(x)), heads(layer.w_v(x))),)
            k, v = (torch.stack(part, dim=2) for part in zip(*cache))  # (B, h, T, d_k)
            q = heads(layer.w_q(x)).unsqueeze(2)
            out = F.scaled_dot_product_attention(q, k, v)
            return layer.w_o(out.flatten(1)).unsqueeze(1), cache
        """)),
]

EXERCISE = Specification(
    name="sequence_reversal/attend_with_cache", title="Attention with a cache", target="attend_with_cache",
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
