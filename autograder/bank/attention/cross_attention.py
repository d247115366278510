"""Cross-attention."""

from __future__ import annotations

from autograder.bank.attention._cross_attention.accepted import ACCEPTED
from autograder.bank.attention._cross_attention.lines import KV
from autograder.bank.attention._inputs import projections
from autograder.bank.inputs import open_mask, with_zeros
from autograder.bank.mutants import (
    mask_in_the_state,
    under_two_names,
    weights_detached,
)
from autograder.oracle.draw import Draw
from autograder.oracle.promise import OF_ATTENTION, Promise, special
from autograder.oracle.specification import (
    CaseKind,
    Edit,
    Inputs,
    Maker,
    Mutant,
    Specification,
    Way,
)


def _cross(
    batch: int,
    lq: int,
    lk: int,
    d_model: int,
    d_memory: int,
    d_k: int,
    d_v: int,
    mask: tuple[int, ...] = (),
    pull: bool = False,
) -> Maker:
    def inputs(draw: Draw) -> Inputs:
        made: Inputs = {
            "x": draw.tensor(batch, lq, d_model, scale=1.0),
            "memory": draw.tensor(batch, lk, d_memory, scale=1.0),
        }
        made |= projections(draw, d_model, d_memory, d_k, d_v)
        made |= {"mask": open_mask(draw, *mask)} if mask else {}
        return made | ({"pull": draw.tensor(batch, lq, d_v)} if pull else {})

    return inputs



