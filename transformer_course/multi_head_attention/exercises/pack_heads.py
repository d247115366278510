"""Cases and mistakes for an exercise: pack several heads into large matrices."""

from __future__ import annotations

import torch

from autograder.authoring.common import common
from autograder.authoring.contract import Contract, special_sizes
from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.specification import Inputs, Maker, Specification


def _draw_heads(h: int, d_model: int, d_k: int, **options: str) -> Maker:
    """Make a function that draws the weights of h heads; with ``double="yes"``, the probe converts them to float64."""
    shapes = {
        f"heads.{i}.{name}.{kind}": (d_k, d_model) if kind == "weight" else (d_k,)
        for i in range(h)
        for name in ("w_q", "w_k", "w_v")
        for kind in ("weight", "bias")
    }

    def make_inputs(draw: Draw) -> Inputs:
        return {**draw.weights(**shapes), "num_heads": torch.tensor(h), **options}

    return make_inputs


CASES = [
    case("plain", "three heads", _draw_heads(h=3, d_model=7, d_k=4),
         "Which rows of the large weight produce the features of head 1?"),
    case("two", "two heads", _draw_heads(h=2, d_model=5, d_k=3),
         "Take all sizes from the heads' own tensors."),
    case("square", "heads with d_k = d_model, in float64", _draw_heads(h=2, d_model=4, d_k=4, double="yes"),
         "A square weight is a weight like any other."),
    case("one", "a single head", _draw_heads(h=1, d_model=5, d_k=3),
         "A single head is still a list of heads.", open=True),
    case("many", "five heads", _draw_heads(h=5, d_model=10, d_k=2),
         "Keep the order of the heads.", hidden_only=True),
]

_DEF = "def pack_heads("
_END = '    for kind in ("weight", "bias")\n}'
_HEADS = "for h in heads]"
_TENSOR = "getattr(getattr(h, name), kind)"
_CAT = f"torch.cat([{_TENSOR} {_HEADS})"  # joins a tensor of all heads

