"""Cases and mistakes for an exercise: merge the features of all heads."""

from __future__ import annotations

from autograder.authoring.common import common
from autograder.authoring.notation import case, edit, right, sizes, source, wrong
from autograder.authoring.specification import Specification

_MERGE = "return x.transpose(1, 2).flatten(2)"

CASES = [
    case("plain", "two sentences, three heads", sizes(B=2, L=5, h=3, d_k=4),
         "Write down where x[0, 1, 0, 0] must go, and where yours sends it."),
    case("small_heads", "more heads than features in a head", sizes(B=3, L=4, h=5, d_k=2),
         "Does the gradient find its way back through your reshaping?"),
    case("long", "more positions than features", sizes(B=2, L=7, h=4, d_k=3),
         "Each position must get back its own features, and no others."),
    case("single_head", "a single head", sizes(B=3, L=2, h=1, d_k=5),
         "A single head is merged like several, and its gradient must flow as well.", hidden_only=True),
    case("tiny_heads", "heads of a single feature", sizes(B=4, L=3, h=5, d_k=1),
         "Nothing changes in principle when d_k is 1.", hidden_only=True),
]

MISTAKES = [
    wrong("positions_mixed",
          "The shape is right, but positions are mixed: heads and positions have to be swapped back before the "
          "reshape, and nothing else.",
          "Which two dimensions did `split_heads` swap?",
          edit(_MERGE, "return x.reshape(x.size(0), x.size(2), -1)"),
          edit(_MERGE, "return x.transpose(1, 3).reshape(x.size(0), x.size(2), -1)", name="heads_with_features"),
          edit(_MERGE, "return x.transpose(2, 3).reshape(x.size(0), x.size(2), -1)", name="positions_with_features"),
          edit(_MERGE, "return x.permute(0, 3, 1, 2).reshape(x.size(0), x.size(2), -1)", name="features_to_the_front")),
    wrong("sentences_mixed", "Sentences are mixed: the batch is not the first dimension before the reshape.",
          "Which dimension must come first before you reshape to `(B, L, ...)`?",
          edit(_MERGE, "return x.permute(2, 0, 1, 3).reshape(x.size(0), x.size(2), -1)"),
          edit(_MERGE, "return x.transpose(0, 1).reshape(x.size(0), x.size(2), -1)", name="heads_with_batch")),
    wrong("interleaved",
          "The features are interleaved, one from each head in turn. They should follow block by block, head 0 first.",
          "Of the two dimensions that you merge, which index must vary more slowly?",
          edit(_MERGE, "return x.permute(0, 2, 3, 1).flatten(2)"), tests="head 0"),
    wrong("view_of_transposed",
          "The idea is right, but a transposed tensor is not contiguous in memory, and `view` never copies.",
          "Which other function reshapes, and copies only if it must?",
          edit(_MERGE, "return x.transpose(1, 2).view(x.size(0), x.size(2), -1)")),
    wrong("heads_reduced", "The features of several heads have become those of one, but all of them should be kept.",
          "How many features does a position have after merging `h` heads of size `d_k`?",
          edit(_MERGE, "return x.mean(dim=1)"),
          edit(_MERGE, "return x.sum(dim=1)", name="sum_of_heads"),
          edit(_MERGE, "return x[:, 0]", name="first_head_only")),
    wrong("still_four_dimensions", "Heads and positions are swapped back, but heads and features are not merged yet.",
          "How many dimensions does `(B, L, h * d_k)` have?",
          edit(_MERGE, "return x.transpose(1, 2)")),
    wrong("joined_along_positions",
          "Positions were merged with another dimension, so the result has other dimensions than `(B, L, h * d_k)`.",
          "Which dimension should grow: positions or features?",
          edit(_MERGE, "return torch.cat(x.unbind(1), dim=1)"),
          edit(_MERGE, "return x.flatten(2)", name="positions_and_features")),
    wrong("features_before_positions", "Features come before positions: `(B, h * d_k, L)`.",
          "In which order does the signature list positions and features?",
          edit(_MERGE, "return x.transpose(2, 3).flatten(1, 2)")),
    wrong("heads_reversed", "The heads are in reverse order.",
          "Which head's features should come first?",
          edit(_MERGE, "return x.flip(1).transpose(1, 2).flatten(2)")),
    wrong("detached", "No gradient flows back: there is a `detach`, a `.data` or a new tensor on the way.",
          "How would training reach the heads through your result?",
          edit(_MERGE, "return x.transpose(1, 2).flatten(2).detach()")),
    common("through_numpy",
           edit(_MERGE, "return torch.from_numpy(x.numpy().swapaxes(1, 2).reshape(x.size(0), x.size(2), -1))")),
    wrong("first_sentence_only", "All sentences have become copies of the first one.",
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
    results="the features", tests="dtype of `x`", cases=CASES, mutants=MISTAKES, accepted=ACCEPTED
)
