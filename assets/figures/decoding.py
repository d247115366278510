"""Teacher forcing and generation, beam search, and the bottleneck before attention."""

from __future__ import annotations

from pen import BLUE, CLEAR, GREEN, GREY, INK, ORANGE, PINK, SHADE, Sheet

from autograder.figures import style


def teacher_forcing() -> tuple[Sheet, str]:
    """Left: the right tokens go in, all at once. Right: its own, one by one."""
    sheet = Sheet(76, 34)
    sheet.text(16.5, 2.2, "training: teacher forcing", 10.5, weight="bold")
    sheet.text(56, 2.2, "use: generation", 10.5, weight="bold")
    sheet.line((35, 1), (35, 33), colour=SHADE, width=2)
    shown, wanted = ("BOS", "9", "5", "7"), ("9", "5", "7", "EOS")
    _row(sheet, shown, wanted, "labels: what it should say", GREEN)
    sheet.text(16.5, 31.6, "input: the right tokens, all in one go", 8.8)
    for i, (_, said) in enumerate(zip(shown, wanted, strict=True)):
        x = 38.2 + 9.6 * i
        sheet.box(x, 25.2, 6.4, 4.2, shown[i], GREY if i == 0 else ORANGE, 9.5)
        sheet.arrow((x + 3.2, 25.2), (x + 3.2, 20.4))
        sheet.box(x - 0.3, 14.2, 7, 6.2, f"run {i + 1}", BLUE, 9.5)
        sheet.arrow((x + 3.2, 14.2), (x + 3.2, 11.8))
        sheet.box(x, 7.4, 6.4, 4.2, said, ORANGE, 9.5)
        if i < 3:
            bend = x + 8
            sheet.arrow(
                (x + 6.4, 9.5),
                (bend, 9.5),
                (bend, 27.3),
                (x + 9.5, 27.3),
                colour=ORANGE,
            )
    sheet.text(56, 5.4, "what it says comes back as input, right or wrong", 8.8)
    sheet.text(56, 31.6, "run 4 reads all four: BOS 9 5 7", 8.8)
    return sheet, (
        "Left, training: the decoder runs once. It reads BOS 9 5 7, the right tokens, "
        "and should say 9 5 7 EOS. Right, use: the decoder runs four times. It reads "
        "BOS and says 9; the 9 comes back as input and it says 5, then 7, then EOS. "
        "What it says comes back, right or wrong."
    )


def _row(sheet: Sheet, below: tuple, above: tuple, title: str, colour: str) -> None:
    sheet.box(1, 14.2, 31, 6.2, "the decoder, one run (causal mask)", BLUE, 9.5)
    for i, (shown, wanted) in enumerate(zip(below, above, strict=True)):
        x = 1.9 + 7.6 * i
        sheet.box(x, 25.2, 6.4, 4.2, shown, GREY if i == 0 else colour, 9.5)
        sheet.arrow((x + 3.2, 25.2), (x + 3.2, 20.6))
        sheet.arrow((x + 3.2, 14.2), (x + 3.2, 11.8))
        sheet.box(x, 7.4, 6.4, 4.2, wanted, colour, 9.5)
    sheet.text(16.5, 5.4, title, 8.8)


# Three steps of a search with k = 2: (name, log probability of the whole prefix).
_FIRST = (("the", -0.5), ("a", -1.2), ("cat", -2.6), ("EOS", -4.9))
_SECOND = (
    (("cat", -1.1), ("dog", -1.8), ("EOS", -4.1)),
    (("cat", -1.6), ("dog", -3.0), ("EOS", -5.2)),
)
_THIRD = (
    (("sat", -1.5), ("EOS", -1.9), ("ran", -3.3)),
    (("sat", -2.9), ("EOS", -2.0), ("ran", -3.1)),
)


