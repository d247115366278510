"""To PyTorch."""

from __future__ import annotations

from autograder.bank.multi_head_attention._inputs import multi_head_inputs
from autograder.bank.multi_head_attention._to_pytorch.accepted import ACCEPTED
from autograder.oracle.promise import Promise, special
from autograder.oracle.specification import (
    CaseKind,
    Edit,
    Maker,
    Mutant,
    Specification,
    Way,
)


def _for_pytorch(batch: int, h: int, d_k: int, lq: int, lk: int) -> Maker:
    return multi_head_inputs(batch, h, d_k, lq, lk)


_MADE = "theirs = nn.MultiheadAttention(d_model, mine.num_heads, batch_first=True)"
_LAYERS_IN_ORDER = "layers = (mine.w_q, mine.w_k, mine.w_v)"
_COPY_WEIGHTS = "theirs.in_proj_weight.copy_(torch.cat([layer.weight for layer in layers]))"
_COPY_BIASES = "theirs.in_proj_bias.copy_(torch.cat([layer.bias for layer in layers]))"
_COPY_OUT = "theirs.out_proj.load_state_dict(mine.w_o.state_dict())"

EXERCISE = Specification(
    name="multi_head_attention/to_pytorch",
    title="To PyTorch",
    target="to_pytorch",
    # That the copies are not tied is half of it.
    aspects={"calls": 3.0, "weights": 3.0, "in_proj_bias": 1.0},
    promise=Promise(
        ways=(),
        sizes=special(
            heads_of_one_feature=_for_pytorch(2, 4, 1, lq=5, lk=3),
            a_single_feature=_for_pytorch(2, 1, 1, lq=4, lk=3),
            many_heads_and_features=_for_pytorch(1, 8, 4, lq=3, lk=2),
            a_head_of_many_features=_for_pytorch(1, 1, 16, lq=2, lk=3),
        ),
    ),
    cases=[
        CaseKind(
            name="plain",
            title="three heads",
            inputs=_for_pytorch(2, 3, 4, lq=5, lk=7),
            hint="Compare `in_proj_weight` with your three weights, row by row.",
        ),
        CaseKind(
            name="others",
            title="other sizes",
            inputs=_for_pytorch(3, 4, 2, lq=6, lk=5),
            hint="Compare `in_proj_weight` with your three weights, row by row.",
        ),
        CaseKind(
            name="single",
            title="a single head",
            inputs=_for_pytorch(2, 1, 6, lq=4, lk=3),
            hint="PyTorch's layer has as many heads as yours, also if that is one.",
        ),
        CaseKind(
            name="odd",
            title="an odd number of features",
            inputs=_for_pytorch(2, 3, 3, lq=4, lk=5),
            hint="Does PyTorch's layer have as many heads as yours?",
            hidden_only=True,
        ),
        CaseKind(
            name="many",
            title="more heads than features in a head",
            inputs=_for_pytorch(4, 5, 2, lq=3, lk=6),
            hint="Does PyTorch's layer have as many heads as yours?",
            hidden_only=True,
        ),
    ],
    mutants=[
        Mutant(
            name="yours_frozen",
            says="Your own layer no longer learns afterwards.",
            asks="What does `requires_grad_` change, and for how long?",
            ways=[Way(edits=[
                Edit(_LAYERS_IN_ORDER,
                     "layers = [layer.requires_grad_(False) for layer in (mine.w_q, mine.w_k, mine.w_v)]"),
            ])],
        ),
        Mutant(
            name="no_bias_of_the_keys",
            says="The bias of the keys is left out. (No weight shows it, since each "
            "query adds the same to all its scores.)",
            asks="Was a copy asked for, or a layer that computes the same?",
            ways=[Way(edits=[
                Edit("[layer.bias for layer in layers]",
                     "[mine.w_q.bias, 0 * mine.w_k.bias, mine.w_v.bias]"),
            ])],
        ),
        Mutant(
            name="order_kqv",
            says="The rows of `in_proj_weight` seem to be in the order k, q, v.",
            asks="In which order does PyTorch expect queries, keys and values?",
            ways=[Way(edits=[
                Edit(_LAYERS_IN_ORDER, "layers = (mine.w_k, mine.w_q, mine.w_v)"),
            ])],
        ),
        Mutant(
            name="order_vkq",
            says="The rows of `in_proj_weight` seem to be in the order v, k, q.",
            asks="In which order does PyTorch expect queries, keys and values?",
            ways=[Way(edits=[
                Edit(_LAYERS_IN_ORDER, "layers = (mine.w_v, mine.w_k, mine.w_q)"),
            ])],
        ),
        Mutant(
            name="order_qvk",
            says="The rows of `in_proj_weight` seem to be in the order q, v, k.",
            asks="In which order does PyTorch expect queries, keys and values?",
            ways=[Way(edits=[
                Edit(_LAYERS_IN_ORDER, "layers = (mine.w_q, mine.w_v, mine.w_k)"),
            ])],
        ),
        Mutant(
            name="order_kvq",
            says="The rows of `in_proj_weight` seem to be in the order k, v, q.",
            asks="In which order does PyTorch expect queries, keys and values?",
            ways=[Way(edits=[
                Edit(_LAYERS_IN_ORDER, "layers = (mine.w_k, mine.w_v, mine.w_q)"),
            ])],
        ),
        Mutant(
            name="order_vqk",
            says="The rows of `in_proj_weight` seem to be in the order v, q, k.",
            asks="In which order does PyTorch expect queries, keys and values?",
            ways=[Way(edits=[
                Edit(_LAYERS_IN_ORDER, "layers = (mine.w_v, mine.w_q, mine.w_k)"),
            ])],
        ),
        Mutant(
            name="transposed",
            says="The weights were transposed on the way.",
            asks="Do `nn.Linear` and `in_proj_weight` store outputs and inputs in the "
            "same order?",
            ways=[
                Way(edits=[
                    Edit(_COPY_WEIGHTS,
                         "theirs.in_proj_weight.copy_(torch.cat([layer.weight.T for layer in layers]))"),
                ]),
                Way(name="transposed_as_a_whole", edits=[
                    Edit(_COPY_WEIGHTS,
                         "theirs.in_proj_weight.copy_(torch.cat([layer.weight for layer in layers], dim=1).T)"),
                ]),
            ],
        ),
        Mutant(
            name="output_transposed",
            says="The weight of `w_o` was transposed on the way.",
            asks="Is `out_proj` not simply an `nn.Linear`, too?",
            ways=[Way(edits=[
                Edit(_COPY_OUT,
                     "theirs.out_proj.weight.copy_(mine.w_o.weight.T); theirs.out_proj.bias.copy_(mine.w_o.bias)"),
            ])],
        ),
        Mutant(
            name="rows_interleaved",
            says="The rows of q, k and v take turns; they should stand block by block.",
            asks="Which rows of `in_proj_weight` are PyTorch's keys?",
            ways=[Way(edits=[
                Edit(_COPY_WEIGHTS,
                     "theirs.in_proj_weight.copy_(torch.stack([layer.weight for layer in layers], 1).flatten(0, 1))"),
            ])],
        ),
        Mutant(
            name="queries_three_times",
            says="Keys and values have the weights of the queries.",
            asks="Which three layers belong into `in_proj_weight`?",
            ways=[Way(edits=[Edit(_LAYERS_IN_ORDER, "layers = (mine.w_q,) * 3")])],
        ),
        Mutant(
            name="biases_forgotten",
            says="`in_proj_bias` is not copied.",
            asks="Which parameters does `theirs.named_parameters()` list?",
            ways=[Way(edits=[Edit(_COPY_BIASES, "pass")])],
        ),
        Mutant(
            name="output_forgotten",
            says="The last layer, `out_proj`, is not copied.",
            asks="Which parameters does `theirs.named_parameters()` list?",
            ways=[Way(edits=[Edit(_COPY_OUT, "pass")])],
        ),
        Mutant(
            name="output_bias_forgotten",
            says="The bias of `out_proj` is not copied.",
            asks="Which parameters does `theirs.named_parameters()` list?",
            ways=[Way(edits=[
                Edit(_COPY_OUT, "theirs.out_proj.weight.copy_(mine.w_o.weight)"),
            ])],
        ),
        Mutant(
            name="all_biases_forgotten",
            says="No bias is copied, neither `in_proj_bias` nor that of `out_proj`.",
            asks="Which parameters does `theirs.named_parameters()` list?",
            ways=[Way(edits=[
                Edit(_COPY_BIASES, "pass"),
                Edit(_COPY_OUT, "theirs.out_proj.weight.copy_(mine.w_o.weight)"),
            ])],
        ),
        Mutant(
            name="inputs_forgotten",
            says="`in_proj_weight` is not copied.",
            asks="Which parameters does `theirs.named_parameters()` list?",
            ways=[Way(edits=[Edit(_COPY_WEIGHTS, "pass")])],
        ),
        Mutant(
            name="nothing_copied",
            says="The new layer has fresh, random weights: nothing is copied.",
            asks="Do your lines change the new layer, or only names for it?",
            ways=[
                Way(edits=[
                    Edit(_COPY_WEIGHTS, "pass"),
                    Edit(_COPY_BIASES, "pass"),
                    Edit(_COPY_OUT, "pass"),
                ]),
                Way(name="names_rebound", edits=[
                    Edit(_COPY_WEIGHTS,
                         "weight = theirs.in_proj_weight; weight = torch.cat([layer.weight for layer in layers])"),
                    Edit(_COPY_BIASES,
                         "bias = theirs.in_proj_bias; bias = torch.cat([layer.bias for layer in layers])"),
                    Edit(_COPY_OUT, "out = theirs.out_proj; out = mine.w_o"),
                ]),
            ],
        ),
        Mutant(
            name="positions_first",
            says="The new layer expects positions before the batch, PyTorch's old "
            "habit.",
            asks="Which argument puts the batch first?",
            ways=[Way(edits=[
                Edit(_MADE, "theirs = nn.MultiheadAttention(d_model, mine.num_heads)"),
            ])],
        ),
        Mutant(
            name="one_head",
            says="The new layer has a single head.",
            asks="Where does the number of your heads go in?",
            ways=[Way(edits=[
                Edit(_MADE,
                     "theirs = nn.MultiheadAttention(d_model, 1, batch_first=True)"),
            ])],
        ),
        Mutant(
            name="never_one_head",
            says="A layer with a single head becomes one with several.",
            asks="How many heads should the copy of a single head have?",
            ways=[Way(edits=[Edit(_MADE, """
                theirs = nn.MultiheadAttention(
                    d_model, mine.num_heads if mine.num_heads > 1 else 2, batch_first=True
                )
                """)])],
        ),
        Mutant(
            name="heads_guessed",
            says="The new layer has as many heads as would have four features each.",
            asks="Who knows how many heads your layer has?",
            ways=[
                Way(edits=[Edit(_MADE, """
                    heads = mine.num_heads if d_model % 4 else d_model // 4
                    theirs = nn.MultiheadAttention(d_model, heads, batch_first=True)
                    """)]),
                Way(name="heads_guessed_at_least_two", edits=[Edit(_MADE, """
                    heads = mine.num_heads if d_model % 4 or d_model < 8 else d_model // 4
                    theirs = nn.MultiheadAttention(d_model, heads, batch_first=True)
                    """)]),
            ],
        ),
        Mutant(
            name="remembered",
            says="A layer that was copied before comes back with its old weights, whatever "
            "yours holds by now.",
            asks="What may have happened to your layer between two calls?",
            ways=[Way(edits=[
                Edit("def to_pytorch(mine: nn.Module) -> nn.MultiheadAttention:", """
                    import functools

                    @functools.cache
                    def to_pytorch(mine: nn.Module) -> nn.MultiheadAttention:
                    """),
            ])],
        ),
        Mutant(
            name="one_copy_for_all",
            says="All layers of one size have one and the same copy: what an earlier call "
            "returned holds other weights now.",
            asks="Where is your new layer made: in each call, or once for a size?",
            ways=[Way(source="""
                copies = {}

                def to_pytorch(mine):
                    size = mine.w_o.out_features, mine.num_heads
                    if size not in copies:
                        copies[size] = nn.MultiheadAttention(*size, batch_first=True)
                    theirs = copies[size]
                    layers = (mine.w_q, mine.w_k, mine.w_v)
                    with torch.no_grad():
                        theirs.in_proj_weight.copy_(torch.cat([layer.weight for layer in layers]))
                        theirs.in_proj_bias.copy_(torch.cat([layer.bias for layer in layers]))
                        theirs.out_proj.load_state_dict(mine.w_o.state_dict())
                    return theirs
                """)],
        ),
        Mutant(
            name="size_of_head_for_heads",
            says="The new layer has `d_k` heads: their number and their size have "
            "changed places.",
            asks="What is the second argument of `nn.MultiheadAttention`?",
            ways=[Way(edits=[
                Edit(_MADE,
                     "theirs = nn.MultiheadAttention(d_model, d_model // mine.num_heads, batch_first=True)"),
            ])],
        ),
        Mutant(
            name="output_tied",
            says="`out_proj` and your `w_o` hold the very same numbers in memory: "
            "training one layer changes the other.",
            asks="Does `=` copy numbers, or give them a second name?",
            ways=[
                Way(edits=[Edit(_COPY_OUT, "theirs.out_proj = mine.w_o")]),
                Way(name="output_memory_tied", edits=[
                    Edit(_COPY_OUT,
                         "theirs.out_proj.weight = nn.Parameter(mine.w_o.weight); theirs.out_proj.bias = nn.Parameter(mine.w_o.bias)"),
                ]),
            ],
        ),
        Mutant(
            name="output_weight_tied",
            says="`out_proj.weight` shares its memory with your `w_o.weight`: training "
            "one layer changes the other.",
            asks="Does `.data = ...` copy numbers, or point to them?",
            ways=[Way(edits=[
                Edit(_COPY_OUT,
                     "theirs.out_proj.weight.data = mine.w_o.weight.data; theirs.out_proj.bias.copy_(mine.w_o.bias)"),
            ])],
        ),
        Mutant(
            name="wrong_direction",
            says="The copy runs in the wrong direction: *your* layer has changed.",
            asks="In `a.copy_(b)`, which of the two is written to?",
            ways=[Way(edits=[
                Edit(_COPY_WEIGHTS,
                     "[layer.weight.copy_(part) for layer, part in zip(layers, theirs.in_proj_weight.chunk(3))]"),
                Edit(_COPY_BIASES,
                     "[layer.bias.copy_(part) for layer, part in zip(layers, theirs.in_proj_bias.chunk(3))]"),
                Edit(_COPY_OUT,
                     "mine.w_o.load_state_dict(theirs.out_proj.state_dict())"),
            ])],
        ),
        Mutant(
            name="gradients_recorded",
            says="PyTorch refuses to write into a parameter while it records "
            "gradients.",
            asks="How do you tell PyTorch that copying is nothing to differentiate?",
            ways=[Way(edits=[Edit("with torch.no_grad():", "if True:")])],
        ),
        Mutant(
            name="a_state_dict",
            says="The weights came back; the layer itself is asked for.",
            asks="What is the type after the arrow in the function's first line?",
            ways=[Way(edits=[Edit("return theirs", "return theirs.state_dict()")])],
        ),
        Mutant(
            name="nothing_returned",
            says="Nothing came back.",
            asks="Is there a `return` in your function?",
            ways=[Way(edits=[Edit("return theirs", "pass")])],
        ),
        Mutant(
            name="frozen",
            says="PyTorch's layer cannot be trained: its weights ask for no gradient.",
            asks="What do `requires_grad_(False)` and `detach` do to a parameter?",
            ways=[Way(edits=[Edit("return theirs", "return theirs.requires_grad_(False)")])],
        ),
        Mutant(
            name="dropout_kept",
            says="PyTorch's layer will drop as many weights in training as yours does.",
            asks="Which dropout does the text ask for?",
            ways=[Way(edits=[
                Edit(_MADE, """
                    theirs = nn.MultiheadAttention(
                        d_model, mine.num_heads, batch_first=True,
                        dropout=sum(m.p for m in mine.modules() if isinstance(m, nn.Dropout)),
                    )
                    """),
            ])],
        ),
        Mutant(
            name="mode_of_mine_changed",
            says="Your own layer is in another mode afterwards: it was training.",
            asks="Does a copy need `eval()`, and on whose layer did you call it?",
            ways=[Way(edits=[Edit("return theirs", "mine.eval()\nreturn theirs")])],
        ),
    ],
    accepted=ACCEPTED,
)
