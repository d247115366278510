"""Count parameters, multiplications and attention weights."""

from __future__ import annotations

import torch

from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.specification import Inputs, Maker, Specification


def _sizes(*fixed: tuple[int, int, int]) -> Maker:
    """Triples (L, d_model, h): the fixed ones and two drawn ones."""

    def inputs(draw: Draw) -> Inputs:
        drawn = [[int(draw.ids(2, 40)), h * int(draw.ids(3, 30)), h] for h in draw.ids(2, 9, 2).tolist()]
        triples = [*map(list, fixed), *drawn]
        # Twice the same sizes would make two answers of one name.
        return {"sizes": torch.tensor([t for i, t in enumerate(triples) if t not in triples[:i]])}

    return inputs


_PARAMETERS = "parameters = 4 * (d_model * d_model + d_model)"
_PROJECTIONS = "projections = 4 * length * d_model * d_model"
_SUMS = "scores_and_sums = 2 * length * length * d_model"
_WORK = "projections + scores_and_sums"
_MAPS = "num_heads * length * length"
_RETURN = f"return parameters, {_WORK}, {_MAPS}"
_HEAD = "d_model * (d_model // num_heads)"

CASES = [
    case("short", "sentences shorter than `d_model`", _sizes((3, 4, 2), (20, 512, 8)),
         "Count for two positions, d_model = 2 and one head with pencil and paper."),
    case("long", "sentences longer than `d_model`", _sizes((7, 6, 3), (1024, 64, 4)),
         "Which of the matrix products grow with the square of the length?"),
    case("many_heads", "as many heads as features, and a single head", _sizes((5, 6, 6), (9, 10, 1)),
         "In which of the three counts does the number of heads appear?", hidden_only=True),
    case("one_position", "a single position", _sizes((1, 12, 3), (1, 8, 2)),
         "A sentence of one word also needs its projections, one score and one weight per head.", hidden_only=True),
]

