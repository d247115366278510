"""Pack the heads."""

from __future__ import annotations

import torch

from autograder.bank.multi_head_attention._inputs import head_parameters
from autograder.bank.multi_head_attention._pack_heads.accepted import ACCEPTED, CAT
from autograder.oracle.draw import Draw
from autograder.oracle.promise import Promise, special
from autograder.oracle.specification import (
    CaseKind,
    Edit,
    Inputs,
    Maker,
    Mutant,
    Specification,
    Way,
)


def _to_pack(h: int, d_model: int, d_k: int) -> Maker:
    def inputs(draw: Draw) -> Inputs:
        made = head_parameters(draw, h, d_model, d_k, d_k, scale=1.0)
        return made | {"num_heads": torch.tensor(h)}

    return inputs


def _in_float64(maker: Maker) -> Maker:
    return lambda draw: maker(draw) | {"double": "yes"}


EXERCISE = Specification(
    name="multi_head_attention/pack_heads",
    title="Pack the heads",
    target="pack_heads",
    aspects={"bias": 3.0},  # they are packed otherwise
    promise=Promise(
        ways=(),
        sizes=special(
            heads_of_one_feature=_to_pack(h=3, d_model=5, d_k=1),
            a_model_of_one_feature=_to_pack(h=2, d_model=1, d_k=3),
            one_number_in_all=_to_pack(h=1, d_model=1, d_k=1),
        ),
    ),
    cases=[
        CaseKind(
            name="plain",
            title="three heads",
            inputs=_to_pack(h=3, d_model=7, d_k=4),
            hint="Which rows of the large weight make the features of head 1?",
        ),
        CaseKind(
            name="two",
            title="two heads",
            inputs=_to_pack(h=2, d_model=5, d_k=3),
            hint="Take all sizes from the heads' own tensors.",
        ),
        CaseKind(
            name="square",
            title="heads as large as the model, in float64",
            inputs=_in_float64(_to_pack(h=2, d_model=4, d_k=4)),
            hint="A square weight is a weight like any other.",
        ),
        CaseKind(
            name="one",
            title="a single head",
            inputs=_to_pack(h=1, d_model=5, d_k=3),
            hint="One head is a list of heads, too.",
            open=True,
        ),
        CaseKind(
            name="many",
            title="five heads",
            inputs=_to_pack(h=5, d_model=10, d_k=2),
            hint="The order of the heads must stay.",
            hidden_only=True,
        ),
    ],
    mutants=[
        Mutant(
            name="biases_cleared",
            says="The biases of the heads are zero afterwards.",
            asks="Whose tensors do you write into?",
            ways=[Way(edits=[
                Edit(CAT, f"{CAT}.clone() if not kind == 'bias' else "
                     "torch.cat([getattr(getattr(h, name), kind).clone() for h in heads] "
                     "+ [getattr(h, name).bias.data.zero_()[:0] for h in heads])"),
            ])],
        ),
        Mutant(
            name="heads_in_evaluation",
            says="The heads are in evaluation mode afterwards.",
            asks="Does a copy need another mode?",
            ways=[Way(edits=[Edit(CAT, "torch.cat([getattr(getattr(h.eval(), name), kind) for h in heads])")])],
        ),
        Mutant(
            name="heads_frozen",
            says="The heads no longer learn: you have switched off their gradients.",
            asks="Which tensors need no gradient: those of the heads, or your copies?",
            ways=[Way(edits=[Edit(CAT, "torch.cat([getattr(getattr(h.requires_grad_(False), name), kind) for h in heads])")])],
        ),
        Mutant(
            name="one_dict_for_all",
            says="All calls fill one and the same dict: what an earlier call returned "
            "holds other weights now.",
            asks="When is your dict made: once, or in each call?",
            ways=[
                Way(source="""
                    packed = {}

                    def pack_heads(heads):
                        for name in ("w_q", "w_k", "w_v"):
                            for kind in ("weight", "bias"):
                                packed[f"{name}.{kind}"] = torch.cat([getattr(getattr(h, name), kind) for h in heads])
                        return packed
                    """),
                Way(name="one_dict_by_default", source="""
                    def pack_heads(heads, packed={}):
                        for name in ("w_q", "w_k", "w_v"):
                            for kind in ("weight", "bias"):
                                packed[f"{name}.{kind}"] = torch.cat([getattr(getattr(h, name), kind) for h in heads])
                        return packed
                    """),
            ],
        ),
        Mutant(
            name="remembered",
            says="Heads that were packed before give their old weights, whatever they hold "
            "by now.",
            asks="What may have happened to a layer between two calls?",
            ways=[Way(source="""
                packed = {}

                def pack_heads(heads):
                    if tuple(heads) not in packed:
                        packed[tuple(heads)] = {
                            f"{name}.{kind}": torch.cat([getattr(getattr(h, name), kind) for h in heads])
                            for name in ("w_q", "w_k", "w_v")
                            for kind in ("weight", "bias")
                        }
                    return packed[tuple(heads)]
                """)],
        ),
        Mutant(
            name="squeezed",
            says="Where a size is one, a dimension is lost.",
            asks="What does `squeeze` do to a weight of a single column?",
            ways=[Way(edits=[Edit(CAT, f"{CAT}.squeeze()")])],
        ),
        Mutant(
            name="digits_lost",
            says="Heads in float64 are packed in float64, but with the digits of float32.",
            asks="What is lost on the way through `float()`?",
            ways=[Way(edits=[
                Edit(CAT, f"(lambda w: w.float().to(w.dtype))({CAT})"),
            ])],
        ),
        Mutant(
            name="in_a_float32_buffer",
            says="Heads in float64 are packed in float32, with fewer digits.",
            asks="Which type has a tensor that you make with `torch.zeros`?",
            ways=[Way(edits=[
                Edit(CAT, f"(lambda w: torch.zeros(w.shape, dtype=torch.get_default_dtype()).copy_(w))({CAT})"),
            ])],
        ),
        Mutant(
            name="side_by_side",
            says="The weights stand side by side, along the inputs. The heads' "
            "*outputs* are to be stacked.",
            asks="`nn.Linear` stores its weight as `(d_out, d_in)`. Which of the two "
            "grows?",
            ways=[Way(edits=[
                Edit(CAT,
                     "torch.cat([getattr(getattr(h, name), kind) for h in heads], dim=-1)"),
            ])],
        ),
        Mutant(
            name="side_by_side_raises",
            says="You join along dimension 1. A bias has none, and for the weights "
            "this would be the inputs.",
            asks="`nn.Linear` stores its weight as `(d_out, d_in)`. Which of the two "
            "grows?",
            ways=[Way(edits=[
                Edit(CAT,
                     "torch.cat([getattr(getattr(h, name), kind) for h in heads], dim=1)"),
            ])],
        ),
        Mutant(
            name="stacked",
            says="There is a new dimension of heads; one large layer has a plain "
            "matrix.",
            asks="What is the difference between `cat` and `stack`?",
            ways=[Way(edits=[
                Edit(CAT,
                     "torch.stack([getattr(getattr(h, name), kind) for h in heads])"),
            ])],
        ),
        Mutant(
            name="transposed",
            says="The weights are transposed: `(d_model, h * d_k)`.",
            asks="Which comes first in the weight of an `nn.Linear`: outputs or "
            "inputs?",
            ways=[Way(edits=[
                Edit(CAT,
                     "torch.cat([getattr(getattr(h, name), kind).T for h in heads], dim=-1)"),
            ])],
        ),
        Mutant(
            name="turned_where_it_fits",
            says="The weights are right, but square ones are transposed.",
            asks="What does your code find out by the size of a weight?",
            ways=[Way(edits=[
                Edit(CAT, """
                    torch.cat([
                        tensor.mT if tensor.dim() > 1 and len(tensor) == tensor.size(1) else tensor
                        for tensor in (getattr(getattr(h, name), kind) for h in heads)
                    ])
                    """),
            ])],
        ),
        Mutant(
            name="whole_turned_where_it_fits",
            says="The weights are right, but a packed one that is square is transposed.",
            asks="What does your code find out by the size of a weight?",
            ways=[Way(edits=[
                Edit(CAT, f"(lambda w: w.mT if w.dim() > 1 and len(w) == w.size(1) else w)({CAT})"),
            ])],
        ),
        Mutant(
            name="heads_reversed",
            says="The heads are in reverse order.",
            asks="Whose rows come first?",
            ways=[Way(edits=[
                Edit(CAT,
                     "torch.cat([getattr(getattr(h, name), kind) for h in heads[::-1]])"),
            ])],
        ),
        Mutant(
            name="rows_interleaved",
            says="The rows are dealt out in turn, one of each head. They should stand "
            "block by block.",
            asks="Which features does your `split_heads` give to head 0?",
            ways=[Way(edits=[
                Edit(CAT,
                     "torch.stack([getattr(getattr(h, name), kind) for h in heads], 1).flatten(0, 1)"),
            ])],
        ),
        Mutant(
            name="biases_summed",
            says="The biases are summed; each head needs its own.",
            asks="How many numbers does the bias of a layer with `h * d_k` outputs "
            "hold?",
            ways=[Way(edits=[
                Edit(CAT,
                     "torch.cat([getattr(getattr(h, name), kind) for h in heads]) if kind == 'weight' else sum(getattr(h, name).bias for h in heads)"),
            ])],
        ),
        Mutant(
            name="bias_of_first_head",
            says="The bias is that of head 0 alone.",
            asks="How many numbers does the bias of a layer with `h * d_k` outputs "
            "hold?",
            ways=[Way(edits=[
                Edit(CAT,
                     "torch.cat([getattr(getattr(h, name), kind) for h in heads]) if kind == 'weight' else heads[0].get_submodule(name).bias"),
            ])],
        ),
        Mutant(
            name="first_head_only",
            says="Only head 0 is packed.",
            asks="How many rows has the weight of a layer for all heads?",
            ways=[Way(edits=[
                Edit(CAT,
                     "torch.cat([getattr(getattr(h, name), kind) for h in heads[:1]])"),
            ])],
        ),
        Mutant(
            name="first_head_repeated",
            says="Head 0 is packed again and again.",
            asks="Does the variable of your loop appear inside the loop?",
            ways=[Way(edits=[
                Edit(CAT,
                     "torch.cat([getattr(getattr(heads[0], name), kind) for h in heads])"),
            ])],
        ),
        Mutant(
            name="averaged",
            says="The heads are averaged. A mean head is none of them.",
            asks="How many rows has the weight of a layer for all heads?",
            ways=[Way(edits=[
                Edit(CAT,
                     "sum(getattr(getattr(h, name), kind) for h in heads) / len(heads)"),
            ])],
        ),
        Mutant(
            name="biases_forgotten",
            says="The biases are missing.",
            asks="Which two tensors does an `nn.Linear` hold?",
            ways=[Way(edits=[
                Edit('for kind in ("weight", "bias")', 'for kind in ("weight",)'),
            ])],
        ),
        Mutant(
            name="biases_zero",
            says="The biases are all zero.",
            asks="Where do the biases of the heads go?",
            ways=[Way(edits=[
                Edit(CAT,
                     "torch.cat([getattr(getattr(h, name), kind) for h in heads]) * (kind == 'weight')"),
            ])],
        ),
        Mutant(
            name="names_without_kind",
            says="The names lack the kind: `load_state_dict` looks for `w_q.weight` "
            "and `w_q.bias`.",
            asks="Which keys does `nn.Linear(2, 3).state_dict()` have?",
            ways=[Way(source="""
                def pack_heads(heads):
                    return {name: torch.cat([getattr(h, name).weight for h in heads])
                            for name in ("w_q", "w_k", "w_v")}
                """)],
        ),
        Mutant(
            name="names_of_heads",
            says="Each head still has names of its own, like `0.w_q.weight`: nothing "
            "is packed yet.",
            asks="How many tensors shall the dict hold, whatever the number of heads?",
            ways=[Way(source="""
                def pack_heads(heads):
                    return nn.ModuleList(heads).state_dict()
                """)],
        ),
        Mutant(
            name="a_list_of_tensors",
            says="A list came back. A dict with names is asked for, so that "
            "`load_state_dict` can use it.",
            asks="How would `load_state_dict` know which tensor is which?",
            ways=[Way(source="""
                def pack_heads(heads):
                    return [torch.cat([getattr(h, n).weight for h in heads]) for n in ("w_q", "w_k", "w_v")]
                """)],
        ),
        Mutant(
            name="a_tuple_of_tensors",
            says="A tuple came back. A dict with names is asked for, so that "
            "`load_state_dict` can use it.",
            asks="How would `load_state_dict` know which tensor is which?",
            ways=[Way(source="""
                def pack_heads(heads):
                    w_q, w_k, w_v = (torch.cat([getattr(h, n).weight for h in heads])
                                     for n in ("w_q", "w_k", "w_v"))
                    return w_q, w_k, w_v
                """)],
        ),
        Mutant(
            name="nothing_returned",
            says="Nothing came back.",
            asks="Is there a `return` in your function, and is it outside the loop?",
            ways=[Way(edits=[Edit("return {", "packed = {")])],
        ),
        Mutant(
            name="queries_and_keys_swapped",
            says="The queries' weights are stored under the keys' name, and the other "
            "way round.",
            asks="Do the name that you read and the name that you write agree?",
            ways=[Way(edits=[
                Edit('f"{name}.{kind}"',
                     "f\"{dict(w_q='w_k', w_k='w_q').get(name, name)}.{kind}\""),
            ])],
        ),
        Mutant(
            name="queries_everywhere",
            says="Keys and values have the weights of the queries.",
            asks="Where in your loop do you use the name?",
            ways=[Way(edits=[Edit("getattr(h, name)", "h.w_q")])],
        ),
        Mutant(
            name="keys_for_values",
            says="The values have the weights of the keys.",
            asks="Is the third line of a copied block still the same as the second?",
            ways=[Way(edits=[
                Edit("getattr(h, name)",
                     'getattr(h, "w_k" if name == "w_v" else name)'),
            ])],
        ),
        Mutant(
            name="returned_too_early",
            says="Only the first of the three layers is there; the `return` may stand "
            "inside the loop.",
            asks="How far is your `return` indented?",
            ways=[Way(edits=[Edit('in ("w_q", "w_k", "w_v")', 'in ("w_q",)')])],
        ),
        Mutant(
            name="packed_into_first_head",
            says="The result is right, but the first head was changed on the way.",
            asks="Which of your lines writes into a tensor that belongs to somebody "
            "else?",
            ways=[Way(edits=[
                Edit("return {", "packed = {"),
                Edit(
                    """
                        for kind in ("weight", "bias")
                    }
                    """,
                    """
                        for kind in ("weight", "bias")
                    }
                    heads[0].w_q.weight.data = packed["w_q.weight"]
                    return packed
                    """,
                ),
            ])],
        ),
    ],
    accepted=ACCEPTED,
)
