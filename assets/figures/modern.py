"""What has changed since 2017: the layer of three ages, shared keys, the block."""

from __future__ import annotations

from pen import BLUE, GREEN, GREY, INK, ORANGE, PINK, Sheet

# A column for each age, from below: what a box says, and whether it is new there. "+"
# is a sum with the residual stream, which begins below the last "branch".
_SAME, _NEW, _PLUS = GREY, ORANGE, "+"
_AGES = (
    ("2017", "Vaswani et al.", (
        ("embedding + sines", _SAME), "branch",
        ("multi-head attention", _SAME), _PLUS,
        ("LayerNorm", _SAME), "branch",
        ("feed-forward, ReLU\nwith biases", _SAME), _PLUS, ("LayerNorm", _SAME),
    ), "linear"),
    ("2023", "LLaMA", (
        ("embedding", _NEW), "branch",
        ("RMSNorm", _NEW), ("multi-head attention\nrotary", _NEW), _PLUS,
        "branch",
        ("RMSNorm", _NEW), ("SwiGLU\nno biases", _NEW), _PLUS,
    ), "RMSNorm, linear"),
    ("2025/26", "Qwen3, Gemma 3, and others", (
        ("embedding", _SAME), "branch",
        ("RMSNorm here, or\nafter the branch", _NEW),
        ("grouped or latent heads\nQK-norm, windows", _NEW), _PLUS,
        "branch", ("RMSNorm here, or\nafter the branch", _NEW),
        ("SwiGLU, GeGLU, or\na mixture of experts", _NEW), _PLUS,
    ), "RMSNorm, linear"),
)  # fmt: skip


def three_ages() -> tuple[Sheet, str]:
    """A layer of 2017, of LLaMA and of 2025/26, with what is new in each."""
    sheet, told = Sheet(78, 60), []
    for column, (age, name, parts, last) in enumerate(_AGES):
        x, y, start = 4.0 + 25.2 * column, 54.0, 0.0
        sheet.text(x, 1.6, age, 12, align="left", weight="bold")
        sheet.text(x, 4.4, name, 8.5, GREY, align="left")
        new: list[str] = []
        said: set[str] = set()
        for part in parts:
            if part == "branch":
                start = y + 1.1
            elif part == _PLUS:
                sheet.arrow((x + 9.5, y + 2.2), (x + 9.5, y + 0.6))
                sheet.box(x + 8.4, y - 1.6, 2.2, 2.2, "+", INK, 10)
                sheet.arrow((x + 9.5, start), (x - 1.8, start), (x - 1.8, y - 0.5),
                            (x + 8.2, y - 0.5), width=1.1)  # fmt: skip
                y -= 4.2
            else:
                words, colour = part
                high = 5.2 if "\n" in words else 3.6
                if y < 54:
                    sheet.arrow((x + 9.5, y + 2.2), (x + 9.5, y + 0.1))
                sheet.box(x, y - high, 19, high, words, colour, 9)
                y -= high + 2.2
                if colour == _NEW and words not in said:
                    said.add(words)
                    new.append(words.replace("or\n", "or ").replace("\n", ", "))
        sheet.arrow((x + 9.5, y + 2.2), (x + 9.5, y + 0.1))
        changed = column == 1
        sheet.box(x, y - 3.6, 19, 3.6, last, _NEW if changed else _SAME, 9)
        sheet.text(x + 19.6, 30, "× N", 8.5, GREY, align="left")
        first = "LayerNorm after each sum, added sines, ReLU with biases"
        news = f"new are {'; '.join(new)}" if new else first
        told.append(f"{age}, {name}: {news}")
    legend = "orange: changed since the column to its left"
    sheet.text(4, 58.4, legend, 9, ORANGE, align="left")
    return sheet, f"A layer of three ages side by side. {'. '.join(told)}."


def shared_keys() -> tuple[Sheet, str]:
    """Heads of queries that share a head of keys and values."""
    sheet = Sheet(72, 15)
    for column, (name, groups) in enumerate((("MHA, g = 4", 4), ("GQA, g = 2", 2),
                                             ("MQA, g = 1", 1))):  # fmt: skip
        x = 1 + 25 * column
        sheet.text(x, 1.2, name, 10, align="left", weight="bold")
        wide = 20 / groups
        for key in range(groups):
            sheet.box(
                x + wide * (key + 0.5) - 2.1, 10.4, 4.2, 3.6, f"k{key}", ORANGE, 9
            )
        for query in range(4):
            sheet.box(x + 5 * query + 0.4, 3.4, 4.2, 3.6, f"q{query}", BLUE, 9)
            key = query * groups // 4
            sheet.arrow((x + 5 * query + 2.5, 7), (x + wide * (key + 0.5), 10.2))
    return sheet, (
        "Four heads of queries. MHA, g = 4: each has a head of keys of its own. GQA, "
        "g = 2: queries 0 and 1 share key head 0, queries 2 and 3 key head 1. MQA, g = "
        "1: all four share key head 0."
    )


def block() -> tuple[Sheet, str]:
    """The whole model from left to right, with one of its blocks."""
    sheet, y = Sheet(76, 14), 4.0
    sheet.text(1, y, "ids", 9.5, align="left")
    sheet.arrow((4, y), (5.8, y))
    sheet.box(6, y - 2, 9.4, 4, "embedding", GREY, 9)
    # The residual stream, with gaps where the sums stand.
    for left, right in ((15.4, 34.5), (36.7, 53.5), (55.7, 58.4)):
        sheet.arrow((left, y), (right, y), width=2.0)
    sheet.box(16.6, 1, 40.2, 12.4, "", GREY, dashed=True)
    sheet.text(56, 12.4, "× num_layers", 8.5, GREY, align="right")
    for start, norm, name, colour in ((18, "norm1", "attention", BLUE),
                                      (37, "norm2", "SwiGLU", GREEN)):  # fmt: skip
        low = 9.6
        sheet.arrow((start, y), (start, low), (start + 1.6, low))
        sheet.box(start + 1.8, low - 1.8, 5.6, 3.6, norm, PINK, 8.5)
        sheet.arrow((start + 7.4, low), (start + 8.6, low))
        sheet.box(start + 8.8, low - 1.8, 7.4, 3.6, name, colour, 8.5)
        end = start + 17.6
        sheet.arrow((start + 16.2, low), (end, low), (end, y + 1.2))
        sheet.box(end - 1.1, y - 1.1, 2.2, 2.2, "+", INK, 10)
    sheet.box(58.6, y - 2, 5.6, 4, "norm", PINK, 9)
    sheet.arrow((64.2, y), (65.8, y))
    sheet.box(66, y - 2, 4.2, 4, "Eᵀ", GREY, 9)
    sheet.arrow((70.2, y), (71.6, y))
    sheet.text(72, y, "logits", 9, align="left")
    sheet.text(68, y + 4, "E: the embedding's\nvectors", 8.5, GREY)
    return sheet, (
        "From ids through the embedding into num_layers blocks. In a block, a branch "
        "goes through norm1 and attention and is added to the residual stream, then "
        "another through norm2 and SwiGLU. After the blocks a norm, and the "
        "embedding's vectors turn the result into logits."
    )
