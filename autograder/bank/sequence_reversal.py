"""Cases, wrong variants and right styles of unit 05, sequence reversal.

Nothing is trained here: functions meet scripted models, and the wrong variants of the
trained model are small modules that make the mistake on purpose.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn

from autograder.bank.vocabulary import Draw, Right, Setting, Task, Wrong
from autograder.student.exercise import Value

PAD, BOS, EOS, UNK, FIRST = 0, 1, 2, 3, 4
Inputs = dict[str, Value]


# --- inputs ---------------------------------------------------------------------------


def _drawing(count: int, longest: int, symbols: int):
    def inputs(draw: Draw) -> Inputs:
        numbers = {"count": count, "longest": longest, "symbols": symbols}
        numbers["seed"] = int(draw.ids(0, 10**6))
        return {name: torch.tensor(number) for name, number in numbers.items()}

    return inputs


def _sequences(draw: Draw, lengths: list[int], high: int = 14) -> list[list[int]]:
    """Random rows of the given lengths that differ from their own reversal."""
    rows = [draw.ids(FIRST, high, length).tolist() for length in lengths]
    for row in rows:
        if len(row) > 1 and row == row[::-1]:
            row[0] = FIRST + (row[0] - FIRST + 1) % (high - FIRST)
    return rows


def _text(*lengths: int, high: int = 14):
    def inputs(draw: Draw) -> Inputs:
        rows = _sequences(draw, list(lengths), high)
        return {"sequences": "; ".join(" ".join(map(str, row)) for row in rows)}

    return inputs


def _padded(rows: list[list[int]], width: int = 0) -> torch.Tensor:
    width = max([width, *map(len, rows)])
    return torch.tensor([row + [PAD] * (width - len(row)) for row in rows])


def _targets(draw: Draw, lengths: list[int], high: int = 14) -> torch.Tensor:
    return _padded([[BOS, *row, EOS] for row in _sequences(draw, lengths, high)])


def _target(*lengths: int, high: int = 14):
    return lambda draw: {"target": _targets(draw, list(lengths), high)}


def _scores(lengths: tuple[int, ...], vocabulary: int, scale: float = 3.0):
    """Logits and labels; labels hold every special token but PAD before they end."""

    def inputs(draw: Draw) -> Inputs:
        rows = [draw.ids(1, vocabulary, n).tolist() for n in lengths]
        max(rows, key=len)[: FIRST - 1] = range(1, FIRST)
        labels = _padded(rows)
        logits = draw.tensor(*labels.shape, vocabulary, scale=scale)
        return {"logits": logits, "labels": labels}

    return inputs


def _asked(warmup: int, steps: int, floor: float | None = None):
    """Some steps of each part of the schedule, the corners always."""

    def inputs(draw: Draw) -> Inputs:
        middle = draw.ids(warmup + 1, steps, 12).sort().values.tolist()
        early = draw.ids(0, warmup, 3).sort().values.tolist()
        corners = [warmup - 1, warmup, *middle, steps - 1, steps, steps + 1]
        made = {
            "warmup": torch.tensor(warmup), "steps": torch.tensor(steps),
            "asked": torch.tensor([0, *early, *corners, steps + steps // 2, 3 * steps]),
        }  # fmt: skip
        return made | ({} if floor is None else {"floor": torch.tensor(floor)})

    return inputs


def _tables(draw: Draw, vocabulary: int, scale: float) -> Inputs:
    return {
        "table": draw.tensor(vocabulary, vocabulary, scale=scale),
        "mix": draw.tensor(vocabulary, vocabulary, scale=scale),
    }


def _batches(draw: Draw, count: int, lengths: tuple[int, ...], high: int) -> Inputs:
    """Batches whose rows turn round from one to the next; sources are not reversals."""
    sources, targets = [], []
    for n in range(count):
        turned = [*lengths[n % len(lengths) :], *lengths[: n % len(lengths)]]
        sources.append(_padded([[*r, EOS] for r in _sequences(draw, turned, high)]))
        targets.append(_targets(draw, turned, high))
    return {"source": torch.stack(sources), "target": torch.stack(targets)}


def _steps(
    count: int, lengths: tuple[int, ...], rate: float, scale: float,
    max_norm: float | None = None,
):  # fmt: skip
    def inputs(draw: Draw) -> Inputs:
        made = _tables(draw, 9, scale) | _batches(draw, count, lengths, 9)
        made["rate"] = torch.tensor(rate)
        return made | ({} if max_norm is None else {"max_norm": torch.tensor(max_norm)})

    return inputs


def _one_token(draw: Draw) -> Inputs:
    """One token again and again, and large scores: a gradient longer than 1."""
    token = FIRST + int(draw.ids(0, 4))
    other = token + 1
    tables = _tables(draw, 9, 1.0)
    tables["table"][[BOS, token], -1] = 8.0  # sure of the last one
    source = _padded([[token] * 3 + [EOS], [token] * 5 + [EOS]])
    target = _padded([[BOS] + [token] * 6 + [EOS], [BOS] + [token] * 3 + [other, EOS]])
    return tables | {
        "source": torch.stack([source] * 2), "target": torch.stack([target] * 2),
        "rate": torch.tensor(1.0),
    }  # fmt: skip


def _training(steps: int, warmup: int, rate: float, lengths: tuple[int, ...]):
    def inputs(draw: Draw) -> Inputs:
        made = _tables(draw, 9, 1.0) | _batches(draw, steps + 3, lengths, 9)
        numbers = {"steps": steps, "warmup": warmup, "rate": rate}
        return made | {name: torch.tensor(number) for name, number in numbers.items()}

    return inputs


def _lines(
    ends: tuple[int, ...], max_len: int, vocabulary: int, training: bool, extra: int = 3
):
    """A model's lines, with EOS at the given places (or none); after it, more tokens."""

    def inputs(draw: Draw) -> Inputs:
        rows, width = len(ends), max_len + extra
        source = draw.ids(FIRST, vocabulary - 1, rows, 4)
        source[:, 0] = FIRST + torch.arange(rows)  # all rows differ
        lines = draw.ids(FIRST, vocabulary - 1, rows, width)
        for row, end in zip(lines, ends, strict=True):
            if end < width:
                row[end] = EOS
                row[end + 2 :: 3] = EOS
        return {
            "source": source, "lines": lines, "max_len": torch.tensor(max_len),
            "noise": draw.tensor(width + 2, vocabulary, scale=1.0),
            "training": torch.tensor(training),
        }  # fmt: skip

    return inputs


_KINDS = ("right", "one token wrong", "swapped", "too short", "too long", "unfinished")


def _rows_to_judge(rows: int, narrow: int = 0, wide: int = 0):
    """Labels 9 wide, and rows of all kinds decoded in fewer or more columns.

    The share of right rows is not that of right columns.
    """
    width = 9 - narrow + wide

    def inputs(draw: Draw) -> Inputs:
        kinds = [_KINDS[int(i)] for i in draw.ids(0, len(_KINDS), rows - 8)]
        labels, decoded = [], []
        for kind in [*_KINDS, "right", "unfinished", *kinds]:
            size = 8 if kind == "unfinished" else 3 + int(draw.ids(0, 3 - narrow))
            row = draw.ids(FIRST, 14, size).tolist()
            row[1] = FIRST + (row[0] - FIRST + 1) % 10  # so that swapping tells
            labels.append([*row, EOS])
            decoded.append(_written(kind, row, width))
        order = torch.argsort(draw.tensor(rows, scale=500.0))
        whole = max(width, 9)
        same = (_padded(decoded, whole) == _padded(labels, whole)).double()
        if same.amin(0).mean() == same.amin(1).mean():
            return inputs(draw)
        return {
            "decoded": _padded(decoded, width)[order],
            "labels": _padded(labels, 9)[order],
        }

    return inputs


def _written(kind: str, row: list[int], width: int) -> list[int]:
    """A decoded row of one kind; only "right" is right."""
    other = FIRST + (row[-1] - FIRST + 3) % 10
    return {
        "right": [*row, EOS],
        "one token wrong": [*row[:-1], other, EOS],
        "swapped": [row[1], row[0], *row[2:], EOS],
        "too short": [*row[:-1], EOS],
        "too long": [*row, other, EOS],
        "unfinished": [*row, *[other] * width][:width],
    }[kind]


def _map(lengths: tuple[int, ...], width: int, chance: float):
    """Weights whose largest entry lies on the anti-diagonal with the given chance.

    Along the other axis the largest ones lie there a different number of times.
    """

    def inputs(draw: Draw) -> Inputs:
        sizes = torch.tensor(lengths)
        order = torch.argsort(draw.tensor(len(lengths), scale=500.0))
        sizes = sizes[order]
        steps = torch.arange(width)
        anti = (sizes[:, None] - 1 - steps) % width  # (B, Lt), wraps after the end
        real = steps < sizes[:, None]  # (B, Lt)
        while True:
            elsewhere = draw.ids(0, width + 1, len(lengths), width)
            hit = draw.flags(len(lengths), width, chance=chance)
            hit[0, 0], hit[1, 1] = True, False
            top = torch.where(hit, anti, elsewhere)
            scores = draw.tensor(len(lengths), width, width + 1, scale=1.0)
            scores.scatter_(-1, top.unsqueeze(-1), 4.0)
            weights = scores.softmax(-1)  # (B, Lt, Ls)
            right = (weights.argmax(2) == anti)[real].sum()
            if right != (weights.argmax(1)[:, :width] == anti)[real].sum():
                return {"weights": weights, "lengths": sizes}

    return inputs


_WORDS = ("the", "The", "cat", "dog,", "dog", "sees", "a", "tree.", "and", "über", "it")


def _sentences(*sizes: int, gaps: tuple[str, ...] = (" ",)):
    def inputs(draw: Draw) -> Inputs:
        lines = []
        for size in sizes:
            words = [_WORDS[int(i)] for i in draw.ids(0, len(_WORDS), size)]
            line = words[0]
            for word in words[1:]:
                line += gaps[int(draw.ids(0, len(gaps)))] + word
            lines.append(line)
        lines[0] += " the cat The the"  # a word again, as it was and capitalised
        lines[-1] += " owl"  # a word that the first sentence does not have
        return {"sentences": "\n".join(lines)}

    return inputs


def _steps_with_cache(batch: int, length: int, d_model: int, heads: int):
    def inputs(draw: Draw) -> Inputs:
        shapes = {}
        for name in ("w_q", "w_k", "w_v", "w_o"):
            shapes |= {f"{name}.weight": (d_model, d_model), f"{name}.bias": (d_model,)}
        return draw.weights(**shapes) | {
            "x": draw.tensor(batch, length, d_model, scale=1.0),
            "other": draw.tensor(batch, length - 1, d_model, scale=1.0),
            "heads": torch.tensor(heads),
        }

    return inputs


# --- 5.1 random sequences -------------------------------------------------------------

RANDOM_SEQUENCES = Task(
    name="sequence_reversal/random_sequences",
    title="Random sequences",
    target="random_sequences",
    settings=(
        Setting(
            "few_symbols", "3000 sequences of up to 7 out of 5 symbols",
            _drawing(3000, 7, 5),
            "Each length from 1 to 7 and each id from 4 to 8 should be equally likely.",
        ),
        Setting(
            "many_symbols", "4000 sequences of up to 4 out of 9 symbols",
            _drawing(4000, 4, 9),
            "Symbols are drawn anew at each place, whatever their neighbours are.",
        ),
        Setting(
            "as_in_the_course", "3500 sequences of up to 10 out of 10 symbols",
            _drawing(3500, 10, 10),
            "Look at a few of your sequences. Could you tell them from dice?",
        ),
        Setting(
            "large_vocabulary", "4500 sequences of up to 3 out of 30 symbols",
            _drawing(4500, 3, 30),
            "The number of symbols is an argument.", hidden_only=True,
        ),
    ),
    wrong=(
        Wrong(
            "runs",
            says="Your sequences are runs: each symbol is followed by its successor. A "
            "model can learn \"count down\" from them, and nothing forces it to reverse.",
            asks="Which symbols can follow a 3 in your data, and which should?",
            edits=(
                ("rng.choices(ids, k=rng.randint(1, longest))",
                 "[FIRST + (s + i) % symbols for s in [rng.randrange(symbols)] "
                 "for i in range(rng.randint(1, longest))]"),
            ),
        ),
        Wrong(
            "from_zero",
            says="Your ids start at 0, so data tokens carry the ids of PAD, BOS and EOS.",
            asks="What would the loss do with a label 0? Where do symbols start?",
            edits=(("range(FIRST, FIRST + symbols)", "range(symbols)"),),
        ),
        Wrong(
            "from_one", like="from_zero",
            source="def random_sequences(count, rng, longest=10, symbols=10):\n"
            "    return [[rng.randint(0, symbols - 1) for _ in "
            "range(rng.randint(1, longest))] for _ in range(count)]\n",
        ),
        Wrong(
            "never_longest",
            says="The greatest length never occurs: `range` and `randrange` stop before "
            "their end, `randint` does not.",
            asks="Which numbers does `rng.randrange(1, 10)` give?",
            edits=(("rng.randint(1, longest)", "rng.randrange(1, max(longest, 2))"),),
        ),
        Wrong(
            "last_symbol_missing",
            says="The last symbol never occurs.",
            asks="How many numbers does `range(FIRST, FIRST + symbols - 1)` have?",
            edits=(("FIRST + symbols)\n", "FIRST + symbols - 1)\n"),),
        ),
        Wrong(
            "one_symbol_too_many",
            says="One id too many occurs: the one after the last symbol, for which a "
            "model of this vocabulary has no row.",
            asks="Does `randint` include its upper end?",
            edits=(("FIRST + symbols)\n", "FIRST + symbols + 1)\n"),),
        ),
        Wrong(
            "also_empty",
            says="Some of your sequences are empty.",
            asks="What is the smallest length that your draw of the length can give?",
            edits=(("randint(1, longest)", "randint(0, longest)"),),
        ),
        Wrong(
            "one_length",
            says="All your sequences have the same length.",
            asks="How often is the length drawn: once, or once per sequence?",
            source="def random_sequences(count, rng, longest=10, symbols=10):\n"
            "    ids, size = range(FIRST, FIRST + symbols), rng.randint(1, longest)\n"
            "    return [rng.choices(ids, k=size) for _ in range(count)]\n",
        ),
        Wrong(
            "always_longest",
            says="All your sequences have the greatest length. A model that sees only "
            "those will never learn where short ones end.",
            asks="Where do you draw a length?",
            edits=(("rng.randint(1, longest)", "longest"),),
        ),
        Wrong(
            "no_repeats",
            says="No symbol occurs twice in a sequence: `sample` draws without putting "
            "back, and there may be fewer symbols than places.",
            asks="How likely are two equal neighbours with a fair die, and with cards "
            "drawn from one deck?",
            edits=(("rng.choices(", "rng.sample("),),
        ),
        Wrong(
            "no_repeats_shuffled",
            says="No symbol occurs twice in a sequence: each one is a shuffled deck, cut "
            "to length.",
            asks="May `3 3 7` occur, and how often would a die show it?",
            source="def random_sequences(count, rng, longest=10, symbols=10):\n"
            "    rows = []\n"
            "    for _ in range(count):\n"
            "        deck = list(range(FIRST, FIRST + symbols))\n"
            "        rng.shuffle(deck)\n"
            "        rows.append(deck[: rng.randint(1, longest)])\n"
            "    return rows\n",
        ),
        Wrong(
            "sorted",
            says="Your sequences are sorted. Reversing them could also mean sorting the "
            "other way.",
            asks="Which other rule than reversal would explain your data?",
            edits=(("[rng.choices(ids, k=rng.randint(1, longest))",
                    "[sorted(rng.choices(ids, k=rng.randint(1, longest)))"),),
        ),
        Wrong(
            "one_symbol_each",
            says="Each of your sequences repeats one single symbol. Its reversal is "
            "itself.",
            asks="How often is a symbol drawn: once per sequence, or once per place?",
            edits=(("rng.choices(ids, k=rng.randint(1, longest))",
                    "[rng.choice(ids)] * rng.randint(1, longest)"),),
        ),
        Wrong(
            "one_for_all",
            says="All sequences are the same one: it was drawn once and repeated.",
            asks="What does `[row] * count` contain?",
            edits=(("[rng.choices(ids, k=rng.randint(1, longest)) for _ in range(count)]",
                    "[rng.choices(ids, k=rng.randint(1, longest))] * count"),),
        ),
        Wrong(
            "global_generator",
            says="Something is drawn from another generator than `rng`, so the same seed "
            "gives other data the next time.",
            asks="Which of your lines would still be random if `rng` were a loaded die?",
            source="def random_sequences(count, rng, longest=10, symbols=10):\n"
            "    return [[random.randrange(FIRST, FIRST + symbols) for _ in "
            "range(random.randint(1, longest))] for _ in range(count)]\n",
        ),
        Wrong(
            "torch_generator", like="global_generator",
            source="def random_sequences(count, rng, longest=10, symbols=10):\n"
            "    return [torch.randint(FIRST, FIRST + symbols, "
            "(rng.randint(1, longest),)).tolist() for _ in range(count)]\n",
        ),
        Wrong(
            "seeded_inside",
            says="Every call gives the same sequences: the generator is made, or seeded, "
            "inside the function. A training would see one batch again and again.",
            asks="What does the second call draw, if the first line seeds the generator?",
            source="def random_sequences(count, rng, longest=10, symbols=10):\n"
            "    rng = random.Random(0)\n"
            "    ids = range(FIRST, FIRST + symbols)\n"
            "    return [rng.choices(ids, k=rng.randint(1, longest)) "
            "for _ in range(count)]\n",
        ),
        Wrong(
            "ten_symbols",
            says="You always draw from ten symbols, whatever `symbols` says.",
            asks="Where does your code use the argument `symbols`?",
            edits=(("FIRST + symbols)\n", "FIRST + 10)\n"),),
        ),
        Wrong(
            "ten_long",
            says="Your sequences are up to ten long, whatever `longest` says.",
            asks="Where does your code use the argument `longest`?",
            edits=(("randint(1, longest)", "randint(1, 10)"),),
        ),
        Wrong(
            "long_ones_favoured",
            says="Long sequences are much more frequent than short ones.",
            asks="There are ten sequences of length 1 and a hundred of length 2. Should "
            "length 2 be ten times as likely here?",
            edits=(("rng.randint(1, longest)",
                    "max(rng.randint(1, longest), rng.randint(1, longest))"),),
        ),
        Wrong(
            "tensors",
            says="Your sequences are tensors; lists of Python integers are asked for.",
            asks="Why are lists the better choice while the lengths differ?",
            edits=(("[rng.choices(ids, k=rng.randint(1, longest))",
                    "[torch.tensor(rng.choices(ids, k=rng.randint(1, longest)))"),),
        ),
    ),
    right=(
        Right(
            "loops",
            source="def random_sequences(count, rng, longest=10, symbols=10):\n"
            "    rows = []\n"
            "    for _ in range(count):\n"
            "        row = []\n"
            "        for _ in range(rng.randint(1, longest)):\n"
            "            row.append(FIRST + rng.randrange(symbols))\n"
            "        rows.append(row)\n"
            "    return rows\n",
        ),
        Right(
            "with_random",
            source="def random_sequences(count, rng, longest=10, symbols=10):\n"
            "    return [[FIRST + int(rng.random() * symbols) for _ in "
            "range(1 + int(longest * rng.random()))] for _ in range(count)]\n",
        ),
        Right(
            "lengths_first",
            source="def random_sequences(count, rng, longest=10, symbols=10):\n"
            "    lengths = rng.choices(range(1, longest + 1), k=count)\n"
            "    return [[rng.choice(range(FIRST, FIRST + symbols)) for _ in range(n)] "
            "for n in lengths]\n",
        ),
        Right(
            "torch_from_rng",
            source="def random_sequences(count, rng, longest=10, symbols=10):\n"
            "    g = torch.Generator().manual_seed(rng.getrandbits(40))\n"
            "    lengths = torch.randint(1, longest + 1, (count,), generator=g).tolist()\n"
            "    return [torch.randint(FIRST, FIRST + symbols, (n,), generator=g).tolist() "
            "for n in lengths]\n",
        ),
    ),
    precise=False,
)  # fmt: skip


