"""Your parameters under PyTorch's names."""

from __future__ import annotations

from autograder.bank.encoder_decoder._inputs import (
    DECODER,
    ENCODER,
    Shapes,
    layer_shapes,
    stack_shapes,
)
from autograder.oracle.draw import Draw
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


def _state(shapes: Shapes) -> Maker:
    def inputs(draw: Draw) -> Inputs:
        return {f"state.{name}": draw.tensor(*shape) for name, shape in shapes.items()}

    return inputs


EXERCISE = Specification(
    name="encoder_decoder/to_pytorch",
    title="Your parameters under PyTorch's names",
    target="to_pytorch",
    cases=[
        CaseKind(
            name="encoder_layer",
            title="an encoder layer",
            inputs=_state(layer_shapes("", ENCODER, 4, 3)),
            hint="Write both lists of names side by side.",
        ),
        CaseKind(
            name="decoder_layer",
            title="a decoder layer",
            inputs=_state(layer_shapes("", DECODER, 3, 5)),
            hint="`attention` is a part of `self_attention` and `cross_attention`, "
            "too.",
        ),
        CaseKind(
            name="both_stacks",
            title="encoder and decoder with final norms",
            inputs=_state(
                stack_shapes("encoder.", ENCODER, 2, 2, 3, True)
                | stack_shapes("decoder.", DECODER, 1, 2, 3, True)
            ),
            hint="Does your code work under any prefix?",
        ),
        CaseKind(
            name="other_names",
            title="a whole model: its other names are kept as they are",
            inputs=_state(
                {"source.embedding.weight": (5, 2), "output.weight": (7, 2)}
                | stack_shapes("encoder.", ENCODER, 1, 2, 3, False)
                | {"output.bias": (7,)}
            ),
            hint="What does your code do with a name that stands in no row of the table?",
        ),
        CaseKind(
            name="deep",
            title="a deep stack under a long prefix",
            inputs=_state(stack_shapes("model.body.decoder.", DECODER, 3, 2, 5, False)),
            hint="Does your code work under any prefix?",
            hidden_only=True,
        ),
    ],
    mutants=[
        Mutant(
            name="order_kqv",
            says="The three projections are joined in another order than query, key, "
            "value.",
            asks="How does PyTorch's documentation order the rows of `in_proj_weight`?",
            ways=[Way(edits=[Edit('for letter in "qkv"', 'for letter in "kqv"')])],
        ),
        Mutant(
            name="order_qvk",
            says="Key and value are exchanged in `in_proj_weight`.",
            asks="Which comes second?",
            ways=[Way(edits=[Edit('for letter in "qkv"', 'for letter in "qvk"')])],
        ),
        Mutant(
            name="joined_as_columns",
            says="The projections are joined side by side, as columns. They belong one "
            "below the other.",
            asks="What shape has the joined weight to have?",
            ways=[Way(edits=[Edit("torch.cat(thirds)", "torch.cat(thirds, dim=-1)")])],
        ),
        Mutant(
            name="transposed",
            says="The weights are transposed. `nn.Linear` and `nn.MultiheadAttention` "
            "store them the same way.",
            asks="What is the shape of `nn.Linear(a, b).weight`?",
            ways=[Way(edits=[
                Edit("torch.cat(thirds)", "torch.cat([third.T for third in thirds])"),
            ])],
        ),
        Mutant(
            name="others_lost",
            says="Names that are the same on both sides are left out.",
            asks="What does the docstring say of other names?",
            ways=[Way(edits=[
                Edit("theirs[name] = tensor",
                     "theirs |= {name: tensor} if name not in state or 'norm' in name else {}"),
            ])],
        ),
        Mutant(
            name="given_written",
            says="You write into the given dictionary.",
            asks="To which of the two dictionaries does your code assign?",
            ways=[Way(edits=[
                Edit(
                    "return theirs",
                    """
                    state.update({name: tensor.clone() for name, tensor in state.items()})
                    return theirs
                    """,
                ),
            ])],
        ),
        Mutant(
            name="stacked",
            says="The projections are stacked along a new dimension.",
            asks="Which function joins along a dimension that exists?",
            ways=[Way(edits=[Edit("torch.cat(thirds)", "torch.stack(thirds)")])],
        ),
        Mutant(
            name="query_only",
            says="`in_proj_weight` holds the query projection only.",
            asks="Three tensors become one. Where are the other two?",
            ways=[Way(edits=[Edit("torch.cat(thirds)  #", "thirds[0]  #")])],
        ),
        Mutant(
            name="one_for_all",
            says="The query projection is used three times.",
            asks="Which letters does your loop run through?",
            ways=[Way(edits=[Edit("torch.cat(thirds)", "torch.cat([thirds[0]] * 3)")])],
        ),
        Mutant(
            name="wk_kept",
            says="Keys and values are still there under their old names.",
            asks="What should become of a `w_k` when it has been joined?",
            ways=[Way(edits=[
                Edit(
                    "continue",
                    """
                    theirs[name] = tensor
                    continue
                    """,
                ),
            ])],
        ),
        Mutant(
            name="nothing_joined",
            says="The projections are renamed, but not joined.",
            asks="What does PyTorch have in place of three linear layers?",
            ways=[Way(edits=[
                Edit(
                    """
                    if ".w_k." in name or ".w_v." in name:
                        continue
                    """,
                    "",
                ),
                Edit("tensor = torch.cat(thirds)", "tensor = tensor"),
            ])],
        ),
        Mutant(
            name="dot_kept",
            says="The joined parameters are called `in_proj.weight` instead of "
            "`in_proj_weight`.",
            asks="Is `in_proj_weight` a module with a weight, or a parameter?",
            ways=[Way(edits=[Edit('"w_q.": "in_proj_"', '"w_q.": "in_proj."')])],
        ),
        Mutant(
            name="out_proj_forgotten",
            says="`w_o` keeps its name; PyTorch calls it `out_proj`.",
            asks="Which line of the table is missing in your code?",
            ways=[Way(edits=[Edit('"w_o.": "out_proj.",', "")])],
        ),
        Mutant(
            name="feed_forward_kept",
            says="`feed_forward.` is still in the names; in PyTorch's layer `linear1` "
            "stands by itself.",
            asks="Which line of the table is missing in your code?",
            ways=[Way(edits=[Edit('"feed_forward.": "",', "")])],
        ),
        Mutant(
            name="cross_forgotten",
            says="The cross-attention has become `cross_self_attn`: the short name was "
            "replaced inside the long one.",
            asks="Which replacement must come first?",
            ways=[Way(edits=[Edit('"cross_attention.": "multihead_attn.",', "")])],
        ),
        Mutant(
            name="order_of_names",
            says="`self_attention` has become `self_self_attn`, and `cross_attention` "
            "`cross_self_attn`: the short name was replaced inside the long ones.",
            asks="Which replacement must come last?",
            ways=[Way(edits=[
                Edit(
                    """
                    "cross_attention.": "multihead_attn.",
                    "self_attention.": "self_attn.",
                    "attention.": "self_attn.",
                    """,
                    """
                    "attention.": "self_attn.",
                    "cross_attention.": "multihead_attn.",
                    "self_attention.": "self_attn.",
                    """,
                ),
            ])],
        ),
        Mutant(
            name="self_forgotten",
            says="`self_attention` has become `self_self_attn`.",
            asks="Which replacement must come before `attention` alone?",
            ways=[Way(edits=[Edit('"self_attention.": "self_attn.",', "")])],
        ),
        Mutant(
            name="attentions_swapped",
            says="The decoder's two attentions are exchanged.",
            asks="Which of yours is PyTorch's `multihead_attn`?",
            ways=[Way(edits=[
                Edit('"cross_attention.": "multihead_attn."',
                     '"cross_attention.": "self_attn."'),
                Edit('"self_attention.": "self_attn."',
                     '"self_attention.": "multihead_attn."'),
            ])],
        ),
        Mutant(
            name="encoder_forgotten",
            says="The encoder's `attention` keeps its name; PyTorch calls it "
            "`self_attn`.",
            asks="Which line of the table is missing in your code?",
            ways=[Way(edits=[Edit('"attention.": "self_attn.",', "")])],
        ),
        Mutant(
            name="biases_lost",
            says="The biases of the projections are lost.",
            asks="Which of `weight` and `bias` does your code join?",
            ways=[Way(edits=[
                Edit(
                    'if ".w_q." in name:',
                    """
                    if ".w_q.bias" in name:
                        continue
                    if ".w_q." in name:
                    """,
                ),
            ])],
        ),
        Mutant(
            name="norms_lost",
            says="The norms are missing.",
            asks="What does your code do with names that are not in the table?",
            ways=[Way(edits=[
                Edit(
                    "theirs[name] = tensor",
                    """
                    if "norm" not in name:
                        theirs[name] = tensor
                    """,
                ),
            ])],
        ),
        Mutant(
            name="changes_given",
            says="The given dictionary is changed: entries are missing from it "
            "afterwards.",
            asks="Do you `pop` from the dictionary that you were given?",
            ways=[Way(edits=[
                Edit(
                    "for name, tensor in state.items():",
                    """
                    for name in list(state):
                        tensor = state[name]
                    """,
                ),
                Edit(
                    """
                    if ".w_k." in name or ".w_v." in name:
                        continue
                    """,
                    """
                    if ".w_k." in name or ".w_v." in name:
                        continue
                    old = name
                    """,
                ),
                Edit(
                    "theirs[name] = tensor",
                    """
                    theirs[name] = tensor
                    if not old.endswith('_q.weight'):
                        state.pop(old)
                    """,
                ),
            ])],
        ),
        Mutant(
            name="no_prefix",
            says="Your code works for a single layer, but not for names with a prefix.",
            asks="What comes before `attention` in "
            "`encoder.layers.0.attention.w_q.weight`?",
            ways=[Way(edits=[
                Edit(
                    "name = name.replace(mine, new)",
                    """
                    if name.startswith(mine) or '.layers.' not in '.' + name:
                        name = name.replace(mine, new)
                    """,
                ),
            ])],
        ),
    ],
    accepted=[
        Accepted(name="by_prefix", source="""
            def to_pytorch(state):
                out = {}
                for key in state:
                    *path, module, kind = key.split('.')
                    path = ['multihead_attn' if p == 'cross_attention' else p for p in path]
                    path = ['self_attn' if p in ('attention', 'self_attention') else p for p in path]
                    path = [p for p in path if p != 'feed_forward']
                    if module in ('w_k', 'w_v'):
                        continue
                    if module == 'w_q':
                        head = key[: -len(f'w_q.{kind}')]
                        parts = [state[f'{head}{m}.{kind}'] for m in ('w_q', 'w_k', 'w_v')]
                        out['.'.join([*path, f'in_proj_{kind}'])] = torch.cat(parts, dim=0)
                        continue
                    module = 'out_proj' if module == 'w_o' else module
                    out['.'.join([*path, module, kind])] = state[key].clone()
                return out
            """),
        Accepted(name="regular_expressions", source=r"""
            def to_pytorch(state):
                import re
                def new(name):
                    name = name.replace('cross_attention', 'multihead_attn')
                    name = re.sub(r'\b(self_)?attention\b', 'self_attn', name)
                    return name.replace('feed_forward.', '').replace('w_o', 'out_proj')
                found = {new(n): t for n, t in state.items()}
                for name in [n for n in found if '.w_q.' in n]:
                    q, k, v = (found.pop(name.replace('w_q', w)) for w in ('w_q', 'w_k', 'w_v'))
                    found[name.replace('w_q.', 'in_proj_')] = torch.vstack((q, k, v)) if q.dim() == 2 else torch.hstack((q, k, v))
                return found
            """),
        Accepted(name="an_ordered_dict", edits=[
            Edit(
                "theirs = {}",
                """
                from collections import OrderedDict
                theirs = OrderedDict()
                """,
            ),
        ]),
    ],
)
