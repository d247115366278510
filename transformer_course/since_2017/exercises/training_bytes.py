"""Cases and mistakes for an exercise: the memory that a training step needs."""

from __future__ import annotations

from collections.abc import Callable

from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, sizes, source, wrong
from autograder.authoring.specification import InputSizes, Specification


def _draw_from(least: int, most: int) -> Callable[[Draw], int]:
    """Make a function that draws a size from ``least`` to ``most``."""
    return lambda draw: int(draw.ids(least, most + 1))


def _draw_sizes(heads: int, groups: int, layers: tuple[int, int], large: int = 1) -> InputSizes:
    """Return random sizes of a model and a batch.

    ``groups`` counts key and value heads; ``layers`` are the least and the largest
    number of layers. Most other sizes are multiplied by ``large``.
    """
    return sizes(
        num_heads=heads, num_kv_heads=groups, num_layers=_draw_from(*layers),
        vocab_size=_draw_from(300 * large, 500 * large),
        d_model=lambda draw, num_heads: 2 * num_heads * int(draw.ids(2 * large, 4 * large)),
        d_ff=_draw_from(90 * large, 130 * large), batch=_draw_from(3, 6), length=_draw_from(20 * large, 31 * large),
    )  # fmt: skip


_WIDTH = "d_k, width = d_model // num_heads, 2 * d_ff // 3"
_ATTENTION = "attention = 2 * d_model**2 + 2 * d_model * num_kv_heads * d_k"
_BLOCK = "block = attention + 3 * d_model * width + 2 * d_model"
_ALL = "parameters = vocab_size * d_model + num_layers * block + d_model"
_TOKEN = "token = num_layers * (10 * d_model + 4 * width + num_heads * length)"
_END = "token += 3 * d_model + vocab_size"
_RETURN = "return 4 * 4 * parameters, 4 * batch * length * token"

CASES = [
    case("small", "a small model", _draw_sizes(4, 2, (2, 3)),
         "Write down the shape of each matrix of a block, then count."),
    case("deep", "more blocks, one head of keys and values", _draw_sizes(3, 1, (5, 9)),
         "What occurs once per block, and what once per model?"),
    case("all_heads", "as many heads of keys and values as of queries", _draw_sizes(5, 5, (3, 6)),
         "Which of the four projections of attention depend on the number of KV heads?"),
    case("large", "a large model", _draw_sizes(8, 2, (10, 30), large=30),
         "Are your counts Python integers, which never overflow?", hidden_only=True),
]

