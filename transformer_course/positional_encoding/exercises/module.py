"""PositionalEncoding."""

from __future__ import annotations

import torch

from autograder.authoring.contract import OF_MODULES, Contract, special
from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, wrong
from autograder.authoring.specification import Inputs, Specification


def _sentences(draw: Draw, b: int, length: int, max_len: int, d_model: int) -> Inputs:
    return {"table": draw.tensor(max_len, d_model), "x": draw.tensor(b, length, d_model)}


def _two_lengths(draw: Draw) -> Inputs:
    return {**_sentences(draw, 2, 3, 11, 6), "longer x": draw.tensor(4, 7, 6)}


def _zeros(draw: Draw) -> Inputs:
    """One position of x holds only zeros, as padding does."""
    inputs = _sentences(draw, 2, 3, 5, 4)
    inputs["x"][0, 1] = 0
    return inputs


def _unused(draw: Draw) -> Inputs:
    """Table rows beyond the sentence hold NaN, which must not be used."""
    inputs = _sentences(draw, 2, 3, 5, 4)
    inputs["table"][3:] = torch.nan
    return inputs


def _pulled(draw: Draw) -> Inputs:
    return {**_sentences(draw, 3, 7, 7, 4), "pull": draw.tensor(3, 7, 4)}


def _move(draw: Draw) -> Inputs:
    return {**_sentences(draw, 3, 4, 9, 6), "move": torch.tensor(1)}


CASES = [
    case("short", "sentences shorter than the table", lambda draw: _sentences(draw, 3, 5, 12, 8),
         "Only the first L rows of the table are added, the same ones for every sentence."),
    case("two_lengths", "a short batch, then a longer and larger one", _two_lengths,
         "The second call must not depend on the first."),
    case("moves", "moved to bfloat16, then to another device", _move,
         "A registered buffer moves with the module."),
    case("full_length", "sentences as long as the table, with a gradient", _pulled,
         "A sentence of exactly max_len positions fits."),
    case("one_sentence", "a batch of one", lambda draw: _sentences(draw, 1, 6, 13, 10),
         "Which dimension of `x` gives the number of positions?", hidden_only=True),
]

REGISTER = 'self.register_buffer("pe", table)  # (max_len, d_model)'
ADD = "return x + self.pe[: x.size(1)]"

