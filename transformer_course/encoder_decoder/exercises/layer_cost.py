"""Cases and mistakes for an exercise: FLOPs and memory of an encoder layer."""

from __future__ import annotations

from collections.abc import Callable

from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, sizes, source, wrong
from autograder.authoring.specification import InputSizes, Specification


def _draw_sizes(length: int, d_model: int, num_heads: int, d_ff: int) -> InputSizes:
    """Sizes of a layer; length and d_ff are random, from the given value to 9 more."""

    def draw_from(least: int) -> Callable[[Draw], int]:
        return lambda draw: int(draw.ids(least, least + 10))

    return sizes(length=draw_from(length), d_model=d_model, num_heads=num_heads, d_ff=draw_from(d_ff))


_PROJECTIONS = "projections = 4 * 2 * length * d_model * d_model"
_SCORES = "scores_and_sum = 2 * 2 * length * length * d_model"
_NETWORK = "feed_forward = 2 * 2 * length * d_model * d_ff"
_WEIGHTS = "weights = num_heads * length * length"
_END = "return projections + scores_and_sum, feed_forward, weights, length * d_ff"

CASES = [
    case("small", "a small layer", _draw_sizes(5, 6, 3, 7),
         "Write down each matrix product with its three sizes."),
    case("one_head", "one head", _draw_sizes(7, 12, 1, 20),
         "Which of the four counts depends on the number of heads?"),
    case("several_heads", "the same with several heads", _draw_sizes(7, 12, 4, 20),
         "Which of the four counts depends on the number of heads?"),
    case("paper", "the sizes of the paper", _draw_sizes(128, 512, 8, 2048),
         "Which of the products grow with the square of the length?"),
    case("long", "a very long sequence", _draw_sizes(100_000, 4096, 32, 11008),
         "Are your counts Python integers, which never overflow?", hidden_only=True),
]

MISTAKES = [
    wrong("multiplications_only", "You count only multiplications, but each of them comes with an addition.",
          "How many operations does it take to add up k products?",
          edit(_PROJECTIONS, _PROJECTIONS.replace("2 * ", ""), _SCORES, _SCORES.replace("2 * 2", "2"),
               _NETWORK, _NETWORK.replace("2 * 2", "2")), tests="activation"),
    wrong("too_few_projections", "Not all four projections are counted.",
          "Which linear layers does multi-head attention have, before and after the heads?",
          edit(_PROJECTIONS, "projections = 0"),
          edit(_PROJECTIONS, _PROJECTIONS.replace("4 * 2", "3 * 2"), name="three_projections"),
          edit(_PROJECTIONS, _PROJECTIONS.replace("4 * 2", "2"), name="one_projection"), tests="projections"),
    wrong("scores_only", "You count too few FLOPs for the two products of attention: the scores and the weighted sum.",
          "Which two products involve an L x L matrix, and how many FLOPs is one multiply-add?",
          edit(_SCORES, _SCORES.replace("2 * 2", "2")),
          edit(_SCORES, "scores_and_sum = 0", name="no_scores")),
    wrong("scores_of_one_head", "Scores and weighted sum are counted for one head only.",
          "How many heads compute scores?",
          edit(_SCORES, f"{_SCORES} // num_heads")),
    wrong("heads_times_d_model", "You count scores and sum as if each head had `d_model` features.",
          "What is the size of a query in one head?",
          edit(_SCORES, f"{_SCORES} * num_heads")),
    wrong("scores_linear", "Scores and weighted sum grow with the length, not with its square.",
          "How many scores are there for L queries and L keys?",
          edit(_SCORES, "scores_and_sum = 2 * 2 * length * d_model * d_model")),
    wrong("one_linear_layer", "Only one of the two layers of the feed-forward network is counted.",
          "What brings the vectors back to `d_model`?",
          edit(_NETWORK, _NETWORK.replace("2 * 2", "2"))),
    wrong("one_position", "The feed-forward network is counted for a single position.",
          "How often is the network applied?",
          edit(_NETWORK, "feed_forward = 2 * 2 * d_model * d_ff")),
    wrong("weights_of_one_head", "You count the attention weights of one head.",
          "Does each head have weights of its own?",
          edit(_WEIGHTS, "weights = length * length")),
    wrong("weights_by_features", "You count the entries of queries and keys, not those of the weights.",
          "What is the shape of the attention weights?",
          edit(_WEIGHTS, "weights = 2 * length * d_model")),
    wrong("hidden_of_one_position", "You count the hidden vector of a single position.",
          "How many positions go through the feed-forward network?",
          edit(_END, _END.replace("length * d_ff", "d_ff"))),
    wrong("not_hidden", "Instead of the hidden vectors, you count the entries of other tensors.",
          "Which tensor passes from one linear layer to the other, and what is its shape?",
          edit(_END, _END.replace("length * d_ff", "2 * d_model * d_ff")),
          edit(_END, _END.replace("length * d_ff", "length * d_model"), name="output_for_hidden")),
    wrong("biases_counted", "The additions of the biases are counted as well.",
          "Which operations does the contract leave out?",
          edit(_PROJECTIONS, f"{_PROJECTIONS} + 4 * length * d_model",
               _NETWORK, f"{_NETWORK} + length * (d_model + d_ff)")),
    wrong("bytes", "You return bytes of memory; entries are asked for.",
          "How many entries does a tensor of shape (h, L, L) have?",
          edit(_END, "return projections + scores_and_sum, feed_forward, 4 * weights, 4 * length * d_ff")),
    wrong("exchanged", "Two results are swapped: the FLOPs, or the entries.",
          "In which order does the docstring name the four?",
          edit("projections + scores_and_sum, feed_forward", "feed_forward, projections + scores_and_sum"),
          edit("weights, length * d_ff", "length * d_ff, weights", name="entries_exchanged")),
    wrong("not_whole", "The counts are of type `float`; integers are asked for.",
          "Which operation made them floats: a `/`, or a number with a decimal point?",
          edit(_END, "return tuple(map(float, (projections + scores_and_sum, feed_forward, weights, length * d_ff)))"),
          tests="integers"),
]

ACCEPTED = [
    right("head_by_head", source("""
        def product(m, k, n):
            return 2 * m * k * n

        def layer_cost(length, d_model, num_heads, d_ff):
            d_k = d_model // num_heads
            attention = 4 * product(length, d_model, d_model)
            for _ in range(num_heads):
                attention += product(length, d_k, length) + product(length, length, d_k)
            network = product(length, d_model, d_ff) + product(length, d_ff, d_model)
            return attention, network, num_heads * length ** 2, length * d_ff
        """)),
    right("factored", edit(_END, """
        return (4 * length * d_model * (2 * d_model + length), 4 * length * d_model * d_ff,
                num_heads * length ** 2, length * d_ff)
        """)),
    right("a_list", edit(_END, "return [projections + scores_and_sum, feed_forward, weights, length * d_ff]")),
]

EXERCISE = Specification(
    tells={"long": "not_whole"},
    results="FLOPs of multi-head attention, FLOPs of the feed-forward network, entries of the weights, "
    "entries of the hidden vectors",
    precise=False, cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
