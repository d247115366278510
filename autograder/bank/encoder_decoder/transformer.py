"""The Transformer."""

from __future__ import annotations

from autograder.bank.encoder_decoder._inputs import (
    DECODER,
    ENCODER,
    Shapes,
    as_options,
    scattered_ids,
    small_weights,
    stack_shapes,
    token_ids,
)
from autograder.oracle.draw import Draw
from autograder.oracle.promise import OF_MODULES, Promise, special
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


def _model_inputs(
    src_vocab: int,
    tgt_vocab: int,
    d_model: int,
    heads: int,
    depth: int,
    d_ff: int,
    batch: int,
    ls: int,
    lt: int,
    norm_first: bool = False,
    activation: str = "relu",
    shared: bool = False,
    pad_id: int = 0,
    pull: bool = False,
    second: bool = False,
    max_len: int = 0,
    positions: int = 0,
    scattered: bool = False,
) -> Maker:
    def inputs(draw: Draw) -> Inputs:
        options: dict[str, int | str] = {
            "src_vocab": src_vocab,
            "tgt_vocab": tgt_vocab,
            "d_model": d_model,
            "num_heads": heads,
            "num_layers": depth,
            "d_ff": d_ff,
        }
        options |= {"norm_first": True, "activation": activation} if norm_first else {}
        options |= {"shared_embedding": True} if shared else {}
        options |= {"pad_id": pad_id} if pad_id else {}
        options |= {"max_len": max_len} if max_len else {}
        shapes: Shapes = {"source.embedding.weight": (src_vocab, d_model)}
        if not shared:
            shapes["target.embedding.weight"] = (tgt_vocab, d_model)
            shapes["output.weight"] = (tgt_vocab, d_model)
        shapes |= {"output.bias": (tgt_vocab,)}
        shapes |= stack_shapes("encoder.", ENCODER, depth, d_model, d_ff, norm_first)
        shapes |= stack_shapes("decoder.", DECODER, depth, d_model, d_ff, norm_first)
        made = as_options(options) | small_weights(draw, shapes)
        made["src"] = token_ids(draw, batch, ls, src_vocab, pad_id)
        made["tgt"] = token_ids(draw, batch, lt, tgt_vocab, pad_id)
        if scattered:
            made["src"] = scattered_ids(draw, batch, ls, src_vocab, pad_id, first=False)
            made["tgt"] = scattered_ids(draw, batch, lt, tgt_vocab, pad_id, first=True)
        if second:
            made["second src"] = token_ids(draw, batch + 1, ls - 1, src_vocab, pad_id)
            made["second tgt"] = token_ids(draw, batch + 1, lt + 1, tgt_vocab, pad_id)
        if positions:
            made["positions"] = draw.tensor(positions, d_model)
        if pull:
            made["pull"] = draw.tensor(batch, lt, tgt_vocab, scale=0.5)
        return made

    return inputs


