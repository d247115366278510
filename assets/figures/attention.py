"""Scaled dot-product attention, and many heads of it."""

from __future__ import annotations

import math

from pen import BLUE, CELL, GREEN, GREY, INK, ORANGE, PINK, Sheet, mixed

from autograder.figures import told

# Three queries and four keys of size 4, and four values of size 3. They were chosen so
# that rounded weights sum to 1, and so that the masked key would have won row 1.
Q = [[-1, -1, 1, 1], [2, 1, -1, 2], [-1, -1, 2, -1]]
K = [[1, 0, 0, 1], [1, -1, 0, 1], [2, 0, 1, -1], [2, 1, 2, 1]]
V = [[1, 0, 2], [0, 2, 1], [3, 1, 0], [5, 5, 5]]
PADDING = 3  # the key that may not be seen


def worked() -> dict[str, list[list[float | None]]]:
    """Every matrix of one attention, from scores to output; None: minus infinity."""
    scores = [[sum(a * b for a, b in zip(q, k, strict=True)) for k in K] for q in Q]
    scaled = [[s / 2 for s in row] for row in scores]
    masked = [
        [None if j == PADDING else s for j, s in enumerate(row)] for row in scaled
    ]
    powers = [[0.0 if s is None else math.exp(s) for s in row] for row in masked]
    weights = [[p / sum(row) for p in row] for row in powers]
    output = [
        [sum(w * v[c] for w, v in zip(row, V, strict=True)) for c in range(3)]
        for row in weights
    ]
    return {
        "scores": scores,
        "scaled": scaled,
        "masked": masked,
        "weights": weights,
        "output": output,
    }


def scaled_dot_product() -> tuple[Sheet, str]:
    """From q, k and v to weights and output: all numbers of a small attention."""
    steps, sheet, row = worked(), Sheet(76, 45), 1
    top, low, four = 6.5, 30.5, 4 * CELL
    weights = [
        [None if j == PADDING else w for j, w in enumerate(line)]
        for line in steps["weights"]
    ]
    sheet.matrix(1, top, Q, "q", "(Lq, d_k) = (3, 4)", form="d", row=row)
    sheet.matrix(19, top, K, "k", "(Lk, d_k) = (4, 4)", form="d")
    sheet.matrix(
        40, top, steps["scores"], "q kᵀ", "(Lq, Lk) = (3, 4)", form="d", row=row
    )
    sheet.matrix(61, top, steps["scaled"], "scaled", "q kᵀ / √4", form=".1f", row=row)
    sheet.arrow((33.2, top + 5), (39, top + 5))
    sheet.arrow((54.2, top + 5), (60, top + 5))
    sheet.text(57, top + 3.2, "÷ 2", 9)
    sheet.arrow((67.6, top + 10.5), (67.6, 22.2), (7.6, 22.2), (7.6, low - 5.4))
    sheet.text(52, 20.6, "mask: key 3 is padding", 9)
    sheet.matrix(
        1, low, steps["masked"], "masked", "key 3 may not be used", form=".1f", row=row
    )
    sheet.matrix(
        22, low, weights, "weights", "each row sums to 1", top=1.0, row=row, struck=""
    )
    sheet.matrix(
        41.5, low - 1.6, V, "v", "(Lk, d_v) = (4, 3)", form="d", colour=GREEN, top=8
    )
    sheet.matrix(
        61,
        low,
        steps["output"],
        "output",
        "(Lq, d_v) = (3, 3)",
        colour=GREEN,
        top=8,
        row=row,
    )
    sheet.arrow((15.2, low + 5), (21, low + 5))
    sheet.text(18.1, low + 3.2, "softmax", 9)
    sheet.text(38.6, low + 5, "×", 13)
    sheet.arrow((52.6, low + 5), (60, low + 5))
    sheet.text(22 + four / 2, low + 12, "crossed out: exactly 0", 8.5, GREY)
    return sheet, _alt(steps, row)


def _alt(steps: dict[str, list[list[float | None]]], row: int) -> str:
    def listed(name: str) -> str:
        return " ".join("−∞" if v is None else told.number(v) for v in steps[name][row])

    return (
        "Three queries meet four keys of size 4. Row 1, from left to right: the scores "
        f"{listed('scores')}; divided by 2, {listed('scaled')}; with the mask, "
        f"{listed('masked')}; after the softmax, the weights {listed('weights')}, "
        f"which sum to 1; and the weighted sum of the values is {listed('output')}."
    )


HEADS = (BLUE, ORANGE, GREEN)


