"""Merge heads."""

from __future__ import annotations

from autograder.authoring.common import common
from autograder.authoring.contract import Contract, special
from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.specification import Inputs, Maker, Specification


def _heads(batch: int, length: int, h: int, d_k: int, pull: bool = False) -> Maker:
    def make_inputs(draw: Draw) -> Inputs:
        inputs: Inputs = {"x": draw.tensor(batch, h, length, d_k)}
        return inputs | ({"pull": draw.tensor(batch, length, h * d_k)} if pull else {})

    return make_inputs


def _in_float64(maker: Maker) -> Maker:
    return lambda draw: maker(draw) | {"double": "yes"}


_MERGE = "return x.transpose(1, 2).flatten(2)"

CASES = [
    case("plain", "two sentences, three heads", _heads(2, 5, h=3, d_k=4),
         "Write down where x[0, 1, 0, 0] must go, and where yours sends it."),
    case("gradient", "more heads than features in a head, and the gradient", _heads(3, 4, h=5, d_k=2, pull=True),
         "Does the gradient find its way back through your reshaping?"),
    case("long", "more positions than features", _heads(2, 7, h=4, d_k=3),
         "Each position must get back its own features, and no others."),
    case("single_head", "a single head, and the gradient", _heads(3, 2, h=1, d_k=5, pull=True),
         "A single head is merged like several, and its gradient must flow as well.", hidden_only=True),
    case("tiny_heads", "heads of a single feature", _heads(4, 3, h=5, d_k=1),
         "Nothing changes in principle when d_k is 1.", hidden_only=True),
    case("double", "features in float64", _in_float64(_heads(2, 3, h=4, d_k=2)),
         "Moving entries around must not change their digits.", aspect="calls"),
]

