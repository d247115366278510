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
    sheet = Sheet(92, 33)
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
    x = 6.0
    sheet.text(2.5, y, "x", 12)
    sheet.arrow((4, y), (x + 25.4, y), width=2.2)
    for index, name in enumerate(("self-\nattention", "feed-\nforward")):
        start = x + 40 * index
        _branch(sheet, start, y, start + 26.4, name, ())
        _plus(sheet, (start + 26.4, y))
        sheet.arrow((start + 27.5, y), (start + 29.8, y), width=2.2)
        sheet.box(start + 30, y - 2.1, 6.6, 4.2, "norm", PINK, 9.5)
        end = start + 65.4 if index == 0 else start + 44
        sheet.arrow((start + 36.8, y), (end, y), width=2.2)


def _pre(sheet: Sheet, y: float) -> None:
    sheet.text(1, y - 6.4, "pre-norm (GPT-2 and most models since)", 10.5, align="left",
               weight="bold")  # fmt: skip
    sheet.text(2.5, y, "x", 12)
    sheet.arrow((4, y), (39.4, y), width=2.2)
    for index, name in enumerate(("self-\nattention", "feed-\nforward")):
        start = 6.0 + 40 * index
        _branch(sheet, start, y, start + 34.4, name, ("norm",))
        _plus(sheet, (start + 34.4, y))
        sheet.arrow(
            (start + 35.5, y), (start + (73.4 if index == 0 else 44), y), width=2.2
        )


def _branch(
    sheet: Sheet, x: float, y: float, end: float, name: str, before: tuple[str, ...]
) -> None:
    """A branch that leaves the residual stream at x, to the sum at ``end``."""
    low = y + 4.8
    sheet.line((x, y), (x, low), (x + 1.2, low))
    place = x + 1.2
    for word in before:
        sheet.box(place, low - 2, 6.6, 4, word, PINK, 9.5)
        sheet.arrow((place + 6.6, low), (place + 8.4, low))
        place += 8.4
    sheet.box(place, low - 2.3, 10.4, 4.6, name, BLUE if "att" in name else GREEN, 9)
    sheet.arrow((place + 10.4, low), (place + 12.4, low))
    sheet.box(place + 12.4, low - 2, 8.4, 4, "dropout", GREY, 9, dashed=True)
    sheet.arrow((place + 20.8, low), (end, low), (end, y + 1.2))


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
    sheet = Sheet(92, 62)
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
    x = 17.0
    sheet.text(x + 9, 60, "source ids  (B, Ls)", 10)
    sheet.arrow((x + 9, 58.6), (x + 9, 56.2))
    sheet.box(x, 51.2, 18, 5, "embedding + positions", GREY, 9.5)
    sheet.arrow((x + 9, 51.2), (x + 9, 44.2))
    sheet.box(x - 2, 24.2, 22, 22, "", GREY, dashed=True)
    sheet.text(x - 3, 44, "× N", 11, GREY, align="right")
    sheet.box(x, 38.6, 18, 5.4, "self-attention", BLUE)
    sheet.arrow((x + 9, 35.7), (x + 9, 33.8))
    sheet.box(x, 28.2, 18, 5.4, "feed-forward", GREEN)
    sheet.line((x + 9, 25.3), (x + 9, 22))
    for top in (38.6, 28.2):
        _bypass(sheet, x, top, right=True)
    sheet.text(x + 7.6, 22.4, "memory  (B, Ls, d_model)", 10, align="right")
    sheet.text(5.8, 31.4, "source padding", 8.5, PINK)
    sheet.table(1.8, 33, _mask(4, _SOURCE_PAD, causal=False), 2.0)
    sheet.text(5.8, 42.6, "Ls × Ls", 8.5, GREY)
    sheet.arrow((10, 41.3), (x - 0.2, 41.3), colour=PINK)


def _bypass(sheet: Sheet, x: float, top: float, right: bool) -> None:
    """The way around a sublayer whose box ends at ``top``, to the sum above it."""
    side, below, plus = x + (19 if right else -1), top + 6.5, top - 1.7
    sheet.line((x + 9, top), (x + 9, plus + 1.2))
    sheet.arrow((x + 9, below), (side, below), (side, plus),
                (x + (10.2 if right else 7.8), plus))  # fmt: skip
    _plus(sheet, (x + 9, plus))
    if right:
        sheet.text(x + 7.2, plus, "add & norm", 8, GREY, align="right")
    else:
        sheet.text(x + 10.8, plus, "add & norm", 8, GREY, align="left")


def _decoder(sheet: Sheet) -> None:
    x = 52.0
    sheet.text(x + 9, 60, "target ids  (B, Lt), from BOS on", 10)
    sheet.arrow((x + 9, 58.6), (x + 9, 56.2))
    sheet.box(x, 51.2, 18, 5, "embedding + positions", GREY, 9.5)
    sheet.arrow((x + 9, 51.2), (x + 9, 44.2))
    sheet.box(x - 2, 14.2, 22, 32, "", GREY, dashed=True)
    sheet.text(x + 21, 44, "× N", 11, GREY, align="left")
    sheet.box(x, 38.6, 18, 5.4, "self-attention", BLUE)
    sheet.arrow((x + 9, 35.7), (x + 9, 33.8))
    sheet.box(x, 28.2, 18, 5.4, "cross-attention", ORANGE)
    sheet.arrow((x + 9, 25.3), (x + 9, 23.4))
    sheet.box(x, 17.8, 18, 5.4, "feed-forward", GREEN)
    for top in (38.6, 28.2, 17.8):
        _bypass(sheet, x, top, right=False)
    sheet.arrow((x + 9, 14.9), (x + 9, 11.2))
    sheet.box(x, 6.2, 18, 5, "linear", GREY, 9.5)
    sheet.arrow((x + 9, 6.2), (x + 9, 3.6))
    sheet.text(x + 9, 2.2, "logits  (B, Lt, V)", 10)
    # The memory goes to every decoder layer, as keys and values.
    sheet.arrow((26, 22.2), (26, 12), (44.5, 12), (44.5, 30.9), (x - 0.2, 30.9),
                colour=ORANGE, width=2.0)  # fmt: skip
    sheet.text(35.2, 10.2, "keys and values, for every layer", 8.5, ORANGE)
    sheet.text(83.6, 39, "target padding\nand causal", 8.5, PINK)
    sheet.table(78.6, 41.4, _mask(5, _TARGET_PAD, causal=True), 2.0)
    sheet.text(83.6, 53, "Lt × Lt", 8.5, GREY)
    sheet.arrow((78.4, 43.2), (x + 18.3, 41.6), colour=PINK)
    sheet.text(83.6, 18.2, "source padding", 8.5, PINK)
    sheet.table(79.6, 19.8, _mask(5, _SOURCE_PAD, causal=False), 2.0)
    sheet.text(83.6, 31.4, "Lt × Ls", 8.5, GREY)
    sheet.arrow((79.4, 27.6), (x + 18.3, 30.4), colour=PINK)
