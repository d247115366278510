"""The chat model from text to text, with one part lit, and its residual stream."""

from __future__ import annotations

from functools import partial

from matplotlib.patches import Circle
from pen import BLUE, CLEAR, GREEN, GREY, INK, ORANGE, PINK, Sheet, mixed

LEFT, STEP = 12.2, 6.5  # of the columns, one for each piece
RIGHT = LEFT + 5 * STEP
BUS = 12.0  # the middle of the residual stream
SIZE = 11.2  # points: 11 pixels on a telephone
# What SmolLM2 makes of it: pieces, ids, and the next token with 77 percent.
PIECES = ("The", "capital", "of", "France", "is")
IDS = (504, 3575, 282, 4649, 314)

# The part that a unit builds, in words.
PARTS = {
    "pieces": "the row of pieces",
    "embed": "the row of vectors",
    "attention": "attention",
    "heads": "the heads around attention",
    "add_and_norm": "add & norm and the feed-forward network",
    "decoding": "the row of the next token",
    "whole": "every part",
}


class Machine(Sheet):
    """A sheet on which parts are lit or grey."""

    def __init__(self, lit: str):
        super().__init__(48.4, 44)
        self.lit = lit

    def is_lit(self, part: str) -> bool:
        """Whether a part is in today's colour."""
        return self.lit in (part, "whole")

    def part(
        self, part: str, x: float, y: float, width: float, height: float, words: str
    ) -> None:
        """A box of a part."""
        is_lit = self.is_lit(part)
        self.box(
            x, y, width, height, colour=BLUE if is_lit else GREY,
            fill=mixed(BLUE, 0.3) if is_lit else CLEAR,
        )  # fmt: skip
        weight = "bold" if is_lit else "normal"
        self.text(x + width / 2, y + height / 2, words, SIZE, weight=weight)

    def name(self, y: float, words: str, unit: str = "", part: str = "") -> None:
        """The name of a row, and the unit that builds it."""
        is_lit = self.is_lit(part)
        weight, colour = ("bold", INK) if is_lit else ("normal", GREY)
        offset = 1.1 if unit else 0
        self.text(0.3, y - offset, words, SIZE, INK, "left", weight)
        self.text(0.3, y + offset, unit, SIZE, colour, "left", weight)

    def down(self, start: float, end: float) -> None:
        """An arrow in each column."""
        for n in range(5):
            x = LEFT + STEP * (n + 0.5)
            self.arrow((x, start), (x, end), colour=GREY, width=1)


def machine(lit: str) -> tuple[Sheet, str]:
    """From text to text; ``lit`` is a key of PARTS."""
    sheet = Machine(lit)
    sheet.name(1.7, "text")
    sheet.box(LEFT, 0.3, 5 * STEP, 2.8, "The capital of France is", GREY, SIZE)
    sheet.down(3.2, 4.4)
    sheet.name(6.8, "pieces, ids", "unit 6", "pieces")
    for n, (piece, index) in enumerate(zip(PIECES, IDS, strict=True)):
        x = LEFT + STEP * n + 0.2
        sheet.part("pieces", x, 4.5, STEP - 0.4, 2.6, "")
        sheet.text(x + STEP / 2 - 0.2, 5.8, piece, SIZE)
        sheet.text(x + STEP / 2 - 0.2, 8.4, str(index), SIZE, GREY)
    sheet.down(9.6, 10.8)
    sheet.name(12.1, "vectors", "unit 1", "embed")
    for n in range(5):
        sheet.part("embed", LEFT + STEP * n + 0.2, 10.9, STEP - 0.4, 2.4, "")
        for m in range(1, 4, 2):  # not where the arrows are
            x = LEFT + STEP * n + 0.2 + m * (STEP - 0.4) / 4
            sheet.line((x, 11), (x, 13.2), colour=GREY, width=0.8)
    sheet.down(13.4, 15.9)
    _block(sheet)
    sheet.down(35, 36.2)
    sheet.name(37.6, "next token", "unit 5", "decoding")
    sheet.box(LEFT, 36.3, 4 * STEP - 0.9, 2.6, "logits → probabilities", GREY, SIZE)
    sheet.part("decoding", LEFT + 4 * STEP - 0.5, 36.3, STEP + 0.5, 2.6, "Paris")
    sheet.name(42.2, "text")
    sheet.box(LEFT, 40.8, 5 * STEP, 2.8, "The capital of France is Paris", GREY, SIZE)
    x = LEFT + 4.5 * STEP
    sheet.arrow((x, 39), (x, 40.7), colour=GREY, width=1)
    again = ((RIGHT, 42.2), (46, 42.2), (46, 1.7), (RIGHT + 0.1, 1.7))
    sheet.arrow(*again, colour=INK, width=1.3)
    sheet.axes.text(47.4, 22, "append, again", fontsize=SIZE, color=INK, rotation=270,
                    ha="center", va="center")  # fmt: skip
    return sheet, (
        "The chat model from text to text. The text 'The capital of France is' is "
        "split into five pieces with their ids (unit 6); each becomes a vector "
        "(unit 1). Thirty blocks follow, each with attention (unit 2) in nine heads "
        "(unit 3), add & norm, a feed-forward network, and add & norm again (unit 4). "
        "Logits become probabilities, and the most probable token, Paris, is written "
        "(unit 5). It is appended to the text, and everything begins again. "
        f"Lit today: {PARTS[lit]}."
    )