# --- 5.2 a batch ----------------------------------------------------------------------

_BATCH = """\
def make_batch(sequences):
    source = [{source} for ids in sequences]
    target = [{target} for ids in sequences]
    longest = max(map(len, source))
    width = max(map(len, target))
    return (
        torch.tensor([row + [PAD] * (longest - len(row)) for row in source]),
        torch.tensor([row + [PAD] * (width - len(row)) for row in target]),
    )
"""


def _batch(source: str = "[*ids, EOS]", target: str = "[BOS, *ids[::-1], EOS]") -> str:
    return _BATCH.format(source=source, target=target)


MAKE_BATCH = Task(
    name="sequence_reversal/make_batch",
    title="A batch of sources and targets",
    target="make_batch",
    settings=(
        Setting(
            "four", "four sequences of different lengths", _text(3, 6, 1, 4),
            "Write down source and target of the first sequence by hand.",
        ),
        Setting(
            "longest_first", "the longest sequence comes first", _text(7, 2, 5),
            "The longest row decides the width; the others are filled up at the end.",
        ),
        Setting(
            "one", "a batch of one sequence", _text(5),
            "A single sequence needs no padding at all.",
        ),
        Setting(
            "large_ids", "ids up to 99, equal lengths", _text(4, 4, high=100),
            "Only BOS, EOS and PAD may be added to the sequences.", hidden_only=True,
        ),
    ),
    wrong=(
        Wrong(
            "not_reversed",
            says="Your target repeats the sequence in the same order. That is copying.",
            asks="What should the decoder write for `7 5 9`?",
            source=_batch(target="[BOS, *ids, EOS]"),
        ),
        Wrong(
            "no_bos",
            says="Your targets do not begin with BOS. The decoder would have nothing to "
            "start from.",
            asks="What stands in the decoder's input before it has written anything?",
            source=_batch(target="[*ids[::-1], EOS]"),
        ),
        Wrong(
            "no_eos_in_target",
            says="Your targets do not end with EOS, so the model can never learn to stop.",
            asks="How will the decoder tell you that it is done?",
            source=_batch(target="[BOS, *ids[::-1]]"),
        ),
        Wrong(
            "no_eos_in_source",
            says="Your source rows lack EOS. It marks the place from which the decoder "
            "starts to read backwards.",
            asks="Compare your source with the picture above the exercise. What is "
            "missing?",
            source=_batch(source="list(ids)"),
        ),
        Wrong(
            "bos_in_source",
            says="Your source rows begin with BOS. Only the decoder needs a start.",
            asks="Who has to begin writing with nothing on the page: reader or writer?",
            source=_batch(source="[BOS, *ids, EOS]"),
        ),
        Wrong(
            "flipped_with_padding",
            says="You reversed rows that were padded already, so padding stands between "
            "BOS and the first symbol.",
            asks="In which order must padding and reversing happen?",
            source="def make_batch(sequences):\n"
            "    longest = max(map(len, sequences))\n"
            "    source = [[*s, EOS] + [PAD] * (longest - len(s)) for s in sequences]\n"
            "    target = [[BOS, *([*s] + [PAD] * (longest - len(s)))[::-1], EOS] "
            "for s in sequences]\n"
            "    return torch.tensor(source), torch.tensor(target)\n",
        ),
        Wrong(
            "flip_tensor",
            says="You flipped the whole padded source, EOS and padding included, and put "
            "BOS in front.",
            asks="Where do EOS and PAD stand in a row of yours, and where should they?",
            source="def make_batch(sequences):\n"
            "    longest = max(map(len, sequences)) + 1\n"
            "    source = torch.tensor([[*s, EOS] + [PAD] * (longest - len(s) - 1) "
            "for s in sequences])\n"
            "    start = torch.full((len(source), 1), BOS)\n"
            "    return source, torch.cat((start, source.flip(1)), dim=1)\n",
        ),
        Wrong(
            "eos_reversed",
            says="EOS was reversed together with the symbols: it now stands right behind "
            "BOS.",
            asks="When is EOS to be added: before or after the sequence is turned round?",
            source=_batch(target="[BOS, *[*ids, EOS][::-1]]"),
        ),
        Wrong(
            "bos_at_the_end",
            says="BOS and EOS have changed places in your targets.",
            asks="Which of the two begins a sentence?",
            source=_batch(target="[EOS, *ids[::-1], BOS]"),
        ),
        Wrong(
            "pad_as_bos",
            says="Your targets begin with PAD in place of BOS. The model masks PAD away, "
            "so its first position would see nothing.",
            asks="Which three jobs do the three special tokens have?",
            source=_batch(target="[PAD, *ids[::-1], EOS]"),
        ),
        Wrong(
            "eos_as_padding",
            says="Your rows are filled up with EOS instead of PAD. The loss would count "
            "them, and every row would end many times over.",
            asks="Which id means nothing at all?",
            source=_batch().replace("[PAD]", "[EOS]"),
        ),
        Wrong(
            "padding_in_front",
            says="Your padding stands in front of the rows; it belongs at their end.",
            asks="What is to be the first token of each target row?",
            source=_batch().replace("row + [PAD] * (longest - len(row))",
                                    "[PAD] * (longest - len(row)) + row")
            .replace("row + [PAD] * (width - len(row))",
                     "[PAD] * (width - len(row)) + row"),
        ),
        Wrong(
            "source_reversed",
            says="You reversed the source as well, so source and target agree again.",
            asks="Which of the two should be in the order of the sequence?",
            source=_batch(source="[*ids[::-1], EOS]"),
        ),
        Wrong(
            "wrong_one_reversed",
            says="You reversed the source and left the target as it was.",
            asks="What is read, and what is to be written?",
            source=_batch("[*ids[::-1], EOS]", "[BOS, *ids, EOS]"),
        ),
        Wrong(
            "in_place",
            says="`reverse()` turns the caller's own list round, and the caller's data "
            "with it.",
            asks="Which ways to reverse a list give a new one?",
            source="def make_batch(sequences):\n"
            "    source = [[*ids, EOS] for ids in sequences]\n"
            "    for ids in sequences:\n"
            "        ids.reverse()\n"
            "    target = [[BOS, *ids, EOS] for ids in sequences]\n"
            "    n = max(map(len, source))\n"
            "    return (torch.tensor([r + [PAD] * (n - len(r)) for r in source]),\n"
            "            torch.tensor([r + [PAD] * (n + 1 - len(r)) for r in target]))\n",
        ),
        Wrong(
            "eos_appended",
            says="Your function appends to the caller's own lists.",
            asks="What do the sequences look like after two calls?",
            source="def make_batch(sequences):\n"
            "    target = [[BOS, *ids[::-1], EOS] for ids in sequences]\n"
            "    n = max(map(len, sequences)) + 1\n"
            "    for ids in sequences:\n"
            "        ids.append(EOS)\n"
            "    return (torch.tensor([r + [PAD] * (n - len(r)) for r in sequences]),\n"
            "            torch.tensor([r + [PAD] * (n + 1 - len(r)) for r in target]))\n",
        ),
        Wrong(
            "sorted_down",
            says="Your targets are sorted from large to small: `sorted(..., "
            "reverse=True)` sorts.",
            asks="What should become of `3 9 1`?",
            source=_batch(target="[BOS, *sorted(ids, reverse=True), EOS]"),
        ),
        Wrong(
            "batch_reversed",
            says="You reversed the order of the sequences in the batch, not the order "
            "inside each.",
            asks="What does `sequences[::-1]` turn round?",
            source=_batch(target="[BOS, *ids, EOS]").replace(
                "EOS] for ids in sequences]\n    longest",
                "EOS] for ids in sequences[::-1]]\n    longest"),
        ),
        Wrong(
            "target_cut",
            says="Your target rows are as wide as your source rows, so the longest has "
            "lost its EOS.",
            asks="How many tokens has the longest target row, with BOS and EOS?",
            source=_batch().replace("for row in target]),",
                                    "for row in target])[:, :longest],"),
        ),
        Wrong(
            "fixed_width",
            says="Your rows are filled up to a fixed width, not to the longest of the "
            "batch.",
            asks="Where should the width come from?",
            source=_batch().replace("max(map(len, source))", "11")
            .replace("max(map(len, target))", "12"),
        ),
        Wrong(
            "swapped",
            says="Source and target are returned in the wrong order.",
            asks="Which of the two does the docstring name first?",
            source=_batch("[BOS, *ids[::-1], EOS]", "[*ids, EOS]"),
        ),
        Wrong(
            "floats",
            says="Your tensors hold floating-point numbers. Ids are integers, int64; an "
            "embedding would refuse anything else.",
            asks="What does `torch.zeros` give unless told otherwise?",
            edits=(
                ("for row in source]),", "for row in source]).float(),"),
                ("for row in target]),", "for row in target]).float(),"),
            ),
        ),
        Wrong(
            "int32",
            says="Your tensors hold int32. PyTorch's ids are int64 everywhere.",
            asks="Which integer type does `torch.tensor([1, 2])` give by itself?",
            edits=(
                ("for row in source]),", "for row in source]).int(),"),
                ("for row in target]),", "for row in target]).int(),"),
            ),
        ),
    ),
    right=(
        Right(
            "pad_sequence",
            source="def make_batch(sequences):\n"
            "    pad = lambda rows: nn.utils.rnn.pad_sequence(\n"
            "        [torch.tensor(r) for r in rows], batch_first=True)\n"
            "    return (pad([s + [EOS] for s in sequences]),\n"
            "            pad([[BOS] + s[::-1] + [EOS] for s in sequences]))\n",
        ),
        Right(
            "filled",
            source="def make_batch(sequences):\n"
            "    n = max(len(s) for s in sequences)\n"
            "    source = torch.full((len(sequences), n + 1), PAD)\n"
            "    target = torch.full((len(sequences), n + 2), PAD)\n"
            "    target[:, 0] = BOS\n"
            "    for i, s in enumerate(sequences):\n"
            "        source[i, :len(s)] = torch.tensor(s)\n"
            "        source[i, len(s)] = EOS\n"
            "        target[i, 1:len(s) + 1] = torch.tensor(s).flip(0)\n"
            "        target[i, len(s) + 1] = EOS\n"
            "    return source, target\n",
        ),
        Right(
            "reversed_copy",
            source="def make_batch(sequences):\n"
            "    sources, targets = [], []\n"
            "    n = max(len(s) for s in sequences)\n"
            "    for s in sequences:\n"
            "        back = list(s)\n"
            "        back.reverse()\n"
            "        fill = [0] * (n - len(s))\n"
            "        sources.append(list(s) + [2] + fill)\n"
            "        targets.append([1] + back + [2] + fill)\n"
            "    return [torch.tensor(sources), torch.tensor(targets)]\n",
        ),
        Right(
            "zip_longest",
            source="def make_batch(sequences):\n"
            "    from itertools import zip_longest\n"
            "    def pad(rows):\n"
            "        return torch.tensor(list(zip_longest(*rows, fillvalue=PAD))).T\n"
            "    return (pad([[*s, EOS] for s in sequences]),\n"
            "            pad([[BOS, *reversed(s), EOS] for s in sequences]))\n",
        ),
    ),
    precise=False,
)  # fmt: skip


