"""Cases and mistakes for an exercise: convert a layer to PyTorch's attention."""

from __future__ import annotations

import torch

from autograder.authoring.common import common
from autograder.authoring.contract import Contract, special_sizes
from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.specification import Inputs, Maker, Specification


def _draw_layer(batch: int, h: int, d_k: int, lq: int, lk: int) -> Maker:
    """Make a function that draws the weights of a layer, and sequences of queries, keys and values."""
    d_model = h * d_k
    shapes = {
        f"{name}.{kind}": (d_model, d_model) if kind == "weight" else (d_model,)
        for name in ("w_q", "w_k", "w_v", "w_o")
        for kind in ("weight", "bias")
    }

    def make_inputs(draw: Draw) -> Inputs:
        return {
            **draw.weights(**shapes),
            "query": draw.tensor(batch, lq, d_model, scale=1.0),
            "key": draw.tensor(batch, lk, d_model, scale=1.0),
            "value": draw.tensor(batch, lk, d_model, scale=1.0),
            "num_heads": torch.tensor(h),
        }

    return make_inputs


_DEF = "def to_pytorch("
_MADE = "theirs = nn.MultiheadAttention(d_model, mine.num_heads, batch_first=True)"
_ORDER = "(mine.w_q, mine.w_k, mine.w_v)"
_WEIGHTS = "torch.cat([layer.weight for layer in layers])"
_BIASES = "torch.cat([layer.bias for layer in layers])"
_COPY_WEIGHTS = f"theirs.in_proj_weight.copy_({_WEIGHTS})"
_COPY_BIASES = f"theirs.in_proj_bias.copy_({_BIASES})"
_COPY_OUT = "theirs.out_proj.load_state_dict(mine.w_o.state_dict())"
_COPY_OUT_BIAS = "theirs.out_proj.bias.copy_(mine.w_o.bias)"

CASES = [
    case("plain", "three heads", _draw_layer(2, 3, 4, lq=5, lk=7),
         "Compare `in_proj_weight` with your three weights, row by row.", tests="attribute"),
    case("others", "different sizes", _draw_layer(3, 4, 2, lq=6, lk=5),
         "Compare `in_proj_weight` with your three weights, row by row."),
    case("single", "a single head", _draw_layer(2, 1, 6, lq=4, lk=3),
         "PyTorch's layer has as many heads as yours, even if that is just one."),
    case("odd", "an odd number of features", _draw_layer(2, 3, 3, lq=4, lk=5),
         "Does PyTorch's layer have as many heads as yours?", hidden_only=True),
    case("many", "more heads than features in a head", _draw_layer(4, 5, 2, lq=3, lk=6),
         "Does PyTorch's layer have as many heads as yours?", hidden_only=True),
]
_WHICH_COPIED = (
    "Which parameters does `theirs.named_parameters()` list, and which of them do you copy?"
)

