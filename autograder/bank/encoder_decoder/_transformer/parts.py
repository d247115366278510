"""Mistakes in positions, norms, sizes and the parts' arguments."""

from __future__ import annotations

from autograder.oracle.specification import Edit, Mutant, Way

PARTS = [
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
        name="two_tables",
        says="Source and target have sinusoids of their own, where one module is to serve "
        "both.",
        asks="How many modules that add positions does your code make?",
        ways=[Way(edits=[
            Edit("vocab, d_model, positions, dropout, pad_id",
                 "vocab, d_model, positional_encoding.PositionalEncoding(positions.pe.clone()) if hasattr(positions, 'pe') else positions, dropout, pad_id"),
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
        says="`d_ff` stands where the number of heads belongs.",
        asks="In which order does `EncoderLayer` take its sizes?",
        ways=[Way(edits=[
            Edit("sizes = (d_model, num_heads, d_ff,",
                 "sizes = (d_model, d_ff, num_heads,"),
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
]
