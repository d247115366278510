"""The decoder stack."""

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


def _masked(shape: str, ls: int = 5) -> Maker:
    masks = {"tgt_mask": shape, "memory_mask": shape}
    return stack_inputs(2, 2, 4, 3, ls, masks=masks)


EXERCISE = Specification(
    name="encoder_decoder/decoder",
    title="The decoder stack",
    target="Decoder",
    promise=Promise(
        arguments="x: B Lt d; memory: B Ls d; tgt_mask?: Lt Lt | B Lt Lt; "
        "memory_mask?: Lt Ls | B Lt Ls",
        results="output: B Lt d",
        on=("three", "two_masks"),
        ways=OF_MODULES,
        module=True,
        named=True,
        sizes=both(
            special(
                one_layer=stack_inputs(1, 2, 3, 4, 5, norm=True),
                no_layer=stack_inputs(0, 2, 3, 4, 5, norm=True),
                one_sentence=stack_inputs(2, 1, 3, 4, 2),
                equal_sizes=stack_inputs(3, 3, 3, 3, 3, masks={"tgt_mask": "both"}),
                masks_of_one_shape=_masked("B Lq Lk", ls=4),
                a_mask_for_the_memory_only=stack_inputs(
                    2, 3, 4, 5, 6, masks={"memory_mask": "padding"}
                ),
                a_mask_for_the_target_only=stack_inputs(
                    2, 3, 5, 4, 5, masks={"tgt_mask": "causal"}
                ),
            ),
            masked(_masked, *MASKS_OF_A_STACK),
        ),
    ),
    cases=[
        CaseKind(
            name="three",
            title="three layers with a norm at the end",
            inputs=stack_inputs(3, 2, 4, 5, ls=3, norm=True, pull=True),
            hint="Each layer gets what the one before it returned, and the same "
            "memory.",
        ),
        CaseKind(
            name="two_masks",
            title="two layers and both masks",
            inputs=stack_inputs(
                2, 3, 4, 6, ls=5, masks={"tgt_mask": "causal", "memory_mask": "padding"}
            ),
            hint="Does each layer get both masks, and each in its place?",
        ),
        CaseKind(
            name="square",
            title="as many target positions as source positions",
            inputs=stack_inputs(
                3,
                2,
                4,
                3,
                ls=4,
                norm=True,
                masks={"tgt_mask": "causal", "memory_mask": "padding"},
            ),
            hint="With equal lengths, exchanged masks do not even raise an error.",
        ),
        CaseKind(
            name="padded_target",
            title="padding in both sequences",
            inputs=stack_inputs(
                4, 3, 5, 4, ls=6, masks={"tgt_mask": "both", "memory_mask": "padding"}
            ),
            hint="Does each layer get both masks?",
            hidden_only=True,
        ),
    ],
    mutants=[
        *stack_mutants("x, memory, tgt_mask, memory_mask"),
        Mutant(
            name="masks_lost",
            says="The layers get no mask at all.",
            asks="Which four arguments does a layer take?",
            ways=[Way(edits=[
                Edit("layer(x, memory, tgt_mask, memory_mask)", "layer(x, memory)"),
            ])],
        ),
        Mutant(
            name="memory_mask_lost",
            says="The mask of the memory does not reach the layers: source padding is "
            "seen.",
            asks="Which four arguments does a layer take?",
            ways=[Way(edits=[Edit("tgt_mask, memory_mask)  #", "tgt_mask)  #")])],
        ),
        Mutant(
            name="tgt_mask_lost",
            says="The target mask does not reach the layers: the future is seen.",
            asks="Which four arguments does a layer take?",
            ways=[Way(edits=[
                Edit("layer(x, memory, tgt_mask, memory_mask)",
                     "layer(x, memory, None, memory_mask)"),
            ])],
        ),
        Mutant(
            name="masks_swapped",
            says="The two masks are exchanged.",
            asks="In which order does a layer take them?",
            ways=[Way(edits=[
                Edit("layer(x, memory, tgt_mask, memory_mask)",
                     "layer(x, memory, memory_mask, tgt_mask)"),
            ])],
        ),
        Mutant(
            name="masks_first_only",
            says="Only the first layer gets the masks.",
            asks="What can the second layer see of the future?",
            ways=[Way(edits=[
                Edit("x = layer(x, memory, tgt_mask, memory_mask)",
                     "x, tgt_mask, memory_mask = layer(x, memory, tgt_mask, memory_mask), None, None"),
            ])],
        ),
        Mutant(
            name="memory_is_x",
            says="The layers look at the target itself in place of the memory.",
            asks="Which argument holds the encoder's output?",
            ways=[Way(edits=[
                Edit("layer(x, memory, tgt_mask", "layer(x, x, tgt_mask"),
            ])],
        ),
        Mutant(
            name="memory_and_x_swapped",
            says="Target and memory are exchanged: the memory goes through the layers.",
            asks="Which of the two changes from layer to layer?",
            ways=[Way(edits=[
                Edit("x = layer(x, memory, tgt_mask", "x = layer(memory, x, tgt_mask"),
            ])],
        ),
        Mutant(
            name="memory_changes",
            says="Each layer's output becomes the memory of the next one.",
            asks="Which memory does the last layer look at?",
            ways=[Way(edits=[
                Edit("x = layer(x, memory, tgt_mask, memory_mask)",
                     "x = memory = layer(x, memory, tgt_mask, memory_mask)"),
            ])],
        ),
        Mutant(
            name="memory_normed",
            says="The final norm is applied to the memory as well.",
            asks="Whose output is the final norm for?",
            ways=[Way(edits=[
                Edit(
                    "for layer in self.layers:",
                    """
                    memory = self.norm(memory)
                    for layer in self.layers:
                    """,
                ),
            ])],
        ),
    ],
    accepted=[
        Accepted(name="keywords", source="""
            class Decoder(nn.Module):
                def __init__(self, make_layer, num_layers, norm=None):
                    super().__init__()
                    self.layers = nn.ModuleList([make_layer() for _ in range(num_layers)])
                    self.norm = norm
                def forward(self, x, memory, tgt_mask=None, memory_mask=None):
                    out = x
                    for layer in self.layers:
                        out = layer(out, memory, tgt_mask=tgt_mask, memory_mask=memory_mask)
                    return out if self.norm is None else self.norm(out)
            """),
        Accepted(name="of_encoder", source="""
            class Decoder(Encoder):
                def forward(self, x, memory, tgt_mask=None, memory_mask=None):
                    for layer in self.layers:
                        x = layer(x, memory, tgt_mask, memory_mask)
                    return self.norm(x)
            """),
        Accepted(name="recursion", edits=[
            Edit(
                """
                for layer in self.layers:
                    x = layer(x, memory, tgt_mask, memory_mask)  # (B, Lt, d_model)
                return self.norm(x)
                """,
                """
                def run(n):
                    if n == 0:
                        return x
                    return self.layers[n - 1](run(n - 1), memory, tgt_mask, memory_mask)
                return self.norm(run(len(self.layers)))
                """,
            ),
        ]),
    ],
)
