"""Cases and mistakes for an exercise: attention with cached keys and values."""

from __future__ import annotations

import torch

from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.specification import Inputs, Maker, Specification
from transformer_course.since_2017.exercises._layers import (
    list_attention_shapes,
    make_integers,
)


def _draw_chunks(
    batch: int, d_model: int, heads: int, groups: int, *chunks: int, base: int = 10_000
) -> Maker:  # fmt: skip
    """Make a function that draws an attention layer, and two batches of texts.

    Args:
        heads, groups: the number of query heads, and of key and value heads.
        chunks: the lengths of the chunks in which a text is passed.
    """
    def make_inputs(draw: Draw) -> Inputs:
        length = sum(chunks)
        return (
            draw.weights(**list_attention_shapes(d_model, heads, groups))
            | make_integers(num_heads=heads, num_kv_heads=groups, base=base)
            | {
                "chunks": torch.tensor(chunks),
                "x": draw.tensor(batch, length, d_model, scale=1.0),
                "other": draw.tensor(batch, length, d_model, scale=1.0),
            }
        )

    return make_inputs


_ANGLES = "angles = rotary_angles(x.size(1), q.size(-1), past, layer.base)"
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
        angles = rotary_angles(x.size(1), q.size(-1), past, layer.base)
        {keep}
        k, v = (torch.cat(every, dim=2) for every in zip(*cache))
        mask = attention.causal_mask(past + x.size(1))[past:]
        q = rotate(q, angles)
        heads, _ = grouped_attention(q, k, v, mask)
        return layer.w_o(mha.merge_heads(heads)), cache
