"""Exact match."""

from __future__ import annotations

import torch

from autograder.authoring.common import common
from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.specification import Inputs, Maker, Specification
from autograder.units.sequence_reversal.exercises._inputs import (
    EOS,
    FIRST,
    PAD,
    UNK,
    padded,
)

_KINDS = (
    "right",
    "just fits",
    "one token wrong",
    "swapped",
    "too short",
    "too long",
    "unfinished",
    "no end",
    "cut off",
    "padding inside",
    "same sum",
)


def _rows_to_judge(rows: int, narrow: int = 0, wide: int = 0) -> Maker:
    """Labels 9 wide, and rows of all kinds decoded in fewer or more columns.

    The share of right rows is not that of right columns. One of them comes again as
    often as is drawn, or the share would be known.
    """
    width = 9 - narrow + wide

    def inputs(draw: Draw) -> Inputs:
        kinds = [_KINDS[int(i)] for i in draw.ids(0, len(_KINDS), rows - 2 - len(_KINDS))]
        labels, decoded = [], []
        for kind in [*_KINDS, "unfinished", *kinds]:
            size = 3 + int(draw.ids(0, 3 - narrow))
            size = {
                "unfinished": 8, "cut off": min(8, width), "just fits": min(9, width) - 1
            }.get(kind, size)  # fmt: skip
            row = draw.ids(FIRST, 14, size).tolist()
            row[1] = FIRST + (row[0] - FIRST + 1) % 10  # so that swapping tells
            if kind == "same sum":  # there is room above and below
                row[:3] = (FIRST + 2 + draw.ids(0, 7, 3)).tolist()
            labels.append([*row, EOS])
            decoded.append(_written(kind, row, width))
        again = int(draw.ids(1, 1 + rows))
        labels += [labels[0]] * again
        decoded += [decoded[0]] * again
        order = torch.argsort(draw.tensor(len(labels), scale=500.0))
        whole = max(width, 9)
        same = (padded(decoded, whole) == padded(labels, whole)).double()
        if same.amin(0).mean() == same.amin(1).mean():
            return inputs(draw)
        return {"decoded": padded(decoded, width)[order], "labels": padded(labels, 9)[order]}

    return inputs


def _few_rows(draw: Draw) -> Inputs:
    """Fewer rows than columns; two are wrong at their first token, two at their last.

    One of full width is wrong everywhere; one holds nothing but EOS, and is right. UNK
    is a token like others: one is wrong, and one should have been written. How many
    rows there are is drawn, or the share would be known; some are equal.
    """
    rows = [draw.ids(FIRST, 14, n).tolist() for n in (14, 5, 6, 12, 4, 0, 14, 9, 3)]
    rows += [rows[-1]] * int(draw.ids(1, 6))
    rows[2][5] = UNK
    labels = [[*row, EOS] for row in rows]
    decoded = [list(row) for row in labels]
    for row, place in ((1, 0), (4, 0), (2, 5), (3, 11)):
        decoded[row][place] = FIRST + (decoded[row][place] - FIRST + 1) % 10
    decoded[1][0] = UNK
    decoded[7] = labels[4]  # what another row should be
    decoded[6] = [FIRST + (token - FIRST + 1) % 10 for token in decoded[6]]
    return {"decoded": padded(decoded), "labels": padded(labels)}


