"""LearnedPositions."""

from __future__ import annotations

from autograder.authoring.common import common
from autograder.authoring.contract import OF_MODULES, Contract, special
from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.specification import Inputs, Specification


def _learned(draw: Draw, b: int, length: int, max_len: int, d_model: int) -> Inputs:
    return {
        **draw.weights(table=(max_len, d_model)),
        "x": draw.tensor(b, length, d_model),
        "pull": draw.tensor(b, length, d_model),
    }


_REFUSE = "if length > max_len:"

CASES = [
    case("short", "sentences shorter than the table", lambda draw: _learned(draw, 3, 5, 8, 6),
         "Only the first L rows are added, and only they get a gradient."),
    case("full_length", "sentences as long as the table", lambda draw: _learned(draw, 2, 7, 7, 4),
         "A sentence of exactly max_len positions fits."),
    case("one_sentence", "a batch of one, and a large table", lambda draw: _learned(draw, 1, 4, 13, 10),
         "Which dimension of `x` gives the number of positions?"),
    case("too_long", "one position more than the table has rows", lambda draw: _learned(draw, 2, 7, 6, 4),
         "The docstring names the error to raise.", aspect="errors", open=True),
    case("too_long_for_one", "two positions, and a table of one row", lambda draw: _learned(draw, 2, 2, 1, 4),
         "Broadcasting stretches one row to any length, so no error occurs by itself.", aspect="errors", open=True),
    case("start", "the table before any training", lambda draw: {"start": "a table of 100 positions and 64 features"},
         "The initial values are small and random.", aspect="start", open=True),
    case("one_word", "sentences of one word", lambda draw: _learned(draw, 5, 1, 3, 8),
         "A sentence of one word needs row 0 of the table.", hidden_only=True),
]

TABLE = "self.table = nn.Parameter(0.02 * torch.randn(max_len, d_model))"
ADD_ROWS = "return x + self.table[:length]"

