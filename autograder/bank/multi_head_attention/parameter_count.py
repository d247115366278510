"""Count the parameters."""

from __future__ import annotations

import torch

from autograder.oracle.draw import Draw
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

EXERCISE = Specification(
    name="multi_head_attention/parameter_count",
    title="Count the parameters",
    target="parameter_count",
    precise=False,
    cases=[
        CaseKind(
            name="with_bias",
            title="layers with a bias",
            inputs=_sizes(True, (12, 3), (512, 8)),
            hint="Count for d_model = 2 with pencil and paper.",
        ),
        CaseKind(
            name="without_bias",
            title="layers without a bias",
            inputs=_sizes(False, (12, 4), (768, 12)),
            hint="Count for d_model = 2 with pencil and paper.",
        ),
        CaseKind(
            name="default",
            title="bias left out: layers have one, as the docstring says",
            inputs=_sizes(None, (8, 2), (128, 4)),
            hint="What is the default of `bias`?",
        ),
        CaseKind(
            name="many_heads",
            title="as many heads as features",
            inputs=_sizes(True, (6, 6), (10, 1)),
            hint="What does the number of heads change about the four layers?",
            hidden_only=True,
        ),
    ],
    mutants=[
        Mutant(
            name="times_heads",
            says="Your count grows with the number of heads; the heads share the "
            "features out.",
            asks="What are the shapes of the four weights if there are 8 heads?",
            ways=[Way(edits=[
                Edit(_ONE_LAYER,
                     "one_layer = d_model * d_model + (d_model if bias else 0)"),
                Edit(_FOUR_LAYERS, "return 4 * one_layer * num_heads"),
            ])],
        ),
        Mutant(
            name="projections_times_heads",
            says="You count three full layers for each head; the heads share the "
            "features out.",
            asks="What are the shapes of the four weights if there are 8 heads?",
            ways=[Way(edits=[
                Edit(_ONE_LAYER,
                     "one_layer = d_model * d_model + (d_model if bias else 0)"),
                Edit(_FOUR_LAYERS, "return (3 * num_heads + 1) * one_layer"),
            ])],
        ),
        Mutant(
            name="three_layers",
            says="You count three layers.",
            asks="Which layer comes after the merge?",
            ways=[Way(edits=[
                Edit(_ONE_LAYER,
                     "one_layer = d_model * d_model + (d_model if bias else 0)"),
                Edit(_FOUR_LAYERS, "return 3 * one_layer"),
            ])],
        ),
        Mutant(
            name="no_biases",
            says="The biases are not counted.",
            asks="Which two tensors does an `nn.Linear` hold?",
            ways=[Way(edits=[
                Edit(_ONE_LAYER, "one_layer = d_model * d_model"),
                Edit(_FOUR_LAYERS, "return 4 * one_layer"),
            ])],
        ),
        Mutant(
            name="default_without_biases",
            says="With `bias` left out, biases are not counted.",
            asks="Which default of `bias` does the exercise's first line show?",
            ways=[Way(source="""
                def parameter_count(d_model, num_heads, bias=False):
                    return 4 * (d_model * d_model + (d_model if bias else 0))
                """)],
        ),
        Mutant(
            name="as_a_tensor",
            says="The counts are right, but they come as tensors, not as whole numbers.",
            asks="What type does the arrow in the exercise's first line promise?",
            ways=[Way(edits=[
                Edit(_FOUR_LAYERS, "return torch.tensor(4 * one_layer)"),
            ])],
        ),
        Mutant(
            name="biases_always",
            says="Biases are counted even if there are none.",
            asks="Where do you use the argument `bias`?",
            ways=[Way(edits=[
                Edit(_ONE_LAYER, "one_layer = d_model * d_model + d_model"),
                Edit(_FOUR_LAYERS, "return 4 * one_layer"),
            ])],
        ),
        Mutant(
            name="bias_turned_around",
            says="Biases are counted when there are none, and not when there are some.",
            asks="What does `bias=True` mean?",
            ways=[Way(edits=[
                Edit(_ONE_LAYER,
                     "one_layer = d_model * d_model + (0 if bias else d_model)"),
                Edit(_FOUR_LAYERS, "return 4 * one_layer"),
            ])],
        ),
        Mutant(
            name="one_number_as_bias",
            says="Each bias is counted as a single number.",
            asks="Is the bias of `nn.Linear` one number, or one for each output?",
            ways=[Way(edits=[
                Edit(_ONE_LAYER, "one_layer = d_model * d_model + (1 if bias else 0)"),
                Edit(_FOUR_LAYERS, "return 4 * one_layer"),
            ])],
        ),
        Mutant(
            name="one_bias_for_all",
            says="Only one of the four biases is counted.",
            asks="How many of the four layers have a bias?",
            ways=[Way(edits=[
                Edit(_ONE_LAYER, "one_layer = d_model * d_model"),
                Edit(_FOUR_LAYERS, "return 4 * one_layer + (d_model if bias else 0)"),
            ])],
        ),
        Mutant(
            name="one_head_only",
            says="You count layers of one head's size.",
            asks="How many features does `w_q` make for all heads together?",
            ways=[Way(edits=[
                Edit(_ONE_LAYER,
                     "one_layer = d_model * (d_model // num_heads) + (d_model // num_heads if bias else 0)"),
                Edit(_FOUR_LAYERS, "return 4 * one_layer"),
            ])],
        ),
        Mutant(
            name="one_head_and_output",
            says="For queries, keys and values you count one head only.",
            asks="How many features does `w_q` make for all heads together?",
            ways=[Way(edits=[
                Edit(_ONE_LAYER,
                     "one_layer = d_model * (d_model // num_heads) + (d_model // num_heads if bias else 0)"),
                Edit(_FOUR_LAYERS,
                     "return 3 * one_layer + d_model * d_model + (d_model if bias else 0)"),
            ])],
        ),
        Mutant(
            name="biases_of_one_head",
            says="The biases are counted with the size of one head.",
            asks="How many outputs does each of the four layers have?",
            ways=[Way(edits=[
                Edit(_ONE_LAYER,
                     "one_layer = d_model * d_model + (d_model // num_heads if bias else 0)"),
                Edit(_FOUR_LAYERS, "return 4 * one_layer"),
            ])],
        ),
        Mutant(
            name="sides_added",
            says="You added the sides of the weight; its numbers are as many as rows "
            "times columns.",
            asks="How many numbers does a 3 by 3 matrix hold?",
            ways=[Way(edits=[
                Edit(_ONE_LAYER, "one_layer = 2 * d_model + (d_model if bias else 0)"),
                Edit(_FOUR_LAYERS, "return 4 * one_layer"),
            ])],
        ),
        Mutant(
            name="one_layer_only",
            says="You count one layer.",
            asks="How many layers does `__init__` make?",
            ways=[Way(edits=[
                Edit(_ONE_LAYER,
                     "one_layer = d_model * d_model + (d_model if bias else 0)"),
                Edit(_FOUR_LAYERS, "return one_layer"),
            ])],
        ),
        Mutant(
            name="heads_added",
            says="The number of heads was added; it is no parameter that is trained.",
            asks="Which of your summands belongs to no layer?",
            ways=[Way(edits=[
                Edit(_ONE_LAYER,
                     "one_layer = d_model * d_model + (d_model if bias else 0)"),
                Edit(_FOUR_LAYERS, "return 4 * one_layer + num_heads"),
            ])],
        ),
        Mutant(
            name="layers_not_tensors",
            says="You count tensors, not the numbers in them.",
            asks="What does `p.numel()` say of a parameter `p`?",
            ways=[Way(edits=[
                Edit(_ONE_LAYER, "one_layer = d_model * d_model"),
                Edit(_FOUR_LAYERS, "return 8 if bias else 4"),
            ])],
        ),
        Mutant(
            name="not_whole",
            says="The count is not a whole number but a `float`.",
            asks="Which operator or factor made it one: `/`, or a number with a point?",
            ways=[Way(edits=[
                Edit(_ONE_LAYER,
                     "one_layer = d_model * d_model + (d_model if bias else 0)"),
                Edit(_FOUR_LAYERS, "return 4.0 * one_layer"),
            ])],
        ),
    ],
    accepted=[
        Accepted(name="one_formula", edits=[
            Edit(_FOUR_LAYERS, "return 4 * d_model * (d_model + bool(bias))"),
        ]),
        Accepted(name="really_made", source="""
            def parameter_count(d_model, num_heads, bias=True):
                layers = [nn.Linear(d_model, d_model, bias=bias) for _ in range(4)]
                return sum(p.numel() for layer in layers for p in layer.parameters())
            """),
        Accepted(name="head_by_head", source="""
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
            """),
        Accepted(name="pytorchs_layer_counted", source="""
            def parameter_count(d_model, num_heads, bias=True):
                layer = nn.MultiheadAttention(d_model, num_heads, bias=bias)
                return sum(p.numel() for p in layer.parameters())
            """),
    ],
)
