"""PositionalEncoding."""

from __future__ import annotations

import torch

from autograder.oracle.draw import Draw
from autograder.oracle.promise import OF_MODULES, Promise, special
from autograder.oracle.specification import (
    Accepted,
    CaseKind,
    Edit,
    Inputs,
    Mutant,
    Specification,
    Way,
)


def _sentences(draw: Draw, b: int, length: int, max_len: int, d_model: int) -> Inputs:
    return {
        "table": draw.tensor(max_len, d_model),
        "x": draw.tensor(b, length, d_model),
    }


def _two_lengths(draw: Draw) -> Inputs:
    return {**_sentences(draw, 2, 3, 11, 6), "longer x": draw.tensor(4, 7, 6)}


def _zeros(draw: Draw) -> Inputs:
    """A position without a word, as padding is."""
    made = _sentences(draw, 2, 3, 5, 4)
    made["x"][0, 1] = 0
    return made


def _unused(draw: Draw) -> Inputs:
    """Rows beyond the sentence hold what is no number."""
    made = _sentences(draw, 2, 3, 5, 4)
    made["table"][3:] = torch.nan
    return made


def _pulled(draw: Draw) -> Inputs:
    return {**_sentences(draw, 3, 7, 7, 4), "pull": draw.tensor(3, 7, 4)}


def _moved(draw: Draw) -> Inputs:
    return {**_sentences(draw, 3, 4, 9, 6), "move": torch.tensor(1)}


_REGISTER = 'self.register_buffer("pe", table)  # (max_len, d_model)'
_ADD = "return x + self.pe[: x.size(1)]"