def _large_ids(draw: Draw) -> Inputs:
    """Ids of a large vocabulary; wrong rows look like the right ones.

    Three are alike once their digits are glued together, two once ids are rounded, two
    in the last byte of each id. How many rows are right is drawn.
    """
    rows = [draw.ids(300, 5000, n).tolist() for n in (4, 3, 5, 2, 6)]
    labels = [[*row, EOS] for row in rows * 2 + rows[:1] * int(draw.ids(1, 30))]
    decoded = [list(row) for row in labels]
    a, b, c = (FIRST + draw.ids(0, 7, 3).sort().values + torch.arange(3)).tolist()
    one = 4096 + 4 * int(draw.ids(0, 64))
    byte = int(draw.ids(FIRST, 256))
    for wanted, written in (
        ([a, 10 * b + c], [10 * a + b, c]),
        ([a, b, c], [10 * a + b, c]),
        ([10 * a + b, a, c], [a, 10 * b + a, c]),
        ([b, one], [b, one + 1]),
        ([one + 1, c], [one, c]),
        ([byte, a], [byte + 256, a]),
        ([a, byte + 512], [a, byte]),
    ):
        labels.append([*wanted, EOS])
        decoded.append([*written, EOS])
    order = torch.argsort(draw.tensor(len(labels), scale=500.0))
    return {"decoded": padded(decoded)[order], "labels": padded(labels, 9)[order]}


def _written(kind: str, row: list[int], width: int) -> list[int]:
    """A decoded row of one kind; only "right" and "just fits" are right."""
    other = FIRST + (row[-1] - FIRST + 3) % 10
    return {
        "right": [*row, EOS],
        "just fits": [*row, EOS],  # in the last column of the narrower tensor
        "one token wrong": [*row[:-1], other, EOS],
        "swapped": [row[1], row[0], *row[2:], EOS],
        "too short": [*row[:-1], EOS],
        "too long": [*row, other, EOS],
        "no end": row,
        "cut off": row,  # as many symbols as there is room for, and no EOS
        # Neither a sum nor one that weighs each token by its place sees a difference.
        "same sum": [row[0] + 1, row[1] - 2, row[2] + 1, *row[3:], EOS],
        "padding inside": [row[0], PAD, *row[1:], EOS][:width],
        "unfinished": [*row, *[other] * width][:width],
    }[kind]


CASES = [
    case("equal_widths", "tensors of equal width", _rows_to_judge(13),
         "A row is right if all its positions agree, and wrong if a single one does not."),
    case("cut", "rows whose first column was cut off", lambda draw: {**_rows_to_judge(14)(draw), "cut": "yes"},
         "A slice of a tensor need not be contiguous in memory."),
    case("narrow", "decoded rows are narrower than the labels", _rows_to_judge(17, narrow=2),
         "Treat the columns that the narrower tensor lacks as padding."),
    case("wide", "decoded rows are wider than the labels", _rows_to_judge(15, wide=3),
         "A row that goes on and on is wrong, however well it began."),
    case("few_rows", "few rows: one is wrong in its first token, two in their last, one in every token",
         _few_rows,
         "A row is right from its first token to its last."),
    case("large_ids", "ids of a large vocabulary", _large_ids,
         "Different tokens are different, however much they look alike."),
    # half of the rows may be right
    case("many", "many rows", _rows_to_judge(60, wide=1),
         "Does your code depend on the number of rows?", hidden_only=True, tells=("errors",)),
]

