"""From PyTorch."""

from __future__ import annotations

import torch

from autograder.oracle.draw import Draw
from autograder.oracle.promise import Promise, special
from autograder.oracle.specification import (
    Accepted,
    CaseKind,
    Edit,
    Inputs,
    Maker,
    Mutant,
    Specification,
    Way,
)


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

EXERCISE = Specification(
    name="multi_head_attention/from_pytorch",
    title="From PyTorch",
    target="from_pytorch",
    aspects={"bias": 3.0},  # they are cut otherwise
    promise=Promise(
        ways=(),
        sizes=special(
            as_many_heads_as_features=_from_pytorch(3, 3),
            a_single_feature=_from_pytorch(1, 1),
        ),
    ),
    cases=[
        CaseKind(
            name="plain",
            title="12 features, three heads",
            inputs=_from_pytorch(12, 3),
            hint="Which rows of `in_proj_weight` are the keys'?",
        ),
        CaseKind(
            name="others",
            title="10 features, two heads",
            inputs=_from_pytorch(10, 2),
            hint="Take all sizes from the tensors.",
        ),
        CaseKind(
            name="odd",
            title="an odd number of features",
            inputs=_from_pytorch(7, 1),
            hint="Take all sizes from the tensors.",
            hidden_only=True,
        ),
    ],
    mutants=[
        Mutant(
            name="one_dict_for_all",
            says="All calls fill one and the same dict: what an earlier call returned "
            "holds other weights now.",
            asks="When is your dict made: once, or in each call?",
            ways=[Way(source="""
                def from_pytorch(theirs, state={}):
                    weights, biases = theirs.in_proj_weight.chunk(3), theirs.in_proj_bias.chunk(3)
                    for name, weight, bias in zip("qkv", weights, biases):
                        state |= {f"w_{name}.weight": weight, f"w_{name}.bias": bias}
                    state |= {"w_o.weight": theirs.out_proj.weight, "w_o.bias": theirs.out_proj.bias}
                    return state
                """)],
        ),
        Mutant(
            name="remembered",
            says="A layer that was read before gives its old weights, whatever it holds by "
            "now.",
            asks="What may have happened to the layer between two calls?",
            ways=[Way(source="""
                import functools

                @functools.cache
                def from_pytorch(theirs):
                    weights, biases = theirs.in_proj_weight.chunk(3), theirs.in_proj_bias.chunk(3)
                    state = {"w_o.weight": theirs.out_proj.weight, "w_o.bias": theirs.out_proj.bias}
                    for name, weight, bias in zip("qkv", weights, biases):
                        state |= {f"w_{name}.weight": weight, f"w_{name}.bias": bias}
                    return {name: value.detach().clone() for name, value in state.items()}
                """)],
        ),
        Mutant(
            name="squeezed",
            says="In a layer of a single feature, a dimension is lost.",
            asks="Which shape has a weight from one feature to one feature?",
            ways=[Way(edits=[
                Edit(_STATE,
                     'state |= {f"w_{name}.weight": weight.squeeze(), f"w_{name}.bias": bias}'),
            ])],
        ),
        Mutant(
            name="theirs_frozen",
            says="PyTorch's layer no longer learns: you have switched off its gradients.",
            asks="What may change in the layer that you read?",
            ways=[Way(edits=[Edit(_CHUNK_W, f"theirs.requires_grad_(False)\n{_CHUNK_W}")])],
        ),
        Mutant(
            name="mode_of_theirs_changed",
            says="PyTorch's layer is in evaluation mode afterwards.",
            asks="What may change in the layer that you read?",
            ways=[Way(edits=[Edit(_CHUNK_W, f"theirs.eval()\n{_CHUNK_W}")])],
        ),
        Mutant(
            name="order_kqv",
            says="You read `in_proj_weight` as k, q, v, from top to bottom.",
            asks="In which order does PyTorch store queries, keys and values?",
            ways=[Way(edits=[Edit('zip("qkv"', 'zip("kqv"')])],
        ),
        Mutant(
            name="order_vkq",
            says="You read `in_proj_weight` as v, k, q, from top to bottom.",
            asks="In which order does PyTorch store queries, keys and values?",
            ways=[Way(edits=[Edit('zip("qkv"', 'zip("vkq"')])],
        ),
        Mutant(
            name="order_qvk",
            says="You read `in_proj_weight` as q, v, k, from top to bottom.",
            asks="In which order does PyTorch store queries, keys and values?",
            ways=[Way(edits=[Edit('zip("qkv"', 'zip("qvk"')])],
        ),
        Mutant(
            name="order_kvq",
            says="You read `in_proj_weight` as k, v, q, from top to bottom.",
            asks="In which order does PyTorch store queries, keys and values?",
            ways=[Way(edits=[Edit('zip("qkv"', 'zip("kvq"')])],
        ),
        Mutant(
            name="order_vqk",
            says="You read `in_proj_weight` as v, q, k, from top to bottom.",
            asks="In which order does PyTorch store queries, keys and values?",
            ways=[Way(edits=[Edit('zip("qkv"', 'zip("vqk"')])],
        ),
        Mutant(
            name="transposed",
            says="The weights were transposed on the way.",
            asks="Do `nn.Linear` and `in_proj_weight` store outputs and inputs in the "
            "same order?",
            ways=[
                Way(edits=[
                    Edit(_STATE,
                         'state |= {f"w_{name}.weight": weight.T, f"w_{name}.bias": bias}'),
                ]),
                Way(name="cut_along_inputs_of_transposed", edits=[
                    Edit(_CHUNK_W, "weights = theirs.in_proj_weight.T.chunk(3, dim=1)"),
                ]),
            ],
        ),
        Mutant(
            name="output_transposed",
            says="The weight of `w_o` was transposed on the way.",
            asks="Is `out_proj` not simply an `nn.Linear`, too?",
            ways=[Way(edits=[
                Edit(_OUT_WEIGHT, '"w_o.weight": theirs.out_proj.weight.T,'),
            ])],
        ),
        Mutant(
            name="all_transposed",
            says="All weights were transposed on the way.",
            asks="In which order does `nn.Linear` store outputs and inputs?",
            ways=[Way(edits=[
                Edit(_STATE,
                     'state |= {f"w_{name}.weight": weight.T, f"w_{name}.bias": bias}'),
                Edit(_OUT_WEIGHT, '"w_o.weight": theirs.out_proj.weight.T,'),
            ])],
        ),
        Mutant(
            name="every_third_row",
            says="You took every third row; q, k and v stand block by block.",
            asks="Which rows of `in_proj_weight` are PyTorch's keys?",
            ways=[Way(edits=[
                Edit(_CHUNK_W,
                     "weights = [theirs.in_proj_weight[i::3] for i in range(3)]"),
                Edit(_CHUNK_B,
                     "biases = [theirs.in_proj_bias[i::3] for i in range(3)]"),
            ])],
        ),
        Mutant(
            name="cut_along_inputs",
            says="You cut `in_proj_weight` along its inputs, not along its outputs.",
            asks="Which of the two dimensions is three times as large?",
            ways=[Way(edits=[
                Edit(_CHUNK_W, "weights = theirs.in_proj_weight.chunk(3, dim=1)"),
            ])],
        ),
        Mutant(
            name="output_forgotten",
            says="`w_o` is missing.",
            asks="What is PyTorch's name for the last layer?",
            ways=[Way(edits=[Edit(_OUT_WEIGHT, ""), Edit(_OUT_BIAS, "")])],
        ),
        Mutant(
            name="output_bias_forgotten",
            says="`w_o.bias` is missing.",
            asks="Which two tensors does an `nn.Linear` hold?",
            ways=[Way(edits=[Edit(_OUT_BIAS, "")])],
        ),
        Mutant(
            name="biases_forgotten",
            says="The biases of q, k and v are missing.",
            asks="What is in `in_proj_bias`?",
            ways=[Way(edits=[Edit(_STATE, 'state |= {f"w_{name}.weight": weight}')])],
        ),
        Mutant(
            name="all_biases_forgotten",
            says="All biases are missing.",
            asks="Which two tensors does an `nn.Linear` hold?",
            ways=[Way(edits=[
                Edit(_STATE, 'state |= {f"w_{name}.weight": weight}'),
                Edit(_OUT_BIAS, ""),
            ])],
        ),
        Mutant(
            name="biases_uncut",
            says="Each layer got the whole `in_proj_bias`.",
            asks="How many numbers does the bias of `w_q` hold?",
            ways=[Way(edits=[Edit(_CHUNK_B, "biases = [theirs.in_proj_bias] * 3")])],
        ),
        Mutant(
            name="biases_zero",
            says="The biases of q, k and v are zero.",
            asks="What is in `in_proj_bias`?",
            ways=[Way(edits=[
                Edit(_STATE,
                     'state |= {f"w_{name}.weight": weight, f"w_{name}.bias": torch.zeros_like(bias)}'),
            ])],
        ),
        Mutant(
            name="same_weight_everywhere",
            says="q, k and v all got the first third.",
            asks="Does the variable of your loop appear inside the loop?",
            ways=[Way(edits=[
                Edit(_STATE,
                     'state |= {f"w_{name}.weight": weights[0], f"w_{name}.bias": biases[0]}'),
            ])],
        ),
        Mutant(
            name="one_head_only",
            says="You cut pieces of one head's size.",
            asks="How many rows has the weight of `w_q`, for all heads together?",
            ways=[Way(edits=[
                Edit(_CHUNK_W,
                     "weights = theirs.in_proj_weight.split(theirs.head_dim)[:3]"),
                Edit(_CHUNK_B,
                     "biases = theirs.in_proj_bias.split(theirs.head_dim)[:3]"),
            ])],
        ),
        Mutant(
            name="output_from_inputs",
            says="`w_o` got rows of `in_proj_weight`.",
            asks="In which part of PyTorch's layer is the last projection?",
            ways=[Way(edits=[
                Edit(_OUT_WEIGHT,
                     '"w_o.weight": theirs.in_proj_weight[-theirs.embed_dim:],'),
            ])],
        ),
        Mutant(
            name="names_of_pytorch",
            says="The tensors still have PyTorch's names and shape; nothing is cut.",
            asks="Which keys does the `state_dict` of your own layer have?",
            ways=[Way(edits=[
                Edit("return state", "return dict(theirs.state_dict())"),
            ])],
        ),
        Mutant(
            name="names_without_kind",
            says="The names lack the kind: `load_state_dict` looks for `w_q.weight` "
            "and `w_q.bias`.",
            asks="Which keys does `nn.Linear(2, 3).state_dict()` have?",
            ways=[Way(edits=[Edit(_STATE, 'state |= {f"w_{name}": weight}')])],
        ),
        Mutant(
            name="names_with_underscore",
            says="In the names, layer and kind are joined by another sign than a "
            "point.",
            asks="Which keys does the `state_dict` of your own layer have?",
            ways=[Way(edits=[
                Edit(_STATE,
                     'state |= {f"w_{name}_weight": weight, f"w_{name}_bias": bias}'),
            ])],
        ),
        Mutant(
            name="nothing_returned",
            says="Nothing came back.",
            asks="Is there a `return` in your function, and is it outside the loop?",
            ways=[Way(edits=[Edit("return state", "pass")])],
        ),
        Mutant(
            name="returned_too_early",
            says="Keys and values are missing; the `return` may stand inside the loop.",
            asks="How far is your `return` indented?",
            ways=[Way(edits=[
                Edit(
                    _STATE,
                    """
                    state |= {f"w_{name}.weight": weight, f"w_{name}.bias": bias}
                    break
                    """,
                ),
            ])],
        ),
        Mutant(
            name="a_list",
            says="A list came back. A dict with names is asked for.",
            asks="How would `load_state_dict` know which tensor is which?",
            ways=[Way(edits=[Edit("return state", "return list(state.values())")])],
        ),
        Mutant(
            name="a_module",
            says="A layer came back; a dict of tensors is asked for.",
            asks="What is the type after the arrow in the function's first line?",
            ways=[Way(edits=[Edit("return state", "return nn.Linear(1, 1)")])],
        ),
        Mutant(
            name="theirs_changed",
            says="The result is right, but PyTorch's layer has changed.",
            asks="Which of your lines writes into a tensor that belongs to somebody "
            "else?",
            ways=[Way(edits=[
                Edit(
                    "return state",
                    """
                    state = {n: v.detach().clone() for n, v in state.items()}
                    theirs.out_proj.weight.data.zero_()
                    return state
                    """,
                ),
            ])],
        ),
    ],
    accepted=[
        Accepted(name="slices", source="""
            def from_pytorch(theirs):
                d = theirs.embed_dim
                w, b = theirs.in_proj_weight, theirs.in_proj_bias
                return {
                    "w_q.weight": w[:d], "w_k.weight": w[d : 2 * d], "w_v.weight": w[2 * d :],
                    "w_q.bias": b[:d], "w_k.bias": b[d : 2 * d], "w_v.bias": b[2 * d :],
                    "w_o.weight": theirs.out_proj.weight, "w_o.bias": theirs.out_proj.bias,
                }
            """),
        Accepted(name="copies_from_state_dict", source="""
            def from_pytorch(theirs):
                old = theirs.state_dict()
                new = {}
                for kind in ("weight", "bias"):
                    q, k, v = torch.tensor_split(old["in_proj_" + kind].clone(), 3)
                    new.update({f"w_q.{kind}": q, f"w_k.{kind}": k, f"w_v.{kind}": v})
                    new["w_o." + kind] = old["out_proj." + kind].clone()
                return new
            """),
        Accepted(name="through_a_module", source="""
            def from_pytorch(theirs):
                d = theirs.out_proj.in_features
                mine = MultiHeadAttention(d, theirs.num_heads)
                with torch.no_grad():
                    for i, layer in enumerate((mine.w_q, mine.w_k, mine.w_v)):
                        layer.weight.copy_(theirs.in_proj_weight.view(3, d, d)[i])
                        layer.bias.copy_(theirs.in_proj_bias.view(3, d)[i])
                mine.w_o.load_state_dict(theirs.out_proj.state_dict())
                return mine.state_dict()
            """),
        Accepted(name="unbind", source="""
            def from_pytorch(theirs):
                d = theirs.in_proj_weight.shape[1]
                ws = theirs.in_proj_weight.detach().reshape(3, d, d).unbind()
                bs = theirs.in_proj_bias.detach().split(d)
                names = ["w_q", "w_k", "w_v", "w_o"]
                ws = [*ws, theirs.out_proj.weight.detach()]
                bs = [*bs, theirs.out_proj.bias.detach()]
                return ({f"{n}.weight": w for n, w in zip(names, ws)}
                        | {f"{n}.bias": b for n, b in zip(names, bs)})
            """),
    ],
)
