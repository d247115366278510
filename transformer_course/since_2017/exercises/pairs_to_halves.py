"""From neighbours to halves."""

from __future__ import annotations

from autograder.authoring.contract import Contract, special
from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.specification import Inputs, Maker, Specification
from transformer_course.authoring.layer_inputs import whole


def _weight(heads: int, d_k: int, d_model: int) -> Maker:
    def make_inputs(draw: Draw) -> Inputs:
        return whole(heads=heads) | {"weight": draw.tensor(heads * d_k, d_model)}

    return make_inputs


_PAIRS = "by_pair = weight.unflatten(0, (num_heads, -1, 2))"
_BACK = "by_pair.transpose(1, 2).flatten(0, 2)"

CASES = [
    case("one_head", "one head of 6 components", _weight(1, 6, 5),
         "The first half holds the old rows 0, 2, 4."),
    case("three_heads", "3 heads of 8 components", _weight(3, 8, 7),
         "Rows stay within their head."),
    case("narrow", "5 heads of 4 components", _weight(5, 4, 3),
         "Rows stay within their head."),
    case("wide", "2 heads of 12 components", _weight(2, 12, 9),
         "Write down where each old row goes.", hidden_only=True),
]

MISTAKES = [
    wrong("unchanged",
          "The rows are still in their old order.",
          "Where does row 1 of a head belong?",
          edit(_BACK, "by_pair.flatten(0, 2)")),
    wrong("halves_to_pairs",
          "You convert in the other direction: from halves to neighbours.",
          "In the *given* weight, which row forms a pair with row 0?",
          edit("(num_heads, -1, 2)", "(num_heads, 2, -1)")),
    wrong("heads_ignored",
          "You sort all rows as if they were one head: rows leave their head.",
          "Where does your code use `num_heads`?",
          edit(_PAIRS, "by_pair = weight.unflatten(0, (1, -1, 2))"), tests="before"),
    wrong("odd_first",
          "The second components of the pairs come first.",
          "Which component of a pair belongs in the first half?",
          edit(_BACK, "by_pair.transpose(1, 2).flip(1).flatten(0, 2)")),
    wrong("heads_last",
          "You read the heads as if their rows alternated: a head's rows are one block of the weight.",
          "Is row 1 in the same head as row 0, or in the next one?",
          source("""
              def pairs_to_halves(weight, num_heads):
                  rows = weight.unflatten(0, (-1, 2, num_heads))
                  return rows.permute(2, 1, 0, 3).flatten(0, 2)
              """)),
    wrong("blocks_of_the_number_of_heads",
          "Your blocks have as many rows as there are heads.",
          "With one head of six rows, how many rounds should your loop have?",
          source("""
              def pairs_to_halves(weight, num_heads):
                  blocks = weight.split(num_heads)
                  return torch.cat([torch.cat((block[0::2], block[1::2])) for block in blocks])
              """)),
    wrong("columns",
          "You reorder the columns; the rows are the components of the heads.",
          "Of `(h * d_k, d_model)`, which dimension is the layer's output?",
          source("""
              def pairs_to_halves(weight, num_heads):
                  order = [*range(0, weight.size(1), 2), *range(1, weight.size(1), 2)]
                  return weight[:, order]
              """)),
    wrong("columns_of_a_square",
          "You reorder the columns of a square weight; the rows are the components of the heads.",
          "Of `(h * d_k, d_model)`, which dimension is the layer's output, also where both are equal?",
          source("""
              def pairs_to_halves(weight, num_heads):
                  square = weight.size(0) == weight.size(1)
                  rows = weight.T if square else weight
                  rows = rows.unflatten(0, (num_heads, -1, 2)).transpose(1, 2).flatten(0, 2)
                  return rows.T if square else rows
              """)),
    wrong("other_type",
          "The result has a different dtype.",
          "Are they the same rows if `float64` becomes `float32`?",
          edit(_BACK, f"{_BACK}.float()")),
    wrong("turned_over",
          "Rows and columns are exchanged in the result.",
          "What shape does the docstring promise?",
          edit(_BACK, f"{_BACK}.T.contiguous()")),
    wrong("by_head",
          "The result still has a dimension of heads or of pairs.",
          "What shape does the docstring promise?",
          edit("flatten(0, 2)", "flatten(1, 2)")),
    wrong("backwards",
          "The second half runs backwards.",
          "Which old row should be at index `d_k / 2`: 1 or the last one?",
          source("""
              def pairs_to_halves(weight, num_heads):
                  rows = weight.unflatten(0, (num_heads, -1, 2))
                  return torch.cat((rows[:, :, 0], rows[:, :, 1].flip(1)), 1).flatten(0, 1)
              """)),
    wrong("swapped_only",
          "You exchange the two components of each pair; move them into different halves.",
          "How far apart are the two components of a pair afterwards?",
          edit(_BACK, "by_pair.flip(2).flatten(0, 2)")),
    wrong("halves_swapped",
          "You exchange the two halves of each head; the rows inside stay in order.",
          "Where does old row 1 go?",
          source("""
              def pairs_to_halves(weight, num_heads):
                  return weight.unflatten(0, (num_heads, 2, -1)).flip(1).flatten(0, 2)
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
    contract=Contract(
        arguments="weight: r c; num_heads:", results="weight: r c", on=("three_heads",), ways=("steady", "spread"),
        typed=True,
        sizes=special(
            a_square=_weight(2, 6, 12), as_many_heads_as_numbers=_weight(4, 4, 5), heads_of_one_pair=_weight(3, 2, 4),
            one_column=_weight(2, 6, 1),
        ),
    ),
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
