"""The language model."""

from __future__ import annotations

from autograder.bank.since_2017._inputs import (
    LARGE,
    Shapes,
    block_shapes,
    faint,
    looked_at,
    whole,
)
from autograder.oracle.draw import Draw
from autograder.oracle.promise import OF_MODULES, Again, Promise, special
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


def _model(
    batch: int, length: int, vocabulary: int, d_model: int, heads: int, groups: int,
    layers: int, d_ff: int,
) -> Maker:  # fmt: skip
    def inputs(draw: Draw) -> Inputs:
        shapes: Shapes = {"embedding.weight": (vocabulary, d_model), "norm.weight": (d_model,)}
        for n in range(layers):
            block = block_shapes(d_model, heads, groups, d_ff)
            shapes |= {f"blocks.{n}.{name}": shape for name, shape in block.items()}
        sizes = whole(num_heads=heads, num_kv_heads=groups, num_layers=layers, d_ff=d_ff)
        ids = draw.ids(0, vocabulary, batch, length)
        ids[0, 0] = 1  # an id that may be taken for padding
        weights = draw.weights(**shapes)
        weights["weights.embedding.weight"] *= LARGE
        return weights | sizes | {
            "ids": ids,
            "pull": draw.tensor(batch, length, vocabulary, scale=1.0),
        }  # fmt: skip

    return inputs


_LOGITS = "F.linear(self.norm(x), self.embedding.weight)"
_BLOCKS = "Block(d_model, num_heads, num_kv_heads, d_ff) for _ in range(num_layers)"
_EMBED = "x = self.embedding(ids)"

