"""Cases and mistakes for an exercise: what each head adds to the residual stream."""

from __future__ import annotations

from autograder.authoring.notation import case, edit, right, sizes, source, wrong
from autograder.authoring.specification import Specification

_HEADS = "heads = mha.split_heads(merged, num_heads)"
_BLOCKS = "blocks = w_o.unflatten(1, (num_heads, -1)).transpose(0, 1)"
_RETURN = "return heads @ blocks.mT"

CASES = [
    case("plain", "3 heads of 4 components, 5 features", sizes(B=2, L=6, num_heads=3, h=3, d_k=4, d_model=5),
         "Which columns of `w_o` does head 1 multiply?"),
    case("two", "2 heads of 3 components", sizes(B=3, L=4, num_heads=2, h=2, d_k=3, d_model=7),
         "Each head has its own block of columns."),
    case("single", "one head", sizes(B=2, L=3, num_heads=1, h=1, d_k=6, d_model=4),
         "With one head, the result is the layer's output."),
    case("more", "5 heads of 2 components", sizes(B=2, L=7, num_heads=5, h=5, d_k=2, d_model=8),
         "As above.", hidden_only=True),
]

MISTAKES = [
    wrong("interleaved", "A head gets every h-th component or column instead of a block of them.",
          "In which order does `merge_heads` concatenate?",
          edit(_HEADS, "heads = merged.unflatten(-1, (-1, num_heads)).permute(0, 3, 1, 2)"),
          edit(_BLOCKS, "blocks = w_o.unflatten(1, (-1, num_heads)).permute(2, 0, 1)", name="columns_interleaved"),
          edit(_HEADS, "heads = merged.unflatten(-1, (-1, num_heads)).permute(0, 3, 1, 2)",
               _BLOCKS, "blocks = w_o.unflatten(1, (-1, num_heads)).permute(2, 0, 1)", name="both_interleaved")),
    wrong("reshaped", "The heads are mixed up: the merged vector was reshaped to (B, h, L, d_k) without a transpose.",
          "Which dimension does `view` fill first?",
          edit(_HEADS, "heads = merged.reshape(merged.size(0), num_heads, merged.size(1), -1)")),
    wrong("same_block", "All heads use the same columns of `w_o`.",
          "How many columns does `w_o` have for each head?",
          edit(_BLOCKS, "blocks = w_o[None, :, : merged.size(-1) // num_heads].expand(num_heads, -1, -1)")),
    wrong("rows_of_w_o", "You cut `w_o` along its rows; a head's block consists of columns, and has to be transposed.",
          "Which dimension of `w_o` has the size `h * d_k`?",
          edit(_BLOCKS, "blocks = w_o.reshape(num_heads, merged.size(-1) // num_heads, -1).mT")),
    wrong("summed", "You added the heads up: that is the layer's output.",
          "Which dimension of the result counts the heads?",
          edit(_RETURN, "return (heads @ blocks.mT).sum(dim=1)")),
    wrong("shared_out", "You divided the layer's output equally among the heads.",
          "Do all heads write the same?",
          edit(_RETURN, """
              output = merged @ w_o.T
              return (output / num_heads)[:, None].expand(-1, num_heads, -1, -1)
              """)),
    wrong("heads_last", "The dimension of the heads is not the second one.",
          "What shape does the docstring promise?",
          edit(_RETURN, "return (heads @ blocks.mT).transpose(1, 2)")),
    wrong("averaged", "Each head's vector is divided by the number of heads.",
          "Does the layer add its heads, or average them?",
          edit(_RETURN, "return heads @ blocks.mT / num_heads"), tests="sum"),
    wrong("before_w_o", "You return the heads as they are before `w_o`.",
          "Which matrix takes a head from `d_k` components to `d_model`?",
          edit(_RETURN, "return heads")),
    wrong("reversed", "The heads meet the blocks of `w_o` in reversed order.",
          "Which block belongs to head 0?",
          edit(_RETURN, "return heads @ blocks.flip(0).mT")),
]

ACCEPTED = [
    right("zeros", source("""
        def head_outputs(merged, w_o, num_heads):
            d_k, results = merged.size(-1) // num_heads, []
            for head in range(num_heads):
                alone = torch.zeros_like(merged)
                alone[..., head * d_k : (head + 1) * d_k] = merged[..., head * d_k : (head + 1) * d_k]
                results.append(F.linear(alone, w_o))
            return torch.stack(results, dim=1)
        """)),
    right("einsum", source("""
        def head_outputs(merged, w_o, num_heads):
            heads = merged.unflatten(-1, (num_heads, -1))
            return torch.einsum("blhk,dhk->bhld", heads, w_o.unflatten(-1, (num_heads, -1)))
        """)),
    right("chunks", source("""
        def head_outputs(merged, w_o, num_heads):
            pairs = zip(merged.chunk(num_heads, dim=-1), w_o.chunk(num_heads, dim=-1))
            return torch.stack([F.linear(part, block) for part, block in pairs], dim=1)
        """)),
]

EXERCISE = Specification(results="what the heads write", fixed="h", cases=CASES, mutants=MISTAKES, accepted=ACCEPTED)