MISTAKES = [
    wrong("starts_at_zero",
          "Your table is initialised with zeros, which are small but not random.",
          "How do two positions differ before the first step of training?",
          edit("0.02 * torch.randn(max_len, d_model)", "torch.zeros(max_len, d_model)")),
    wrong("starts_at_a_constant",
          "Your table is initialised with the same value everywhere.",
          "How do two positions differ before the first step of training?",
          edit("0.02 * torch.randn(max_len, d_model)", "torch.full((max_len, d_model), 0.02)")),
    wrong("starts_the_same",
          "Every new module starts with exactly the same table.",
          "Where does your code set a seed?",
          edit("0.02 * torch.randn(max_len, d_model)",
               "0.02 * torch.randn(max_len, d_model, generator=torch.Generator().manual_seed(0))")),
    wrong("rows_alike",
          "Your table starts with one random row, repeated for all positions.",
          "How do two positions differ before the first step of training?",
          edit("0.02 * torch.randn(max_len, d_model)", "(0.02 * torch.randn(1, d_model)).repeat(max_len, 1)")),
    wrong("columns_alike",
          "Your table starts with one random value per position, repeated for all features.",
          "How do two features differ before the first step of training?",
          edit("0.02 * torch.randn(max_len, d_model)", "(0.02 * torch.randn(max_len, 1)).repeat(1, d_model)")),
    wrong("starts_next_to_zero",
          "Your initial values are random but far too small, so positions hardly differ.",
          "How large should the entries be, and how large are yours?",
          edit("0.02", "2e-5")),
    wrong("under_two_names",
          "The table appears in the state dict under two names.",
          "What does `list(module.state_dict())` show?",
          edit(TABLE, f"{TABLE}\nself.pe = self.table")),
    wrong("starts_large",
          "Your initial values are random but too large: they drown out the words.",
          "How large should the entries be, and how large are yours?",
          edit("0.02 * torch.randn", "torch.randn")),
    wrong("buffer",
          "The table is not a parameter of the module, so no optimizer will train it.",
          "Is what you store an `nn.Parameter` itself, or a tensor that was computed from one?",
          edit(TABLE, 'self.register_buffer("table", 0.02 * torch.randn(max_len, d_model))')),
    wrong("frozen",
          "The table is a parameter, but it does not require a gradient.",
          "Does your code set `requires_grad` anywhere?",
          edit(TABLE, "self.table = nn.Parameter(0.02 * torch.randn(max_len, d_model), requires_grad=False)")),
    wrong("detached",
          "The table is a parameter, but it gets no gradient.",
          "Does your code use `.data`, `.detach()` or `no_grad` anywhere?",
          edit(ADD_ROWS, "return x + self.table[:length].detach()")),
    wrong("sizes_swapped",
          "The two dimensions of the table are swapped.",
          "Which one comes first in `(max_len, d_model)`?",
          edit("torch.randn(max_len, d_model)", "torch.randn(d_model, max_len)")),
    wrong("other_name",
          "The parameter does not have the name given in the docstring, so it cannot be found.",
          "What do you call the parameter in `__init__`?",
          edit(TABLE, "self.pe = nn.Parameter(0.02 * torch.randn(max_len, d_model))",
               "self.table.size(0)", "self.pe.size(0)",
               ADD_ROWS, "return x + self.pe[:length]")),
    wrong("embedding_layer",
          "The table is inside an `nn.Embedding`, so the parameter is called `table.weight`. The docstring asks for a "
          "parameter called `table`.",
          "Which class makes a single tensor trainable?",
          edit(TABLE, "self.table = nn.Embedding(max_len, d_model)",
               "self.table.size(0)", "self.table.num_embeddings",
               ADD_ROWS, "return x + self.table(torch.arange(length))")),
    wrong("too_long_accepted",
          "A sentence that is too long does not raise a `ValueError`.",
          "What does your module do with `max_len + 1` positions?",
          edit(_REFUSE, "if False:")),
    wrong("too_long_asserted",
          "A sentence that is too long raises a different error from the one in the docstring.",
          "Which error does the docstring name, and which one does `assert` raise?",
          edit(_REFUSE, """
              assert length <= max_len
              if False:
              """)),
    wrong("too_long_index_error",
          "A sentence that is too long raises a different error from the one in the docstring.",
          "Which error does the docstring name, and which one comes from your code?",
          edit("raise ValueError(", "raise IndexError(")),
    wrong("too_long_cut",
          "A sentence that is too long is silently accepted: its end is cut off, or rows of the table are reused.",
          "What does the docstring say about `max_len + 1` positions?",
          edit(_REFUSE, "if False:", ADD_ROWS, "return x[:, :max_len] + self.table[:length]")),
    wrong("full_length_refused",
          "A sentence of exactly `max_len` positions is rejected, although it fits.",
          "Should the comparison be `>` or `>=`?",
          edit(_REFUSE, "if length >= max_len:")),
    common("batch_for_length", edit("length, max_len = x.size(1)", "length, max_len = x.size(0)")),
    common("width_for_length", edit("length, max_len = x.size(1)", "length, max_len = x.size(2)")),
    common("whole_table", edit(ADD_ROWS, "return x + self.table")),
    wrong("one_row_for_all",
          "All positions get the same row of the table.",
          "Is a colon missing from the index of the table?",
          edit(ADD_ROWS, "return x + self.table[length - 1]")),
    common("first_row_for_all", edit(ADD_ROWS, "return x + self.table[0]")),
    common("last_rows", edit(ADD_ROWS, "return x + self.table[-length:]")),
    common("reversed", on=ADD_ROWS),
    common("position_only", edit(ADD_ROWS, "return self.table[:length].expand_as(x)")),
    wrong("multiplied",
          "The words are multiplied by the positions.",
          "What should happen to the words?",
          edit(ADD_ROWS, "return x * self.table[:length]")),
    wrong("scaled",
          "The words are multiplied by the square root of `d_model`.",
          "What does the exercise ask you to add?",
          edit(ADD_ROWS, "return x * x.size(-1) ** 0.5 + self.table[:length]")),
    common("in_place",
           edit(ADD_ROWS, """
              x += self.table[:length]
              return x
              """),
           edit(ADD_ROWS, """
              if self.training:
                  return x.add_(self.table[:length])
              return x + self.table[:length]
              """, name="in_place_in_training")),
    wrong("sinusoids_added",
          "The sum contains more than the words and the learned rows.",
          "Does the learned table replace the sinusoids, or join them?",
          edit(ADD_ROWS, "return x + self.table[:length] + sinusoid(torch.arange(length), x.size(-1))")),
    wrong("row_per_word_of_batch",
          "Each sentence gets a single row, used for all of its words.",
          "Does a row belong to a sentence, or to a position in it?",
          edit(ADD_ROWS, "return x + self.table[torch.arange(len(x)) % max_len].unsqueeze(1)")),
    wrong("too_long_found_by_chance",
          "You rely on a shape mismatch to raise the error, but a table of one row fits every length.",
          "What does broadcasting do with a dimension of size 1?",
          source("""
              class LearnedPositions(nn.Module):
                  def __init__(self, d_model, max_len):
                      super().__init__()
                      self.table = nn.Parameter(0.02 * torch.randn(max_len, d_model))

                  def forward(self, x):
                      try:
                          return x + self.table[: x.size(1)]
                      except RuntimeError as error:
                          raise ValueError("too long") from error
              """)),
]

ACCEPTED = [
    right("filled_later", edit(TABLE, """
        self.table = nn.Parameter(torch.empty(max_len, d_model))
        nn.init.normal_(self.table, std=0.02)
        """)),
    right("lookup", edit(ADD_ROWS, """
        positions = torch.arange(length, device=x.device)
        return nn.functional.embedding(positions, self.table) + x
        """)),
    right("refuse_late", source("""
        class LearnedPositions(nn.Module):
            def __init__(self, d_model, max_len):
                super().__init__()
                self.register_parameter(
                    'table', nn.Parameter(torch.rand(max_len, d_model) / 50))
            def forward(self, x):
                b, length, _ = x.shape
                rows = self.table[:length]
                if len(rows) < length:
                    raise ValueError('too long')
                return x + rows.unsqueeze(0).repeat(b, 1, 1)
        """)),
    right("narrow_raised", source("""
        class LearnedPositions(nn.Module):
            def __init__(self, d_model, max_len):
                super().__init__()
                self.max_len = max_len
                self.table = nn.Parameter(torch.randn(max_len, d_model) * 0.1)
            def forward(self, x):
                if not x.shape[1] <= self.max_len:
                    raise ValueError('too long')
                return torch.add(x, self.table.narrow(0, 0, x.shape[1]))
        """)),
]

EXERCISE = Specification(
    name="positional_encoding/learned", title="LearnedPositions", target="LearnedPositions",
    aspects={"learning": 3.0},  # that the table learns is what it is about
    contract=Contract(
        arguments="x: B L d", results="output: B L d", on=("short",), ways=OF_MODULES,
        sizes=special(
            equal_sizes=lambda draw: _learned(draw, 4, 4, 4, 4), one_position=lambda draw: _learned(draw, 3, 1, 1, 2)
        ),
        module=True, named=True,
    ),
    ready_made=("autograder.library.model.LearnedPositions",),
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