EXERCISE = Specification(
    name="since_2017/language_model",
    title="The language model",
    target="LanguageModel",
    promise=Promise(
        arguments="ids: B L",
        results="logits: B L V",
        on=("two_layers",),
        ways=OF_MODULES,
        module=True,
        sizes=special(
            one_token=_model(3, 1, 9, 8, 2, 1, 1, 6),
            one_text=lambda draw: Again({"ids": draw.ids(0, 9, 1, 4)}),
            seventy_tokens=lambda draw: Again({"ids": draw.ids(0, 9, 1, 70)}),
            equal_sizes=_model(4, 4, 4, 8, 4, 4, 1, 6),
        ),
    ),
    cases=[
        CaseKind(
            name="two_layers",
            title="2 layers, 11 tokens",
            inputs=looked_at(_model(3, 5, 11, 8, 4, 2, 2, 9)),
            hint="Embedding, blocks, norm, products with the embedding's vectors.",
            atol=1e-4,
        ),
        CaseKind(
            name="one_layer",
            title="1 layer, 7 tokens",
            inputs=_model(2, 4, 7, 12, 3, 1, 1, 10),
            hint="As above.",
            atol=1e-4,
        ),
        CaseKind(
            name="faint",
            title="vectors near zero, and weights that give hardly more",
            inputs=faint(
                _model(2, 4, 9, 8, 2, 1, 1, 9),
                "embedding.weight", "w_o.weight", "w_down.weight",
            ),
            hint="Among small numbers, the epsilon of a norm counts.",
            atol=1e-4,
        ),
        CaseKind(
            name="three_layers",
            title="3 layers, 9 tokens",
            inputs=_model(2, 3, 9, 8, 2, 2, 3, 6),
            hint="As above.",
            hidden_only=True, atol=1e-4,
        ),
    ],
    mutants=[
        Mutant(
            name="no_last_norm",
            says="The last norm has no influence.",
            asks="In pre-norm, who normalises what the last block gives?",
            ways=[Way(edits=[Edit("self.norm(x)", "x")])],
        ),
        Mutant(
            name="norm_first",
            says="The last norm stands before the blocks.",
            asks="Where does `norm` stand in the picture?",
            ways=[Way(edits=[Edit(_EMBED, "x = self.norm(self.embedding(ids))"), Edit("F.linear(self.norm(x)", "F.linear(x")])],
        ),
        Mutant(
            name="norm_in_every_block",
            says="The last norm is taken after every block.",
            asks="How often does `norm` occur in the picture?",
            ways=[Way(edits=[Edit("x = block(x)", "x = self.norm(block(x))"), Edit("F.linear(self.norm(x)", "F.linear(x")])],
        ),
        Mutant(
            name="embedding_scaled",
            says="The embedding is multiplied by the root of `d_model`, as in 2017.",
            asks="Which sentence of the exercise speaks of scaling?",
            ways=[Way(edits=[Edit(_EMBED, "x = self.embedding(ids) * self.embedding.embedding_dim**0.5")])],
        ),
        Mutant(
            name="logits_scaled",
            says="The logits are divided by the root of `d_model`.",
            asks="Are logits attention scores?",
            ways=[Way(edits=[Edit(_LOGITS, f"{_LOGITS} / x.size(-1) ** 0.5")])],
        ),
        Mutant(
            name="an_output_matrix",
            says="There is an output matrix of its own: the embedding is not tied.",
            asks="Which matrix turns vectors into logits?",
            ways=[
                Way(edits=[
                    Edit("self.norm = RMSNorm(d_model)", "self.norm = RMSNorm(d_model); self.output = nn.Linear(d_model, vocab_size, bias=False)"),
                    Edit(_LOGITS, "self.output(self.norm(x))")]),
            ],
        ),
        Mutant(
            name="a_copy",
            says="The logits are products with a *copy* of the embedding: no gradient comes back to it.",
            asks="Does the output teach the embedding in your model?",
            ways=[
                Way(edits=[Edit("self.embedding.weight)", "self.embedding.weight.detach())")]),
            ],
        ),
        Mutant(
            name="input_not_learnt",
            says="No gradient comes back to the embedding through the input.",
            asks="Is `detach` or `no_grad` in your way?",
            ways=[Way(edits=[Edit(_EMBED, "x = self.embedding(ids).detach()")])],
        ),
        Mutant(
            name="softmax",
            says="You return probabilities or their logarithms; logits are asked for.",
            asks="Who takes the softmax: the model or the loss?",
            ways=[
                Way(edits=[Edit(_LOGITS, f"{_LOGITS}.softmax(-1)")]),
            ],
        ),
        Mutant(
            name="log_softmax",
            says="You return logarithms of probabilities; logits are asked for.",
            asks="Who takes the softmax: the model or the loss?",
            ways=[Way(edits=[Edit(_LOGITS, f"{_LOGITS}.log_softmax(-1)")])],
        ),
        Mutant(
            name="one_block_repeated",
            says="One and the same block is used again and again: the layers share their weights.",
            asks="What does `[block] * 3` hold: three blocks, or one three times?",
            ways=[
                Way(source="""
                    class LanguageModel(nn.Module):
                        def __init__(self, vocab_size, d_model, num_heads, num_kv_heads, num_layers, d_ff):
                            super().__init__()
                            self.embedding = nn.Embedding(vocab_size, d_model)
                            self.blocks = nn.ModuleList([Block(d_model, num_heads, num_kv_heads, d_ff)] * num_layers)
                            self.norm = RMSNorm(d_model)

                        def forward(self, ids):
                            x = self.embedding(ids)
                            for block in self.blocks:
                                x = block(x)
                            return F.linear(self.norm(x), self.embedding.weight)
                    """),
            ],
        ),
        Mutant(
            name="a_plain_list",
            says="The blocks stand in a plain list: PyTorch does not find their parameters.",
            asks="What is `nn.ModuleList` good for?",
            ways=[Way(source="""
                class LanguageModel(nn.Module):
                    def __init__(self, vocab_size, d_model, num_heads, num_kv_heads, num_layers, d_ff):
                        super().__init__()
                        self.embedding = nn.Embedding(vocab_size, d_model)
                        self.blocks = [Block(d_model, num_heads, num_kv_heads, d_ff) for _ in range(num_layers)]
                        self.norm = RMSNorm(d_model)

                    def forward(self, ids):
                        x = self.embedding(ids)
                        for block in self.blocks:
                            x = block(x)
                        return F.linear(self.norm(x), self.embedding.weight)
                """)],
        ),
        Mutant(
            name="first_block_only",
            says="Only one of the blocks is used.",
            asks="How often does your loop run?",
            ways=[Way(edits=[Edit("for block in self.blocks:", "for block in self.blocks[:1]:")])],
        ),
        Mutant(
            name="blocks_backwards",
            says="The blocks are used in the reverse order.",
            asks="Which block sees the embedding?",
            ways=[Way(edits=[Edit("in self.blocks:", "in reversed(self.blocks):")])],
        ),
        Mutant(
            name="blocks_see_the_embedding",
            says="Every block sees the embedding, not what the block before it has made.",
            asks="What does the loop do with the result of a block?",
            ways=[Way(edits=[
                Edit(_EMBED, "x = embedded = self.embedding(ids)"), Edit("x = block(x)", "x = block(embedded)")])],
        ),
        Mutant(
            name="one_block_too_many",
            says="There are more or fewer blocks than `num_layers`.",
            asks="What is `len(model.blocks)`?",
            ways=[Way(edits=[Edit("range(num_layers)", "range(num_layers + 1)")])],
        ),
        Mutant(
            name="last_position_only",
            says="You give the logits of the last position only; each position predicts.",
            asks="Which shape does the docstring promise?",
            ways=[Way(edits=[Edit(f"return {_LOGITS}", f"return {_LOGITS}[:, -1]")])],
        ),
        Mutant(
            name="in_pieces",
            says="A long text is read in pieces that do not see each other.",
            asks="What does the 65th token know of the 64th?",
            ways=[Way(edits=[Edit("x = block(x)", "x = torch.cat([block(p) for p in x.split(64, dim=1)], dim=1)")])],
        ),
        Mutant(
            name="padding",
            says="The vector of one id is zero or does not learn: `padding_idx` is set.",
            asks="Is there padding among these ids?",
            ways=[Way(edits=[Edit("nn.Embedding(vocab_size, d_model)", "nn.Embedding(vocab_size, d_model, padding_idx=1)")])],
        ),
        Mutant(
            name="sines_added",
            says="Sines are added to the embedding; here positions are turned, in the attention.",
            asks="Where do positions enter this model?",
            ways=[Way(edits=[
                Edit(_EMBED, "x = self.embedding(ids); a = rotary_angles(ids.size(1), x.size(-1)); x = x + torch.cat((a.sin(), a.cos()), -1)")])],
        ),
        Mutant(
            name="other_epsilon",
            says="The epsilon of your last norm is PyTorch's, not that of `RMSNorm(d_model)`.",
            asks="Which epsilon does your `RMSNorm` have, if nobody gives one?",
            ways=[Way(edits=[Edit("= RMSNorm(d_model)", "= nn.RMSNorm(d_model)")])],
        ),
        Mutant(
            name="heads_exchanged",
            says="The numbers of heads are not handed on as they were given.",
            asks="In which order does `Block` take its arguments?",
            ways=[Way(edits=[Edit("Block(d_model, num_heads, num_kv_heads, d_ff)", "Block(d_model, num_heads, num_heads, d_ff)")])],
        ),
        Mutant(
            name="other_names",
            says="The parts have other names than asked for.",
            asks="What are the three parts called?",
            ways=[Way(source="""
                class LanguageModel(nn.Module):
                    def __init__(self, vocab_size, d_model, num_heads, num_kv_heads, num_layers, d_ff):
                        super().__init__()
                        self.embed = nn.Embedding(vocab_size, d_model)
                        self.layers = nn.ModuleList(Block(d_model, num_heads, num_kv_heads, d_ff) for _ in range(num_layers))
                        self.final = RMSNorm(d_model)

                    def forward(self, ids):
                        x = self.embed(ids)
                        for layer in self.layers:
                            x = layer(x)
                        return self.final(x) @ self.embed.weight.T
                """)],
        ),

        Mutant(
            name="tied_output_layer",
            says="There is an output layer that shares the embedding's weight: the "
            "weight stands in the `state_dict()` under two names.",
            asks="Under which names does a published Llama keep this weight?",
            ways=[Way(edits=[
                Edit(
                    "self.norm = RMSNorm(d_model)",
                    """
                    self.norm = RMSNorm(d_model)
                    self.output = nn.Linear(d_model, vocab_size, bias=False)
                    self.output.weight = self.embedding.weight
                    """,
                ),
                Edit("F.linear(self.norm(x), self.embedding.weight)",
                     "self.output(self.norm(x))"),
            ])],
        ),
    ],
    accepted=[
        Accepted(name="matmul", edits=[Edit(_LOGITS, "self.norm(x) @ self.embedding.weight.T")]),
        Accepted(name="sequential", source="""
            class LanguageModel(nn.Module):
                def __init__(self, vocab_size, d_model, num_heads, num_kv_heads, num_layers, d_ff):
                    super().__init__()
                    self.norm = nn.RMSNorm(d_model, eps=1e-6)
                    made = [Block(d_model, num_heads, num_kv_heads, d_ff) for _ in range(num_layers)]
                    self.blocks = nn.Sequential(*made)
                    self.embedding = nn.Embedding(vocab_size, d_model)

                def forward(self, ids):
                    hidden = self.norm(self.blocks(self.embedding(ids)))
                    return torch.einsum("bld,vd->blv", hidden, self.embedding.weight)
            """),
        Accepted(name="function_of_itself", edits=[  # whose copies hold copies of it
            Edit("super().__init__()", "super().__init__()\nself.head = lambda x: F.linear(x, self.embedding.weight)"),
            Edit(_LOGITS, "self.head(self.norm(x))")]),
        Accepted(name="by_index", edits=[
            Edit(_EMBED, "x = self.embedding.weight[ids]"),
            Edit("for block in self.blocks:", "for n in range(len(self.blocks)):"),
            Edit("x = block(x)", "x = self.blocks[n](x)")]),
    ],
)
