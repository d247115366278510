"""Cases and mistakes for an exercise: the module PositionalEncoding."""

from __future__ import annotations

import torch

from autograder.authoring.contract import Contract
from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, sizes, wrong
from autograder.authoring.specification import Specification


def _draw_with_zeros(draw: Draw) -> torch.Tensor:
    """Sentences in which one position is a zero vector, like padding."""
    x = draw.tensor(2, 3, 4)
    x[0, 1] = 0
    return x


CASES = [
    case("short", "sentences shorter than the table", sizes(B=3, L=5, max_len=12, d_model=8),
         "Only the first L rows of the table are added, the same ones for every sentence."),
    case("full_length", "sentences as long as the table", sizes(B=3, L=7, max_len=7, d_model=4),
         "A sentence of exactly max_len positions fits."),
    case("zeros", "a position whose vector is zero", sizes(max_len=5, d_model=4, x=_draw_with_zeros),
         "A position is added to every vector, whatever it holds."),
    case("one_sentence", "a batch of one", sizes(B=1, L=6, max_len=13, d_model=10),
         "Which dimension of `x` gives the number of positions?", hidden_only=True),
]

_REGISTER = 'self.register_buffer("pe", table)  # (max_len, d_model)'
_ADD = "return x + self.pe[: x.size(1)]"

