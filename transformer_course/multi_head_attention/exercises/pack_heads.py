"""Pack the heads."""

from __future__ import annotations

import torch

from autograder.authoring.common import common
from autograder.authoring.contract import Contract, special
from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.specification import Inputs, Maker, Specification
from transformer_course.multi_head_attention.exercises._inputs import head_parameters


def _to_pack(h: int, d_model: int, d_k: int) -> Maker:
    def make_inputs(draw: Draw) -> Inputs:
        inputs = head_parameters(draw, h, d_model, d_k, d_k, scale=1.0)
        return inputs | {"num_heads": torch.tensor(h)}

    return make_inputs


def _in_float64(maker: Maker) -> Maker:
    return lambda draw: maker(draw) | {"double": "yes"}


CASES = [
    case("plain", "three heads", _to_pack(h=3, d_model=7, d_k=4),
         "Which rows of the large weight produce the features of head 1?"),
    case("two", "two heads", _to_pack(h=2, d_model=5, d_k=3),
         "Take all sizes from the heads' own tensors."),
    case("square", "heads with d_k = d_model, in float64", _in_float64(_to_pack(h=2, d_model=4, d_k=4)),
         "A square weight is a weight like any other."),
    case("one", "a single head", _to_pack(h=1, d_model=5, d_k=3),
         "A single head is still a list of heads.", open=True),
    case("many", "five heads", _to_pack(h=5, d_model=10, d_k=2),
         "Keep the order of the heads.", hidden_only=True),
]

# The line of the solution that joins a tensor of all heads.
CAT = "torch.cat([getattr(getattr(h, name), kind) for h in heads])"

