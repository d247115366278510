"""Merge heads."""

from __future__ import annotations

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


def _heads(batch: int, length: int, h: int, d_k: int, pull: bool = False) -> Maker:
    def inputs(draw: Draw) -> Inputs:
        made: Inputs = {"x": draw.tensor(batch, h, length, d_k)}
        return made | ({"pull": draw.tensor(batch, length, h * d_k)} if pull else {})

    return inputs


def _in_float64(maker: Maker) -> Maker:
    return lambda draw: maker(draw) | {"double": "yes"}


_MERGE = "return x.transpose(1, 2).flatten(2)"

EXERCISE = Specification(
    name="multi_head_attention/merge_heads",
    title="Merge heads",
    target="merge_heads",
    promise=Promise(
        typed=True,
        arguments="x: B h L d",
        results="features: B L m",
        on=("gradient",),
        sizes=special(
            one_sentence=_heads(1, 3, 2, 4),
            one_position=_heads(2, 1, 3, 4),
            one_head=_heads(2, 3, 1, 4),
            heads_of_size_one=_heads(2, 3, 4, 1),
            equal_sizes=_heads(3, 3, 3, 3),
            one_sentence_and_one_head=_heads(1, 3, 1, 4),
            many_features=_heads(1, 2, 5, 110),
        ),
    ),
    cases=[
        CaseKind(
            name="plain",
            title="two sentences, three heads",
            inputs=_heads(2, 5, h=3, d_k=4),
            hint="Write down where x[0, 1, 0, 0] must go, and where yours sends it.",
        ),
        CaseKind(
            name="gradient",
            title="more heads than features in a head, and the gradient",
            inputs=_heads(3, 4, h=5, d_k=2, pull=True),
            hint="Does the gradient find its way back through your reshaping?",
        ),
        CaseKind(
            name="long",
            title="more positions than features",
            inputs=_heads(2, 7, h=4, d_k=3),
            hint="Each position must get back its own features, and no others.",
        ),
        CaseKind(
            name="single_head",
            title="a single head, and the gradient",
            inputs=_heads(3, 2, h=1, d_k=5, pull=True),
            hint="One head is merged like many, and it learns like them.",
            hidden_only=True,
        ),
        CaseKind(
            name="tiny_heads",
            title="heads of a single feature",
            inputs=_heads(4, 3, h=5, d_k=1),
            hint="Nothing changes in principle when d_k is 1.",
            hidden_only=True,
        ),
        CaseKind(
            name="double",
            title="numbers in float64",
            inputs=_in_float64(_heads(2, 3, h=4, d_k=2)),
            hint="What is only moved keeps all of its digits.",
            aspect="calls",
        ),
    ],
    mutants=[
        Mutant(
            name="digits_lost",
            says="Numbers in float64 come back in float64, but with the digits of float32.",
            asks="What is lost on the way through `float()`?",
            ways=[Way(edits=[Edit(_MERGE, "return x.float().transpose(1, 2).flatten(2).to(x.dtype)")])],
        ),
        Mutant(
            name="no_transpose",
            says="The shape is right, but positions got mixed: you reshaped without "
            "first swapping heads and positions back.",
            asks="Which two dimensions must be neighbours, in which order, before you "
            "join them?",
            ways=[
                Way(edits=[Edit(_MERGE, "return x.reshape(x.size(0), x.size(2), -1)")]),
                Way(name="contiguous_is_no_transpose", edits=[
                    Edit(_MERGE,
                         "return x.contiguous().view(x.size(0), x.size(2), -1)"),
                ]),
            ],
        ),
        Mutant(
            name="batch_mixed",
            says="Sentences got mixed: the order of dimensions before the reshape does "
            "not begin with the batch.",
            asks="Which dimension must stand first, before you reshape to `(B, L, "
            "...)`?",
            ways=[Way(edits=[
                Edit(_MERGE,
                     "return x.permute(2, 0, 1, 3).reshape(x.size(0), x.size(2), -1)"),
            ])],
        ),
        Mutant(
            name="heads_mixed_into_batch",
            says="Batch and heads have changed places before the reshape; positions of "
            "different sentences got mixed.",
            asks="Which dimension shall the heads swap with?",
            ways=[Way(edits=[
                Edit(_MERGE,
                     "return x.transpose(0, 1).reshape(x.size(0), x.size(2), -1)"),
            ])],
        ),
        Mutant(
            name="interleaved",
            says="The features are dealt out in turn, one of each head. They should "
            "stand block by block, head 0 first.",
            asks="Of the two dimensions that you join, which one must change slowly?",
            ways=[Way(edits=[Edit(_MERGE, "return x.permute(0, 2, 3, 1).flatten(2)")])],
        ),
        Mutant(
            name="view_of_transposed",
            says="The idea is right. But a transposed tensor lies scattered in memory, "
            "and `view` never copies.",
            asks="Which other function reshapes, and copies where it must?",
            ways=[Way(edits=[
                Edit(_MERGE, "return x.transpose(1, 2).view(x.size(0), x.size(2), -1)"),
            ])],
        ),
        Mutant(
            name="mean_of_heads",
            says="The heads are averaged; all their features are to be kept side by "
            "side.",
            asks="How many features has a position after merging `h` heads of size "
            "`d_k`?",
            ways=[Way(edits=[Edit(_MERGE, "return x.mean(dim=1)")])],
        ),
        Mutant(
            name="sum_of_heads",
            says="The heads are summed; all their features are to be kept side by "
            "side.",
            asks="How many features has a position after merging `h` heads of size "
            "`d_k`?",
            ways=[Way(edits=[Edit(_MERGE, "return x.sum(dim=1)")])],
        ),
        Mutant(
            name="first_head_only",
            says="Only head 0 is left.",
            asks="Where do the features of the other heads go?",
            ways=[Way(edits=[Edit(_MERGE, "return x[:, 0]")])],
        ),
        Mutant(
            name="still_four_dimensions",
            says="Heads and positions are swapped back, but heads and features are not "
            "joined yet.",
            asks="How many dimensions does `(B, L, h * d_k)` have?",
            ways=[Way(edits=[Edit(_MERGE, "return x.transpose(1, 2)")])],
        ),
        Mutant(
            name="positions_joined",
            says="You joined positions and features, `(B, h, L * d_k)`, since nothing "
            "was swapped before.",
            asks="Which two dimensions must stand last before you join?",
            ways=[Way(edits=[Edit(_MERGE, "return x.flatten(2)")])],
        ),
        Mutant(
            name="joined_along_positions",
            says="The heads stand below each other, `(B, h * L, d_k)`, not side by "
            "side.",
            asks="Which dimension shall grow: positions or features?",
            ways=[
                Way(edits=[Edit(_MERGE, "return torch.cat(x.unbind(1), dim=1)")]),
                Way(name="heads_and_positions_joined", edits=[
                    Edit(_MERGE, "return x.flatten(1, 2)"),
                ]),
            ],
        ),
        Mutant(
            name="features_before_positions",
            says="Features stand before positions: `(B, h * d_k, L)`.",
            asks="In which order does the contract name positions and features?",
            ways=[Way(edits=[Edit(_MERGE, "return x.transpose(2, 3).flatten(1, 2)")])],
        ),
        Mutant(
            name="wrong_pair_swapped",
            says="You swapped the heads with the *features*, then reshaped; positions "
            "got mixed.",
            asks="With which dimension did `split_heads` swap the heads?",
            ways=[Way(edits=[
                Edit(_MERGE,
                     "return x.transpose(1, 3).reshape(x.size(0), x.size(2), -1)"),
            ])],
        ),
        Mutant(
            name="inner_pair_swapped",
            says="You swapped positions with *features*, then reshaped; positions got "
            "mixed.",
            asks="Which two dimensions did `split_heads` swap?",
            ways=[Way(edits=[
                Edit(_MERGE,
                     "return x.transpose(2, 3).reshape(x.size(0), x.size(2), -1)"),
            ])],
        ),
        Mutant(
            name="features_moved_forward",
            says="You moved the features before heads and positions, then reshaped; "
            "positions got mixed.",
            asks="Which two dimensions did `split_heads` swap?",
            ways=[Way(edits=[
                Edit(_MERGE,
                     "return x.permute(0, 3, 1, 2).reshape(x.size(0), x.size(2), -1)"),
            ])],
        ),
        Mutant(
            name="heads_reversed",
            says="The heads are in reverse order.",
            asks="Which head's features come first?",
            ways=[Way(edits=[
                Edit(_MERGE, "return x.flip(1).transpose(1, 2).flatten(2)"),
            ])],
        ),
        Mutant(
            name="detached",
            says="The values are right, but the gradient does not come back: there is "
            "a `detach`, a `.data` or a new tensor on the way.",
            asks="How would training reach the heads through your result?",
            ways=[Way(edits=[
                Edit(_MERGE, "return x.transpose(1, 2).flatten(2).detach()"),
            ])],
        ),
        Mutant(
            name="single_head_detached",
            says="A single head gets no gradient: nothing before it can learn.",
            asks="What is special about one head, so that it goes another way?",
            ways=[Way(edits=[
                Edit(_MERGE,
                     """
                     if x.size(1) == 1:
                         return x[:, 0].detach().clone()
                     return x.transpose(1, 2).flatten(2)
                     """),
            ])],
        ),
        Mutant(
            name="through_numpy",
            says="On the way through NumPy the gradient is lost.",
            asks="Which functions of PyTorch do the same reshaping?",
            ways=[Way(edits=[
                Edit(_MERGE,
                     "return torch.from_numpy(x.numpy().swapaxes(1, 2).reshape(x.size(0), x.size(2), -1))"),
            ])],
        ),
        Mutant(
            name="first_sentence_only",
            says="All sentences have become copies of the first one.",
            asks="Does an index `0` or `[:1]` stand in your code where it should not?",
            ways=[Way(edits=[
                Edit(_MERGE,
                     "return x[:1].transpose(1, 2).flatten(2).expand(len(x), -1, -1)"),
            ])],
        ),
    ],
    accepted=[
        Accepted(name="contiguous_view", edits=[
            Edit(
                _MERGE,
                """
                B, h, L, d = x.shape
                return x.transpose(1, 2).contiguous().view(B, L, h * d)
                """,
            ),
        ]),
        Accepted(name="permute_reshape", edits=[
            Edit(_MERGE,
                 "return x.permute(0, 2, 1, 3).reshape(x.size(0), x.size(2), -1)"),
        ]),
        Accepted(name="unbind_and_cat", edits=[
            Edit(_MERGE, "return torch.cat(x.unbind(1), dim=-1)"),
        ]),
        Accepted(name="the_long_way_round", edits=[
            Edit(_MERGE, "return x.transpose(2, 3).flatten(1, 2).transpose(1, 2)"),
        ]),
        Accepted(name="loop", source="""
            def merge_heads(x):
                heads = []
                for i in range(x.shape[1]):
                    heads.append(x[:, i, :, :])
                return torch.concat(heads, 2)
            """),
    ],
)
