"""Random sequences."""

from __future__ import annotations

from collections.abc import Callable

import torch

from autograder.bank.sequence_reversal._inputs import FIRST
from autograder.oracle.draw import Draw
from autograder.oracle.specification import (
    Accepted,
    CaseKind,
    Edit,
    Inputs,
    Maker,
    Mutant,
    Specification,
    Way,
)
from autograder.student.exercise import Answers


def _drawing(count: int, longest: int, symbols: int) -> Maker:
    def inputs(draw: Draw) -> Inputs:
        numbers = {"count": count, "longest": longest, "symbols": symbols}
        numbers["seed"] = int(draw.ids(0, 10**6))
        return {name: torch.tensor(number) for name, number in numbers.items()}

    return inputs


def _fair(count: int, longest: int, symbols: int) -> Callable[[Draw], Answers]:
    """What is true of sequences from fair dice, whatever the seed."""
    usual, true = "as often as chance has it", torch.tensor(True)
    known: Answers = {
        "number of sequences": torch.tensor(count),
        "lengths that occur": torch.arange(1, longest + 1),
        "ids that occur": torch.arange(FIRST, FIRST + symbols),
        "all lengths equally often": true,
        "all ids equally often": true,
        "all ids equally often at the start": true,
        "equal neighbours": usual,
        "rising neighbours": usual,
        "the same read backwards": usual,
        "neighbours of equal length": usual,
        "the same from the same seed": true,
        "others with the next call": true,
        "several ids begin it where one sequence is asked for": true,
        "the shortest length": usual,
        "the longest length": usual,
        "lengths that occur where one sequence is asked for": torch.arange(
            1, longest + 1
        ),
        "all of these equally often": true,
        "lengths of the first half": "as chance has it",
        "sequences of one symbol": "some come twice",
        "randomness comes from rng alone": true,
        "kind of what holds the ids": "list",
    }
    return lambda draw: known


