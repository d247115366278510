"""From PyTorch."""

from __future__ import annotations

import torch

from autograder.authoring.common import common
from autograder.authoring.contract import Contract, special
from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.specification import Inputs, Maker, Specification


def _from_pytorch(d_model: int, h: int) -> Maker:
    def inputs(draw: Draw) -> Inputs:
        return {
            "in_proj_weight": draw.tensor(3 * d_model, d_model),
            "in_proj_bias": draw.tensor(3 * d_model),
            "out_proj.weight": draw.tensor(d_model, d_model),
            "out_proj.bias": draw.tensor(d_model),
            "num_heads": torch.tensor(h),
        }

    return inputs


_CHUNK_W = "weights = theirs.in_proj_weight.chunk(3)"
_CHUNK_B = "biases = theirs.in_proj_bias.chunk(3)"
_STATE = 'state |= {f"w_{name}.weight": weight, f"w_{name}.bias": bias}'
_OUT_WEIGHT = '"w_o.weight": theirs.out_proj.weight,'
_OUT_BIAS = '"w_o.bias": theirs.out_proj.bias,'

CASES = [
    case("plain", "12 features, three heads", _from_pytorch(12, 3),
         "Which rows of `in_proj_weight` belong to the keys?"),
    case("others", "10 features, two heads", _from_pytorch(10, 2),
         "Take all sizes from the tensors."),
    case("odd", "an odd number of features", _from_pytorch(7, 1),
         "Take all sizes from the tensors.", hidden_only=True),
]

