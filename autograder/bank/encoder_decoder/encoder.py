"""The encoder stack."""

from __future__ import annotations

from autograder.bank.encoder_decoder._inputs import (
    MASKS_OF_A_STACK,
    stack_inputs,
)
from autograder.bank.encoder_decoder._stacks import stack_mutants
from autograder.oracle.promise import OF_MODULES, Promise, both, masked, special
from autograder.oracle.specification import (
    Accepted,
    CaseKind,
    Edit,
    Maker,
    Mutant,
    Specification,
    Way,
)


def _masked(shape: str) -> Maker:
    return stack_inputs(2, 3, 5, 4, masks={"mask": shape})


EXERCISE = Specification(
    name="encoder_decoder/encoder",
    title="The encoder stack",
    target="Encoder",
    promise=Promise(
        arguments="x: B L d; mask?: L L | B L L",
        results="output: B L d",
        on=("three", "two_padding"),
        ways=OF_MODULES,
        module=True,
        named=True,
        sizes=both(
            special(
                one_layer=stack_inputs(1, 2, 3, 4, norm=True),
                one_sentence=stack_inputs(2, 1, 3, 4),
                no_layer=stack_inputs(0, 2, 3, 4, norm=True),
                equal_sizes=stack_inputs(3, 3, 3, 3, masks={"mask": "both"}),
                seven_layers=stack_inputs(7, 2, 3, 4, masks={"mask": "padding"}),
            ),
            masked(_masked, *MASKS_OF_A_STACK),
        ),
    ),
    cases=[
        CaseKind(
            name="three",
            title="three layers with a norm at the end",
            inputs=stack_inputs(3, 2, 4, 5, norm=True, pull=True),
            hint="Each layer gets what the one before it returned.",
        ),
        CaseKind(
            name="two_padding",
            title="two layers, a padding mask, no norm at the end",
            inputs=stack_inputs(2, 3, 5, 4, masks={"mask": "padding"}),
            hint="Does each layer get the mask?",
        ),
        CaseKind(
            name="four_causal",
            title="four layers and a causal mask",
            inputs=stack_inputs(4, 2, 5, 3, norm=True, masks={"mask": "causal"}),
            hint="Does each layer get the mask?",
        ),
        CaseKind(
            name="five",
            title="five layers",
            inputs=stack_inputs(5, 2, 3, 4),
            hint="Does the number of layers matter?",
            hidden_only=True,
        ),
    ],
    mutants=[
        *stack_mutants("x, mask"),
        Mutant(
            name="mask_lost",
            says="The layers do not get the mask.",
            asks="What is each layer called with?",
            ways=[Way(edits=[Edit("layer(x, mask)", "layer(x)")])],
        ),
        Mutant(
            name="mask_first_only",
            says="Only the first layer gets the mask; later ones let the padding in.",
            asks="What does the second layer see of padded positions?",
            ways=[Way(edits=[
                Edit("x = layer(x, mask)", "x, mask = layer(x, mask), None"),
            ])],
        ),
        Mutant(
            name="mask_last_only",
            says="Only the last layer gets the mask.",
            asks="What does the first layer see of padded positions?",
            ways=[Way(edits=[
                Edit("layer(x, mask)",
                     "layer(x, mask if layer is self.layers[-1] else None)"),
            ])],
        ),
        Mutant(
            name="residual_around",
            says="You add the input of each layer once more; the layer has done that "
            "itself.",
            asks="Where are the residual connections?",
            ways=[Way(edits=[Edit("x = layer(x, mask)", "x = x + layer(x, mask)")])],
        ),
        Mutant(
            name="detached",
            says="The values are right, but no gradient flows back to the input.",
            asks="Is there a `detach()`, `.data` or `no_grad` on the way?",
            ways=[Way(edits=[Edit("layer(x, mask)", "layer(x.detach(), mask)")])],
        ),
    ],
    accepted=[
        Accepted(name="append", source="""
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
            """),
        Accepted(name="reduce", edits=[
            Edit(
                """
                for layer in self.layers:
                    x = layer(x, mask)  # (B, L, d_model)
                return self.norm(x)
                """,
                """
                import functools
                out = functools.reduce(lambda y, f: f(y, mask), self.layers, x)
                return self.norm(out)
                """,
            ),
        ]),
        Accepted(name="list_inside", edits=[
            Edit("nn.ModuleList(make_layer() for _ in range(num_layers))",
                 "nn.ModuleList([make_layer() for i in range(num_layers)])"),
        ]),
    ],
)
