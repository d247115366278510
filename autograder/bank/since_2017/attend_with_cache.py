"""Attention with a cache of turned keys and values."""

from __future__ import annotations

import torch

from autograder.bank.since_2017._inputs import attention_shapes, whole
from autograder.oracle.draw import Draw
from autograder.oracle.specification import (
    Accepted,
    CaseKind,
    Edit,
    Inputs,
    Maker,
    Mutant,
    Specification,
    Way,
)


def _chunks(batch: int, d_model: int, heads: int, groups: int, *chunks: int) -> Maker:
    def inputs(draw: Draw) -> Inputs:
        length = sum(chunks)
        return (
            draw.weights(**attention_shapes(d_model, heads, groups))
            | whole(num_heads=heads, num_kv_heads=groups)
            | {
                "chunks": torch.tensor(chunks),
                "x": draw.tensor(batch, length, d_model, scale=1.0),
                "other": draw.tensor(batch, length, d_model, scale=1.0),
            }
        )

    return inputs


_ANGLES = "angles = rotary_angles(x.size(1), q.size(-1), past)"
_TURNED = "q, k = rotate(q, angles), rotate(k, angles)"
_MASK = "mask = attention.causal_mask(past + x.size(1))[past:]"
_PAST = "past = 0 if cache is None else cache[0].size(2)"
_JOINED = """
if cache is not None:
    k = torch.cat((cache[0], k), dim=2)  # (B, g, T + n, d_k)
    v = torch.cat((cache[1], v), dim=2)
"""

_LISTED = """
    def attend_with_cache(layer, x, cache=None):
        {start}
        q = mha.split_heads(layer.w_q(x), layer.num_heads)
        k = mha.split_heads(layer.w_k(x), layer.num_kv_heads)
        v = mha.split_heads(layer.w_v(x), layer.num_kv_heads)
        past = sum(old.size(2) for old, _ in cache)
        angles = rotary_angles(x.size(1), q.size(-1), past)
        {keep}
        k, v = (torch.cat(every, dim=2) for every in zip(*cache))
        mask = attention.causal_mask(past + x.size(1))[past:]
        heads, _ = grouped_attention(rotate(q, angles), k, v, mask)
        return layer.w_o(mha.merge_heads(heads)), cache
"""

