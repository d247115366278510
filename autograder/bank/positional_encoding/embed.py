"""Embedding lookup with padding."""

from __future__ import annotations

import torch

from autograder.bank.positional_encoding._embed.accepted import ACCEPTED
from autograder.oracle.draw import Draw
from autograder.oracle.promise import Promise, special
from autograder.oracle.specification import (
    CaseKind,
    Edit,
    Inputs,
    Maker,
    Mutant,
    Specification,
    Way,
)


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
    """A word that occurs has the same row as the padding token."""
    inputs = _lookup(draw, 3, 4, 2)
    inputs["ids"][-1, -1] = 6
    inputs["table"][6] = inputs["table"][2]
    return inputs


def _special(
    b: int, length: int, vocab_size: int, d_model: int, padding: str = ""
) -> Maker:
    """Ids of which ``padding`` is padding: "all", "none", or "odd", in a row of NaN."""

    def inputs(draw: Draw) -> Inputs:
        ids = draw.ids(1, vocab_size, b, length)
        table = draw.tensor(vocab_size, d_model)
        if padding == "all":
            ids[:] = 0
        if padding == "odd":
            ids[0, 0], table[0] = 0, torch.tensor([torch.nan, torch.inf] * 2)
        made = {"ids": ids, "table": table, "pull": draw.tensor(b, length, d_model)}
        return made | ({"padding_idx": torch.tensor(0)} if padding else {})

    return inputs


