"""Cases and mistakes for an exercise: attention over pages of keys and values."""

from __future__ import annotations

import torch

from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, sizes, source, wrong
from autograder.authoring.specification import InputSizes, Specification


def _draw_texts(*lengths: int, size: int, pages: int, h: int = 4, g: int = 2, d_k: int = 6) -> InputSizes:
    """Return the sizes from which the build draws texts that are stored in pages.

    The input ``tables`` lists the pages of each text, padded with -1.

    Args:
        lengths, size: the positions of each text, and those of a page.
        h, g: the number of query heads, and of key and value heads.
    """
    most = -(-max(lengths) // size)

    def draw_tables(draw: Draw) -> torch.Tensor:
        order = draw.tensor(pages).argsort()
        tables, used = torch.full((len(lengths), most), -1), 0
        for row, length in enumerate(lengths):
            count = -(-length // size)
            tables[row, :count] = order[used : used + count]
            used += count
        return tables

    return sizes(B=len(lengths), h=h, g=g, d_k=d_k, pages=pages, size=size, scale=2.0, tables=draw_tables,
                 lengths=lambda draw: torch.tensor(lengths))


_GATHERED = "k, v = (pages[tables].flatten(1, 2).transpose(1, 2) for pages in (k_pages, v_pages))"
_MASK = "mask = torch.arange(k.size(2)) < lengths[:, None]"
_CALL = "modern.grouped_attention(q.unsqueeze(2), k, v, mask[:, None, None])"

CASES = [
    case("three_texts", "3 texts of 7, 2 and 5 positions, pages of 3", _draw_texts(7, 2, 5, size=3, pages=8),
         "Gather each text's pages, and mask what lies beyond its length."),
    case("one_text", "a text of 6 positions, pages of 4", _draw_texts(6, size=4, pages=5, h=3, g=3, d_k=8),
         "The last page is only half full."),
    case("full", "2 texts that fill their pages of 2", _draw_texts(6, 2, size=2, pages=7, h=4, g=1),
         "A text of 6 positions fills three pages of 2."),
    case("first_token", "2 texts of 1 and 9 positions", _draw_texts(1, 9, size=4, pages=6, h=6, g=2, d_k=4),
         "A text of one position sees itself only.", hidden_only=True),
    case("one_page", "4 texts of at most a page", _draw_texts(3, 5, 1, 4, size=5, pages=9, h=4, g=4), "As above.",
         hidden_only=True),
]

MISTAKES = [
    wrong("no_mask", "The empty slots of a text's last page take part, and so do pages of other texts.",
          "How many slots do a text's pages have, and how many of them hold its positions?",
          edit("v, mask[:, None, None])", "v)"),
          edit("v, mask[:, None, None])", "v)", "pages[tables]", "pages[tables.clamp(min=0)]", name="no_mask_clamped"),
          edit(_MASK, f"{_MASK}; k, v = k * mask[:, None, :, None], v * mask[:, None, :, None]",
               "v, mask[:, None, None])", "v)", name="zeros_for_a_mask"),
          tests="finite"),
    wrong("one_off", "A text sees one slot too many, or does not see its newest position.",
          "If a text has 5 positions, which indices do they have?",
          edit("< lengths", "<= lengths"),
          edit("< lengths[:, None]", "< (lengths[:, None] - 1).clamp(min=1)", name="newest_missing")),
    wrong("one_length", "All texts get the same length: the longest or the first one's.",
          "How many rows does your mask have?",
          edit("lengths[:, None]", "lengths.max().expand(len(lengths), 1)"),
          edit("lengths[:, None]", "lengths[:1, None].expand(len(lengths), 1)", name="first_length")),
    wrong("whole_pages", "The mask keeps whole pages, so the empty slots of the last one count.",
          "How many positions are in the last page?",
          edit("< lengths[:, None]",
               "< (lengths[:, None] + k_pages.size(1) - 1) // k_pages.size(1) * k_pages.size(1)")),
    wrong("tables_ignored", "The tables have no effect: every text reads the first pages of the pool.",
          "Which pages belong to the second text?",
          edit("pages[tables]", "pages[torch.arange(tables.size(1)).expand_as(tables)]"),
          edit("pages[tables]", "pages[tables[:1].expand_as(tables)]", name="first_table_for_all"),
          edit("pages[tables]", "pages[tables.sort(dim=1, descending=True).values]", name="sorted_pages")),
    wrong("one_for_both", "Keys are used as values, or values as keys.",
          "Which of the two pools is multiplied with the attention weights?",
          edit("in (k_pages, v_pages)", "in (k_pages, k_pages)"),
          edit("in (k_pages, v_pages)", "in (v_pages, v_pages)", name="values_as_keys"),
          edit("in (k_pages, v_pages)", "in (v_pages, k_pages)", name="exchanged")),
    wrong("heads_mixed",
          "The gathered slots are reshaped into heads without being transposed, so a head reads parts of others.",
          "Which dimension is in front of the slots after the gather, and which one should be?",
          edit(_GATHERED, "k, v = (pages[tables].reshape(len(q), k_pages.size(2), -1, q.size(-1)) "
                          "for pages in (k_pages, v_pages))"),
          edit(_GATHERED, "k, v = (pages[tables.clamp(min=0)].reshape(len(q), k_pages.size(2), -1, q.size(-1)) "
                          "for pages in (k_pages, v_pages))", name="heads_mixed_clamped")),
    wrong("wrong_group", "Query head `i` uses key head `i % g`; neighbours should share one.",
          "Which key head do query heads 0 and 1 share if `h` is 4 and `g` is 2?",
          edit(_CALL, "modern.grouped_attention(q.unsqueeze(2), k.repeat(1, q.size(1) // k.size(1), 1, 1), "
                      "v.repeat(1, q.size(1) // v.size(1), 1, 1), mask[:, None, None])"),
          edit(_CALL, "modern.grouped_attention(q.unsqueeze(2), k[:, :1], v[:, :1], mask[:, None, None])",
               name="first_group_only")),
    wrong("not_scaled", "The scores are not divided by `√d_k`, or are divided twice.",
          "Does `grouped_attention` scale already?",
          edit(_CALL, "modern.grouped_attention(q.unsqueeze(2) * q.size(-1) ** 0.5, k, v, mask[:, None, None])"),
          edit(_CALL, "modern.grouped_attention(q.unsqueeze(2) / q.size(-1) ** 0.5, k, v, mask[:, None, None])",
               name="scaled_twice")),
    wrong("rotated_again", "You rotate keys that are rotated already.",
          "At which moment was a key in the pool rotated?",
          edit(_MASK, f"{_MASK}; k = modern.rotate(k, modern.rotary_angles(k.size(2), k.size(3)))"), tests="rotated"),
    wrong("newest_page_only", "Only one page of each text is read.",
          "How many pages does a text of 7 positions have if a page has 3 slots?",
          edit(_MASK, f"{_MASK}; mask = mask & (torch.arange(k.size(2)) < k_pages.size(1))")),
    wrong("a_length_too_many", "The result has a dimension for the length, which is 1; the docstring has none.",
          "Which shape does the docstring promise?",
          edit("heads.squeeze(2)", "heads")),
    wrong("oldest_slots_hidden", "The mask is inverted: texts see only slots that do not belong to them.",
          "What does `True` mean in a mask of this course?",
          edit("< lengths[:, None]", ">= lengths[:, None] % k.size(2)")),
]

ACCEPTED = [
    right("text_by_text", source("""
        def paged_attention(q, k_pages, v_pages, tables, lengths):
            outputs = []
            for query, table, length in zip(q, tables, lengths.tolist()):
                needed = table[: -(-length // k_pages.size(1))]
                k = k_pages[needed].flatten(0, 1)[:length].transpose(0, 1)  # (g, length, d_k)
                v = v_pages[needed].flatten(0, 1)[:length].transpose(0, 1)
                heads, _ = modern.grouped_attention(query[None, :, None], k[None], v[None])
                outputs.append(heads[0, :, 0])
            return torch.stack(outputs)
        """)),
    right("by_einsum", source("""
        def paged_attention(q, k_pages, v_pages, tables, lengths):
            shared = q.size(1) // k_pages.size(2)
            k = k_pages[tables].flatten(1, 2).repeat_interleave(shared, dim=2)  # (B, n, h, d_k)
            v = v_pages[tables].flatten(1, 2).repeat_interleave(shared, dim=2)
            scores = torch.einsum("bhd,bnhd->bhn", q, k) / q.size(-1) ** 0.5
            hidden = torch.arange(k.size(1)) >= lengths.view(-1, 1, 1)
            weights = scores.masked_fill(hidden, -torch.inf).softmax(-1)
            return torch.einsum("bhn,bnhd->bhd", weights, v)
        """)),
    right("clamped", edit("pages[tables]", "pages[tables.clamp(min=0)]"), tests="-1"),
]

EXERCISE = Specification(
    results="the output", fixed="B h g d_k pages size n", cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
