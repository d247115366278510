"""One training step, and the small pictures of unit 4."""

from __future__ import annotations

from pen import BLUE, CLEAR, GREEN, GREY, INK, ORANGE, PINK, Sheet


def training_step() -> tuple[Sheet, str]:
    """From a batch to a changed model."""
    sheet = Sheet(76, 18)
    sheet.box(1, 2, 8, 4, "source", GREY, 9)
    sheet.box(1, 9, 8, 4, "target", GREY, 9)
    sheet.arrow((9, 11), (11.6, 11))
    sheet.box(11.8, 9, 6, 4, "shift", INK, 9)
    sheet.box(22, 5.6, 12, 4, "decoder input", ORANGE, 9)
    sheet.box(22, 12, 12, 4, "labels", GREEN, 9)
    sheet.arrow((17.8, 11), (19.6, 11), (19.6, 7.6), (21.8, 7.6))
    sheet.arrow((17.8, 11), (19.6, 11), (19.6, 14), (21.8, 14))
    sheet.box(38, 2.6, 8, 6, "model", BLUE, 9.5)
    sheet.arrow((9, 4), (37.8, 4))
    sheet.arrow((34, 7.6), (37.8, 7.6))
    sheet.arrow((46, 5.6), (48.4, 5.6))
    sheet.box(48.6, 3.6, 7, 4, "logits", GREY, 9)
    sheet.arrow((55.6, 5.6), (58, 5.6), (58, 8.2))
    sheet.arrow((34, 14), (58, 14), (58, 12.6))
    sheet.box(55, 8.4, 6, 4, "loss", PINK, 9.5)
    sheet.arrow((61, 10.4), (62, 10.4), (62, 5.1), (63, 5.1))
    for n, name in enumerate(("gradients", "clip", "step")):
        sheet.box(63.2, 2.4 + 5.2 * n + 0.8, 10, 3.8, name, GREY, 9)
        if n:
            sheet.arrow((68.2, 7 + 5.2 * (n - 1)), (68.2, 8.3 + 5.2 * (n - 1)))
    sheet.arrow((73.2, 15.5), (75, 15.5), (75, 0.8), (42, 0.8), (42, 2.4))
    sheet.text(52, 2.1, "next batch", 9)
    return sheet, (
        "The target is shifted into decoder input and labels. Source and decoder input "
        "go into the model, its logits and the labels into the loss. Then gradients, "
        "clipping and a step of the optimizer, which changes the model for the next "
        "batch."
    )


def talk_and_think() -> tuple[Sheet, str]:
    """Attention connects positions; the feed-forward network does not."""
    from matplotlib.patches import Circle

    sheet = Sheet(52, 18)
    rows = (
        (6, "attention", "positions exchange\ninformation\n(here, causal)"),
        (14, "feed-forward", "one network, used\nat each position"),
    )
    for y, name, does in rows:
        middle = 1.2 * (does.count("\n") + 1) / 2
        sheet.text(1, y - middle - 0.2, name, 10, align="left", weight="bold")
        sheet.text(1, y + 1.2, does, 8.5, GREY, align="left")
    for n in range(4):
        x = 19 + 10 * n
        for m in range(n):
            _arc(sheet, 19 + 10 * m, x, 6)
        sheet.axes.add_patch(Circle((x, 6), 1.1, color=BLUE, zorder=4))
        sheet.axes.add_patch(Circle((x, 14), 1.1, color=GREEN, zorder=4))
        sheet.arrow((x, 11.2), (x, 12.7))
        sheet.arrow((x, 15.2), (x, 17))
    return sheet, (
        "Above, attention, here causal: four positions with arrows from each to those "
        "after it. "
        "Below, feed-forward: the same four positions, each with an arrow in and out "
        "and none to another."
    )


def _arc(sheet: Sheet, start: float, end: float, y: float) -> None:
    """An arrow over circles, from the edge of one to just before that of another."""
    across, up = 1.3 * 0.86, 1.3 * 0.51  # where the curve meets a circle
    sheet.arrow((start + across, y - up), (end - across, y - up), curve=-0.3,
                colour=BLUE)  # fmt: skip