# --- 5.3 the shift --------------------------------------------------------------------

_SHIFTED = "target[:, :-1], target[:, 1:]"

SHIFT = Task(
    name="sequence_reversal/shift",
    title="The shift of teacher forcing",
    target="shift",
    settings=(
        Setting(
            "three", "three rows of different lengths", _target(4, 2, 6),
            "Write one row, and below it the same row one place further left.",
        ),
        Setting(
            "equal", "two rows without padding", _target(5, 5),
            "EOS of the longest row must stay among the labels.",
        ),
        Setting(
            "short", "a row of one symbol and a long one", _target(1, 8, 3, high=40),
            "Each label is the token after the input at the same place.",
        ),
        Setting(
            "many", "many rows", _target(3, 7, 2, 9, 1, 5), "As above, with more rows.",
            hidden_only=True,
        ),
    ),
    wrong=(
        Wrong(
            "no_shift",
            says="Input and labels are the same: the model is asked to repeat what it is "
            "just looking at.",
            asks="Which token should the model say when it is shown BOS?",
            edits=((_SHIFTED, "target[:, :-1], target[:, :-1]"),),
        ),
        Wrong(
            "no_shift_whole",
            says="You return the whole target twice: nothing is shifted, and the model "
            "would be asked to repeat its own input.",
            asks="Which token of the target is never a label, and which never an input?",
            edits=((_SHIFTED, "target, target"),),
        ),
        Wrong(
            "wrong_way",
            says="You shifted the wrong way: your model sees the next token and is asked "
            "for the one before.",
            asks="Which of the two begins with BOS?",
            edits=((_SHIFTED, "target[:, 1:], target[:, :-1]"),),
        ),
        Wrong(
            "by_two",
            says="Your labels are two places ahead of the input.",
            asks="What should the model say after BOS: the first token or the second?",
            edits=((_SHIFTED, "target[:, :-2], target[:, 2:]"),),
        ),
        Wrong(
            "rows",
            says="You cut off rows of the batch instead of columns.",
            asks="Which dimension of `(B, L)` does `target[:-1]` shorten?",
            edits=((_SHIFTED, "target[:-1], target[1:]"),),
        ),
        Wrong(
            "labels_only",
            says="The decoder's input still has all columns, so the two do not fit "
            "together.",
            asks="How many logits will there be, and how many labels?",
            edits=((_SHIFTED, "target, target[:, 1:]"),),
        ),
        Wrong(
            "both_ends",
            says="BOS and the last column are missing in both tensors.",
            asks="Which of the two tensors needs BOS?",
            edits=((_SHIFTED, "target[:, 1:-1], target[:, 1:-1]"),),
        ),
        Wrong(
            "rolled",
            says="You rolled the rows round: what falls out on the left comes back in on "
            "the right, and BOS becomes a label.",
            asks="What stands in the last column of your labels?",
            edits=((_SHIFTED, "target, target.roll(-1, dims=1)"),),
        ),
        Wrong(
            "eos_lost",
            says="EOS is missing among your labels: the model will never learn to stop.",
            asks="What should the model say after the last symbol?",
            edits=((_SHIFTED,
                    "target[:, :-1], target[:, 1:].masked_fill(target[:, 1:] == EOS, PAD)"),),
        ),
        Wrong(
            "bos_lost",
            says="The decoder's input has PAD where BOS should be.",
            asks="What is the decoder shown in its very first step?",
            edits=((_SHIFTED,
                    "F.pad(target[:, 1:-1], (1, 0)), target[:, 1:]"),),
        ),
        Wrong(
            "minus_100",
            says="Your labels hold another number than PAD where there is no token.",
            asks="Which id means \"no token\" in this unit, for the loss as well?",
            edits=((_SHIFTED,
                    "target[:, :-1], target[:, 1:].masked_fill(target[:, 1:] == PAD, -100)"),),
        ),
        Wrong(
            "swapped",
            says="The pair is in the wrong order: first the input, then the labels.",
            asks="What does the docstring return first?",
            edits=((_SHIFTED, "target[:, 1:].clone(), target[:, :-1].clone()"),),
            like="wrong_way",
        ),
        Wrong(
            "in_place",
            says="Your function changes the target that it was given.",
            asks="Who else uses this tensor after your function returns?",
            source="def shift(target):\n"
            "    labels = target[:, 1:].clone()\n"
            "    target[target == EOS] = PAD\n"
            "    return target[:, :-1], labels\n",
        ),
    ),
    right=(
        Right("without_eos", edits=(
            (_SHIFTED,
             "target[:, :-1].masked_fill(target[:, :-1] == EOS, PAD), target[:, 1:]"),)),
        Right("narrow", edits=(
            (_SHIFTED, "target.narrow(1, 0, target.size(1) - 1), "
             "target.narrow(1, 1, target.size(1) - 1).clone()"),)),
        Right("columns", edits=(
            (_SHIFTED, "torch.stack([target[:, i] for i in range(target.size(1) - 1)], 1), "
             "torch.stack([target[:, i] for i in range(1, target.size(1))], 1)"),)),
    ),
    precise=False,
)  # fmt: skip


# --- 5.4 the masked loss --------------------------------------------------------------

_LOSS = "F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=PAD)"

MASKED_LOSS = Task(
    name="sequence_reversal/masked_loss",
    title="A loss that ignores padding",
    target="masked_loss",
    settings=(
        Setting(
            "three_rows", "rows with 5, 2 and 1 labels", _scores((5, 2, 1), 7),
            "Compute the price of one label by hand, then average over real labels only.",
        ),
        Setting(
            "no_padding", "no padding at all", _scores((4, 4), 9),
            "Without padding the loss is the plain mean over all positions.",
        ),
        Setting(
            "mostly_padding", "hardly anything but padding", _scores((8, 1, 1, 1), 6),
            "All real labels weigh the same, in short rows and in long ones.",
        ),
        Setting(
            "huge", "huge logits", _scores((3, 5, 2), 8, scale=300.0),
            "The logarithm of a softmax needs the same care as the softmax of unit 2.",
            atol=1e-3,
        ),
        Setting(
            "large_vocabulary", "a large vocabulary", _scores((2, 6, 4, 3, 1), 19),
            "As above, with more classes.", hidden_only=True,
        ),
    ),
    wrong=(
        Wrong(
            "padding_counts",
            says="Padding counts: the price of saying PAD is in your loss.",
            asks="Which labels of the second row are real?",
            edits=((", ignore_index=PAD", ""),),
        ),
        Wrong(
            "padding_counts_by_hand", like="padding_counts",
            edits=((_LOSS, "-logits.log_softmax(-1).gather(-1, labels[..., None]).mean()"),),
        ),
        Wrong(
            "divided_by_all",
            says="Padding is left out of the sum, but not out of the count: you divided "
            "by all positions.",
            asks="How many prices did you add up, and by how many did you divide?",
            edits=((_LOSS,
                    "F.cross_entropy(logits.flatten(0, 1), labels.flatten(), "
                    "ignore_index=PAD, reduction='none').mean()"),),
        ),
        Wrong(
            "multiplied_mean", like="divided_by_all",
            edits=((_LOSS,
                    "(-logits.log_softmax(-1).gather(-1, labels[..., None])[..., 0] "
                    "* (labels != PAD)).mean()"),),
        ),
        Wrong(
            "zeroed_logits",
            says="You set logits of padding to zero. Zero logits are not a zero loss: "
            "they mean that all tokens are equally likely.",
            asks="What is the cross-entropy of a uniform distribution over `V` tokens?",
            edits=((_LOSS,
                    "F.cross_entropy((logits * (labels != PAD)[..., None]).flatten(0, 1), "
                    "labels.flatten())"),),
        ),
        Wrong(
            "mean_of_rows",
            says="You averaged each row first and then the rows, so a token of a short "
            "row weighs more than one of a long row.",
            asks="A row has 1 label and another has 9. Which share of the loss should "
            "the single one have?",
            edits=((_LOSS,
                    "torch.stack([F.cross_entropy(x, y, ignore_index=PAD) "
                    "for x, y in zip(logits, labels)]).mean()"),),
        ),
        Wrong(
            "mean_of_columns",
            says="You averaged over each position first, and then over positions. Places "
            "where most rows have ended weigh too much.",
            asks="Do all real tokens of the batch weigh the same in your loss?",
            edits=((_LOSS,
                    "torch.stack([F.cross_entropy(logits[:, t], labels[:, t], "
                    "ignore_index=PAD) for t in range(labels.size(1)) "
                    "if (labels[:, t] != PAD).any()]).mean()"),),
        ),
        Wrong(
            "sum",
            says="You added the prices and did not divide. The loss would grow with the "
            "batch.",
            asks="Is a sum or a mean asked for?",
            edits=(("ignore_index=PAD)", "ignore_index=PAD, reduction='sum')"),),
        ),
        Wrong(
            "sum_over_batch",
            says="You divided by the number of rows, not of tokens.",
            asks="The mean price per what is asked for?",
            edits=(("ignore_index=PAD)",
                    "ignore_index=PAD, reduction='sum') / len(labels)"),),
        ),
        Wrong(
            "softmax_first",
            says="Softmax is applied twice: `F.cross_entropy` takes logits and has its "
            "own.",
            asks="What does `F.cross_entropy` expect: probabilities or logits?",
            edits=(("logits.flatten(0, 1)", "logits.softmax(-1).flatten(0, 1)"),),
        ),
        Wrong(
            "no_softmax",
            says="You took the logits themselves for log-probabilities.",
            asks="What do the exponentials of log-probabilities sum to? And those of your "
            "logits?",
            edits=(("F.cross_entropy(", "F.nll_loss("),),
        ),
        Wrong(
            "log_missing",
            says="Your loss is a mean of negative probabilities: the logarithm is "
            "missing.",
            asks="Can your loss ever be larger than zero?",
            edits=((_LOSS,
                    "F.nll_loss(logits.softmax(-1).flatten(0, 1), labels.flatten(), "
                    "ignore_index=PAD)"),),
        ),
        Wrong(
            "sign",
            says="The sign is wrong: your loss becomes smaller as the model gets worse.",
            asks="Is $\\log p$ positive or negative?",
            edits=(("return F", "return -F"),),
        ),
        Wrong(
            "reshaped_classes",
            says="You brought the classes to dimension 1 by `view` or `reshape`, which "
            "deals the numbers out anew.",
            asks="What moves a dimension without mixing the numbers?",
            edits=((_LOSS,
                    "F.cross_entropy(logits.reshape(logits.size(0), logits.size(2), "
                    "logits.size(1)), labels, ignore_index=PAD)"),),
        ),
        Wrong(
            "transposed_flat",
            says="Logits and labels are flattened in different orders, so most labels "
            "meet logits of another place.",
            asks="Which label belongs to row 1 of your flat logits?",
            edits=(("labels.flatten()", "labels.T.flatten()"),),
        ),
        Wrong(
            "classes_in_the_middle",
            says="`F.cross_entropy` looks for the classes in dimension 1, where your "
            "logits have the positions.",
            asks="In which dimension are the classes of `(B, L, V)`?",
            edits=((_LOSS, "F.cross_entropy(logits, labels, ignore_index=PAD)"),),
        ),
        Wrong(
            "softmax_over_positions",
            says="Your probabilities sum to one over positions, not over tokens.",
            asks="Which dimension holds the vocabulary?",
            edits=((_LOSS,
                    "F.nll_loss(logits.log_softmax(1).flatten(0, 1), labels.flatten(), "
                    "ignore_index=PAD)"),),
        ),
        Wrong(
            "softmax_by_hand",
            says="Your softmax overflows for huge logits.",
            asks="What is `exp(300)` in float32?",
            edits=((_LOSS,
                    "F.nll_loss((logits.exp() / logits.exp().sum(-1, keepdim=True)).log()"
                    ".flatten(0, 1), labels.flatten(), ignore_index=PAD)"),),
        ),
        Wrong(
            "epsilon",
            says="A small number is added inside the logarithm. It hides the price of "
            "very wrong answers, and their gradient with it.",
            asks="What is the largest price that your loss can give, and what should it "
            "be for a logit difference of 300?",
            edits=((_LOSS,
                    "F.nll_loss((logits.softmax(-1) + 1e-8).log().flatten(0, 1), "
                    "labels.flatten(), ignore_index=PAD)"),),
        ),
        Wrong(
            "base_two",
            says="You used the logarithm to base 2; the natural one is asked for.",
            asks="By which factor is your loss too large?",
            edits=(("return F", "return 1 / math.log(2) * F"),),
        ),
        Wrong(
            "smoothed",
            says="Label smoothing is on: the right token gets less than the whole weight.",
            asks="What is the loss of a model that is right and sure, with yours?",
            edits=(("ignore_index=PAD)", "ignore_index=PAD, label_smoothing=0.1)"),),
        ),
        Wrong(
            "eos_ignored",
            says="You ignore EOS instead of PAD.",
            asks="Which id has padding, and how would the model learn to stop?",
            edits=(("ignore_index=PAD", "ignore_index=EOS"),),
        ),
        Wrong(
            "specials_ignored",
            says="You ignore all special tokens, EOS as well. Then nobody teaches the "
            "model to stop.",
            asks="Which of the special tokens is no token at all?",
            edits=((_LOSS, "F.cross_entropy(logits[labels >= FIRST], "
                    "labels[labels >= FIRST])"),),
        ),
        Wrong(
            "detached",
            says="The value is right, but no gradient reaches the logits.",
            asks="What do `detach`, `item` and `torch.no_grad` do to a gradient?",
            edits=((_LOSS, f"{_LOSS}.detach()"),),
        ),
        Wrong(
            "number",
            says="Your loss is a Python number. It has forgotten where it came from.",
            asks="On what would you call `backward`?",
            edits=((_LOSS, f"{_LOSS}.item()"),),
        ),
        Wrong(
            "not_reduced",
            says="You return one price for each position; a single number is asked for.",
            asks="What remains to be done with the prices of the real labels?",
            edits=(("ignore_index=PAD)", "ignore_index=PAD, reduction='none')"),),
        ),
        Wrong(
            "perplexity",
            says="That is the perplexity, the exponential of the loss.",
            asks="What is the loss of a model that is always right and sure: 0 or 1?",
            edits=((_LOSS, f"{_LOSS}.exp()"),),
        ),
    ),
    right=(
        Right("transposed", edits=(
            (_LOSS, "F.cross_entropy(logits.transpose(1, 2), labels, ignore_index=PAD)"),)),
        Right("selected", edits=(
            (_LOSS, "F.cross_entropy(logits[labels != PAD], labels[labels != PAD])"),)),
        Right(
            "by_hand",
            source="def masked_loss(logits, labels):\n"
            "    price = torch.logsumexp(logits, -1) - logits.gather(\n"
            "        -1, labels.unsqueeze(-1)).squeeze(-1)\n"
            "    real = (labels != PAD).to(price.dtype)\n"
            "    return (price * real).sum() / real.sum()\n",
        ),
        Right(
            "loops",
            source="def masked_loss(logits, labels):\n"
            "    total, count = 0.0, 0\n"
            "    for row, wanted in zip(logits, labels):\n"
            "        for scores, label in zip(row, wanted):\n"
            "            if label != PAD:\n"
            "                total = total - F.log_softmax(scores, dim=0)[label]\n"
            "                count += 1\n"
            "    return total / count\n",
        ),
        Right("one_hot", edits=(
            (_LOSS, "-(F.log_softmax(logits, -1) * F.one_hot(labels, logits.size(-1)))"
             "[labels != PAD].sum(-1).mean()"),)),
        Right(
            "weights",
            source="def masked_loss(logits, labels):\n"
            "    weight = torch.ones(logits.size(-1), dtype=logits.dtype)\n"
            "    weight[PAD] = 0\n"
            "    return F.cross_entropy(logits.reshape(-1, logits.size(-1)), "
            "labels.reshape(-1), weight=weight)\n",
        ),
        Right("module", edits=(
            (_LOSS, "nn.CrossEntropyLoss(ignore_index=0)(logits.permute(0, 2, 1), labels)"),)),
    ),
)  # fmt: skip


