"""Mistakes in which rows are added, and how."""

from __future__ import annotations

from autograder.bank.positional_encoding._module.lines import ADD, REGISTER
from autograder.oracle.specification import Edit, Mutant, Way

ROWS = [
    Mutant(
        name="position_only",
        says="Only the positions come back; the words are lost.",
        asks="What should the table be added to?",
        ways=[Way(edits=[Edit(ADD, "return self.pe[: x.size(1)].expand_as(x)")])],
    ),
    Mutant(
        name="rows_only",
        says="Only the rows of the table come back, and the words are lost.",
        asks="What should the rows be added to?",
        ways=[Way(edits=[Edit(ADD, "return self.pe[: x.size(1)]")])],
    ),
    Mutant(
        name="nothing_added",
        says="The input comes back as it went in.",
        asks="Where is the table added?",
        ways=[Way(edits=[Edit(ADD, "return x.clone()")])],
    ),
    Mutant(
        name="multiplied",
        says="The words are multiplied by the positions.",
        asks="Does the paper add or multiply?",
        ways=[Way(edits=[Edit(ADD, "return x * self.pe[: x.size(1)]")])],
    ),
    Mutant(
        name="subtracted",
        says="The positions are subtracted.",
        asks="What is the sign of the table in the sum?",
        ways=[Way(edits=[Edit(ADD, "return x - self.pe[: x.size(1)]")])],
    ),
    Mutant(
        name="concatenated",
        says="Words and positions stand side by side: the vectors are twice as "
        "long.",
        asks="Which shape does the docstring promise?",
        ways=[Way(edits=[
            Edit(ADD,
                 "return torch.cat((x, self.pe[: x.size(1)].expand_as(x)), -1)"),
        ])],
    ),
    Mutant(
        name="whole_table",
        says="The whole table is added, so only sentences of full length fit.",
        asks="How many rows does a sentence of `L` vectors need?",
        ways=[
            Way(edits=[Edit(ADD, "return x + self.pe")]),
            Way(name="batch_dimension_cut", edits=[
                Edit(REGISTER, 'self.register_buffer("pe", table.unsqueeze(0))'),
                Edit(ADD, "return x + self.pe[:, :][: x.size(1)]"),
            ]),
        ],
    ),
    Mutant(
        name="batch_for_length",
        says="The number of *sentences* decides how many rows are taken.",
        asks="Which dimension of `x` is the position?",
        ways=[
            Way(edits=[Edit(ADD, "return x + self.pe[: x.size(0)]")]),
            Way(name="len_of_x", edits=[
                Edit(ADD, "return x + self.pe[: len(x)]"),
            ]),
        ],
    ),
    Mutant(
        name="width_for_length",
        says="`d_model` decides how many rows are taken.",
        asks="Which dimension of `x` is the position?",
        ways=[Way(edits=[Edit(ADD, "return x + self.pe[: x.size(-1)]")])],
    ),
    Mutant(
        name="position_of_the_sentence",
        says="Each sentence gets one row, the same for all of its words.",
        asks="Does a row belong to a sentence or to a place in it?",
        ways=[Way(edits=[
            Edit(ADD, "return x + self.pe[: x.size(0)].unsqueeze(1)"),
        ])],
    ),
    Mutant(
        name="one_row_for_all",
        says="All positions get the same row of the table.",
        asks="Which row belongs to position 3?",
        ways=[Way(edits=[Edit(ADD, "return x + self.pe[x.size(1) - 1]")])],
    ),
    Mutant(
        name="row_of_the_length",
        says="All positions get the row after the sentence.",
        asks="Is a colon missing in the index of the table?",
        ways=[Way(edits=[
            Edit(ADD, "return x + self.pe[min(x.size(1), len(self.pe) - 1)]"),
        ])],
    ),
    Mutant(
        name="first_row_for_all",
        says="All positions get row 0 of the table.",
        asks="Which row belongs to position 3?",
        ways=[Way(edits=[Edit(ADD, "return x + self.pe[0]")])],
    ),
    Mutant(
        name="last_rows",
        says="The *last* rows of the table are added.",
        asks="Which row belongs to position 0?",
        ways=[Way(edits=[Edit(ADD, "return x + self.pe[-x.size(1) :]")])],
    ),
    Mutant(
        name="from_one",
        says="Position 0 gets row 1 of the table.",
        asks="Which row belongs to position 0?",
        ways=[Way(edits=[Edit(ADD, "return x + self.pe[1 : x.size(1) + 1]")])],
    ),
    Mutant(
        name="reversed",
        says="The rows are added in reverse order.",
        asks="Which row belongs to position 0?",
        ways=[Way(edits=[Edit(ADD, "return x + self.pe[: x.size(1)].flip(0)")])],
    ),
    Mutant(
        name="first_sentence_only",
        says="Only the first sentence of the batch gets positions.",
        asks="How does broadcasting reach all sentences?",
        ways=[Way(edits=[
            Edit(
                ADD,
                """
                x = x.clone()
                x[0] = x[0] + self.pe[: x.size(1)]
                return x
                """,
            ),
        ])],
    ),
]
