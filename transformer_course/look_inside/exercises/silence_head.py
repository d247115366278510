"""Cases and mistakes for an exercise: silence an attention head with a hook."""

from __future__ import annotations

import torch

from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.specification import Inputs, Maker, Specification


def _draw_layer(batch: int, length: int, d_model: int, heads: int, groups: int, silent: tuple[int, int]) -> Maker:
    """Make a function that draws an attention layer and its input.

    Heads of a group share their values; ``silent`` are the two heads to silence.
    """
    def make_inputs(draw: Draw) -> Inputs:
        d_k = d_model // heads
        shapes = {"w_v.weight": (groups * d_k, d_model), "w_o.weight": (d_model, heads * d_k)}
        return draw.weights(**shapes) | {
            "heads": torch.tensor((heads, groups)),
            "silent": torch.tensor(silent),
            "x": draw.tensor(batch, length, d_model),
        }

    return make_inputs


_ZERO = "merged[..., head * d_k : (head + 1) * d_k] = 0"
_HOOK = """
def hook(module: nn.Module, arguments: tuple[Tensor]) -> tuple[Tensor]:
    merged = arguments[0].clone()  # (B, L, h * d_k)
    merged[..., head * d_k : (head + 1) * d_k] = 0
    return (merged,)
"""
_RETURN = "return layer.w_o.register_forward_pre_hook(hook)"

CASES = [
    case("plain", "4 heads; head 1, then heads 1 and 3", _draw_layer(2, 5, 12, 4, 4, (1, 3)),
         "Which columns of the merged vector did head 1 write?"),
    case("grouped", "6 heads that share 2 of keys and values; heads 4 and 0", _draw_layer(3, 4, 18, 6, 2, (4, 0)),
         "Do heads that share values also share their place in the merged vector?"),
    case("last", "3 heads; the last, then the first", _draw_layer(2, 6, 15, 3, 1, (2, 0)),
         "Where does the last head's block begin and end?"),
    case("many", "8 heads in 4 groups", _draw_layer(1, 7, 16, 8, 4, (5, 6)), "As above.", hidden_only=True),
]