EXERCISE = Specification(
    name="sequence_reversal/random_sequences",
    title="Random sequences",
    target="random_sequences",
    precise=False,
    cases=[
        CaseKind(
            name="few_symbols",
            title="3000 sequences of up to 7 out of 5 symbols",
            inputs=_drawing(3000, 7, 5),
            known=_fair(3000, 7, 5),
            hint="Each length from 1 to 7 and each id from 4 to 8 should be equally "
            "likely.",
        ),
        CaseKind(
            name="many_symbols",
            title="4000 sequences of up to 4 out of 9 symbols",
            inputs=_drawing(4000, 4, 9),
            known=_fair(4000, 4, 9),
            hint="Symbols are drawn anew at each place, whatever their neighbours are.",
        ),
        CaseKind(
            name="as_in_the_course",
            title="3500 sequences of up to 10 out of 10 symbols",
            inputs=_drawing(3500, 10, 10),
            known=_fair(3500, 10, 10),
            hint="Look at a few of your sequences. Could you tell them from dice?",
        ),
        CaseKind(
            name="large_vocabulary",
            title="4500 sequences of up to 3 out of 30 symbols",
            inputs=_drawing(4500, 3, 30),
            known=_fair(4500, 3, 30),
            hint="The number of symbols is an argument.",
            hidden_only=True,
        ),
    ],
    mutants=[
        Mutant(
            name="runs",
            says="Your sequences are runs: each symbol is followed by its successor. A "
            'model can learn "count down" from them, and nothing forces it to reverse.',
            asks="Which symbols can follow a 3 in your data, and which should?",
            ways=[Way(edits=[
                Edit("rng.choices(ids, k=rng.randint(1, longest))",
                     "[FIRST + (s + i) % symbols for s in [rng.randrange(symbols)] for i in range(rng.randint(1, longest))]"),
            ])],
        ),
        Mutant(
            name="from_zero",
            says="Your ids start at 0, so data tokens carry the ids of PAD, BOS and "
            "EOS.",
            asks="What would the loss do with a label 0? Where do symbols start?",
            ways=[
                Way(edits=[Edit("range(FIRST, FIRST + symbols)", "range(symbols)")]),
                Way(name="from_one", source="""
                    def random_sequences(count, rng, longest=10, symbols=10):
                        return [[rng.randint(0, symbols - 1) for _ in range(rng.randint(1, longest))] for _ in range(count)]
                    """),
            ],
        ),
        Mutant(
            name="never_longest",
            says="The greatest length never occurs: `range` and `randrange` stop "
            "before their end, `randint` does not.",
            asks="Which numbers does `rng.randrange(1, 10)` give?",
            ways=[Way(edits=[
                Edit("rng.randint(1, longest)", "rng.randrange(1, max(longest, 2))"),
            ])],
        ),
        Mutant(
            name="last_symbol_missing",
            says="The last symbol never occurs.",
            asks="How many numbers does `range(FIRST, FIRST + symbols - 1)` have?",
            ways=[Way(edits=[Edit("FIRST + symbols)", "FIRST + symbols - 1)")])],
        ),
        Mutant(
            name="one_symbol_too_many",
            says="One id too many occurs: the one after the last symbol, for which a "
            "model of this vocabulary has no row.",
            asks="Does `randint` include its upper end?",
            ways=[Way(edits=[Edit("FIRST + symbols)", "FIRST + symbols + 1)")])],
        ),
        Mutant(
            name="also_empty",
            says="Some of your sequences are empty.",
            asks="What is the smallest length that your draw of the length can give?",
            ways=[Way(edits=[Edit("randint(1, longest)", "randint(0, longest)")])],
        ),
        Mutant(
            name="rare_ends",
            says="The shortest and the longest length come half as often as those "
            "between: rounding gives the two ends only half of a step each.",
            asks="Which numbers does `round(rng.random() * 9)` make of 0.3 and of 0.6?",
            ways=[Way(edits=[
                Edit("rng.randint(1, longest)",
                     "1 + round(rng.random() * (longest - 1))"),
            ])],
        ),
        Mutant(
            name="never_twice_in_a_row",
            says="A symbol never follows itself.",
            asks="What does a die show after a 3: can it be a 3?",
            ways=[Way(source="""
                def random_sequences(count, rng, longest=10, symbols=10):
                    rows = []
                    for _ in range(count):
                        row = [rng.randrange(symbols)]
                        for _ in range(rng.randint(1, longest) - 1):
                            row.append((row[-1] + rng.randint(1, symbols - 1)) % symbols)
                        rows.append([FIRST + i for i in row])
                    return rows
                """)],
        ),
        Mutant(
            name="lengths_in_turn",
            says="Lengths are not drawn: they come one after the other.",
            asks="What is the length of the first sequence, each time you call?",
            ways=[Way(edits=[
                Edit("for _ in range(count)", "for i in range(count)"),
                Edit("rng.randint(1, longest)", "1 + i % longest"),
            ])],
        ),
        Mutant(
            name="sorted_by_length",
            says="Your sequences are sorted by their lengths.",
            asks="How long is the first of a hundred, and how long should it be?",
            ways=[Way(edits=[
                Edit("return [rng.choices(ids, k=rng.randint(1, longest)) for _ in range(count)]",
                     "return sorted((rng.choices(ids, k=rng.randint(1, longest)) for _ in range(count)), key=len)"),
            ])],
        ),
        Mutant(
            name="global_generator_seeded",
            says="`rng` seeds the global generator, which gives all the rest: whoever "
            "else uses that one is disturbed.",
            asks="What does `random.random()` give after your function, twice in a row?",
            ways=[Way(edits=[
                Edit("ids = range", "random.seed(rng.random()); rng = random; ids = range"),
            ])],
        ),
        Mutant(
            name="one_length",
            says="All your sequences have the same length.",
            asks="How often is the length drawn: once, or once per sequence?",
            ways=[Way(source="""
                def random_sequences(count, rng, longest=10, symbols=10):
                    ids, size = range(FIRST, FIRST + symbols), rng.randint(1, longest)
                    return [rng.choices(ids, k=size) for _ in range(count)]
                """)],
        ),
        Mutant(
            name="always_longest",
            says="All your sequences have the greatest length. A model that sees only "
            "those will never learn where short ones end.",
            asks="Where do you draw a length?",
            ways=[Way(edits=[Edit("rng.randint(1, longest)", "longest")])],
        ),
        Mutant(
            name="no_repeats",
            says="No symbol occurs twice in a sequence: `sample` draws without putting "
            "back, and there may be fewer symbols than places.",
            asks="How likely are two equal neighbours with a fair die, and with cards "
            "drawn from one deck?",
            ways=[Way(edits=[Edit("rng.choices(", "rng.sample(")])],
        ),
        Mutant(
            name="no_repeats_shuffled",
            says="No symbol occurs twice in a sequence: each one is a shuffled deck, "
            "cut to length.",
            asks="May `3 3 7` occur, and how often would a die show it?",
            ways=[Way(source="""
                def random_sequences(count, rng, longest=10, symbols=10):
                    rows = []
                    for _ in range(count):
                        deck = list(range(FIRST, FIRST + symbols))
                        rng.shuffle(deck)
                        rows.append(deck[: rng.randint(1, longest)])
                    return rows
                """)],
        ),
        Mutant(
            name="sorted",
            says="Your sequences are sorted. Reversing them could also mean sorting "
            "the other way.",
            asks="Which other rule than reversal would explain your data?",
            ways=[Way(edits=[
                Edit("[rng.choices(ids, k=rng.randint(1, longest))",
                     "[sorted(rng.choices(ids, k=rng.randint(1, longest)))"),
            ])],
        ),
        Mutant(
            name="one_symbol_each",
            says="Each of your sequences repeats one single symbol. Its reversal is "
            "itself.",
            asks="How often is a symbol drawn: once per sequence, or once per place?",
            ways=[Way(edits=[
                Edit("rng.choices(ids, k=rng.randint(1, longest))",
                     "[rng.choice(ids)] * rng.randint(1, longest)"),
            ])],
        ),
        Mutant(
            name="one_for_all",
            says="All sequences are the same one: it was drawn once and repeated.",
            asks="What does `[row] * count` contain?",
            ways=[Way(edits=[
                Edit("[rng.choices(ids, k=rng.randint(1, longest)) for _ in range(count)]",
                     "[rng.choices(ids, k=rng.randint(1, longest))] * count"),
            ])],
        ),
        Mutant(
            name="global_generator",
            says="Something is drawn from another generator than `rng`, so the same "
            "seed gives other data the next time.",
            asks="Which of your lines would still be random if `rng` were a loaded "
            "die?",
            ways=[
                Way(source="""
                    def random_sequences(count, rng, longest=10, symbols=10):
                        return [[random.randrange(FIRST, FIRST + symbols) for _ in range(random.randint(1, longest))] for _ in range(count)]
                    """),
            ],
        ),
        Mutant(
            name="torch_generator",
            says="Torch's generator draws your ids, not `rng`, so the same seed gives "
            "other data the next time.",
            asks="Which of your lines would still be random if `rng` were a loaded "
            "die?",
            ways=[Way(source="""
                def random_sequences(count, rng, longest=10, symbols=10):
                    return [torch.randint(FIRST, FIRST + symbols, (rng.randint(1, longest),)).tolist() for _ in range(count)]
                """)],
        ),
        Mutant(
            name="seeded_inside",
            says="Every call gives the same sequences: the generator is made, or "
            "seeded, inside the function. A training would see one batch again and "
            "again.",
            asks="What does the second call draw, if the first line seeds the "
            "generator?",
            ways=[Way(source="""
                def random_sequences(count, rng, longest=10, symbols=10):
                    rng = random.Random(0)
                    ids = range(FIRST, FIRST + symbols)
                    return [rng.choices(ids, k=rng.randint(1, longest)) for _ in range(count)]
                """)],
        ),
        Mutant(
            name="ids_seeded_inside",
            says="Ids come from a generator of your own, which begins anew in each call.",
            asks="Which source does the text name for everything that is drawn?",
            ways=[Way(edits=[Edit("ids = range(", "own, ids = random.Random(count), range("), Edit("rng.c", "own.c")])],
        ),
        Mutant(
            name="ten_symbols",
            says="You always draw from ten symbols, whatever `symbols` says.",
            asks="Where does your code use the argument `symbols`?",
            ways=[Way(edits=[Edit("FIRST + symbols)", "FIRST + 10)")])],
        ),
        Mutant(
            name="ten_long",
            says="Your sequences are up to ten long, whatever `longest` says.",
            asks="Where does your code use the argument `longest`?",
            ways=[Way(edits=[Edit("randint(1, longest)", "randint(1, 10)")])],
        ),
        Mutant(
            name="long_ones_favoured",
            says="Long sequences are much more frequent than short ones.",
            asks="There are ten sequences of length 1 and a hundred of length 2. "
            "Should length 2 be ten times as likely here?",
            ways=[Way(edits=[
                Edit("rng.randint(1, longest)",
                     "max(rng.randint(1, longest), rng.randint(1, longest))"),
            ])],
        ),
        Mutant(
            name="tensors",
            says="Your sequences are tensors; lists of Python integers are asked for.",
            asks="Why are lists the better choice while the lengths differ?",
            ways=[Way(edits=[
                Edit("[rng.choices(ids, k=rng.randint(1, longest))",
                     "[torch.tensor(rng.choices(ids, k=rng.randint(1, longest)))"),
            ])],
        ),
        Mutant(
            name="pairs_of_a_length",
            says="Sequences come in pairs of equal length.",
            asks="How often is a length drawn for how many sequences?",
            ways=[Way(edits=[
                Edit("return [rng.choices(ids, k=rng.randint(1, longest)) for _ in range(count)]",
                     "return [rng.choices(ids, k=n) for n in [rng.randint(1, longest) for _ in range((count + 1) // 2)] for _ in range(2)][:count]"),
            ])],
        ),
        Mutant(
            name="each_once",
            says="Your first sequences all differ; by chance, short ones come twice.",
            asks="Which sequences do you throw away, and why?",
            ways=[
                Way(source="""
                    def random_sequences(count, rng, longest=10, symbols=10):
                        ids, rows = range(FIRST, FIRST + symbols), []
                        while len(rows) < count:
                            row = rng.choices(ids, k=rng.randint(1, longest))
                            if len(rows) > 200 or row not in rows:
                                rows.append(row)
                        return rows
                    """),
            ],
        ),
        Mutant(
            name="short_ones_run_out",
            says="No sequence of yours comes twice, so nearly all of them are long.",
            asks="How many sequences of one symbol are there, and how many do you need?",
            ways=[
                Way(source="""
                    def random_sequences(count, rng, longest=10, symbols=10):
                        ids, rows = range(FIRST, FIRST + symbols), {}
                        while len(rows) < count:
                            row = rng.choices(ids, k=rng.randint(1, longest))
                            rows.setdefault(tuple(row), row)
                        return list(rows.values())
                    """),
            ],
        ),
        Mutant(
            name="no_palindromes",
            says="No sequence of yours reads the same backwards; by chance, some do.",
            asks="Which sequences do you draw a second time, and why?",
            ways=[Way(source="""
                def random_sequences(count, rng, longest=10, symbols=10):
                    rows = []
                    while len(rows) < count:
                        row = rng.choices(range(FIRST, FIRST + symbols), k=rng.randint(1, longest))
                        while len(row) > 1 < symbols and row == row[::-1]:
                            row = rng.choices(range(FIRST, FIRST + symbols), k=len(row))
                        rows.append(row)
                    return rows
                """)],
        ),
        Mutant(
            name="tuples",
            says="The sequences are right, but they come as tuples; lists are asked "
            "for. `row + [EOS]` fails on a tuple.",
            asks="Which brackets, or which function, make a list?",
            ways=[Way(edits=[
                Edit("rng.choices(ids, k=rng.randint(1, longest))",
                     "tuple(rng.choices(ids, k=rng.randint(1, longest)))"),
            ])],
        ),

        Mutant(
            name="always_64",
            says="You always return 64 sequences, whatever `count` says.",
            asks="Which argument says how many sequences there are?",
            ways=[Way(edits=[Edit("range(count)", "range(64)")])],
        ),
    ],
    accepted=[
        Accepted(name="loops", source="""
            def random_sequences(count, rng, longest=10, symbols=10):
                rows = []
                for _ in range(count):
                    row = []
                    for _ in range(rng.randint(1, longest)):
                        row.append(FIRST + rng.randrange(symbols))
                    rows.append(row)
                return rows
            """),
        Accepted(name="with_random", source="""
            def random_sequences(count, rng, longest=10, symbols=10):
                return [[FIRST + int(rng.random() * symbols) for _ in range(1 + int(longest * rng.random()))] for _ in range(count)]
            """),
        Accepted(name="lengths_first", source="""
            def random_sequences(count, rng, longest=10, symbols=10):
                lengths = rng.choices(range(1, longest + 1), k=count)
                return [[rng.choice(range(FIRST, FIRST + symbols)) for _ in range(n)] for n in lengths]
            """),
        Accepted(name="torch_from_rng", source="""
            def random_sequences(count, rng, longest=10, symbols=10):
                g = torch.Generator().manual_seed(rng.getrandbits(40))
                lengths = torch.randint(1, longest + 1, (count,), generator=g).tolist()
                return [torch.randint(FIRST, FIRST + symbols, (n,), generator=g).tolist() for n in lengths]
            """),
    ],
)
