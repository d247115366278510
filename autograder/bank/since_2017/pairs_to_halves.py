"""From neighbours to halves."""

from __future__ import annotations

from autograder.bank.since_2017._inputs import whole
from autograder.oracle.draw import Draw
from autograder.oracle.promise import Promise, special
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


def _weight(heads: int, d_k: int, d_model: int) -> Maker:
    def inputs(draw: Draw) -> Inputs:
        return whole(heads=heads) | {"weight": draw.tensor(heads * d_k, d_model)}

    return inputs


_PAIRS = "by_pair = weight.unflatten(0, (num_heads, -1, 2))"
_BACK = "by_pair.transpose(1, 2).flatten(0, 2)"

EXERCISE = Specification(
    name="since_2017/pairs_to_halves",
    title="From pairs to halves",
    target="pairs_to_halves",
    promise=Promise(
        arguments="weight: r c; num_heads:",
        results="weight: r c",
        on=("three_heads",),
        ways=("steady", "spread"),
        typed=True,
        sizes=special(
            a_square=_weight(2, 6, 12),
            as_many_heads_as_numbers=_weight(4, 4, 5),
            heads_of_one_pair=_weight(3, 2, 4),
            one_column=_weight(2, 6, 1),
        ),
    ),
    cases=[
        CaseKind(
            name="one_head",
            title="one head of 6 numbers",
            inputs=_weight(1, 6, 5),
            hint="The first half holds the old rows 0, 2, 4.",
        ),
        CaseKind(
            name="three_heads",
            title="3 heads of 8 numbers",
            inputs=_weight(3, 8, 7),
            hint="Rows stay within their head.",
        ),
        CaseKind(
            name="narrow",
            title="5 heads of 4 numbers",
            inputs=_weight(5, 4, 3),
            hint="Rows stay within their head.",
        ),
        CaseKind(
            name="wide",
            title="2 heads of 12 numbers",
            inputs=_weight(2, 12, 9),
            hint="Write down where each old row goes.",
            hidden_only=True,
        ),
    ],
    mutants=[
        Mutant(
            name="unchanged",
            says="The rows stand in the order in which they came.",
            asks="Where does row 1 of a head belong?",
            ways=[
                Way(edits=[Edit(_BACK, "by_pair.flatten(0, 2)")]),
                Way(name="returned", source="""
                    def pairs_to_halves(weight, num_heads):
                        return weight.clone()
                    """),
            ],
        ),
        Mutant(
            name="halves_to_pairs",
            says="You go the other way: from halves to neighbours.",
            asks="In the *given* weight, which row belongs together with row 0?",
            ways=[
                Way(edits=[Edit("(num_heads, -1, 2)", "(num_heads, 2, -1)")]),
            ],
        ),
        Mutant(
            name="heads_ignored",
            says="You sort all rows as if they were one head: rows leave their head.",
            asks="Where does your code use `num_heads`?",
            ways=[
                Way(edits=[Edit(_PAIRS, "by_pair = weight.unflatten(0, (1, -1, 2))")]),
                Way(name="slices", source="""
                    def pairs_to_halves(weight, num_heads):
                        return torch.cat((weight[0::2], weight[1::2]))
                    """),
                Way(name="heads_inside", edits=[Edit(_BACK, "by_pair.permute(2, 0, 1, 3).flatten(0, 2)")]),
            ],
        ),
        Mutant(
            name="odd_first",
            says="The second numbers of the pairs come first.",
            asks="Which of a pair's two numbers stands in the first half?",
            ways=[
                Way(edits=[Edit(_BACK, "by_pair.transpose(1, 2).flip(1).flatten(0, 2)")]),
            ],
        ),
        Mutant(
            name="heads_last",
            says="You read the heads from the wrong end: a head's rows lie together in the weight.",
            asks="Is row 1 in the same head as row 0, or in the next one?",
            ways=[Way(source="""
                def pairs_to_halves(weight, num_heads):
                    rows = weight.unflatten(0, (-1, 2, num_heads))
                    return rows.permute(2, 1, 0, 3).flatten(0, 2)
                """)],
        ),
        Mutant(
            name="columns",
            says="You reorder the columns; the rows are the numbers of the heads.",
            asks="Of `(h * d_k, d_model)`, which dimension is the layer's output?",
            ways=[Way(source="""
                def pairs_to_halves(weight, num_heads):
                    order = [*range(0, weight.size(1), 2), *range(1, weight.size(1), 2)]
                    return weight[:, order]
                """)],
        ),
        Mutant(
            name="columns_of_a_square",
            says="You reorder the columns of a square weight; the rows are the numbers of the "
            "heads.",
            asks="Of `(h * d_k, d_model)`, which dimension is the layer's output, also where "
            "both are equal?",
            ways=[Way(source="""
                def pairs_to_halves(weight, num_heads):
                    square = weight.size(0) == weight.size(1)
                    rows = weight.T if square else weight
                    rows = rows.unflatten(0, (num_heads, -1, 2)).transpose(1, 2).flatten(0, 2)
                    return rows.T if square else rows
                """)],
        ),
        Mutant(
            name="other_type",
            says="The weight comes back in another type.",
            asks="Are they the same rows if `float64` becomes `float32`?",
            ways=[
                Way(edits=[Edit(_BACK, f"{_BACK}.float()")]),
                Way(name="written_into_zeros", source="""
                    def pairs_to_halves(weight, num_heads):
                        new = torch.zeros(weight.shape)
                        d_k = weight.size(0) // num_heads
                        for row in range(weight.size(0)):
                            head, place = divmod(row, d_k)
                            new[head * d_k + place // 2 + place % 2 * (d_k // 2)] = weight[row]
                        return new
                    """),
            ],
        ),
        Mutant(
            name="turned_over",
            says="The result has rows and columns exchanged.",
            asks="Which shape does the docstring promise?",
            ways=[Way(edits=[Edit(_BACK, f"{_BACK}.T.contiguous()")])],
        ),
        Mutant(
            name="by_head",
            says="The result still has a dimension of heads or of pairs.",
            asks="Which shape does the docstring promise?",
            ways=[
                Way(edits=[Edit("flatten(0, 2)", "flatten(1, 2)")]),
            ],
        ),
        Mutant(
            name="backwards",
            says="The second half runs backwards.",
            asks="Which old row stands at place `d_k / 2`: 1 or the last one?",
            ways=[Way(source="""
                def pairs_to_halves(weight, num_heads):
                    rows = weight.unflatten(0, (num_heads, -1, 2))
                    return torch.cat((rows[:, :, 0], rows[:, :, 1].flip(1)), 1).flatten(0, 1)
                """)],
        ),
        Mutant(
            name="swapped_only",
            says="You exchange the two numbers of each pair; they are to be moved apart.",
            asks="How far from each other are the two numbers of a point afterwards?",
            ways=[Way(edits=[Edit(_BACK, "by_pair.flip(2).flatten(0, 2)")])],
        ),
        Mutant(
            name="halves_swapped",
            says="You exchange the two halves of each head; the rows inside stay in order.",
            asks="Where does old row 1 go?",
            ways=[Way(source="""
                def pairs_to_halves(weight, num_heads):
                    return weight.unflatten(0, (num_heads, 2, -1)).flip(1).flatten(0, 2)
                """)],
        ),
        Mutant(
            name="in_place",
            says="The given weight is changed.",
            asks="May somebody still need the weight as it was?",
            ways=[Way(source="""
                def pairs_to_halves(weight, num_heads):
                    rows = weight.unflatten(0, (num_heads, -1, 2))
                    weight.copy_(rows.transpose(1, 2).flatten(0, 2).clone())
                    return weight
                """)],
        ),
        Mutant(
            name="order_only",
            says="You return the order of the rows, not the weight.",
            asks="What is the order good for if nobody applies it?",
            ways=[Way(source="""
                def pairs_to_halves(weight, num_heads):
                    rows = torch.arange(weight.size(0)).unflatten(0, (num_heads, -1, 2))
                    return rows.transpose(1, 2).flatten()
                """)],
        ),
        Mutant(
            name="first_half_twice",
            says="Some rows occur twice, and others not at all.",
            asks="Is every old row somewhere in the result, exactly once?",
            ways=[Way(source="""
                def pairs_to_halves(weight, num_heads):
                    rows = weight.unflatten(0, (num_heads, -1, 2))[:, :, 0]
                    return torch.cat((rows, rows), 1).flatten(0, 1)
                """)],
        ),
    ],
    accepted=[
        Accepted(name="slices_of_heads", source="""
            def pairs_to_halves(weight, num_heads):
                heads = weight.chunk(num_heads, dim=0)
                return torch.cat([torch.cat((h[0::2], h[1::2])) for h in heads])
            """),
        Accepted(name="order", source="""
            def pairs_to_halves(weight, num_heads):
                d_k = weight.shape[0] // num_heads
                order = [h * d_k + i for h in range(num_heads)
                         for i in (*range(0, d_k, 2), *range(1, d_k, 2))]
                return weight[torch.tensor(order)]
            """),
        Accepted(name="as_in_the_script", source="""
            def pairs_to_halves(w, n_heads):
                dim1, dim2 = w.shape
                return w.view(n_heads, dim1 // n_heads // 2, 2, dim2).transpose(1, 2).reshape(dim1, dim2)
            """),
    ],
)
