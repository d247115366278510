"""From neighbours to halves."""

from __future__ import annotations

from autograder.authoring.notation import case, edit, right, sizes, source, wrong
from autograder.authoring.specification import Specification

_PAIRS = "by_pair = weight.unflatten(0, (num_heads, -1, 2))"
_BACK = "by_pair.transpose(1, 2).flatten(0, 2)"

CASES = [
    case("one_head", "one head of 6 components", sizes(num_heads=1, d_k=6, d_model=5),
         "The first half holds the old rows 0, 2, 4."),
    case("three_heads", "3 heads of 8 components", sizes(num_heads=3, d_k=8, d_model=7),
         "Rows stay within their head."),
    case("narrow", "as many heads as components: 4", sizes(num_heads=4, d_k=4, d_model=3),
         "Rows stay within their head."),
    case("square", "2 heads of 6 components, and as many rows as columns", sizes(num_heads=2, d_k=6, d_model=12),
         "The rows are the components of the heads, and the columns those of the layer's input."),
    case("wide", "2 heads of 12 components", sizes(num_heads=2, d_k=12, d_model=9),
         "Write down where each old row goes.", hidden_only=True),
]

MISTAKES = [
    wrong("order_kept",
          "The two components of a pair are not in different halves, or the halves have changed places.",
          "Where do the old rows 0 and 1 of a head belong?",
          edit(_BACK, "by_pair.flatten(0, 2)"),
          edit(_BACK, "by_pair.flip(2).flatten(0, 2)", name="swapped_only"),
          source("""
              def pairs_to_halves(weight, num_heads):
                  return weight.unflatten(0, (num_heads, 2, -1)).flip(1).flatten(0, 2)
              """, name="halves_swapped")),
    wrong("halves_to_pairs",
          "You convert in the other direction: from halves to neighbours.",
          "In the *given* weight, which row forms a pair with row 0?",
          edit("(num_heads, -1, 2)", "(num_heads, 2, -1)")),
    wrong("wrong_blocks",
          "Rows leave their head: each head has `d_k` rows, which are one block of the weight.",
          "With 3 heads of 8 rows, which rows belong to head 1, and where does your code say so?",
          edit(_PAIRS, "by_pair = weight.unflatten(0, (1, -1, 2))"),
          source("""
              def pairs_to_halves(weight, num_heads):
                  blocks = weight.split(num_heads)
                  return torch.cat([torch.cat((block[0::2], block[1::2])) for block in blocks])
              """, name="blocks_of_the_number_of_heads"),
          source("""
              def pairs_to_halves(weight, num_heads):
                  rows = weight.unflatten(0, (-1, 2, num_heads))
                  return rows.permute(2, 1, 0, 3).flatten(0, 2)
              """, name="heads_last"),
          tests="before"),
    wrong("odd_first",
          "The second components of the pairs come first.",
          "Which component of a pair belongs in the first half?",
          edit(_BACK, "by_pair.transpose(1, 2).flip(1).flatten(0, 2)")),
    wrong("columns",
          "You reorder the columns; the rows are the components of the heads.",
          "Of `(h * d_k, d_model)`, which dimension is the layer's output?",
          source("""
              def pairs_to_halves(weight, num_heads):
                  order = [*range(0, weight.size(1), 2), *range(1, weight.size(1), 2)]
                  return weight[:, order]
              """),
          source("""
              def pairs_to_halves(weight, num_heads):
                  square = weight.size(0) == weight.size(1)
                  rows = weight.T if square else weight
                  rows = rows.unflatten(0, (num_heads, -1, 2)).transpose(1, 2).flatten(0, 2)
                  return rows.T if square else rows
              """, name="columns_of_a_square")),
    wrong("other_type",
          "The result has a different dtype.",
          "Are they the same rows if `float64` becomes `float32`?",
          edit(_BACK, f"{_BACK}.float()")),
    wrong("other_shape",
          "The result does not have the shape of `weight`.",
          "Which dimensions are there after your last step, and in which order?",
          edit(_BACK, f"{_BACK}.T.contiguous()"),
          edit("flatten(0, 2)", "flatten(1, 2)", name="by_head")),
    wrong("backwards",
          "The second half runs backwards.",
          "Which old row should be at index `d_k / 2`: 1 or the last one?",
          source("""
              def pairs_to_halves(weight, num_heads):
                  rows = weight.unflatten(0, (num_heads, -1, 2))
                  return torch.cat((rows[:, :, 0], rows[:, :, 1].flip(1)), 1).flatten(0, 1)
              """)),
    wrong("in_place",
          "The given weight is changed.",
          "Might the caller still need the weight as it was?",
          source("""
              def pairs_to_halves(weight, num_heads):
                  rows = weight.unflatten(0, (num_heads, -1, 2))
                  weight.copy_(rows.transpose(1, 2).flatten(0, 2).clone())
                  return weight
              """), tests="modified"),
    wrong("order_only",
          "You return the order of the rows, not the weight.",
          "Where is this order applied to the rows?",
          source("""
              def pairs_to_halves(weight, num_heads):
                  rows = torch.arange(weight.size(0)).unflatten(0, (num_heads, -1, 2))
                  return rows.transpose(1, 2).flatten()
              """)),
    wrong("first_half_twice",
          "Some rows occur twice, and others not at all.",
          "Is every old row somewhere in the result, exactly once?",
          source("""
              def pairs_to_halves(weight, num_heads):
                  rows = weight.unflatten(0, (num_heads, -1, 2))[:, :, 0]
                  return torch.cat((rows, rows), 1).flatten(0, 1)
              """)),
]

ACCEPTED = [
    right("slices_of_heads", source("""
        def pairs_to_halves(weight, num_heads):
            heads = weight.chunk(num_heads, dim=0)
            return torch.cat([torch.cat((h[0::2], h[1::2])) for h in heads])
        """)),
    right("order", source("""
        def pairs_to_halves(weight, num_heads):
            d_k = weight.shape[0] // num_heads
            order = [h * d_k + i for h in range(num_heads)
                     for i in (*range(0, d_k, 2), *range(1, d_k, 2))]
            return weight[torch.tensor(order)]
        """)),
    right("as_in_the_script", source("""
        def pairs_to_halves(w, n_heads):
            dim1, dim2 = w.shape
            return w.view(n_heads, dim1 // n_heads // 2, 2, dim2).transpose(1, 2).reshape(dim1, dim2)
        """)),
]

EXERCISE = Specification(
    results="the rows", cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
