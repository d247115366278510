"""A list of heads."""

from __future__ import annotations

from autograder.bank.inputs import causal_mask, open_mask
from autograder.bank.multi_head_attention._inputs import (
    head_parameters,
    linear_parameters,
)
from autograder.oracle.draw import Draw
from autograder.oracle.promise import OF_ATTENTION, Promise, special
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


def _list(
    batch: int,
    length: int,
    h: int,
    d_model: int,
    d_k: int,
    d_v: int,
    d_out: int,
    mask: str = "",
    pull: bool = False,
) -> Maker:
    """An input and the weights for a list of heads; mask is "causal" or "padding"."""

    def inputs(draw: Draw) -> Inputs:
        made: Inputs = {"x": draw.tensor(batch, length, d_model)}
        made |= head_parameters(draw, h, d_model, d_k, d_v, scale=0.5)
        made |= linear_parameters(draw, 1.0, w_o=(d_out, h * d_v))
        if mask == "causal":
            made["mask"] = causal_mask(length)
        elif mask == "padding":
            made["mask"] = open_mask(draw, batch, 1, length)
        return made | ({"pull": draw.tensor(batch, length, d_out)} if pull else {})

    return inputs


_RESULTS = "results = [head(x, mask) for head in self.heads]"
_JOINED = "joined = torch.cat(outputs, dim=-1)"
_LIST_RETURN = "return self.w_o(joined), torch.stack(weights, dim=1)"