"""

CASES = [
    case("one_by_one", "4 positions, one by one", _draw_chunks(3, 8, 4, 2, 1, 1, 1, 1),
         "The third token has position 2 and sees three keys."),
    case("prompt", "a prompt of 4, then one by one", _draw_chunks(2, 12, 3, 1, 4, 1, 1),
         "Within a chunk, no position sees a later one."),
    case("chunks", "chunks of 2, 3 and 2, base 500", _draw_chunks(2, 16, 4, 4, 2, 3, 2, base=500),
         "The mask of a chunk has n rows and T + n columns."),
    case("far", "a prompt of 140, then 8 and 1", _draw_chunks(2, 8, 2, 1, 140, 8, 1),
         "Nothing of the past is ever forgotten."),
    case("size", "how much the cache grows: keys and values of their own heads",
         lambda draw: _draw_chunks(2, 12, 6, 2, 3, 2)(draw) | make_integers(measured=1),
         "The cache holds g heads, not h."),
    case("more", "chunks of 3, 1, 4 and 1, base 100,000", _draw_chunks(4, 24, 6, 3, 3, 1, 4, 1, base=100_000),
         "As above.", hidden_only=True),
]

MISTAKES = [
    wrong("offset_forgotten", "Every chunk is rotated as if the text began with it: the offset is missing.",
          "Which position does the first token of the second chunk have?",
          edit(_ANGLES, "angles = rotary_angles(x.size(1), q.size(-1), base=layer.base)")),
    wrong("base_ignored", "The angles always have the base 10,000, whatever the layer's is.",
          "Which of the layer's attributes decides how fast its keys rotate?",
          edit(_ANGLES, "angles = rotary_angles(x.size(1), q.size(-1), past)"), tests="`CausalAttention`"),
    wrong("made_ahead", "You compute angles for a small number of positions only: a longer text does not fit.",
          "How long may a text become?",
          edit(_ANGLES, "angles = rotary_angles(128, q.size(-1), base=layer.base)[past : past + x.size(1)]")),
    wrong("wrong_offset", "The offset of a later chunk is not the number of positions in the cache.",
          "After a chunk of 4 and a chunk of 1: how many positions are in the cache, and what does your code count?",
          edit(_ANGLES, "angles = rotary_angles(x.size(1), q.size(-1), max(past - 1, 0), layer.base)"),
          edit(_ANGLES, "angles = rotary_angles(x.size(1), q.size(-1), 0 if cache is None else k.size(1), layer.base)",
               name="offset_of_another_dimension"),
          edit(_ANGLES, "angles = rotary_angles(x.size(1), q.size(-1), len(cache or ()), layer.base)",
               name="offset_counts_parts")),
    wrong("one_of_them_moved", "Only queries or only keys are rotated with the offset.",
          "Should a query and a key of the same position be rotated by the same angles?",
          edit(_TURNED, "q, k = rotate(q, rotary_angles(x.size(1), q.size(-1), 0, layer.base)), rotate(k, angles)"),
          edit(_TURNED, "q, k = rotate(q, angles), rotate(k, rotary_angles(x.size(1), k.size(-1), 0, layer.base))",
               name="keys_not_moved")),
    wrong("turned_twice", "Old keys are rotated again with every chunk.",
          "Are the keys in your cache already rotated?",
          edit(_TURNED, "q = rotate(q, angles)",
               _JOINED, """
              if cache is not None:
                  k = torch.cat((cache[0], k), dim=2)
                  v = torch.cat((cache[1], v), dim=2)
              k = rotate(k, rotary_angles(k.size(2), k.size(-1), 0, layer.base))
              """)),
    wrong("kept_unturned", "Keys are stored before they are rotated, so each chunk has to rotate all of them again.",
          "Does the angle of an old key ever change?",
          edit(_TURNED, "q = rotate(q, angles)",
               "grouped_attention(q, k, v, mask)",
               "grouped_attention(q, rotate(k, rotary_angles(k.size(2), k.size(-1), 0, layer.base)), v, mask)")),
    wrong("nothing_turned", "Queries and keys are not rotated at all.",
          "Where do `rotary_angles` and `rotate` occur in your code?",
          edit(_TURNED, "pass")),
    wrong("values_turned", "The values are rotated as well.",
          "What do values carry: where something is, or what it is?",
          edit(_TURNED, "q, k, v = rotate(q, angles), rotate(k, angles), rotate(v, angles)")),
    wrong("no_mask",
          "Within a chunk, positions see the future, in every chunk or as soon as there is a cache. With one "
          "position per chunk, this goes unnoticed.",
          "May the first position of a chunk of 4 see the fourth?",
          edit("grouped_attention(q, k, v, mask)", "grouped_attention(q, k, v)"),
          edit(_MASK, "mask = attention.causal_mask(x.size(1)) if past == 0 else None",
               name="no_mask_after_the_prompt")),
    wrong("first_rows_of_the_mask",
          "The mask of a chunk has the wrong rows: new positions see only what the first positions may see. "
          "`is_causal` does this, too.",
          "Which rows of the causal mask of T + n belong to the new positions?",
          edit(_MASK, "mask = attention.causal_mask(past + x.size(1))[: x.size(1)]"),
          edit(_MASK,
               "mask = attention.causal_mask(past + x.size(1))[: x.size(1)] if x.size(1) > 1 else None",
               name="aligned_to_the_first_key")),
    wrong("past_hidden",
          "New positions do not see all of the old ones: the cache is not used, the mask hides what is in it, or "
          "the beginning of a long text is forgotten.",
          "How many keys does the third chunk see, and which ones the 70th position?",
          edit(_MASK,
               f"{_MASK} & (torch.arange(past + x.size(1)) >= past)"),
          edit(_JOINED, "", _MASK, "mask = attention.causal_mask(x.size(1))", name="cache_not_used"),
          edit(_TURNED, f"{_TURNED}; newest = k, v", "), (k, v)", "), newest", name="newest_only"),
          edit("grouped_attention(q, k, v, mask)",
               "grouped_attention(q, k[:, :, -64:], v[:, :, -64:], mask[:, -64:])", name="newest_keys_only")),
    wrong("new_not_seen", "New positions see only the old ones, not themselves.",
          "Is the diagonal of a causal mask True?",
          edit(_MASK,
               f"{_MASK} & (torch.arange(past + x.size(1)) < max(past, 1))")),
    wrong("keys_and_values_mixed", "The keys and values of the past are swapped.",
          "What do you put first into the cache, and what do you take out first?",
          edit("torch.cat((cache[0], k)", "torch.cat((cache[1], k)",
               "torch.cat((cache[1], v)", "torch.cat((cache[0], v)")),
    wrong("new_before_old", "New keys and values come before the old ones, but the mask expects them after.",
          "Which column of the mask belongs to the newest position?",
          edit("torch.cat((cache[0], k)", "torch.cat((k, cache[0])",
               "torch.cat((cache[1], v)", "torch.cat((v, cache[1])")),
    wrong("projected_again",
          "Positions are projected more than once, old ones again with every chunk or new ones twice: the result "
          "is correct, but less is saved.",
          "How often is `w_k` called for a position? Which tensors of the past are all that later positions need?",
          edit("q = mha.split_heads(layer.w_q(x)", """
              new = x.size(1)
              x = x if cache is None else torch.cat((cache, x), dim=1)
              q = mha.split_heads(layer.w_q(x)""",
               _PAST, "past = 0", _JOINED, "",
               "(mha.merge_heads(heads)), (k, v)", "(mha.merge_heads(heads))[:, -new:], x"),
          edit("q = mha.split_heads(layer.w_q(x)", """
              new = x.size(1)
              x = x if cache is None else torch.cat((cache, x), dim=1)
              q = mha.split_heads(layer.w_q(x[:, -new:])""",
               _PAST, "past = 0", _JOINED, "", _TURNED, "q, k = rotate(q, angles[-new:]), rotate(k, angles)",
               _MASK, "mask = attention.causal_mask(x.size(1))[-new:]",
               "(mha.merge_heads(heads)), (k, v)", "(mha.merge_heads(heads)), x", name="inputs_kept"),
          edit("v = mha.split_heads(layer.w_v(x)", "layer.w_k(x); v = mha.split_heads(layer.w_v(x)",
               name="projected_twice"),
          tests="position"),
    wrong("old_cache_changed",
          "Your function changes the old cache, or a buffer that old and new ones share. A caller who goes back to "
          "it finds keys of later tokens there.",
          "Two texts continue from the same cache. Where does each of them write its keys?",
          source(_LISTED.format(start="cache = [] if cache is None else cache",
                                keep="cache.append((rotate(k, angles), v))")),
          edit(_PAST, """
              if cache is None:
                  cache = (k.new_zeros(*k.shape[:2], 256, k.size(3)), v.new_zeros(*v.shape[:2], 256, v.size(3)), 0)
              past = cache[2]
              """,
               _JOINED, """
              whole, end = cache, past + x.size(1)
              whole[0][:, :, past:end], whole[1][:, :, past:end] = k, v
              k, v = whole[0][:, :, :end], whole[1][:, :, :end]
              """,
               "(k, v)", "(*whole[:2], end)", name="shared_buffers"),
          tests="modified"),
    wrong("cache_in_the_layer",
          "Keys of an earlier text are still used when a new text begins, although its cache is None.",
          "Where does your cache live, and who empties it?",
          source(_LISTED.format(start="cache = layer.__dict__.setdefault('kept', {}).setdefault(len(x), [])",
                                keep="cache.append((rotate(k, angles), v))"))),
    wrong("heads_of_queries_for_all", "Keys and values are split into `num_heads` heads, not into `num_kv_heads`.",
          "How many heads do keys and values have?",
          edit("mha.split_heads(layer.w_q(x), layer.num_heads)", "mha.split_heads(layer.w_q(x), layer.num_kv_heads)")),
    wrong("no_output_projection", "The output projection `w_o` is missing.",
          "What happens to the heads after they are merged?",
          edit("layer.w_o(mha.merge_heads(heads))", "mha.merge_heads(heads)")),
    wrong("last_output_only", "You return the output of only the last position; a chunk has n positions.",
          "What shape does the docstring promise?",
          edit("layer.w_o(mha.merge_heads(heads)),", "layer.w_o(mha.merge_heads(heads))[:, -1:],")),
    wrong("not_a_pair", "You do not return the pair that the docstring promises: first the output, then the new cache.",
          "What does your `return` return, and in which order?",
          edit("), (k, v)", ")"),
          edit("return layer.w_o(mha.merge_heads(heads)), (k, v)", "return (k, v), layer.w_o(mha.merge_heads(heads))",
               name="pair_swapped")),
    wrong("copied_heads", "Keys and values are stored once per query head: the cache is as large as without groups.",
          "How many heads do keys and values have of their own?",
          edit("past = 0 if cache is None", """
              copies = layer.num_heads // layer.num_kv_heads
              k, v = (t.repeat_interleave(copies, dim=1) for t in (k, v))
              past = 0 if cache is None""")),
]

ACCEPTED = [
    right("list_of_chunks",
          source(_LISTED.format(start="cache = cache or ()", keep="cache = (*cache, (rotate(k, angles), v))"))),
    right("position_by_position", source("""
        def attend_with_cache(layer, x, cache=None):
            q = mha.split_heads(layer.w_q(x), layer.num_heads)
            k = mha.split_heads(layer.w_k(x), layer.num_kv_heads)
            v = mha.split_heads(layer.w_v(x), layer.num_kv_heads)
            past = len(cache or ())
            angles = rotary_angles(x.size(1), q.size(-1), past, layer.base)
            q, k = rotate(q, angles), rotate(k, angles)
            cache = (*(cache or ()), *zip(k.unbind(2), v.unbind(2)))
            heads = []
            for place in range(x.size(1)):
                keys, values = zip(*cache[:past + place + 1])
                heads.append(grouped_attention(
                    q[:, :, place:place + 1], torch.stack(keys, 2), torch.stack(values, 2))[0])
            return layer.w_o(mha.merge_heads(torch.cat(heads, dim=2))), cache
        """)),
    right("mask_for_chunks_only",
          edit(_MASK,
               "mask = None if x.size(1) == 1 else torch.ones(x.size(1), k.size(2), dtype=torch.bool).tril(past)")),
]

EXERCISE = Specification(
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