MISTAKES = [
    common("one_dict_for_all",
           source("""
              def from_pytorch(theirs, state={}):
                  weights, biases = theirs.in_proj_weight.chunk(3), theirs.in_proj_bias.chunk(3)
                  for name, weight, bias in zip("qkv", weights, biases):
                      state |= {f"w_{name}.weight": weight, f"w_{name}.bias": bias}
                  state |= {"w_o.weight": theirs.out_proj.weight, "w_o.bias": theirs.out_proj.bias}
                  return state
              """)),
    wrong("remembered",
          "A layer that was read once keeps giving its old weights, even after those have changed.",
          "What can happen to the layer between two calls?",
          source("""
              import functools

              @functools.cache
              def from_pytorch(theirs):
                  weights, biases = theirs.in_proj_weight.chunk(3), theirs.in_proj_bias.chunk(3)
                  state = {"w_o.weight": theirs.out_proj.weight, "w_o.bias": theirs.out_proj.bias}
                  for name, weight, bias in zip("qkv", weights, biases):
                      state |= {f"w_{name}.weight": weight, f"w_{name}.bias": bias}
                  return {name: value.detach().clone() for name, value in state.items()}
              """)),
    wrong("squeezed",
          "For a layer with a single feature, a dimension is lost.",
          "What is the shape of a weight from one feature to one feature?",
          edit(_STATE, 'state |= {f"w_{name}.weight": weight.squeeze(), f"w_{name}.bias": bias}')),
    wrong("theirs_frozen",
          "PyTorch's layer can no longer learn, because you switched off its gradients.",
          "Should reading a layer change it?",
          edit(_CHUNK_W, f"theirs.requires_grad_(False)\n{_CHUNK_W}")),
    wrong("mode_of_theirs_changed",
          "PyTorch's layer is in eval mode after your call.",
          "Should reading a layer change it?",
          edit(_CHUNK_W, f"theirs.eval()\n{_CHUNK_W}")),
    wrong("order_kqv",
          "You read `in_proj_weight` as k, q, v, from top to bottom.",
          "In which order does PyTorch store queries, keys and values?",
          edit('zip("qkv"', 'zip("kqv"')),
    wrong("order_vkq",
          "You read `in_proj_weight` as v, k, q, from top to bottom.",
          "In which order does PyTorch store queries, keys and values?",
          edit('zip("qkv"', 'zip("vkq"')),
    wrong("order_qvk",
          "You read `in_proj_weight` as q, v, k, from top to bottom.",
          "In which order does PyTorch store queries, keys and values?",
          edit('zip("qkv"', 'zip("qvk"')),
    wrong("order_kvq",
          "You read `in_proj_weight` as k, v, q, from top to bottom.",
          "In which order does PyTorch store queries, keys and values?",
          edit('zip("qkv"', 'zip("kvq"')),
    wrong("order_vqk",
          "You read `in_proj_weight` as v, q, k, from top to bottom.",
          "In which order does PyTorch store queries, keys and values?",
          edit('zip("qkv"', 'zip("vqk"')),
    common("transposed",
           edit(_STATE, 'state |= {f"w_{name}.weight": weight.T, f"w_{name}.bias": bias}')),
    common("output_transposed", edit(_OUT_WEIGHT, '"w_o.weight": theirs.out_proj.weight.T,')),
    wrong("all_transposed",
          "All weights were transposed during the conversion.",
          "In which order does `nn.Linear` store outputs and inputs?",
          edit(_STATE, 'state |= {f"w_{name}.weight": weight.T, f"w_{name}.bias": bias}',
               _OUT_WEIGHT, '"w_o.weight": theirs.out_proj.weight.T,')),
    wrong("every_third_row",
          "You took every third row, but q, k and v are stored block by block.",
          "Which rows of `in_proj_weight` belong to the keys?",
          edit(_CHUNK_W, "weights = [theirs.in_proj_weight[i::3] for i in range(3)]",
               _CHUNK_B, "biases = [theirs.in_proj_bias[i::3] for i in range(3)]")),
    wrong("cut_along_inputs",
          "You split `in_proj_weight` along its inputs instead of its outputs.",
          "Which of the two dimensions is three times as large?",
          edit(_CHUNK_W, "weights = theirs.in_proj_weight.chunk(3, dim=1)")),
    wrong("output_forgotten",
          "`w_o` is missing.",
          "What is PyTorch's name for the last layer?",
          edit(_OUT_WEIGHT, "", _OUT_BIAS, "")),
    wrong("output_bias_forgotten",
          "`w_o.bias` is missing.",
          "Which two tensors does an `nn.Linear` hold?",
          edit(_OUT_BIAS, "")),
    wrong("biases_forgotten",
          "The biases of q, k and v are missing.",
          "What is in `in_proj_bias`?",
          edit(_STATE, 'state |= {f"w_{name}.weight": weight}')),
    wrong("all_biases_forgotten",
          "All biases are missing.",
          "Which two tensors does an `nn.Linear` hold?",
          edit(_STATE, 'state |= {f"w_{name}.weight": weight}', _OUT_BIAS, "")),
    wrong("biases_uncut",
          "Each layer gets the whole `in_proj_bias`.",
          "How many entries does the bias of `w_q` have?",
          edit(_CHUNK_B, "biases = [theirs.in_proj_bias] * 3")),
    wrong("biases_zero",
          "The biases of q, k and v are zero.",
          "What is in `in_proj_bias`?",
          edit(_STATE, 'state |= {f"w_{name}.weight": weight, f"w_{name}.bias": torch.zeros_like(bias)}')),
    wrong("same_weight_everywhere",
          "q, k and v all get the first third.",
          "Do you use your loop variable inside the loop?",
          edit(_STATE, 'state |= {f"w_{name}.weight": weights[0], f"w_{name}.bias": biases[0]}')),
    wrong("one_head_only",
          "You cut out pieces the size of a single head.",
          "How many rows does the weight of `w_q` have, for all heads together?",
          edit(_CHUNK_W, "weights = theirs.in_proj_weight.split(theirs.head_dim)[:3]",
               _CHUNK_B, "biases = theirs.in_proj_bias.split(theirs.head_dim)[:3]")),
    wrong("output_from_inputs",
          "`w_o` gets rows of `in_proj_weight`.",
          "Which part of PyTorch's layer holds the last projection?",
          edit(_OUT_WEIGHT, '"w_o.weight": theirs.in_proj_weight[-theirs.embed_dim:],')),
    wrong("names_of_pytorch",
          "The tensors still have PyTorch's names and shapes; nothing has been split.",
          "Which keys does the `state_dict` of your own layer have?",
          edit("return state", "return dict(theirs.state_dict())")),
    common("names_without_kind", edit(_STATE, 'state |= {f"w_{name}": weight}')),
    wrong("names_with_underscore",
          "In your keys, something other than a dot joins the layer and its parameter.",
          "Which keys does the `state_dict` of your own layer have?",
          edit(_STATE, 'state |= {f"w_{name}_weight": weight, f"w_{name}_bias": bias}')),
    common("nothing_returned", edit("return state", "pass")),
    wrong("returned_too_early",
          "Keys and values are missing; perhaps the `return` is inside the loop.",
          "How far is your `return` indented?",
          edit(_STATE, """
              state |= {f"w_{name}.weight": weight, f"w_{name}.bias": bias}
              break
              """)),
    wrong("a_list",
          "You return a list instead of a dict with names.",
          "How would `load_state_dict` know which tensor is which?",
          edit("return state", "return list(state.values())")),
    wrong("a_module",
          "You return a layer instead of a dict of tensors.",
          "What return type does the signature promise?",
          edit("return state", "return nn.Linear(1, 1)")),
    wrong("theirs_changed",
          "The result is correct, but PyTorch's layer was modified.",
          "Which of your lines writes into a tensor that is not yours?",
          edit("return state", """
              state = {n: v.detach().clone() for n, v in state.items()}
              theirs.out_proj.weight.data.zero_()
              return state
              """)),
]

