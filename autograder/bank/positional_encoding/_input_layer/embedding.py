"""Mistakes in the embedding, and in what nobody asked for."""

from __future__ import annotations

from autograder.bank.positional_encoding._input_layer.lines import DROP, SCALE, SCALED
from autograder.oracle.specification import Edit, Mutant, Way

_EMBEDDING = "self.embedding = nn.Embedding(vocab_size, d_model, padding_idx=padding_idx)"

EMBEDDING = [
    Mutant(
        name="padding_trained",
        says="The row of the padding token gets a gradient: the embedding layer "
        "does not know which token is padding.",
        asks="Which argument of `nn.Embedding` tells it?",
        ways=[Way(edits=[Edit(", padding_idx=padding_idx)", ")")])],
    ),
    Mutant(
        name="padding_starts_at_random",
        says="The vector of the padding token does not start as zero: the table was "
        "filled anew after the embedding layer was made.",
        asks="Which row did `nn.Embedding` set to zero, and which line came after that?",
        ways=[
            Way(edits=[
                Edit(
                    SCALE,
                    """
                    self.scale = math.sqrt(d_model)
                    nn.init.normal_(self.embedding.weight, std=d_model**-0.5)
                    """,
                ),
            ]),
            Way(name="xavier_over_padding", edits=[
                Edit(
                    SCALE,
                    """
                    self.scale = math.sqrt(d_model)
                    nn.init.xavier_uniform_(self.embedding.weight)
                    """,
                ),
            ]),
        ],
    ),
    Mutant(
        name="padding_always_0",
        says="The embedding layer thinks that token 0 is padding, whatever was "
        "asked for.",
        asks="Where does your code use the value of `padding_idx`?",
        ways=[Way(edits=[Edit("padding_idx=padding_idx)", "padding_idx=0)")])],
    ),
    Mutant(
        name="positions_copied",
        says="Your layer keeps a copy of the module that adds positions. Whoever goes on "
        "with the one that was given does not reach it.",
        asks="Which module do two layers share that were given the same one?",
        ways=[Way(edits=[
            Edit("self.positions = positions", """
                import copy
                self.positions = copy.deepcopy(positions)
                """),
        ])],
    ),
    Mutant(
        name="padding_cut_out",
        says="At padding the whole sum is zero, and its position is lost.",
        asks="Which part of the sum is zero at padding?",
        ways=[Way(edits=[
            Edit(
                DROP,
                """
                keep = (ids != self.embedding.padding_idx).unsqueeze(-1)
                return self.dropout(self.positions(x) * keep)
                """,
            ),
        ])],
    ),
    Mutant(
        name="scale_trained",
        says="The factor is a parameter: training would change it.",
        asks="Is the square root of `d_model` something to learn?",
        ways=[Way(edits=[
            Edit(SCALE, "self.scale = nn.Parameter(torch.tensor(d_model**0.5))"),
        ])],
    ),
    Mutant(
        name="weights_grow",
        says="The table of the embedding is scaled in place, so it grows with "
        "every call.",
        asks="Does `forward` change something of the module?",
        ways=[Way(edits=[
            Edit(
                SCALED,
                """
                with torch.no_grad():
                    self.embedding.weight *= self.scale
                x = self.embedding(ids)
                """,
            ),
        ])],
    ),
    Mutant(
        name="frozen",
        says="The table of the embedding asks for no gradient, so it could never "
        "learn.",
        asks="Who sets `requires_grad`, and to what?",
        ways=[Way(edits=[
            Edit(
                SCALE,
                """
                self.scale = math.sqrt(d_model)
                self.embedding.weight.requires_grad = False
                """,
            ),
        ])],
    ),
    Mutant(
        name="detached",
        says="No gradient reaches the table of the embedding, so it could never "
        "learn.",
        asks="Does `.detach()`, `.data` or `no_grad` cut the graph somewhere?",
        ways=[
            Way(edits=[
                Edit(SCALED, "x = self.embedding(ids).detach() * self.scale"),
            ]),
        ],
    ),
    Mutant(
        name="other_name",
        says="The embedding layer has another name than the docstring says, so its "
        "weights cannot be found.",
        asks="What is the layer called in `__init__`?",
        ways=[Way(edits=[
            Edit(_EMBEDDING,
                 "self.embed = nn.Embedding(vocab_size, d_model, padding_idx=padding_idx)"),
            Edit("self.embedding(ids)", "self.embed(ids)"),
        ])],
    ),
    Mutant(
        name="sizes_swapped",
        says="The table of the embedding has its two sizes swapped.",
        asks="Which comes first in `nn.Embedding`: how many vectors, or how long "
        "they are?",
        ways=[Way(edits=[
            Edit("nn.Embedding(vocab_size, d_model,",
                 "nn.Embedding(d_model, vocab_size,"),
        ])],
    ),
    Mutant(
        name="activated",
        says="Negative numbers became zero: there is an activation that nobody "
        "asked for.",
        asks="Which steps does the exercise list?",
        ways=[Way(edits=[
            Edit(DROP, "return self.dropout(self.positions(x).relu())"),
        ])],
    ),
    Mutant(
        name="normalised",
        says="The result is normalised, which nobody asked for.",
        asks="Which steps does the exercise list?",
        ways=[Way(edits=[
            Edit(
                DROP,
                """
                x = self.positions(x)
                return self.dropout(nn.functional.layer_norm(x, x.shape[-1:]))
                """,
            ),
        ])],
    ),
]