MISTAKES = [
    # Mistakes in how the module holds its table.
    wrong("parameter",
          "The table is an `nn.Parameter`, although nothing in it should be learned.",
          "Of the three ways to store a tensor in a module, which one moves with it but is not trained?",
          edit(REGISTER, "self.pe = nn.Parameter(table)"),
          edit(REGISTER, "self.pe = nn.Parameter(table, requires_grad=False)", name="frozen_parameter"),
          tests="parameter"),
    wrong("other_name",
          "There is a buffer, but it is not called `pe`.",
          "Which name does the docstring ask for?",
          edit(REGISTER, 'self.register_buffer("table", table)', ADD, "return x + self.table[: x.size(1)]")),
    wrong("plain_attribute",
          "The table is a plain attribute, so it stays behind when the module moves to another dtype or device.",
          "Which method tells a module that a tensor belongs to it?",
          edit(REGISTER, "self.pe = table"),
          edit(REGISTER, "self.pe = list(table)",
               ADD, "return x + torch.stack(self.pe)[: x.size(1)]", name="in_a_list")),
    wrong("dtype_only",
          "The table takes the dtype of `x` but not its device.",
          "On which device is a plain attribute after `model.to(device)`?",
          edit(REGISTER, "self.pe = table", ADD, "return x + self.pe[: x.size(1)].to(x.dtype)")),
    wrong("stays_float32",
          "The device is right, but after a move to half precision the result is still float32. Perhaps you move the "
          "table by hand, or hard-code a dtype.",
          "What moves with a module without any code of yours?",
          edit(REGISTER, "self.pe = table", ADD, "return x + self.pe[: x.size(1)].to(x.device)"),
          edit(ADD, "return (x + self.pe[: x.size(1)]).float()", name="result_float32"), tests="module's"),
    # Mistakes in which rows are added, and how.
    wrong("position_only",
          "You return only the positions; the words are lost.",
          "What should the table be added to?",
          edit(ADD, "return self.pe[: x.size(1)].expand_as(x)")),
    wrong("rows_only",
          "You return only the rows of the table; the words are lost.",
          "What should the rows be added to?",
          edit(ADD, "return self.pe[: x.size(1)]")),
    wrong("nothing_added",
          "The input comes back unchanged.",
          "Where is the table added?",
          edit(ADD, "return x.clone()")),
    wrong("multiplied",
          "The words are multiplied by the positions.",
          "Does the paper add or multiply?",
          edit(ADD, "return x * self.pe[: x.size(1)]")),
    wrong("subtracted",
          "The positions are subtracted.",
          "What is the sign of the table in the sum?",
          edit(ADD, "return x - self.pe[: x.size(1)]")),
    wrong("concatenated",
          "Words and positions are concatenated, so the vectors are twice as long.",
          "What shape does the docstring promise?",
          edit(ADD, "return torch.cat((x, self.pe[: x.size(1)].expand_as(x)), -1)")),
    wrong("whole_table",
          "The whole table is added, so only sentences of full length fit.",
          "How many rows does a sentence of `L` vectors need?",
          edit(ADD, "return x + self.pe"), tests="Sentences"),
    wrong("batch_for_length",
          "The number of *sentences* decides how many rows are added.",
          "Which dimension of `x` holds the positions?",
          edit(ADD, "return x + self.pe[: x.size(0)]")),
    wrong("width_for_length",
          "`d_model` decides how many rows are added.",
          "Which dimension of `x` holds the positions?",
          edit(ADD, "return x + self.pe[: x.size(-1)]")),
    wrong("position_of_the_sentence",
          "Each sentence gets a single row, used for all of its words.",
          "Does a row belong to a sentence, or to a position in it?",
          edit(ADD, "return x + self.pe[: x.size(0)].unsqueeze(1)")),
    wrong("one_row_for_all",
          "All positions get the same row of the table.",
          "Which row belongs to position 3?",
          edit(ADD, "return x + self.pe[x.size(1) - 1]")),
    wrong("row_of_the_length",
          "All positions get the same row, the one just after the sentence.",
          "Is a colon missing from the index of the table?",
          edit(ADD, "return x + self.pe[min(x.size(1), len(self.pe) - 1)]")),
    wrong("first_row_for_all",
          "All positions get row 0 of the table.",
          "Which row belongs to position 3?",
          edit(ADD, "return x + self.pe[0]")),
    wrong("last_rows",
          "The *last* rows of the table are added.",
          "Which row belongs to position 0?",
          edit(ADD, "return x + self.pe[-x.size(1) :]")),
    wrong("from_one",
          "Position 0 gets row 1 of the table.",
          "Which row belongs to position 0?",
          edit(ADD, "return x + self.pe[1 : x.size(1) + 1]")),
    wrong("reversed",
          "The rows are added in reverse order.",
          "Which row belongs to position 0?",
          edit(ADD, f"{ADD}.flip(0)")),
    wrong("first_sentence_only",
          "Only the first sentence of the batch gets positions.",
          "How does broadcasting reach all sentences?",
          edit(ADD, """
              x = x.clone()
              x[0] = x[0] + self.pe[: x.size(1)]
              return x
              """)),
    # Mistakes in what is done beside adding.
    wrong("in_place",
          "Your module modifies its argument `x` in place.",
          "Which of your lines modifies a tensor in place, and which tensor is that?",
          edit(ADD, """
              x += self.pe[: x.size(1)]
              return x
              """),
           edit(ADD, """
              if self.training:
                  return x + self.pe[: x.size(1)]
              return x.add_(self.pe[: x.size(1)])
              """, name="in_place_in_eval_mode"), tests="modified"),
    wrong("in_place_data",
          "Your module modifies its argument `x` behind autograd's back.",
          "What else might use `x` after your module?",
          edit(ADD, """
              x.data += self.pe[: x.size(1)]
              return x
              """)),
    wrong("scaled",
          "The words are multiplied by the square root of `d_model`, which belongs in the input layer.",
          "What does the exercise ask you to add, and what to leave out?",
          edit(ADD, "return x * x.size(-1) ** 0.5 + self.pe[: x.size(1)]"), tests="scaling"),
    wrong("table_scaled",
          "The *table* is multiplied by the square root of `d_model`.",
          "What does the exercise ask you to add, and what to leave out?",
          edit(ADD, "return x + self.pe[: x.size(1)] * x.size(-1) ** 0.5")),
    wrong("normalised",
          "The sum is normalised afterwards.",
          "What does the exercise ask you to add, and what to leave out?",
          edit(ADD, """
              x = x + self.pe[: x.size(1)]
              return nn.functional.layer_norm(x, x.shape[-1:])
              """)),
    wrong("dropped",
          "Some entries are zero and the others are larger: dropout is at work.",
          "What does the exercise ask you to add, and what to leave out?",
          edit(ADD, "return nn.functional.dropout(x + self.pe[: x.size(1)], 0.1)"),
          edit(ADD, "return nn.Dropout(0.1)(x + self.pe[: x.size(1)])", name="dropped_module")),
    wrong("detached",
          "No gradient flows back to the words, so the embeddings could never learn.",
          "Does `.detach()`, `.data` or `no_grad` cut the graph somewhere?",
          edit(ADD, "return x.detach() + self.pe[: x.size(1)]")),
    wrong("table_cut",
          "The first call truncates the stored table, so a longer sentence no longer fits.",
          "Does `forward` change the state of the module?",
          edit(ADD, """
              self.pe = self.pe[: x.size(1)]
              return x + self.pe
              """)),
    wrong("table_grows",
          "Each call changes the stored table.",
          "Does `forward` change the state of the module?",
          edit(ADD, """
              self.pe *= 2
              return x + self.pe[: x.size(1)] / 2
              """)),
    wrong("no_super",
          "`nn.Module` was not initialised before the buffer was registered.",
          "Which line must the `__init__` of every module begin with?",
          edit("super().__init__()", "")),
    wrong("buffer_asks_for_a_gradient",
          "The table is a buffer, but it still requires a gradient.",
          "What does `layer.pe.requires_grad` say, and what should it say?",
          edit(REGISTER, 'self.register_buffer("pe", table.detach().clone().requires_grad_())')),
    wrong("zeros_left_out",
          "Nothing is added to a position whose vector is zero.",
          "Does the exercise make an exception for zero vectors?",
          edit(ADD, "return x + self.pe[: x.size(1)] * (x != 0).any(-1, keepdim=True)")),
    wrong("attribute_sent_along",
          "The table is a plain attribute that every call converts to match `x`; it is not a buffer.",
          "What does `list(layer.named_buffers())` show?",
          edit(REGISTER, "self.pe = table", ADD, "return x + self.pe[: x.size(1)].to(x)")),
]

