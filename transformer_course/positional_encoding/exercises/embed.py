"""Embedding lookup with padding."""

from __future__ import annotations

import torch

from autograder.authoring.contract import Contract, special
from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.specification import Inputs, Maker, Specification


def _lookup(draw: Draw, b: int, length: int, padding_idx: int | None = None) -> Inputs:
    """Ids with padding in the middle and at the end, differently in each sentence."""
    vocab_size, d_model = 9, 4
    ids = draw.ids(0, vocab_size, b, length)
    inputs = {"table": draw.tensor(vocab_size, d_model)}
    if padding_idx is None:
        ids[0, 1] = 0
    else:
        ids[ids == padding_idx] = (padding_idx + 1) % vocab_size
        ids[0, 0] = 0 if padding_idx else 1  # what a wrong default would take for padding
        ids[0, -2:] = padding_idx
        ids[1, 1] = padding_idx
        inputs["padding_idx"] = torch.tensor(padding_idx)
    return {**inputs, "ids": ids, "pull": draw.tensor(b, length, d_model)}


def _same_rows(draw: Draw) -> Inputs:
    """Ids of which one word has the same row in the table as the padding token."""
    inputs = _lookup(draw, 3, 4, 2)
    inputs["ids"][-1, -1] = 6
    inputs["table"][6] = inputs["table"][2]
    return inputs


def _special(b: int, length: int, vocab_size: int, d_model: int, padding: str = "") -> Maker:
    """Ids that are "all" padding, one of them ("odd", its row in the table is NaN), or none."""

    def make_inputs(draw: Draw) -> Inputs:
        ids = draw.ids(1, vocab_size, b, length)
        table = draw.tensor(vocab_size, d_model)
        if padding == "all":
            ids[:] = 0
        if padding == "odd":
            ids[0, 0], table[0] = 0, torch.tensor([torch.nan, torch.inf] * 2)
        inputs = {"ids": ids, "table": table, "pull": draw.tensor(b, length, d_model)}
        return inputs | ({"padding_idx": torch.tensor(0)} if padding else {})

    return make_inputs


CASES = [
    case("no_padding", "no padding token", lambda draw: _lookup(draw, 3, 5),
         "Without a padding token, every id is an ordinary row index, including 0."),
    case("padding_is_0", "padding is token 0", lambda draw: _lookup(draw, 3, 5, 0),
         "Where `ids` equals `padding_idx`, the vector is zero and no gradient flows into that row."),
    case("padding_is_3", "padding is token 3", lambda draw: _lookup(draw, 2, 6, 3),
         "The padding token is the one named by `padding_idx`, not always 0."),
    case("same_rows", "a word with the same row as the padding token", _same_rows,
         "Padding is recognised by its id; a word's row may hold the same values."),
    case("padding_is_last", "padding is the last token of the vocabulary", lambda draw: _lookup(draw, 4, 7, 8),
         "The padding token is the one named by `padding_idx`, whatever its id.", hidden_only=True),
]