MISTAKES = [
    common("digits_lost", edit(_MERGE, "return x.float().transpose(1, 2).flatten(2).to(x.dtype)"), tests="result"),
    wrong("no_transpose",
          "The shape is right, but positions are mixed: you reshaped without first swapping heads and positions back.",
          "Which two dimensions must be adjacent, and in which order, before you merge them?",
          edit(_MERGE, "return x.reshape(x.size(0), x.size(2), -1)")),
    wrong("batch_mixed",
          "Sentences are mixed: the batch is not the first dimension before the reshape.",
          "Which dimension must come first before you reshape to `(B, L, ...)`?",
          edit(_MERGE, "return x.permute(2, 0, 1, 3).reshape(x.size(0), x.size(2), -1)")),
    wrong("heads_mixed_into_batch",
          "Batch and heads are swapped before the reshape, so positions of different sentences are mixed.",
          "Which dimension should the heads swap with?",
          edit(_MERGE, "return x.transpose(0, 1).reshape(x.size(0), x.size(2), -1)")),
    wrong("interleaved",
          "The features are interleaved, one from each head in turn. They should follow block by block, head 0 first.",
          "Of the two dimensions that you merge, which index must vary more slowly?",
          edit(_MERGE, "return x.permute(0, 2, 3, 1).flatten(2)")),
    wrong("view_of_transposed",
          "The idea is right, but a transposed tensor is not contiguous in memory, and `view` never copies.",
          "Which other function reshapes, and copies only if it must?",
          edit(_MERGE, "return x.transpose(1, 2).view(x.size(0), x.size(2), -1)")),
    wrong("mean_of_heads",
          "The heads are averaged, but all their features should be kept.",
          "How many features does a position have after merging `h` heads of size `d_k`?",
          edit(_MERGE, "return x.mean(dim=1)")),
    wrong("sum_of_heads",
          "The heads are summed, but all their features should be kept.",
          "How many features does a position have after merging `h` heads of size `d_k`?",
          edit(_MERGE, "return x.sum(dim=1)")),
    wrong("first_head_only",
          "Only head 0 is left.",
          "Where do the features of the other heads go?",
          edit(_MERGE, "return x[:, 0]")),
    wrong("still_four_dimensions",
          "Heads and positions are swapped back, but heads and features are not merged yet.",
          "How many dimensions does `(B, L, h * d_k)` have?",
          edit(_MERGE, "return x.transpose(1, 2)")),
    wrong("positions_joined",
          "You merged positions and features into `(B, h, L * d_k)`, because nothing was swapped first.",
          "Which two dimensions must be last before you merge?",
          edit(_MERGE, "return x.flatten(2)")),
    wrong("joined_along_positions",
          "The heads are concatenated along the wrong dimension: `(B, h * L, d_k)`.",
          "Which dimension should grow: positions or features?",
          edit(_MERGE, "return torch.cat(x.unbind(1), dim=1)")),
    wrong("features_before_positions",
          "Features come before positions: `(B, h * d_k, L)`.",
          "In which order does the docstring list positions and features?",
          edit(_MERGE, "return x.transpose(2, 3).flatten(1, 2)")),
    wrong("wrong_pair_swapped",
          "You swapped the heads with the *features* before reshaping, so positions are mixed.",
          "With which dimension did `split_heads` swap the heads?",
          edit(_MERGE, "return x.transpose(1, 3).reshape(x.size(0), x.size(2), -1)"), tests="features"),
    wrong("inner_pair_swapped",
          "You swapped positions with *features* before reshaping, so positions are mixed.",
          "Which two dimensions did `split_heads` swap?",
          edit(_MERGE, "return x.transpose(2, 3).reshape(x.size(0), x.size(2), -1)")),
    wrong("features_moved_forward",
          "You moved the features in front of heads and positions before reshaping, so positions are mixed.",
          "Which two dimensions did `split_heads` swap?",
          edit(_MERGE, "return x.permute(0, 3, 1, 2).reshape(x.size(0), x.size(2), -1)")),
    wrong("heads_reversed",
          "The heads are in reverse order.",
          "Which head's features should come first?",
          edit(_MERGE, "return x.flip(1).transpose(1, 2).flatten(2)")),
    wrong("detached",
          "No gradient flows back: there is a `detach`, a `.data` or a new tensor on the "
          "way.",
          "How would training reach the heads through your result?",
          edit(_MERGE, "return x.transpose(1, 2).flatten(2).detach()")),
    common("through_numpy",
           edit(_MERGE, "return torch.from_numpy(x.numpy().swapaxes(1, 2).reshape(x.size(0), x.size(2), -1))")),
    wrong("first_sentence_only",
          "All sentences have become copies of the first one.",
          "Is there an index `0` or `[:1]` in your code that should not be there?",
          edit(_MERGE, "return x[:1].transpose(1, 2).flatten(2).expand(len(x), -1, -1)")),
]

ACCEPTED = [
    right("contiguous_view", edit(_MERGE, """
        B, h, L, d = x.shape
        return x.transpose(1, 2).contiguous().view(B, L, h * d)
        """)),
    right("permute_reshape", edit(_MERGE, "return x.permute(0, 2, 1, 3).reshape(x.size(0), x.size(2), -1)")),
    right("unbind_and_cat", edit(_MERGE, "return torch.cat(x.unbind(1), dim=-1)")),
    right("the_long_way_round", edit(_MERGE, "return x.transpose(2, 3).flatten(1, 2).transpose(1, 2)")),
    right("loop", source("""
        def merge_heads(x):
            heads = []
            for i in range(x.shape[1]):
                heads.append(x[:, i, :, :])
            return torch.concat(heads, 2)
        """)),
]

EXERCISE = Specification(
    contract=Contract(
        typed=True, arguments="x: B h L d", results="features: B L m", on=("gradient",),
        sizes=special(
            one_sentence=_heads(1, 3, 2, 4), one_position=_heads(2, 1, 3, 4), one_head=_heads(2, 3, 1, 4),
            heads_of_size_one=_heads(2, 3, 4, 1), equal_sizes=_heads(3, 3, 3, 3),
            one_sentence_and_one_head=_heads(1, 3, 1, 4), many_features=_heads(1, 2, 5, 110),
        ),
    ),
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
