"""The encoder stack."""

from __future__ import annotations

from autograder.authoring.contract import OF_MODULES, Contract, both, masked, special
from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.specification import Maker, Specification
from autograder.units.encoder_decoder.exercises._inputs import (
    MASKS_OF_A_STACK,
    stack_inputs,
)
from autograder.units.encoder_decoder.exercises._layers import stack_mutants


def _masked(shape: str) -> Maker:
    return stack_inputs(2, 3, 5, 4, masks={"mask": shape})


CASES = [
    case("three", "three layers with a norm at the end", stack_inputs(3, 2, 4, 5, norm=True, pull=True),
         "Each layer gets the previous layer's output."),
    case("two_padding", "two layers, a padding mask, no norm at the end",
         stack_inputs(2, 3, 5, 4, masks={"mask": "padding"}),
         "Does each layer get the mask?"),
    case("four_causal", "four layers and a causal mask", stack_inputs(4, 2, 5, 3, norm=True, masks={"mask": "causal"}),
         "Does each layer get the mask?"),
    case("five", "five layers", stack_inputs(5, 2, 3, 4),
         "Does the number of layers matter?", hidden_only=True),
]

MISTAKES = [
    *stack_mutants("x, mask"),
    wrong("mask_lost",
          "The layers do not get the mask.",
          "What is each layer called with?",
          edit("layer(x, mask)", "layer(x)")),
    wrong("mask_first_only",
          "Only the first layer gets the mask; later layers attend to padding.",
          "What does the second layer see of padded positions?",
          edit("x = layer(x, mask)", "x, mask = layer(x, mask), None")),
    wrong("mask_last_only",
          "Only the last layer gets the mask.",
          "What does the first layer see of padded positions?",
          edit("layer(x, mask)", "layer(x, mask if layer is self.layers[-1] else None)")),
    wrong("residual_around",
          "You add each layer's input once more; the layer has already done that.",
          "Which part already contains the residual connections?",
          edit("x = layer(x, mask)", "x = x + layer(x, mask)")),
    wrong("detached",
          "The values are right, but no gradient flows back to the input.",
          "Is there a `detach()`, `.data` or `no_grad` on the way?",
          edit("layer(x, mask)", "layer(x.detach(), mask)")),
]

ACCEPTED = [
    right("append", source("""
        class Encoder(nn.Module):
            def __init__(self, make_layer, num_layers, norm=None):
                super().__init__()
                self.norm = norm
                self.layers = nn.ModuleList()
                for _ in range(num_layers):
                    self.layers.append(make_layer())
            def forward(self, x, mask=None):
                for i in range(len(self.layers)):
                    x = self.layers[i](x, mask=mask)
                if self.norm is not None:
                    x = self.norm(x)
                return x
        """)),
    right("reduce", edit("""
        for layer in self.layers:
            x = layer(x, mask)  # (B, L, d_model)
        return self.norm(x)
        """, """
        import functools
        out = functools.reduce(lambda y, f: f(y, mask), self.layers, x)
        return self.norm(out)
        """)),
    right("list_inside", edit("nn.ModuleList(make_layer() for _ in range(num_layers))",
                              "nn.ModuleList([make_layer() for i in range(num_layers)])")),
]

EXERCISE = Specification(
    name="encoder_decoder/encoder", title="The encoder stack", target="Encoder",
    contract=Contract(
        arguments="x: B L d; mask?: L L | B L L", results="output: B L d", on=("three", "two_padding"), ways=OF_MODULES,
        module=True, named=True,
        sizes=both(
            special(
                one_layer=stack_inputs(1, 2, 3, 4, norm=True), one_sentence=stack_inputs(2, 1, 3, 4),
                no_layer=stack_inputs(0, 2, 3, 4, norm=True),
                equal_sizes=stack_inputs(3, 3, 3, 3, masks={"mask": "both"}),
                seven_layers=stack_inputs(7, 2, 3, 4, masks={"mask": "padding"}),
            ),
            masked(_masked, *MASKS_OF_A_STACK),
        ),
    ),
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