MISTAKES = [
    # The parameters.
    wrong("parameters_times_heads",
          "Your number of parameters grows with the number of heads, but the heads share the features.",
          "What are the shapes of the four weights if there are 8 heads?",
          edit(_PARAMETERS, f"{_PARAMETERS} * num_heads")),
    wrong("three_layers_per_head",
          "You count three full layers per head, but the heads share the features.",
          "What are the shapes of the four weights if there are 8 heads?",
          edit(_PARAMETERS, "parameters = (3 * num_heads + 1) * (d_model * d_model + d_model)")),
    wrong("parameters_of_three_layers",
          "You count the parameters of only three layers.",
          "Which layer comes after the merge?",
          edit(_PARAMETERS, "parameters = 3 * (d_model * d_model + d_model)")),
    wrong("parameters_of_one_layer",
          "You count the parameters of only one layer.",
          "How many linear layers does `MultiHeadAttention` have?",
          edit(_PARAMETERS, "parameters = d_model * d_model + d_model")),
    wrong("no_biases",
          "The biases are missing from the parameters.",
          "Which two tensors does an `nn.Linear` hold?",
          edit(_PARAMETERS, "parameters = 4 * d_model * d_model")),
    wrong("one_number_as_bias",
          "Each bias is counted as a single parameter.",
          "Does `nn.Linear` have one bias in all, or one per output?",
          edit(_PARAMETERS, "parameters = 4 * (d_model * d_model + 1)")),
    wrong("one_bias_for_all",
          "Only one of the four biases is counted.",
          "How many of the four layers have a bias?",
          edit(_PARAMETERS, "parameters = 4 * d_model * d_model + d_model")),
    wrong("parameters_of_one_head",
          "You count parameters as if each layer had the size of a single head.",
          "How many features does `w_q` produce for all heads together?",
          edit(_PARAMETERS, f"parameters = 4 * ({_HEAD} + d_model // num_heads)")),
    wrong("one_head_and_output",
          "For queries, keys and values you count the parameters of only one head.",
          "How many features does `w_q` produce for all heads together?",
          edit(_PARAMETERS, f"parameters = 3 * ({_HEAD} + d_model // num_heads) + d_model * (d_model + 1)")),
    wrong("sides_added",
          "You added the two dimensions of the weight matrix.",
          "How many entries does a 3 by 3 matrix have?",
          edit(_PARAMETERS, "parameters = 4 * (2 * d_model + d_model)")),
    wrong("parameters_times_length",
          "Your number of parameters grows with the length, but the same layers serve every position.",
          "Do you need new weights for a longer sentence?",
          edit(_PARAMETERS, f"{_PARAMETERS} * length")),
    wrong("parameters_of_the_heads_too",
          "You added the number of heads, which is not a trainable parameter.",
          "Which term of your sum belongs to no layer?",
          edit(_PARAMETERS, f"{_PARAMETERS} + num_heads")),
    # The multiplications.
    wrong("projections_only",
          "Your multiplications are those of the four projections; attention itself is missing.",
          "Which two matrix products does attention compute between the projections?",
          edit(_WORK, "projections")),
    wrong("attention_only",
          "Your multiplications are those of scores and weighted sum; the projections are missing.",
          "How often is a vector of size `d_model` multiplied by a matrix?",
          edit(_WORK, "scores_and_sums")),
    wrong("three_projections",
          "You count the multiplications of three projections, but there are four.",
          "Which layer comes after the merge?",
          edit(_PROJECTIONS, "projections = 3 * length * d_model * d_model")),
    wrong("one_projection",
          "You count the multiplications of one projection, but there are four.",
          "Which layers does a sentence pass through in the module?",
          edit(_PROJECTIONS, "projections = length * d_model * d_model")),
    wrong("projection_of_one_position",
          "You project a single position, but all positions pass through the four layers.",
          "How many rows does the left matrix of a projection have?",
          edit(_PROJECTIONS, "projections = 4 * d_model * d_model")),
    wrong("scores_only",
          "You count the scores, but not the weighted sum of the values.",
          "What happens to the weights after the softmax?",
          edit(_SUMS, "scores_and_sums = length * length * d_model")),
    wrong("attention_of_one_head",
          "You count scores and weighted sum for only one head.",
          "How many heads compute scores of their own?",
          edit(_SUMS, "scores_and_sums = 2 * length * length * (d_model // num_heads)")),
    wrong("attention_of_full_size_heads",
          "Each of your heads compares vectors of size `d_model`, but a head has only `d_k` features.",
          "What is `d_k` if 8 heads share 512 features?",
          edit(_SUMS, "scores_and_sums = 2 * num_heads * length * length * d_model")),
    wrong("one_product_per_score",
          "You count one multiplication per score, but a score is the dot product of two vectors.",
          "How many multiplications does the dot product of two vectors with 64 components take?",
          edit(_SUMS, "scores_and_sums = 2 * num_heads * length * length")),
    wrong("work_not_squared",
          "Your scores grow in proportion to the length, but every query meets every key.",
          "How many scores does one head compute for `L` queries and `L` keys?",
          edit(_SUMS, "scores_and_sums = 2 * length * d_model")),
    wrong("projections_times_heads_in_the_work",
          "Your projections grow with the number of heads, but the heads share the features.",
          "What are the shapes of the four weights if there are 8 heads?",
          edit(_PROJECTIONS, "projections = 4 * num_heads * length * d_model * d_model")),
    wrong("projections_of_one_head_in_the_work",
          "You count multiplications as if each projection had the size of a single head.",
          "How many features does `w_q` produce for all heads together?",
          edit(_PROJECTIONS, f"projections = 4 * length * {_HEAD}")),
    wrong("additions_counted",
          "You count additions as well as multiplications, so every product counts twice.",
          "What does the text count, and what does PyTorch's counter count?",
          edit(_WORK, "2 * (projections + scores_and_sums)")),
    wrong("biases_in_the_work",
          "You count the biases among the multiplications, but a bias is only added.",
          "Which step of `nn.Linear` multiplies?",
          edit(_PROJECTIONS, "projections = 4 * length * (d_model * d_model + d_model)")),
    wrong("softmax_in_the_work",
          "You count the scaling or the softmax as well, but only the matrix products count.",
          "How many matrix products does one head compute?",
          edit(_WORK, f"projections + scores_and_sums + {_MAPS}")),
    # The attention weights.
    wrong("one_map",
          "You count the attention weights of only one head.",
          "How many maps does a sentence have if there are `h` heads?",
          edit(_RETURN, f"return parameters, {_WORK}, length * length")),
    wrong("one_row_per_head",
          "You count one weight per position and head, but every query has a weight for every key.",
          "What is the shape of the attention weights?",
          edit(_RETURN, f"return parameters, {_WORK}, num_heads * length")),
    wrong("maps_times_features",
          "Your attention weights also have a dimension for the features, which the dot product has summed over.",
          "What is the shape of the attention weights?",
          edit(_RETURN, f"return parameters, {_WORK}, length * length * d_model")),
    wrong("outputs_for_weights",
          "Your third count is the number of entries in the output, not in the attention weights.",
          "What is the shape of the attention weights?",
          edit(_RETURN, f"return parameters, {_WORK}, length * d_model")),
    # What comes back.
    wrong("first_two_swapped",
          "The number of parameters and the number of multiplications are swapped.",
          "In which order does the docstring list the three counts?",
          edit(_RETURN, f"return {_WORK}, parameters, {_MAPS}")),
    wrong("last_two_swapped",
          "The multiplications and the attention weights are swapped.",
          "In which order does the docstring list the three counts?",
          edit(_RETURN, f"return parameters, {_MAPS}, {_WORK}")),
    wrong("added_up",
          "You return one sum, but the three counts measure different things.",
          "What return type does the signature promise?",
          edit(_RETURN, f"return parameters + {_WORK} + {_MAPS}")),
    wrong("not_whole",
          "Each count is a `float` instead of an integer.",
          "What made it one: a `/`, or a number with a decimal point?",
          edit(_RETURN, f"return 1.0 * parameters, 1.0 * ({_WORK}), 1.0 * {_MAPS}")),
    wrong("work_not_whole",
          "Not all of your counts are integers: one is a `float`.",
          "Which operator divides two integers and gives an integer?",
          edit(_SUMS, "scores_and_sums = 2 * num_heads * length * length * (d_model / num_heads)")),
    wrong("as_tensors",
          "The counts are tensors instead of integers.",
          "What return type does the signature promise?",
          edit(_RETURN, f"return tuple(torch.tensor([parameters, {_WORK}, {_MAPS}]))")),
]

