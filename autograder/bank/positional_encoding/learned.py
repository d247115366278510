"""LearnedPositions."""

from __future__ import annotations

from autograder.bank.positional_encoding._learned.accepted import ACCEPTED
from autograder.bank.positional_encoding._learned.lines import ADD_ROWS, TABLE
from autograder.oracle.draw import Draw
from autograder.oracle.promise import OF_MODULES, Promise, special
from autograder.oracle.specification import (
    CaseKind,
    Edit,
    Inputs,
    Mutant,
    Specification,
    Way,
)


def _learned(draw: Draw, b: int, length: int, max_len: int, d_model: int) -> Inputs:
    return {
        **draw.weights(table=(max_len, d_model)),
        "x": draw.tensor(b, length, d_model),
        "pull": draw.tensor(b, length, d_model),
    }


_REFUSE = "if length > max_len:"

EXERCISE = Specification(
    name="positional_encoding/learned",
    title="LearnedPositions",
    target="LearnedPositions",
    aspects={"learning": 3.0},  # that the table learns is what it is about
    promise=Promise(
        arguments="x: B L d",
        results="output: B L d",
        on=("short",),
        ways=OF_MODULES,
        sizes=special(
            equal_sizes=lambda draw: _learned(draw, 4, 4, 4, 4),
            one_position=lambda draw: _learned(draw, 3, 1, 1, 2),
        ),
        module=True,
        named=True,
    ),
    cases=[
        CaseKind(
            name="short",
            title="sentences shorter than the table",
            inputs=lambda draw: _learned(draw, 3, 5, 8, 6),
            hint="Only the first L rows are added, and only they get a gradient.",
        ),
        CaseKind(
            name="full_length",
            title="as long as the table",
            inputs=lambda draw: _learned(draw, 2, 7, 7, 4),
            hint="A sentence of exactly max_len positions fits.",
        ),
        CaseKind(
            name="one_sentence",
            title="a batch of one, and a large table",
            inputs=lambda draw: _learned(draw, 1, 4, 13, 10),
            hint="Which dimension of `x` tells the number of positions?",
        ),
        CaseKind(
            name="too_long",
            title="one position more than the table has",
            inputs=lambda draw: _learned(draw, 2, 7, 6, 4),
            hint="The docstring promises an error by its name.",
            aspect="errors",
            open=True,
        ),
        CaseKind(
            name="too_long_for_one",
            title="two positions for a table of one",
            inputs=lambda draw: _learned(draw, 2, 2, 1, 4),
            hint="Broadcasting makes a row fit any length: nothing stops by itself.",
            aspect="errors",
            open=True,
        ),
        CaseKind(
            name="start",
            title="the table before any training",
            inputs=lambda draw: {"start": "a table of 100 positions and 64 features"},
            hint="The first numbers are small, and drawn at random.",
            aspect="start",
            open=True,
        ),
        CaseKind(
            name="one_word",
            title="sentences of one word",
            inputs=lambda draw: _learned(draw, 5, 1, 3, 8),
            hint="A sentence of one word needs row 0 of the table.",
            hidden_only=True,
        ),
    ],
    mutants=[
        Mutant(
            name="starts_at_zero",
            says="Your table starts with zeros. They are small, but not random.",
            asks="How do two positions differ before the first step of training?",
            ways=[
                Way(edits=[
                    Edit("0.02 * torch.randn(max_len, d_model)",
                         "torch.zeros(max_len, d_model)"),
                ]),
            ],
        ),
        Mutant(
            name="starts_at_a_constant",
            says="Your table starts with the same number everywhere.",
            asks="How do two positions differ before the first step of training?",
            ways=[Way(edits=[
                Edit("0.02 * torch.randn(max_len, d_model)",
                     "torch.full((max_len, d_model), 0.02)"),
            ])],
        ),
        Mutant(
            name="starts_the_same",
            says="Your table starts with the same numbers each time that one is made.",
            asks="Who sets a seed, and where?",
            ways=[Way(edits=[
                Edit("0.02 * torch.randn(max_len, d_model)",
                     "0.02 * torch.randn(max_len, d_model, generator=torch.Generator().manual_seed(0))"),
            ])],
        ),
        Mutant(
            name="rows_alike",
            says="Your table starts with one random row, repeated for all positions.",
            asks="How do two positions differ before the first step of training?",
            ways=[Way(edits=[
                Edit("0.02 * torch.randn(max_len, d_model)",
                     "(0.02 * torch.randn(1, d_model)).repeat(max_len, 1)"),
            ])],
        ),
        Mutant(
            name="columns_alike",
            says="Your table starts with one random number for each position, repeated "
            "for all features.",
            asks="How do two features differ before the first step of training?",
            ways=[Way(edits=[
                Edit("0.02 * torch.randn(max_len, d_model)",
                     "(0.02 * torch.randn(max_len, 1)).repeat(1, d_model)"),
            ])],
        ),
        Mutant(
            name="starts_next_to_zero",
            says="Your table starts at random, but with next to nothing: positions hardly "
            "differ.",
            asks="How large are the numbers to be, and how large is one of yours?",
            ways=[Way(edits=[Edit("0.02", "2e-5")])],
        ),
        Mutant(
            name="under_two_names",
            says="The table stands in the state dict under two names.",
            asks="What does `list(module.state_dict())` show?",
            ways=[Way(edits=[Edit(TABLE, f"{TABLE}\nself.pe = self.table")])],
        ),
        Mutant(
            name="starts_large",
            says="Your table starts at random, but not small: it drowns the words.",
            asks="How large is an embedding's number, and how large one of yours?",
            ways=[
                Way(edits=[Edit("0.02 * torch.randn", "torch.randn")]),
                Way(name="starts_far_too_large", edits=[Edit("0.02", "2.0")]),
            ],
        ),
        Mutant(
            name="buffer",
            says="No optimizer will find a table to train: it is no parameter of the "
            "module.",
            asks="Which class makes a tensor of a module trainable?",
            ways=[
                Way(edits=[
                    Edit(TABLE,
                         'self.register_buffer("table", 0.02 * torch.randn(max_len, d_model))'),
                ]),
                Way(name="plain_tensor", edits=[
                    Edit(TABLE,
                         "self.table = torch.randn(max_len, d_model, requires_grad=True)"),
                ]),
            ],
        ),
        Mutant(
            name="frozen",
            says="The table is a parameter that asks for no gradient.",
            asks="Does `requires_grad=False` stand somewhere?",
            ways=[
                Way(edits=[
                    Edit(TABLE,
                         "self.table = nn.Parameter(0.02 * torch.randn(max_len, d_model), requires_grad=False)"),
                ]),
            ],
        ),
        Mutant(
            name="detached",
            says="The table is a parameter, but it gets no gradient.",
            asks="Does `.data`, `.detach()` or `no_grad` stand somewhere?",
            ways=[
                Way(edits=[
                    Edit(ADD_ROWS, "return x + self.table[:length].detach()"),
                ]),
                Way(name="through_data", edits=[
                    Edit(ADD_ROWS, "return x + self.table.data[:length]"),
                ]),
            ],
        ),
        Mutant(
            name="sizes_swapped",
            says="The table has its two sizes swapped.",
            asks="Which size is first in `(max_len, d_model)`?",
            ways=[Way(edits=[
                Edit("torch.randn(max_len, d_model)", "torch.randn(d_model, max_len)"),
            ])],
        ),
        Mutant(
            name="other_name",
            says="The parameter has another name than the docstring says, so it cannot "
            "be found.",
            asks="What is the parameter called in `__init__`?",
            ways=[Way(edits=[
                Edit(TABLE,
                     "self.pe = nn.Parameter(0.02 * torch.randn(max_len, d_model))"),
                Edit("self.table.size(0)", "self.pe.size(0)"),
                Edit(ADD_ROWS, "return x + self.pe[:length]"),
            ])],
        ),
        Mutant(
            name="embedding_layer",
            says="The table is inside an `nn.Embedding`, so the parameter is called "
            "`table.weight`. The docstring asks for a parameter called `table`.",
            asks="Which class makes a single tensor trainable?",
            ways=[Way(edits=[
                Edit(TABLE, "self.table = nn.Embedding(max_len, d_model)"),
                Edit("self.table.size(0)", "self.table.num_embeddings"),
                Edit(ADD_ROWS, "return x + self.table(torch.arange(length))"),
            ])],
        ),
        Mutant(
            name="too_long_accepted",
            says="A sentence that is too long gets no `ValueError`.",
            asks="What does your module do with `max_len + 1` positions?",
            ways=[Way(edits=[Edit(_REFUSE, "if False:")])],
        ),
        Mutant(
            name="too_long_asserted",
            says="A sentence that is too long raises another error than the docstring "
            "says.",
            asks="Which error does the docstring name, and which one does `assert` "
            "raise?",
            ways=[Way(edits=[
                Edit(
                    _REFUSE,
                    """
                    assert length <= max_len
                    if False:
                    """,
                ),
            ])],
        ),
        Mutant(
            name="too_long_index_error",
            says="A sentence that is too long raises another error than the docstring "
            "says.",
            asks="Which error does the docstring name, and which one comes from your "
            "code?",
            ways=[Way(edits=[Edit("raise ValueError(", "raise IndexError(")])],
        ),
        Mutant(
            name="too_long_cut",
            says="A sentence that is too long is taken, silently: its end is cut off, or "
            "rows of the table are used again.",
            asks="What does the docstring say for `max_len + 1` positions?",
            ways=[
                Way(edits=[
                    Edit(_REFUSE, "if False:"),
                    Edit(ADD_ROWS, "return x[:, :max_len] + self.table[:length]"),
                ]),
                Way(name="too_long_repeats", edits=[
                    Edit(_REFUSE, "if False:"),
                    Edit(ADD_ROWS,
                         "return x + self.table[torch.arange(length).clamp(max=max_len - 1)]"),
                ]),
            ],
        ),
        Mutant(
            name="full_length_refused",
            says="A sentence of exactly `max_len` positions is refused, though it "
            "fits.",
            asks="Is it `>` or `>=`?",
            ways=[Way(edits=[Edit(_REFUSE, "if length >= max_len:")])],
        ),
        Mutant(
            name="batch_for_length",
            says="The number of *sentences* decides how many rows are taken.",
            asks="Which dimension of `x` is the position?",
            ways=[Way(edits=[
                Edit("length, max_len = x.size(1)", "length, max_len = x.size(0)"),
            ])],
        ),
        Mutant(
            name="width_for_length",
            says="`d_model` decides how many rows are taken.",
            asks="Which dimension of `x` is the position?",
            ways=[Way(edits=[
                Edit("length, max_len = x.size(1)", "length, max_len = x.size(2)"),
            ])],
        ),
        Mutant(
            name="whole_table",
            says="The whole table is added, so only sentences of full length fit.",
            asks="How many rows does a sentence of `L` vectors need?",
            ways=[Way(edits=[Edit(ADD_ROWS, "return x + self.table")])],
        ),
        Mutant(
            name="one_row_for_all",
            says="All positions get the same row of the table.",
            asks="Is a colon missing in the index of the table?",
            ways=[Way(edits=[Edit(ADD_ROWS, "return x + self.table[length - 1]")])],
        ),
        Mutant(
            name="first_row_for_all",
            says="All positions get row 0 of the table.",
            asks="Which row belongs to position 3?",
            ways=[Way(edits=[Edit(ADD_ROWS, "return x + self.table[0]")])],
        ),
        Mutant(
            name="last_rows",
            says="The *last* rows of the table are added.",
            asks="Which row belongs to position 0?",
            ways=[Way(edits=[Edit(ADD_ROWS, "return x + self.table[-length:]")])],
        ),
        Mutant(
            name="reversed",
            says="The rows are added in reverse order.",
            asks="Which row belongs to position 0?",
            ways=[Way(edits=[
                Edit(ADD_ROWS, "return x + self.table[:length].flip(0)"),
            ])],
        ),
        Mutant(
            name="position_only",
            says="Only the positions come back; the words are lost.",
            asks="What should the table be added to?",
            ways=[Way(edits=[
                Edit(ADD_ROWS, "return self.table[:length].expand_as(x)"),
            ])],
        ),
        Mutant(
            name="multiplied",
            says="The words are multiplied by the positions.",
            asks="What should happen to the words?",
            ways=[Way(edits=[Edit(ADD_ROWS, "return x * self.table[:length]")])],
        ),
        Mutant(
            name="scaled",
            says="The words are multiplied by the square root of `d_model` here.",
            asks="What does the exercise ask to add?",
            ways=[Way(edits=[
                Edit(ADD_ROWS, "return x * x.size(-1) ** 0.5 + self.table[:length]"),
            ])],
        ),
        Mutant(
            name="in_place",
            says="The `x` that was handed in is changed.",
            asks="Does `x += ...` make a new tensor?",
            ways=[
                Way(edits=[
                    Edit(ADD_ROWS, """
                        x += self.table[:length]
                        return x
                        """),
                ]),
                Way(name="in_place_in_training", edits=[
                    Edit(ADD_ROWS, """
                        if self.training:
                            return x.add_(self.table[:length])
                        return x + self.table[:length]
                        """),
                ]),
            ],
        ),
        Mutant(
            name="sinusoids_added",
            says="There is more in the sum than words and learned rows.",
            asks="Does the learned table replace the sinusoids, or join them?",
            ways=[Way(edits=[
                Edit(ADD_ROWS,
                     "return x + self.table[:length] + sinusoid(torch.arange(length), x.size(-1))"),
            ])],
        ),
        Mutant(
            name="row_per_word_of_batch",
            says="Each sentence gets one row, the same for all of its words.",
            asks="Does a row belong to a sentence or to a place in it?",
            ways=[Way(edits=[
                Edit(ADD_ROWS,
                     "return x + self.table[torch.arange(len(x)) % max_len].unsqueeze(1)"),
            ])],
        ),
        Mutant(
            name="too_long_found_by_chance",
            says="You wait until the shapes do not fit. A table of one row fits every "
            "length.",
            asks="What does broadcasting do with a dimension of size 1?",
            ways=[Way(source="""
                class LearnedPositions(nn.Module):
                    def __init__(self, d_model, max_len):
                        super().__init__()
                        self.table = nn.Parameter(0.02 * torch.randn(max_len, d_model))

                    def forward(self, x):
                        try:
                            return x + self.table[: x.size(1)]
                        except RuntimeError as error:
                            raise ValueError("too long") from error
                """)],
        ),
    ],
    accepted=ACCEPTED,
)