ACCEPTED = [
    right("batch_dimension", edit(REGISTER, 'self.register_buffer("pe", table.unsqueeze(0))',
                                  ADD, "return x + self.pe[:, : x.shape[1], :]")),
    right("not_persistent", edit(REGISTER, 'self.register_buffer("pe", table, persistent=False)')),
    right("detached_copy", edit(REGISTER, 'self.register_buffer("pe", table.detach().clone())')),
    right("sequence_first_inside", edit(REGISTER, 'self.register_buffer("pe", table[:, None])',
                                        ADD, "return (x.transpose(0, 1) + self.pe[: x.size(1)]).transpose(0, 1)")),
    right("narrow", edit(ADD, "return torch.add(x, self.pe.narrow(0, 0, x.size(-2)))")),
    right("own_copy_in_place", edit(ADD, """
        x = x.clone()
        x += self.pe[: x.size(1)]
        return x
        """)),
    right("lookup", edit(ADD, """
        positions = torch.arange(x.size(1), device=x.device)
        return x + nn.functional.embedding(positions, self.pe)
        """)),
    right("sentence_by_sentence", edit(ADD, """
        rows = self.pe[: x.size(1)]
        return torch.stack([sentence + rows for sentence in x])
        """)),
    right("unpacked_shape", edit(ADD, """
        b, length, d_model = x.shape
        return x + self.pe[:length].expand(b, -1, -1).detach()
        """)),
]

EXERCISE = Specification(
    target="PositionalEncoding",
    aspects={"form": 3.5},  # what a buffer is, is the lesson
    contract=Contract(
        arguments="x: B L d", results="output: B L d", on=("short",),
        ways=tuple(way for way in OF_MODULES if way != "start"),  # it has no weights
        module=True,
        sizes=special(
            equal_sizes=lambda draw: _sentences(draw, 4, 4, 4, 4),
            one_position=lambda draw: _sentences(draw, 3, 1, 1, 2), one_word=lambda draw: _sentences(draw, 1, 1, 5, 2),
            one_feature=lambda draw: _sentences(draw, 2, 3, 5, 1), a_position_of_zeros=_zeros,
            rows_of_nan_that_are_not_used=_unused,
        ),
    ),
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