MISTAKES = [
    wrong("default_zero",
          "If no padding token is given, token 0 still becomes a zero vector.",
          "What is the default of `padding_idx` in the signature that you were given?",
          edit("padding_idx: int | None = None", "padding_idx: int | None = 0"), tests="`padding_idx=None`"),
    wrong("in_a_float32_buffer",
          "A float64 table gives float32 vectors, with fewer digits.",
          "Which dtype does `torch.zeros` use by default?",
          source("""
              def embed(ids, table, padding_idx=None):
                  out = torch.zeros(*ids.shape, table.size(1), dtype=torch.get_default_dtype())
                  keep = torch.ones_like(ids, dtype=torch.bool) if padding_idx is None else ids != padding_idx
                  out[keep] = table[ids[keep]].to(out.dtype)
                  return out
              """), tests="result"),
    wrong("zeros_in_float32",
          "A table in a 16-bit dtype gives float32 vectors.",
          "Which dtype does `torch.zeros` use by default?",
          edit("vectors.masked_fill(is_padding, 0.0)", "torch.where(is_padding, torch.zeros(vectors.shape), vectors)")),
    wrong("hook_on_the_table",
          "After this call the padding row of the table "
          "gets no gradient, no matter where the table is used.",
          "How long does a hook stay registered, and on whose tensor?",
          source("""
              def embed(ids, table, padding_idx=None):
                  vectors = table[ids]
                  if padding_idx is None:
                      return vectors
                  if table.requires_grad:
                      keep = torch.ones(len(table), 1).to(table)
                      keep[padding_idx] = 0
                      table.register_hook(lambda grad: grad * keep)
                  return vectors.masked_fill((ids == padding_idx).unsqueeze(-1), 0.0)
              """)),
    wrong("padding_ignored",
          "Padding is looked up like any other token: its vector is not zero.",
          "What does your function do with `padding_idx`?",
          source("""
              def embed(ids, table, padding_idx=None):
                  return table[ids]
              """), tests="whatever"),
    wrong("padding_only_frozen",
          "No gradient reaches the padding row, but its vector still comes from the table. That is all that "
          "`F.embedding` does with `padding_idx`.",
          "Here the row of the padding token is not zero. Which vector do you return "
          "for this token?",
          source("""
              import torch.nn.functional as F
              def embed(ids, table, padding_idx=None):
                  return F.embedding(ids, table, padding_idx)
              """)),
    wrong("zero_is_false",
          'Token 0 is taken to mean "no padding", because 0 counts as false in Python.',
          "What is `bool(0)`, and what should decide whether there is a padding token?",
          edit("if padding_idx is None:", "if not padding_idx:")),
    wrong("padding_always_0",
          "Token 0 is treated as padding, whatever `padding_idx` says.",
          "Where does your code use the value of `padding_idx`?",
          edit("ids == padding_idx", "ids == 0")),
    wrong("zero_without_padding",
          "Token 0 becomes a zero vector even when there is no padding token.",
          "What should happen to token 0 when `padding_idx` is None?",
          edit("""
              if padding_idx is None:
                  return vectors
              """, """
              padding_idx = 0 if padding_idx is None else padding_idx
              """)),
    wrong("mask_inverted",
          "Only padding keeps its vector; all real words become zero.",
          "Is your mask True where the padding is, or where the words are?",
          edit("ids == padding_idx", "ids != padding_idx")),
    wrong("mask_without_dimension",
          "The mask `(B, L)` does not fit the vectors `(B, L, d_model)`: it lacks a last dimension.",
          "What shape broadcasts one flag over all components of a vector?",
          edit(".unsqueeze(-1)", "")),
    wrong("mask_multiplied_without_dimension",
          "The mask `(B, L)` does not fit the vectors `(B, L, d_model)`: it lacks a last dimension.",
          "What shape broadcasts one flag over all components of a vector?",
          edit(".unsqueeze(-1)", "", "vectors.masked_fill(is_padding, 0.0)", "vectors * ~is_padding")),
    wrong("row_overwritten",
          "Your function writes zeros into the table that it was given.",
          "What else might use this table after your function returns?",
          source("""
              def embed(ids, table, padding_idx=None):
                  if padding_idx is not None:
                      table.data[padding_idx] = 0
                  return table[ids]
              """)),
    wrong("leaf_overwritten",
          "Your function writes into the table itself, which autograd refuses.",
          "How could you zero the vectors that come out instead of the table?",
          source("""
              def embed(ids, table, padding_idx=None):
                  if padding_idx is not None:
                      table[padding_idx] = 0
                  return table[ids]
              """)),
    wrong("smaller_ids_too",
          "All ids up to `padding_idx` become zero, not only the padding token.",
          "Is a smaller id padding as well?",
          edit("ids == padding_idx", "ids <= padding_idx")),
    wrong("first_sentence_decides",
          "Every sentence is treated as padded where the first one is.",
          "Does each sentence of the batch have its own length?",
          edit("ids == padding_idx", "ids[:1] == padding_idx")),
    wrong("only_trailing_padding",
          "Only padding at the end of a sentence is recognised, but here it also occurs in the middle.",
          "Does your code ask each id whether it is padding?",
          edit("ids == padding_idx", "(ids == padding_idx).flip(1).cumprod(1).flip(1).bool()")),
    wrong("detached",
          "No gradient flows into the table, so it could never be trained.",
          "Does `.detach()`, `.data`, NumPy or `no_grad` cut the graph somewhere?",
          edit("vectors = table[ids]", "vectors = table.detach()[ids]"),
          edit("vectors = table[ids]",
               "vectors = torch.tensor(table.detach().numpy()[ids.numpy()])", name="through_numpy"), tests="receive"),
    wrong("padding_by_its_row",
          "Words whose row equals that of the padding token become zero.",
          "What makes a token padding: its row, or its id?",
          source("""
              def embed(ids, table, padding_idx=None):
                  vectors = table[ids]
                  if padding_idx is None:
                      return vectors
                  alike = (vectors == table[padding_idx]).all(-1)
                  is_padding = alike | (ids == padding_idx)
                  return vectors.masked_fill(is_padding.unsqueeze(-1), 0.0)
              """)),
    wrong("nan_for_padding",
          "Padding becomes NaN. One NaN spreads through a whole network.",
          "Which vector adds nothing?",
          edit("(is_padding, 0.0)", "(is_padding, float('nan'))")),
    wrong("ones_for_padding",
          "Padding becomes a vector of ones.",
          "Which vector adds nothing?",
          edit("(is_padding, 0.0)", "(is_padding, 1.0)")),
    wrong("gradient_kept",
          "Padding still sends a gradient into its row.",
          "Does your zero depend on the table, as far as autograd can tell?",
          source("""
              def embed(ids, table, padding_idx=None):
                  vectors = table[ids]
                  if padding_idx is None:
                      return vectors
                  out = vectors.clone()
                  out.data[ids == padding_idx] = 0
                  return out
              """)),
    wrong("sentences_as_columns",
          "Batch and position are swapped: the result has shape `(L, B, d_model)`.",
          "Which dimension of `ids` is the batch?",
          edit("vectors = table[ids]", "vectors = table[ids.T]", "ids == padding_idx", "ids.T == padding_idx")),
    wrong("features_before_positions",
          "The last two dimensions are swapped: the result has shape `(B, d_model, L)`.",
          "What shape does the docstring promise?",
          edit("        return vectors", "        return vectors.mT",
               "return vectors.masked_fill(is_padding, 0.0)", "return vectors.masked_fill(is_padding, 0.0).mT")),
    wrong("positions_averaged",
          "The vectors of a sentence were averaged into one.",
          "How many vectors should come out for a sentence of `L` tokens?",
          source("""
              def embed(ids, table, padding_idx=None):
                  return table[ids].mean(1)
              """)),
    wrong("batch_flattened",
          "The sentences of the batch were joined into one long list.",
          "How can you restore the shape `(B, L)` after a flat lookup?",
          source("""
              def embed(ids, table, padding_idx=None):
                  vectors = table.index_select(0, ids.flatten())
                  if padding_idx is None:
                      return vectors
                  return vectors * (ids.flatten() != padding_idx).unsqueeze(-1)
              """)),
    wrong("ids_for_vectors",
          "The vectors are multiplied by the ids themselves.",
          "Is an id a number to calculate with, or a name?",
          source("""
              def embed(ids, table, padding_idx=None):
                  return table[ids] * ids.unsqueeze(-1)
              """)),
    wrong("padding_multiplied",
          "Padding is multiplied by zero. If its row holds NaN or infinity, the result is not zero.",
          "What is `0 * nan`?",
          edit("vectors.masked_fill(is_padding, 0.0)", "vectors * ~is_padding"),
          source("""
              def embed(ids, table, padding_idx=None):
                  keep = torch.ones(len(table), 1)
                  if padding_idx is not None:
                      keep[padding_idx] = 0
                  return table[ids] * keep[ids]
              """, name="padding_multiplied_by_rows")),
    wrong("ids_changed",
          "Your function modifies the caller's `ids`.",
          "Whose tensor are you writing to?",
          source("""
              def embed(ids, table, padding_idx=None):
                  vectors = table[ids]
                  if padding_idx is not None:
                      vectors = vectors.masked_fill((ids == padding_idx)[..., None], 0.0)
                      ids[ids == padding_idx] = -1
                  return vectors
              """), tests="modified"),
]