EXERCISE = Specification(
    name="since_2017/attend_with_cache",
    title="Attention with a cache",
    target="attend_with_cache",
    cases=[
        CaseKind(
            name="one_by_one",
            title="4 positions, one by one",
            inputs=_chunks(3, 8, 4, 2, 1, 1, 1, 1),
            hint="The third position stands at place 2, and sees three keys.",
        ),
        CaseKind(
            name="prompt",
            title="a prompt of 4, then one by one",
            inputs=_chunks(2, 12, 3, 1, 4, 1, 1),
            hint="Within a chunk nobody sees the future.",
        ),
        CaseKind(
            name="chunks",
            title="chunks of 2, 3 and 2",
            inputs=_chunks(2, 16, 4, 4, 2, 3, 2),
            hint="The mask of a chunk has n rows and T + n columns.",
        ),
        CaseKind(
            name="far",
            title="a prompt of 140, then 8 and 1",
            inputs=_chunks(2, 8, 2, 1, 140, 8, 1),
            hint="Nothing of the past is ever forgotten.",
        ),
        CaseKind(
            name="size",
            title="how much the cache grows: keys and values of their own heads",
            inputs=lambda draw: _chunks(2, 12, 6, 2, 3, 2)(draw) | whole(measured=1),
            hint="The cache holds g heads, not h.",
        ),
        CaseKind(
            name="more",
            title="chunks of 3, 1, 4 and 1",
            inputs=_chunks(4, 24, 6, 3, 3, 1, 4, 1),
            hint="As above.",
            hidden_only=True,
        ),
    ],
    mutants=[
        Mutant(
            name="offset_forgotten",
            says="Every chunk is turned as if the text began with it: the offset is missing.",
            asks="At which place does the first position of the second chunk stand?",
            ways=[
                Way(edits=[Edit(_ANGLES, "angles = rotary_angles(x.size(1), q.size(-1))")]),
            ],
        ),
        Mutant(
            name="made_ahead",
            says="Your angles are made for a small number of places: a longer text has no room.",
            asks="How long may a text be, with the cache?",
            ways=[Way(edits=[Edit(_ANGLES, "angles = rotary_angles(128, q.size(-1))[past : past + x.size(1)]")])],
        ),
        Mutant(
            name="offset_one_less",
            says="New positions stand one place too early, or too late.",
            asks="If T positions are in the cache (places 0 to T - 1), which place is the next?",
            ways=[Way(edits=[Edit(_ANGLES, "angles = rotary_angles(x.size(1), q.size(-1), max(past - 1, 0))")])],
        ),
        Mutant(
            name="offset_counts_chunks",
            says="The offset counts chunks, or something else than positions.",
            asks="After a chunk of 4 and a chunk of 1: how many positions are in the cache?",
            ways=[Way(source=_LISTED.format(
                start="cache = list(cache or [])",
                keep="angles = rotary_angles(x.size(1), q.size(-1), len(cache)); cache = [*cache, (rotate(k, angles), v)]"))],
        ),
        Mutant(
            name="queries_not_moved",
            says="Keys are turned with the offset, queries without it.",
            asks="Do query and key of the same position stand at the same place?",
            ways=[Way(edits=[Edit(_TURNED, "q, k = rotate(q, rotary_angles(x.size(1), q.size(-1))), rotate(k, angles)")])],
        ),
        Mutant(
            name="keys_not_moved",
            says="Queries are turned with the offset, keys without it.",
            asks="Do query and key of the same position stand at the same place?",
            ways=[Way(edits=[Edit(_TURNED, "q, k = rotate(q, angles), rotate(k, rotary_angles(x.size(1), k.size(-1)))")])],
        ),
        Mutant(
            name="turned_twice",
            says="Old keys are turned again with every chunk.",
            asks="Are the keys in your cache turned already?",
            ways=[
                Way(edits=[
                    Edit(_TURNED, "q = rotate(q, angles)"),
                    Edit(_JOINED, """
                        if cache is not None:
                            k = torch.cat((cache[0], k), dim=2)
                            v = torch.cat((cache[1], v), dim=2)
                        k = rotate(k, rotary_angles(k.size(2), k.size(-1)))
                        """)]),
            ],
        ),
        Mutant(
            name="kept_unturned",
            says="Keys are kept before they are turned: with each chunk all of them are "
            "turned anew.",
            asks="Does the angle of an old key ever change?",
            ways=[
                Way(edits=[
                    Edit(_TURNED, "q = rotate(q, angles)"),
                    Edit("grouped_attention(q, k, v, mask)",
                         "grouped_attention(q, rotate(k, rotary_angles(k.size(2), k.size(-1))), v, mask)"),
                ]),
            ],
        ),
        Mutant(
            name="nothing_turned",
            says="Queries and keys are not turned at all.",
            asks="Where do `rotary_angles` and `rotate` occur in your code?",
            ways=[Way(edits=[Edit(_TURNED, "pass")])],
        ),
        Mutant(
            name="values_turned",
            says="The values are turned as well.",
            asks="What do values carry: where something is, or what it is?",
            ways=[Way(edits=[Edit(_TURNED, "q, k, v = rotate(q, angles), rotate(k, angles), rotate(v, angles)")])],
        ),
        Mutant(
            name="no_mask",
            says="Within a chunk, positions see the future. With one position a chunk this goes unnoticed.",
            asks="May the first position of a chunk of 4 see the fourth?",
            ways=[Way(edits=[Edit("grouped_attention(q, k, v, mask)", "grouped_attention(q, k, v)")])],
        ),
        Mutant(
            name="first_rows_of_the_mask",
            says="The mask of a chunk has the wrong rows: new positions see only what the first "
            "positions of a text may see.",
            asks="Which rows of the causal mask of T + n belong to the new positions?",
            ways=[Way(edits=[Edit(_MASK, "mask = attention.causal_mask(past + x.size(1))[: x.size(1)]")])],
        ),
        Mutant(
            name="past_hidden",
            says="New positions do not see the old ones: the cache is not used, or the mask hides "
            "what is in it.",
            asks="How many keys does the third chunk see?",
            ways=[
                Way(edits=[Edit(_MASK, "mask = attention.causal_mask(past + x.size(1))[past:] & (torch.arange(past + x.size(1)) >= past)")]),
                Way(name="cache_not_used", edits=[
                    Edit(_JOINED, ""), Edit(_MASK, "mask = attention.causal_mask(x.size(1))")]),
            ],
        ),
        Mutant(
            name="new_not_seen",
            says="New positions see the old ones only, not themselves.",
            asks="Is the diagonal of a causal mask True?",
            ways=[Way(edits=[
                Edit(_MASK, "mask = attention.causal_mask(past + x.size(1))[past:]; mask = mask & (torch.arange(past + x.size(1)) < max(past, 1))")])],
        ),
        Mutant(
            name="last_chunk_only",
            says="Your cache holds the newest chunk only: the past is one chunk deep.",
            asks="What must the cache hold after three chunks?",
            ways=[Way(edits=[
                Edit(_TURNED, f"{_TURNED}; newest = k, v"),
                Edit("), (k, v)", "), newest")])],
        ),
        Mutant(
            name="newest_keys_only",
            says="Only the newest keys are looked at: the beginning of a long text is forgotten.",
            asks="Which keys does the 70th position see?",
            ways=[Way(edits=[
                Edit("grouped_attention(q, k, v, mask)",
                     "grouped_attention(q, k[:, :, -64:], v[:, :, -64:], mask[:, -64:])")])],
        ),
        Mutant(
            name="keys_and_values_mixed",
            says="Keys and values of the past have changed places.",
            asks="What do you put first into the cache, and what do you take out first?",
            ways=[Way(edits=[
                Edit("torch.cat((cache[0], k)", "torch.cat((cache[1], k)"),
                Edit("torch.cat((cache[1], v)", "torch.cat((cache[0], v)")])],
        ),
        Mutant(
            name="new_before_old",
            says="New keys and values stand before the old ones; the mask means the other order.",
            asks="Which column of the mask belongs to the newest position?",
            ways=[Way(edits=[
                Edit("torch.cat((cache[0], k)", "torch.cat((k, cache[0])"),
                Edit("torch.cat((cache[1], v)", "torch.cat((v, cache[1])")])],
        ),
        Mutant(
            name="everything_again",
            says="All old positions are projected again with every chunk. The right numbers, but nothing is saved.",
            asks="Which tensors of the past never change, and are all that later positions need?",
            ways=[Way(source="""
                def attend_with_cache(layer, x, cache=None):
                    new = x.size(1)
                    x = x if cache is None else torch.cat((cache, x), dim=1)
                    q = mha.split_heads(layer.w_q(x), layer.num_heads)
                    k = mha.split_heads(layer.w_k(x), layer.num_kv_heads)
                    v = mha.split_heads(layer.w_v(x), layer.num_kv_heads)
                    angles = rotary_angles(x.size(1), q.size(-1))
                    heads, _ = grouped_attention(
                        rotate(q, angles), rotate(k, angles), v, attention.causal_mask(x.size(1)))
                    return layer.w_o(mha.merge_heads(heads))[:, -new:], x
                """)],
        ),
        Mutant(
            name="old_cache_changed",
            says="Your function changes the old cache. Who goes back to it finds keys of a future that "
            "did not happen.",
            asks="Does `append` give a new list?",
            ways=[Way(source=_LISTED.format(
                start="cache = [] if cache is None else cache", keep="cache.append((rotate(k, angles), v))"))],
        ),
        Mutant(
            name="cache_in_the_layer",
            says="Keys of an earlier text are still there when a new one begins, although its cache is "
            "None.",
            asks="Where does your cache live, and who empties it?",
            ways=[Way(source=_LISTED.format(
                start="cache = layer.__dict__.setdefault('kept', [])",
                keep="cache.append((rotate(k, angles), v)); cache[:] = [c for c in cache if c[0].size(0) == x.size(0)]").replace(
                    "past = sum(old.size(2) for old, _ in cache)",
                    "past = sum(old.size(2) for old, _ in cache if old.size(0) == x.size(0))"))],
        ),
        Mutant(
            name="heads_of_queries_for_all",
            says="Keys and values are split into `num_heads` heads, not into `num_kv_heads`.",
            asks="How many heads have keys and values?",
            ways=[
                Way(edits=[
                    Edit("mha.split_heads(layer.w_q(x), layer.num_heads)", "mha.split_heads(layer.w_q(x), layer.num_kv_heads)"),
                ]),
            ],
        ),
        Mutant(
            name="no_output_projection",
            says="The output projection `w_o` is missing.",
            asks="What happens to the heads after they are merged?",
            ways=[Way(edits=[Edit("layer.w_o(mha.merge_heads(heads))", "mha.merge_heads(heads)")])],
        ),
        Mutant(
            name="last_output_only",
            says="You return the last position's output only; a chunk has n of them.",
            asks="Which shape does the docstring promise?",
            ways=[Way(edits=[Edit("layer.w_o(mha.merge_heads(heads)),", "layer.w_o(mha.merge_heads(heads))[:, -1:],")])],
        ),
        Mutant(
            name="output_only",
            says="Your function returns the output, but no cache.",
            asks="How shall the next chunk know the past?",
            ways=[Way(edits=[Edit("), (k, v)", ")")])],
        ),
        Mutant(
            name="pair_swapped",
            says="The pair is in the wrong order: first the output, then the cache.",
            asks="What does the docstring return first?",
            ways=[Way(edits=[Edit("return layer.w_o(mha.merge_heads(heads)), (k, v)", "return (k, v), layer.w_o(mha.merge_heads(heads))")])],
        ),

        Mutant(
            name="copied_heads",
            says="Keys and values are kept once for each head of the queries: the cache "
            "is as large as without groups.",
            asks="How many heads do keys and values have of their own?",
            ways=[Way(edits=[
                Edit(
                    "past = 0 if cache is None",
                    """
                    copies = layer.num_heads // layer.num_kv_heads
                    k, v = (t.repeat_interleave(copies, dim=1) for t in (k, v))
                    past = 0 if cache is None""",
                ),
            ])],
        ),
        Mutant(
            name="projected_twice",
            says="A position goes through a projection twice.",
            asks="How often is `w_k` called for one chunk?",
            ways=[Way(edits=[
                Edit("v = mha.split_heads(layer.w_v(x)",
                     "layer.w_k(x); v = mha.split_heads(layer.w_v(x)"),
            ])],
        ),
    ],
    accepted=[
        Accepted(name="list_of_chunks", source=_LISTED.format(
            start="cache = cache or ()", keep="cache = (*cache, (rotate(k, angles), v))")),
        Accepted(name="dictionary", source="""
            def attend_with_cache(layer, x, cache=None):
                b, n, _ = x.shape
                split = lambda t, h: t.view(b, n, h, -1).transpose(1, 2)
                q, k, v = (split(layer.w_q(x), layer.num_heads), split(layer.w_k(x), layer.num_kv_heads),
                           split(layer.w_v(x), layer.num_kv_heads))
                start = cache["length"] if cache else 0
                a = rotary_angles(start + n, q.shape[-1])[start:]
                q, k = rotate(q, a), rotate(k, a)
                if cache:
                    k, v = torch.cat([cache["k"], k], 2), torch.cat([cache["v"], v], 2)
                seen = torch.arange(start + n) <= torch.arange(start, start + n)[:, None]
                out = F.scaled_dot_product_attention(q, k, v, attn_mask=seen, enable_gqa=True)
                return layer.w_o(out.transpose(1, 2).reshape(b, n, -1)), {"k": k, "v": v, "length": start + n}
            """),
        Accepted(name="position_by_position", source="""
            def attend_with_cache(layer, x, cache=None):
                q = mha.split_heads(layer.w_q(x), layer.num_heads)
                k = mha.split_heads(layer.w_k(x), layer.num_kv_heads)
                v = mha.split_heads(layer.w_v(x), layer.num_kv_heads)
                past = len(cache or ())
                angles = rotary_angles(x.size(1), q.size(-1), past)
                q, k = rotate(q, angles), rotate(k, angles)
                cache = (*(cache or ()), *zip(k.unbind(2), v.unbind(2)))
                heads = []
                for place in range(x.size(1)):
                    keys, values = zip(*cache[:past + place + 1])
                    heads.append(grouped_attention(
                        q[:, :, place:place + 1], torch.stack(keys, 2), torch.stack(values, 2))[0])
                return layer.w_o(mha.merge_heads(torch.cat(heads, dim=2))), cache
            """),
        Accepted(name="mask_for_chunks_only", edits=[
            Edit(_MASK, "mask = None if x.size(1) == 1 else torch.ones(x.size(1), k.size(2), dtype=torch.bool).tril(past)")]),
        Accepted(name="stacked", edits=[
            Edit(_PAST, "past = 0 if cache is None else cache.size(3)"),
            Edit("), (k, v)", "), torch.stack((k, v))")]),
    ],
)