def multi_head() -> tuple[Sheet, str]:
    """One projection each for q, k and v, read as heads, attended to, merged."""
    sheet = Sheet(76, 33)
    sheet.text(0.5, 2.2, "(B, L, d_model)", 8.5, GREY, align="left")
    sheet.text(20.8, 2.2, "split into heads", 8.5, GREY)
    sheet.text(41.6, 2.2, "(B, h, L, d_k)", 8.5, GREY)
    fills = [[mixed(colour, 0.45) for colour in HEADS for _ in range(2)]] * 3
    for row, name in enumerate(("query", "key", "value")):
        y = 8 + 9.8 * row
        sheet.box(0.5, y - 2.4, 7, 4.8, name, INK, 9.5)
        sheet.arrow((7.5, y), (8.9, y))
        sheet.box(9, y - 2.4, 5.4, 4.8, f"w_{'qkv'[row]}", INK, 9.5)
        sheet.arrow((14.4, y), (15.8, y))
        sheet.table(16, y - 2.4, fills, 1.6)
        for head, colour in enumerate(HEADS):
            # One head is followed in full; nine arrows alike would be a knot.
            start = (25.8, y + 1.6 * (head - 1))
            end = (36, 8 + 9.8 * head + 1.6 * (row - 1))
            if head == 0:
                sheet.arrow(start, end, colour=colour, width=1.8)
            else:
                sheet.arrow(start, end, colour=mixed(colour, 0.4), width=1.0)
    middle = 8 + 9.8
    for head, colour in enumerate(HEADS):
        y = 8 + 9.8 * head
        sheet.box(36.2, y - 3.2, 10.8, 6.4, f"attention\nof head {head}", colour, 9.5)
        sheet.arrow((47, y), (50.8, middle + 1.6 * (head - 1)), colour=colour)
    sheet.table(51, middle - 2.4, fills, 1.6)
    sheet.text(55.8, middle - 4.2, "(B, Lq, h·d_k)", 8.5, GREY)
    sheet.text(55.8, middle + 5, "concatenated,\nhead 0 first", 8.5, GREY)
    sheet.arrow((60.6, middle), (61.9, middle))
    sheet.box(62, middle - 2.4, 5.4, 4.8, "w_o", INK, 9.5)
    sheet.arrow((67.4, middle), (68.7, middle))
    sheet.box(68.8, middle - 2.4, 6.8, 4.8, "output", INK, 9.5)
    sheet.text(75.8, middle + 4.4, "(B, Lq, d_model)", 8.5, GREY, align="right")
    return sheet, (
        "Query, key and value, each (B, L, d_model), go through a projection of their "
        "own. The result of each is split into three heads, blocks of adjacent "
        "columns in three colours. Head 0 attends with the first block of all three, "
        "head 1 with the second, head 2 with the third, (B, h, L, d_k). Their outputs "
        "are concatenated, head 0 first, and the last projection makes the output, "
        "(B, Lq, d_model)."
    )


def one_score() -> tuple[Sheet, str]:
    """A row of q meets a row of k: one entry of the scores."""
    sheet, side = Sheet(72, 17), 2.4
    pale, bright = mixed(BLUE, 0.1), mixed(BLUE, 0.6)
    for x, name, row in ((1, "q", 1), (27, "k", 2)):
        fills = [[bright if i == row else pale] * 8 for i in range(4)]
        sheet.table(x + 3, 5, fills, side)
        sheet.text(x + 3, 2.6, f"{name}  (4, 8)", 9.5, align="left", weight="bold")
        for i in range(4):
            weight = "bold" if i == row else "normal"
            sheet.text(x + 1.4, 6.2 + i * side, f"{name}{i}", 9, weight=weight)
    sheet.arrow((50.4, 9.8), (54.6, 9.8))
    scores = [
        [
            mixed(ORANGE, 0.6) if (i, j) == (1, 2) else mixed(ORANGE, 0.1)
            for j in range(4)
        ]
        for i in range(4)
    ]
    sheet.table(59, 5, scores, side)
    sheet.text(59, 0.8, "scores  (4, 4)", 9.5, align="left", weight="bold")
    for i in range(4):
        sheet.text(57.4, 6.2 + i * side, f"q{i}", 9)
        sheet.text(60.2 + i * side, 3.6, f"k{i}", 9)
    sheet.text(71.5, 16.2, "entry [1, 2] = q1 · k2", 9, ORANGE, align="right")
    return sheet, (
        "q and k, each a matrix of 4 rows and 8 columns. Row 1 of q and row 2 of k are "
        "marked; their dot product is the entry in row 1 and column 2 of the scores, a "
        "matrix of 4 rows and 4 columns."
    )


