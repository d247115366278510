"""Cases and mistakes for an exercise: a stack of encoder layers or decoder layers."""

from __future__ import annotations

import torch

from autograder.authoring.contract import OF_MODULES, Contract, special_sizes
from autograder.authoring.draw import Draw
from autograder.authoring.inputs import causal_mask, open_mask, sizes_of
from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.specification import Inputs, Maker, Specification
from transformer_course.encoder_decoder.exercises._inputs import draw_padding_mask


def _draw_stack(
    depth: int, batch: int, length: int, size: int, memory: int = 0, *, norm: bool = False, **masks: str
) -> Maker:
    """Make a function that draws the inputs and weights of a stack of stand-in layers.

    ``memory`` is the memory's length for decoder layers, and 0 for encoder layers.
    ``masks`` are the kinds of masks by name, as in `_draw_mask`.
    """

    def make_inputs(draw: Draw) -> Inputs:
        inputs: Inputs = {"x": draw.tensor(batch, length, size, scale=1.0)}
        inputs |= {"memory": draw.tensor(batch, memory, size, scale=1.0)} if memory else {}
        shapes: dict[str, tuple[int, ...]] = {f"layers.{i}.matrix": (size, size) for i in range(depth)}
        inputs |= draw.weights(**shapes | ({"norm.weight": (size,), "norm.bias": (size,)} if norm else {}))
        for name, kind in masks.items():
            inputs[name] = _draw_mask(draw, kind, batch, length, memory if name == "memory_mask" else length)
        return inputs | {"pull": draw.tensor(batch, length, size)}

    return make_inputs


def _draw_mask(draw: Draw, kind: str, batch: int, lq: int, lk: int) -> torch.Tensor:
    """Draw a mask for ``lq`` queries and ``lk`` keys.

    Its kind is "causal", "padding", "both", or a random mask's shape: ``"B 1 Lk"``.
    """
    if kind.endswith("Lk"):
        return open_mask(draw, *sizes_of(kind, B=batch, Lq=lq, Lk=lk))
    if kind == "causal":
        return causal_mask(lq)
    padding = draw_padding_mask(draw, batch, lk)[:, None]
    return padding if kind == "padding" else padding & causal_mask(lq)


def _draw_masked(shape: str, memory: int = 5) -> Maker:
    """Make a function that draws two decoder layers whose masks both have this shape."""
    return _draw_stack(2, 2, 4, 3, memory, tgt_mask=shape, memory_mask=shape)


_MADE = "nn.ModuleList(make_layer() for _ in range(num_layers))"
_CALL = "layer(x, *context)"
_NORM = "nn.Identity() if norm is None else norm"
_UNMASKED = "[c for c in context if c is not None and c.is_floating_point()]"
_LOOP = "for layer in self.layers:"
_END = "return self.norm(x)"

CASES = [
    case("three", "three encoder layers with a norm at the end", _draw_stack(3, 2, 4, 5, norm=True),
         "Each layer gets the previous layer's output."),
    case("two_padding", "two encoder layers, a padding mask, no norm at the end", _draw_stack(2, 3, 5, 4, mask="padding"),
         "Does each layer get the mask?"),
    case("decoder", "three decoder layers with both masks and a norm",
         _draw_stack(3, 2, 4, 5, 3, norm=True, tgt_mask="causal", memory_mask="padding"),
         "Each layer gets the previous layer's output, and the same memory and masks."),
    case("square", "decoder layers, as many target positions as source positions",
         _draw_stack(2, 3, 4, 6, 4, tgt_mask="causal", memory_mask="padding"),
         "With equal lengths, even swapped masks raise no error."),
    case("four_causal", "four encoder layers and a causal mask", _draw_stack(4, 2, 5, 3, norm=True, mask="causal"),
         "Does each layer get the mask?", hidden_only=True),
    case("five", "five decoder layers, padding in both sequences",
         _draw_stack(5, 3, 5, 4, 6, tgt_mask="both", memory_mask="padding"),
         "Does the number of layers matter?", hidden_only=True),
]