MISTAKES = [
    wrong("heads_modified",
          "The heads are no longer what they were: your call changes their weights, their mode, or whether they learn.",
          "Which of your lines writes to a tensor that is not yours, or calls a method that changes a head?",
          edit("return {", "packed = {",
               _END, f"{_END}\nheads[0].w_q.weight.data = packed['w_q.weight']\nreturn packed"),
          edit(_CAT, f"{_CAT} if kind == 'weight' else torch.cat([{_TENSOR}.clone() {_HEADS} + "
                     "[getattr(h, name).bias.data.zero_()[:0] for h in heads])", name="biases_cleared"),
          edit("getattr(h, name)", "getattr(h.eval(), name)", name="heads_in_evaluation"),
          edit("getattr(h, name)", "getattr(h.requires_grad_(False), name)", name="heads_frozen")),
    wrong("one_dict_for_all", "All calls fill the same dict, so a later call overwrites what an earlier one returned.",
          "When is your dict created: once, or in each call?",
          edit(_DEF, f"packed = {{}}\n\n\n{_DEF}", "return {", "packed.update({", _END, f"{_END})\nreturn packed")),
    wrong("remembered", "If heads were packed before, you return their old weights, even if they have changed since.",
          "What can happen to a layer between two calls?",
          edit(_DEF, f"packed = {{}}\n\n\n{_DEF}",
               "return {", "return packed.setdefault(tuple(heads), {", _END, f"{_END})"), tests="weights"),
    wrong("squeezed", "A dimension of size 1 is lost.",
          "What does `squeeze` do to a weight of a single column?",
          edit(_CAT, f"{_CAT}.squeeze()")),
    wrong("digits_lost", "Heads in float64 are packed with only float32 precision.",
          "Does your code name a dtype, or create a tensor of the default one?",
          edit(_CAT, f"(lambda w: w.float().to(w.dtype))({_CAT})"),
          edit(_CAT, f"(lambda w: torch.zeros(w.shape, dtype=torch.get_default_dtype()).copy_(w))({_CAT})",
               name="in_a_float32_buffer"),
          tests="detached"),
    wrong("side_by_side",
          "The weights are concatenated along the input dimension, but the heads' *outputs* should be concatenated.",
          "`nn.Linear` stores its weight as `(d_out, d_in)`. Which of the two should grow?",
          edit(_HEADS, "for h in heads], dim=-1"),
          edit(_HEADS, "for h in heads], dim=1", name="side_by_side_raises")),
    wrong("stacked", "There is an extra dimension for the heads, but the weight of one large layer is a plain matrix.",
          "What is the difference between `cat` and `stack`?",
          edit("torch.cat", "torch.stack")),
    wrong("transposed", "The weights are transposed: `(d_model, h * d_k)`.",
          "Which comes first in the weight of an `nn.Linear`: outputs or inputs?",
          edit(_CAT, f"torch.cat([{_TENSOR}.T {_HEADS}, dim=-1)")),
    wrong("heads_reversed", "The heads are in reverse order.",
          "Which head's rows should come first?",
          edit(_HEADS, "for h in heads[::-1]]")),
    wrong("rows_interleaved",
          "The rows are interleaved, one from each head in turn. They should follow block by block.",
          "Which features does your `split_heads` give to head 0?",
          edit(_CAT, f"torch.stack([{_TENSOR} {_HEADS}, 1).flatten(0, 1)"),
          edit(_CAT, f"{_CAT} if kind == 'bias' else torch.stack([{_TENSOR} {_HEADS}, 1).flatten(0, 1)",
               name="weights_interleaved"),
          tests="head `i`"),
    wrong("one_bias_for_all", "You use the bias of head 0, or the sum over all heads, but each head needs its own.",
          "How many entries does the bias of a layer with `h * d_k` outputs have?",
          edit(_CAT, f"{_CAT} if kind == 'weight' else heads[0].get_submodule(name).bias"),
          edit(_CAT, f"{_CAT} if kind == 'weight' else sum(getattr(h, name).bias for h in heads)",
               name="biases_summed")),
    wrong("rows_of_one_head",
          "The packed weights have the rows of a single head: of head 0 alone, or of the average of all.",
          "How many rows does the weight of a layer for all heads have?",
          edit(_HEADS, "for h in heads[:1]]"),
          edit(_CAT, f"sum({_TENSOR} for h in heads) / len(heads)", name="averaged")),
    wrong("first_head_repeated", "Head 0 is packed again and again.",
          "Do you use your loop variable inside the loop?",
          edit("getattr(h, name)", "getattr(heads[0], name)")),
    wrong("biases_forgotten", "The biases are missing.",
          "Which two tensors does an `nn.Linear` hold?",
          edit('for kind in ("weight", "bias")', 'for kind in ("weight",)')),
    wrong("biases_zero", "The biases are all zero.",
          "Where do the biases of the heads go?",
          edit(_CAT, f"{_CAT} * (kind == 'weight')")),
    wrong("names_without_kind", "The keys are incomplete: `load_state_dict` looks for `w_q.weight` and `w_q.bias`.",
          "Which keys does `nn.Linear(2, 3).state_dict()` have?",
          edit('f"{name}.{kind}"', "name", '("weight", "bias")', '("weight",)'), tests="`w_v.weight`"),
    wrong("names_of_heads", "Each head still has its own names, like `0.w_q.weight`: nothing is packed yet.",
          "How many tensors should the dict hold, whatever the number of heads?",
          edit("return {", "return nn.ModuleList(heads).state_dict()\nreturn {")),
    wrong("a_list_of_tensors", "You return a list or a tuple, but `load_state_dict` needs a dict with names.",
          "How would `load_state_dict` know which tensor is which?",
          edit("return {", "packed = {", _END, f"{_END}\nreturn list(packed.values())"),
          edit("return {", "packed = {", _END, f"{_END}\nreturn tuple(packed.values())", name="a_tuple_of_tensors")),
    common("nothing_returned", edit("return {", "packed = {")),
    wrong("layers_mixed_up", "Some tensors come from another layer than their name says.",
          "From which layer of a head should each of the six tensors come, and where does your loop use its name?",
          edit('f"{name}.{kind}"', "f\"{dict(w_q='w_k', w_k='w_q').get(name, name)}.{kind}\""),
          edit("getattr(h, name)", "h.w_q", name="queries_everywhere")),
    wrong("keys_for_values", "What you pack as `w_v` comes from the heads' `w_k`, or its bias does.",
          "Which layer of a head does your code read for `w_v`?",
          edit("getattr(h, name)", 'getattr(h, "w_k" if name == "w_v" else name)'),
          edit("getattr(h, name)", 'getattr(h, "w_k" if (name, kind) == ("w_v", "bias") else name)',
               name="key_biases_for_values")),
    wrong("returned_too_early", "Only the first of the three layers is there; perhaps the `return` is inside the loop.",
          "How far is your `return` indented?",
          edit('in ("w_q", "w_k", "w_v")', 'in ("w_q",)')),
]

ACCEPTED = [
    right("stack_and_flatten",
          edit(_CAT, f"torch.stack([{_TENSOR} {_HEADS}).flatten(0, 1).detach()")),
    right("from_state_dicts", source("""
        from collections import OrderedDict

        def pack_heads(heads):
            states = [head.state_dict() for head in heads]
            packed = OrderedDict()
            for name in states[0]:
                packed[name] = torch.cat([state[name] for state in states])
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
                packed |= {name + ".weight": nn.Parameter(weight), name + ".bias": nn.Parameter(bias)}
            return packed
        """)),
]

EXERCISE = Specification(
    parts="bias",
    contract=Contract(
        ways=(),
        sizes=special_sizes(
            heads_of_one_feature=_draw_heads(h=3, d_model=5, d_k=1),
            a_model_of_one_feature=_draw_heads(h=2, d_model=1, d_k=3), one_number_in_all=_draw_heads(h=1, d_model=1, d_k=1),
        ),
    ),
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
