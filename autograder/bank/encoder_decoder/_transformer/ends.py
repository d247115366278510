"""Mistakes in the embeddings, in what they share, and in the output."""

from __future__ import annotations

from autograder.oracle.specification import Edit, Mutant, Way

ENDS = [
    Mutant(
        name="padding_starts_at_random",
        says="The vector of `pad_id` does not start as zero: the weights were filled "
        "anew, or taken from a layer that knows no padding.",
        asks="Which row did the embedding set to zero when it was made, and which line "
        "came after that?",
        ways=[
            Way(edits=[
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
            Way(name="small_numbers", edits=[
                Edit(
                    "self.pad_id = pad_id",
                    """
                    self.pad_id = pad_id
                    nn.init.normal_(self.source.embedding.weight, std=d_model ** -0.5)
                    nn.init.normal_(self.target.embedding.weight, std=d_model ** -0.5)
                    """,
                ),
            ]),
        ],
    ),
    Mutant(
        name="table_of_the_output",
        says="The shared table is the one that the output layer was made with, so the "
        "vector of `pad_id` does not start as zero.",
        asks="Which of the two layers knows about padding, and whose numbers are kept?",
        ways=[Way(edits=[
            Edit("self.output.weight = self.source.embedding.weight",
                 "self.source.embedding.weight = self.output.weight"),
        ])],
    ),
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
        name="target_beside_source",
        says="One table serves three times, but `target` is a layer of its own beside it.",
        asks="The text says *the very module*. What is `model.target is model.source`?",
        ways=[Way(edits=[
            Edit("self.target = self.source if shared_embedding else embedding(tgt_vocab)",
                 """
                 self.target = embedding(tgt_vocab)
                 if shared_embedding:
                     self.target.embedding = self.source.embedding
                 """),
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
]