EXERCISE = Specification(
    name="encoder_decoder/transformer",
    title="The Transformer",
    target="Transformer",
    promise=Promise(
        arguments="src: B Ls; tgt: B Lt",
        results="logits: B Lt V",
        on=("post",),
        ways=OF_MODULES,
        module=True,
        dropout=("pre_gelu", {"option.dropout": 0.375}),
        sizes=special(
            one_sentence=_model_inputs(7, 6, 4, 2, 1, 5, batch=1, ls=3, lt=5),
            one_position=_model_inputs(7, 6, 4, 2, 1, 5, batch=2, ls=1, lt=1),
            equal_sizes=_model_inputs(5, 5, 4, 4, 1, 4, batch=4, ls=4, lt=4),
            padding_between_words=_model_inputs(
                7, 6, 4, 2, 1, 5, batch=3, ls=5, lt=4, pad_id=2, scattered=True
            ),
            a_source_of_more_than_512_ids=_model_inputs(
                5, 6, 2, 1, 1, 3, batch=1, ls=520, lt=3, max_len=530
            ),
        ),
    ),
    cases=[
        CaseKind(
            name="post",
            title="post-norm, two vocabularies",
            inputs=_model_inputs(9, 7, 6, 2, 2, 5, batch=3, ls=5, lt=4, second=True),
            hint="Follow a batch by hand: source, encoder, memory; target, decoder, "
            "output.",
        ),
        CaseKind(
            name="pre_gelu",
            title="pre-norm, GELU, a long source",
            inputs=_model_inputs(
                8,
                11,
                4,
                2,
                2,
                6,
                batch=2,
                ls=7,
                lt=3,
                norm_first=True,
                activation="gelu",
            ),
            hint="A pre-norm stack ends with a norm; encoder and decoder each have "
            "one.",
        ),
        CaseKind(
            name="shared",
            title="one table for source, target and output",
            inputs=_model_inputs(8, 8, 6, 3, 1, 7, batch=2, ls=4, lt=5, shared=True),
            hint="Shared means: the same parameter, not an equal one.",
        ),
        CaseKind(
            name="two_sizes",
            title="one table for two vocabularies of different sizes is refused",
            inputs=_model_inputs(8, 9, 6, 3, 1, 7, batch=2, ls=4, lt=5, shared=True),
            hint="The docstring promises an error by its name.",
            aspect="errors",
        ),
        CaseKind(
            name="larger_source",
            title="one table, and the source has the larger vocabulary: refused, too",
            inputs=_model_inputs(10, 8, 6, 3, 1, 7, batch=2, ls=4, lt=5, shared=True),
            hint="The docstring promises an error by its name.",
            aspect="errors",
            hidden_only=True,
        ),
        CaseKind(
            name="positions",
            title="positions of another kind than sinusoids",
            inputs=_model_inputs(7, 8, 6, 2, 1, 5, batch=2, ls=5, lt=4, positions=7),
            hint="Both embeddings add the positions that were given.",
        ),
        CaseKind(
            name="gradients",
            title="what padding learns, with another pad_id",
            inputs=_model_inputs(
                7, 9, 4, 2, 1, 5, batch=3, ls=5, lt=6, pad_id=2, pull=True
            ),
            hint="Does each part that has to do with padding know `pad_id`?",
        ),
        CaseKind(
            name="three_layers",
            title="three layers each, pre-norm, a short table of positions",
            inputs=_model_inputs(
                6,
                10,
                4,
                2,
                3,
                3,
                batch=2,
                ls=4,
                lt=5,
                norm_first=True,
                activation="relu",
                max_len=9,
                second=True,
            ),
            hint="Does each argument arrive where it belongs?",
            hidden_only=True,
        ),
    ],
    mutants=[
        Mutant(
            name="softmax",
            says="There is a softmax at the end. `F.cross_entropy` has its own, and "
            "two of them flatten everything.",
            asks="Do logits sum to one?",
            ways=[Way(edits=[
                Edit("return self.output(x)", "return self.output(x).softmax(-1)"),
            ])],
        ),
        Mutant(
            name="log_softmax",
            says="There is a log-softmax at the end. Logits were asked for.",
            asks="Which loss will follow, and what does it do first?",
            ways=[Way(edits=[
                Edit("return self.output(x)", "return self.output(x).log_softmax(-1)"),
            ])],
        ),
        Mutant(
            name="embeddings_swapped",
            says="Source and target embeddings are exchanged.",
            asks="Which ids go through `source`?",
            ways=[Way(edits=[
                Edit("self.source(src)", "self.target(src)"),
                Edit("self.target(tgt)", "self.source(tgt)"),
            ])],
        ),
        Mutant(
            name="source_for_target",
            says="The target ids go through the source embedding.",
            asks="In `decode`, which input layer reads `tgt`?",
            ways=[Way(edits=[Edit("self.target(tgt)", "self.source(tgt)")])],
        ),
        Mutant(
            name="always_shared",
            says="Source and target share one embedding although separate ones were "
            "asked for.",
            asks="Where does your code look at `shared_embedding`?",
            ways=[Way(edits=[
                Edit("self.source if shared_embedding else embedding(tgt_vocab)",
                     "self.source"),
            ])],
        ),
        Mutant(
            name="never_shared",
            says="`shared_embedding` has no effect: there are three separate tables.",
            asks="Where does your code look at `shared_embedding`?",
            ways=[Way(edits=[
                Edit("self.source if shared_embedding else embedding(tgt_vocab)",
                     "embedding(tgt_vocab)"),
                Edit("self.output.weight = self.source.embedding.weight", "pass"),
            ])],
        ),
        Mutant(
            name="output_not_tied",
            says="Source and target share their table, but the output layer has a "
            "weight of its own.",
            asks="How often is the shared table to serve?",
            ways=[Way(edits=[
                Edit("self.output.weight = self.source.embedding.weight", "pass"),
            ])],
        ),
        Mutant(
            name="tied_by_copy",
            says="The output weight is a *copy* of the embedding: equal today, "
            "different after the first step of training.",
            asks="Do both names lead to one and the same `nn.Parameter`?",
            ways=[
                Way(edits=[
                    Edit("self.output.weight = self.source.embedding.weight",
                         "self.output.weight.data.copy_(self.source.embedding.weight.data)"),
                ]),
                Way(name="tied_by_clone", edits=[
                    Edit("self.output.weight = self.source.embedding.weight",
                         "self.output.weight = nn.Parameter(self.source.embedding.weight.detach().clone())"),
                ]),
            ],
        ),
        Mutant(
            name="target_not_tied",
            says="Source and output share one table, but the target has its own.",
            asks="How often is the shared table to serve?",
            ways=[Way(edits=[
                Edit("self.source if shared_embedding else embedding(tgt_vocab)",
                     "embedding(tgt_vocab)"),
            ])],
        ),
        Mutant(
            name="sizes_not_refused",
            says="Shared embeddings of two sizes are not refused.",
            asks="Can one table have 8 rows and 11 rows? Which error says so?",
            ways=[Way(edits=[
                Edit("if shared_embedding and src_vocab != tgt_vocab:", "if False:"),
            ])],
        ),
        Mutant(
            name="output_of_source_size",
            says="The output layer scores the words of the *source* vocabulary.",
            asks="In which language does the model write?",
            ways=[Way(edits=[
                Edit("self.output = nn.Linear(d_model, tgt_vocab)",
                     "self.output = nn.Linear(d_model, src_vocab)"),
            ])],
        ),
        Mutant(
            name="vocabularies_swapped",
            says="The sizes of the two embeddings are exchanged.",
            asks="Which vocabulary does `source` read?",
            ways=[Way(edits=[
                Edit("embedding(src_vocab)", "embedding(tgt_vocab)"),
                Edit("else embedding(tgt_vocab)", "else embedding(src_vocab)"),
            ])],
        ),
        Mutant(
            name="output_d_model",
            says="The output layer goes from `d_model` to `d_model`: there is no score "
            "for each word.",
            asks="How many words can the model choose from?",
            ways=[Way(edits=[
                Edit("self.output = nn.Linear(d_model, tgt_vocab)",
                     "self.output = nn.Linear(d_model, d_model)"),
            ])],
        ),
        Mutant(
            name="output_no_bias",
            says="The output layer has no bias.",
            asks="What is the default of `nn.Linear`?",
            ways=[Way(edits=[
                Edit("nn.Linear(d_model, tgt_vocab)",
                     "nn.Linear(d_model, tgt_vocab, bias=False)"),
            ])],
        ),
        Mutant(
            name="no_output",
            says="The output layer is not applied: `decode` returns vectors, not "
            "scores.",
            asks="What is the last arrow of the picture?",
            ways=[Way(edits=[Edit("return self.output(x)", "return x")])],
        ),
        Mutant(
            name="encoder_on_target",
            says="The decoder looks at the encoded *target*, so the source has no "
            "influence.",
            asks="What does `forward` hand to `decode` as memory?",
            ways=[Way(edits=[
                Edit("self.decode(tgt, self.encode(src), src)",
                     "self.decode(tgt, self.encode(tgt), tgt)"),
            ])],
        ),
        Mutant(
            name="memory_not_encoded",
            says="`encode` stops before the encoder: the memory is the bare embedding.",
            asks="Through which two modules does the source go?",
            ways=[Way(edits=[
                Edit("self.encoder(self.source(src), mask)", "self.source(src)"),
            ])],
        ),
        Mutant(
            name="encode_no_mask",
            says="The encoder gets no mask: source padding is listened to.",
            asks="What is the second argument of your encoder?",
            ways=[Way(edits=[
                Edit("self.encoder(self.source(src), mask)",
                     "self.encoder(self.source(src))"),
            ])],
        ),
        Mutant(
            name="decode_no_memory_mask",
            says="The decoder gets no mask for the memory: source padding is listened "
            "to.",
            asks="For what does `decode` need `src`?",
            ways=[Way(edits=[
                Edit("memory, tgt_mask, src_mask)", "memory, tgt_mask)"),
            ])],
        ),
        Mutant(
            name="decode_no_target_mask",
            says="The decoder gets no target mask: it sees the future.",
            asks="What is the third argument of your decoder?",
            ways=[Way(edits=[
                Edit("memory, tgt_mask, src_mask)", "memory, None, src_mask)"),
            ])],
        ),
        Mutant(
            name="decoder_masks_swapped",
            says="The decoder gets its two masks in the wrong order.",
            asks="Which comes first, `tgt_mask` or `memory_mask`?",
            ways=[Way(edits=[
                Edit("memory, tgt_mask, src_mask)", "memory, src_mask, tgt_mask)"),
            ])],
        ),
        Mutant(
            name="pad_id_ignored_in_masks",
            says="The masks take 0 for padding, whatever `pad_id` says.",
            asks="Who tells the mask functions about `pad_id`?",
            ways=[Way(edits=[Edit("self.pad_id = pad_id", "self.pad_id = 0")])],
        ),
        Mutant(
            name="pad_id_ignored_in_embedding",
            says="The embeddings do not know `pad_id`, so padding's vector is trained "
            "(or that of a real word is not).",
            asks="What is the last argument of `InputLayer`?",
            ways=[Way(edits=[
                Edit("vocab, d_model, positions, dropout, pad_id",
                     "vocab, d_model, positions, dropout"),
            ])],
        ),
        Mutant(
            name="no_positions",
            says="There are no positions: the model cannot know the order of the "
            "words.",
            asks="What do you do if `positions` is None?",
            ways=[Way(edits=[
                Edit("positions = positional_encoding.PositionalEncoding(table)",
                     "positions = nn.Identity()"),
            ])],
        ),
        Mutant(
            name="positions_copied",
            says="Source and target have copies of `positions`, not the module that was "
            "given. If it learns, they will learn different things.",
            asks="Which module does each input layer get?",
            ways=[Way(edits=[
                Edit(
                    "if positions is None:",
                    """
                    import copy
                    if positions is None:
                    """,
                ),
                Edit("vocab, d_model, positions, dropout, pad_id",
                     "vocab, d_model, copy.deepcopy(positions), dropout, pad_id"),
            ])],
        ),
        Mutant(
            name="mask_of_last_encode",
            says="`decode` takes the source's mask from the last `encode`, not from the "
            "`src` that it is given.",
            asks="What if two sources were encoded before the first one is decoded?",
            ways=[Way(edits=[
                Edit("mask = attention.padding_mask(src, self.pad_id)",
                     "mask = self.kept = attention.padding_mask(src, self.pad_id)"),
                Edit("memory, tgt_mask, src_mask)", "memory, tgt_mask, self.kept)"),
            ])],
        ),
        Mutant(
            name="memory_kept",
            says="The memory of a source is kept and used again, after the weights have "
            "changed, too.",
            asks="What happens between two steps of training?",
            ways=[Way(edits=[
                Edit(
                    "return self.decode(tgt, self.encode(src), src)",
                    """
                    kept = getattr(self, "kept", None)
                    if self.training or kept is None or not torch.equal(kept[0], src):
                        kept = self.kept = (src, self.encode(src))
                    return self.decode(tgt, kept[1], src)
                    """,
                ),
            ])],
        ),
        Mutant(
            name="first_token_unmasked",
            says="For a target of one token the mask of the source is left out.",
            asks="What does the first step of writing look at?",
            ways=[Way(edits=[
                Edit("memory, tgt_mask, src_mask)",
                     "memory, tgt_mask, src_mask if tgt.size(1) > 1 else None)"),
            ])],
        ),
        Mutant(
            name="frozen",
            says="Some parameters never learn: they ask for no gradient.",
            asks="Where does your code say `requires_grad`?",
            ways=[Way(edits=[
                Edit("self.output.weight = self.source.embedding.weight",
                     "self.output.weight = self.source.embedding.weight; self.output.bias.requires_grad_(False)"),
            ])],
        ),
        Mutant(
            name="positions_twice",
            says="Positions are added twice.",
            asks="What does `InputLayer` do by itself already?",
            ways=[Way(edits=[
                Edit("self.encoder(self.source(src), mask)",
                     "self.encoder(self.source.positions(self.source(src)), mask)"),
                Edit("self.decoder(self.target(tgt), ",
                     "self.decoder(self.target.positions(self.target(tgt)), "),
            ])],
        ),
        Mutant(
            name="scaled_twice",
            says="The embeddings are scaled by the root of `d_model` twice.",
            asks="What does `InputLayer` do by itself already?",
            ways=[Way(edits=[
                Edit("self.encoder(self.source(src), mask)",
                     "self.encoder(self.source(src) * self.source.scale, mask)"),
                Edit("self.decoder(self.target(tgt), ",
                     "self.decoder(self.target(tgt) * self.target.scale, "),
            ])],
        ),
        Mutant(
            name="no_final_norm",
            says="The pre-norm stacks have no norm at the end.",
            asks="What does a pre-norm stack need that a post-norm stack does not?",
            ways=[Way(edits=[
                Edit("nn.LayerNorm(d_model) if norm_first else None", "None"),
            ])],
        ),
        Mutant(
            name="always_final_norm",
            says="The post-norm stacks have a norm at the end, too. (So has "
            "`nn.Transformer`; the paper has not.)",
            asks="What has a post-norm stack just done when its last layer is through?",
            ways=[Way(edits=[
                Edit("nn.LayerNorm(d_model) if norm_first else None",
                     "nn.LayerNorm(d_model)"),
            ])],
        ),
        Mutant(
            name="one_final_norm",
            says="Encoder and decoder share one final norm; each has its own.",
            asks="How often is your `nn.LayerNorm(...)` created?",
            ways=[Way(edits=[
                Edit(
                    "def stack(kind: type",
                    """
                    final = nn.LayerNorm(d_model) if norm_first else None

                    def stack(kind: type
                    """,
                ),
                Edit("norm = nn.LayerNorm(d_model) if norm_first else None",
                     "norm = final"),
            ])],
        ),
        Mutant(
            name="norm_first_ignored",
            says="The layers are post-norm, even if `norm_first` is True.",
            asks="Which arguments do your layers get?",
            ways=[Way(edits=[
                Edit(
                    """
                    sizes = (d_model, num_heads, d_ff, dropout, norm_first, activation)
                    norm
                    """,
                    """
                    sizes = (d_model, num_heads, d_ff, dropout, False, activation)
                    norm
                    """,
                ),
            ])],
        ),
        Mutant(
            name="activation_ignored",
            says="`activation` does not reach the layers.",
            asks="Which arguments do your layers get?",
            ways=[Way(edits=[
                Edit(
                    """
                    sizes = (d_model, num_heads, d_ff, dropout, norm_first, activation)
                    norm
                    """,
                    """
                    sizes = (d_model, num_heads, d_ff, dropout, norm_first)
                    norm
                    """,
                ),
            ])],
        ),
        Mutant(
            name="one_layer",
            says="The stacks have one layer, whatever `num_layers` says.",
            asks="Where does `num_layers` go?",
            ways=[Way(edits=[
                Edit("layer(*sizes), num_layers, norm)", "layer(*sizes), 1, norm)"),
            ])],
        ),
        Mutant(
            name="sizes_swapped",
            says="`d_ff` and the number of heads have changed places.",
            asks="In which order does `EncoderLayer` take its sizes?",
            ways=[Way(edits=[
                Edit("sizes = (d_model, num_heads, d_ff,",
                     "sizes = (d_model, d_ff, num_heads,"),
            ])],
        ),
        Mutant(
            name="masks_of_first_batch",
            says="The masks of the first batch are kept and used for later ones.",
            asks="When are your masks made: once, or for each batch?",
            ways=[Way(edits=[
                Edit(
                    "src_mask, tgt_mask = make_masks(src, tgt, self.pad_id)",
                    """
                    self.kept = getattr(self, 'kept', None) or make_masks(src, tgt, self.pad_id)
                    src_mask, tgt_mask = self.kept
                    """,
                ),
            ])],
        ),
        Mutant(
            name="last_only",
            says="Only the last position gets logits.",
            asks="How many next words are predicted at once in training?",
            ways=[Way(edits=[
                Edit("return self.output(x)", "return self.output(x[:, -1])"),
            ])],
        ),
        Mutant(
            name="encode_returns_pair",
            says="`encode` returns more than the memory.",
            asks="What does its docstring promise?",
            ways=[Way(edits=[
                Edit("return self.encoder(self.source(src), mask)",
                     "return self.encoder(self.source(src), mask), mask"),
                Edit("self.encode(src), src", "self.encode(src)[0], src"),
            ])],
        ),
    ],
    accepted=[
        Accepted(name="spelt_out", source="""
            class Transformer(nn.Module):
                def __init__(self, src_vocab, tgt_vocab, d_model, num_heads, num_layers, d_ff,
                             dropout=0.0, norm_first=False, activation='relu',
                             shared_embedding=False, pad_id=0, max_len=512, positions=None):
                    super().__init__()
                    self.pad = pad_id
                    pe = positional_encoding
                    if positions is None:
                        positions = pe.PositionalEncoding(pe.sinusoid(torch.arange(max_len), d_model))
                    self.output = nn.Linear(d_model, tgt_vocab)
                    self.source = pe.InputLayer(src_vocab, d_model, positions, dropout, pad_id)
                    if shared_embedding:
                        if src_vocab != tgt_vocab:
                            raise ValueError('one table, one vocabulary')
                        self.target = self.source
                        self.output.weight = self.source.embedding.weight
                    else:
                        self.target = pe.InputLayer(tgt_vocab, d_model, positions, dropout, pad_id)
                    enc_norm = nn.LayerNorm(d_model) if norm_first else None
                    dec_norm = nn.LayerNorm(d_model) if norm_first else None
                    self.decoder = Decoder(lambda: DecoderLayer(d_model, num_heads, d_ff, dropout,
                        norm_first, activation), num_layers, dec_norm)
                    self.encoder = Encoder(lambda: EncoderLayer(d_model, num_heads, d_ff, dropout,
                        norm_first, activation), num_layers, enc_norm)
                def encode(self, src):
                    return self.encoder(self.source(src), (src != self.pad)[:, None, None])
                def decode(self, tgt, memory, src):
                    src_mask, tgt_mask = make_masks(src, tgt, self.pad)
                    return self.output(self.decoder(self.target(tgt), memory, tgt_mask, src_mask))
                def forward(self, src, tgt):
                    memory = self.encode(src)
                    return self.decode(tgt, memory, src)
            """),
        Accepted(name="tied_the_other_way", edits=[
            Edit("self.output.weight = self.source.embedding.weight",
                 "self.source.embedding.weight = self.output.weight"),
        ]),
        Accepted(name="xavier", edits=[
            Edit(
                "self.pad_id = pad_id",
                """
                self.pad_id = pad_id
                for p in self.parameters():
                    if p.dim() > 1:
                        nn.init.xavier_uniform_(p)
                """,
            ),
        ]),
        Accepted(name="keywords", edits=[
            Edit("memory, tgt_mask, src_mask)",
                 "memory=memory, memory_mask=src_mask, tgt_mask=tgt_mask)"),
            Edit("self.decode(tgt, self.encode(src), src)",
                 "self.decode(tgt=tgt, memory=self.encode(src), src=src)"),
        ]),
    ],
)
