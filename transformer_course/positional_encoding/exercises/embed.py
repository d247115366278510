"""Cases and mistakes for an exercise: look up embeddings, with zeros for padding."""

from __future__ import annotations

import torch

from autograder.authoring.contract import Contract
from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, sizes, source, wrong
from autograder.authoring.specification import Specification


def _draw_twins(draw: Draw) -> torch.Tensor:
    """A table in which token 4 has the same row as token 2."""
    table = draw.tensor(5, 4)
    table[4] = table[2]
    return table


def _draw_with_nan(draw: Draw) -> torch.Tensor:
    """A table whose row 1 consists of NaN and infinity."""
    table = draw.tensor(5, 4)
    table[1] = torch.tensor([torch.nan, torch.inf] * 2)
    return table


CASES = [
    case("padding_is_3", "padding is token 3", sizes(B=2, L=6, vocab_size=5, d_model=4, below=5, padding_idx=3),
         "The padding token is the one named by `padding_idx`, not always 0."),
    case("padding_is_0", "padding is token 0", sizes(B=3, L=5, vocab_size=6, d_model=4, below=6, padding_idx=0),
         "Where `ids` equals `padding_idx`, the vector is zero and no gradient flows into that row."),
    case("no_padding", "no padding token", sizes(B=3, L=5, vocab_size=7, d_model=4, below=7),
         "Without a padding token, every id is an ordinary row index, including 0."),
    case("same_rows", "a word with the same row as the padding token",
         sizes(B=3, L=7, d_model=4, below=5, padding_idx=2, table=_draw_twins),
         "Padding is recognised by its id; a word's row may hold the same values.", aspect="limits"),
    case("nan_row", "a padding row that holds NaN and infinity",
         sizes(B=3, L=7, d_model=4, below=5, padding_idx=1, table=_draw_with_nan),
         "The zeros must not be computed from the values in the row of the padding token.", aspect="limits"),
    case("padding_is_last", "padding is the last token of the vocabulary",
         sizes(B=4, L=7, vocab_size=9, d_model=5, below=9, padding_idx=8),
         "The padding token is the one named by `padding_idx`, whatever its id.", hidden_only=True),
]

_LOOKUP = "vectors = table[ids]"
_FILL = "return vectors.masked_fill(is_padding, 0.0)"