MISTAKES = [
    wrong("padding_wanted",
          "A correct row counts as wrong if one tensor has PAD after its EOS and the other one ends there.",
          "Does a row that fills the whole tensor have any PAD after its EOS?",
          source("""
              def exact_match(decoded, labels):
                  def cut(row):
                      row = row.tolist()
                      return row[:row.index(EOS) + 2] if EOS in row else row + [None]
                  pairs = [cut(a) == cut(b) for a, b in zip(decoded, labels)]
                  return sum(pairs) / len(pairs)
              """)),
    wrong("token_accuracy",
          "You count tokens, not sequences.",
          "A row of ten has one wrong token. Is it right as a whole?",
          edit(".all(dim=1).double()", ".double()")),
    wrong("real_token_accuracy",
          "You count real tokens, not sequences.",
          "Is a sequence with one wrong token a match?",
          edit("(decoded == labels).all(dim=1)", "(decoded == labels)[labels != PAD]")),
    wrong("any",
          "A single correct token makes a row correct for your function.",
          "`any` or `all`: when is a row right?",
          edit(".all(dim=1)", ".any(dim=1)")),
    wrong("without_first_column",
          "You skip the first column, as if BOS were there.",
          "What do `decoded` and `labels` begin with?",
          edit("(decoded == labels)", "(decoded[:, 1:] == labels[:, 1:])")),
    wrong("equal_rows_once",
          "Duplicate rows count only once, as in a set.",
          "Is the result a fraction of all rows, or of the *different* rows?",
          edit("return (decoded == labels).all(dim=1).double().mean().item()", """
              rows = set(zip(map(tuple, decoded.tolist()), map(tuple, labels.tolist())))
              return sum(x == y for x, y in rows) / len(rows)
              """)),
    wrong("all_rows",
          "You ask whether *everything* is right, so the result is 0 or 1.",
          "Over which dimension should `all` run?",
          edit(".all(dim=1)", ".all()")),
    wrong("all_columns",
          "You count the columns that are right in every row.",
          "Which dimension of `(B, L)` holds the positions of one row?",
          edit(".all(dim=1)", ".all(dim=0)")),
    wrong("columns_but_padding",
          "You count the columns that are right in every row.",
          "Which dimension of `(B, L)` holds the positions of one row?",
          edit("(decoded == labels).all(dim=1)", "((decoded == labels) | (labels == PAD)).all(dim=0)")),
    wrong("cut_to_shorter",
          "You cut both tensors to the narrower width, so a row that was never finished, or that goes on too long, "
          "passes as right.",
          "What may be in the columns that you cut off?",
          source("""
              def exact_match(decoded, labels):
                  width = min(decoded.size(1), labels.size(1))
                  same = decoded[:, :width] == labels[:, :width]
                  return same.all(dim=1).double().mean().item()
              """)),
    wrong("eos_ignored",
          "EOS is not compared, so a row that never ends passes as right.",
          "Is a model done if it never says so?",
          edit("(decoded == labels)", "((decoded == labels) | (labels == EOS))")),
    wrong("without_order",
          "You compare which tokens occur, not where.",
          "Is `1 2 3` a reversal of `1 2 3`?",
          edit("(decoded == labels)", "(decoded.sort(dim=1).values == labels.sort(dim=1).values)")),
    wrong("padding_taken_out",
          "You removed all padding from the rows before comparing them.",
          "If a model writes PAD between two symbols, is its row right?",
          source("""
              def exact_match(decoded, labels):
                  written, right = (
                      [[i for i in row if i != PAD] for row in rows.tolist()]
                      for rows in (decoded, labels)
                  )
                  same = [a == b for a, b in zip(written, right)]
                  return sum(same) / len(same)
              """)),
    wrong("specials_taken_out",
          "You removed the special tokens before comparing, so a row without EOS, or with PAD inside, passes as right.",
          "Which special tokens tell you something about how a row was written?",
          source("""
              def exact_match(decoded, labels):
                  written, right = (
                      [[i for i in row if i >= FIRST] for row in rows.tolist()]
                      for rows in (decoded, labels)
                  )
                  same = [a == b for a, b in zip(written, right)]
                  return sum(same) / len(same)
              """)),
    wrong("padding_among_the_hits",
          "You count equal positions, padding included, but compare their number with that of the real tokens, so a "
          "correct row that is padded counts as wrong.",
          "How many of its positions are equal if a row with padding is right?",
          edit("(decoded == labels).all(dim=1)", "((decoded == labels).sum(dim=1) == (labels != PAD).sum(dim=1))")),
    wrong("sums",
          "You compare one number per row, but different tokens can give the same number.",
          "Do equal sums prove equal tokens?",
          edit("(decoded == labels).all(dim=1)", "(decoded.sum(1) == labels.sum(1))")),
    wrong("length_only",
          "You compare only the lengths.",
          "Which tokens would you have to change to make your function notice?",
          edit("(decoded == labels)", "((decoded != PAD) == (labels != PAD))")),
    wrong("percent",
          "Your result is a percentage; it should be a fraction between 0 and 1.",
          "What should the result be if all rows are right?",
          edit(".mean().item()", ".mean().item() * 100")),
    wrong("count",
          "You return the number of correct rows, not their fraction.",
          "What must you divide by?",
          edit(".double().mean()", ".double().sum()")),
    wrong("errors",
          "You return the fraction of incorrect rows.",
          "What should the result be if all rows are right?",
          edit("return (decoded", "return 1 - (decoded")),
    wrong("one_width",
          "Your function works only if both tensors have the same width.",
          "Which columns are missing if a row was decoded in a batch of shorter rows?",
          source("""
              def exact_match(decoded, labels):
                  return (decoded == labels).all(dim=1).double().mean().item()
              """)),
    wrong("empty_rows_left_out",
          "Rows that hold nothing but EOS are not counted.",
          "Is an empty row that stays empty right or wrong?",
          edit(".all(dim=1).double()", ".all(dim=1)[labels[:, 0] != EOS].double()")),
    common("tensor", edit(".mean().item()", ".mean()")),
    wrong("until_eos",
          "You compare only what comes before EOS, so a row that was cut off there, without EOS, passes as right.",
          "Which rows have said that they are done?",
          source("""
              def exact_match(decoded, labels):
                  def before(row):
                      row = row.tolist()
                      return row[:row.index(EOS)] if EOS in row else row
                  pairs = [before(a) == before(b) for a, b in zip(decoded, labels)]
                  return sum(pairs) / len(pairs)
              """)),
    wrong("first_ten",
          "You compare only the first ten columns; rows may be longer.",
          "Where is EOS after a sequence of ten digits?",
          edit("(decoded == labels).all", "(decoded == labels)[:, :10].all")),
    wrong("glued",
          "You join the digits of a row into one string, so the boundaries between ids are lost.",
          "Which rows of ids become the string `457`?",
          source("""
              def exact_match(decoded, labels):
                  def glued(row):
                      return "".join(str(i) for i in row).rstrip("0")
                  same = [glued(a) == glued(b) for a, b in zip(decoded.tolist(), labels.tolist())]
                  return sum(same) / len(same)
              """)),
    wrong("rounded",
          "You round the ids before comparing them, so large ids that are close together become equal.",
          "Which whole numbers can your smaller type still tell apart?",
          edit("(decoded == labels)", "(decoded.half() == labels.half())")),
]