MISTAKES = [
    wrong("yours_changed", "Your own layer has changed after the call: it can no longer learn, or it is in eval mode.",
          "Which of your lines calls `eval` or switches gradients off, and on which of the two layers?",
          edit(_ORDER, f"[layer.requires_grad_(False) for layer in {_ORDER}]"),
          edit("return theirs", "mine.eval()\nreturn theirs", name="mode_of_yours_changed"), tests="modified"),
    wrong("depends_on_yours",
          "The parameters of the new layer are results computed from yours: no optimizer accepts them, and their "
          "gradients reach your layer.",
          "Under which statement does PyTorch copy numbers without recording gradients?",
          edit("with torch.no_grad():", "theirs.requires_grad_(False)\nif True:"), tests="trainable"),
    wrong("no_bias_of_the_keys",
          "The bias of the keys is left out. (No attention weight shows it, since it adds the same amount to all "
          "scores of a query.)",
          "Does the exercise ask for a copy, or for a layer that computes the same?",
          edit("[layer.bias for layer in layers]", "[mine.w_q.bias, 0 * mine.w_k.bias, mine.w_v.bias]")),
    wrong("another_order", "The rows of `in_proj_weight` are not in the order q, k, v.",
          "In which order does PyTorch expect queries, keys and values?",
          edit(_ORDER, "(mine.w_k, mine.w_q, mine.w_v)"),
          edit(_ORDER, "(mine.w_v, mine.w_k, mine.w_q)", name="order_vkq"),
          edit(_ORDER, "(mine.w_q, mine.w_v, mine.w_k)", name="order_qvk"),
          edit(_ORDER, "(mine.w_k, mine.w_v, mine.w_q)", name="order_kvq"),
          edit(_ORDER, "(mine.w_v, mine.w_q, mine.w_k)", name="order_vqk")),
    wrong("transposed", "Weights were transposed during the conversion.",
          "Do `nn.Linear`, `in_proj_weight` and `out_proj` store outputs and inputs in the same order?",
          edit("layer.weight for", "layer.weight.T for"),
          edit(_COPY_OUT, f"theirs.out_proj.weight.copy_(mine.w_o.weight.T); {_COPY_OUT_BIAS}",
               name="output_transposed")),
    wrong("rows_interleaved", "The rows of q, k and v are interleaved, but they should follow block by block.",
          "Which rows of `in_proj_weight` belong to the keys?",
          edit(_WEIGHTS, "torch.stack([layer.weight for layer in layers], 1).flatten(0, 1)")),
    wrong("queries_three_times", "Keys and values have the weights of the queries.",
          "Which three layers belong in `in_proj_weight`?",
          edit(_ORDER, "(mine.w_q,) * 3")),
    wrong("input_biases_forgotten", "`in_proj_bias` is not copied: it still has its initial values.",
          _WHICH_COPIED,
          edit(_COPY_BIASES, "pass")),
    wrong("output_forgotten", "`out_proj` is not copied, or only its weight is: the rest still has its initial values.",
          _WHICH_COPIED,
          edit(_COPY_OUT, "pass"),
          edit(_COPY_OUT, "theirs.out_proj.weight.copy_(mine.w_o.weight)", name="output_bias_forgotten")),
    wrong("all_biases_forgotten",
          "The biases are not copied: `in_proj_bias` and `out_proj.bias` still have their initial values.",
          _WHICH_COPIED,
          edit(_COPY_BIASES, "pass", _COPY_OUT, "theirs.out_proj.weight.copy_(mine.w_o.weight)")),
    wrong("inputs_forgotten", "`in_proj_weight` is not copied: it still has its initial values.",
          _WHICH_COPIED,
          edit(_COPY_WEIGHTS, "pass")),
    wrong("nothing_copied", "The new layer still has its random initial weights: nothing was copied.",
          "Do your assignments change the new layer, or only your variables?",
          edit(_COPY_WEIGHTS, "pass", _COPY_BIASES, "pass", _COPY_OUT, "pass")),
    wrong("positions_first", "The new layer expects positions before the batch, which is PyTorch's default.",
          "Which argument puts the batch first?",
          edit(", batch_first=True", "")),
    wrong("another_number_of_heads", "The new layer does not have as many heads as yours.",
          "Which attribute tells you how many heads your layer has, and which argument takes it?",
          edit("d_model, mine.num_heads", "d_model, 1"),
          edit("d_model, mine.num_heads", "d_model, d_model // mine.num_heads", name="size_of_head_for_heads"),
          edit("d_model, mine.num_heads", "d_model, mine.num_heads if d_model % 4 else d_model // 4",
               name="heads_guessed")),
    wrong("remembered", "If a layer was copied before, you return its old weights, even if they have changed since.",
          "What can happen to your layer between two calls?",
          edit(_DEF, f"import functools\n\n\n@functools.cache\n{_DEF}")),
    wrong("one_copy_for_all",
          "All layers of the same size share one copy, so a later call overwrites what an earlier one returned.",
          "When is the new layer created: in each call, or once per size?",
          edit(_DEF, f"copies = {{}}\n\n\n{_DEF}", _MADE, """
              size = d_model, mine.num_heads
              if size not in copies:
                  copies[size] = nn.MultiheadAttention(*size, batch_first=True)
              theirs = copies[size]
              """)),
    wrong("output_tied", "`out_proj` shares memory with your `w_o`, so training one layer changes the other.",
          "Does `=` copy a tensor, or give it a second name?",
          edit(_COPY_OUT, "theirs.out_proj = mine.w_o"),
          edit(_COPY_OUT, f"theirs.out_proj.weight.data = mine.w_o.weight.data; {_COPY_OUT_BIAS}",
               name="output_weight_tied"),
          tests="training"),
    wrong("wrong_direction", "You copied in the wrong direction: *your* layer has changed.",
          "In `a.copy_(b)`, which of the two is written to?",
          edit(_COPY_WEIGHTS,
               "[layer.weight.copy_(part) for layer, part in zip(layers, theirs.in_proj_weight.chunk(3))]",
               _COPY_BIASES, "[layer.bias.copy_(part) for layer, part in zip(layers, theirs.in_proj_bias.chunk(3))]",
               _COPY_OUT, "mine.w_o.load_state_dict(theirs.out_proj.state_dict())")),
    wrong("gradients_recorded", "PyTorch refuses to write into a parameter while it records gradients.",
          "How do you tell PyTorch not to record gradients while you copy?",
          edit("with torch.no_grad():", "if True:")),
    wrong("a_state_dict", "You return the weights instead of the layer itself.",
          "What return type does the signature promise?",
          edit("return theirs", "return theirs.state_dict()")),
    common("nothing_returned", edit("return theirs", "pass")),
    wrong("frozen", "PyTorch's layer cannot be trained: its weights do not require a gradient.",
          "What do `requires_grad_(False)` and `detach` do to a parameter?",
          edit("return theirs", "return theirs.requires_grad_(False)")),
    wrong("dropout_kept", "PyTorch's layer has the dropout of yours, but it should have none.",
          "Which dropout does the exercise ask for?",
          edit("batch_first=True",
               "batch_first=True, dropout=sum(m.p for m in mine.modules() if isinstance(m, nn.Dropout))"),
          tests="parameters"),
]

