"""Mistakes in the dropout."""

from __future__ import annotations

from autograder.bank.positional_encoding._input_layer.lines import DROP, SCALED
from autograder.oracle.specification import Edit, Mutant, Way

DROPOUT = [
    Mutant(
        name="other_default",
        says="With no dropout named, the layer drops nothing.",
        asks="What does the signature say about `dropout`?",
        ways=[Way(edits=[Edit("dropout: float = 0.1", "dropout: float = 0.0")])],
    ),
    Mutant(
        name="no_dropout",
        says="Nothing is dropped in training mode.",
        asks="Is the result of dropout used?",
        ways=[
            Way(edits=[Edit(DROP, "return self.positions(x)")]),
            Way(name="dropout_discarded", edits=[
                Edit(
                    DROP,
                    """
                    x = self.positions(x)
                    self.dropout(x)
                    return x
                    """,
                ),
            ]),
        ],
    ),
    Mutant(
        name="dropout_before_positions",
        says="Dropout comes before the positions, so these are never dropped.",
        asks="The paper applies dropout to the sum. Which sum?",
        ways=[
            Way(edits=[Edit(DROP, "return self.positions(self.dropout(x))")]),
            Way(name="dropout_before_scale", edits=[
                Edit(SCALED, "x = self.dropout(self.embedding(ids)) * self.scale"),
                Edit(DROP, "return self.positions(x)"),
            ]),
        ],
    ),
    Mutant(
        name="dropout_twice",
        says="Dropout is applied twice, before and after the positions.",
        asks="How often does the paper drop, between ids and the first layer?",
        ways=[Way(edits=[
            Edit(DROP, "return self.dropout(self.positions(self.dropout(x)))"),
        ])],
    ),
    Mutant(
        name="dropout_always",
        says="Numbers are dropped in eval mode as well.",
        asks="How does `F.dropout` know whether the module is in training mode?",
        ways=[
            Way(edits=[
                Edit(DROP,
                     "return nn.functional.dropout(self.positions(x), self.dropout.p)"),
            ]),
            Way(name="dropout_made_anew", edits=[
                Edit(DROP, "return nn.Dropout(self.dropout.p)(self.positions(x))"),
            ]),
        ],
    ),
    Mutant(
        name="share_kept",
        says="The share that should be dropped is kept instead.",
        asks="In PyTorch, is `p` the share that is dropped or the share that is "
        "kept?",
        ways=[Way(edits=[Edit("nn.Dropout(dropout)", "nn.Dropout(1 - dropout)")])],
    ),
    Mutant(
        name="share_ignored",
        says="The dropout has its standard share, not the one that was asked for.",
        asks="What is `dropout` in `__init__` used for?",
        ways=[Way(edits=[Edit("nn.Dropout(dropout)", "nn.Dropout()")])],
    ),
    Mutant(
        name="share_fixed",
        says="The dropout always has the share 0.1, not the one that was asked "
        "for.",
        asks="What is `dropout` in `__init__` used for?",
        ways=[Way(edits=[Edit("nn.Dropout(dropout)", "nn.Dropout(0.1)")])],
    ),
    Mutant(
        name="dropped_together",
        says="Numbers are dropped in whole rows, as those of a vector or of a feature.",
        asks="How many numbers share one draw in your code, and how many in the text?",
        ways=[
            Way(edits=[
                Edit(
                    DROP,
                    """
                    x, p = self.positions(x), self.dropout.p
                    if self.training:
                        x = x * (torch.rand(ids.shape) >= p).unsqueeze(-1) / (1 - p)
                    return x
                    """,
                ),
            ]),
        ],
    ),
    Mutant(
        name="dropped_alike_in_sentences",
        says="The same numbers are dropped in every sentence.",
        asks="How many numbers share one draw in your code, and how many in the text?",
        ways=[
            Way(edits=[
                Edit(
                    DROP,
                    """
                    x, p = self.positions(x), self.dropout.p
                    if self.training:
                        x = x * (torch.rand(x.shape[1:]) >= p) / (1 - p)
                    return x
                    """,
                ),
            ]),
        ],
    ),
    Mutant(
        name="not_rescaled",
        says="Numbers are dropped, but those that are kept are not made larger, so "
        "the sums change between training and evaluation.",
        asks="What does `nn.Dropout` do to the numbers that it keeps?",
        ways=[Way(edits=[
            Edit(
                DROP,
                """
                x = self.positions(x)
                if self.training:
                    x = x * (torch.rand_like(x) > self.dropout.p)
                return x
                """,
            ),
        ])],
    ),
]