MISTAKES = [
    wrong("plain_list",
          "PyTorch does not see the layers of your stack (are they in a plain list or tuple?), so it has no "
          "parameters to train, save or move.",
          "Which kind of list does `nn.Module` look into?",
          edit(_MADE, "[make_layer() for _ in range(num_layers)]"), tests="Submodules"),
    wrong("same_layer", "All entries of `layers` are the same layer, so the stack has the parameters of just one.",
          "In `[layer] * n`, how many layers are created?",
          edit(_MADE, "nn.ModuleList([make_layer()] * num_layers)"), tests="`num_layers`"),
    wrong("copied", "You made one layer and copied it, so all layers start with the same weights.",
          "How often should `make_layer` be called?",
          edit(_MADE, "nn.ModuleList(copy.deepcopy(layer) for layer in [make_layer()] * num_layers)",
               "super().__init__()", """
                  super().__init__()
                  import copy
                  """)),
    wrong("wrong_number", "The number of layers is off by one.",
          "How many layers does your code create for `num_layers = 2`?",
          edit("range(num_layers)", "range(num_layers - 1)"),
          edit("range(num_layers)", "range(num_layers + 1)", name="one_too_many")),
    wrong("norm_replaced",
          "Your stack does not end with the very norm that was given, but with another one, or with a copy.",
          "If the caller trains its norm further, does the norm in your stack change as well?",
          edit(_NORM, "nn.Identity() if norm is None else nn.LayerNorm(norm.normalized_shape)"),
          edit(_NORM, f"__import__('copy').deepcopy({_NORM})", name="norm_copied")),
    wrong("norm_unnamed", "The final norm is not registered under the name `norm`.",
          "Which names does the docstring give?",
          edit(f"self.norm = {_NORM}", f"self.final = {_NORM}", "self.norm(x)", "self.final(x)")),
    wrong("last_skipped", "The last layer is created but never used.",
          "Which layers does your loop visit?",
          edit("in self.layers:", "in self.layers[:-1]:")),
    wrong("reversed", "The layers are applied in reverse order.",
          "Which layer should get the input?",
          edit("in self.layers:", "in reversed(self.layers):")),
    wrong("first_only", "Only the first layer is used, again and again.",
          "Which layer does your loop call the second time round?",
          edit(_CALL, "self.layers[0](x, *context)")),
    wrong("no_chain", "Every layer gets the original input, so only the last layer matters.",
          "What is the input of layer 2?",
          edit(_LOOP, """
              start = x
              for layer in self.layers:
              """,
               _CALL, "layer(start, *context)")),
    wrong("residual_around", "You add each layer's input once more; the layer has already done that.",
          "Which part already contains the residual connections?",
          edit(f"x = {_CALL}", f"x = x + {_CALL}")),
    wrong("no_final_norm", "The final norm is never applied.",
          "What does your `forward` do with `norm`?",
          edit(_END, "return x")),
    wrong("norm_elsewhere",
          "The final norm is not applied once at the end, but before the first layer or after every layer.",
          "Is the norm before the loop, inside it, or after it?",
          edit("  # (B", "; x = self.norm(x)  # (B", _END, "return x"),
          edit(_LOOP, """
              x = self.norm(x)
              for layer in self.layers:
              """,
               _END, "return x", name="norm_at_start")),
    wrong("own_final_norm", "Your stack applies a final norm although none was given.",
          "What should the stack do if `norm` is None?",
          edit(_END, "return F.layer_norm(x, x.shape[-1:]) if isinstance(self.norm, nn.Identity) else self.norm(x)")),
    wrong("returns_all", "Your stack returns a list; a single tensor is asked for.",
          "What does `forward` promise to return?",
          edit(_END, "return [x, self.norm(x)]")),
    wrong("returns_early", "The `return` is inside the loop, so the stack stops after its first layer.",
          "How far is your `return` indented?",
          edit(f"        {_END}", f"            {_END}"),
          edit(f"        {_END}", "            return x", name="returns_early_without_norm")),
    wrong("detached", "No gradient flows back to the input.",
          "Is there a `detach()`, `.data` or `no_grad` on the way?",
          edit(_CALL, "layer(x.detach(), *context)")),
    wrong("by_forward", "You call each layer's `forward` directly: the values are right, but the hooks do not run.",
          "What does `layer(...)` do, besides calling `forward`?",
          edit(_CALL, "layer.forward(x, *context)"), tests="`layer.forward(...)`"),
    wrong("mask_lost", "At least one layer gets no mask, so it attends to padding or to the future.",
          "What is each layer called with, the first as well as the last?",
          edit(_CALL, f"layer(x, *{_UNMASKED})"),
          edit(f"x = {_CALL}", f"x, context = {_CALL}, {_UNMASKED}", name="context_first_only"),
          edit(_CALL, f"layer(x, *(context if layer is self.layers[-1] else {_UNMASKED}))", name="context_last_only")),
    wrong("two_at_most", "Your stack passes on two arguments at most, so decoder layers get no memory mask.",
          "How many arguments does a decoder layer take besides `x`?",
          edit(_CALL, "layer(x, *context[:2])")),
    wrong("masks_swapped", "The two masks of the decoder layers are swapped.",
          "In which order does a layer take its arguments, and in which order are they in `context`?",
          edit(_CALL, "layer(x, *context[:1], *context[:0:-1])")),
    wrong("memory_is_x", "Decoder layers attend to the target itself instead of the memory.",
          "Which element of `context` holds the encoder's output?",
          edit(_CALL, "layer(x, *((x, *context[1:]) if len(context) > 1 else context))")),
    wrong("memory_and_x_swapped", "Target and memory are swapped: it is the memory that goes through the layers.",
          "Which of the two changes from layer to layer?",
          edit(f"x = {_CALL}", "x = layer(context[0], x, *context[1:]) if len(context) > 1 else layer(x, *context)")),
    wrong("memory_changes", "Each decoder layer's output becomes the memory of the next layer.",
          "Which memory should the last layer look at?",
          edit(f"x = {_CALL}", """
              x = layer(x, *context)
              context = (x, *context[1:]) if len(context) > 1 else context
              #
              """)),
]

