"""Scaled dot-product attention, and many heads of it."""

from __future__ import annotations

import math

from pen import BLUE, GREEN, GREY, INK, ORANGE, PAPER, PINK, SHADE, Sheet, mixed

# Three queries and four keys of size 4, and four values of size 3: numbers by hand.
Q = [[0.9, -0.4, 0.6, 0.2], [-0.7, 0.8, 0.1, 0.5], [0.3, 0.6, -0.8, 0.9]]
K = [
    [0.8, -0.6, 0.4, 0.1],
    [-0.5, 0.9, 0.2, 0.3],
    [0.2, 0.5, -0.9, 0.6],
    [0.7, 0.1, 0.3, -0.8],
]
V = [[0.9, 0.1, 0.4], [0.2, 0.8, 0.3], [0.5, 0.4, 0.9], [0.1, 0.6, 0.7]]
MASK = [[1, 1, 1, 0], [1, 1, 1, 0], [1, 1, 1, 0]]  # the last key is padding


def _shades(rows: list[list[float]], colour: str) -> list[list[str]]:
    return [[mixed(colour, 0.12 + 0.6 * (x + 1) / 2) for x in row] for row in rows]


def scaled_dot_product() -> Sheet:
    """From q, k and v to weights and output, with the shapes on the way."""
    scores = [[sum(a * b for a, b in zip(q, k, strict=True)) / 2 for k in K] for q in Q]
    powers = [
        [math.exp(3 * s) * keep for s, keep in zip(row, mask, strict=True)]
        for row, mask in zip(scores, MASK, strict=True)
    ]
    weights = [[p / sum(row) for p in row] for row in powers]
    output = [
        [sum(w * v[c] for w, v in zip(row, V, strict=True)) for c in range(3)]
        for row in weights
    ]

    sheet = Sheet(92, 28.4)
    side = 2.4
    sheet.table(2, 4, _shades(Q, BLUE), side)
    sheet.text(2 + 2 * side, 2, "q  $(L_q, d_k)$", 10.5, BLUE)
    sheet.table(2, 16, _shades(K, ORANGE), side)
    sheet.text(2 + 2 * side, 14, "k  $(L_k, d_k)$", 10.5, ORANGE)

    sheet.arrow((12, 7.6), (18.8, 12.4))
    sheet.arrow((12, 20.8), (18.8, 14.8))
    sheet.text(17.8, 3.6, "$q\\,k^\\top/\\sqrt{d_k}$", 11)
    sheet.table(
        19.5, 10, _shades([[1.4 * s for s in row] for row in scores], GREY), side
    )
    sheet.text(19.5 + 2 * side, 7.7, "scores  $(L_q, L_k)$", 10.5)
    sheet.text(19.5 + 2 * side, 18.9, "each query with each key", 8.5, GREY)

    sheet.arrow((30, 13.6), (35.4, 13.6))
    sheet.text(32.7, 11.7, "mask", 10)
    masked = _shades([[1.4 * s for s in row] for row in scores], GREY)
    for row in masked:
        row[3] = PAPER
    signs = [["", "", "", "$-\\infty$"]] * 3
    sheet.table(36.2, 10, masked, side, signs, 8, edge=PAPER)
    sheet.text(36.2 + 2 * side, 7.9, "key 3 is padding", 9)

    sheet.arrow((46.7, 13.6), (53.4, 13.6))
    sheet.text(50, 11.7, "softmax", 10)
    sheet.text(50, 15.6, "each row", 8.5, GREY)
    fills = [[mixed(PINK, 0.08 + 0.85 * w) for w in row] for row in weights]
    words = [
        [f"{w:.1f}".replace("0.", ".").replace(".0", "0") for w in row]
        for row in weights
    ]
    sheet.table(54.2, 10, fills, side, words, 8)
    sheet.text(54.2 + 2 * side, 7.9, "weights  $(L_q, L_k)$", 10.5, PINK)
    sheet.text(54.2 + 2 * side, 18.9, "each row sums to 1", 8.5, GREY)

    sheet.table(66.5, 18, _shades([[2 * x - 1 for x in row] for row in V], GREEN), side)
    sheet.text(66.5 + 1.5 * side, 16, "v  $(L_k, d_v)$", 10.5, GREEN)
    sheet.arrow((64.7, 13.6), (79.4, 13.6))
    sheet.arrow((74.6, 22.6), (76.4, 22.6), (76.4, 14.2))
    sheet.text(71.5, 11.7, "weighted sum", 10)
    sheet.table(
        80.4, 10, _shades([[2 * x - 1 for x in row] for row in output], GREEN), side
    )
    sheet.text(80.4 + 1.5 * side, 7.9, "output  $(L_q, d_v)$", 10.5, GREEN)
    sheet.text(
        80.4 + 1.5 * side, 18.9, "row $i$: a mixture\nof all rows of v", 8.5, GREY
    )
    return sheet


HEADS = (BLUE, ORANGE, GREEN)


def multi_head() -> Sheet:
    """One projection each for q, k and v, read as heads, attended to, merged."""
    sheet = Sheet(92, 32)
    sheet.text(6, 2.2, "$(B, L, d_{model})$", 9, GREY)
    sheet.text(24.5, 2.2, "read as heads", 9, GREY)
    sheet.text(44.8, 2.2, "$(B, h, L, d_k)$", 9, GREY)
    sheet.text(69.5, 2.2, "merged  $(B, L_q, h\\cdot d_k)$", 9, GREY)
    for row, name in enumerate(("query", "key", "value")):
        y = 5 + 9.6 * row
        sheet.box(1, y + 0.8, 8, 5, name, INK)
        sheet.arrow((9, y + 3.3), (11.6, y + 3.3))
        sheet.box(11.8, y + 0.8, 6.4, 5, f"$W^{'QKV'[row]}$", INK, 11)
        sheet.arrow((18.2, y + 3.3), (20.4, y + 3.3))
        fills = [[mixed(colour, 0.45) for colour in HEADS for _ in range(2)]] * 3
        sheet.table(20.8, y + 0.6, fills, 1.8)
        for head in range(3):
            start = (31.8, y + 3.3)
            sheet.arrow(start, (40.6, 7.4 + 9.6 * head + (row - 1) * 1.4),
                        colour=HEADS[head], width=1.0)  # fmt: skip
    for head, colour in enumerate(HEADS):
        y = 4.6 + 9.6 * head
        sheet.box(40.8, y, 14.4, 6.4, f"attention\nof head {head}", colour)
        sheet.arrow((55.2, y + 3.2), (64.4, 15.2 + 1.2 * (head - 1)), colour=colour)
    fills = [[mixed(colour, 0.45) for colour in HEADS for _ in range(2)]] * 3
    sheet.table(65, 12.2, fills, 2.0)
    sheet.text(71, 20.6, "side by side,\nhead 0 first", 8.5, GREY)
    sheet.arrow((77, 15.2), (79.6, 15.2))
    sheet.box(79.8, 12.7, 6, 5, "$W^O$", INK, 11)
    sheet.arrow((85.8, 15.2), (88, 15.2))
    sheet.text(88.4, 10.6, "output", 10, align="center")
    sheet.text(85.5, 20.6, "$(B, L_q, d_{model})$", 8.5, GREY)
    sheet.box(88.1, 12.7, 3.2, 5, "", INK, fill=SHADE)
    return sheet