MISTAKES = [
    wrong("zero_without_padding", "Token 0 becomes a zero vector even when there is no padding token.",
          "What should happen to token 0 when `padding_idx` is None?",
          edit("""
              if padding_idx is None:
                  return vectors
              """, """
              padding_idx = 0 if padding_idx is None else padding_idx
              """),
          edit("padding_idx: int | None = None", "padding_idx: int | None = 0", name="default_zero"),
          tests="`padding_idx=None`"),
    wrong("result_in_float32", "For some tables that are not float32, the vectors are float32 all the same.",
          "Which dtype does `torch.zeros` use by default?",
          edit(_LOOKUP, """
              vectors = torch.zeros(*ids.shape, table.size(1))
              vectors[:] = table[ids]
              """),
          edit(_FILL, "return torch.where(is_padding, torch.zeros(vectors.shape), vectors)", name="zeros_in_float32"),
          tests="result"),
    wrong("padding_ignored", "Padding is looked up like any other token: its vector is not zero.",
          "What does your function do with `padding_idx`?",
          edit("if padding_idx is None:", "if True:"), tests="whatever"),
    wrong("padding_only_frozen",
          "No gradient reaches the padding row, but its vector still comes from the table. That is all that "
          "`F.embedding` does with `padding_idx`.",
          "Here the row of the padding token is not zero. Which vector do you return "
          "for this token?",
          edit(_LOOKUP, "return nn.functional.embedding(ids, table, padding_idx)")),
    wrong("zero_is_false",
          'Token 0 is taken to mean "no padding", because 0 counts as false in Python.',
          "What is `bool(0)`, and what should decide whether there is a padding token?",
          edit("if padding_idx is None:", "if not padding_idx:")),
    wrong("padding_always_0", "Token 0 is treated as padding, whatever `padding_idx` says.",
          "Where does your code use the value of `padding_idx`?",
          edit("ids == padding_idx", "ids == 0")),
    wrong("mask_inverted", "Only padding keeps its vector; all real words become zero.",
          "Is your mask True where the padding is, or where the words are?",
          edit("ids == padding_idx", "ids != padding_idx")),
    wrong("mask_without_dimension",
          "The mask `(B, L)` does not fit the vectors `(B, L, d_model)`: it lacks a last dimension.",
          "What shape broadcasts one flag over all components of a vector?",
          edit(".unsqueeze(-1)", ""),
          edit(".unsqueeze(-1)", "", _FILL, "return vectors * ~is_padding", name="multiplied_without_dimension")),
    wrong("row_overwritten", "Your function writes zeros into the table that it was given.",
          "What else might use this table after your function returns?",
          edit(_LOOKUP, """
              if padding_idx is not None:
                  table.data[padding_idx] = 0
              return table[ids]
              """),
          edit(_LOOKUP, """
              if padding_idx is not None:
                  table[padding_idx] = 0
              return table[ids]
              """, name="leaf_overwritten")),
    wrong("smaller_ids_too", "All ids up to `padding_idx` become zero, not only the padding token.",
          "Is a smaller id padding as well?",
          edit("ids == padding_idx", "ids <= padding_idx")),
    wrong("first_sentence_decides", "Every sentence is treated as padded where the first one is.",
          "Does each sentence of the batch have its own length?",
          edit("ids == padding_idx", "ids[:1] == padding_idx")),
    wrong("only_trailing_padding",
          "Only padding at the end of a sentence is recognised, but here it also occurs in the middle.",
          "Does your code ask each id whether it is padding?",
          edit("ids == padding_idx", "(ids == padding_idx).flip(1).cumprod(1).flip(1).bool()")),
    wrong("detached", "No gradient flows into the table, so it could never be trained.",
          "Does `.detach()`, `.data`, NumPy or `no_grad` cut the graph somewhere?",
          edit(_LOOKUP, "vectors = table.detach()[ids]"),
          edit(_LOOKUP, "vectors = torch.tensor(table.detach().numpy()[ids.numpy()])", name="through_numpy"),
          tests="receive gradients"),
    wrong("padding_by_its_row", "Words whose row equals that of the padding token become zero.",
          "What makes a token padding: its row, or its id?",
          edit("(ids == padding_idx)", "((ids == padding_idx) | (vectors == table[padding_idx]).all(-1))")),
    wrong("filled_otherwise", "Padding is filled with something other than zeros.",
          "Which vector adds nothing?",
          edit(_FILL, "return vectors.masked_fill(is_padding, float('nan'))", name="nan_for_padding"),
          edit(_FILL, "return vectors.masked_fill(is_padding, 1.0)", name="ones_for_padding")),
    wrong("gradient_kept", "Padding still sends a gradient into its row.",
          "Does your zero depend on the table, as far as autograd can tell?",
          edit(_FILL, """
              vectors.data[ids == padding_idx] = 0
              return vectors
              """)),
    wrong("dimensions_swapped", "Two dimensions are swapped: the result should have the shape `(B, L, d_model)`.",
          "Which dimension of `ids` is the batch, and where do the components of a vector go?",
          edit(_LOOKUP, "vectors = table[ids.T]", "ids == padding_idx", "ids.T == padding_idx",
               name="sentences_as_columns"),
          edit("        return vectors", "        return vectors.mT", _FILL, f"{_FILL}.mT",
               name="features_before_positions")),
    wrong("positions_averaged", "The vectors of a sentence were averaged into one.",
          "How many vectors should come out for a sentence of `L` tokens?",
          edit(_LOOKUP, "return table[ids].mean(1)")),
    wrong("batch_flattened", "The sentences of the batch were joined into one long list.",
          "How can you restore the shape `(B, L)` after a flat lookup?",
          edit(_LOOKUP, """
              ids = ids.flatten()
              vectors = table[ids]
              """)),
    wrong("ids_for_vectors", "The vectors are multiplied by the ids themselves.",
          "Is an id a number to calculate with, or a name?",
          edit(_LOOKUP, "return table[ids] * ids.unsqueeze(-1)")),
    wrong("padding_multiplied",
          "Padding is multiplied by zero. If its row holds NaN or infinity, the result is not zero.",
          "What is `0 * nan`?",
          edit(_FILL, "return vectors * ~is_padding"),
          edit(_LOOKUP, """
              keep = torch.ones(len(table), 1)
              if padding_idx is not None:
                  keep[padding_idx] = 0
              return table[ids] * keep[ids]
              """, name="padding_multiplied_by_rows")),
    wrong("ids_changed", "Your function modifies the caller's `ids`.",
          "Whose tensor are you writing to?",
          edit(_FILL, f"""
              ids[ids == padding_idx] = -1
              {_FILL}
              """), tests="modified"),
]

ACCEPTED = [
    right("zeroed_copy", edit(_LOOKUP, """
        if padding_idx is not None:
            table = table.clone()
            table[padding_idx] = 0
        return nn.functional.embedding(ids, table)
        """), tests="`nn.functional.embedding`"),
    right("index_select", source("""
        def embed(ids, table, padding_idx=None):
            rows = table.index_select(0, ids.reshape(-1))
            out = rows.reshape(*ids.shape, table.shape[1]).clone()
            if padding_idx is not None:
                out[ids == padding_idx] = 0.0
            return out
        """)),
    right("loops", source("""
        def embed(ids, table, padding_idx=None):
            sentences = []
            for sentence in ids.tolist():
                rows = [table[t] if t != padding_idx else torch.zeros_like(table[0])
                        for t in sentence]
                sentences.append(torch.stack(rows))
            return torch.stack(sentences)
        """)),
]

EXERCISE = Specification(
    tells={"padding_is_last": "padding_ignored only_trailing_padding first_sentence_decides"},
    results="vectors", fixed="vocab_size", contract=Contract(narrow=True),
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
