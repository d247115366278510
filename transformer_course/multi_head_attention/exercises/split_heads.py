"""Split heads."""

from __future__ import annotations

import torch

from autograder.authoring.common import common
from autograder.authoring.contract import Contract, special
from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.specification import Inputs, Maker, Specification


def _features(batch: int, length: int, h: int, d_k: int, pull: bool = False) -> Maker:
    def make_inputs(draw: Draw) -> Inputs:
        inputs: Inputs = {"x": draw.tensor(batch, length, h * d_k), "num_heads": torch.tensor(h)}
        return inputs | ({"pull": draw.tensor(batch, h, length, d_k)} if pull else {})

    return make_inputs


def _in_float64(maker: Maker) -> Maker:
    return lambda draw: maker(draw) | {"double": "yes"}


_MOVE = ".transpose(1, 2)"
_SPLIT = "return x.unflatten(-1, (num_heads, -1)).transpose(1, 2)"

CASES = [
    case("plain", "two sentences, three heads", _features(2, 5, h=3, d_k=4),
         "Write down where x[0, 1, 0] must go, and where yours sends it."),
    case("gradient", "more heads than features in a head, and the gradient", _features(3, 4, h=5, d_k=2, pull=True),
         "Does the gradient find its way back through your reshaping?"),
    case("many_heads", "heads of a single feature", _features(2, 3, h=6, d_k=1),
         "Nothing changes in principle when d_k is 1."),
    case("single_head", "a single head", _features(4, 3, h=1, d_k=5),
         "One head still has a dimension of its own, of size 1.", hidden_only=True),
    case("double", "features in float64", _in_float64(_features(2, 3, h=4, d_k=2)),
         "Moving entries around must not change their digits.", aspect="calls"),
]

MISTAKES = [
    common("digits_lost", edit(_SPLIT, "return x.float().unflatten(-1, (num_heads, -1)).transpose(1, 2).to(x.dtype)")),
    wrong("in_float32",
          "The heads come back in float32, whatever the dtype of `x`.",
          "Does splitting have to know the dtype of the entries that it moves?",
          edit("x.unflatten", "x.float().unflatten"), tests="dtype of `x`"),
    wrong("view_only",
          "The shape is right, but each head holds chopped-up positions: you reshaped straight to `(B, h, L, d_k)` "
          "without moving anything.",
          "In memory, what follows the last feature of position 0?",
          edit(_SPLIT, "return x.reshape(x.size(0), num_heads, x.size(1), -1)"), tests="position"),
    wrong("interleaved",
          "Each head gets every h-th feature, but our contract is contiguous blocks.",
          "Which features does head 0 get?",
          edit(_SPLIT, "return x.unflatten(-1, (-1, num_heads)).permute(0, 3, 1, 2)")),
    wrong("not_transposed",
          "The features are split correctly, but the heads still come after the positions.",
          "Attention treats all but the last two dimensions as a batch. Which two should these be?",
          edit(_MOVE, "")),
    wrong("heads_first",
          "You stack the heads in front of the batch: dimension 0 of your result is not `B`.",
          "Which dimension comes first in this course, always?",
          edit(_MOVE, ".permute(2, 0, 1, 3)")),
    wrong("positions_last",
          "Positions and features are swapped within each head.",
          "Which two of the four dimensions need to swap, and which do not?",
          edit(_MOVE, ".permute(0, 2, 3, 1)")),
    wrong("folded_into_batch",
          "Batch and heads are folded into one dimension. That works for some products, but our masks need both.",
          "How many dimensions does `(B, h, L, d_k)` have?",
          edit(_SPLIT, "return x.unflatten(-1, (num_heads, -1)).transpose(1, 2).flatten(0, 1)")),
    wrong("a_tuple_of_heads",
          "You return a tuple of tensors instead of one tensor with a dimension for the heads.",
          "Which function combines several tensors into one, with a new dimension?",
          edit(_SPLIT, "return x.chunk(num_heads, dim=-1)")),
    wrong("numbers_swapped",
          "You made `d_k` heads of size `h`: the two sizes are swapped.",
          "Which of the two is `num_heads`?",
          edit("(num_heads, -1)", "(-1, num_heads)")),
    wrong("positions_cut",
          "You split the positions instead of the features.",
          "Which dimension of `(B, L, d_model)` is divided among the heads?",
          edit(_SPLIT, "return x.unflatten(1, (num_heads, -1))")),
    wrong("batch_mixed",
          "Features of different sentences are mixed: you reshaped to a shape that begins with the heads.",
          "Does `view` ever move an entry? So what ends up in your first block?",
          edit(_SPLIT, "return x.reshape(num_heads, x.size(0), x.size(1), -1).transpose(0, 1)")),
    wrong("block_scrambled",
          "Each head gets the right features in the wrong order: you swapped positions and features *before* "
          "splitting.",
          "Which dimension should be the last one at the moment when you split it?",
          edit(_SPLIT, "return x.transpose(1, 2).reshape(x.size(0), num_heads, x.size(1), -1)")),
    wrong("first_head_repeated",
          "All heads hold the features of head 0.",
          "Which features belong to head 1?",
          edit(_SPLIT, "return x.unflatten(-1, (num_heads, -1)).transpose(1, 2)[:, :1].expand(-1, num_heads, -1, -1)")),
    wrong("heads_reversed",
          "The heads are in reverse order.",
          "Which block of features belongs to head 0?",
          edit(_SPLIT, "return x.unflatten(-1, (num_heads, -1)).transpose(1, 2).flip(1)")),
    wrong("first_sentence_only",
          "All sentences have become copies of the first one.",
          "Is there an index `0` or `[:1]` in your code that should not be there?",
          edit(_SPLIT, "return x.unflatten(-1, (num_heads, -1)).transpose(1, 2)[:1].expand(len(x), -1, -1, -1)")),
    wrong("detached",
          "No gradient flows back: there is a `detach`, a `.data` or a new tensor on the "
          "way.",
          "How would training reach `w_q` through your heads?",
          edit(_SPLIT, "return x.unflatten(-1, (num_heads, -1)).transpose(1, 2).detach()"),
          edit(_SPLIT,
               "return torch.tensor(x.unflatten(-1, (num_heads, -1)).transpose(1, 2).tolist())", name="copied_data")),
    common("through_numpy",
           edit(_SPLIT, "return torch.from_numpy(x.numpy().reshape(*x.shape[:2], num_heads, -1).swapaxes(1, 2))")),
    wrong("d_k_of_64",
          "The size of a head is fixed at 64, as in the paper.",
          "What is `d_k` for other values of `d_model` and `num_heads`?",
          edit(_SPLIT, "return x.view(x.size(0), x.size(1), num_heads, 64).transpose(1, 2)")),
]