ACCEPTED = [
    right("where", edit("vectors.masked_fill(is_padding, 0.0)",
                        "torch.where(is_padding, torch.zeros(()).to(vectors), vectors)")),
    right("zeroed_copy", source("""
        def embed(ids, table, padding_idx=None):
            if padding_idx is not None:
                table = table.clone()
                table[padding_idx] = 0
            return nn.functional.embedding(ids, table)
        """), tests="`nn.functional.embedding`"),
    right("one_hot", source("""
        import torch.nn.functional as F
        def embed(ids, table, padding_idx=None):
            hot = F.one_hot(ids, len(table)).to(table.dtype)
            if padding_idx is not None:
                hot[..., padding_idx] = 0
                rows = torch.arange(len(table)) == padding_idx
                table = table.masked_fill(rows[:, None], 0.0)
            return torch.einsum('blv,vd->bld', hot, table)
        """)),
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
    contract=Contract(
        typed=True, narrow=True, arguments="ids: B L; table: V d; padding_idx: _", results="vectors: B L d",
        on=("padding_is_3",),
        sizes=special(
            one_word=_special(1, 1, 5, 3), equal_sizes=_special(4, 4, 4, 4, padding="none"),
            nothing_but_padding=_special(2, 3, 5, 4, padding="all"),
            a_padding_row_that_holds_no_numbers=_special(3, 2, 6, 4, padding="odd"),
        ),
    ),
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