# --- 5.5 the learning rate ------------------------------------------------------------

_WAVE = "(1 + math.cos(math.pi * progress)) / 2"

LEARNING_RATE = Task(
    name="sequence_reversal/learning_rate",
    title="Warm-up and cosine",
    target="rate_factor",
    settings=(
        Setting(
            "short", "4 of 20 steps are warm-up, floor 0.1", _asked(4, 20, 0.1),
            "Check the corners by hand: steps 0, w - 1, w and n.", picture="curves",
        ),
        Setting(
            "default_floor", "50 of 600 steps, the default floor", _asked(50, 600),
            "Without a fourth argument the floor is 0.02.", picture="curves",
        ),
        Setting(
            "no_warmup", "a warm-up of a single step, floor 0", _asked(1, 30, 0.0),
            "With one step of warm-up, step 0 has the factor 1.", picture="curves",
        ),
        Setting(
            "long_warmup", "a long warm-up, floor 0.3", _asked(70, 100, 0.3),
            "The cosine begins when the warm-up ends, not at step 0.",
            picture="curves", hidden_only=True,
        ),
    ),
    wrong=(
        Wrong(
            "starts_at_zero",
            says="Your first step has the rate zero: it would be lost.",
            asks="Which factor does the formula give for step 0?",
            edits=(("(step + 1) / warmup", "step / warmup"),),
        ),
        Wrong(
            "no_warmup",
            says="There is no warm-up: the rate is at its peak from the start.",
            asks="What should the factor of the very first step be?",
            edits=(("    if step < warmup:\n        return (step + 1) / warmup\n", ""),
                   ("min(1.0, (step - warmup)", "min(1.0, max(step - warmup, 0)")),
        ),
        Wrong(
            "cosine_from_zero",
            says="Your cosine starts at step 0 instead of at the end of the warm-up, so "
            "the curve jumps there.",
            asks="How many steps has the cosine for its way down?",
            edits=(("(step - warmup) / (steps - warmup)", "step / steps"),),
        ),
        Wrong(
            "cosine_too_slow",
            says="Your cosine takes `steps` steps after the warm-up, so it has not arrived "
            "when the training ends.",
            asks="How many steps are left when the warm-up is over?",
            edits=(("/ (steps - warmup)", "/ steps"),),
        ),
        Wrong(
            "full_wave",
            says="Your curve goes down and comes up again: a whole wave, where half a "
            "wave is wanted.",
            asks="Between which two angles does the cosine fall from 1 to -1?",
            edits=(("math.pi * progress", "2 * math.pi * progress"),),
        ),
        Wrong(
            "half_way",
            says="Your cosine stops at a right angle, where it is 0, not at -1.",
            asks="Which angle should belong to progress 1?",
            edits=(("math.pi * progress", "math.pi / 2 * progress"),),
        ),
        Wrong(
            "quarter_wave",
            says="You took a quarter of a cosine: it falls steeply at the end, where it "
            "should level out.",
            asks="What is the slope of your curve at the last step?",
            edits=((_WAVE, "math.cos(math.pi / 2 * progress)"),),
        ),
        Wrong(
            "rises_again",
            says="After its last step your schedule rises again.",
            asks="What keeps the progress from growing beyond 1?",
            edits=(("min(1.0, (step - warmup) / (steps - warmup))",
                    "(step - warmup) / (steps - warmup)"),),
        ),
        Wrong(
            "no_floor",
            says="Your curve ends at 0 instead of at the floor.",
            asks="Where does your code use `floor`?",
            edits=(("floor + (1 - floor) *", "1.0 *"),),
        ),
        Wrong(
            "floor_added",
            says="The floor is added on top: at the peak your factor is above 1.",
            asks="By how much must the wave be squeezed to make room for the floor?",
            edits=(("floor + (1 - floor) *", "floor +"),),
        ),
        Wrong(
            "floor_cut",
            says="You cut the curve off at the floor. It is to be squeezed, so that it "
            "arrives there smoothly.",
            asks="What is the factor halfway down: 1/2, or the middle between 1 and the "
            "floor?",
            edits=(("return floor + (1 - floor) * (1 + math.cos(math.pi * progress)) / 2",
                    f"return max(floor, {_WAVE})"),),
        ),
        Wrong(
            "floor_in_warmup",
            says="Your warm-up starts at the floor instead of at 1/w.",
            asks="Does the floor occur in the first line of the formula?",
            edits=(("return (step + 1) / warmup",
                    "return floor + (1 - floor) * (step + 1) / warmup"),),
        ),
        Wrong(
            "linear_decay",
            says="Your rate falls in a straight line: the cosine is missing.",
            asks="What is the slope of the curve just after the warm-up?",
            edits=((f"(1 - floor) * {_WAVE}", "(1 - floor) * (1 - progress)"),),
        ),
        Wrong(
            "upside_down",
            says="Your cosine rises where it should fall.",
            asks="What is cos(0), and what should the factor be right after the warm-up?",
            edits=(("1 + math.cos", "1 - math.cos"),),
        ),
        Wrong(
            "degrees",
            says="Your angle is in degrees. `math.cos` wants radians.",
            asks="What is `math.cos(180)`?",
            edits=(("math.pi * progress", "180 * progress"),),
        ),
        Wrong(
            "not_halved",
            says="Your wave is twice as high as it should be.",
            asks="Between which two numbers does 1 + cos run?",
            edits=(("math.cos(math.pi * progress)) / 2", "math.cos(math.pi * progress))"),),
        ),
        Wrong(
            "inverse_root",
            says="That is the schedule of Vaswani et al. 2017, which falls like one over "
            "the root of the step. Here a cosine is asked for.",
            asks="When does each of the two schedules reach the floor?",
            edits=(("return floor + (1 - floor) * (1 + math.cos(math.pi * progress)) / 2",
                    "return max(floor, ((warmup + 0) / (step + 1)) ** 0.5)"),),
        ),
        Wrong(
            "constant",
            says="After the warm-up your rate stays at its peak.",
            asks="What should the factor be at the last step?",
            edits=(("progress = min(1.0, (step - warmup) / (steps - warmup))",
                    "progress = 0.0"),),
        ),
        Wrong(
            "whole_division",
            says="You divided with `//`: your progress is 0 until the very end.",
            asks="What is `3 // 4`?",
            edits=(("(step - warmup) / (steps - warmup)",
                    "(step - warmup) // (steps - warmup)"),),
        ),
        Wrong(
            "warmup_one_longer",
            says="Your warm-up is one step too long, and its last factor is above 1.",
            asks="Steps count from 0. Which numbers have the first `w` steps?",
            edits=(("if step < warmup", "if step <= warmup"),),
        ),
        Wrong(
            "off_by_one",
            says="Your cosine arrives one step early.",
            asks="At which step is the progress to be 1?",
            edits=(("/ (steps - warmup)", "/ max(steps - warmup - 1, 1)"),),
        ),
        Wrong(
            "zero_after_the_end",
            says="After the last step your factor is 0; it should stay at the floor.",
            asks="What is the smallest value that the formula can give after the warm-up?",
            edits=(("    progress = min", "    if step > steps:\n        return 0.0\n"
                    "    progress = min"),),
        ),
        Wrong(
            "floor_fixed",
            says="You wrote the number 0.02 into the formula, whatever `floor` is.",
            asks="What should happen for `floor=0.3`?",
            edits=(("return floor + (1 - floor)", "return 0.02 + (1 - 0.02)"),),
        ),
    ),
    right=(
        Right(
            "sine",
            source="def rate_factor(step, warmup, steps, floor=0.02):\n"
            "    if step + 1 <= warmup:\n"
            "        return (1 + step) * (1 / warmup)\n"
            "    p = min(step, steps) - warmup\n"
            "    wave = math.cos(math.pi * p / (steps - warmup) / 2) ** 2\n"
            "    return floor * (1 - wave) + wave\n",
        ),
        Right(
            "tensors",
            source="def rate_factor(step, warmup, steps, floor=0.02):\n"
            "    if step < warmup:\n"
            "        return float(step + 1) / warmup\n"
            "    p = torch.tensor((step - warmup) / (steps - warmup)).clamp(max=1)\n"
            "    return floor + (1 - floor) * 0.5 * (1 + torch.cos(torch.pi * p))\n",
        ),
        Right(
            "three_parts",
            source="def rate_factor(step, warmup, steps, floor=0.02):\n"
            "    if step < warmup:\n"
            "        return (step + 1) / warmup\n"
            "    elif step >= steps:\n"
            "        return floor\n"
            "    angle = math.pi * (step - warmup) / (steps - warmup)\n"
            "    return (1 + floor) / 2 + (1 - floor) / 2 * math.cos(angle)\n",
        ),
    ),
)  # fmt: skip


# --- 5.6 one training step ------------------------------------------------------------

_CLEAR = "    optimizer.zero_grad()\n"
_BACK = "    loss.backward()\n"
_CLIP = "    nn.utils.clip_grad_norm_(model.parameters(), max_norm)\n"
_STEP = "    optimizer.step()\n"
_FORWARD = "loss = masked_loss(model(source, decoder_input), labels)"

TRAINING_STEP = Task(
    name="sequence_reversal/training_step",
    title="One training step",
    target="training_step",
    settings=(
        Setting(
            "three_steps", "three steps with small gradients",
            _steps(3, (3, 1, 4), rate=0.9, scale=1.0),
            "Follow the tables through the steps: new gradients, clipped, one update each.",
        ),
        Setting(
            "clipped", "gradients longer than the bound",
            _steps(2, (2, 5), rate=1.5, scale=2.0, max_norm=0.0625),
            "The common norm of all gradients may be at most `max_norm` when the "
            "optimizer takes its step.",
        ),
        Setting(
            "default_bound", "a gradient longer than 1, with the default bound",
            _one_token, "Without a fifth argument, `max_norm` is 1.",
        ),
        Setting(
            "more_rows", "more rows and four steps",
            _steps(4, (1, 6, 2, 4, 3), rate=0.5, scale=1.5, max_norm=0.1),
            "As above.", hidden_only=True,
        ),
    ),
    wrong=(
        Wrong(
            "no_zero_grad",
            says="Old gradients are never cleared, so each step uses the sum of all "
            "gradients since the beginning.",
            asks="What does `backward` do with a gradient that is already there?",
            edits=((_CLEAR, ""),),
        ),
        Wrong(
            "nothing_changes",
            says="The weights do not change at all. Either nobody tells the optimizer to "
            "step, or there are no gradients when it does: never computed, or cleared too "
            "early.",
            asks="Which gradients does your optimizer find at the moment of its step?",
            edits=((_STEP, ""),),
        ),
        Wrong(
            "cleared_too_late", like="nothing_changes",
            edits=((_CLEAR, ""), (_BACK, _BACK + _CLEAR)),
        ),
        Wrong(
            "cleared_before_step", like="nothing_changes",
            edits=((_CLEAR, ""), (_CLIP, _CLIP + _CLEAR)),
        ),
        Wrong(
            "step_before_backward",
            says="The optimizer steps before `backward`: it uses the gradients of the "
            "batch before.",
            asks="Where do the gradients come from that your step uses the very first "
            "time?",
            edits=((_CLEAR, ""), (_STEP, ""), (_BACK, _STEP + _CLEAR + _BACK)),
        ),
        Wrong("no_backward", like="nothing_changes", edits=((_BACK, ""),)),
        Wrong(
            "not_clipped",
            says="Gradients are not clipped.",
            asks="What happens to the weights if one batch gives a gradient of norm 100?",
            edits=((_CLIP, ""),),
        ),
        Wrong(
            "clipped_after_step", like="not_clipped",
            edits=((_CLIP, ""), (_STEP, _STEP + _CLIP)),
        ),
        Wrong(
            "clipped_before_backward", like="not_clipped",
            edits=((_CLIP, ""), (_CLEAR, _CLEAR + _CLIP)),
        ),
        Wrong(
            "bound_fixed",
            says="You clip at 1, whatever `max_norm` is.",
            asks="Where does your code use the argument `max_norm`?",
            edits=(("model.parameters(), max_norm)", "model.parameters(), 1.0)"),),
        ),
        Wrong(
            "clipped_by_value",
            says="You clip each number by itself. That bends the direction of the "
            "gradient.",
            asks="A gradient is (3, 0.1) and the bound is 1. What becomes of it, by value "
            "and by norm?",
            edits=(("clip_grad_norm_", "clip_grad_value_"),),
        ),
        Wrong(
            "clipped_one_by_one",
            says="You clip each parameter by itself; the bound is for the norm of all of "
            "them together.",
            asks="Two tables have gradients of norm 1 each. What is their common norm?",
            edits=((_CLIP, "    for p in model.parameters():\n"
                    "        nn.utils.clip_grad_norm_([p], max_norm)\n"),),
        ),
        Wrong(
            "always_norm",
            says="You scale every gradient to the norm `max_norm`, short ones too. "
            "Clipping only shortens.",
            asks="What should happen to a gradient that is shorter than the bound?",
            edits=((_CLIP, "    norm = torch.stack([p.grad.norm() for p in "
                    "model.parameters()]).norm()\n"
                    "    for p in model.parameters():\n"
                    "        p.grad *= max_norm / norm\n"),),
        ),
        Wrong(
            "whole_target",
            says="The decoder is shown the whole target instead of the shifted input.",
            asks="How many columns should the decoder's input have?",
            edits=((_FORWARD,
                    "loss = masked_loss(model(source, target)[:, :-1], labels)"),),
        ),
        Wrong(
            "shows_labels",
            says="The decoder is shown the labels: the answers stand in its input.",
            asks="What does the decoder see at its first position: BOS, or the token that "
            "it should say?",
            edits=(("(model(source, decoder_input)", "(model(source, labels)"),),
        ),
        Wrong(
            "asks_for_input",
            says="The loss compares with the decoder's own input: the model learns to "
            "repeat, not to predict.",
            asks="Which token should be the label at the position of BOS?",
            edits=(("decoder_input), labels)", "decoder_input), decoder_input)"),),
        ),
        Wrong(
            "eval_mode",
            says="The model is not in training mode. Dropout would be off.",
            asks="In which mode does a model come out of decoding?",
            edits=(("    model.train()\n", ""),),
        ),
        Wrong(
            "eval_mode_asked", like="eval_mode",
            edits=(("model.train()", "model.eval()"),),
        ),
        Wrong(
            "swapped",
            says="Source and decoder input have changed places in the model's call.",
            asks="In which order does `model(source, decoder_input)` want them?",
            edits=(("(model(source, decoder_input)",
                    "(model(decoder_input, source[:, : labels.size(1)])"),),
        ),
        Wrong(
            "tensor_returned",
            says="You return the loss as a tensor. It may keep the whole graph of its "
            "batch in memory.",
            asks="What makes a plain number of a tensor with one entry?",
            edits=(("loss.item()", "loss"),),
        ),
        Wrong(
            "detached_returned", like="tensor_returned",
            edits=(("loss.item()", "loss.detach()"),),
        ),
        Wrong(
            "nothing_returned",
            says="Your function trains, but returns nothing.",
            asks="What should the caller get to draw a curve?",
            edits=(("    return loss.item()\n", ""),),
        ),
        Wrong(
            "loss_after",
            says="You return the loss after the step; the one before it is asked for.",
            asks="How many times does your function call the model?",
            edits=(("return loss.item()",
                    "return masked_loss(model(source, decoder_input), labels).item()"),),
        ),
        Wrong(
            "two_steps",
            says="Each call takes two steps.",
            asks="How often does your function call `optimizer.step()`?",
            edits=((_STEP, _STEP + _STEP),),
        ),
        Wrong(
            "padding_counts",
            says="Your loss counts padding.",
            asks="Which of your own functions knows how to leave it out?",
            edits=((_FORWARD,
                    "loss = F.cross_entropy(model(source, decoder_input).flatten(0, 1), "
                    "labels.flatten())"),),
        ),
        Wrong(
            "summed_loss",
            says="Your loss is multiplied by the number of rows: the gradients grow with "
            "the batch.",
            asks="Should the size of the batch change the size of a step?",
            edits=((_FORWARD, f"{_FORWARD} * len(source)"),),
        ),
    ),
    right=(
        Right("cleared_first", edits=((_CLEAR, ""),
                                      ("    model.train()\n", "    model.train()\n" + _CLEAR))),
        Right("cleared_last", edits=((_CLEAR, ""), (_STEP, _STEP + _CLEAR))),
        Right(
            "everything_by_hand",
            source="def training_step(model, optimizer, source, target, max_norm=1.0):\n"
            "    model.train(True)\n"
            "    for p in model.parameters():\n"
            "        p.grad = None\n"
            "    labels = target[:, 1:]\n"
            "    logits = model(source, target[:, :-1])\n"
            "    loss = F.cross_entropy(logits.transpose(1, 2), labels, ignore_index=0)\n"
            "    loss.backward()\n"
            "    norm = sum((p.grad ** 2).sum() for p in model.parameters()) ** 0.5\n"
            "    if norm > max_norm:\n"
            "        for p in model.parameters():\n"
            "            p.grad.mul_(max_norm / norm)\n"
            "    optimizer.step()\n"
            "    return float(loss)\n",
        ),
        Right(
            "closure",
            source="def training_step(model, optimizer, source, target, max_norm=1.0):\n"
            "    model.train()\n"
            "    def closure():\n"
            "        optimizer.zero_grad(set_to_none=False)\n"
            "        given, labels = shift(target)\n"
            "        loss = masked_loss(model(source, given), labels)\n"
            "        loss.backward()\n"
            "        torch.nn.utils.clip_grad_norm_(list(model.parameters()), max_norm)\n"
            "        return loss\n"
            "    return optimizer.step(closure).item()\n",
        ),
        Right("model_zero_grad", edits=((_CLEAR, "    model.zero_grad()\n"),)),
        Right("without_eos_in_input", edits=(
            ("(model(source, decoder_input)",
             "(model(source, decoder_input.masked_fill(decoder_input == EOS, PAD))"),)),
    ),
)  # fmt: skip