MISTAKES = [
    wrong("biases_cleared",
          "The biases of the heads are zero after your call.",
          "Whose tensors are you writing to?",
          edit(CAT,
               f"{CAT}.clone() if not kind == 'bias' else "
                    "torch.cat([getattr(getattr(h, name), kind).clone() for h in heads] "
                    "+ [getattr(h, name).bias.data.zero_()[:0] for h in heads])")),
    wrong("heads_in_evaluation",
          "The heads are in eval mode after your call.",
          "Does copying depend on the mode of a layer?",
          edit(CAT, "torch.cat([getattr(getattr(h.eval(), name), kind) for h in heads])")),
    wrong("heads_frozen",
          "The heads can no longer learn, because you switched off their gradients.",
          "Which tensors need no gradient: those of the heads, or your copies?",
          edit(CAT, "torch.cat([getattr(getattr(h.requires_grad_(False), name), kind) for h in heads])")),
    wrong("one_dict_for_all",
          "All calls fill the same dict, so a later call overwrites what an earlier one returned.",
          "When is your dict created: once, or in each call?",
          source("""
              packed = {}

              def pack_heads(heads):
                  for name in ("w_q", "w_k", "w_v"):
                      for kind in ("weight", "bias"):
                          packed[f"{name}.{kind}"] = torch.cat([getattr(getattr(h, name), kind) for h in heads])
                  return packed
              """)),
    wrong("remembered",
          "If heads were packed before, you return their old weights, even if they "
          "have changed since.",
          "What can happen to a layer between two calls?",
          source("""
              packed = {}

              def pack_heads(heads):
                  if tuple(heads) not in packed:
                      packed[tuple(heads)] = {
                          f"{name}.{kind}": torch.cat([getattr(getattr(h, name), kind) for h in heads])
                          for name in ("w_q", "w_k", "w_v")
                          for kind in ("weight", "bias")
                      }
                  return packed[tuple(heads)]
              """), tests="weights"),
    wrong("squeezed",
          "A dimension of size 1 is lost.",
          "What does `squeeze` do to a weight of a single column?",
          edit(CAT, f"{CAT}.squeeze()")),
    wrong("digits_lost",
          "Heads in float64 are packed as float64, but only with the precision of float32.",
          "What is lost on the way through float32?",
          edit(CAT, f"(lambda w: w.float().to(w.dtype))({CAT})")),
    wrong("in_a_float32_buffer",
          "Heads in float64 are packed as float32, with fewer digits.",
          "Which dtype does `torch.zeros` use by default?",
          edit(CAT, f"(lambda w: torch.zeros(w.shape, dtype=torch.get_default_dtype()).copy_(w))({CAT})"),
          tests="detached"),
    wrong("side_by_side",
          "The weights are concatenated along the input dimension, but the heads' *outputs* should be concatenated.",
          "`nn.Linear` stores its weight as `(d_out, d_in)`. Which of the two should grow?",
          edit(CAT, "torch.cat([getattr(getattr(h, name), kind) for h in heads], dim=-1)")),
    wrong("side_by_side_raises",
          "You concatenate along dimension 1. A bias has no such dimension, and in the weights it holds the inputs.",
          "`nn.Linear` stores its weight as `(d_out, d_in)`. Which of the two should grow?",
          edit(CAT, "torch.cat([getattr(getattr(h, name), kind) for h in heads], dim=1)")),
    wrong("stacked",
          "There is an extra dimension for the heads, but the weight of one large layer is a plain matrix.",
          "What is the difference between `cat` and `stack`?",
          edit(CAT, "torch.stack([getattr(getattr(h, name), kind) for h in heads])")),
    wrong("transposed",
          "The weights are transposed: `(d_model, h * d_k)`.",
          "Which comes first in the weight of an `nn.Linear`: outputs or inputs?",
          edit(CAT, "torch.cat([getattr(getattr(h, name), kind).T for h in heads], dim=-1)")),
    wrong("turned_where_it_fits",
          "Square weights are transposed; the others are correct.",
          "What does your code conclude from the shape of a weight?",
          edit(CAT, """
              torch.cat([
                  tensor.mT if tensor.dim() > 1 and len(tensor) == tensor.size(1) else tensor
                  for tensor in (getattr(getattr(h, name), kind) for h in heads)
              ])
              """)),
    wrong("heads_reversed",
          "The heads are in reverse order.",
          "Which head's rows should come first?",
          edit(CAT, "torch.cat([getattr(getattr(h, name), kind) for h in heads[::-1]])")),
    wrong("rows_interleaved",
          "The rows are interleaved, one from each head in turn. They should follow block by block.",
          "Which features does your `split_heads` give to head 0?",
          edit(CAT, "torch.stack([getattr(getattr(h, name), kind) for h in heads], 1).flatten(0, 1)"),
          tests="head `i`"),
    wrong("biases_summed",
          "The biases are summed, but each head needs its own.",
          "How many entries does the bias of a layer with `h * d_k` outputs have?",
          edit(CAT,
               "torch.cat([getattr(getattr(h, name), kind) for h in heads]) if kind == 'weight' else sum(getattr(h, name).bias for h in heads)")),
    wrong("bias_of_first_head",
          "The bias is that of head 0 alone.",
          "How many entries does the bias of a layer with `h * d_k` outputs have?",
          edit(CAT,
               "torch.cat([getattr(getattr(h, name), kind) for h in heads]) if kind == 'weight' else heads[0].get_submodule(name).bias")),
    wrong("first_head_only",
          "Only head 0 is packed.",
          "How many rows does the weight of a layer for all heads have?",
          edit(CAT, "torch.cat([getattr(getattr(h, name), kind) for h in heads[:1]])")),
    wrong("first_head_repeated",
          "Head 0 is packed again and again.",
          "Do you use your loop variable inside the loop?",
          edit(CAT, "torch.cat([getattr(getattr(heads[0], name), kind) for h in heads])")),
    wrong("averaged",
          "The heads are averaged, so none of them survives.",
          "How many rows does the weight of a layer for all heads have?",
          edit(CAT, "sum(getattr(getattr(h, name), kind) for h in heads) / len(heads)")),
    wrong("biases_forgotten",
          "The biases are missing.",
          "Which two tensors does an `nn.Linear` hold?",
          edit('for kind in ("weight", "bias")', 'for kind in ("weight",)')),
    wrong("biases_zero",
          "The biases are all zero.",
          "Where do the biases of the heads go?",
          edit(CAT, "torch.cat([getattr(getattr(h, name), kind) for h in heads]) * (kind == 'weight')")),
    wrong("names_without_kind",
          "The keys are incomplete: `load_state_dict` looks for `w_q.weight` and `w_q.bias`.",
          "Which keys does `nn.Linear(2, 3).state_dict()` have?",
          source("""
              def pack_heads(heads):
                  return {name: torch.cat([getattr(h, name).weight for h in heads])
                          for name in ("w_q", "w_k", "w_v")}
              """), tests="`w_v.weight`"),
    wrong("names_of_heads",
          "Each head still has its own names, like `0.w_q.weight`: nothing is packed yet.",
          "How many tensors should the dict hold, whatever the number of heads?",
          source("""
              def pack_heads(heads):
                  return nn.ModuleList(heads).state_dict()
              """)),
    wrong("a_list_of_tensors",
          "You return a list, but `load_state_dict` needs a dict with names.",
          "How would `load_state_dict` know which tensor is which?",
          source("""
              def pack_heads(heads):
                  return [torch.cat([getattr(h, n).weight for h in heads]) for n in ("w_q", "w_k", "w_v")]
              """)),
    wrong("a_tuple_of_tensors",
          "You return a tuple, but `load_state_dict` needs a dict with names.",
          "How would `load_state_dict` know which tensor is which?",
          source("""
              def pack_heads(heads):
                  w_q, w_k, w_v = (torch.cat([getattr(h, n).weight for h in heads])
                                   for n in ("w_q", "w_k", "w_v"))
                  return w_q, w_k, w_v
              """)),
    common("nothing_returned", edit("return {", "packed = {")),
    wrong("queries_and_keys_swapped",
          "The queries' weights are stored under the keys' name, and vice versa.",
          "Do you read and write under the same name?",
          edit('f"{name}.{kind}"', "f\"{dict(w_q='w_k', w_k='w_q').get(name, name)}.{kind}\"")),
    wrong("queries_everywhere",
          "Keys and values have the weights of the queries.",
          "Where does your loop use the name of the layer?",
          edit("getattr(h, name)", "h.w_q")),
    wrong("keys_for_values",
          "The values have the weights of the keys.",
          "From which layer of a head should each of the six tensors come?",
          edit("getattr(h, name)", 'getattr(h, "w_k" if name == "w_v" else name)')),
    wrong("returned_too_early",
          "Only the first of the three layers is there; perhaps the `return` is inside the loop.",
          "How far is your `return` indented?",
          edit('in ("w_q", "w_k", "w_v")', 'in ("w_q",)')),
    wrong("packed_into_first_head",
          "The first head was modified on the way.",
          "Which of your lines writes into a tensor that is not yours?",
          edit("return {", "packed = {",
               """
                  for kind in ("weight", "bias")
              }
              """, """
                  for kind in ("weight", "bias")
              }
              heads[0].w_q.weight.data = packed["w_q.weight"]
              return packed
              """)),
]