def decoder_layer() -> tuple[Sheet, str]:
    """The three sublayers of a decoder layer, and what each is given."""
    sheet, y = Sheet(76, 18), 11.0
    sheet.text(1, y, "x", 11, align="left")
    sheet.arrow((3, y), (5.8, y))
    names = ("self-attention", "cross-attention", "feed-forward")
    for n, (name, colour) in enumerate(zip(names, (BLUE, ORANGE, GREEN), strict=True)):
        x = 6 + 23.4 * n
        sheet.box(x, y - 3.6, 21.4, 8.4, "", GREY, dashed=True)
        sheet.line((x, y), (x + 1.2, y), (x + 1.2, y + 3.6))
        sheet.arrow((x + 1.2, y), (x + 2.4, y))
        sheet.box(x + 2.5, y - 2.2, 10.4, 4.4, name, colour, 8.5)
        sheet.line((x + 12.9, y), (x + 13.5, y))
        sheet.arrow((x + 1.2, y + 3.6), (x + 14.6, y + 3.6), (x + 14.6, y + 1.2))
        sheet.box(x + 13.5, y - 1.1, 2.2, 2.2, "+", INK, 10, fill=CLEAR)
        sheet.line((x + 15.7, y), (x + 16.2, y))
        sheet.box(x + 16.2, y - 1.8, 4.6, 3.6, "norm", PINK, 8.5)
        sheet.text(x + 10.7, y + 6, f"add & norm {n + 1}", 8.5, GREY)
        sheet.arrow((x + 20.8, y), (x + 23.2, y))
    sheet.text(16, 2.2, "tgt_mask\n(causal, padding)", 8.5, PINK)
    sheet.arrow((16, 4.4), (16, y - 2.6), colour=PINK)
    sheet.text(33, 2.2, "memory\n(keys and values)", 8.5, ORANGE)
    sheet.arrow((34.6, 4.4), (34.6, y - 2.6), colour=ORANGE)
    sheet.text(46, 2.2, "memory_mask\n(padding)", 8.5, PINK)
    sheet.arrow((42, 4.4), (42, y - 2.6), colour=PINK)
    return sheet, (
        "x goes through three sublayers, each with a bypass to a sum and a norm: "
        "self-attention with "
        "tgt_mask (causal and padding), cross-attention with the memory as keys and "
        "values and memory_mask (padding), and the feed-forward network."
    )


def wiring() -> tuple[Sheet, str]:
    """The modules of the Transformer class, and what passes between them."""
    sheet = Sheet(76, 14)
    for y, ids, name, stack in ((3, "src  (B, Ls)", "source", "encoder"),
                                (11, "tgt  (B, Lt)", "target", "decoder")):  # fmt: skip
        sheet.text(7, y - 1.6, ids, 9)
        sheet.arrow((1, y), (13.6, y))
        sheet.box(13.8, y - 2, 9, 4, name, GREY, 9.5)
        sheet.arrow((22.8, y), (28, y))
        sheet.box(
            28.2, y - 2, 10, 4, stack, BLUE if stack == "encoder" else ORANGE, 9.5
        )
    sheet.arrow((33.2, 5), (33.2, 8.8), colour=ORANGE, width=1.8)
    sheet.text(34.6, 6.9, "memory  (B, Ls, d_model)", 8.5, ORANGE, align="left")
    sheet.arrow((38.2, 11), (43.4, 11))
    sheet.box(43.6, 9, 9, 4, "output", GREY, 9.5)
    sheet.arrow((52.6, 11), (55, 11))
    sheet.text(55.4, 11, "logits  (B, Lt, tgt_vocab)", 9, align="left")
    return sheet, (
        "src, (B, Ls), goes through source and encoder and becomes the memory, (B, Ls, "
        "d_model). tgt, (B, Lt), goes through target into the decoder, which the "
        "memory enters as well; output makes logits (B, Lt, tgt_vocab) of the result."
    )