def self_attention() -> tuple[Sheet, str]:
    """Queries, keys and values of one sequence."""
    sheet = Sheet(76, 19)
    sheet.box(1, 7.2, 15, 4.6, "x  (B, L, d_model)", INK, 9)
    _projected(sheet, (16, 9.5), (16, 9.5), "L", "L")
    return sheet, (
        "One sequence x, (B, L, d_model), goes through three layers: w_q makes the "
        "queries and w_k the keys, both (B, L, d_k), w_v the values (B, L, d_v). "
        "Attention of the three gives the output (B, L, d_v) and the weights (B, L, L)."
    )


def cross_attention() -> tuple[Sheet, str]:
    """Queries of one sequence, keys and values of another."""
    sheet = Sheet(76, 19)
    sheet.box(1, 0.9, 15, 4.6, "x  (B, Lq, d_model)", BLUE, 9)
    sheet.box(1, 10.6, 15, 4.6, "memory\n(B, Lk, d_memory)", ORANGE, 9)
    _projected(sheet, (16, 3.2), (16, 12.9), "Lq", "Lk")
    return sheet, (
        "x, (B, Lq, d_model), goes through w_q and becomes the queries (B, Lq, d_k). "
        "The memory, (B, Lk, d_memory), goes through w_k and w_v and becomes the keys "
        "(B, Lk, d_k) and the values (B, Lk, d_v). Attention of the three gives the "
        "output (B, Lq, d_v) and the weights (B, Lq, Lk)."
    )


def _projected(
    sheet: Sheet,
    asks: tuple[float, float],
    asked: tuple[float, float],
    lq: str,
    lk: str,
) -> None:
    """Three layers from what asks and what is asked, and attention of the three."""
    rows = (
        ("q", asks, lq, "d_k", BLUE),
        ("k", asked, lk, "d_k", ORANGE),
        ("v", asked, lk, "d_v", GREEN),
    )
    for n, (name, start, length, size, colour) in enumerate(rows):
        y = 3.2 + 6.3 * n
        bend = start[0] + 2
        if start[1] == y:
            sheet.arrow(start, (20.6, y))
        else:
            sheet.arrow(start, (bend, start[1]), (bend, y), (20.6, y))
        sheet.box(21, y - 2.2, 6.4, 4.4, f"w_{name}", colour, 9.5)
        # Above its line, since each page's type has a width of its own.
        sheet.text(34.6, y - 1.6, f"{name}  (B, {length}, {size})", 9)
        sheet.line((27.4, y), (41.6, y))
        sheet.arrow((41.6, y), (46.6, 9.5 + 1.2 * (n - 1)))
    sheet.box(47, 5.6, 11, 7.8, "attention", PINK, 10)
    sheet.arrow((58, 8), (60.6, 8))
    sheet.text(61, 8, f"output  (B, {lq}, d_v)", 9, align="left")
    sheet.arrow((58, 11.2), (60.6, 11.2))
    sheet.text(61, 11.2, f"weights  (B, {lq}, {lk})", 9, align="left")


def list_of_heads() -> tuple[Sheet, str]:
    """Several self-attentions on one input, concatenated and projected."""
    sheet = Sheet(76, 21)
    sheet.box(1, 8.2, 15, 4.6, "x  (B, L, d_model)", INK, 9)
    for head, colour in enumerate(HEADS):
        y = 3.4 + 7.1 * head
        if head == 1:
            sheet.arrow((16, y), (20.6, y))
        else:
            sheet.arrow((16, 10.5), (18, 10.5), (18, y), (20.6, y))
        sheet.box(21, y - 2.3, 12, 4.6, f"heads[{head}]", colour, 9.5)
        sheet.text(38.4, y + (1.9 if head == 2 else -1.5), "(B, L, d_v)", 8.5, GREY)
        sheet.arrow((33, y), (44, 10.5 + 1.2 * (head - 1)), colour=colour)
    fills = [[mixed(colour, 0.45) for colour in HEADS for _ in range(2)]] * 3
    sheet.table(44.6, 7.8, fills, 1.8)
    sheet.text(50, 15.4, "(B, L, h·d_v)", 8.5, GREY)
    sheet.arrow((55.4, 10.5), (58.4, 10.5))
    sheet.box(58.8, 8.2, 6, 4.6, "w_o", INK, 9.5)
    sheet.arrow((64.8, 10.5), (67.4, 10.5))
    sheet.text(67.8, 10.5, "(B, L, d_out)", 9, align="left")
    return sheet, (
        "x, (B, L, d_model), goes to three heads. Their outputs, (B, L, d_v) each, are "
        "concatenated along the features, head 0 first: (B, L, h·d_v). The last layer, "
        "w_o, makes (B, L, d_out) of it."
    )