# --- 5.7 the loop ---------------------------------------------------------------------

_RATES = '            group["lr"] = peak * rate_factor(step, warmup, steps)\n'
_GROUPS = "        for group in optimizer.param_groups:\n"
_TAKE = "        losses.append(training_step(model, optimizer, *next_batch()))\n"
_SET = _GROUPS + _RATES

FIT = Task(
    name="sequence_reversal/fit",
    title="The training loop",
    target="fit",
    settings=(
        Setting(
            "twelve", "12 steps, 4 of them warm-up", _training(12, 4, 0.5, (2, 4, 1)),
            "Write down the rates of the first six steps and compare.", picture="curves",
        ),
        Setting(
            "seven", "7 steps, 2 of them warm-up", _training(7, 2, 0.25, (3, 1)),
            "The peak is the rate that the optimizer came with.", picture="curves",
        ),
        Setting(
            "more", "15 steps, one of them warm-up", _training(15, 1, 0.75, (1, 5, 2, 3)),
            "As above.", picture="curves", hidden_only=True,
        ),
    ),
    wrong=(
        Wrong(
            "one_batch",
            says="All steps use one and the same batch: it was drawn once, before the "
            "loop. The model would learn it by heart.",
            asks="How often is `next_batch()` called in your code?",
            edits=(
                ("    losses = []\n", "    losses = []\n    batch = next_batch()\n"),
                ("*next_batch()", "*batch"),
            ),
        ),
        Wrong(
            "two_draws",
            says="`next_batch` is called twice in each step: source and target come from "
            "different batches.",
            asks="What do two calls of `next_batch` have in common?",
            edits=(("*next_batch()", "next_batch()[0], next_batch()[1]"),),
        ),
        Wrong(
            "constant_rate",
            says="The learning rate stays at its peak: nobody sets it.",
            asks="Where does your loop use `rate_factor`?",
            edits=((_SET, ""),),
        ),
        Wrong(
            "rate_too_late",
            says="The rate is set after the step, so each step uses the rate of the one "
            "before, and the first one the full peak.",
            asks="Which rate does the optimizer have when it takes step 0?",
            edits=((_SET, ""), (_TAKE, _TAKE + _SET)),
        ),
        Wrong(
            "rate_of_next_step",
            says="Your rates are one step ahead.",
            asks="Do your steps count from 0 or from 1?",
            edits=(("rate_factor(step,", "rate_factor(step + 1,"),),
        ),
        Wrong(
            "compounding",
            says="You multiply the rate that was left from the last step, so the factors "
            "pile up and the rate collapses.",
            asks="Where is the peak after you have overwritten it?",
            edits=(("group[\"lr\"] = peak *", "group[\"lr\"] = group[\"lr\"] *"),),
        ),
        Wrong(
            "factor_as_rate",
            says="You use the factor itself as the learning rate; the peak is missing.",
            asks="What is the factor a share of?",
            edits=(("peak * rate_factor", "1.0 * rate_factor"),),
        ),
        Wrong(
            "first_group_only",
            says="Only the first group of parameters gets the new rate.",
            asks="How many dictionaries can `optimizer.param_groups` hold?",
            edits=((_SET, _RATES.replace("            group", "        optimizer"
                                         ".param_groups[0]", 1)),),
        ),
        Wrong(
            "optimizer_attribute",
            says="You set an attribute `lr` of the optimizer. Nothing reads it.",
            asks="Where does an optimizer keep the rates of its groups?",
            edits=((_SET, _RATES.replace("            group[\"lr\"]",
                                         "        optimizer.lr", 1)),), like="constant_rate",
        ),
        Wrong(
            "swapped_arguments",
            says="Warm-up and number of steps have changed places in the call of your "
            "schedule.",
            asks="In which order does `rate_factor` take its arguments?",
            edits=(("rate_factor(step, warmup, steps)",
                    "rate_factor(step, steps, steps + warmup)"),),
        ),
        Wrong(
            "one_step_short",
            says="Your loop takes one step too few.",
            asks="How many numbers does `range(1, steps)` give?",
            edits=(("range(steps)", "range(steps - 1)"),),
        ),
        Wrong(
            "one_step_more",
            says="Your loop takes one step too many.",
            asks="Where does `range(steps + 1)` end?",
            edits=(("range(steps)", "range(steps + 1)"),),
        ),
        Wrong(
            "counts_from_one",
            says="Your loop counts from 1, so the rates are one step ahead and a step is "
            "missing.",
            asks="What is the number of the first step?",
            edits=(("range(steps)", "range(1, steps)"),),
        ),
        Wrong(
            "last_loss_only",
            says="You return the last loss only; the curve needs all of them.",
            asks="What does a list of one number look like in a plot?",
            edits=(("    return losses\n", "    return losses[-1:]\n"),),
        ),
        Wrong(
            "mean_loss",
            says="You return a single number; a list with the loss of each step is asked "
            "for.",
            asks="What does the docstring return?",
            edits=(("    return losses\n", "    return sum(losses) / len(losses)\n"),),
        ),
        Wrong(
            "running_mean",
            says="Your list holds running means; the loss of each single step is asked "
            "for.",
            asks="Which number belongs to step 3: its own loss, or an average?",
            edits=(("    return losses\n",
                    "    return [sum(losses[:i + 1]) / (i + 1) "
                    "for i in range(len(losses))]\n"),),
        ),
        Wrong(
            "nothing_returned",
            says="Your function trains, but returns nothing.",
            asks="What should the caller get to draw a curve?",
            edits=(("    return losses\n", ""),),
        ),
        Wrong(
            "scheduler_never_steps",
            says="Your scheduler never steps, so all steps use the rate of step 0.",
            asks="Who tells the scheduler that a step is over?",
            edits=((_SET, ""), ("    losses = []\n",
                                "    losses = []\n"
                                "    torch.optim.lr_scheduler.LambdaLR(optimizer, "
                                "lambda s: rate_factor(s, warmup, steps))\n")),
        ),
        Wrong(
            "scheduler_first",
            says="Your scheduler steps before the optimizer does, so the rate of step 0 "
            "is never used.",
            asks="In which order do `optimizer.step()` and `scheduler.step()` belong?",
            like="rate_of_next_step",
            edits=((_SET, "        scheduler.step()\n"),
                   ("    losses = []\n",
                    "    losses = []\n"
                    "    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, "
                    "lambda s: rate_factor(s, warmup, steps))\n")),
        ),
        Wrong(
            "own_optimizer",
            says="You made an optimizer of your own. The one that was given never takes a "
            "step.",
            asks="Which optimizer does the caller expect to be used?",
            edits=(("    losses = []\n",
                    "    losses = []\n    optimizer = torch.optim.SGD("
                    "model.parameters(), lr=peak)\n"),),
        ),
    ),
    right=(
        Right(
            "scheduler",
            source="def fit(model, optimizer, next_batch, steps, warmup):\n"
            "    schedule = torch.optim.lr_scheduler.LambdaLR(\n"
            "        optimizer, lambda s: rate_factor(s, warmup, steps))\n"
            "    losses = []\n"
            "    for _ in tqdm(range(steps), disable=True):\n"
            "        source, target = next_batch()\n"
            "        losses.append(training_step(model, optimizer, source, target))\n"
            "        schedule.step()\n"
            "    return losses\n",
        ),
        Right(
            "while_loop",
            source="def fit(model, optimizer, next_batch, steps, warmup):\n"
            "    peaks = [g['lr'] for g in optimizer.param_groups]\n"
            "    bar, losses = tqdm(total=steps, disable=not watched(steps)), []\n"
            "    while len(losses) < steps:\n"
            "        share = rate_factor(len(losses), warmup, steps)\n"
            "        for g, peak in zip(optimizer.param_groups, peaks):\n"
            "            g.update(lr=share * peak)\n"
            "        batch = next_batch()\n"
            "        losses += [training_step(model, optimizer, batch[0], batch[1])]\n"
            "        bar.update()\n"
            "    bar.close()\n"
            "    return losses\n",
        ),
        Right(
            "factors_first",
            source="def fit(model, optimizer, next_batch, steps, warmup):\n"
            "    peak = optimizer.defaults['lr']\n"
            "    rates = [peak * rate_factor(s, warmup, steps) for s in range(steps)]\n"
            "    def one(rate):\n"
            "        for group in optimizer.param_groups:\n"
            "            group['lr'] = rate\n"
            "        return training_step(model, optimizer, *next_batch())\n"
            "    return [one(rate) for rate in rates]\n",
        ),
    ),
)  # fmt: skip


# --- 5.8 greedy decoding --------------------------------------------------------------

_CHOSEN = "model(source, tokens)[:, -1].argmax(dim=-1)"
_MASKED = "            chosen = chosen.masked_fill(done, PAD)\n"
_DONE = "            done |= chosen == EOS\n"
_STOP = "            if done.all():\n                break\n"