EXERCISE = Specification(
    name="attention/cross_attention",
    title="Cross-attention",
    target="CrossAttention",
    aspects={"weights": 4.0},  # right ones are half of the way
    promise=Promise(
        arguments="x: B Lq d; memory: B Lk c; mask?: Lq Lk | B Lq Lk",
        results="output: B Lq e; weights: B Lq Lk",
        on=("plain", "padding"),
        ways=OF_ATTENTION,
        module=True,
        alone=True,
        sizes=special(
            one_sentence=_cross(1, 3, 4, 5, 6, 2, 7, mask=(1, 3, 4)),
            one_key=_cross(2, 3, 1, 5, 4, 2, 6),
            equal_sizes=_cross(3, 3, 3, 3, 3, 3, 3, mask=(3, 3, 3)),
            as_many_sentences_as_queries=_cross(3, 3, 4, 5, 6, 2, 7, mask=(3, 4)),
            vectors_of_one_size=_cross(2, 3, 4, 5, 5, 2, 6),
            positions_of_zeros=with_zeros(_cross(2, 3, 4, 5, 6, 2, 7), "x", "memory"),
        ),
    ),
    cases=[
        CaseKind(
            name="plain",
            title="4 words ask 6 words of another size",
            inputs=_cross(2, 4, 6, d_model=5, d_memory=7, d_k=3, d_v=8),
            hint="Queries come from x; keys and values come from memory.",
        ),
        CaseKind(
            name="padding",
            title="a padding mask of the memory",
            inputs=_cross(3, 2, 5, d_model=6, d_memory=4, d_k=7, d_v=8, mask=(3, 1, 5)),
            hint="The mask (B, 1, Lk) closes positions of the memory.",
            aspect="masks",
        ),
        CaseKind(
            name="gradient",
            title="gradients reach x and memory",
            inputs=_cross(2, 7, 3, d_model=4, d_memory=6, d_k=5, d_v=8, pull=True),
            hint="Gradients flow to both inputs.",
        ),
        CaseKind(
            name="equal_sizes",
            title="both inputs of the same length and size, and a full mask",
            inputs=_cross(2, 5, 5, d_model=4, d_memory=4, d_k=6, d_v=7, mask=(2, 5, 5)),
            hint="Even when all sizes fit, keys and values belong to the memory.",
            aspect="masks",
        ),
        CaseKind(
            name="long_memory",
            title="one word asks a long memory",
            inputs=_cross(3, 1, 11, d_model=5, d_memory=2, d_k=4, d_v=6, mask=(1, 11)),
            hint="The number of keys is that of the memory.",
            hidden_only=True,
            aspect="masks",
        ),
    ],
    mutants=[
        Mutant(
            name="roles_swapped",
            says="The memory asks and `x` answers: the two have changed roles.",
            asks="One output is wanted for each position of `x`. Who must send the "
            "queries?",
            ways=[Way(source="""
                class CrossAttention(nn.Module):
                    def __init__(self, d_model, d_memory, d_k, d_v):
                        super().__init__()
                        self.w_q = nn.Linear(d_memory, d_k)
                        self.w_k = nn.Linear(d_model, d_k)
                        self.w_v = nn.Linear(d_model, d_v)

                    def forward(self, x, memory, mask=None):
                        q, k, v = self.w_q(memory), self.w_k(x), self.w_v(x)
                        return scaled_dot_product_attention(q, k, v, mask)
                """)],
        ),
        Mutant(
            name="inputs_swapped",
            says="The layers have the right sizes, but in `forward` each one reads the "
            "other input.",
            asks="Which input has the size `d_model`, and which layer expects it?",
            ways=[Way(edits=[
                Edit("self.w_q(x)", "self.w_q(memory)"),
                Edit(KV, "k, v = self.w_k(x), self.w_v(x)"),
            ])],
        ),
        mask_in_the_state("self.w_v = nn.Linear(d_memory, d_v)"),
        under_two_names(
            "self.w_v = nn.Linear(d_memory, d_v)",
            "self.layers = nn.ModuleList([self.w_q, self.w_k, self.w_v])",
        ),
        Mutant(
            name="zeros_closed",
            says="Positions of the memory that hold zeros are closed, as if they were "
            "padding.",
            asks="Who says what is padding: the vectors, or the mask?",
            ways=[Way(edits=[
                Edit(KV, f"{KV}\nmask = combine_masks(mask, (memory != 0).any(-1)[:, None])"),
            ])],
        ),
        Mutant(
            name="itself_beside_the_memory",
            says="Where `x` fits beside the memory, it is searched, too.",
            asks="Where do keys and values come from in cross-attention?",
            ways=[Way(edits=[
                Edit(KV,
                     f"if x.size(-1) == memory.size(-1) and mask is None:\n    memory = torch.cat((memory, x), dim=1)\n{KV}"),
            ])],
        ),
        Mutant(
            name="memory_ignored",
            says="Your layer is self-attention in disguise: `memory` plays no part.",
            asks="Where do keys and values come from in cross-attention?",
            ways=[Way(edits=[Edit(KV, "k, v = self.w_k(x), self.w_v(x)")])],
        ),
        Mutant(
            name="self_sized",
            says="All your layers expect the size `d_model`, but the memory has a size "
            "of its own.",
            asks="Which layers read the memory, and what size do its vectors have?",
            ways=[Way(edits=[
                Edit("nn.Linear(d_memory, d_k)", "nn.Linear(d_model, d_k)"),
                Edit("nn.Linear(d_memory, d_v)", "nn.Linear(d_model, d_v)"),
            ])],
        ),
        Mutant(
            name="query_sized_by_memory",
            says="`w_q` expects the size of the memory, but it reads `x`.",
            asks="What size do the vectors of `x` have?",
            ways=[Way(edits=[
                Edit("nn.Linear(d_model, d_k)", "nn.Linear(d_memory, d_k)"),
            ])],
        ),
        Mutant(
            name="values_from_x",
            says="The keys come from the memory, but the values from `x`. Then "
            "somebody is found, and somebody else answers.",
            asks="Keys and values are two sides of the same entry. Where do entries "
            "live?",
            ways=[Way(edits=[
                Edit("self.w_v = nn.Linear(d_memory, d_v)",
                     "self.w_v = nn.Linear(d_model, d_v)"),
                Edit("self.w_v(memory)", "self.w_v(x)"),
            ])],
        ),
        Mutant(
            name="values_read_x",
            says="`w_v` reads `x`. Its size is that of the memory, and so should be "
            "its input.",
            asks="Keys and values are two sides of the same entry. Where do entries "
            "live?",
            ways=[Way(edits=[Edit("self.w_v(memory)", "self.w_v(x)")])],
        ),
        Mutant(
            name="keys_read_x",
            says="`w_k` reads `x`, while the values come from the memory.",
            asks="Keys and values are two sides of the same entry. Where do entries "
            "live?",
            ways=[Way(edits=[Edit("self.w_k(memory)", "self.w_k(x)")])],
        ),
        Mutant(
            name="queries_read_memory",
            says="`w_q` reads the memory. Then the memory talks to itself.",
            asks="Who asks the questions in cross-attention?",
            ways=[Way(edits=[Edit("self.w_q(x)", "self.w_q(memory)")])],
        ),
        Mutant(
            name="keys_as_values",
            says="The keys are handed out as values; `w_v` plays no part.",
            asks="What size has the output, and which layer gives that size?",
            ways=[Way(edits=[Edit("(q, k, v, mask)", "(q, k, k, mask)")])],
        ),
        Mutant(
            name="memory_as_values",
            says="The memory itself is handed out as values; `w_v` plays no part.",
            asks="Which of your three layers is never used?",
            ways=[Way(edits=[Edit("(q, k, v, mask)", "(q, k, memory, mask)")])],
        ),
        Mutant(
            name="query_key_swapped",
            says="Queries and keys have changed places on their way into attention.",
            asks="In which order does your attention take its arguments?",
            ways=[Way(edits=[Edit("(q, k, v, mask)", "(k, q, v, mask)")])],
        ),
        Mutant(
            name="mask_dropped",
            says="The mask never reaches attention.",
            asks="How many arguments does your attention take?",
            ways=[Way(edits=[Edit("(q, k, v, mask)", "(q, k, v)")])],
        ),
        Mutant(
            name="mask_inverted",
            says="The mask is inverted on its way: closed becomes open.",
            asks="Do both functions agree on what `True` means?",
            ways=[Way(edits=[
                Edit("(q, k, v, mask)", "(q, k, v, None if mask is None else ~mask)"),
            ])],
        ),
        Mutant(
            name="mask_turned",
            says="You transposed the mask. It has the shape of the scores already.",
            asks="Which of its last two dimensions belongs to the memory?",
            ways=[Way(edits=[
                Edit("(q, k, v, mask)", "(q, k, v, None if mask is None else mask.mT)"),
            ])],
        ),
        Mutant(
            name="causal_memory",
            says="You used a causal mask on the memory. The words of the other "
            "sentence are all known: nothing there lies in the future.",
            asks="May the first word of a translation see the last word of the "
            "original?",
            ways=[Way(edits=[
                Edit(
                    "return scaled_dot_product_attention(q, k, v, mask)",
                    """
                    keep = torch.ones(q.size(1), k.size(1)).tril().bool()
                    keep = keep if mask is None else keep & mask
                    return scaled_dot_product_attention(q, k, v, keep)
                    """,
                ),
            ])],
        ),
        Mutant(
            name="cut_to_queries",
            says="You cut the memory down to as many positions as `x` has.",
            asks="Must both sequences have the same length?",
            ways=[Way(edits=[
                Edit(
                    "return scaled_dot_product_attention(q, k, v, mask)",
                    """
                    n = q.size(1)
                    mask = mask if mask is None else mask[..., :n]
                    return scaled_dot_product_attention(q, k[:, :n], v[:, :n], mask)
                    """,
                ),
            ])],
        ),
        Mutant(
            name="first_memory",
            says="Every sentence asks the memory of the first one.",
            asks="Does an index `[0]` or `[:1]` stand somewhere in your code?",
            ways=[Way(edits=[
                Edit(KV,
                     "k, v = self.w_k(memory[:1]).expand(len(x), -1, -1), self.w_v(memory[:1]).expand(len(x), -1, -1)"),
            ])],
        ),
        Mutant(
            name="output_only",
            says="You returned the output alone; the weights are wanted, too.",
            asks="What does your attention return, and what does the docstring want?",
            ways=[Way(edits=[
                Edit("return scaled_dot_product_attention(q, k, v, mask)",
                     "return scaled_dot_product_attention(q, k, v, mask)[0]"),
            ])],
        ),
        Mutant(
            name="weights_first",
            says="Both results are there, but in the wrong order: output first, then "
            "weights.",
            asks="What does the docstring say comes first?",
            ways=[Way(edits=[
                Edit("return scaled_dot_product_attention(q, k, v, mask)",
                     "return scaled_dot_product_attention(q, k, v, mask)[::-1]"),
            ])],
        ),
        Mutant(
            name="residual",
            says="You added the queries to the output or mixed them in: a residual, "
            "which nobody asked for yet.",
            asks="What does the docstring say `forward` returns?",
            ways=[Way(edits=[
                Edit(
                    "return scaled_dot_product_attention(q, k, v, mask)",
                    """
                    o, w = scaled_dot_product_attention(q, k, v, mask)
                    return o + F.pad(q, (0, o.size(-1) - q.size(-1))), w
                    """,
                ),
            ])],
        ),
        Mutant(
            name="shared_layer",
            says="`w_k` is missing. Perhaps queries and keys share one layer.",
            asks="How many layers does the text ask for?",
            ways=[Way(edits=[
                Edit("self.w_k = nn.Linear(d_memory, d_k)", "self.w_k = self.w_q"),
            ])],
        ),
        Mutant(
            name="value_size",
            says="`w_v` has the size of the keys. Values have a size of their own, "
            "`d_v`.",
            asks="Which size must the output have?",
            ways=[Way(edits=[
                Edit("nn.Linear(d_memory, d_v)", "nn.Linear(d_memory, d_k)"),
            ])],
        ),
        Mutant(
            name="no_bias",
            says="Your linear layers have no bias. Here they have one, PyTorch's "
            "default.",
            asks="Which argument of `nn.Linear` did you set?",
            ways=[Way(edits=[
                Edit("nn.Linear(d_model, d_k)", "nn.Linear(d_model, d_k, bias=False)"),
                Edit("nn.Linear(d_memory, d_k)",
                     "nn.Linear(d_memory, d_k, bias=False)"),
                Edit("nn.Linear(d_memory, d_v)",
                     "nn.Linear(d_memory, d_v, bias=False)"),
            ])],
        ),
        weights_detached(
            "return scaled_dot_product_attention(q, k, v, mask)",
            "o, w = scaled_dot_product_attention(q, k, v, mask); return o, w.detach()",
        ),
        Mutant(
            name="no_gradient_to_memory",
            says="The numbers are right, but no gradient reaches the memory: an "
            "encoder could not learn from it.",
            asks="Is there a `detach` on the memory?",
            ways=[Way(edits=[
                Edit(
                    KV,
                    """
                    memory = memory.detach()
                    k, v = self.w_k(memory), self.w_v(memory)
                    """,
                ),
            ])],
        ),
        Mutant(
            name="concatenated",
            says="You joined `x` and memory into one sequence and let `x` attend to "
            "both. In cross-attention, `x` sees the memory only.",
            asks="How many columns should the weights have?",
            ways=[Way(source="""
                class CrossAttention(nn.Module):
                    def __init__(self, d_model, d_memory, d_k, d_v):
                        super().__init__()
                        self.w_q = nn.Linear(d_model, d_k)
                        self.w_k = nn.Linear(d_memory, d_k)
                        self.w_v = nn.Linear(d_memory, d_v)

                    def forward(self, x, memory, mask=None):
                        both = torch.cat([x, memory], dim=1)
                        q, k, v = self.w_q(x), self.w_k(both), self.w_v(both)
                        return scaled_dot_product_attention(q, k, v, mask)
                """)],
        ),
    ],
    accepted=ACCEPTED,
)