ACCEPTED = [
    right("slices", source("""
        def from_pytorch(theirs):
            d = theirs.embed_dim
            w, b = theirs.in_proj_weight, theirs.in_proj_bias
            return {
                "w_q.weight": w[:d], "w_k.weight": w[d : 2 * d], "w_v.weight": w[2 * d :],
                "w_q.bias": b[:d], "w_k.bias": b[d : 2 * d], "w_v.bias": b[2 * d :],
                "w_o.weight": theirs.out_proj.weight, "w_o.bias": theirs.out_proj.bias,
            }
        """)),
    right("copies_from_state_dict", source("""
        def from_pytorch(theirs):
            old = theirs.state_dict()
            new = {}
            for kind in ("weight", "bias"):
                q, k, v = torch.tensor_split(old["in_proj_" + kind].clone(), 3)
                new.update({f"w_q.{kind}": q, f"w_k.{kind}": k, f"w_v.{kind}": v})
                new["w_o." + kind] = old["out_proj." + kind].clone()
            return new
        """)),
    right("through_a_module", source("""
        def from_pytorch(theirs):
            d = theirs.out_proj.in_features
            mine = MultiHeadAttention(d, theirs.num_heads)
            with torch.no_grad():
                for i, layer in enumerate((mine.w_q, mine.w_k, mine.w_v)):
                    layer.weight.copy_(theirs.in_proj_weight.view(3, d, d)[i])
                    layer.bias.copy_(theirs.in_proj_bias.view(3, d)[i])
            mine.w_o.load_state_dict(theirs.out_proj.state_dict())
            return mine.state_dict()
        """)),
    right("unbind", source("""
        def from_pytorch(theirs):
            d = theirs.in_proj_weight.shape[1]
            ws = theirs.in_proj_weight.detach().reshape(3, d, d).unbind()
            bs = theirs.in_proj_bias.detach().split(d)
            names = ["w_q", "w_k", "w_v", "w_o"]
            ws = [*ws, theirs.out_proj.weight.detach()]
            bs = [*bs, theirs.out_proj.bias.detach()]
            return ({f"{n}.weight": w for n, w in zip(names, ws)}
                    | {f"{n}.bias": b for n, b in zip(names, bs)})
        """)),
]

EXERCISE = Specification(
    name="multi_head_attention/from_pytorch", title="From PyTorch", target="from_pytorch",
    aspects={"bias": 3.0},  # they are cut otherwise
    contract=Contract(
        ways=(), sizes=special(as_many_heads_as_features=_from_pytorch(3, 3), a_single_feature=_from_pytorch(1, 1))
    ),
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