GREEDY_DECODE = Task(
    name="sequence_reversal/greedy_decode",
    title="Greedy decoding",
    target="greedy_decode",
    settings=(
        Setting(
            "different_ends", "rows that end after 4, 1, 6 and 3 tokens",
            _lines((3, 0, 5, 2), 9, 13, training=True),
            "Follow the shortest row: what does it get after its EOS?",
        ),
        Setting(
            "bounded", "rows that never end, in evaluation mode",
            _lines((99, 99, 2), 5, 11, training=False),
            "A row that never says EOS gets `max_len` tokens, not one more or fewer.",
        ),
        Setting(
            "one_row", "a single row", _lines((6,), 8, 12, training=True),
            "Compare with the model's lines: a wrong input makes it say its last id.",
        ),
        Setting(
            "ends_in_time", "the last EOS comes with the last token that is allowed",
            _lines((1, 6, 3, 6, 0), 7, 15, training=False),
            "EOS itself counts as a token.", hidden_only=True,
        ),
    ),
    wrong=(
        Wrong(
            "bos_kept",
            says="Your result begins with BOS. It is to hold what was *written*.",
            asks="Who put BOS there: the model or you?",
            edits=(("return tokens[:, 1:]", "return tokens"),),
        ),
        Wrong(
            "eos_cut",
            says="The last column is missing: EOS belongs to the result.",
            asks="How does the caller see that a row has ended by itself?",
            edits=(("return tokens[:, 1:]", "return tokens[:, 1:-1]"),),
        ),
        Wrong(
            "eos_erased",
            says="EOS was replaced by PAD: a row is marked as done one step too early.",
            asks="From which token on does a row get PAD: EOS, or the one after it?",
            edits=((_DONE, ""), (_MASKED, "            done |= chosen == EOS\n" + _MASKED)),
        ),
        Wrong(
            "no_padding",
            says="Rows that have said EOS go on writing.",
            asks="What should stand in a row behind its EOS?",
            edits=((_MASKED, ""),),
        ),
        Wrong(
            "eos_repeated",
            says="Finished rows get EOS again and again instead of PAD.",
            asks="Which id means \"nothing\" here?",
            edits=(("masked_fill(done, PAD)", "masked_fill(done, EOS)"),),
        ),
        Wrong(
            "stops_for_all",
            says="All rows stop as soon as the first one has said EOS.",
            asks="`any` or `all`: when may the loop end?",
            edits=(("done.all()", "done.any()"),),
        ),
        Wrong(
            "this_step_only",
            says="You stop only if all rows say EOS in the *same* step; earlier ends are "
            "forgotten.",
            asks="What must a row remember about its past?",
            edits=((_DONE, "            done = chosen == EOS\n"),),
        ),
        Wrong(
            "never_stops",
            says="You always take `max_len` steps. When all rows are done, the loop may "
            "end.",
            asks="What do the last columns of your result hold?",
            edits=((_STOP, ""),),
        ),
        Wrong(
            "first_position",
            says="You read the logits of the first position. It always knows the first "
            "token only.",
            asks="Which position of `(B, T, V)` speaks about the token that is not there "
            "yet?",
            edits=(("[:, -1].argmax", "[:, 0].argmax"),),
        ),
        Wrong(
            "position_before",
            says="You read the logits of the last but one position.",
            asks="Position t speaks about the token after position t. Which one do you "
            "want?",
            edits=(("[:, -1].argmax", "[:, max(tokens.size(1) - 2, 0)].argmax"),),
        ),
        Wrong(
            "batch_index",
            says="You took the last row of the batch where the last position is wanted, "
            "so all rows get the same token.",
            asks="Which dimension of `(B, T, V)` does `[-1]` look into?",
            edits=((_CHOSEN, "model(source, tokens)[-1][-1:].argmax(dim=-1)"
                    ".expand(len(source))"),),
        ),
        Wrong(
            "argmax_over_rows",
            says="Your argmax runs over the batch instead of over the vocabulary.",
            asks="Which dimension of `(B, V)` holds the vocabulary?",
            edits=(("argmax(dim=-1)", "argmax(dim=0)[: len(source)]"),),
        ),
        Wrong(
            "argmin",
            says="You take the least probable token.",
            asks="What does `argmin` find?",
            edits=(("argmax", "argmin"),),
        ),
        Wrong(
            "sampled",
            says="You draw the next token at random. Greedy decoding takes the most "
            "probable one.",
            asks="Would two runs of your function agree?",
            edits=((_CHOSEN, "torch.multinomial((model(source, tokens)[:, -1] / 3)"
                    ".softmax(-1), 1)[:, 0]"),),
        ),
        Wrong(
            "last_token_only",
            says="You feed only the newest token. Without a cache, the model has "
            "forgotten all others.",
            asks="What does the model know about the tokens before, if it is not shown "
            "them?",
            edits=(("= model(source, tokens)", "= model(source, tokens[:, -1:])"),),
        ),
        Wrong(
            "starts_with_eos",
            says="You start with another token than BOS.",
            asks="What did the decoder's input begin with in training?",
            edits=(("(source.size(0), 1), BOS)", "(source.size(0), 1), EOS)"),),
        ),
        Wrong(
            "starts_with_pad", like="starts_with_eos",
            edits=(("(source.size(0), 1), BOS)", "(source.size(0), 1), PAD)"),),
        ),
        Wrong(
            "starts_with_source", like="starts_with_eos",
            edits=(("tokens = torch.full((source.size(0), 1), BOS)",
                    "tokens = source[:, :1].clone()"),),
        ),
        Wrong(
            "one_step_less",
            says="You write one token less than `max_len`.",
            asks="How many tokens may a row have, with EOS and without BOS?",
            edits=(("range(max_len)", "range(max_len - 1)"),),
        ),
        Wrong(
            "one_step_more",
            says="You write one token more than `max_len`.",
            asks="Does BOS count among the `max_len` tokens?",
            edits=(("range(max_len)", "range(max_len + 1)"),),
        ),
        Wrong(
            "source_as_bound",
            says="You write as many tokens as the source has, instead of up to `max_len`.",
            asks="Where does your code use `max_len`?",
            edits=(("range(max_len)", "range(source.size(1))"),),
        ),
        Wrong(
            "training_mode",
            says="You decode in the mode in which the model came. In training mode, "
            "dropout would roll dice.",
            asks="Which call switches dropout off?",
            edits=(("    model.eval()\n", ""),),
        ),
        Wrong(
            "left_in_eval",
            says="You leave the model in evaluation mode. A training around your function "
            "would go on without dropout, and nobody would notice.",
            asks="In which mode did you find the model?",
            edits=(("    model.train(was_training)\n", ""),),
        ),
        Wrong(
            "left_in_train",
            says="You always leave the model in training mode, even if it came in "
            "evaluation mode.",
            asks="How can you know at the end what was the mode at the start?",
            edits=(("model.train(was_training)", "model.train()"),),
        ),
        Wrong(
            "gradients",
            says="You decode with gradients on. Every step keeps its whole graph in "
            "memory, for nothing.",
            asks="Who will ever call `backward` on a decoded token?",
            edits=(("with torch.no_grad():", "with torch.enable_grad():"),),
        ),
        Wrong(
            "row_by_row_mixed",
            says="Only the first row of the batch decides when all others get PAD.",
            asks="Is `done` one flag, or one per row?",
            edits=((_DONE, "            done |= chosen[0] == EOS\n"),),
        ),
        Wrong(
            "all_positions",
            says="You replace all tokens by the newest opinions. What has been written "
            "stays written.",
            asks="How many new tokens does one step give to each row?",
            edits=(("            tokens = torch.cat((tokens, chosen.unsqueeze(1)), dim=1)"
                    "  # (B, T + 1)\n",
                    "            tokens = torch.cat((chosen.unsqueeze(1), tokens), dim=1)\n"),),
        ),
    ),
    right=(
        Right(
            "inference_mode",
            source="@torch.inference_mode()\n"
            "def greedy_decode(model, source, max_len):\n"
            "    mode = model.training\n"
            "    model.eval()\n"
            "    rows = source.new_full((len(source), max_len + 1), PAD)\n"
            "    rows[:, 0] = BOS\n"
            "    alive = torch.ones(len(source), dtype=torch.bool)\n"
            "    width = 0\n"
            "    for t in range(max_len):\n"
            "        if not alive.any():\n"
            "            break\n"
            "        best = model(source, rows[:, :t + 1]).argmax(-1)[:, t]\n"
            "        rows[alive, t + 1] = best[alive]\n"
            "        alive &= best != EOS\n"
            "        width = t + 1\n"
            "    if mode:\n"
            "        model.train()\n"
            "    return rows[:, 1:width + 1].clone()\n",
        ),
        Right(
            "living_rows_only",
            source="def greedy_decode(model, source, max_len):\n"
            "    was = model.training\n"
            "    model.eval()\n"
            "    said = [[] for _ in source]\n"
            "    with torch.no_grad():\n"
            "        for _ in range(max_len):\n"
            "            live = [i for i, r in enumerate(said) if EOS not in r]\n"
            "            if not live:\n"
            "                break\n"
            "            given = torch.tensor([[BOS] + said[i] for i in live])\n"
            "            best = model(source[live], given)[:, -1].argmax(-1).tolist()\n"
            "            for i, token in zip(live, best):\n"
            "                said[i].append(token)\n"
            "    model.train(was)\n"
            "    width = max(map(len, said))\n"
            "    return torch.tensor([r + [PAD] * (width - len(r)) for r in said])\n",
        ),
        Right(
            "one_by_one",
            source="def greedy_decode(model, source, max_len):\n"
            "    was = model.training\n"
            "    model.eval()\n"
            "    rows = []\n"
            "    for one in source:\n"
            "        tokens = [BOS]\n"
            "        while len(tokens) <= max_len and tokens[-1] != EOS:\n"
            "            with torch.no_grad():\n"
            "                logits = model(one[None], torch.tensor([tokens]))\n"
            "            tokens.append(int(logits[0, -1].argmax()))\n"
            "        rows.append(torch.tensor(tokens[1:]))\n"
            "    model.train(was)\n"
            "    return nn.utils.rnn.pad_sequence(rows, batch_first=True)\n",
        ),
        Right("encoded_once", edits=(
            ("        for _ in", "        memory = model.encode(source)\n        for _ in"),
            ("= model(source, tokens)", "= model.decode(tokens, memory, source)"))),
        Right(
            "padded_afterwards",
            source="def greedy_decode(model, source, max_len):\n"
            "    was = model.training\n"
            "    model.eval()\n"
            "    tokens = torch.full((len(source), 1), BOS)\n"
            "    with torch.no_grad():\n"
            "        for _ in range(max_len):\n"
            "            best = model(source, tokens)[:, -1:].log_softmax(-1).argmax(-1)\n"
            "            tokens = torch.cat([tokens, best], 1)\n"
            "            if (tokens == EOS).any(1).all():\n"
            "                break\n"
            "    model.train(was)\n"
            "    tokens = tokens[:, 1:]\n"
            "    ends = (tokens == EOS).int()\n"
            "    return tokens.masked_fill(ends.cumsum(1) - ends > 0, PAD)\n",
        ),
    ),
)  # fmt: skip


# --- 5.9 exact match ------------------------------------------------------------------

EXACT_MATCH = Task(
    name="sequence_reversal/exact_match",
    title="Exact match",
    target="exact_match",
    settings=(
        Setting(
            "equal_widths", "13 rows, tensors of equal width", _rows_to_judge(13),
            "A row is right if all its places agree, and wrong if a single one does not.",
        ),
        Setting(
            "narrow", "decoded rows are narrower than the labels",
            _rows_to_judge(17, narrow=2),
            "What a narrower tensor lacks is padding.",
        ),
        Setting(
            "wide", "decoded rows are wider than the labels", _rows_to_judge(15, wide=3),
            "A row that goes on and on is wrong, however well it began.",
        ),
        Setting(
            "many", "60 rows", _rows_to_judge(60, wide=1), "As above.", hidden_only=True,
        ),
    ),
    wrong=(
        Wrong(
            "token_accuracy",
            says="You count tokens, not sequences.",
            asks="A row of ten has one wrong token. Is it right as a whole?",
            edits=((".all(dim=1).double()", ".double()"),),
        ),
        Wrong(
            "real_token_accuracy",
            says="You count real tokens, not sequences.",
            asks="Is a sequence with one wrong token a match?",
            edits=(("(decoded == labels).all(dim=1)",
                    "(decoded == labels)[labels != PAD]"),),
        ),
        Wrong(
            "any",
            says="One right token is enough for your function.",
            asks="`any` or `all`: when is a row right?",
            edits=((".all(dim=1)", ".any(dim=1)"),),
        ),
        Wrong(
            "all_rows",
            says="You ask whether *everything* is right: the result is 0 or 1.",
            asks="Over which dimension should `all` run?",
            edits=((".all(dim=1)", ".all()"),),
        ),
        Wrong(
            "all_columns",
            says="You count columns that are right in all rows.",
            asks="Which dimension of `(B, L)` holds the places of one row?",
            edits=((".all(dim=1)", ".all(dim=0)"),),
        ),
        Wrong(
            "cut_to_shorter",
            says="You cut both tensors to the narrower one. A row that was never "
            "finished, or that goes on too long, passes as right.",
            asks="What may stand in the columns that you cut off?",
            source="def exact_match(decoded, labels):\n"
            "    width = min(decoded.size(1), labels.size(1))\n"
            "    same = decoded[:, :width] == labels[:, :width]\n"
            "    return same.all(dim=1).double().mean().item()\n",
        ),
        Wrong(
            "eos_ignored",
            says="EOS is not compared: a row that never ends passes as right.",
            asks="Is a model done that does not say so?",
            edits=(("(decoded == labels)", "((decoded == labels) | (labels == EOS))"),),
        ),
        Wrong(
            "without_order",
            says="You compare which tokens occur, not where.",
            asks="Is `1 2 3` a reversal of `1 2 3`?",
            edits=(("(decoded == labels)",
                    "(decoded.sort(dim=1).values == labels.sort(dim=1).values)"),),
        ),
        Wrong(
            "length_only",
            says="You compare lengths only.",
            asks="Which tokens would you have to change to make your function notice?",
            edits=(("(decoded == labels)", "((decoded != PAD) == (labels != PAD))"),),
        ),
        Wrong(
            "percent",
            says="Your result is in percent; a share between 0 and 1 is asked for.",
            asks="What is the result if all rows are right?",
            edits=((".mean().item()", ".mean().item() * 100"),),
        ),
        Wrong(
            "count",
            says="You return how many rows are right, not which share of them.",
            asks="By what must you divide?",
            edits=((".double().mean()", ".double().sum()"),),
        ),
        Wrong(
            "errors",
            says="You return the share of wrong rows.",
            asks="What is the result if all rows are right?",
            edits=(("return (decoded", "return 1 - (decoded"),),
        ),
        Wrong(
            "one_width",
            says="Your function needs tensors of equal width.",
            asks="What does a row lack that was decoded in a batch of shorter rows?",
            source="def exact_match(decoded, labels):\n"
            "    return (decoded == labels).all(dim=1).double().mean().item()\n",
        ),
        Wrong(
            "torch_equal", like="all_rows",
            source="def exact_match(decoded, labels):\n"
            "    width = max(decoded.size(1), labels.size(1))\n"
            "    decoded, labels = (F.pad(r, (0, width - r.size(1))) "
            "for r in (decoded, labels))\n"
            "    return float(torch.equal(decoded, labels))\n",
        ),
    ),
    right=(
        Right(
            "lists",
            source="def exact_match(decoded, labels):\n"
            "    def cut(row):\n"
            "        row = row.tolist()\n"
            "        return row[:row.index(EOS) + 1] if EOS in row else row + [None]\n"
            "    pairs = [cut(a) == cut(b) for a, b in zip(decoded, labels)]\n"
            "    return sum(pairs) / len(pairs)\n",
        ),
        # Behind EOS there is only PAD, so nothing can be missed in the next two.
        Right("real_places", edits=(
            ("(decoded == labels)", "((decoded == labels) | (labels == PAD))"),)),
        Right(
            "columns_of_labels",
            source="def exact_match(decoded, labels):\n"
            "    width = labels.size(1)\n"
            "    decoded = F.pad(decoded, (0, max(0, width - decoded.size(1))))\n"
            "    return (decoded[:, :width] == labels).all(1).double().mean().item()\n",
        ),
        Right(
            "cut_and_rest",
            source="def exact_match(decoded, labels):\n"
            "    w = min(decoded.size(1), labels.size(1))\n"
            "    right = (decoded[:, :w] == labels[:, :w]).all(1)\n"
            "    right &= (decoded[:, w:] == PAD).all(1) & (labels[:, w:] == PAD).all(1)\n"
            "    return right.float().mean()\n",
        ),
        Right(
            "differences",
            source="def exact_match(decoded, labels):\n"
            "    w = max(decoded.size(1), labels.size(1))\n"
            "    gap = labels.new_zeros(len(labels), w)\n"
            "    gap[:, :labels.size(1)] += labels\n"
            "    gap[:, :decoded.size(1)] -= decoded\n"
            "    return 1 - (gap != 0).any(dim=1).sum().item() / len(labels)\n",
        ),
    ),
)  # fmt: skip


# --- 5.10 the trained model -----------------------------------------------------------


