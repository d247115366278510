"""Exact match."""

from __future__ import annotations

import torch

from autograder.bank.sequence_reversal._exact_match.accepted import ACCEPTED
from autograder.bank.sequence_reversal._inputs import EOS, FIRST, PAD, UNK, padded
from autograder.oracle.draw import Draw
from autograder.oracle.specification import (
    CaseKind,
    Edit,
    Inputs,
    Maker,
    Mutant,
    Specification,
    Way,
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
        return {
            "decoded": padded(decoded, width)[order],
            "labels": padded(labels, 9)[order],
        }

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
    for right, written in (
        ([a, 10 * b + c], [10 * a + b, c]),
        ([a, b, c], [10 * a + b, c]),
        ([10 * a + b, a, c], [a, 10 * b + a, c]),
        ([b, one], [b, one + 1]),
        ([one + 1, c], [one, c]),
        ([byte, a], [byte + 256, a]),
        ([a, byte + 512], [a, byte]),
    ):
        labels.append([*right, EOS])
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


EXERCISE = Specification(
    name="sequence_reversal/exact_match",
    title="Exact match",
    target="exact_match",
    cases=[
        CaseKind(
            name="equal_widths",
            title="tensors of equal width",
            inputs=_rows_to_judge(13),
            hint="A row is right if all its places agree, and wrong if a single one "
            "does not.",
        ),
        CaseKind(
            name="cut",
            title="rows whose first column was cut off",
            inputs=lambda draw: {**_rows_to_judge(14)(draw), "cut": "yes"},
            hint="What is cut out of a tensor does not lie in one piece in memory.",
        ),
        CaseKind(
            name="narrow",
            title="decoded rows are narrower than the labels",
            inputs=_rows_to_judge(17, narrow=2),
            hint="What a narrower tensor lacks is padding.",
        ),
        CaseKind(
            name="wide",
            title="decoded rows are wider than the labels",
            inputs=_rows_to_judge(15, wide=3),
            hint="A row that goes on and on is wrong, however well it began.",
        ),
        CaseKind(
            name="few_rows",
            title="few rows; the first token of one is wrong, the last of two others, "
            "every token of a fourth",
            inputs=_few_rows,
            hint="A row is right from its first token to its last.",
        ),
        CaseKind(
            name="large_ids",
            title="ids of a large vocabulary",
            inputs=_large_ids,
            hint="Other tokens are other tokens, however much they look alike.",
        ),
        CaseKind(
            name="many",
            title="many rows",
            inputs=_rows_to_judge(60, wide=1),
            hint="As above.",
            hidden_only=True,
            tells=("errors",),  # half of the rows may be right
        ),
    ],
    mutants=[
        Mutant(
            name="padding_wanted",
            says="A right row counts as wrong if one tensor has PAD after its EOS and "
            "the other one ends there.",
            asks="Where may the last EOS of a tensor stand?",
            ways=[Way(source="""
                def exact_match(decoded, labels):
                    def cut(row):
                        row = row.tolist()
                        return row[:row.index(EOS) + 2] if EOS in row else row + [None]
                    pairs = [cut(a) == cut(b) for a, b in zip(decoded, labels)]
                    return sum(pairs) / len(pairs)
                """)],
        ),
        Mutant(
            name="token_accuracy",
            says="You count tokens, not sequences.",
            asks="A row of ten has one wrong token. Is it right as a whole?",
            ways=[Way(edits=[Edit(".all(dim=1).double()", ".double()")])],
        ),
        Mutant(
            name="real_token_accuracy",
            says="You count real tokens, not sequences.",
            asks="Is a sequence with one wrong token a match?",
            ways=[Way(edits=[
                Edit("(decoded == labels).all(dim=1)",
                     "(decoded == labels)[labels != PAD]"),
            ])],
        ),
        Mutant(
            name="any",
            says="One right token is enough for your function.",
            asks="`any` or `all`: when is a row right?",
            ways=[Way(edits=[Edit(".all(dim=1)", ".any(dim=1)")])],
        ),
        Mutant(
            name="without_first_column",
            says="You leave out the first column, as if BOS stood there.",
            asks="With what do `decoded` and `labels` begin?",
            ways=[Way(edits=[
                Edit("(decoded == labels)", "(decoded[:, 1:] == labels[:, 1:])"),
            ])],
        ),
        Mutant(
            name="equal_rows_once",
            says="Rows that are equal count once, as in a set.",
            asks="Is it a share of rows, or of *different* rows?",
            ways=[Way(edits=[
                Edit("return (decoded == labels).all(dim=1).double().mean().item()", """
                     rows = set(zip(map(tuple, decoded.tolist()), map(tuple, labels.tolist())))
                     return sum(x == y for x, y in rows) / len(rows)
                     """),
            ])],
        ),
        Mutant(
            name="all_rows",
            says="You ask whether *everything* is right: the result is 0 or 1.",
            asks="Over which dimension should `all` run?",
            ways=[
                Way(edits=[Edit(".all(dim=1)", ".all()")]),
                Way(name="torch_equal", source="""
                    def exact_match(decoded, labels):
                        width = max(decoded.size(1), labels.size(1))
                        decoded, labels = (F.pad(r, (0, width - r.size(1))) for r in (decoded, labels))
                        return float(torch.equal(decoded, labels))
                    """),
            ],
        ),
        Mutant(
            name="all_columns",
            says="You count columns that are right in all rows.",
            asks="Which dimension of `(B, L)` holds the places of one row?",
            ways=[Way(edits=[Edit(".all(dim=1)", ".all(dim=0)")])],
        ),
        Mutant(
            name="cut_to_shorter",
            says="You cut both tensors to the narrower one. A row that was never "
            "finished, or that goes on too long, passes as right.",
            asks="What may stand in the columns that you cut off?",
            ways=[Way(source="""
                def exact_match(decoded, labels):
                    width = min(decoded.size(1), labels.size(1))
                    same = decoded[:, :width] == labels[:, :width]
                    return same.all(dim=1).double().mean().item()
                """)],
        ),
        Mutant(
            name="eos_ignored",
            says="EOS is not compared: a row that never ends passes as right.",
            asks="Is a model done that does not say so?",
            ways=[Way(edits=[
                Edit("(decoded == labels)", "((decoded == labels) | (labels == EOS))"),
            ])],
        ),
        Mutant(
            name="without_order",
            says="You compare which tokens occur, not where.",
            asks="Is `1 2 3` a reversal of `1 2 3`?",
            ways=[Way(edits=[
                Edit("(decoded == labels)",
                     "(decoded.sort(dim=1).values == labels.sort(dim=1).values)"),
            ])],
        ),
        Mutant(
            name="padding_taken_out",
            says="You took all padding out of the rows before you compared them.",
            asks="If a model writes PAD between two symbols: is its row right?",
            ways=[Way(source="""
                def exact_match(decoded, labels):
                    written, right = (
                        [[i for i in row if i != PAD] for row in rows.tolist()]
                        for rows in (decoded, labels)
                    )
                    same = [a == b for a, b in zip(written, right)]
                    return sum(same) / len(same)
            """)],
        ),
        Mutant(
            name="sums",
            says="You compare one number for each row, which other tokens can have, too.",
            asks="Do equal sums prove equal tokens?",
            ways=[Way(edits=[
                Edit("(decoded == labels).all(dim=1)", "(decoded.sum(1) == labels.sum(1))"),
            ])],
        ),
        Mutant(
            name="sums_by_place",
            says="You compare one number for each row, a sum of tokens times places; other "
            "tokens can have it, too.",
            asks="How many rows are there, and how many such sums?",
            ways=[Way(source="""
                def exact_match(decoded, labels):
                    def number(rows):
                        return (rows * torch.arange(1, rows.size(1) + 1)).sum(1)
                    return (number(decoded) == number(labels)).double().mean().item()
                """)],
        ),
        Mutant(
            name="length_only",
            says="You compare lengths only.",
            asks="Which tokens would you have to change to make your function notice?",
            ways=[Way(edits=[
                Edit("(decoded == labels)", "((decoded != PAD) == (labels != PAD))"),
            ])],
        ),
        Mutant(
            name="percent",
            says="Your result is in percent; a share between 0 and 1 is asked for.",
            asks="What is the result if all rows are right?",
            ways=[Way(edits=[Edit(".mean().item()", ".mean().item() * 100")])],
        ),
        Mutant(
            name="count",
            says="You return how many rows are right, not which share of them.",
            asks="By what must you divide?",
            ways=[Way(edits=[Edit(".double().mean()", ".double().sum()")])],
        ),
        Mutant(
            name="errors",
            says="You return the share of wrong rows.",
            asks="What is the result if all rows are right?",
            ways=[Way(edits=[Edit("return (decoded", "return 1 - (decoded")])],
        ),
        Mutant(
            name="one_width",
            says="Your function needs tensors of equal width.",
            asks="What does a row lack that was decoded in a batch of shorter rows?",
            ways=[Way(source="""
                def exact_match(decoded, labels):
                    return (decoded == labels).all(dim=1).double().mean().item()
                """)],
        ),
        Mutant(
            name="empty_rows_left_out",
            says="Rows that hold nothing but EOS are not counted.",
            asks="Is an empty row that stays empty right or wrong?",
            ways=[Way(edits=[
                Edit(".all(dim=1).double()", ".all(dim=1)[labels[:, 0] != EOS].double()"),
            ])],
        ),
        Mutant(
            name="tensor",
            says="The number is right, but it comes as a tensor; a float is asked for.",
            asks="Which method of a tensor with one number gives that number?",
            ways=[Way(edits=[Edit(".mean().item()", ".mean()")])],
        ),

        Mutant(
            name="until_eos",
            says="You compare what stands before EOS: a row that was cut off there, "
            "and never said EOS, passes as right.",
            asks="Which row has said that it is done?",
            ways=[Way(source="""
                def exact_match(decoded, labels):
                    def before(row):
                        row = row.tolist()
                        return row[:row.index(EOS)] if EOS in row else row
                    pairs = [before(a) == before(b) for a, b in zip(decoded, labels)]
                    return sum(pairs) / len(pairs)
                """)],
        ),
        Mutant(
            name="first_ten",
            says="You compare the first ten places; rows may be longer.",
            asks="Where does EOS stand after a sequence of ten digits?",
            ways=[Way(edits=[
                Edit("(decoded == labels).all", "(decoded == labels)[:, :10].all"),
            ])],
        ),
        Mutant(
            name="glued",
            says="You compare texts of digits without gaps: where one id ends and the "
            "next begins is lost.",
            asks="Which rows of ids have the text `457`?",
            ways=[Way(source="""
                def exact_match(decoded, labels):
                    def glued(row):
                        return "".join(str(i) for i in row).rstrip("0")
                    same = [glued(a) == glued(b) for a, b in zip(decoded.tolist(), labels.tolist())]
                    return sum(same) / len(same)
                """)],
        ),
        Mutant(
            name="rounded",
            says="You round ids before you compare them: large ones that lie near each "
            "other become equal.",
            asks="How many whole numbers can the type hold that you turn ids into?",
            ways=[
                Way(edits=[
                    Edit("(decoded == labels)", "(decoded.half() == labels.half())"),
                ]),
                Way(name="bytes", edits=[
                    Edit("(decoded == labels)",
                         "(decoded.to(torch.uint8) == labels.to(torch.uint8))"),
                ]),
            ],
        ),
    ],
    accepted=ACCEPTED,
)
