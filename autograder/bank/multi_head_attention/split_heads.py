"""Split heads."""

from __future__ import annotations

import torch

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


def _features(batch: int, length: int, h: int, d_k: int, pull: bool = False) -> Maker:
    def inputs(draw: Draw) -> Inputs:
        made: Inputs = {
            "x": draw.tensor(batch, length, h * d_k),
            "num_heads": torch.tensor(h),
        }
        return made | ({"pull": draw.tensor(batch, h, length, d_k)} if pull else {})

    return inputs


def _in_float64(maker: Maker) -> Maker:
    return lambda draw: maker(draw) | {"double": "yes"}


_SPLIT = "return x.unflatten(-1, (num_heads, -1)).transpose(1, 2)"

EXERCISE = Specification(
    name="multi_head_attention/split_heads",
    title="Split heads",
    target="split_heads",
    promise=Promise(
        typed=True,
        arguments="x: B L m; num_heads: _",
        results="heads: B h L d",
        on=("gradient",),
        sizes=special(
            one_sentence=_features(1, 3, 2, 4),
            one_position=_features(2, 1, 3, 4),
            one_head=_features(2, 3, 1, 4),
            heads_of_size_one=_features(2, 3, 4, 1),
            equal_sizes=_features(3, 3, 3, 3),
            one_sentence_and_one_head=_features(1, 3, 1, 4),
            many_features=_features(1, 2, 5, 110),
        ),
    ),
    cases=[
        CaseKind(
            name="plain",
            title="two sentences, three heads",
            inputs=_features(2, 5, h=3, d_k=4),
            hint="Write down where x[0, 1, 0] must go, and where yours sends it.",
        ),
        CaseKind(
            name="gradient",
            title="more heads than features in a head, and the gradient",
            inputs=_features(3, 4, h=5, d_k=2, pull=True),
            hint="Does the gradient find its way back through your reshaping?",
        ),
        CaseKind(
            name="many_heads",
            title="heads of a single feature",
            inputs=_features(2, 3, h=6, d_k=1),
            hint="Nothing changes in principle when d_k is 1.",
        ),
        CaseKind(
            name="single_head",
            title="a single head",
            inputs=_features(4, 3, h=1, d_k=5),
            hint="One head still has a dimension of its own, of size 1.",
            hidden_only=True,
        ),
        CaseKind(
            name="double",
            title="numbers in float64",
            inputs=_in_float64(_features(2, 3, h=4, d_k=2)),
            hint="What is only moved keeps all of its digits.",
            aspect="calls",
        ),
    ],
    mutants=[
        Mutant(
            name="digits_lost",
            says="Numbers in float64 come back in float64, but with the digits of float32.",
            asks="What is lost on the way through `float()`?",
            ways=[Way(edits=[Edit(_SPLIT, "return x.float().unflatten(-1, (num_heads, -1)).transpose(1, 2).to(x.dtype)")])],
        ),
        Mutant(
            name="in_float32",
            says="The heads come back in float32, whatever the type of `x` was.",
            asks="Does the split have to know what kind of numbers it moves?",
            ways=[Way(edits=[
                Edit(_SPLIT, "return x.float().unflatten(-1, (num_heads, -1)).transpose(1, 2)"),
            ])],
        ),
        Mutant(
            name="view_only",
            says="The shape is right, but each head holds whole chopped-up positions: "
            "you reshaped straight to `(B, h, L, d_k)` and nothing was moved.",
            asks="In memory, what follows after the last feature of position 0?",
            ways=[
                Way(edits=[
                    Edit(_SPLIT,
                         "return x.reshape(x.size(0), num_heads, x.size(1), -1)"),
                ]),
                Way(name="cut_then_viewed", edits=[
                    Edit(_SPLIT,
                         "return x.unflatten(-1, (num_heads, -1)).reshape(x.size(0), num_heads, x.size(1), -1)"),
                ]),
            ],
        ),
        Mutant(
            name="interleaved",
            says="Each head got every h-th feature. Our contract is blocks of "
            "neighbours.",
            asks="When you cut the features in two dimensions, which one changes "
            "slowly?",
            ways=[
                Way(edits=[
                    Edit(_SPLIT,
                         "return x.unflatten(-1, (-1, num_heads)).permute(0, 3, 1, 2)"),
                ]),
                Way(name="strided_slices", edits=[
                    Edit(_SPLIT,
                         "return torch.stack([x[..., i::num_heads] for i in range(num_heads)], dim=1)"),
                ]),
            ],
        ),
        Mutant(
            name="not_transposed",
            says="The features are cut correctly, but heads still stand after "
            "positions: `(B, L, h, d_k)`.",
            asks="Attention treats all but the last two dimensions as a batch. Which "
            "two must these be?",
            ways=[Way(edits=[Edit(_SPLIT, "return x.unflatten(-1, (num_heads, -1))")])],
        ),
        Mutant(
            name="heads_first",
            says="The heads stand before the batch: `(h, B, L, d_k)`.",
            asks="Which dimension comes first in this course, always?",
            ways=[
                Way(edits=[
                    Edit(_SPLIT,
                         "return x.unflatten(-1, (num_heads, -1)).permute(2, 0, 1, 3)"),
                ]),
                Way(name="stacked_in_front", edits=[
                    Edit(_SPLIT, "return torch.stack(x.chunk(num_heads, dim=-1))"),
                ]),
            ],
        ),
        Mutant(
            name="positions_last",
            says="Positions and features of a head have changed places: `(B, h, d_k, "
            "L)`.",
            asks="Which two of the four dimensions need to swap, and which do not?",
            ways=[Way(edits=[
                Edit(_SPLIT,
                     "return x.unflatten(-1, (num_heads, -1)).permute(0, 2, 3, 1)"),
            ])],
        ),
        Mutant(
            name="folded_into_batch",
            says="Batch and heads are folded into one dimension. That works for some "
            "products, but our masks need both.",
            asks="How many dimensions does `(B, h, L, d_k)` have?",
            ways=[Way(edits=[
                Edit(_SPLIT,
                     "return x.unflatten(-1, (num_heads, -1)).transpose(1, 2).flatten(0, 1)"),
            ])],
        ),
        Mutant(
            name="a_tuple_of_heads",
            says="The heads come as a tuple of tensors; one tensor with a dimension of "
            "heads is asked for.",
            asks="Which function makes one tensor, with a new dimension, out of "
            "several?",
            ways=[Way(edits=[Edit(_SPLIT, "return x.chunk(num_heads, dim=-1)")])],
        ),
        Mutant(
            name="numbers_swapped",
            says="You made `d_k` heads of size `h`: the two numbers have changed "
            "places.",
            asks="Which of the two is the size that you read off `num_heads`?",
            ways=[Way(edits=[
                Edit(_SPLIT, "return x.unflatten(-1, (-1, num_heads)).transpose(1, 2)"),
            ])],
        ),
        Mutant(
            name="positions_cut",
            says="You are cutting the positions, not the features.",
            asks="Which dimension of `(B, L, d_model)` is shared out among the heads?",
            ways=[Way(edits=[Edit(_SPLIT, "return x.unflatten(1, (num_heads, -1))")])],
        ),
        Mutant(
            name="batch_mixed",
            says="Numbers of different sentences got mixed: you reshaped to a shape "
            "that begins with the heads.",
            asks="Does `view` ever move a number? Then what lies in your first block?",
            ways=[Way(edits=[
                Edit(_SPLIT,
                     "return x.reshape(num_heads, x.size(0), x.size(1), -1).transpose(0, 1)"),
            ])],
        ),
        Mutant(
            name="block_scrambled",
            says="Each head got the right numbers in the wrong order: you swapped "
            "positions and features *before* cutting.",
            asks="Which dimension must be the last one at the moment when you cut it?",
            ways=[Way(edits=[
                Edit(_SPLIT,
                     "return x.transpose(1, 2).reshape(x.size(0), num_heads, x.size(1), -1)"),
            ])],
        ),
        Mutant(
            name="first_head_repeated",
            says="All heads hold the features of head 0.",
            asks="Which features belong to head 1?",
            ways=[Way(edits=[
                Edit(_SPLIT,
                     "return x.unflatten(-1, (num_heads, -1)).transpose(1, 2)[:, :1].expand(-1, num_heads, -1, -1)"),
            ])],
        ),
        Mutant(
            name="heads_reversed",
            says="The heads are in reverse order.",
            asks="Which block of features is head 0's?",
            ways=[Way(edits=[
                Edit(_SPLIT,
                     "return x.unflatten(-1, (num_heads, -1)).transpose(1, 2).flip(1)"),
            ])],
        ),
        Mutant(
            name="first_sentence_only",
            says="All sentences have become copies of the first one.",
            asks="Does an index `0` or `[:1]` stand in your code where it should not?",
            ways=[Way(edits=[
                Edit(_SPLIT,
                     "return x.unflatten(-1, (num_heads, -1)).transpose(1, 2)[:1].expand(len(x), -1, -1, -1)"),
            ])],
        ),
        Mutant(
            name="detached",
            says="The values are right, but the gradient does not come back: there is "
            "a `detach`, a `.data` or a new tensor on the way.",
            asks="How would training reach `w_q` through your heads?",
            ways=[
                Way(edits=[
                    Edit(_SPLIT,
                         "return x.unflatten(-1, (num_heads, -1)).transpose(1, 2).detach()"),
                ]),
                Way(name="copied_data", edits=[
                    Edit(_SPLIT,
                         "return torch.tensor(x.unflatten(-1, (num_heads, -1)).transpose(1, 2).tolist())"),
                ]),
            ],
        ),
        Mutant(
            name="through_numpy",
            says="On the way through NumPy the gradient is lost.",
            asks="Which functions of PyTorch do the same reshaping?",
            ways=[Way(edits=[
                Edit(_SPLIT,
                     "return torch.from_numpy(x.numpy().reshape(*x.shape[:2], num_heads, -1).swapaxes(1, 2))"),
            ])],
        ),
        Mutant(
            name="d_k_of_64",
            says="The size of a head is fixed to 64, the paper's number.",
            asks="What is `d_k` for other sizes of `d_model` and `num_heads`?",
            ways=[Way(edits=[
                Edit(_SPLIT,
                     "return x.view(x.size(0), x.size(1), num_heads, 64).transpose(1, 2)"),
            ])],
        ),
    ],
    accepted=[
        Accepted(name="view_and_transpose", edits=[
            Edit(
                _SPLIT,
                """
                B, L, d = x.shape
                return x.view(B, L, num_heads, d // num_heads).transpose(1, 2)
                """,
            ),
        ]),
        Accepted(name="reshape_and_permute", edits=[
            Edit(_SPLIT,
                 "return x.reshape(*x.shape[:-1], num_heads, -1).permute(0, 2, 1, 3).contiguous()"),
        ]),
        Accepted(name="chunk_and_stack", edits=[
            Edit(_SPLIT, "return torch.stack(x.chunk(num_heads, dim=-1), dim=1)"),
        ]),
        Accepted(name="einsum", edits=[
            Edit(_SPLIT,
                 'return torch.einsum("blhd->bhld", x.unflatten(-1, (num_heads, -1)))'),
        ]),
        Accepted(name="unfold", edits=[
            Edit(
                _SPLIT,
                """
                d_k = x.size(-1) // num_heads
                return x.unfold(-1, d_k, d_k).movedim(2, 1)
                """,
            ),
        ]),
        Accepted(name="loops", source="""
            def split_heads(x, num_heads):
                B, L, d_model = x.shape
                d_k = d_model // num_heads
                out = x.new_empty(B, num_heads, L, d_k)
                for head in range(num_heads):
                    for c in range(d_k):
                        out[:, head, :, c] = x[:, :, head * d_k + c]
                return out
            """),
    ],
)
