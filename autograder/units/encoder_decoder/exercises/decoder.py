"""The decoder stack."""

from __future__ import annotations

from autograder.authoring.contract import OF_MODULES, Contract, both, masked, special
from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.specification import Maker, Specification
from autograder.units.encoder_decoder.exercises._inputs import (
    MASKS_OF_A_STACK,
    stack_inputs,
)
from autograder.units.encoder_decoder.exercises._layers import stack_mutants


def _masked(shape: str, ls: int = 5) -> Maker:
    masks = {"tgt_mask": shape, "memory_mask": shape}
    return stack_inputs(2, 2, 4, 3, ls, masks=masks)


CASES = [
    case("three", "three layers with a norm at the end", stack_inputs(3, 2, 4, 5, ls=3, norm=True, pull=True),
         "Each layer gets the previous layer's output, and the same memory."),
    case("two_masks", "two layers and both masks",
         stack_inputs(2, 3, 4, 6, ls=5, masks={"tgt_mask": "causal", "memory_mask": "padding"}),
         "Does each layer get both masks, each as the right argument?"),
    case("square", "as many target positions as source positions",
         stack_inputs(3, 2, 4, 3, ls=4, norm=True, masks={"tgt_mask": "causal", "memory_mask": "padding"}),
         "With equal lengths, even swapped masks raise no error."),
    case("padded_target", "padding in both sequences",
         stack_inputs(4, 3, 5, 4, ls=6, masks={"tgt_mask": "both", "memory_mask": "padding"}),
         "Does each layer get both masks?", hidden_only=True),
]

MISTAKES = [
    *stack_mutants("x, memory, tgt_mask, memory_mask"),
    wrong("masks_lost",
          "The layers get no mask at all.",
          "Which four arguments does a layer take?",
          edit("layer(x, memory, tgt_mask, memory_mask)", "layer(x, memory)")),
    wrong("memory_mask_lost",
          "The memory mask does not reach the layers, so source padding is visible.",
          "Which four arguments does a layer take?",
          edit("tgt_mask, memory_mask)  #", "tgt_mask)  #")),
    wrong("tgt_mask_lost",
          "The target mask does not reach the layers, so the future is visible.",
          "Which four arguments does a layer take?",
          edit("layer(x, memory, tgt_mask, memory_mask)", "layer(x, memory, None, memory_mask)")),
    wrong("masks_swapped",
          "The two masks are swapped.",
          "In which order does a layer take them?",
          edit("layer(x, memory, tgt_mask, memory_mask)", "layer(x, memory, memory_mask, tgt_mask)")),
    wrong("masks_first_only",
          "Only the first layer gets the masks.",
          "What can the second layer see of the future?",
          edit("x = layer(x, memory, tgt_mask, memory_mask)",
               "x, tgt_mask, memory_mask = layer(x, memory, tgt_mask, memory_mask), None, None")),
    wrong("memory_is_x",
          "The layers attend to the target itself instead of the memory.",
          "Which argument holds the encoder's output?",
          edit("layer(x, memory, tgt_mask", "layer(x, x, tgt_mask")),
    wrong("memory_and_x_swapped",
          "Target and memory are swapped: it is the memory that goes through the layers.",
          "Which of the two changes from layer to layer?",
          edit("x = layer(x, memory, tgt_mask", "x = layer(memory, x, tgt_mask")),
    wrong("memory_changes",
          "Each layer's output becomes the memory of the next layer.",
          "Which memory should the last layer look at?",
          edit("x = layer(x, memory, tgt_mask, memory_mask)", "x = memory = layer(x, memory, tgt_mask, memory_mask)")),
    wrong("memory_normed",
          "The final norm is applied to the memory as well.",
          "Whose output is the final norm for?",
          edit("for layer in self.layers:", """
              memory = self.norm(memory)
              for layer in self.layers:
              """)),
]

ACCEPTED = [
    right("keywords", source("""
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
        """)),
    right("of_encoder", source("""
        class Decoder(Encoder):
            def forward(self, x, memory, tgt_mask=None, memory_mask=None):
                for layer in self.layers:
                    x = layer(x, memory, tgt_mask, memory_mask)
                return self.norm(x)
        """)),
    right("recursion", edit("""
        for layer in self.layers:
            x = layer(x, memory, tgt_mask, memory_mask)  # (B, Lt, d_model)
        return self.norm(x)
        """, """
        def run(n):
            if n == 0:
                return x
            return self.layers[n - 1](run(n - 1), memory, tgt_mask, memory_mask)
        return self.norm(run(len(self.layers)))
        """)),
]

EXERCISE = Specification(
    name="encoder_decoder/decoder", title="The decoder stack", target="Decoder",
    contract=Contract(
        arguments="x: B Lt d; memory: B Ls d; tgt_mask?: Lt Lt | B Lt Lt; memory_mask?: Lt Ls | B Lt Ls",
        results="output: B Lt d", on=("three", "two_masks"), ways=OF_MODULES, module=True, named=True,
        sizes=both(
            special(
                one_layer=stack_inputs(1, 2, 3, 4, 5, norm=True), no_layer=stack_inputs(0, 2, 3, 4, 5, norm=True),
                one_sentence=stack_inputs(2, 1, 3, 4, 2),
                equal_sizes=stack_inputs(3, 3, 3, 3, 3, masks={"tgt_mask": "both"}),
                masks_of_one_shape=_masked("B Lq Lk", ls=4),
                a_mask_for_the_memory_only=stack_inputs(2, 3, 4, 5, 6, masks={"memory_mask": "padding"}),
                a_mask_for_the_target_only=stack_inputs(2, 3, 5, 4, 5, masks={"tgt_mask": "causal"}),
            ),
            masked(_masked, *MASKS_OF_A_STACK),
        ),
    ),
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