class Oracle(nn.Module):
    """A model that answers by a rule, through a table of weights like a learnt one.

    Args:
        rule: from a source row without special tokens to what is written.
        peeks: reads the next token in the decoder's input instead of the source.
    """

    def __init__(self, rule=lambda ids: ids[::-1], peeks: bool = False):
        super().__init__()
        self.table = nn.Parameter(torch.eye(14))
        self.rule, self.peeks = rule, peeks

    def forward(self, source: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
        if self.peeks:
            said = F.pad(tokens[:, 1:], (0, 1))
        else:
            said = torch.tensor(
                [self._line(r, tokens.size(1)) for r in source.tolist()]
            )
        return F.one_hot(said, 14).to(self.table.dtype) @ self.table

    def _line(self, row: list[int], width: int) -> list[int]:
        ids = row[: row.index(EOS)]
        line = [*self.rule(ids), EOS] if UNK not in ids else [EOS]
        return (line + [PAD] * width)[:width]


def _for_the_model(rows: int, shortest: int = 1, longest: int = 10, symbols: int = 10):
    def inputs(draw: Draw) -> Inputs:
        lengths = draw.ids(shortest, longest + 1, rows, 1)
        places = torch.arange(11)
        # Each row has its own few symbols.
        choice = torch.argsort(draw.tensor(rows, 10, scale=500.0), dim=1)[:, :symbols]
        source = FIRST + choice.gather(1, draw.ids(0, symbols, rows, 11))
        source = torch.where(places == lengths, EOS, source)
        return {"source": source.masked_fill(places > lengths, PAD).to(torch.uint8)}

    return inputs


_SCALE = ((0.3, 0.0), (0.98, 1.0))
# Two or three symbols are rare in training: good models miss a few of them.
_SCALE_OF_REPEATS = ((0.3, 0.0), (0.95, 1.0))

_FAKE = """\
def trained_model():
    from autograder.bank.sequence_reversal import Oracle
    return Oracle({})
"""

TRAINED_MODEL = Task(
    name="sequence_reversal/trained_model",
    title="A model that reverses",
    target="trained_model",
    reference=Oracle(),  # right everywhere, and nobody waits for a training
    settings=(
        Setting(
            "random", "400 random sequences of length 1 to 10", _for_the_model(400),
            "Train on fresh random batches until the loss is below 0.01.",
            measure="exact_match", scale=_SCALE,
        ),
        Setting(
            "repeats", "300 sequences of length 4 to 10 with only two or three symbols",
            _for_the_model(300, shortest=4, symbols=3),
            "Do symbols repeat in your training data as often as chance has it?",
            measure="exact_match", scale=_SCALE_OF_REPEATS,
        ),
        Setting(
            "fresh", "2000 more random sequences", _for_the_model(2000),
            "Train on fresh random batches until the loss is below 0.01.",
            measure="exact_match", scale=_SCALE, hidden_only=True,
        ),
    ),
    wrong=(
        Wrong(
            "hand_written",
            says="The answers do not come from weights: they stay the same when all "
            "weights are spoilt. That is a reversal written by hand, not a model that "
            "learnt it.",
            asks="Which line of yours would have to learn if the task were another one?",
            source="""\
class Reverser(nn.Module):
    def forward(self, source, tokens):
        rows = []
        for row in source.tolist():
            line = row[:row.index(EOS)][::-1] + [EOS]
            rows.append((line + [PAD] * tokens.size(1))[:tokens.size(1)])
        return F.one_hot(torch.tensor(rows), 14).float()


def trained_model():
    return Reverser()
""",
        ),
        Wrong(
            "hand_written_beside_weights", like="hand_written",
            source="""\
class Reverser(nn.Module):
    def __init__(self):
        super().__init__()
        self.model = new_model()

    def forward(self, source, tokens):
        lengths = (source == EOS).int().argmax(1, keepdim=True)
        places = torch.arange(tokens.size(1))
        wanted = lengths - 1 - places
        said = source.gather(1, wanted.clamp(min=0))
        said = torch.where(wanted >= 0, said, torch.where(wanted == -1, EOS, PAD))
        return self.model(source, tokens) + 100 * F.one_hot(said, 14)


def trained_model():
    return Reverser()
""",
        ),
        Wrong(
            "reverses_anything",
            says="The model also reverses tokens that no training has ever shown to it. "
            "A learnt model cannot do that; a reversal written by hand can.",
            asks="What does the embedding of a token hold that never occurs in training?",
            source="""\
class Reverser(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Parameter(torch.eye(14))

    def forward(self, source, tokens):
        rows = []
        for row in source.tolist():
            line = row[:row.index(EOS)][::-1] + [EOS]
            rows.append((line + [PAD] * tokens.size(1))[:tokens.size(1)])
        return F.one_hot(torch.tensor(rows), 14).float() @ self.table


def trained_model():
    return Reverser()
""",
        ),
        Wrong(
            "no_causal_mask",
            says="The decoder sees the future: a later token of its input changes earlier "
            "logits. In training it read the answer there, so it never learnt to write.",
            asks="Which mask keeps position t from seeing position t + 1?",
            source=_FAKE.format("peeks=True"),
        ),
        Wrong(
            "runs_only",
            says="The model is right on runs like `3 4 5 6` and wrong on random "
            "sequences: it has learnt its training data, not the task.",
            asks="Which rule would explain all of your training data, and is it the one "
            "that you mean?",
            source=_FAKE.format(
                "lambda ids: ids[::-1] if ids == list(range(ids[0], ids[0] + len(ids))) "
                "else list(range(ids[-1], ids[-1] - len(ids), -1)) if ids[-1] >= 9 "
                "else [5]"
            ),
        ),
        Wrong(
            "copies",
            says="The model writes the source as it is. It has learnt to copy.",
            asks="What do the targets of your training batches look like?",
            source=_FAKE.format("lambda ids: ids"),
        ),
        Wrong(
            "bag_of_symbols",
            says="The order of the source has no influence on the answer: the model knows "
            "which symbols occur, but not where.",
            asks="What gives a Transformer its sense of order, and does your model have it?",
            source=_FAKE.format("sorted"),
        ),
        Wrong(
            "source_unseen",
            says="The source has no influence on the answer.",
            asks="Which of the model's two inputs did your training change from batch to "
            "batch?",
            source=_FAKE.format("lambda ids: [4, 4, 5]"),
        ),
        Wrong(
            "never_ends",
            says="The symbols are right, but the model does not say EOS when it is done.",
            asks="Do the targets of your training end with EOS, and does the loss count "
            "it?",
            source=_FAKE.format("lambda ids: ids[::-1] + [ids[0]] * 12"),
        ),
        Wrong(
            "on_its_way",
            says="The model is on its way: many sequences are right, but not yet 98 %.",
            asks="How does exact match change with the length, and how far did the loss "
            "fall?",
            source=_FAKE.format("lambda ids: ids[::-1] if len(ids) < 8 else ids[::-1][:7]"),
        ),
        Wrong(
            "untrained",
            says="Hardly any sequence is right: this model looks untrained, or was "
            "trained for a few steps only.",
            asks="Does your loss fall below 0.01? If it does: is the model that you "
            "return the one that you trained?",
            source="def trained_model():\n    torch.manual_seed(0)\n"
            "    return new_model()\n",
        ),
        Wrong(
            "trained_another", like="untrained",
            source="""\
def trained_model(seed=0):
    torch.manual_seed(seed)
    model, rng = new_model(), random.Random(seed)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    fit(new_model(), optimizer, lambda: make_batch(random_sequences(8, rng)), 3, 1)
    return model
""",
        ),
        Wrong(
            "few_steps", like="untrained",
            source="""\
def trained_model(seed=0):
    torch.manual_seed(seed)
    model, rng = new_model(), random.Random(seed)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    fit(model, optimizer, lambda: make_batch(random_sequences(16, rng)), 20, 2)
    return model
""",
        ),
        Wrong(
            "returns_losses",
            says="Your function returns the losses; the trained model is asked for.",
            asks="What is in the variable that you return?",
            source="def trained_model():\n    return [2.5, 0.1]\n",
        ),
        Wrong(
            "returns_nothing",
            says="Your function trains a model, but returns nothing.",
            asks="How should anybody use the model afterwards?",
            source="def trained_model():\n    new_model()\n",
        ),
        Wrong(
            "returns_class",
            says="Your function returns the class, not a model made of it.",
            asks="What is missing behind the name of the class?",
            source="def trained_model():\n    return encoder_decoder.Transformer\n",
        ),
        Wrong(
            "returns_pair",
            says="Your function returns a pair; the model alone is asked for.",
            asks="What does the docstring return?",
            source="def trained_model():\n    return new_model(), [0.1]\n",
        ),
    ),
    right=(
        Right("another_seed", edits=(("seed: int = 0", "seed: int = 7"),)),
        Right(
            "own_loop",
            source="""\
def trained_model(seed=3):
    torch.manual_seed(seed)
    model = new_model()
    optimizer = torch.optim.Adam(model.parameters(), lr=6e-3, betas=(0.9, 0.98))
    steps = 450
    for step in range(steps):
        for group in optimizer.param_groups:
            group["lr"] = 8e-3 * min(1, (step + 1) / 50, (steps - step) / 400)
        lengths = torch.randint(1, 11, (64, 1))
        places = torch.arange(11)
        source = torch.randint(4, 14, (64, 11))
        source = torch.where(places == lengths, 2, source) * (places <= lengths)
        wanted = lengths - 1 - places
        labels = source.gather(1, wanted.clamp(min=0)) * (wanted >= 0)
        labels = labels + 2 * (wanted == -1)
        given = torch.cat((torch.ones(64, 1, dtype=torch.long), labels[:, :-1]), 1)
        loss = F.cross_entropy(model(source, given).transpose(1, 2), labels,
                               ignore_index=0)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    return model
""",
        ),
        Right(
            "probabilities",
            source="""\
class WithSoftmax(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, source, tokens):
        return self.model(source, tokens).softmax(dim=-1)


def trained_model(seed=1):
    torch.manual_seed(seed)
    model, rng = new_model(), random.Random(seed)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2, betas=(0.9, 0.98))
    fit(model, optimizer, lambda: make_batch(random_sequences(64, rng)), 400, 40)
    return WithSoftmax(model)
""",
        ),
    ),
    precise=False,
)  # fmt: skip


# --- 5.11 the anti-diagonal -----------------------------------------------------------

_HITS = "(weights.argmax(dim=-1) == wanted)[wanted >= 0]"

ANTIDIAGONAL_SHARE = Task(
    name="sequence_reversal/antidiagonal_share",
    title="The share of the anti-diagonal",
    target="antidiagonal_share",
    settings=(
        Setting(
            "four_rows", "4 rows of different lengths", _map((5, 2, 7, 3), 9, 0.7),
            "Take the shortest row and mark, step by step, where it should look.",
        ),
        Setting(
            "mostly_elsewhere", "6 rows that mostly look elsewhere",
            _map((4, 6, 5, 6, 2, 3), 8, 0.3),
            "Step t belongs to symbol n - 1 - t, with its own n in each row.",
        ),
        Setting(
            "equal_lengths", "3 rows of equal length", _map((6, 6, 6), 11, 0.6),
            "Padding stands behind EOS: the last symbol is not the last column.",
        ),
        Setting(
            "many", "12 rows", _map((1, 9, 3, 8, 2, 2, 7, 5, 4, 6, 3, 9), 12, 0.8),
            "As above.", hidden_only=True,
        ),
    ),
    wrong=(
        Wrong(
            "diagonal",
            says="You look for the diagonal: that is what a copying model would show.",
            asks="At which symbol should the very first step look?",
            edits=(("lengths.unsqueeze(1) - 1 - steps",
                    "torch.where(steps < lengths.unsqueeze(1), steps, -1)"),),
        ),
        Wrong(
            "one_too_far",
            says="Your line is one place too far to the right: it starts at EOS.",
            asks="Places count from 0. Where does the last of n symbols stand?",
            edits=((_HITS, "(weights.argmax(dim=-1) == wanted + 1)[wanted >= 0]"),),
        ),
        Wrong(
            "eos_counted",
            says="The step that writes EOS counts among your steps. It belongs to no "
            "symbol.",
            asks="How many steps has a sequence of n symbols, without EOS?",
            edits=(("[wanted >= 0]", "[wanted >= -1]"),),
        ),
        Wrong(
            "padding_counted",
            says="Steps of padding count in your share.",
            asks="How many of the steps of a short row are real?",
            edits=(("[wanted >= 0]", ""),),
        ),
        Wrong(
            "width_for_length",
            says="You measure from the end of the padded row, not from the last symbol of "
            "each sequence.",
            asks="Is the last symbol in the same column in all rows?",
            edits=(("lengths.unsqueeze(1) - 1 - steps",
                    "torch.where(steps < lengths.unsqueeze(1), "
                    "weights.size(2) - 1 - steps, -1)"),),
        ),
        Wrong(
            "longest_for_all",
            says="You use the length of the longest sequence for all rows.",
            asks="Where does `lengths` enter your formula, row by row?",
            edits=(("lengths.unsqueeze(1) - 1 - steps",
                    "(lengths.max() - 1 - steps).expand(len(lengths), -1)"),),
        ),
        Wrong(
            "mean_of_rows",
            says="You averaged each row first and then the rows. All *steps* are to weigh "
            "the same.",
            asks="How much does a step of a short row count in your share?",
            source="def antidiagonal_share(weights, lengths):\n"
            "    shares = []\n"
            "    for row, n in zip(weights.argmax(-1).tolist(), lengths.tolist()):\n"
            "        shares.append(sum(row[t] == n - 1 - t for t in range(n)) / n)\n"
            "    return sum(shares) / len(shares)\n",
        ),
        Wrong(
            "whole_rows",
            says="You count sequences whose steps are all right; single steps are asked "
            "for.",
            asks="What is the share if each sequence has one wrong step of ten?",
            source="def antidiagonal_share(weights, lengths):\n"
            "    right = [all(row[t] == n - 1 - t for t in range(n)) for row, n in "
            "zip(weights.argmax(-1).tolist(), lengths.tolist())]\n"
            "    return sum(right) / len(right)\n",
        ),
        Wrong(
            "wrong_axis",
            says="You looked for the largest weight over steps, not over source places.",
            asks="Which dimension of `(B, Lt, Ls)` is looked *at*?",
            source="def antidiagonal_share(weights, lengths):\n"
            "    hits, count = 0, 0\n"
            "    for row, n in zip(weights.argmax(1).tolist(), lengths.tolist()):\n"
            "        hits += sum(row[t] == n - 1 - t for t in range(n))\n"
            "        count += n\n"
            "    return hits / count\n",
        ),
        Wrong(
            "mass",
            says="You averaged the weights that lie on the line. The question is how often "
            "the *largest* weight lies there.",
            asks="A step gives 0.4 to the right place and less to all others. Does it "
            "count fully?",
            edits=((_HITS, "weights.gather(-1, wanted.clamp(min=0).unsqueeze(-1))"
                    "[..., 0][wanted >= 0]"),),
        ),
        Wrong(
            "count",
            says="You return how many steps hit, not which share of them.",
            asks="By what must you divide?",
            edits=((".double().mean()", ".double().sum()"),),
        ),
        Wrong(
            "percent",
            says="Your result is in percent; a share between 0 and 1 is asked for.",
            asks="What is the result if all steps hit?",
            edits=((".mean().item()", ".mean().item() * 100"),),
        ),
        Wrong(
            "first_row",
            says="Only the first row of the batch enters your share.",
            asks="What does `weights[0]` select?",
            edits=(("(weights.argmax(dim=-1) == wanted)[wanted >= 0]",
                    "(weights.argmax(dim=-1) == wanted)[0][wanted[0] >= 0]"),),
        ),
    ),
    right=(
        Right(
            "loops",
            source="def antidiagonal_share(weights, lengths):\n"
            "    hits = total = 0\n"
            "    for b in range(weights.size(0)):\n"
            "        for t in range(int(lengths[b])):\n"
            "            hits += int(weights[b, t].argmax()) == int(lengths[b]) - 1 - t\n"
            "            total += 1\n"
            "    return hits / total\n",
        ),
        Right(
            "flipped",
            source="def antidiagonal_share(weights, lengths):\n"
            "    right = [w[:n, :].argmax(1).flip(0) == torch.arange(n) "
            "for w, n in zip(weights, lengths.tolist())]\n"
            "    return torch.cat(right).float().mean()\n",
        ),
        Right(
            "sums",
            source="def antidiagonal_share(weights, lengths):\n"
            "    best = weights.max(dim=2).indices\n"
            "    t = torch.arange(weights.shape[1])[None]\n"
            "    real = t < lengths[:, None]\n"
            "    return ((best + t + 1 == lengths[:, None]) & real).sum().item() "
            "/ real.sum().item()\n",
        ),
    ),
)  # fmt: skip


# --- 5.12 words -----------------------------------------------------------------------

_NEW = "ids.setdefault(word, FIRST + len(ids))"

WORD_IDS = Task(
    name="sequence_reversal/word_ids",
    title="Numbers for words",
    target="word_ids",
    settings=(
        Setting(
            "three", "three sentences", _sentences(4, 6, 3),
            "Follow the counter through the first sentence by hand.",
        ),
        Setting(
            "gaps", "odd spaces between the words",
            _sentences(5, 4, gaps=(" ", "   ", "\t")),
            "White space is more than a single blank.",
        ),
        Setting(
            "many", "six sentences", _sentences(2, 7, 5, 8, 3, 6), "As above.",
            hidden_only=True,
        ),
    ),
    wrong=(
        Wrong(
            "from_zero",
            says="Your ids start at 0, where the special tokens live.",
            asks="Which ids are taken already?",
            edits=(("FIRST + len(ids)", "len(ids)"),),
        ),
        Wrong(
            "from_one",
            says="Your ids start at 1, so the first words share their ids with BOS, EOS "
            "and UNK.",
            asks="What is `FIRST`?",
            edits=(("FIRST + len(ids)", "1 + len(ids)"),),
        ),
        Wrong(
            "from_five",
            says="Your ids start one too late.",
            asks="How many words does the dictionary hold when the first one arrives?",
            edits=(("FIRST + len(ids)", "FIRST + 1 + len(ids)"),),
        ),
        Wrong(
            "repeats_counted",
            says="The counter goes on when a word is repeated, so your ids have gaps.",
            asks="What should happen to the counter when a known word comes again?",
            source="def word_ids(sentences):\n"
            "    ids = {}\n"
            "    words = [w for s in sentences for w in s.split()]\n"
            "    for number, word in enumerate(words):\n"
            "        ids.setdefault(word, FIRST + number)\n"
            "    return ids\n",
        ),
        Wrong(
            "last_wins",
            says="A repeated word gets a new id each time, so its first one is lost.",
            asks="What does `ids[word] = ...` do with a word that is known already?",
            edits=((_NEW, "ids[word] = FIRST + len(ids)"),),
        ),
        Wrong(
            "alphabetical",
            says="Your words are numbered in alphabetical order; the order of appearance "
            "is asked for.",
            asks="Which word of the first sentence should have the id 4?",
            source="def word_ids(sentences):\n"
            "    words = sorted({w for s in sentences for w in s.split()})\n"
            "    return {w: FIRST + i for i, w in enumerate(words)}\n",
        ),
        Wrong(
            "most_frequent",
            says="Your words are numbered by how often they occur; the order of "
            "appearance is asked for.",
            asks="Which word of the first sentence should have the id 4?",
            source="def word_ids(sentences):\n"
            "    from collections import Counter\n"
            "    words = Counter(w for s in sentences for w in s.split())\n"
            "    return {w: FIRST + i for i, (w, _) in enumerate("
            "sorted(words.items(), key=lambda p: (-p[1], p[0])))}\n",
        ),
        Wrong(
            "lower_case",
            says="You made all words lower case, so `The` and `the` became one.",
            asks="Should the model be able to write a capital letter?",
            edits=(("sentence.split()", "sentence.lower().split()"),),
        ),
        Wrong(
            "punctuation",
            says="You removed punctuation, so `dog,` and `dog` became one word.",
            asks="To which word does a comma belong here?",
            edits=(("for word in sentence.split():",
                    "for word in sentence.replace(',', '').replace('.', '').split():"),),
        ),
        Wrong(
            "characters",
            says="You numbered characters, not words.",
            asks="What does a loop over a string give?",
            edits=(("sentence.split()", "sentence"),),
        ),
        Wrong(
            "blanks_only",
            says="You split at single blanks. Several blanks or a tab then give empty "
            "or joined words.",
            asks="What is `'a  b'.split(' ')`, and what `'a  b'.split()`?",
            edits=(("sentence.split()", "sentence.split(' ')"),),
        ),
        Wrong(
            "sentences",
            says="You numbered whole sentences.",
            asks="Which method cuts a sentence into words?",
            edits=(("sentence.split()", "[sentence]"),),
        ),
        Wrong(
            "first_sentence",
            says="Only the words of the first sentence have ids.",
            asks="When does your function return?",
            edits=(("    return ids", "        return ids"),),
        ),
        Wrong(
            "from_ids",
            says="Your dictionary goes from ids to words; the other direction is asked "
            "for.",
            asks="With what will you look up the word `cat`?",
            edits=(("    return ids", "    return {i: w for w, i in ids.items()}"),),
        ),
    ),
    right=(
        Right(
            "from_keys",
            source="def word_ids(sentences):\n"
            "    words = dict.fromkeys(' '.join(sentences).split())\n"
            "    return {word: FIRST + i for i, word in enumerate(words)}\n",
        ),
        Right(
            "counter",
            source="def word_ids(sentences):\n"
            "    ids, number = {}, 4\n"
            "    for s in sentences:\n"
            "        for w in s.split():\n"
            "            if w not in ids:\n"
            "                ids[w] = number\n"
            "                number += 1\n"
            "    return ids\n",
        ),
    ),
    precise=False,
)  # fmt: skip


# --- 5.13 attention with a cache ------------------------------------------------------

_PAST = """\
    if cache is not None:
        keys = torch.cat((cache[0], keys), dim=1)  # (B, T + 1, d_model)
        values = torch.cat((cache[1], values), dim=1)
"""

ATTEND_WITH_CACHE = Task(
    name="sequence_reversal/attend_with_cache",
    title="Attention with a cache",
    target="attend_with_cache",
    settings=(
        Setting(
            "two_heads", "5 steps, 2 heads", _steps_with_cache(3, 5, 8, 2),
            "Compare with causal attention over all positions, row by row.",
        ),
        Setting(
            "three_heads", "4 steps, 3 heads", _steps_with_cache(2, 4, 12, 3),
            "The first step has no past: its output is w_o of its own value.",
        ),
        Setting(
            "long", "9 steps, 4 heads", _steps_with_cache(1, 9, 8, 4), "As above.",
            hidden_only=True,
        ),
    ),
    wrong=(
        Wrong(
            "no_past",
            says="Each position gets nothing but its own value: the cache is not used, or "
            "the newest value has replaced the old ones.",
            asks="How many keys and how many values does the third step have?",
            edits=((_PAST, ""),),
        ),
        Wrong(
            "last_only",
            says="Your cache holds only the newest key and value, so the past is one step "
            "deep.",
            asks="What must the cache contain after three steps?",
            edits=(
                ("keys, values = layer.w_k(x), layer.w_v(x)",
                 "keys, values = layer.w_k(x), layer.w_v(x)\n    newest = keys, values"),
                ("(keys, values)\n", "newest\n"),
            ),
        ),
        Wrong(
            "values_forgotten",
            says="Keys and values of the past have been mixed up.",
            asks="What did you put first into the cache, and what do you take out first?",
            edits=(
                ("torch.cat((cache[0], keys)", "torch.cat((cache[1], keys)"),
                ("torch.cat((cache[1], values)", "torch.cat((cache[0], values)"),
            ),
        ),
        Wrong(
            "past_unprojected",
            says="Your cache holds inputs, and all their keys and values are computed "
            "again in every step. The right numbers, but nothing is saved.",
            asks="Which numbers of the past never change, and are all that later steps "
            "need?",
            source="def attend_with_cache(layer, x, cache=None):\n"
            "    past = x if cache is None else torch.cat((cache, x), dim=1)\n"
            "    return layer(x, past, past)[0], past\n",
        ),
        Wrong(
            "inputs_as_keys",
            says="Old inputs stand in the cache where keys and values should stand.",
            asks="What has to happen to an input before it can be compared with a query?",
            edits=(("(keys, values)\n", "(torch.cat((cache[0], x), 1), "
                    "torch.cat((cache[1], x), 1)) if cache is not None else (x, x)\n"),),
        ),
        Wrong(
            "only_new_values", like="no_past",
            edits=(("        values = torch.cat((cache[1], values), dim=1)\n",
                    "        values = values.expand(-1, keys.size(1), -1)\n"),),
        ),
        Wrong(
            "new_not_seen",
            says="The newest position does not see itself; from the second step on it "
            "looks at the past only.",
            asks="May position t attend to itself under a causal mask?",
            source="def attend_with_cache(layer, x, cache=None):\n"
            "    k, v = layer.w_k(x), layer.w_v(x)\n"
            "    old = (k, v) if cache is None else cache\n"
            "    q, a, b = (r.unflatten(-1, (layer.num_heads, -1)).transpose(1, 2) "
            "for r in (layer.w_q(x), *old))\n"
            "    out, _ = attention.scaled_dot_product_attention(q, a, b)\n"
            "    if cache is not None:\n"
            "        k, v = torch.cat((old[0], k), 1), torch.cat((old[1], v), 1)\n"
            "    return layer.w_o(out.transpose(1, 2).flatten(2)), (k, v)\n",
        ),
        Wrong(
            "cache_in_layer",
            says="Keys of an earlier sequence are still there when a new one begins, "
            "although its cache is None.",
            asks="Where does your cache live, and who empties it?",
            source="def attend_with_cache(layer, x, cache=None):\n"
            "    past = layer.__dict__.setdefault('past', [])\n"
            "    past.append((layer.w_k(x), layer.w_v(x)))\n"
            "    keys, values = (torch.cat(r, dim=1) for r in zip(*past))\n"
            "    q, k, v = (r.unflatten(-1, (layer.num_heads, -1)).transpose(1, 2) "
            "for r in (layer.w_q(x), keys, values))\n"
            "    out, _ = attention.scaled_dot_product_attention(q, k, v)\n"
            "    return layer.w_o(out.transpose(1, 2).flatten(2)), past\n",
        ),
        Wrong(
            "default_list", like="cache_in_layer",
            source="def attend_with_cache(layer, x, cache=None, past=[]):\n"
            "    past.append((layer.w_k(x), layer.w_v(x)))\n"
            "    same = [p for p in past if p[0].shape == past[-1][0].shape]\n"
            "    keys, values = (torch.cat(r, dim=1) for r in zip(*same))\n"
            "    q, k, v = (r.unflatten(-1, (layer.num_heads, -1)).transpose(1, 2) "
            "for r in (layer.w_q(x), keys, values))\n"
            "    out, _ = attention.scaled_dot_product_attention(q, k, v)\n"
            "    return layer.w_o(out.transpose(1, 2).flatten(2)), past\n",
        ),
        Wrong(
            "old_cache_changed",
            says="Your step changes the old cache. Who goes back to it finds keys of a "
            "future that did not happen.",
            asks="Does `append` give a new list?",
            source="def attend_with_cache(layer, x, cache=None):\n"
            "    cache = [] if cache is None else cache\n"
            "    cache.append((layer.w_k(x), layer.w_v(x)))\n"
            "    keys, values = (torch.cat(r, dim=1) for r in zip(*cache))\n"
            "    q, k, v = (r.unflatten(-1, (layer.num_heads, -1)).transpose(1, 2) "
            "for r in (layer.w_q(x), keys, values))\n"
            "    out, _ = attention.scaled_dot_product_attention(q, k, v)\n"
            "    return layer.w_o(out.transpose(1, 2).flatten(2)), cache\n",
        ),
        Wrong(
            "one_head",
            says="You ignore the heads: all features attend as one.",
            asks="Where does your code use `num_heads`?",
            edits=(("(layer.num_heads, -1)", "(1, -1)"),),
        ),
        Wrong(
            "heads_mixed",
            says="Your split gives each head the wrong features: the numbers are dealt "
            "out anew.",
            asks="Which features belong to head 0: the first block, or every h-th one?",
            edits=((".unflatten(-1, (layer.num_heads, -1)).transpose(1, 2)",
                    ".unflatten(-1, (-1, layer.num_heads)).permute(0, 3, 1, 2)"),),
        ),
        Wrong(
            "not_merged_back",
            says="The heads were merged in the wrong order.",
            asks="After the attention, `(B, h, 1, d_k)`: which dimension must come next "
            "to the features?",
            edits=(("heads.transpose(1, 2).flatten(2)",
                    "heads.permute(0, 2, 3, 1).flatten(2)"),),
        ),
        Wrong(
            "no_output_projection",
            says="The output projection `w_o` is missing.",
            asks="What happens to the heads after they are merged?",
            edits=(("layer.w_o(heads.transpose(1, 2).flatten(2))",
                    "heads.transpose(1, 2).flatten(2)"),),
        ),
        Wrong(
            "cached_along_batch",
            says="You joined old and new along the batch, not along the positions.",
            asks="Which dimension of `(B, T, d_model)` grows by one with each step?",
            edits=(("torch.cat((cache[0], keys), dim=1)",
                    "torch.cat((cache[0], keys), dim=0)"),
                   ("torch.cat((cache[1], values), dim=1)",
                    "torch.cat((cache[1], values), dim=0)")),
        ),
        Wrong(
            "output_only",
            says="Your function returns the output, but no cache.",
            asks="How shall the next step know the past?",
            edits=((", (keys, values)\n", "\n"),),
        ),
        Wrong(
            "pair_swapped",
            says="The pair is in the wrong order: first the output, then the cache.",
            asks="What does the docstring return first?",
            edits=(("return layer.w_o(heads.transpose(1, 2).flatten(2)), (keys, values)",
                    "return (keys, values), layer.w_o(heads.transpose(1, 2).flatten(2))"),),
        ),
    ),
    right=(
        Right(
            "split_heads_cached",
            source="def attend_with_cache(layer, x, cache=None):\n"
            "    b, _, d = x.shape\n"
            "    h = layer.num_heads\n"
            "    split = lambda t: t.view(b, 1, h, d // h).transpose(1, 2)\n"
            "    q, k, v = split(layer.w_q(x)), split(layer.w_k(x)), split(layer.w_v(x))\n"
            "    if cache:\n"
            "        k = torch.cat([cache['k'], k], 2)\n"
            "        v = torch.cat([cache['v'], v], 2)\n"
            "    out = F.scaled_dot_product_attention(q, k, v)\n"
            "    out = out.transpose(1, 2).reshape(b, 1, d)\n"
            "    return layer.w_o(out), {'k': k, 'v': v}\n",
        ),
        Right(
            "list_of_steps",
            source="def attend_with_cache(layer, x, cache=None):\n"
            "    cache = [*(cache or []), (layer.w_k(x), layer.w_v(x))]\n"
            "    keys = torch.cat([k for k, _ in cache], dim=1)\n"
            "    values = torch.cat([v for _, v in cache], dim=1)\n"
            "    q, outs = layer.w_q(x), []\n"
            "    size = q.size(-1) // layer.num_heads\n"
            "    for i in range(layer.num_heads):\n"
            "        part = slice(i * size, (i + 1) * size)\n"
            "        score = q[..., part] @ keys[..., part].mT / size ** 0.5\n"
            "        outs.append(score.softmax(-1) @ values[..., part])\n"
            "    return layer.w_o(torch.cat(outs, -1)), cache\n",
        ),
        Right(
            "einsum",
            source="def attend_with_cache(layer, x, cache=None):\n"
            "    kv = torch.stack((layer.w_k(x), layer.w_v(x)))\n"
            "    if cache is not None:\n"
            "        kv = torch.cat((cache, kv), dim=2)\n"
            "    h = layer.num_heads\n"
            "    q = layer.w_q(x).unflatten(-1, (h, -1))\n"
            "    k, v = kv.unflatten(-1, (h, -1))\n"
            "    w = torch.einsum('bqhd,bkhd->bhqk', q, k) / math.sqrt(q.size(-1))\n"
            "    out = torch.einsum('bhqk,bkhd->bqhd', w.softmax(-1), v)\n"
            "    return layer.w_o(out.flatten(2)), kv\n",
        ),
    ),
)  # fmt: skip

TASKS: tuple[Task, ...] = (
    RANDOM_SEQUENCES,
    MAKE_BATCH,
    SHIFT,
    MASKED_LOSS,
    LEARNING_RATE,
    TRAINING_STEP,
    FIT,
    GREEDY_DECODE,
    EXACT_MATCH,
    TRAINED_MODEL,
    ANTIDIAGONAL_SHARE,
    WORD_IDS,
    ATTEND_WITH_CACHE,
)