def _block(sheet: Machine) -> None:
    """One of the thirty blocks: attention in heads, feed-forward, both with norms."""
    left, width = LEFT + 0.6, 5 * STEP - 1.2
    sheet.box(LEFT - 0.4, 14.3, 5 * STEP + 0.8, 20.6, dashed=True)
    sheet.name(15.7, "30 blocks")
    sheet.name(20.2, "attention", "unit 2", "attention")
    sheet.part("heads", left, 16, width, 7.2, "")
    weight = "bold" if sheet.is_lit("heads") else "normal"
    sheet.text(left + width / 2, 17.2, "9 heads · unit 3", SIZE, weight=weight)
    sheet.part("attention", left + 0.7, 18.3, width - 1.4, 4.3, "")
    for n in range(5):
        x, last = LEFT + STEP * (n + 0.5), LEFT + STEP * 4.5
        if n < 4:
            sheet.arrow((x, 21.7), (last, 21.4), curve=-0.2, colour=GREY, width=1)
        sheet.axes.add_patch(Circle((x, 21.7), 0.45, color=INK, zorder=4))
    sheet.down(23.3, 24.3)
    sheet.name(26.8, "add & norm", "unit 4", "add_and_norm")
    sheet.part("add_and_norm", left, 24.4, width, 2.6, "add & norm")
    sheet.down(27.1, 28)
    sheet.part("add_and_norm", left, 28.1, width, 2.6, "feed-forward")
    sheet.down(30.8, 31.7)
    sheet.part("add_and_norm", left, 31.8, width, 2.6, "add & norm")


def residual_stream() -> tuple[Sheet, str]:
    """The stream as a bus: sublayers read from it, and add to it."""
    sheet = Sheet(46, 37)
    sheet.text(BUS, 1.2, "vectors", SIZE)
    sheet.box(BUS - 1.7, 2.6, 3.4, 30, colour=BLUE, fill=mixed(BLUE, 0.3))
    for block, y in (("block 1", 3.2), ("block 30", 19)):
        sheet.box(BUS - 2.6, y, 34.4, 13, dashed=True)
        sheet.text(0.3, y + 6.5, block, SIZE, align="left")
        _write(sheet, y + 2.1, "attention", ORANGE)
        _write(sheet, y + 8, "feed-forward", GREEN)
    sheet.text(0.3, 17.6, "28 more", SIZE, GREY, "left")
    sheet.arrow((BUS, 32.7), (BUS, 34.4), colour=BLUE, width=2.2)
    sheet.text(BUS, 35.6, "norm, then logits", SIZE)
    sheet.text(BUS + 2.6, 33.4, "= vectors + 60 outputs", SIZE, GREY, "left")
    return sheet, (
        "The residual stream as one bus from top to bottom. The vectors of the text "
        "enter it. In each of 30 blocks, attention and then the feed-forward network "
        "read from the bus through a norm, and what each returns is added to the bus. "
        "Nothing else ever changes it, so at its end it is the sum of the vectors and "
        "60 outputs; a norm and the logits follow."
    )


def _write(sheet: Sheet, y: float, words: str, colour: str) -> None:
    """A sublayer beside the bus: a branch leaves at y, its output is added below."""
    sheet.arrow((BUS + 1.8, y), (BUS + 5, y))
    sheet.box(BUS + 5.1, y - 1.4, 7, 2.8, "norm", PINK, SIZE)
    sheet.arrow((BUS + 12.2, y), (BUS + 14.9, y))
    sheet.box(BUS + 15, y - 1.4, 14, 2.8, words, colour, SIZE)
    sheet.arrow((BUS + 22, y + 1.5), (BUS + 22, y + 3.3), (BUS + 1.4, y + 3.3))
    sheet.axes.add_patch(
        Circle((BUS, y + 3.3), 1.2, fill=False, edgecolor=INK, linewidth=1.3, zorder=4)
    )
    sheet.text(BUS, y + 3.3, "+", 12, weight="bold")


MACHINES = {f"machine_{part}": partial(machine, part) for part in PARTS}
