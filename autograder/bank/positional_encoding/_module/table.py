"""Mistakes in how the module holds its table."""

from __future__ import annotations

from autograder.bank.positional_encoding._module.lines import ADD, REGISTER
from autograder.oracle.specification import Edit, Mutant, Way

TABLE = [
    Mutant(
        name="parameter",
        says="The table is an `nn.Parameter`: an optimizer would change it.",
        asks="Which of the three ways to keep a tensor moves with the module but "
        "is not trained?",
        ways=[
            Way(edits=[Edit(REGISTER, "self.pe = nn.Parameter(table)")]),
            Way(name="frozen_parameter", edits=[
                Edit(REGISTER,
                     "self.pe = nn.Parameter(table, requires_grad=False)"),
            ]),
            Way(name="embedding_layer", edits=[
                Edit(REGISTER, "self.table = nn.Embedding.from_pretrained(table)"),
                Edit(ADD, "return x + self.table.weight[: x.size(1)]"),
            ]),
        ],
    ),
    Mutant(
        name="other_name",
        says="There is a buffer, but none called `pe`.",
        asks="Which name does the docstring ask for?",
        ways=[Way(edits=[
            Edit(REGISTER, 'self.register_buffer("table", table)'),
            Edit(ADD, "return x + self.table[: x.size(1)]"),
        ])],
    ),
    Mutant(
        name="plain_attribute",
        says="The table is a plain attribute: it stays behind when the module "
        "moves to another dtype or device.",
        asks="Which method tells a module that a tensor belongs to it?",
        ways=[
            Way(edits=[Edit(REGISTER, "self.pe = table")]),
            Way(name="in_a_list", edits=[
                Edit(REGISTER, "self.pe = list(table)"),
                Edit(ADD, "return x + torch.stack(self.pe)[: x.size(1)]"),
            ]),
        ],
    ),
    Mutant(
        name="dtype_only",
        says="The table takes the dtype of `x` but not its device.",
        asks="On which device is a plain attribute after `model.to(device)`?",
        ways=[Way(edits=[
            Edit(REGISTER, "self.pe = table"),
            Edit(ADD, "return x + self.pe[: x.size(1)].to(x.dtype)"),
        ])],
    ),
    Mutant(
        name="stays_float32",
        says="The device is right, but after a move to half precision the result is "
        "still float32: a table that is moved by hand, to the device of `x` only, "
        "or a dtype that your code names.",
        asks="What moves with a module without a line of yours?",
        ways=[
            Way(edits=[
                Edit(REGISTER, "self.pe = table"),
                Edit(ADD, "return x + self.pe[: x.size(1)].to(x.device)"),
            ]),
            Way(name="result_float32", edits=[
                Edit(ADD, "return (x + self.pe[: x.size(1)]).float()"),
            ]),
        ],
    ),
]
