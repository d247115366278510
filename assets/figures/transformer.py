"""The layer in both placements of its norms, and the whole model with its masks."""

from __future__ import annotations

from pen import (
    BLUE,
    CLEAR,
    GREEN,
    GREY,
    INK,
    ORANGE,
    PINK,
    SHADE,
    Point,
    Sheet,
    mixed,
)


def norm_placements() -> tuple[Sheet, str]:
    """An encoder layer from left to right, post-norm above, pre-norm below."""
    sheet = Sheet(76, 33)
    _post(sheet, 8)
    _pre(sheet, 25)
    return sheet, (
        "An encoder layer from left to right, twice. Post-norm: a branch leaves the "
        "residual stream, goes through self-attention and dropout, and is added to it; "
        "then the stream passes through a norm; the same once more with feed-forward. "
        "Pre-norm: the branch goes through norm, self-attention and dropout before it "
        "is added; the stream itself meets sums only."
    )


def _post(sheet: Sheet, y: float) -> None:
    sheet.text(
        1, y - 6.4, "post-norm (the paper, BERT)", 10.5, align="left", weight="bold"
    )
    sheet.text(1.6, y, "x", 12)
    sheet.arrow((3, y), (25.6, y), width=2.2)
    for index, name in enumerate(("self-\nattention", "feed-\nforward")):
        start = 4.8 + 34.4 * index
        _branch(sheet, start, y, start + 22, name, ())
        _plus(sheet, (start + 22, y))
        sheet.arrow((start + 23.2, y), (start + 25, y), width=2.2)
        sheet.box(start + 25.2, y - 2.1, 6, 4.2, "norm", PINK, 9.5)
        end = start + (55.2 if index == 0 else 35.4)
        sheet.arrow((start + 31.2, y), (end, y), width=2.2)


def _pre(sheet: Sheet, y: float) -> None:
    sheet.text(1, y - 6.4, "pre-norm (GPT-2 and most models since)", 10.5, align="left",
               weight="bold")  # fmt: skip
    sheet.text(1.6, y, "x", 12)
    sheet.arrow((3, y), (33.8, y), width=2.2)
    for index, name in enumerate(("self-\nattention", "feed-\nforward")):
        start = 4.8 + 34.4 * index
        _branch(sheet, start, y, start + 30.2, name, ("norm",))
        _plus(sheet, (start + 30.2, y))
        end = start + (63.4 if index == 0 else 35.4)
        sheet.arrow((start + 31.4, y), (end, y), width=2.2)


def _branch(
    sheet: Sheet, x: float, y: float, end: float, name: str, before: tuple[str, ...]
) -> None:
    """A branch that leaves the residual stream at x, to the sum at ``end``."""
    low = y + 4.8
    sheet.line((x, y), (x, low), (x + 1, low))
    place = x + 1
    for word in before:
        sheet.box(place, low - 2, 6, 4, word, PINK, 9.5)
        sheet.arrow((place + 6, low), (place + 7.6, low))
        place += 7.7
    sheet.box(place, low - 2.3, 9.6, 4.6, name, BLUE if "att" in name else GREEN, 9)
    sheet.arrow((place + 9.6, low), (place + 11.2, low))
    sheet.box(place + 11.3, low - 2, 8.2, 4, "dropout", GREY, 9, dashed=True)
    sheet.arrow((place + 19.5, low), (end, low), (end, y + 1.2))


def _plus(sheet: Sheet, at: Point) -> None:
    sheet.box(at[0] - 1.2, at[1] - 1.2, 2.4, 2.4, "+", INK, 10, fill=CLEAR)


# Rows are queries, columns are keys; what is allowed is pink.
_SOURCE_PAD, _TARGET_PAD = (1, 1, 1, 0), (1, 1, 1, 1, 0)


def _mask(rows: int, keys: tuple[int, ...], causal: bool) -> list[list[str]]:
    return [
        [mixed(PINK, 0.6) if keep and (j <= i or not causal) else SHADE
         for j, keep in enumerate(keys)]
        for i in range(rows)
    ]  # fmt: skip


def whole_model() -> tuple[Sheet, str]:
    """Encoder and decoder, each attention with the mask that belongs to it."""
    sheet = Sheet(76, 58)
    _encoder(sheet)
    _decoder(sheet)
    return sheet, (
        "The whole model. Left: source ids, embedding and positions, then N times "
        "self-attention and feed-forward, each with a bypass to a sum, up to the "
        "memory (B, Ls, d_model). Right: target ids from BOS on, embedding and "
        "positions, then N times self-attention, "
        "cross-attention and feed-forward, then a linear layer to logits (B, Lt, V). "
        "The memory goes as keys and values into the cross-attention of every decoder "
        "layer. Beside the attentions are their masks: source padding, (Ls, Ls), at "
        "the encoder; a triangle without the padded column, (Lt, Lt), at the decoder's "
        "self-attention; source padding again, (Lt, Ls), at cross-attention."
    )