MISTAKES = [
    wrong("interleaved", "You zeroed every h-th component. The heads are concatenated one after the other.",
          "In which order does `merge_heads` write the components of two heads?",
          edit("head * d_k : (head + 1) * d_k", "head :: layer.num_heads")),
    wrong("wrong_width", "The block that you zeroed has the wrong width: a head has `d_k` components.",
          "How many components does `w_o` read, and how many heads wrote them?",
          edit("d_k = layer.w_o.in_features // layer.num_heads", "d_k = layer.num_heads"),
          edit("d_k = layer.w_o.in_features // layer.num_heads", "d_k = layer.w_v.out_features // layer.num_heads",
               name="width_of_values"),
          edit("d_k = layer.w_o.in_features // layer.num_heads", "d_k = layer.w_o.in_features // layer.num_kv_heads",
               name="width_of_a_group")),
    wrong("one_off", "You silenced the head before or after the one that was asked for.",
          "Where does the block of head 0 begin?",
          edit(_ZERO, "merged[..., (head - 1) * d_k : head * d_k] = 0"),
          edit(_ZERO, "merged[..., (head + 1) * d_k : (head + 2) * d_k] = 0", name="head_after")),
    wrong("after_w_o",
          "You zeroed components of the layer's *output*. Behind `w_o`, every head has written into every component.",
          "On which side of `w_o` do the heads still have places of their own?",
          edit(_HOOK, """
              def hook(module, arguments, output):
                  output = output.clone()
                  output[..., head * d_k : (head + 1) * d_k] = 0
                  return output
              """, _RETURN, "return layer.w_o.register_forward_hook(hook)")),
    wrong("before_the_layer",
          "Your hook is on the layer, not on `w_o`, so it zeroes components of what the *layer* reads.",
          "Which module reads the merged heads?",
          edit(_RETURN, "return layer.register_forward_pre_hook(hook)")),
    wrong("values_of_the_group", "You zeroed values behind `w_v`, which silences every head that shares them.",
          "How many heads read the values of one group?",
          edit(_HOOK, """
              def hook(module, arguments, output):
                  group = head * layer.num_kv_heads // layer.num_heads
                  output = output.clone()
                  output[..., group * d_k : (group + 1) * d_k] = 0
                  return output
              """, _RETURN, "return layer.w_v.register_forward_hook(hook)")),
    wrong("all_others", "You silenced all heads but the one that was asked for.",
          "Is the block that you zero the head's own?",
          edit("arguments[0].clone()", "torch.zeros_like(arguments[0])", _ZERO,
               "merged[..., head * d_k : (head + 1) * d_k] = arguments[0][..., head * d_k : (head + 1) * d_k]")),
    wrong("in_place", "Your hook changes the tensor that the layer passed to `w_o`, which others may hold as well.",
          "Does a slice of a tensor share its memory?",
          edit("arguments[0].clone()", "arguments[0]"), tests="copy"),
    wrong("weights_changed", "You changed the layer's weights: the head stays silent after `remove()`.",
          "What does removing a hook bring back, and what not?",
          edit(_HOOK, """
              layer.w_o.weight.data[:, head * d_k : (head + 1) * d_k] = 0
              def hook(module, arguments):
                  return None
              """), tests="restores"),
    wrong("not_returned",
          "No head is silent: your hook returns nothing, so that `w_o` reads the original heads, or is removed before "
          "it runs.",
          "What does a pre-hook have to return if the input is to change, and who decides when it is removed?",
          edit("return (merged,)", "return None"),
          edit(_RETURN, "handle = layer.w_o.register_forward_pre_hook(hook)\nhandle.remove()\nreturn handle",
               name="removed_at_once")),
    wrong("no_handle", "You do not return the handle, so nobody can remove the hook.",
          "What does `register_forward_pre_hook` return?",
          edit(_RETURN, "layer.w_o.register_forward_pre_hook(hook)"),
          edit(_RETURN, "layer.w_o.register_forward_pre_hook(hook)\nreturn layer", name="layer_returned")),
    wrong("last_position_only", "The head is silent at one position only.",
          "Which dimensions does `...` stand for?",
          edit("merged[...,", "merged[:, -1,")),
    wrong("a_single_head", "The second head that is silenced makes the first one speak again.",
          "Does a new call remove or replace hooks of earlier ones?",
          edit(_RETURN, f"layer.w_o._forward_pre_hooks.clear()\n{_RETURN}"), tests="several"),
    wrong("mean_instead", "You replaced the head's vectors by their mean over positions. The task asks for zeros.",
          "What does the docstring say that the head writes?",
          edit(_ZERO, """
              part = merged[..., head * d_k : (head + 1) * d_k]
              merged[..., head * d_k : (head + 1) * d_k] = part.mean(dim=1, keepdim=True)
              """)),
]

ACCEPTED = [
    right("mask", source("""
        def silence_head(layer, head):
            speaks = torch.ones(layer.num_heads, 1)
            speaks[head] = 0
            def hook(module, arguments):
                heads = arguments[0].unflatten(-1, (layer.num_heads, -1))
                return (heads * speaks).flatten(-2)
            return layer.w_o.register_forward_pre_hook(hook)
        """)),
    right("subtract", source("""
        def silence_head(layer, head):
            d_k = layer.w_o.in_features // layer.num_heads
            columns = slice(head * d_k, (head + 1) * d_k)
            def hook(module, arguments, output):
                return output - arguments[0][..., columns] @ module.weight[:, columns].T
            return layer.w_o.register_forward_hook(hook)
        """)),
    right("parts", edit(_HOOK, """
        def hook(module, arguments):
            parts = list(arguments[0].split(d_k, dim=-1))
            parts[head] = torch.zeros_like(parts[head])
            return torch.cat(parts, dim=-1)
        """)),
]

EXERCISE = Specification(cases=CASES, mutants=MISTAKES, accepted=ACCEPTED)