ACCEPTED = [
    right("view_and_transpose", edit(_SPLIT, """
        B, L, d = x.shape
        return x.view(B, L, num_heads, d // num_heads).transpose(1, 2)
        """), tests="memory"),
    right("reshape_and_permute",
          edit(_SPLIT, "return x.reshape(*x.shape[:-1], num_heads, -1).permute(0, 2, 1, 3).contiguous()")),
    right("chunk_and_stack", edit(_SPLIT, "return torch.stack(x.chunk(num_heads, dim=-1), dim=1)")),
    right("einsum", edit(_SPLIT, 'return torch.einsum("blhd->bhld", x.unflatten(-1, (num_heads, -1)))')),
    right("unfold", edit(_SPLIT, """
        d_k = x.size(-1) // num_heads
        return x.unfold(-1, d_k, d_k).movedim(2, 1)
        """)),
    right("loops", source("""
        def split_heads(x, num_heads):
            B, L, d_model = x.shape
            d_k = d_model // num_heads
            out = x.new_empty(B, num_heads, L, d_k)
            for head in range(num_heads):
                for c in range(d_k):
                    out[:, head, :, c] = x[:, :, head * d_k + c]
            return out
        """)),
]

EXERCISE = Specification(
    contract=Contract(
        typed=True, arguments="x: B L m; num_heads: _", results="heads: B h L d", on=("gradient",),
        sizes=special(
            one_sentence=_features(1, 3, 2, 4), one_position=_features(2, 1, 3, 4), one_head=_features(2, 3, 1, 4),
            heads_of_size_one=_features(2, 3, 4, 1), equal_sizes=_features(3, 3, 3, 3),
            one_sentence_and_one_head=_features(1, 3, 1, 4), many_features=_features(1, 2, 5, 110),
        ),
    ),
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