ACCEPTED = [
    right("append", source("""
        class Stack(nn.Module):
            def __init__(self, make_layer, num_layers, norm=None):
                super().__init__()
                self.norm = norm
                self.layers = nn.ModuleList()
                for _ in range(num_layers):
                    self.layers.append(make_layer())
            def forward(self, x, *args):
                for i in range(len(self.layers)):
                    x = self.layers[i](x, *args)
                if self.norm is not None:
                    x = self.norm(x)
                return x
        """)),
    right("reduce", edit("""
        for layer in self.layers:
            x = layer(x, *context)  # (B, L, d_model)
        return self.norm(x)
        """, """
        import functools
        out = functools.reduce(lambda y, f: f(y, *context), self.layers, x)
        return self.norm(out)
        """)),
    right("recursion", edit("""
        for layer in self.layers:
            x = layer(x, *context)  # (B, L, d_model)
        return self.norm(x)
        """, """
        def run(n):
            return x if n == 0 else self.layers[n - 1](run(n - 1), *context)
        return self.norm(run(len(self.layers)))
        """)),
]

_SHAPES = ("1 Lk", "Lq Lk", "1 1 Lk", "1 Lq Lk", "B 1 Lk", "B Lq Lk")

EXERCISE = Specification(
    target="Stack",
    contract=Contract(
        arguments="x: B Lt d; memory: B Ls d; tgt_mask?: Lt Lt | B Lt Lt; memory_mask?: Lt Ls | B Lt Ls",
        results="output: B Lt d", on=("decoder", "square"), ways=OF_MODULES, module=True, named=True,
        sizes=special_sizes(
            one_layer=_draw_stack(1, 2, 3, 4, 5, norm=True), no_layer=_draw_stack(0, 2, 3, 4, 5, norm=True),
            one_sentence=_draw_stack(2, 1, 3, 4, 2), equal_sizes=_draw_stack(3, 3, 3, 3, 3, tgt_mask="both"),
            masks_of_one_shape=_draw_masked("B Lq Lk", 4),
            a_mask_for_the_memory_only=_draw_stack(2, 3, 4, 5, 6, memory_mask="padding"),
            a_mask_for_the_target_only=_draw_stack(2, 3, 5, 4, 5, tgt_mask="causal"),
            seven_encoder_layers=_draw_stack(7, 2, 3, 4, mask="padding"),
            an_encoder_without_a_layer=_draw_stack(0, 2, 3, 4, norm=True),
            **{f"masks ({shape.replace(' ', ', ')})": _draw_masked(shape) for shape in _SHAPES},
        ),
    ),
    ready_made=("nn.TransformerEncoder", "nn.TransformerDecoder"),
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
