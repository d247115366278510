"""Cases and mistakes for an exercise: split features into heads."""

from __future__ import annotations

from autograder.authoring.common import common
from autograder.authoring.notation import case, edit, right, sizes, wrong
from autograder.authoring.specification import Specification

_MOVE = ".transpose(1, 2)"
_SPLIT = "return x.unflatten(-1, (num_heads, -1)).transpose(1, 2)"

CASES = [
    case("plain", "two sentences, three heads", sizes(B=2, L=5, d_model=12, num_heads=3),
         "Write down where x[0, 1, 0] must go, and where yours sends it."),
    case("small_heads", "more heads than features in a head", sizes(B=3, L=4, d_model=10, num_heads=5),
         "Does the gradient find its way back through your reshaping?"),
    case("many_heads", "heads of a single feature", sizes(B=2, L=3, d_model=6, num_heads=6),
         "Nothing changes in principle when d_k is 1."),
    case("single_head", "a single head", sizes(B=4, L=3, d_model=5, num_heads=1),
         "One head still has a dimension of its own, of size 1.", hidden_only=True),
]

MISTAKES = [
    wrong("view_only",
          "The shape is right, but each head holds chopped-up positions: you reshaped straight to `(B, h, L, d_k)` "
          "without moving anything.",
          "In memory, what follows the last feature of position 0?",
          edit(_SPLIT, "return x.reshape(x.size(0), num_heads, x.size(1), -1)"), tests="position"),
    wrong("interleaved", "Each head gets every h-th feature, but our contract is contiguous blocks.",
          "Which features does head 0 get?",
          edit(_SPLIT, "return x.unflatten(-1, (-1, num_heads)).permute(0, 3, 1, 2)")),
    wrong("dimensions_in_another_order",
          "The features are split correctly, but the dimensions are not in the order `(B, h, L, d_k)`.",
          "Attention treats all but the last two dimensions as a batch. Which two should these be, and which dimension "
          "comes first in this course, always?",
          edit(_MOVE, ""),
          edit(_MOVE, ".permute(2, 0, 1, 3)", name="heads_first"),
          edit(_MOVE, ".permute(0, 2, 3, 1)", name="positions_last")),
    wrong("folded_into_batch",
          "Batch and heads are folded into one dimension. That works for some products, but our masks need both.",
          "How many dimensions does `(B, h, L, d_k)` have?",
          edit(_SPLIT, "return x.unflatten(-1, (num_heads, -1)).transpose(1, 2).flatten(0, 1)")),
    wrong("a_tuple_of_heads", "You return a tuple of tensors instead of one tensor with a dimension for the heads.",
          "Which function combines several tensors into one, with a new dimension?",
          edit(_SPLIT, "return x.chunk(num_heads, dim=-1)")),
    wrong("heads_overlap", "The heads overlap: each begins only one feature after the previous one.",
          "At which feature does head `i` begin?",
          edit(_SPLIT, """
              d_k = x.size(-1) // num_heads
              return torch.stack([x[..., i : i + d_k] for i in range(num_heads)], dim=1)
              """)),
    wrong("numbers_swapped", "You made `d_k` heads of size `h`: the two sizes are swapped.",
          "Which of the two is `num_heads`?",
          edit("(num_heads, -1)", "(-1, num_heads)")),
    wrong("positions_cut", "You split the positions instead of the features.",
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
    wrong("first_head_repeated", "All heads hold the features of head 0.",
          "Which features belong to head 1?",
          edit(_SPLIT, "return x.unflatten(-1, (num_heads, -1)).transpose(1, 2)[:, :1].expand(-1, num_heads, -1, -1)")),
    wrong("heads_reversed", "The heads are in reverse order.",
          "Which block of features belongs to head 0?",
          edit(_SPLIT, "return x.unflatten(-1, (num_heads, -1)).transpose(1, 2).flip(1)")),
    wrong("first_sentence_only", "All sentences have become copies of the first one.",
          "Is there an index `0` or `[:1]` in your code that should not be there?",
          edit(_SPLIT, "return x.unflatten(-1, (num_heads, -1)).transpose(1, 2)[:1].expand(len(x), -1, -1, -1)")),
    wrong("detached", "No gradient flows back: there is a `detach`, a `.data` or a new tensor on the way.",
          "How would training reach `w_q` through your heads?",
          edit(_SPLIT, "return x.unflatten(-1, (num_heads, -1)).transpose(1, 2).detach()"),
          edit(_SPLIT,
               "return torch.tensor(x.unflatten(-1, (num_heads, -1)).transpose(1, 2).tolist())", name="copied_data")),
    common("through_numpy",
           edit(_SPLIT, "return torch.from_numpy(x.numpy().reshape(*x.shape[:2], num_heads, -1).swapaxes(1, 2))")),
    wrong("d_k_of_64", "The size of a head is fixed at 64, as in the paper.",
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
    right("unfold", edit(_SPLIT, """
        d_k = x.size(-1) // num_heads
        return x.unfold(-1, d_k, d_k).movedim(2, 1)
        """)),
]

EXERCISE = Specification(
    results="the heads", fixed="d_model", tests="dtype of `x`", cases=CASES, mutants=MISTAKES, accepted=ACCEPTED
)
