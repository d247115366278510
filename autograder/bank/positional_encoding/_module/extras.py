"""Mistakes in what is done beside adding."""

from __future__ import annotations

from autograder.bank.positional_encoding._module.lines import ADD, REGISTER
from autograder.oracle.specification import Edit, Mutant, Way

EXTRAS = [
    Mutant(
        name="in_place",
        says="The `x` that was handed in is changed.",
        asks="Does `x += ...` make a new tensor?",
        ways=[
            Way(edits=[
                Edit(
                    ADD,
                    """
                    x += self.pe[: x.size(1)]
                    return x
                    """,
                ),
            ]),
            Way(name="in_place_in_eval_mode", edits=[
                Edit(ADD, """
                    if self.training:
                        return x + self.pe[: x.size(1)]
                    return x.add_(self.pe[: x.size(1)])
                    """),
            ]),
            Way(name="add_underscore", edits=[
                Edit(ADD, "return x.add_(self.pe[: x.size(1)])"),
            ]),
        ],
    ),
    Mutant(
        name="in_place_data",
        says="The `x` that was handed in is changed, behind autograd's back.",
        asks="Who else uses `x` after your module?",
        ways=[Way(edits=[
            Edit(
                ADD,
                """
                x.data += self.pe[: x.size(1)]
                return x
                """,
            ),
        ])],
    ),
    Mutant(
        name="scaled",
        says="The words are multiplied by the square root of `d_model` here. That "
        "belongs in the input layer.",
        asks="What does the exercise ask to add, and what to leave out?",
        ways=[Way(edits=[
            Edit(ADD, "return x * x.size(-1) ** 0.5 + self.pe[: x.size(1)]"),
        ])],
    ),
    Mutant(
        name="table_scaled",
        says="The *table* is multiplied by the square root of `d_model`.",
        asks="What does the exercise ask to add, and what to leave out?",
        ways=[Way(edits=[
            Edit(ADD, "return x + self.pe[: x.size(1)] * x.size(-1) ** 0.5"),
        ])],
    ),
    Mutant(
        name="normalised",
        says="The sum is normalised afterwards.",
        asks="What does the exercise ask to add, and what to leave out?",
        ways=[Way(edits=[
            Edit(
                ADD,
                """
                x = x + self.pe[: x.size(1)]
                return nn.functional.layer_norm(x, x.shape[-1:])
                """,
            ),
        ])],
    ),
    Mutant(
        name="dropped",
        says="Some numbers are zero and the others are larger: dropout is at work.",
        asks="What does the exercise ask to add, and what to leave out?",
        ways=[
            Way(edits=[
                Edit(ADD,
                     "return nn.functional.dropout(x + self.pe[: x.size(1)], 0.1)"),
            ]),
            Way(name="dropped_module", edits=[
                Edit(ADD, "return nn.Dropout(0.1)(x + self.pe[: x.size(1)])"),
            ]),
        ],
    ),
    Mutant(
        name="detached",
        says="No gradient flows back to the words, so the embeddings could never "
        "learn.",
        asks="Does `.detach()`, `.data` or `no_grad` cut the graph somewhere?",
        ways=[
            Way(edits=[Edit(ADD, "return x.detach() + self.pe[: x.size(1)]")]),
            Way(name="no_grad", edits=[
                Edit(
                    ADD,
                    """
                    with torch.no_grad():
                                return x + self.pe[: x.size(1)]
                    """,
                ),
            ]),
        ],
    ),
    Mutant(
        name="table_cut",
        says="The first call cuts the table for good, so a longer sentence no "
        "longer fits.",
        asks="Does `forward` change something of the module?",
        ways=[Way(edits=[
            Edit(
                ADD,
                """
                self.pe = self.pe[: x.size(1)]
                return x + self.pe
                """,
            ),
        ])],
    ),
    Mutant(
        name="table_grows",
        says="Each call changes the table.",
        asks="Does `forward` change something of the module?",
        ways=[Way(edits=[
            Edit(
                ADD,
                """
                self.pe *= 2
                return x + self.pe[: x.size(1)] / 2
                """,
            ),
        ])],
    ),
    Mutant(
        name="no_super",
        says="`nn.Module` was not set up before the buffer was registered.",
        asks="Which line must every `__init__` of a module begin with?",
        ways=[Way(edits=[Edit("super().__init__()", "")])],
    ),
    Mutant(
        name="buffer_asks_for_a_gradient",
        says="The table is a buffer, and yet a gradient is computed for it.",
        asks="What does `layer.pe.requires_grad` say, and what should it say?",
        ways=[Way(edits=[
            Edit(REGISTER, 'self.register_buffer("pe", table.detach().clone().requires_grad_())'),
        ])],
    ),
    Mutant(
        name="zeros_left_out",
        says="A position whose vector is zero gets nothing added.",
        asks="Does the text speak of the vectors, or of all positions?",
        ways=[Way(edits=[
            Edit(ADD, "return x + self.pe[: x.size(1)] * (x != 0).any(-1, keepdim=True)"),
        ])],
    ),
    Mutant(
        name="attribute_sent_along",
        says="The table is a plain attribute that is sent to where `x` is, in each "
        "call. It is no buffer.",
        asks="What does `list(layer.named_buffers())` show?",
        ways=[Way(edits=[
            Edit(REGISTER, "self.pe = table"),
            Edit(ADD, "return x + self.pe[: x.size(1)].to(x)"),
        ])],
    ),
]