EXERCISE = Specification(
    name="positional_encoding/module",
    title="PositionalEncoding",
    target="PositionalEncoding",
    promise=Promise(
        arguments="x: B L d",
        results="output: B L d",
        on=("short",),
        ways=tuple(way for way in OF_MODULES if way != "start"),  # it has no weights
        module=True,
        sizes=special(
            equal_sizes=lambda draw: _sentences(draw, 4, 4, 4, 4),
            one_position=lambda draw: _sentences(draw, 3, 1, 1, 2),
            one_word=lambda draw: _sentences(draw, 1, 1, 5, 2),
            one_feature=lambda draw: _sentences(draw, 2, 3, 5, 1),
            a_position_of_zeros=_zeros,
            rows_of_nan_that_are_not_used=_unused,
        ),
    ),
    cases=[
        CaseKind(
            name="short",
            title="sentences shorter than the table",
            inputs=lambda draw: _sentences(draw, 3, 5, 12, 8),
            hint="Only the first L rows of the table are added, the same in each "
            "sentence.",
        ),
        CaseKind(
            name="two_lengths",
            title="a short batch, then a longer and larger one",
            inputs=_two_lengths,
            hint="Nothing of the first call may be left in the second.",
        ),
        CaseKind(
            name="moves",
            title="moved to bfloat16, then to another device",
            inputs=_moved,
            hint="What is registered as a buffer moves with the module.",
        ),
        CaseKind(
            name="full_length",
            title="as long as the table, with a gradient",
            inputs=_pulled,
            hint="A sentence of exactly max_len positions fits.",
        ),
        CaseKind(
            name="one_sentence",
            title="a batch of one",
            inputs=lambda draw: _sentences(draw, 1, 6, 13, 10),
            hint="Which dimension of `x` tells the number of positions?",
            hidden_only=True,
        ),
    ],
    mutants=[
        Mutant(
            name="parameter",
            says="The table is an `nn.Parameter`: an optimizer would change it.",
            asks="Which of the three ways to keep a tensor moves with the module but "
            "is not trained?",
            ways=[
                Way(edits=[Edit(_REGISTER, "self.pe = nn.Parameter(table)")]),
                Way(name="frozen_parameter", edits=[
                    Edit(_REGISTER,
                         "self.pe = nn.Parameter(table, requires_grad=False)"),
                ]),
                Way(name="embedding_layer", edits=[
                    Edit(_REGISTER, "self.table = nn.Embedding.from_pretrained(table)"),
                    Edit(_ADD, "return x + self.table.weight[: x.size(1)]"),
                ]),
            ],
        ),
        Mutant(
            name="plain_attribute",
            says="The table is a plain attribute: it stays behind when the module "
            "moves to another dtype or device.",
            asks="Which method tells a module that a tensor belongs to it?",
            ways=[
                Way(edits=[Edit(_REGISTER, "self.pe = table")]),
                Way(name="in_a_list", edits=[
                    Edit(_REGISTER, "self.pe = list(table)"),
                    Edit(_ADD, "return x + torch.stack(self.pe)[: x.size(1)]"),
                ]),
            ],
        ),
        Mutant(
            name="dtype_only",
            says="The table takes the dtype of `x` but not its device.",
            asks="On which device is a plain attribute after `model.to(device)`?",
            ways=[Way(edits=[
                Edit(_REGISTER, "self.pe = table"),
                Edit(_ADD, "return x + self.pe[: x.size(1)].to(x.dtype)"),
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
                    Edit(_REGISTER, "self.pe = table"),
                    Edit(_ADD, "return x + self.pe[: x.size(1)].to(x.device)"),
                ]),
                Way(name="result_float32", edits=[
                    Edit(_ADD, "return (x + self.pe[: x.size(1)]).float()"),
                ]),
            ],
        ),
        Mutant(
            name="position_only",
            says="Only the positions come back; the words are lost.",
            asks="What should the table be added to?",
            ways=[Way(edits=[Edit(_ADD, "return self.pe[: x.size(1)].expand_as(x)")])],
        ),
        Mutant(
            name="rows_only",
            says="Only the rows of the table come back, and the words are lost.",
            asks="What should the rows be added to?",
            ways=[Way(edits=[Edit(_ADD, "return self.pe[: x.size(1)]")])],
        ),
        Mutant(
            name="nothing_added",
            says="The input comes back as it went in.",
            asks="Where is the table added?",
            ways=[Way(edits=[Edit(_ADD, "return x.clone()")])],
        ),
        Mutant(
            name="multiplied",
            says="The words are multiplied by the positions.",
            asks="Does the paper add or multiply?",
            ways=[Way(edits=[Edit(_ADD, "return x * self.pe[: x.size(1)]")])],
        ),
        Mutant(
            name="subtracted",
            says="The positions are subtracted.",
            asks="What is the sign of the table in the sum?",
            ways=[Way(edits=[Edit(_ADD, "return x - self.pe[: x.size(1)]")])],
        ),
        Mutant(
            name="concatenated",
            says="Words and positions stand side by side: the vectors are twice as "
            "long.",
            asks="Which shape does the docstring promise?",
            ways=[Way(edits=[
                Edit(_ADD,
                     "return torch.cat((x, self.pe[: x.size(1)].expand_as(x)), -1)"),
            ])],
        ),
        Mutant(
            name="whole_table",
            says="The whole table is added, so only sentences of full length fit.",
            asks="How many rows does a sentence of `L` vectors need?",
            ways=[
                Way(edits=[Edit(_ADD, "return x + self.pe")]),
                Way(name="batch_dimension_cut", edits=[
                    Edit(_REGISTER, 'self.register_buffer("pe", table.unsqueeze(0))'),
                    Edit(_ADD, "return x + self.pe[:, :][: x.size(1)]"),
                ]),
            ],
        ),
        Mutant(
            name="batch_for_length",
            says="The number of *sentences* decides how many rows are taken.",
            asks="Which dimension of `x` is the position?",
            ways=[
                Way(edits=[Edit(_ADD, "return x + self.pe[: x.size(0)]")]),
                Way(name="len_of_x", edits=[
                    Edit(_ADD, "return x + self.pe[: len(x)]"),
                ]),
            ],
        ),
        Mutant(
            name="width_for_length",
            says="`d_model` decides how many rows are taken.",
            asks="Which dimension of `x` is the position?",
            ways=[Way(edits=[Edit(_ADD, "return x + self.pe[: x.size(-1)]")])],
        ),
        Mutant(
            name="position_of_the_sentence",
            says="Each sentence gets one row, the same for all of its words.",
            asks="Does a row belong to a sentence or to a place in it?",
            ways=[Way(edits=[
                Edit(_ADD, "return x + self.pe[: x.size(0)].unsqueeze(1)"),
            ])],
        ),
        Mutant(
            name="one_row_for_all",
            says="All positions get the same row of the table.",
            asks="Which row belongs to position 3?",
            ways=[Way(edits=[Edit(_ADD, "return x + self.pe[x.size(1) - 1]")])],
        ),
        Mutant(
            name="row_of_the_length",
            says="All positions get the row after the sentence.",
            asks="Is a colon missing in the index of the table?",
            ways=[Way(edits=[
                Edit(_ADD, "return x + self.pe[min(x.size(1), len(self.pe) - 1)]"),
            ])],
        ),
        Mutant(
            name="first_row_for_all",
            says="All positions get row 0 of the table.",
            asks="Which row belongs to position 3?",
            ways=[Way(edits=[Edit(_ADD, "return x + self.pe[0]")])],
        ),
        Mutant(
            name="last_rows",
            says="The *last* rows of the table are added.",
            asks="Which row belongs to position 0?",
            ways=[Way(edits=[Edit(_ADD, "return x + self.pe[-x.size(1) :]")])],
        ),
        Mutant(
            name="from_one",
            says="Position 0 gets row 1 of the table.",
            asks="Which row belongs to position 0?",
            ways=[Way(edits=[Edit(_ADD, "return x + self.pe[1 : x.size(1) + 1]")])],
        ),
        Mutant(
            name="reversed",
            says="The rows are added in reverse order.",
            asks="Which row belongs to position 0?",
            ways=[Way(edits=[Edit(_ADD, "return x + self.pe[: x.size(1)].flip(0)")])],
        ),
        Mutant(
            name="first_sentence_only",
            says="Only the first sentence of the batch gets positions.",
            asks="How does broadcasting reach all sentences?",
            ways=[Way(edits=[
                Edit(
                    _ADD,
                    """
                    x = x.clone()
                    x[0] = x[0] + self.pe[: x.size(1)]
                    return x
                    """,
                ),
            ])],
        ),
        Mutant(
            name="in_place",
            says="The `x` that was handed in is changed.",
            asks="Does `x += ...` make a new tensor?",
            ways=[
                Way(edits=[
                    Edit(
                        _ADD,
                        """
                        x += self.pe[: x.size(1)]
                        return x
                        """,
                    ),
                ]),
                Way(name="add_underscore", edits=[
                    Edit(_ADD, "return x.add_(self.pe[: x.size(1)])"),
                ]),
            ],
        ),
        Mutant(
            name="in_place_data",
            says="The `x` that was handed in is changed, behind autograd's back.",
            asks="Who else uses `x` after your module?",
            ways=[Way(edits=[
                Edit(
                    _ADD,
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
                Edit(_ADD, "return x * x.size(-1) ** 0.5 + self.pe[: x.size(1)]"),
            ])],
        ),
        Mutant(
            name="table_scaled",
            says="The *table* is multiplied by the square root of `d_model`.",
            asks="What does the exercise ask to add, and what to leave out?",
            ways=[Way(edits=[
                Edit(_ADD, "return x + self.pe[: x.size(1)] * x.size(-1) ** 0.5"),
            ])],
        ),
        Mutant(
            name="normalised",
            says="The sum is normalised afterwards.",
            asks="What does the exercise ask to add, and what to leave out?",
            ways=[Way(edits=[
                Edit(
                    _ADD,
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
                    Edit(_ADD,
                         "return nn.functional.dropout(x + self.pe[: x.size(1)], 0.1)"),
                ]),
                Way(name="dropped_module", edits=[
                    Edit(_ADD, "return nn.Dropout(0.1)(x + self.pe[: x.size(1)])"),
                ]),
            ],
        ),
        Mutant(
            name="detached",
            says="No gradient flows back to the words, so the embeddings could never "
            "learn.",
            asks="Does `.detach()`, `.data` or `no_grad` cut the graph somewhere?",
            ways=[
                Way(edits=[Edit(_ADD, "return x.detach() + self.pe[: x.size(1)]")]),
                Way(name="no_grad", edits=[
                    Edit(
                        _ADD,
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
                    _ADD,
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
                    _ADD,
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
            name="zeros_left_out",
            says="A position whose vector is zero gets nothing added.",
            asks="Does the text speak of the vectors, or of all positions?",
            ways=[Way(edits=[
                Edit(_ADD, "return x + self.pe[: x.size(1)] * (x != 0).any(-1, keepdim=True)"),
            ])],
        ),
        Mutant(
            name="attribute_sent_along",
            says="The table is a plain attribute that is sent to where `x` is, in each "
            "call. It is no buffer.",
            asks="What does `list(layer.named_buffers())` show?",
            ways=[Way(edits=[
                Edit(_REGISTER, "self.pe = table"),
                Edit(_ADD, "return x + self.pe[: x.size(1)].to(x)"),
            ])],
        ),
    ],
    accepted=[
        Accepted(name="batch_dimension", edits=[
            Edit(_REGISTER, 'self.register_buffer("pe", table.unsqueeze(0))'),
            Edit(_ADD, "return x + self.pe[:, : x.shape[1], :]"),
        ]),
        Accepted(name="not_persistent", edits=[
            Edit(_REGISTER, 'self.register_buffer("pe", table, persistent=False)'),
        ]),
        Accepted(name="detached_copy", edits=[
            Edit(_REGISTER, 'self.register_buffer("pe", table.detach().clone())'),
        ]),
        Accepted(name="sequence_first_inside", edits=[
            Edit(_REGISTER, 'self.register_buffer("pe", table[:, None])'),
            Edit(_ADD,
                 "return (x.transpose(0, 1) + self.pe[: x.size(1)]).transpose(0, 1)"),
        ]),
        Accepted(name="narrow", edits=[
            Edit(_ADD, "return torch.add(x, self.pe.narrow(0, 0, x.size(-2)))"),
        ]),
        Accepted(name="own_copy_in_place", edits=[
            Edit(
                _ADD,
                """
                x = x.clone()
                x += self.pe[: x.size(1)]
                return x
                """,
            ),
        ]),
        Accepted(name="lookup", edits=[
            Edit(
                _ADD,
                """
                positions = torch.arange(x.size(1), device=x.device)
                return x + nn.functional.embedding(positions, self.pe)
                """,
            ),
        ]),
        Accepted(name="sentence_by_sentence", edits=[
            Edit(
                _ADD,
                """
                rows = self.pe[: x.size(1)]
                return torch.stack([sentence + rows for sentence in x])
                """,
            ),
        ]),
        Accepted(name="unpacked_shape", edits=[
            Edit(
                _ADD,
                """
                b, length, d_model = x.shape
                return x + self.pe[:length].expand(b, -1, -1).detach()
                """,
            ),
        ]),
    ],
)