MISTAKES = [
    # Mistakes in how the module holds its table.
    wrong("parameter", "The table is an `nn.Parameter`, although nothing in it should be learned.",
          "Of the three ways to store a tensor in a module, which one moves with it but is not trained?",
          edit(_REGISTER, "self.pe = nn.Parameter(table)"),
          edit(_REGISTER, "self.pe = nn.Parameter(table, requires_grad=False)", name="frozen_parameter"),
          tests="parameter"),
    wrong("other_name", "There is a buffer, but it is not called `pe`.",
          "Which name does the docstring ask for?",
          edit(_REGISTER, 'self.register_buffer("table", table)', _ADD, "return x + self.table[: x.size(1)]")),
    wrong("plain_attribute",
          "The table is a plain attribute, so it stays behind when the module moves to another dtype or device.",
          "Which method tells a module that a tensor belongs to it?",
          edit(_REGISTER, "self.pe = table")),
    wrong("dtype_only", "The table takes the dtype of `x` but not its device.",
          "On which device is a plain attribute after `model.to(device)`?",
          edit(_REGISTER, "self.pe = table", _ADD, "return x + self.pe[: x.size(1)].to(x.dtype)")),
    wrong("stays_float32",
          "The device is right, but after a move to half precision the result is still float32. Perhaps you move the "
          "table by hand, or hard-code a dtype.",
          "What moves with a module without any code of yours?",
          edit(_REGISTER, "self.pe = table", _ADD, "return x + self.pe[: x.size(1)].to(x.device)"),
          edit(_ADD, "return (x + self.pe[: x.size(1)]).float()", name="result_float32"), tests="module's"),
    # Mistakes in which rows are added, and how.
    wrong("words_lost", "You return only the positions; the words are lost.",
          "What should the table be added to?",
          edit(_ADD, "return self.pe[: x.size(1)].expand_as(x)"),
          edit(_ADD, "return self.pe[: x.size(1)]", name="rows_only")),
    wrong("nothing_added", "The input comes back unchanged.",
          "Where is the table added?",
          edit(_ADD, "return x.clone()")),
    wrong("not_added", "Words and positions are multiplied or subtracted, not added.",
          "What does the exercise ask you to do with the rows of the table?",
          edit(_ADD, "return x * self.pe[: x.size(1)]", name="multiplied"),
          edit(_ADD, "return x - self.pe[: x.size(1)]", name="subtracted")),
    wrong("concatenated", "Words and positions are concatenated, so the vectors are twice as long.",
          "What shape does the docstring promise?",
          edit(_ADD, "return torch.cat((x, self.pe[: x.size(1)].expand_as(x)), -1)")),
    wrong("whole_table", "The whole table is added, so only sentences of full length fit.",
          "How many rows does a sentence of `L` vectors need?",
          edit(_ADD, "return x + self.pe"), tests="Sentences"),
    wrong("other_dimension_for_length", "The number of sentences or `d_model` decides how many rows are added.",
          "Which dimension of `x` holds the positions?",
          edit(_ADD, "return x + self.pe[: x.size(0)]", name="batch_for_length"),
          edit(_ADD, "return x + self.pe[: x.size(-1)]", name="width_for_length")),
    wrong("position_of_the_sentence", "Each sentence gets a single row, used for all of its words.",
          "Does a row belong to a sentence, or to a position in it?",
          edit(_ADD, "return x + self.pe[: x.size(0)].unsqueeze(1)")),
    wrong("one_row_for_all", "All positions get the same row of the table.",
          "Which row belongs to position 3, and is a colon missing from the index of the table?",
          edit(_ADD, "return x + self.pe[x.size(1) - 1]"),
          edit(_ADD, "return x + self.pe[min(x.size(1), len(self.pe) - 1)]", name="row_of_the_length"),
          edit(_ADD, "return x + self.pe[0]", name="first_row_for_all")),
    wrong("other_rows",
          "Other rows of the table are added: the last ones, or those from row 1 on, or the first ones in reverse.",
          "Which row belongs to position 0?",
          edit(_ADD, "return x + self.pe[-x.size(1) :]", name="last_rows"),
          edit(_ADD, "return x + self.pe[1 : x.size(1) + 1]", name="from_one"),
          edit(_ADD, f"{_ADD}.flip(0)", name="reversed")),
    wrong("first_sentence_only", "Only the first sentence of the batch gets positions.",
          "How does broadcasting reach all sentences?",
          edit(_ADD, """
              x = x.clone()
              x[0] = x[0] + self.pe[: x.size(1)]
              return x
              """)),
    # Mistakes in what is done beside adding.
    wrong("in_place", "Your module modifies its argument `x` in place.",
          "Which of your lines modifies a tensor in place, and which tensor is that?",
          edit(_ADD, """
              x += self.pe[: x.size(1)]
              return x
              """),
          edit(_ADD, """
              if self.training:
                  return x + self.pe[: x.size(1)]
              return x.add_(self.pe[: x.size(1)])
              """, name="in_place_in_eval_mode"),
          edit(_ADD, """
              x.data += self.pe[: x.size(1)]
              return x
              """, name="in_place_data"), tests="modified"),
    wrong("scaled", "The words or the rows of the table are multiplied by the square root of `d_model`.",
          "What does the exercise ask you to add, and what to leave out?",
          edit(_ADD, "return x * x.size(-1) ** 0.5 + self.pe[: x.size(1)]"),
          edit(_ADD, "return x + self.pe[: x.size(1)] * x.size(-1) ** 0.5", name="table_scaled"), tests="scaling"),
    wrong("normalised", "The sum is normalised afterwards.",
          "What does the exercise ask you to add, and what to leave out?",
          edit(_ADD, """
              x = x + self.pe[: x.size(1)]
              return nn.functional.layer_norm(x, x.shape[-1:])
              """)),
    wrong("dropped", "Some entries are zero and the others are larger: dropout is at work.",
          "What does the exercise ask you to add, and what to leave out?",
          edit(_ADD, "return nn.functional.dropout(x + self.pe[: x.size(1)], 0.1)")),
    wrong("detached", "No gradient flows back to the words, so the embeddings could never learn.",
          "Does `.detach()`, `.data` or `no_grad` cut the graph somewhere?",
          edit(_ADD, "return x.detach() + self.pe[: x.size(1)]")),
    wrong("table_changed", "Each call changes the stored table.",
          "Does `forward` change the state of the module?",
          edit(_ADD, """
              self.pe = self.pe[: x.size(1)]
              return x + self.pe
              """, name="table_cut"),
          edit(_ADD, """
              self.pe *= 2
              return x + self.pe[: x.size(1)] / 2
              """, name="table_grows")),
    wrong("no_super", "`nn.Module` was not initialised before the buffer was registered.",
          "Which line must the `__init__` of every module begin with?",
          edit("super().__init__()", "")),
    wrong("buffer_asks_for_a_gradient", "The table is a buffer, but it still requires a gradient.",
          "What does `layer.pe.requires_grad` say, and what should it say?",
          edit(_REGISTER, 'self.register_buffer("pe", table.detach().clone().requires_grad_())')),
    wrong("zeros_left_out", "Nothing is added to a position whose vector is zero.",
          "Does the exercise make an exception for zero vectors?",
          edit(_ADD, "return x + self.pe[: x.size(1)] * (x != 0).any(-1, keepdim=True)")),
    wrong("attribute_sent_along",
          "The table is a plain attribute that every call converts to match `x`; it is not a buffer.",
          "What does `list(layer.named_buffers())` show?",
          edit(_REGISTER, "self.pe = table", _ADD, "return x + self.pe[: x.size(1)].to(x)")),
]

ACCEPTED = [
    right("batch_dimension", edit(_REGISTER, 'self.register_buffer("pe", table.unsqueeze(0))',
                                  _ADD, "return x + self.pe[:, : x.shape[1], :]")),
    right("not_persistent", edit(_REGISTER, 'self.register_buffer("pe", table, persistent=False)')),
    right("sequence_first_inside", edit(_REGISTER, 'self.register_buffer("pe", table[:, None])',
                                        _ADD, "return (x.transpose(0, 1) + self.pe[: x.size(1)]).transpose(0, 1)")),
    right("lookup", edit(_ADD, """
        positions = torch.arange(x.size(1), device=x.device)
        return x + nn.functional.embedding(positions, self.pe)
        """)),
    right("sentence_by_sentence", edit(_ADD, """
        rows = self.pe[: x.size(1)]
        return torch.stack([sentence + rows for sentence in x])
        """)),
]

EXERCISE = Specification(
    target="PositionalEncoding", results="output",
    contract=Contract(ways=("steady", "alone", "spread", "training", "gradient", "loaded")),  # it has no weights
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