ACCEPTED = [
    right("lists", source("""
        def exact_match(decoded, labels):
            def cut(row):
                row = row.tolist()
                return row[:row.index(EOS) + 1] if EOS in row else row + [None]
            pairs = [cut(a) == cut(b) for a, b in zip(decoded, labels)]
            return sum(pairs) / len(pairs)
        """)),
    right("real_places", edit("(decoded == labels)", "((decoded == labels) | (labels == PAD))")),
    right("columns_of_labels", source("""
        def exact_match(decoded, labels):
            width = labels.size(1)
            decoded = F.pad(decoded, (0, max(0, width - decoded.size(1))))
            return (decoded[:, :width] == labels).all(1).double().mean().item()
        """)),
    right("cut_and_rest", source("""
        def exact_match(decoded, labels):
            w = min(decoded.size(1), labels.size(1))
            right = (decoded[:, :w] == labels[:, :w]).all(1)
            right &= (decoded[:, w:] == PAD).all(1) & (labels[:, w:] == PAD).all(1)
            return right.float().mean().item()
        """)),
    right("differences", source("""
        def exact_match(decoded, labels):
            w = max(decoded.size(1), labels.size(1))
            gap = labels.new_zeros(len(labels), w)
            gap[:, :labels.size(1)] += labels
            gap[:, :decoded.size(1)] -= decoded
            return 1 - (gap != 0).any(dim=1).sum().item() / len(labels)
        """)),
]

EXERCISE = Specification(
    name="sequence_reversal/exact_match", title="Exact match", target="exact_match",
    ready_made=("autograder.units.sequence_reversal.library.measuring.exact",),
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