ACCEPTED = [
    right("load_state_dict", source("""
        def to_pytorch(mine):
            theirs = nn.MultiheadAttention(
                mine.w_o.in_features, num_heads=mine.num_heads, batch_first=True)
            theirs.load_state_dict({
                "in_proj_weight": torch.cat((mine.w_q.weight, mine.w_k.weight, mine.w_v.weight)),
                "in_proj_bias": torch.cat((mine.w_q.bias, mine.w_k.bias, mine.w_v.bias)),
                "out_proj.weight": mine.w_o.weight,
                "out_proj.bias": mine.w_o.bias,
            })
            return theirs
        """)),
    right("data_and_clone", source("""
        def to_pytorch(mine):
            theirs = nn.MultiheadAttention(len(mine.w_o.bias), mine.num_heads, batch_first=True)
            qkv = [mine.w_q, mine.w_k, mine.w_v]
            theirs.in_proj_weight.data = torch.vstack([l.weight.data for l in qkv])
            theirs.in_proj_bias.data = torch.hstack([l.bias.data for l in qkv])
            theirs.out_proj.weight.data = mine.w_o.weight.data.clone()
            theirs.out_proj.bias.data = mine.w_o.bias.data.clone()
            return theirs
        """)),
    right("new_parameters", source("""
        import copy

        def to_pytorch(mine):
            d = mine.w_q.in_features
            theirs = nn.MultiheadAttention(d, mine.num_heads, batch_first=True).eval()
            layers = mine.w_q, mine.w_k, mine.w_v
            theirs.in_proj_weight = nn.Parameter(torch.cat([l.weight for l in layers]).detach())
            theirs.in_proj_bias = nn.Parameter(torch.cat([l.bias for l in layers]).detach())
            theirs.out_proj.weight = nn.Parameter(mine.w_o.weight.detach().clone())
            theirs.out_proj.bias = copy.deepcopy(mine.w_o.bias)
            return theirs
        """)),
]

EXERCISE = Specification(
    # That the copies are not tied is half of it.
    parts="weights, in_proj_bias",
    contract=Contract(
        ways=(),
        sizes=special_sizes(
            heads_of_one_feature=_draw_layer(2, 4, 1, lq=5, lk=3), a_single_feature=_draw_layer(2, 1, 1, lq=4, lk=3),
            many_heads_and_features=_draw_layer(1, 8, 4, lq=3, lk=2),
            a_head_of_many_features=_draw_layer(1, 1, 16, lq=2, lk=3),
        ),
    ),
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