def _encoder(sheet: Sheet) -> None:
    x = 13.6
    sheet.text(x + 7.2, 56.6, "source ids  (B, Ls)", 10)
    sheet.arrow((x + 7.2, 55.2), (x + 7.2, 53.4))
    sheet.box(x, 48.2, 14.4, 5, "embedding\n+ positions", GREY, 9)
    sheet.arrow((x + 7.2, 48.2), (x + 7.2, 44.2))
    sheet.box(x - 2.6, 24.2, 19, 22, "", GREY, dashed=True)
    sheet.text(x - 3.4, 45, "× N", 11, GREY, align="right")
    sheet.box(x, 38.6, 14.4, 5.4, "self-attention", BLUE, 9.5)
    sheet.arrow((x + 7.2, 35.7), (x + 7.2, 33.8))
    sheet.box(x, 28.2, 14.4, 5.4, "feed-forward", GREEN, 9.5)
    sheet.line((x + 7.2, 25.3), (x + 7.2, 22))
    for top in (38.6, 28.2):
        _bypass(sheet, x, top, right=True)
    sheet.text(x + 6, 22.2, "memory  (B, Ls, d_model)", 9.5, align="right")
    sheet.text(4.9, 30.4, "source padding", 8.5, PINK)
    sheet.table(0.9, 32, _mask(4, _SOURCE_PAD, causal=False), 2.0)
    sheet.text(4.9, 41.6, "Ls × Ls", 8.5, GREY)
    sheet.arrow((9.1, 39), (x - 0.2, 41.3), colour=PINK)


def _bypass(sheet: Sheet, x: float, top: float, right: bool) -> None:
    """The way around a sublayer whose box ends at ``top``, to the sum above it."""
    side, below, plus = x + (15.4 if right else -1), top + 6.5, top - 1.7
    middle = x + 7.2
    sheet.line((middle, top), (middle, plus + 1.2))
    sheet.arrow((middle, below), (side, below), (side, plus),
                (middle + (1.2 if right else -1.2), plus))  # fmt: skip
    _plus(sheet, (middle, plus))
    if right:
        sheet.text(middle - 1.8, plus, "add & norm", 8.5, GREY, align="right")
    else:
        sheet.text(middle + 1.8, plus, "add & norm", 8.5, GREY, align="left")


def _decoder(sheet: Sheet) -> None:
    x = 40.6
    middle = x + 7.2
    sheet.text(middle, 56.6, "target ids  (B, Lt), from BOS on", 10)
    sheet.arrow((middle, 55.2), (middle, 53.4))
    sheet.box(x, 48.2, 14.4, 5, "embedding\n+ positions", GREY, 9)
    sheet.arrow((middle, 48.2), (middle, 44.2))
    sheet.box(x - 2, 14.2, 19, 32, "", GREY, dashed=True)
    sheet.text(x + 17.8, 45, "× N", 11, GREY, align="left")
    sheet.box(x, 38.6, 14.4, 5.4, "self-attention", BLUE, 9.5)
    sheet.arrow((middle, 35.7), (middle, 33.8))
    sheet.box(x, 28.2, 14.4, 5.4, "cross-attention", ORANGE, 9.5)
    sheet.arrow((middle, 25.3), (middle, 23.4))
    sheet.box(x, 17.8, 14.4, 5.4, "feed-forward", GREEN, 9.5)
    for top in (38.6, 28.2, 17.8):
        _bypass(sheet, x, top, right=False)
    sheet.arrow((middle, 14.9), (middle, 11.2))
    sheet.box(x, 6.2, 14.4, 5, "linear", GREY, 9.5)
    sheet.arrow((middle, 6.2), (middle, 3.6))
    sheet.text(middle, 2.2, "logits  (B, Lt, V)", 10)
    # The memory goes to every decoder layer, as keys and values.
    sheet.arrow((20.8, 22), (20.8, 12), (34, 12), (34, 30.9), (x - 0.2, 30.9),
                colour=ORANGE, width=2.0)  # fmt: skip
    sheet.text(27.4, 10.4, "keys and values, for every layer", 8.5, ORANGE)
    sheet.text(69.8, 36, "target padding\nand causal", 8.5, PINK)
    sheet.table(64.8, 38.4, _mask(5, _TARGET_PAD, causal=True), 2.0)
    sheet.text(69.8, 50, "Lt × Lt", 8.5, GREY)
    sheet.arrow((64.6, 41.3), (x + 14.6, 41.3), colour=PINK)
    sheet.text(69.8, 18.2, "source padding", 8.5, PINK)
    sheet.table(65.8, 19.8, _mask(5, _SOURCE_PAD, causal=False), 2.0)
    sheet.text(69.8, 31.4, "Lt × Ls", 8.5, GREY)
    sheet.arrow((65.6, 27.6), (x + 14.6, 30.9), colour=PINK)
