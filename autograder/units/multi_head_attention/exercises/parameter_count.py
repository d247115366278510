"""Count the parameters."""

from __future__ import annotations

import torch

from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.specification import Inputs, Maker, Specification


def _sizes(bias: bool | None, *fixed: tuple[int, int]) -> Maker:
    """Pairs (d_model, h): the fixed ones and two drawn ones; None: bias is left out."""

    def inputs(draw: Draw) -> Inputs:
        drawn = [[h * int(draw.ids(3, 30)), h] for h in draw.ids(2, 9, 2).tolist()]
        pairs = [*map(list, fixed), *drawn]
        # Twice the same pair would make two answers of one name.
        unique = [pair for i, pair in enumerate(pairs) if pair not in pairs[:i]]
        given = {} if bias is None else {"bias": torch.tensor(bias)}
        return {"sizes": torch.tensor(unique), **given}

    return inputs


_ONE_LAYER = "one_layer = d_model * d_model + (d_model if bias else 0)"
_FOUR_LAYERS = "return 4 * one_layer"

CASES = [
    case("with_bias", "layers with a bias", _sizes(True, (12, 3), (512, 8)),
         "Count for d_model = 2 with pencil and paper."),
    case("without_bias", "layers without a bias", _sizes(False, (12, 4), (768, 12)),
         "Count for d_model = 2 with pencil and paper."),
    case("default", "bias not given: the layers have one, as the docstring says", _sizes(None, (8, 2), (128, 4)),
         "What is the default of `bias`?"),
    case("many_heads", "as many heads as features", _sizes(True, (6, 6), (10, 1)),
         "What does the number of heads change about the four layers?", hidden_only=True),
]