ACCEPTED = [
    right("written_out", source("""
        def pack_heads(heads):
            return {
                "w_q.weight": torch.cat([h.w_q.weight for h in heads], dim=0),
                "w_k.weight": torch.cat([h.w_k.weight for h in heads], dim=0),
                "w_v.weight": torch.cat([h.w_v.weight for h in heads], dim=0),
                "w_q.bias": torch.cat([h.w_q.bias for h in heads], dim=0),
                "w_k.bias": torch.cat([h.w_k.bias for h in heads], dim=0),
                "w_v.bias": torch.cat([h.w_v.bias for h in heads], dim=0),
            }
        """)),
    right("stack_and_flatten",
          edit(CAT, "torch.stack([getattr(getattr(h, name), kind) for h in heads]).flatten(0, 1).detach()")),
    right("from_state_dicts", source("""
        from collections import OrderedDict

        def pack_heads(heads):
            states = [head.state_dict() for head in heads]
            packed = OrderedDict()
            for name in states[0]:
                packed[name] = torch.cat([state[name] for state in states])
            return packed
        """)),
    right("growing_tensor", source("""
        def pack_heads(heads):
            packed = {}
            for name in ("w_q", "w_k", "w_v"):
                first = getattr(heads[0], name)
                weight, bias = first.weight, first.bias
                for head in list(heads)[1:]:
                    layer = getattr(head, name)
                    weight = torch.vstack((weight, layer.weight))
                    bias = torch.hstack((bias, layer.bias))
                packed[name + ".weight"] = nn.Parameter(weight)
                packed[name + ".bias"] = nn.Parameter(bias)
            return packed
        """)),
    right("filled_slices", source("""
        def pack_heads(heads):
            d_k, d_model = heads[0].w_q.weight.shape
            packed = {}
            for name in ("w_q", "w_k", "w_v"):
                weight = heads[0].w_q.weight.new_zeros(len(heads) * d_k, d_model)
                bias = weight.new_zeros(len(heads) * d_k)
                for i, head in enumerate(heads):
                    rows = slice(i * d_k, (i + 1) * d_k)
                    weight[rows] = getattr(head, name).weight
                    bias[rows] = getattr(head, name).bias
                packed |= {name + ".weight": weight, name + ".bias": bias}
            return packed
        """)),
]

EXERCISE = Specification(
    aspects={"bias": 3.0},  # they are packed otherwise
    contract=Contract(
        ways=(),
        sizes=special(
            heads_of_one_feature=_to_pack(h=3, d_model=5, d_k=1),
            a_model_of_one_feature=_to_pack(h=2, d_model=1, d_k=3), one_number_in_all=_to_pack(h=1, d_model=1, d_k=1),
        ),
    ),
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
