"""Mistakes in the factor, and in the sum of words and positions."""

from __future__ import annotations

from autograder.bank.positional_encoding._input_layer.lines import DROP, SCALE, SCALED
from autograder.oracle.specification import Edit, Mutant, Way

FACTOR = [
    Mutant(
        name="not_scaled",
        says="The embeddings are not scaled.",
        asks="By which factor should they be multiplied, and when?",
        ways=[
            Way(edits=[Edit(SCALED, "x = self.embedding(ids)")]),
            Way(name="scale_discarded", edits=[
                Edit(
                    SCALED,
                    """
                    x = self.embedding(ids)
                    x * self.scale
                    """,
                ),
            ]),
            Way(name="scaled_weights_at_the_start", edits=[
                Edit(SCALE, "self.embedding.weight.data *= math.sqrt(d_model)"),
                Edit(SCALED, "x = self.embedding(ids)"),
            ]),
        ],
    ),
    Mutant(
        name="divided",
        says="The embeddings are divided by the square root of `d_model`.",
        asks="Should the words get louder or quieter?",
        ways=[Way(edits=[Edit(SCALED, "x = self.embedding(ids) / self.scale")])],
    ),
    Mutant(
        name="scaled_by_d",
        says="The embeddings are multiplied by `d_model` itself: the square root "
        "is missing, or was applied twice.",
        asks="How often does the factor appear on the way from ids to result?",
        ways=[
            Way(edits=[Edit(SCALE, "self.scale = d_model")]),
            Way(name="scaled_twice", edits=[
                Edit(SCALED,
                     "x = self.embedding(ids) * self.scale * self.scale*1.0"),
            ]),
        ],
    ),
    Mutant(
        name="scaled_by_vocabulary",
        says="The factor is the square root of the size of the vocabulary.",
        asks="Which of the two sizes is the length of a vector?",
        ways=[Way(edits=[Edit(SCALE, "self.scale = math.sqrt(vocab_size)")])],
    ),
    Mutant(
        name="scaled_by_length",
        says="The factor is the square root of the number of positions.",
        asks="Which size of the tensor is `d_model`?",
        ways=[Way(edits=[
            Edit(SCALED, "x = self.embedding(ids) * math.sqrt(ids.size(1))"),
        ])],
    ),
    Mutant(
        name="scaled_by_batch",
        says="The factor is the square root of the number of sentences.",
        asks="Which size of the tensor is `d_model`?",
        ways=[Way(edits=[
            Edit(SCALED, "x = self.embedding(ids) * math.sqrt(len(ids))"),
        ])],
    ),
    Mutant(
        name="scale_fixed",
        says="The factor is that of `d_model = 512`, whatever the size is.",
        asks="Where does `d_model` come into your factor?",
        ways=[Way(edits=[Edit(SCALE, "self.scale = math.sqrt(512)")])],
    ),
    Mutant(
        name="scaled_after",
        says="The factor is applied after the positions were added, so it scales "
        "them too.",
        asks="Which part of the sum should get louder, and which should not?",
        ways=[Way(edits=[
            Edit(SCALED, "x = self.embedding(ids)"),
            Edit(DROP, "return self.dropout(self.positions(x) * self.scale)"),
        ])],
    ),
    Mutant(
        name="positions_first",
        says="The positions are scaled, and the words are not.",
        asks="Which part of the sum should get louder, and which should not?",
        ways=[Way(edits=[
            Edit(SCALED, "x = self.embedding(ids)"),
            Edit(
                DROP,
                """
                rows = self.positions(torch.zeros_like(x)) * self.scale
                return self.dropout(x + rows)
                """,
            ),
        ])],
    ),
    Mutant(
        name="no_positions",
        says="The positions are missing.",
        asks="Where does the module `positions` come in?",
        ways=[Way(edits=[Edit(DROP, "return self.dropout(x)")])],
    ),
    Mutant(
        name="positions_twice",
        says="The positions are added twice.",
        asks="Does the module `positions` return the rows, or the sum with `x`?",
        ways=[Way(edits=[
            Edit(DROP, "return self.dropout(self.positions(self.positions(x)))"),
        ])],
    ),
    Mutant(
        name="words_twice",
        says="The words are added twice: `positions(x)` is already the sum.",
        asks="Does the module `positions` return the rows, or the sum with `x`?",
        ways=[Way(edits=[
            Edit(DROP, "return self.dropout(x + self.positions(x))"),
        ])],
    ),
    Mutant(
        name="positions_only",
        says="Only positions come out; the words are lost.",
        asks="What is handed to the module `positions`?",
        ways=[Way(edits=[
            Edit(DROP, "return self.dropout(self.positions(torch.zeros_like(x)))"),
        ])],
    ),
]