def beam_search() -> tuple[Sheet, str]:
    """Two prefixes stay alive; what ends is set aside."""
    sheet = Sheet(76, 50)
    for x, title in ((15.4, "step 1"), (37, "step 2"), (60.5, "step 3")):
        sheet.text(x, 1.6, title, 10.5, weight="bold")
    firsts = [7 + 10 * i for i in range(4)]
    groups = [[4 + 6.9 * i for i in range(3)], [25.5 + 6.9 * i for i in range(3)]]
    sheet.box(0.4, 20, 5.6, 4.4, "BOS", INK, 9.5)
    _fan(sheet, (6, 22.2), 9.8, firsts, _FIRST, live={0, 1})
    for parent, (tops, second, third) in enumerate(
        zip(groups, _SECOND, _THIRD, strict=True)
    ):
        _fan(sheet, (21, firsts[parent] + 2.2), 31.4, tops, second, live={0})
        _fan(sheet, (42.6, tops[0] + 2.2), 54.9, tops, third, live={0})
        for (word, score), top in zip(third, tops, strict=True):
            if word != "ran":  # what is dropped is compared with nothing
                per_token = f"{_signed(score)} / 3 = {_per_token(score)}"
                colour = PINK if word == "EOS" else BLUE
                sheet.text(60.5, top + 5.5, per_token, 8.5, colour)
    (_, best), (_, ended), _ = _THIRD[0]
    note = f"{_per_token(best)}\nbeats\n{_per_token(ended)}:\ngo on"
    top, bottom = groups[0][0] + 5.5, groups[0][1] + 5.5
    sheet.line((67, top), (68, top), (68, bottom), (67, bottom), width=1)
    sheet.text(68.8, (top + bottom) / 2, note, 8.8, align="left")
    for x, colour, meaning in (
        (1, BLUE, "kept: the k = 2 best of each step"),
        (32, PINK, "ended: the best is remembered"),
        (60.5, GREY, "dropped"),
    ):
        fill = CLEAR if colour == GREY else None
        sheet.box(x, 46.4, 2.6, 2.2, "", colour, fill=fill)
        sheet.text(x + 3.4, 47.5, meaning, 8.8, align="left")
    return sheet, (
        'Three steps of a beam search with k = 2. From BOS, "the" with −0.5 and "a" '
        'with −1.2 stay live; "cat" with −2.6 is dropped, and EOS with −4.9 has ended. '
        "In each step the two best continuations of both prefixes together stay live. "
        "After step 3 the best ended hypothesis has −1.9 / 3 = −0.63 and the best live "
        "one −1.5 / 3 = −0.50, so the search goes on."
    )


def _fan(
    sheet: Sheet, start: tuple, x: float, tops: list, group: tuple, live: set[int]
) -> None:
    """The continuations of a prefix, each with its score."""
    for index, ((word, score), top) in enumerate(zip(group, tops, strict=True)):
        alive = index in live
        colour = BLUE if alive else PINK if word == "EOS" else GREY
        fill = CLEAR if colour == GREY else None
        words = f"{word}  {_signed(score)}"
        width = 1.8 if alive else 0.9
        end = (x - 0.1, top + 2.2)
        sheet.arrow(start, end, colour=colour, width=width, dashed=not alive)
        sheet.box(x, top, 11.2, 4.4, words, colour, 9.5, fill=fill)


def _signed(score: float) -> str:
    return style.number(score, ".1f")


def _per_token(score: float) -> str:
    return style.number(score / 3, ".2f")


def bottleneck() -> tuple[Sheet, str]:
    """Above: everything through one vector. Below: every word stays within reach."""
    sheet = Sheet(76, 38)
    words, written = ("3", "1", "4", "1", "5"), ("5", "1", "4", "1", "3")
    for y, title in ((8, "without attention"), (28, "with attention")):
        sheet.text(1, y - 6, title, 10.5, align="left", weight="bold")
        for i, word in enumerate(words):
            x = 0.6 + 6.7 * i
            sheet.text(x + 2.3, y + 8.4, word, 11)
            sheet.arrow((x + 2.3, y + 7), (x + 2.3, y + 5.2))
            sheet.box(x, y, 4.6, 5, "", BLUE)
            if i < 4:
                sheet.arrow((x + 4.6, y + 2.5), (x + 6.6, y + 2.5))
        for i, word in enumerate(written):
            x = 43.4 + 6.7 * i
            sheet.box(x, y, 4.6, 5, "", ORANGE)
            sheet.arrow((x + 2.3, y + 5.2), (x + 2.3, y + 7))
            sheet.text(x + 2.3, y + 8.4, word, 11)
            if i < 4:
                sheet.arrow((x + 4.6, y + 2.5), (x + 6.6, y + 2.5))
    sheet.arrow((32, 10.5), (35, 10.5))
    sheet.box(35.2, 7.2, 5, 6.6, "", PINK)
    sheet.text(37.7, 5, "one vector\nfor everything", 8.8, PINK)
    sheet.arrow((40.2, 10.5), (43.2, 10.5))
    sheet.arrow((32, 30.5), (43.2, 30.5))
    for i in range(5):
        strong = i == 3
        sheet.arrow((2.9 + 6.7 * i, 27.8), (52.4, 27.8), curve=-0.22,
                    colour=PINK, width=2.4 if strong else 0.7,
                    dashed=not strong)  # fmt: skip
    sheet.text(62.5, 23.6, "each step looks back at all words", 8.8, PINK)
    return sheet, (
        "Above, without attention: five boxes read 3 1 4 1 5 from left to right, the "
        "last one hands a single vector to five boxes that write 5 1 4 1 3. Below, "
        "with attention: the same boxes, and the second box that writes has arrows "
        "from all five boxes that read, a bold one from the fourth."
    )
