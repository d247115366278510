"""Teacher forcing and generation, beam search, and the bottleneck before attention."""

from __future__ import annotations

from pen import BLUE, CLEAR, GREEN, GREY, INK, ORANGE, PINK, SHADE, Sheet


def teacher_forcing() -> tuple[Sheet, str]:
    """Left: the right tokens go in, all at once. Right: its own, one by one."""
    sheet = Sheet(92, 34)
    sheet.text(21, 2.2, "training: teacher forcing", 11, weight="bold")
    sheet.text(68.5, 2.2, "use: generation", 11, weight="bold")
    sheet.line((44.5, 1), (44.5, 33), colour=SHADE, width=2)
    shown, wanted = ("BOS", "9", "5", "7"), ("9", "5", "7", "EOS")
    _row(sheet, 6, shown, wanted, "labels: what it should say", GREEN)
    sheet.text(21, 31.6, "input: the right tokens, all in one go", 9)
    for i, (_, said) in enumerate(zip(shown, wanted, strict=True)):
        x = 47.5 + 11 * i
        sheet.box(x, 25.2, 7.4, 4.2, shown[i], GREY if i == 0 else ORANGE, 10)
        sheet.arrow((x + 3.7, 25.2), (x + 3.7, 20.4))
        sheet.box(x - 0.6, 14.2, 8.6, 6.2, f"run {i + 1}", BLUE, 9.5)
        sheet.arrow((x + 3.7, 14.2), (x + 3.7, 11.8))
        sheet.box(x, 7.4, 7.4, 4.2, said, ORANGE, 10)
        if i < 3:
            bend = x + 9.3
            sheet.arrow(
                (x + 7.4, 9.5),
                (bend, 9.5),
                (bend, 27.3),
                (x + 10.9, 27.3),
                colour=ORANGE,
            )
    sheet.text(68.5, 5.4, "what it says comes back as input, right or wrong", 9)
    sheet.text(68.5, 31.6, "run 4 reads all four: BOS 9 5 7", 9)
    return sheet, (
        "Left, training: the decoder runs once. It reads BOS 9 5 7, the right tokens, "
        "and should say 9 5 7 EOS. Right, use: the decoder runs four times. It reads "
        "BOS and says 9; the 9 comes back as input and it says 5, then 7, then EOS. "
        "What it says comes back, right or wrong."
    )


def _row(
    sheet: Sheet, x: float, below: tuple, above: tuple, title: str, colour: str
) -> None:
    sheet.box(x - 3, 14.2, 36, 6.2, "the decoder, one run (causal mask)", BLUE, 9.5)
    for i, (shown, wanted) in enumerate(zip(below, above, strict=True)):
        left = x - 2 + 8.8 * i
        sheet.box(left, 25.2, 7.4, 4.2, shown, GREY if i == 0 else colour, 10)
        sheet.arrow((left + 3.7, 25.2), (left + 3.7, 20.6))
        sheet.arrow((left + 3.7, 14.2), (left + 3.7, 11.8))
        sheet.box(left, 7.4, 7.4, 4.2, wanted, colour, 10)
    sheet.text(21, 5.4, title, 9)