MISTAKES = [
    wrong("fewer_copies", "Training keeps four tensors of the size of the model, and you count fewer of them.",
          "Which tensor does `backward` fill, and which two does AdamW keep for each parameter?",
          edit(_RETURN, _RETURN.replace("4 * 4 * parameters", "4 * 3 * parameters")),
          edit(_RETURN, _RETURN.replace("4 * 4 * parameters", "4 * 2 * parameters"), name="without_moments"),
          edit(_RETURN, _RETURN.replace("4 * 4 * parameters", "4 * parameters"), name="parameters_only")),
    wrong("numbers_for_bytes", "You count numbers; the task asks for bytes.",
          "How many bytes does a float32 take?",
          edit(_RETURN, "return 4 * parameters, batch * length * token"),
          edit(_RETURN, "return 2 * 4 * parameters, 2 * batch * length * token", name="two_bytes_each")),
    wrong("output_of_its_own", "The output matrix is counted beside the embedding.",
          "Which matrix did Exercise 7.6 use to compute the logits?",
          edit(_ALL, _ALL.replace("vocab_size", "2 * vocab_size")), tests="tied"),
    wrong("no_embedding", "The embedding is not counted.",
          "Which parameter of the model is not in a block, apart from the last norm?",
          edit(_ALL, "parameters = num_layers * block + d_model")),
    wrong("all_heads_of_keys",
          "You count the projections of keys and values as if there were as many KV heads as query heads.",
          "What is the shape of `w_k.weight`?",
          edit(_ATTENTION, "attention = 4 * d_model**2")),
    wrong("one_kv_projection", "Of the projections of keys and values, you count only one.",
          "Which four matrices does your `CausalAttention` have?",
          edit(_ATTENTION, _ATTENTION.replace("2 * d_model * num_kv_heads", "d_model * num_kv_heads"))),
    wrong("wide_network", "Your SwiGLU is too wide: `d_ff` is the width of the ReLU network that it replaces.",
          "What was the hidden width of `SwiGLU(8, 32)`?",
          edit(_WIDTH, "d_k, width = d_model // num_heads, d_ff")),
    wrong("rounded_late", "The width is not rounded down before you multiply with it.",
          "Can a matrix have 21.33 rows?",
          edit("3 * d_model * width", "2 * d_model * d_ff"),
          edit(_WIDTH, "d_k, width = d_model // num_heads, 2 * d_ff / 3", name="never_rounded")),
    wrong("rounded_too_early",
          "You round `d_ff / 3` down before you double it: `d_ff = 32` gives a width of 20, not 21.",
          "What is two thirds of 32, rounded down? Which comes first, `2 *` or `// 3`?",
          edit(_WIDTH, "d_k, width = d_model // num_heads, d_ff // 3 * 2")),
    wrong("two_matrices", "You count two matrices for the feed-forward network; the gate is a third one.",
          "Which three linear layers does your `SwiGLU` have?",
          edit("3 * d_model * width", "2 * d_model * width")),
    wrong("norms_missing", "Not all norms are counted.",
          "How many norms does a block have, and which one is in no block?",
          edit(_BLOCK, _BLOCK.replace(" + 2 * d_model", "")),
          edit(_BLOCK, _BLOCK.replace("+ 2 * d_model", "+ d_model"), name="one_norm_per_block"),
          edit(_ALL, _ALL.removesuffix(" + d_model"), name="no_last_norm"),
          edit(_BLOCK, _BLOCK.replace(" + 2 * d_model", ""), _ALL, _ALL.removesuffix(" + d_model"),
               name="no_norm_at_all")),
    wrong("one_block", "You count one block instead of `num_layers` of them.",
          "Does the second block share anything with the first?",
          edit(_ALL, _ALL.replace("num_layers * block", "block")),
          edit(_TOKEN, _TOKEN.replace("num_layers * ", ""), name="activations_of_one_block"),
          edit(_ALL, _ALL.replace("num_layers * block", "block"), _TOKEN, _TOKEN.replace("num_layers * ", ""),
               name="one_block_of_both")),
    wrong("weights_of_one_head", "You count the attention weights of one head, or of the KV heads.",
          "What is the shape of the weights that `grouped_attention` returns?",
          edit(_TOKEN, _TOKEN.replace("num_heads * length", "length")),
          edit(_TOKEN, _TOKEN.replace("num_heads * length", "num_kv_heads * length"), name="weights_of_kv_heads")),
    wrong("square_for_each_token",
          "For each token, you count the attention weights of the whole text, not just that token's own.",
          "How many attention weights belong to one token, in each head?",
          edit(_TOKEN, _TOKEN.replace("num_heads * length", "num_heads * length**2")), tests="attention weights"),
    wrong("no_attention_weights", "The attention weights are missing from the activations.",
          "Which tensor of a block grows with the square of the length?",
          edit(_TOKEN, _TOKEN.replace(" + num_heads * length", "")), tests="keeps"),
    wrong("one_text", "You count the activations of one text, or of one token; the step has a batch of texts.",
          "How many tokens are in a batch?",
          edit(_RETURN, _RETURN.replace("4 * batch * length * token", "4 * length * token")),
          edit(_RETURN, _RETURN.replace("4 * batch * length * token", "4 * token"), name="one_token"),
          edit(_RETURN, _RETURN.replace("4 * batch * length * token", "4 * batch * token"), name="no_length")),
    wrong("no_logits",
          "What is kept after the last block is counted wrongly: some or all of it is missing, or it is counted once "
          "per block.",
          "What is the shape of the logits, and which two inputs does the last norm add?",
          edit(_END, "token += 3 * d_model"),
          edit(_END, "token += vocab_size", name="no_vectors_at_the_end"),
          edit(_END, "token += 0", name="nothing_at_the_end"),
          edit(_TOKEN, "token = num_layers * (10 * d_model + 4 * width + num_heads * length + 3 * d_model + vocab_size)",
               _END, "token += 0", name="logits_in_each_block"),
          tests="logits"),
    wrong("small_tensors_too", "You count tensors that the contract leaves out: root mean squares, or the mask.",
          "Which tensors of a block does the contract list?",
          edit(_END, "token += 3 * d_model + vocab_size + 2 * num_layers + 1"),
          edit(_RETURN, "return 4 * 4 * parameters, 4 * batch * length * token + num_layers * length**2",
               name="mask_too"), tests="Smaller"),
    wrong("not_whole", "The counts are of type `float`; integers are asked for.",
          "Which operation made them floats: a `/`, or a number with a decimal point?",
          edit(_RETURN, "return 4.0 * 4 * parameters, 4.0 * batch * length * token"), tests="integers"),
    wrong("exchanged", "The two results are swapped.",
          "In which order does the docstring name them?",
          edit(_RETURN, "return 4 * batch * length * token, 4 * 4 * parameters")),
]

ACCEPTED = [
    right("from_a_model", source("""
        def training_bytes(
            vocab_size, d_model, num_heads, num_kv_heads, num_layers, d_ff, batch, length
        ):
            with torch.device("meta"):
                model = LanguageModel(vocab_size, d_model, num_heads, num_kv_heads, num_layers, d_ff)
            state = 4 * sum(4 * p.numel() for p in model.parameters())
            per_block = 10 * d_model + 4 * (2 * d_ff // 3) + num_heads * length
            return state, 4 * batch * length * (num_layers * per_block + 3 * d_model + vocab_size)
        """)),
    right("by_matrix", source("""
        def training_bytes(
            vocab_size, d_model, num_heads, num_kv_heads, num_layers, d_ff, batch, length
        ):
            d_kv, width = d_model * num_kv_heads // num_heads, d_ff * 2 // 3
            shapes = [(d_model, d_model), (d_model, d_kv), (d_model, d_kv), (d_model, d_model)]
            shapes += 3 * [(d_model, width)] + 2 * [(1, d_model)]
            numbers = (vocab_size + 1) * d_model + num_layers * sum(m * n for m, n in shapes)
            tokens = batch * length
            kept = num_layers * tokens * (10 * d_model + 4 * width)
            kept += num_layers * batch * num_heads * length**2
            kept += tokens * (3 * d_model + vocab_size)
            return [16 * numbers, 4 * kept]
        """)),
]

EXERCISE = Specification(
    results="bytes of the state, bytes of the activations",
    precise=False, cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