EXERCISE = Specification(
    name="multi_head_attention/list_of_heads",
    title="A list of heads",
    target="ListOfHeads",
    promise=Promise(
        arguments="x: B L d; mask?: L L | B L L",
        results="output: B L e; weights: B h L L",
        on=("plain", "padding"),
        ways=OF_ATTENTION,
        module=True,
        sizes=special(
            one_sentence=_list(1, 3, 2, 5, 4, 3, 7, mask="padding"),
            one_head=_list(2, 3, 1, 5, 4, 6, 7, mask="causal"),
            one_position=_list(2, 1, 3, 5, 4, 6, 7),
            equal_sizes=_list(3, 3, 3, 3, 3, 3, 3, mask="causal"),
        ),
    ),
    cases=[
        CaseKind(
            name="plain",
            title="three heads, no mask",
            inputs=_list(2, 5, h=3, d_model=7, d_k=4, d_v=6, d_out=8),
            hint="Follow one head's output: where do its features stand after joining?",
        ),
        CaseKind(
            name="causal",
            title="a causal mask (L, L)",
            inputs=_list(3, 4, h=2, d_model=6, d_k=5, d_v=3, d_out=7, mask="causal"),
            hint="Every head must be given the mask.",
            aspect="masks",
        ),
        CaseKind(
            name="padding",
            title="a padding mask (B, 1, L), and the gradient",
            inputs=_list(
                2, 6, h=4, d_model=5, d_k=3, d_v=2, d_out=9, mask="padding", pull=True
            ),
            aspect="masks",
            hint="Does every head respect the mask, and does the gradient reach x?",
        ),
        CaseKind(
            name="single",
            title="a single head",
            inputs=_list(3, 5, h=1, d_model=4, d_k=6, d_v=7, d_out=2, mask="padding"),
            hint="One head is a list of length one; nothing else changes.",
            hidden_only=True,
            aspect="masks",
        ),
    ],
    mutants=[
        Mutant(
            name="python_list",
            says="The heads seem to be in an ordinary Python list, so the module does "
            "not know their parameters and no optimiser would train them.",
            asks="Which container of `nn` registers the modules that it holds?",
            ways=[Way(edits=[Edit("nn.ModuleList(", "list(")])],
        ),
        Mutant(
            name="same_head_repeated",
            says="All heads are one and the same object, listed `num_heads` times: "
            "they share their weights and can never differ.",
            asks="How often does your code call `SelfAttention(...)`?",
            ways=[Way(edits=[
                Edit("attention.SelfAttention(d_model, d_k, d_v) for _ in range(num_heads)",
                     "[attention.SelfAttention(d_model, d_k, d_v)] * num_heads"),
            ])],
        ),
        Mutant(
            name="heads_not_joined",
            says="`w_o` takes the features of one head only, so the heads are probably "
            "averaged or summed instead of put side by side.",
            asks="If each head gives `d_v` features and none is thrown away, how many "
            "come in?",
            ways=[
                Way(edits=[
                    Edit("nn.Linear(num_heads * d_v, d_out)", "nn.Linear(d_v, d_out)"),
                    Edit(_JOINED, "joined = torch.stack(outputs).mean(dim=0)"),
                ]),
                Way(name="heads_summed", edits=[
                    Edit("nn.Linear(num_heads * d_v, d_out)", "nn.Linear(d_v, d_out)"),
                    Edit(_JOINED, "joined = sum(outputs)"),
                ]),
            ],
        ),
        Mutant(
            name="averaged_and_repeated",
            says="Every head's block of features holds the same average of all heads.",
            asks="What is the use of several heads if their answers are averaged at "
            "once?",
            ways=[Way(edits=[
                Edit(_JOINED,
                     "joined = torch.cat([sum(outputs) / len(outputs)] * len(outputs), -1)"),
            ])],
        ),
        Mutant(
            name="only_first_head",
            says="All blocks come from head 0: the loop seems to call the same head "
            "each time.",
            asks="Does the variable of your loop appear inside the loop?",
            ways=[Way(edits=[
                Edit(_RESULTS,
                     "results = [self.heads[0](x, mask) for _ in self.heads]"),
            ])],
        ),
        Mutant(
            name="joined_along_positions",
            says="The outputs are joined along another dimension than the features, so "
            "`w_o` does not fit.",
            asks="Which of the three dimensions of `(B, L, d_v)` shall grow?",
            ways=[
                Way(edits=[Edit(_JOINED, "joined = torch.cat(outputs, dim=1)")]),
                Way(name="joined_along_batch", edits=[
                    Edit(_JOINED, "joined = torch.cat(outputs)"),
                ]),
            ],
        ),
        Mutant(
            name="no_output_projection",
            says="The joined heads come back as they are: `w_o` is made but not used.",
            asks="Which line lets the answers of different heads meet?",
            ways=[Way(edits=[
                Edit(_LIST_RETURN, "return joined, torch.stack(weights, dim=1)"),
            ])],
        ),
        Mutant(
            name="features_interleaved",
            says="The features are dealt out in turn (head 0, head 1, ..., head 0 "
            "again) instead of block after block; `stack` and `flatten` on the last "
            "dimension do this.",
            asks="After `stack(..., dim=-1)`, which index runs fastest: head or "
            "feature?",
            ways=[Way(edits=[
                Edit(_JOINED, "joined = torch.stack(outputs, dim=-1).flatten(-2)"),
            ])],
        ),
        Mutant(
            name="heads_reversed",
            says="The heads are joined in reverse order.",
            asks="Which head's features shall come first?",
            ways=[Way(edits=[
                Edit(_JOINED, "joined = torch.cat(outputs[::-1], dim=-1)"),
            ])],
        ),
        Mutant(
            name="activation_added",
            says="There is a ReLU between the heads and `w_o`; the definition has "
            "none.",
            asks="What does the formula at the top of this unit put between Concat and "
            "W^O?",
            ways=[Way(edits=[
                Edit(_LIST_RETURN,
                     "return self.w_o(joined.relu()), torch.stack(weights, 1)"),
            ])],
        ),
        Mutant(
            name="bias_once_per_head",
            says="The bias of `w_o` is added once for every head.",
            asks="If you apply `w_o` in pieces, how often may its bias take part?",
            ways=[Way(edits=[
                Edit(_LIST_RETURN,
                     "return self.w_o(joined) + (len(outputs) - 1) * self.w_o.bias, torch.stack(weights, dim=1)"),
            ])],
        ),
        Mutant(
            name="weights_averaged",
            says="The weights are averaged over the heads; each head's map is asked "
            "for.",
            asks="How many maps does a sentence have if there are `h` heads?",
            ways=[Way(edits=[
                Edit(_LIST_RETURN,
                     "return self.w_o(joined), torch.stack(weights).mean(0)"),
            ])],
        ),
        Mutant(
            name="weights_of_last_head",
            says="Only the last head's weights come back; in a loop, each round "
            "probably overwrites those of the round before.",
            asks="Where do you collect the weights of each round?",
            ways=[Way(edits=[
                Edit(_LIST_RETURN, "return self.w_o(joined), weights[-1]"),
            ])],
        ),
        Mutant(
            name="weights_heads_first",
            says="The weights have shape `(h, B, L, L)`: the new dimension stands "
            "before the batch.",
            asks="Which `dim` does `stack` use if you do not say?",
            ways=[Way(edits=[
                Edit(_LIST_RETURN, "return self.w_o(joined), torch.stack(weights)"),
            ])],
        ),
        Mutant(
            name="weights_concatenated",
            says="The maps are glued to one long map; a new dimension is wanted "
            "instead.",
            asks="What is the difference between `cat` and `stack`?",
            ways=[Way(edits=[
                Edit(_LIST_RETURN,
                     "return self.w_o(joined), torch.cat(weights, dim=1)"),
            ])],
        ),
        Mutant(
            name="weights_concatenated_along_keys",
            says="The maps are glued side by side along the keys; a new dimension is "
            "wanted instead.",
            asks="What is the difference between `cat` and `stack`?",
            ways=[Way(edits=[
                Edit(_LIST_RETURN,
                     "return self.w_o(joined), torch.cat(weights, dim=-1)"),
            ])],
        ),
        Mutant(
            name="weights_in_a_tuple",
            says="The weights come back as a tuple of maps; one tensor is asked for.",
            asks="Which function makes one tensor, with a new dimension, out of "
            "several?",
            ways=[Way(edits=[Edit(_LIST_RETURN, "return self.w_o(joined), weights")])],
        ),
        Mutant(
            name="weights_in_a_list",
            says="The weights come back as a list of maps; one tensor is asked for.",
            asks="Which function makes one tensor, with a new dimension, out of "
            "several?",
            ways=[Way(edits=[
                Edit(_LIST_RETURN, "return self.w_o(joined), list(weights)"),
            ])],
        ),
        Mutant(
            name="only_output",
            says="Only the output comes back; the weights are asked for, too.",
            asks="What does the docstring list under Returns?",
            ways=[Way(edits=[Edit(_LIST_RETURN, "return self.w_o(joined)")])],
        ),
        Mutant(
            name="results_swapped",
            says="Output and weights come back in the wrong order.",
            asks="Which of the two comes first, by the conventions of this course?",
            ways=[Way(edits=[
                Edit(_LIST_RETURN,
                     "return torch.stack(weights, dim=1), self.w_o(joined)"),
            ])],
        ),
        Mutant(
            name="mask_forgotten",
            says="The mask does not arrive: the heads attend to forbidden positions.",
            asks="Which arguments does `SelfAttention.forward` take?",
            ways=[Way(edits=[
                Edit(_RESULTS, "results = [head(x) for head in self.heads]"),
            ])],
        ),
        Mutant(
            name="mask_for_first_head_only",
            says="Only head 0 respects the mask; through the other heads, forbidden "
            "positions still move the output.",
            asks="What is `mask` in the second round of your loop?",
            ways=[Way(edits=[
                Edit(_RESULTS,
                     "results = [h(x, None if i else mask) for i, h in enumerate(self.heads)]"),
            ])],
        ),
        Mutant(
            name="mask_inverted",
            says="The mask works the wrong way round: what may be seen is hidden.",
            asks="What does `True` mean in the masks of this course?",
            ways=[Way(edits=[
                Edit(_RESULTS,
                     "results = [head(x, None if mask is None else ~mask) for head in self.heads]"),
            ])],
        ),
        Mutant(
            name="heads_in_a_chain",
            says="Each head gets the output of the head before it; all of them should "
            "see `x`.",
            asks="Is the name of your input still that of the input after the first "
            "round?",
            ways=[Way(edits=[
                Edit(
                    _RESULTS,
                    """
                    results = []
                    for head in self.heads:
                        results.append(head(x, mask))
                        x = results[-1][0]
                    """,
                ),
            ])],
        ),
        Mutant(
            name="no_gradient",
            says="The output is cut off from the gradient: there is a `no_grad`, a "
            "`detach` or a `.data` on the way.",
            asks="Would training reach the weights of your heads?",
            ways=[Way(edits=[
                Edit(_JOINED, "joined = torch.cat(outputs, dim=-1).detach()"),
            ])],
        ),
        Mutant(
            name="projection_without_bias",
            says="`w_o` has no bias.",
            asks="Which argument of `nn.Linear` did you set?",
            ways=[Way(edits=[
                Edit("nn.Linear(num_heads * d_v, d_out)",
                     "nn.Linear(num_heads * d_v, d_out, bias=False)"),
            ])],
        ),
        Mutant(
            name="sizes_swapped",
            says="`d_k` and `d_v` have changed places in the heads.",
            asks="In which order does `SelfAttention` take its sizes?",
            ways=[Way(edits=[
                Edit("SelfAttention(d_model, d_k, d_v)",
                     "SelfAttention(d_model, d_v, d_k)"),
            ])],
        ),
        Mutant(
            name="heads_of_a_slice",
            says="Each head is made for a part of the features only. In this view "
            "every head sees the whole `x`.",
            asks="In the drawing above, what arrows go into `heads[1]`?",
            ways=[Way(edits=[
                Edit("SelfAttention(d_model, d_k, d_v)",
                     "SelfAttention(d_model // num_heads, d_k, d_v)"),
            ])],
        ),
        Mutant(
            name="heads_start_alike",
            says="All heads start as copies of one: they get the same gradients and stay "
            "alike.",
            asks="In what could two heads differ that began alike?",
            ways=[Way(edits=[
                Edit("self.w_o = nn.Linear(num_heads * d_v, d_out)",
                     "self.w_o = nn.Linear(num_heads * d_v, d_out)\nfor head in self.heads:\n    head.load_state_dict(self.heads[0].state_dict())"),
            ])],
        ),
    ],
    accepted=[
        Accepted(name="plain_loop", edits=[
            Edit(
                _RESULTS,
                """
                results = []
                for head in self.heads:
                    results.append(head(x, mask=mask))
                """,
            ),
        ]),
        Accepted(name="append_and_unsqueeze", source="""
            class ListOfHeads(nn.Module):
                def __init__(self, d_model, num_heads, d_k, d_v, d_out):
                    super().__init__()
                    self.w_o = nn.Linear(d_v * num_heads, d_out)
                    self.heads = nn.ModuleList()
                    for _ in range(num_heads):
                        self.heads.append(attention.SelfAttention(d_model, d_k, d_v))

                def forward(self, x, mask=None):
                    outs, maps = [], []
                    for head in self.heads:
                        o, w = head(x, mask)
                        outs.append(o)
                        maps.append(w.unsqueeze(1))
                    return self.w_o(torch.cat(outs, -1)), torch.cat(maps, 1)
            """),
        Accepted(name="stack_then_flatten", edits=[
            Edit(_JOINED, "joined = torch.stack(outputs, dim=2).flatten(2)"),
        ]),
        Accepted(name="sum_of_blocks", edits=[
            Edit(
                _LIST_RETURN,
                """
                blocks = self.w_o.weight.chunk(len(outputs), dim=1)
                out = sum(o @ b.T for o, b in zip(outputs, blocks))
                return out + self.w_o.bias, torch.stack(weights, dim=1)
                """,
            ),
        ]),
        Accepted(name="sequential_container_and_list_result", edits=[
            Edit(
                """
                self.heads = nn.ModuleList(
                    attention.SelfAttention(d_model, d_k, d_v) for _ in range(num_heads)
                )
                """,
                "self.heads = nn.Sequential(*[attention.SelfAttention(d_model, d_k, d_v) for _ in range(num_heads)])",
            ),
            Edit(_LIST_RETURN,
                 "return [self.w_o(joined), torch.stack(weights, dim=1)]"),
        ]),
        Accepted(name="filled_in_place", source="""
            class ListOfHeads(nn.Module):
                def __init__(self, d_model, num_heads, d_k, d_v, d_out):
                    super().__init__()
                    self.heads = nn.ModuleList(
                        [attention.SelfAttention(d_model=d_model, d_k=d_k, d_v=d_v)
                         for _ in range(num_heads)])
                    self.w_o = nn.Linear(in_features=num_heads * d_v, out_features=d_out)
                    self.d_v = d_v

                def forward(self, x, mask=None):
                    B, L, _ = x.shape
                    joined = x.new_zeros(B, L, self.w_o.in_features)
                    maps = x.new_zeros(B, len(self.heads), L, L)
                    for i, head in enumerate(self.heads):
                        output, maps[:, i] = head(x, mask)
                        joined[..., i * self.d_v : (i + 1) * self.d_v] = output
                    return self.w_o(joined), maps
            """),
    ],
)