# Two steps of a search with k = 2: (name, log probability of the whole prefix, parent).
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
    sheet = Sheet(92, 44)
    for x, title in ((13, "step 1"), (39, "step 2"), (66, "step 3")):
        sheet.text(x + 5.5, 2, title, 10.5, weight="bold")
    sheet.box(0.8, 19, 7, 4.4, "BOS\n0", INK, 9)
    tops = [5 + 9.4 * i for i in range(4)]
    _fan(sheet, (7.8, 21.2), 13, tops, _FIRST, live={0, 1})
    seconds = [[4 + 6.4 * i for i in range(3)], [24 + 6.4 * i for i in range(3)]]
    for parent, group in enumerate(_SECOND):
        _fan(sheet, (24, tops[parent] + 2.2), 39, seconds[parent], group, live={0})
    for parent, group in enumerate(_THIRD):
        _fan(
            sheet, (50, seconds[parent][0] + 2.2), 66, seconds[parent], group, live={0}
        )
    sheet.text(
        85.5, 21.5, "per token, live\nstill beats ended:\nthe search goes on", 8.8
    )
    legend = (
        "blue: live, the k = 2 best of a step, over all prefixes.   "
        "pink: ended, the best so far is remembered.   grey: dropped"
    )
    sheet.text(46, 43, legend, 8.8)
    sheet.text(84.5, 12.4, "-1.9 / 3\n= -0.63", 8.8, PINK)
    sheet.text(84.5, 32.6, "-2.0 / 3\n= -0.67", 8.8, PINK)
    sheet.text(84.5, 6.2, "-1.5 / 3\n= -0.50", 8.8, BLUE)
    return sheet, (
        'Three steps of a beam search with k = 2. From BOS, "the" with -0.5 and "a" '
        'with -1.2 stay live; "cat" with -2.6 is dropped, and EOS with -4.9 has ended. '
        "In each step the two best continuations of both prefixes together stay live. "
        "After step 3 the best ended hypothesis has -1.9 / 3 = -0.63 and the best live "
        "one -1.5 / 3 = -0.50, so the search goes on."
    )


def _fan(
    sheet: Sheet, start: tuple, x: float, tops: list, group: tuple, live: set[int]
) -> None:
    """The continuations of a prefix, each with its score."""
    for index, ((word, score), top) in enumerate(zip(group, tops, strict=True)):
        alive = index in live
        colour = BLUE if alive else PINK if word == "EOS" else GREY
        fill = CLEAR if colour == GREY else None
        width = 1.8 if alive else 0.9
        end = (x - 0.1, top + 2.2)
        sheet.arrow(start, end, colour=colour, width=width, dashed=not alive)
        sheet.box(x, top, 11, 4.4, f"{word}   {score:.1f}", colour, 9, fill=fill)


def bottleneck() -> tuple[Sheet, str]:
    """Above: everything through one vector. Below: every word stays within reach."""
    sheet = Sheet(92, 38)
    words, written = ("3", "1", "4", "1", "5"), ("5", "1", "4", "1", "3")
    for y, title in ((8, "without attention"), (28, "with attention")):
        sheet.text(1, y - 6, title, 10.5, align="left", weight="bold")
        for i, word in enumerate(words):
            x = 3 + 8 * i
            sheet.text(x + 2.6, y + 8.4, word, 11)
            sheet.arrow((x + 2.6, y + 7), (x + 2.6, y + 5.2))
            sheet.box(x, y, 5.2, 5, "", BLUE)
            if i < 4:
                sheet.arrow((x + 5.2, y + 2.5), (x + 7.8, y + 2.5))
        for i, word in enumerate(written):
            x = 53 + 8 * i
            sheet.box(x, y, 5.2, 5, "", ORANGE)
            sheet.arrow((x + 2.6, y + 5.2), (x + 2.6, y + 7))
            sheet.text(x + 2.6, y + 8.4, word, 11)
            if i < 4:
                sheet.arrow((x + 5.2, y + 2.5), (x + 7.8, y + 2.5))
    sheet.arrow((40.2, 10.5), (42.6, 10.5))
    sheet.box(42.8, 7.2, 5.4, 6.6, "", PINK)
    sheet.text(45.5, 5.2, "one vector\nfor everything", 8.8, PINK)
    sheet.arrow((48.2, 10.5), (52.8, 10.5))
    sheet.arrow((40.2, 30.5), (52.8, 30.5))
    for i in range(5):
        strong = i == 3
        sheet.arrow((5.6 + 8 * i, 27.8), (63.4, 27.8), curve=-0.22,
                    colour=PINK, width=2.4 if strong else 0.7,
                    dashed=not strong)  # fmt: skip
    sheet.text(76, 23.6, "each step looks back at all words", 8.8, PINK)
    return sheet, (
        "Above, without attention: five boxes read 3 1 4 1 5 from left to right, the "
        "last one hands a single vector to five boxes that write 5 1 4 1 3. Below, "
        "with attention: the same boxes, and the second box that writes has arrows "
        "from all five boxes that read, a bold one from the fourth."
    )