ACCEPTED = [
    right("head_by_head", source("""
        def attention_cost(length, d_model, num_heads):
            d_k = d_model // num_heads
            scores = num_heads * length * d_k * length
            sums = num_heads * length * length * d_k
            layers = 4 * d_model ** 2
            return layers + 4 * d_model, length * layers + scores + sums, num_heads * length ** 2
        """)),
    right("really_made", source("""
        def attention_cost(length, d_model, num_heads):
            layers = [nn.Linear(d_model, d_model) for _ in range(4)]
            parameters = sum(p.numel() for layer in layers for p in layer.parameters())
            products = sum(length * layer.weight.numel() for layer in layers)
            return parameters, products + 2 * length * length * d_model, num_heads * length * length
        """)),
    right("a_list", edit(_RETURN, f"return [parameters, {_WORK}, {_MAPS}]")),
    right("through_numpy", source("""
        def attention_cost(length, d_model, num_heads):
            import numpy as np
            weights = np.prod([num_heads, length, length])
            work = 2 * length * d_model * (2 * d_model + length)
            return 4 * d_model * (d_model + 1), work, int(weights)
        """)),
]

EXERCISE = Specification(
    name="multi_head_attention/cost", title="Count the costs", target="attention_cost", precise=False,
    aspects={"multiplications": 6.0, "weights": 3.0},
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