MISTAKES = [
    wrong("times_heads",
          "Your count grows with the number of heads, but the heads share the features.",
          "What are the shapes of the four weights if there are 8 heads?",
          edit(_ONE_LAYER, "one_layer = d_model * d_model + (d_model if bias else 0)",
               _FOUR_LAYERS, "return 4 * one_layer * num_heads")),
    wrong("projections_times_heads",
          "You count three full layers per head, but the heads share the features.",
          "What are the shapes of the four weights if there are 8 heads?",
          edit(_ONE_LAYER, "one_layer = d_model * d_model + (d_model if bias else 0)",
               _FOUR_LAYERS, "return (3 * num_heads + 1) * one_layer")),
    wrong("three_layers",
          "You count only three layers.",
          "Which layer comes after the merge?",
          edit(_ONE_LAYER, "one_layer = d_model * d_model + (d_model if bias else 0)",
               _FOUR_LAYERS, "return 3 * one_layer")),
    wrong("no_biases",
          "The biases are not counted.",
          "Which two tensors does an `nn.Linear` hold?",
          edit(_ONE_LAYER, "one_layer = d_model * d_model", _FOUR_LAYERS, "return 4 * one_layer")),
    wrong("default_without_biases",
          "If `bias` is not given, the biases are not counted.",
          "What is the default of `bias` in the signature?",
          source("""
              def parameter_count(d_model, num_heads, bias=False):
                  return 4 * (d_model * d_model + (d_model if bias else 0))
              """)),
    wrong("as_a_tensor",
          "The counts are correct, but they are tensors instead of integers.",
          "What return type does the signature promise?",
          edit(_FOUR_LAYERS, "return torch.tensor(4 * one_layer)")),
    wrong("biases_always",
          "Biases are counted even when there are none.",
          "Where do you use the argument `bias`?",
          edit(_ONE_LAYER, "one_layer = d_model * d_model + d_model", _FOUR_LAYERS, "return 4 * one_layer")),
    wrong("bias_turned_around",
          "Biases are counted when there are none, and left out when there are some.",
          "What does `bias=True` mean?",
          edit(_ONE_LAYER, "one_layer = d_model * d_model + (0 if bias else d_model)",
               _FOUR_LAYERS, "return 4 * one_layer")),
    wrong("one_number_as_bias",
          "Each bias is counted as a single parameter.",
          "Does `nn.Linear` have one bias in all, or one per output?",
          edit(_ONE_LAYER, "one_layer = d_model * d_model + (1 if bias else 0)", _FOUR_LAYERS, "return 4 * one_layer")),
    wrong("one_bias_for_all",
          "Only one of the four biases is counted.",
          "How many of the four layers have a bias?",
          edit(_ONE_LAYER, "one_layer = d_model * d_model",
               _FOUR_LAYERS, "return 4 * one_layer + (d_model if bias else 0)")),
    wrong("one_head_only",
          "You count layers the size of a single head.",
          "How many features does `w_q` produce for all heads together?",
          edit(_ONE_LAYER, "one_layer = d_model * (d_model // num_heads) + (d_model // num_heads if bias else 0)",
               _FOUR_LAYERS, "return 4 * one_layer")),
    wrong("one_head_and_output",
          "For queries, keys and values you count only one head.",
          "How many features does `w_q` produce for all heads together?",
          edit(_ONE_LAYER, "one_layer = d_model * (d_model // num_heads) + (d_model // num_heads if bias else 0)",
               _FOUR_LAYERS, "return 3 * one_layer + d_model * d_model + (d_model if bias else 0)")),
    wrong("biases_of_one_head",
          "You count the biases as if each had the size of a single head.",
          "How many outputs does each of the four layers have?",
          edit(_ONE_LAYER, "one_layer = d_model * d_model + (d_model // num_heads if bias else 0)",
               _FOUR_LAYERS, "return 4 * one_layer")),
    wrong("sides_added",
          "You added the two dimensions of the weight matrix.",
          "How many entries does a 3 by 3 matrix have?",
          edit(_ONE_LAYER, "one_layer = 2 * d_model + (d_model if bias else 0)", _FOUR_LAYERS, "return 4 * one_layer")),
    wrong("one_layer_only",
          "You count only one layer.",
          "How many layers does `__init__` create?",
          edit(_ONE_LAYER, "one_layer = d_model * d_model + (d_model if bias else 0)",
               _FOUR_LAYERS, "return one_layer")),
    wrong("heads_added",
          "You added the number of heads, which is not a trainable parameter.",
          "Which term of your sum belongs to no layer?",
          edit(_ONE_LAYER, "one_layer = d_model * d_model + (d_model if bias else 0)",
               _FOUR_LAYERS, "return 4 * one_layer + num_heads")),
    wrong("layers_not_tensors",
          "You count tensors, not the parameters in them.",
          "What does `p.numel()` tell you about a parameter `p`?",
          edit(_ONE_LAYER, "one_layer = d_model * d_model", _FOUR_LAYERS, "return 8 if bias else 4")),
    wrong("not_whole",
          "The count is a `float` instead of an integer.",
          "What made it one: a `/`, or a number with a decimal point?",
          edit(_ONE_LAYER, "one_layer = d_model * d_model + (d_model if bias else 0)",
               _FOUR_LAYERS, "return 4.0 * one_layer")),
]

ACCEPTED = [
    right("one_formula", edit(_FOUR_LAYERS, "return 4 * d_model * (d_model + bool(bias))")),
    right("really_made", source("""
        def parameter_count(d_model, num_heads, bias=True):
            layers = [nn.Linear(d_model, d_model, bias=bias) for _ in range(4)]
            return sum(p.numel() for layer in layers for p in layer.parameters())
        """)),
    right("head_by_head", source("""
        def parameter_count(d_model, num_heads, bias=True):
            d_k = d_model // num_heads
            count = 0
            for _ in range(num_heads):
                count += 3 * d_model * d_k
                if bias:
                    count += 3 * d_k
            count += d_model ** 2
            if bias:
                count += d_model
            return int(count)
        """)),
    right("pytorchs_layer_counted", source("""
        def parameter_count(d_model, num_heads, bias=True):
            layer = nn.MultiheadAttention(d_model, num_heads, bias=bias)
            return sum(p.numel() for p in layer.parameters())
        """)),
]

EXERCISE = Specification(
    name="multi_head_attention/parameter_count", title="Count the parameters", target="parameter_count", precise=False,
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