EXERCISE = Specification(
    name="positional_encoding/embed",
    title="Embedding lookup with padding",
    target="embed",
    promise=Promise(
        typed=True,
        narrow=True,
        arguments="ids: B L; table: V d; padding_idx: _",
        results="vectors: B L d",
        on=("padding_is_3",),
        sizes=special(
            one_word=_special(1, 1, 5, 3),
            equal_sizes=_special(4, 4, 4, 4, padding="none"),
            nothing_but_padding=_special(2, 3, 5, 4, padding="all"),
            a_padding_row_that_holds_no_numbers=_special(3, 2, 6, 4, padding="odd"),
        ),
    ),
    cases=[
        CaseKind(
            name="no_padding",
            title="no padding token",
            inputs=lambda draw: _lookup(draw, 3, 5),
            hint="Without a padding token every id is a plain row number, 0 as well.",
        ),
        CaseKind(
            name="padding_is_0",
            title="padding is token 0",
            inputs=lambda draw: _lookup(draw, 3, 5, 0),
            hint="Where `ids` equals `padding_idx`, the vector is zero and no gradient "
            "flows into that row.",
        ),
        CaseKind(
            name="padding_is_3",
            title="padding is token 3",
            inputs=lambda draw: _lookup(draw, 2, 6, 3),
            hint="The padding token is the one named by `padding_idx`, not always 0.",
        ),
        CaseKind(
            name="same_rows",
            title="a word with the same row as the padding token",
            inputs=_same_rows,
            hint="Padding is known by its id. The same numbers may stand in a word's "
            "row.",
        ),
        CaseKind(
            name="padding_is_last",
            title="padding is the last token of the vocabulary",
            inputs=lambda draw: _lookup(draw, 4, 7, 8),
            hint="The padding token is the one named by `padding_idx`, whatever its "
            "number.",
            hidden_only=True,
        ),
    ],
    mutants=[
        Mutant(
            name="default_zero",
            says="Whoever names no padding token gets zeros for token 0.",
            asks="What is the default of `padding_idx` in the first line that you were "
            "given?",
            ways=[Way(edits=[
                Edit("padding_idx: int | None = None", "padding_idx: int | None = 0"),
            ])],
        ),
        Mutant(
            name="in_a_float32_buffer",
            says="Of a table in float64 the vectors come back in float32, with fewer "
            "digits.",
            asks="Which type has a tensor that you make with `torch.zeros`?",
            ways=[Way(source="""
                def embed(ids, table, padding_idx=None):
                    out = torch.zeros(*ids.shape, table.size(1), dtype=torch.get_default_dtype())
                    keep = torch.ones_like(ids, dtype=torch.bool) if padding_idx is None else ids != padding_idx
                    out[keep] = table[ids[keep]].to(out.dtype)
                    return out
                """)],
        ),
        Mutant(
            name="zeros_in_float32",
            says="Of a table in a 16-bit type the vectors come back in float32.",
            asks="Which type has a tensor that you make with `torch.zeros`?",
            ways=[Way(edits=[
                Edit("vectors.masked_fill(is_padding, 0.0)",
                     "torch.where(is_padding, torch.zeros(vectors.shape), vectors)"),
            ])],
        ),
        Mutant(
            name="hook_on_the_table",
            says="The vectors are right, but afterwards the table gives padding's row no "
            "gradient, whoever uses it.",
            asks="For how long does a hook stay, and whose tensor is it on?",
            ways=[Way(source="""
                def embed(ids, table, padding_idx=None):
                    vectors = table[ids]
                    if padding_idx is None:
                        return vectors
                    if table.requires_grad:
                        keep = torch.ones(len(table), 1).to(table)
                        keep[padding_idx] = 0
                        table.register_hook(lambda grad: grad * keep)
                    return vectors.masked_fill((ids == padding_idx).unsqueeze(-1), 0.0)
                """)],
        ),
        Mutant(
            name="padding_ignored",
            says="Padding is looked up like any other token: its vector is not zero.",
            asks="What does your function do with `padding_idx`?",
            ways=[Way(source="""
                def embed(ids, table, padding_idx=None):
                    return table[ids]
                """)],
        ),
        Mutant(
            name="padding_only_frozen",
            says="No gradient reaches the padding row, but its vector is still what "
            "stands in the table. That is all `F.embedding` does with `padding_idx`.",
            asks="Here the row of the padding token is not zero. Which vector comes "
            "out?",
            ways=[Way(source="""
                import torch.nn.functional as F
                def embed(ids, table, padding_idx=None):
                    return F.embedding(ids, table, padding_idx)
                """)],
        ),
        Mutant(
            name="zero_is_false",
            says='Token 0 is taken for "no padding", because Python holds 0 to be '
            "false.",
            asks="What is `bool(0)`, and what should decide whether there is a padding "
            "token?",
            ways=[
                Way(edits=[Edit("if padding_idx is None:", "if not padding_idx:")]),
                Way(name="zero_is_false_inline", source="""
                    def embed(ids, table, padding_idx=None):
                        padding_idx = padding_idx or -1
                        return table[ids] * (ids != padding_idx).unsqueeze(-1)
                    """),
            ],
        ),
        Mutant(
            name="padding_always_0",
            says="Token 0 is taken for padding, whatever `padding_idx` says.",
            asks="Where does your code use the value of `padding_idx`?",
            ways=[Way(edits=[Edit("ids == padding_idx", "ids == 0")])],
        ),
        Mutant(
            name="zero_without_padding",
            says="Token 0 becomes a zero vector even where there is no padding token.",
            asks="What should happen to token 0 when `padding_idx` is None?",
            ways=[Way(edits=[
                Edit(
                    """
                    if padding_idx is None:
                        return vectors
                    """,
                    """
                    if padding_idx is None:
                        padding_idx = 0
                    """,
                ),
            ])],
        ),
        Mutant(
            name="mask_inverted",
            says="Only padding keeps its vector; all real words became zero.",
            asks="Is your mask True where the padding is, or where the words are?",
            ways=[
                Way(edits=[Edit("ids == padding_idx", "ids != padding_idx")]),
                Way(name="mask_multiplied_inverted", edits=[
                    Edit("vectors.masked_fill(is_padding, 0.0)",
                         "vectors * is_padding"),
                ]),
            ],
        ),
        Mutant(
            name="mask_without_dimension",
            says="The mask `(B, L)` does not fit the vectors `(B, L, d_model)`: it "
            "lacks a last dimension.",
            asks="Which shape spreads one flag over all numbers of a vector?",
            ways=[Way(edits=[Edit(".unsqueeze(-1)", "")])],
        ),
        Mutant(
            name="mask_multiplied_without_dimension",
            says="The mask `(B, L)` does not fit the vectors `(B, L, d_model)`: it "
            "lacks a last dimension.",
            asks="Which shape spreads one flag over all numbers of a vector?",
            ways=[Way(edits=[
                Edit(".unsqueeze(-1)", ""),
                Edit("vectors.masked_fill(is_padding, 0.0)", "vectors * ~is_padding"),
            ])],
        ),
        Mutant(
            name="row_overwritten",
            says="Your function writes zeros into the table that it was given.",
            asks="Who else uses this table after your function returns?",
            ways=[
                Way(source="""
                    def embed(ids, table, padding_idx=None):
                        if padding_idx is not None:
                            table.data[padding_idx] = 0
                        return table[ids]
                    """),
                Way(name="row_overwritten_no_grad", source="""
                    def embed(ids, table, padding_idx=None):
                        if padding_idx is not None:
                            with torch.no_grad():
                                table[padding_idx] = 0
                        return table[ids]
                    """),
            ],
        ),
        Mutant(
            name="leaf_overwritten",
            says="Your function writes into the table itself; autograd refuses that.",
            asks="How could you zero the vectors that come out, and not the table?",
            ways=[Way(source="""
                def embed(ids, table, padding_idx=None):
                    if padding_idx is not None:
                        table[padding_idx] = 0
                    return table[ids]
                """)],
        ),
        Mutant(
            name="smaller_ids_too",
            says="All ids up to `padding_idx` became zero, not only the padding token.",
            asks="Is a smaller id padding as well?",
            ways=[Way(edits=[Edit("ids == padding_idx", "ids <= padding_idx")])],
        ),
        Mutant(
            name="first_sentence_decides",
            says="All sentences are padded where the first one is.",
            asks="Does each sentence of the batch have its own length?",
            ways=[Way(edits=[Edit("ids == padding_idx", "ids[:1] == padding_idx")])],
        ),
        Mutant(
            name="only_trailing_padding",
            says="Only the end of each sentence is treated as padding, but here "
            "padding also stands in the middle.",
            asks="Does your code ask each id whether it is padding?",
            ways=[Way(edits=[
                Edit("ids == padding_idx",
                     "(ids == padding_idx).flip(1).cumprod(1).flip(1).bool()"),
            ])],
        ),
        Mutant(
            name="detached",
            says="No gradient flows into the table, so it could never be trained.",
            asks="Does `.detach()`, `.data`, numpy or `no_grad` cut the graph "
            "somewhere?",
            ways=[
                Way(edits=[
                    Edit("vectors = table[ids]", "vectors = table.detach()[ids]"),
                ]),
                Way(name="through_numpy", edits=[
                    Edit("vectors = table[ids]",
                         "vectors = torch.tensor(table.detach().numpy()[ids.numpy()])"),
                ]),
            ],
        ),
        Mutant(
            name="padding_by_its_row",
            says="Words became zero whose row is the same as that of the padding token.",
            asks="Does a row make a token padding, or its id?",
            ways=[Way(source="""
                def embed(ids, table, padding_idx=None):
                    vectors = table[ids]
                    if padding_idx is None:
                        return vectors
                    alike = (vectors == table[padding_idx]).all(-1)
                    is_padding = alike | (ids == padding_idx)
                    return vectors.masked_fill(is_padding.unsqueeze(-1), 0.0)
                """)],
        ),
        Mutant(
            name="nan_for_padding",
            says="Padding became NaN. One NaN spreads through a whole network.",
            asks="Which vector adds nothing?",
            ways=[Way(edits=[Edit("(is_padding, 0.0)", "(is_padding, float('nan'))")])],
        ),
        Mutant(
            name="ones_for_padding",
            says="Padding became a vector of ones.",
            asks="Which vector adds nothing?",
            ways=[Way(edits=[Edit("(is_padding, 0.0)", "(is_padding, 1.0)")])],
        ),
        Mutant(
            name="gradient_kept",
            says="The vectors are right, but padding still sends a gradient into its "
            "row.",
            asks="Does your zero depend on the table, as far as autograd can tell?",
            ways=[Way(source="""
                def embed(ids, table, padding_idx=None):
                    vectors = table[ids]
                    if padding_idx is None:
                        return vectors
                    out = vectors.clone()
                    out.data[ids == padding_idx] = 0
                    return out
                """)],
        ),
        Mutant(
            name="sentences_as_columns",
            says="Batch and position are swapped: the result is `(L, B, d_model)`.",
            asks="Which dimension of `ids` is the batch?",
            ways=[Way(edits=[
                Edit("vectors = table[ids]", "vectors = table[ids.T]"),
                Edit("ids == padding_idx", "ids.T == padding_idx"),
            ])],
        ),
        Mutant(
            name="features_before_positions",
            says="The last two dimensions are swapped: the result is `(B, d_model, "
            "L)`.",
            asks="Which shape does the docstring promise?",
            ways=[Way(edits=[
                Edit("        return vectors", "        return vectors.mT"),
                Edit("return vectors.masked_fill(is_padding, 0.0)",
                     "return vectors.masked_fill(is_padding, 0.0).mT"),
            ])],
        ),
        Mutant(
            name="positions_averaged",
            says="The vectors of a sentence were averaged into one.",
            asks="How many vectors should come out for a sentence of `L` tokens?",
            ways=[Way(source="""
                def embed(ids, table, padding_idx=None):
                    return table[ids].mean(1)
                """)],
        ),
        Mutant(
            name="batch_flattened",
            says="The sentences of the batch were joined into one long list.",
            asks="How does the shape `(B, L)` come back after a flat lookup?",
            ways=[Way(source="""
                def embed(ids, table, padding_idx=None):
                    vectors = table.index_select(0, ids.flatten())
                    if padding_idx is None:
                        return vectors
                    return vectors * (ids.flatten() != padding_idx).unsqueeze(-1)
                """)],
        ),
        Mutant(
            name="ids_for_vectors",
            says="The vectors are multiplied by the ids themselves.",
            asks="Is an id a number to calculate with, or a name?",
            ways=[Way(source="""
                def embed(ids, table, padding_idx=None):
                    return table[ids] * ids.unsqueeze(-1)
                """)],
        ),
        Mutant(
            name="padding_multiplied",
            says="Padding is multiplied by zero. If its row holds NaN or infinity, that "
            "is not zero.",
            asks="What is `0 * nan`?",
            ways=[
                Way(edits=[
                    Edit("vectors.masked_fill(is_padding, 0.0)", "vectors * ~is_padding"),
                ]),
                Way(name="padding_multiplied_by_rows", source="""
                    def embed(ids, table, padding_idx=None):
                        keep = torch.ones(len(table), 1)
                        if padding_idx is not None:
                            keep[padding_idx] = 0
                        return table[ids] * keep[ids]
                    """),
            ],
        ),
        Mutant(
            name="ids_changed",
            says="The vectors are right, but the caller's `ids` are others afterwards.",
            asks="Whose tensor do you write into?",
            ways=[Way(source="""
                def embed(ids, table, padding_idx=None):
                    vectors = table[ids]
                    if padding_idx is not None:
                        vectors = vectors.masked_fill((ids == padding_idx)[..., None], 0.0)
                        ids[ids == padding_idx] = -1
                    return vectors
                """)],
        ),
    ],
    accepted=ACCEPTED,
)
