"""Random sequences."""

from __future__ import annotations

from collections.abc import Callable

import torch

from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.specification import Inputs, Maker, Specification
from autograder.checks.exercise import Answers
from autograder.units.sequence_reversal.exercises._inputs import FIRST


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
        "lengths that occur where one sequence is asked for": torch.arange(1, longest + 1),
        "all of these equally often": true,
        "lengths of the first half": "as chance has it",
        "sequences of one symbol": "some come twice",
        "randomness comes from rng alone": true,
        "kind of what holds the ids": "list",
    }
    return lambda draw: known


CASES = [
    case("few_symbols", "3000 sequences of up to 7 tokens, from 5 symbols", _drawing(3000, 7, 5),
         "Each length from 1 to 7 and each id from 4 to 8 should be equally likely.", known=_fair(3000, 7, 5)),
    case("many_symbols", "4000 sequences of up to 4 tokens, from 9 symbols", _drawing(4000, 4, 9),
         "Each symbol is drawn afresh, whatever its neighbours are.", known=_fair(4000, 4, 9)),
    case("as_in_the_course", "3500 sequences of up to 10 tokens, from 10 symbols", _drawing(3500, 10, 10),
         "Look at a few of your sequences. Could you tell them apart from rolls of a die?", known=_fair(3500, 10, 10)),
    case("large_vocabulary", "4500 sequences of up to 3 tokens, from 30 symbols", _drawing(4500, 3, 30),
         "The number of symbols is an argument.", known=_fair(4500, 3, 30), hidden_only=True),
]

MISTAKES = [
    wrong("runs",
          'Your sequences are runs: each symbol is followed by its successor. A model can learn "count down" from '
          "them, and nothing forces it to reverse.",
          "Which symbols can follow a 3 in your data, and which should?",
          edit("rng.choices(ids, k=rng.randint(1, longest))",
               "[FIRST + (s + i) % symbols for s in [rng.randrange(symbols)] for i in range(rng.randint(1, longest))]")),
    wrong("from_zero",
          "Your ids start at 0, so data tokens have the ids of PAD, BOS and EOS.",
          "What would the loss do with a label 0, and where do symbols start?",
          edit("range(FIRST, FIRST + symbols)", "range(symbols)")),
    wrong("never_longest",
          "The maximum length never occurs: `range` and `randrange` exclude their end, but `randint` does not.",
          "What is the largest length that your code can sample?",
          edit("rng.randint(1, longest)", "rng.randrange(1, max(longest, 2))")),
    wrong("last_symbol_missing",
          "The last symbol never occurs.",
          "How many different ids occur in your data, and how many should?",
          edit("FIRST + symbols)", "FIRST + symbols - 1)")),
    wrong("one_symbol_too_many",
          "One id too many occurs: the one after the last symbol, for which the model's embedding has no row.",
          "Does `randint` include its upper end?",
          edit("FIRST + symbols)", "FIRST + symbols + 1)")),
    wrong("symbols_by_randint",
          "One id too many occurs, the one after the last symbol: `randint` includes its upper end.",
          "How many different ids occur in your data, and how many should?",
          edit("rng.choices(ids, k=rng.randint(1, longest))",
               "[rng.randint(FIRST, FIRST + symbols) for _ in range(rng.randint(1, longest))]")),
    wrong("also_empty",
          "Some of your sequences are empty.",
          "What is the smallest length that your code can draw?",
          edit("randint(1, longest)", "randint(0, longest)")),
    wrong("rare_ends",
          "The shortest and the longest length occur half as often as the others: rounding gives each end only half an "
          "interval.",
          "Which values of `rng.random() * 9` does `round` send to 0, and which to 1?",
          edit("rng.randint(1, longest)", "1 + round(rng.random() * (longest - 1))")),
    wrong("empty_made_one",
          "Sequences of length 1 are twice as frequent as others: the length 0 is drawn, too, and made 1.",
          "Which numbers can `rng.randint(0, 3)` give, and what does `max(1, ...)` make of them?",
          edit("rng.randint(1, longest)", "max(1, rng.randint(0, longest))")),
    wrong("all_begin_alike",
          "All sequences begin with the same symbol.",
          "What is the last symbol of every reversed sequence then?",
          edit("[rng.choices(ids, k=rng.randint(1, longest))",
               "[[FIRST] + rng.choices(ids, k=rng.randint(1, longest) - 1)")),
    wrong("never_twice_in_a_row",
          "A symbol never follows itself.",
          "A die has just shown a 3. Can the next roll be a 3?",
          source("""
              def random_sequences(count, rng, longest=10, symbols=10):
                  rows = []
                  for _ in range(count):
                      row = [rng.randrange(symbols)]
                      for _ in range(rng.randint(1, longest) - 1):
                          row.append((row[-1] + rng.randint(1, symbols - 1)) % symbols)
                      rows.append([FIRST + i for i in row])
                  return rows
              """)),
    wrong("lengths_in_turn",
          "The lengths are not random: they go through 1, 2, 3 and so on in turn.",
          "What is the length of the first sequence, every time you call?",
          edit("for _ in range(count)", "for i in range(count)", "rng.randint(1, longest)", "1 + i % longest")),
    wrong("sorted_by_length",
          "Your sequences are sorted by length.",
          "How long is the first of a hundred sequences, and how long should it be?",
          edit("return [rng.choices(ids, k=rng.randint(1, longest)) for _ in range(count)]",
               "return sorted((rng.choices(ids, k=rng.randint(1, longest)) for _ in range(count)), key=len)")),
    wrong("global_generator_seeded",
          "You seed the global generator from `rng`, which disturbs everything else that uses it.",
          "Call your function twice with the same seed: what does `random.random()` return after each call?",
          edit("ids = range", "random.seed(rng.random()); rng = random; ids = range")),
    wrong("one_length",
          "All your sequences have the same length.",
          "How often is the length drawn: once, or once per sequence?",
          source("""
              def random_sequences(count, rng, longest=10, symbols=10):
                  ids, size = range(FIRST, FIRST + symbols), rng.randint(1, longest)
                  return [rng.choices(ids, k=size) for _ in range(count)]
              """)),
    wrong("always_longest",
          "All your sequences have the maximum length, so a model will never learn where short ones end.",
          "Where do you draw a length?",
          edit("rng.randint(1, longest)", "longest")),
    wrong("no_repeats",
          "No symbol occurs twice in a sequence: `sample` draws without replacement, and there may be fewer symbols "
          "than positions.",
          "How likely are two equal neighbours if you roll a die, and if you deal cards from one deck?",
          edit("rng.choices(", "rng.sample(")),
    wrong("no_repeats_shuffled",
          "No symbol occurs twice in a sequence: each one is a shuffled deck, cut to length.",
          "May `3 3 7` occur, and how often would a die show it?",
          source("""
              def random_sequences(count, rng, longest=10, symbols=10):
                  rows = []
                  for _ in range(count):
                      deck = list(range(FIRST, FIRST + symbols))
                      rng.shuffle(deck)
                      rows.append(deck[: rng.randint(1, longest)])
                  return rows
              """)),
    wrong("sorted",
          "Your sequences are sorted, so reversing them looks the same as sorting them in descending order.",
          "Which rule other than reversal would explain your data?",
          edit("[rng.choices(ids, k=rng.randint(1, longest))", "[sorted(rng.choices(ids, k=rng.randint(1, longest)))")),
    wrong("one_symbol_each",
          "Each of your sequences repeats a single symbol, so it is its own reversal.",
          "How often is a symbol drawn: once per sequence, or once per position?",
          edit("rng.choices(ids, k=rng.randint(1, longest))", "[rng.choice(ids)] * rng.randint(1, longest)")),
    wrong("one_for_all",
          "All sequences are the same: one was drawn and then repeated.",
          "Are your rows separate lists, or the same list repeated?",
          edit("[rng.choices(ids, k=rng.randint(1, longest)) for _ in range(count)]",
               "[rng.choices(ids, k=rng.randint(1, longest))] * count")),
    wrong("global_generator",
          "Something is drawn from a generator other than `rng`, so the same seed gives different data the next time.",
          "If `rng` always gave the same number, which of your lines would still be random?",
          source("""
              def random_sequences(count, rng, longest=10, symbols=10):
                  return [[random.randrange(FIRST, FIRST + symbols) for _ in range(random.randint(1, longest))] for _ in range(count)]
              """)),
    wrong("torch_generator",
          "Your ids are drawn from PyTorch's generator, not from `rng`, so the same seed gives different data the next "
          "time.",
          "If `rng` always gave the same number, which of your lines would still be random?",
          source("""
              def random_sequences(count, rng, longest=10, symbols=10):
                  return [torch.randint(FIRST, FIRST + symbols, (rng.randint(1, longest),)).tolist() for _ in range(count)]
              """)),
    wrong("seeded_inside",
          "Every call gives the same sequences: the generator is created or seeded inside the function, so a training "
          "run would see the same batch again and again.",
          "If the first line seeds the generator, what does the second call draw?",
          source("""
              def random_sequences(count, rng, longest=10, symbols=10):
                  rng = random.Random(0)
                  ids = range(FIRST, FIRST + symbols)
                  return [rng.choices(ids, k=rng.randint(1, longest)) for _ in range(count)]
              """)),
    wrong("ids_seeded_inside",
          "The ids come from a generator of your own, which starts afresh in each call.",
          "Which generator does the task name as the source of all randomness?",
          edit("ids = range(", "own, ids = random.Random(count), range(", "rng.c", "own.c")),
    wrong("ten_symbols",
          "You always draw from ten symbols, whatever `symbols` says.",
          "Where does your code use the argument `symbols`?",
          edit("FIRST + symbols)", "FIRST + 10)")),
    wrong("ten_long",
          "Your sequences are at most ten long, whatever `longest` says.",
          "Where does your code use the argument `longest`?",
          edit("randint(1, longest)", "randint(1, 10)")),
    wrong("long_ones_favoured",
          "Long sequences are much more frequent than short ones.",
          "There are ten sequences of length 1 and a hundred of length 2. Should length 2 be ten times as likely here?",
          edit("rng.randint(1, longest)", "max(rng.randint(1, longest), rng.randint(1, longest))")),
    wrong("tensors",
          "Your sequences are tensors; they should be lists of Python integers.",
          "Why are lists the better choice while the lengths differ?",
          edit("[rng.choices(ids, k=rng.randint(1, longest))",
               "[torch.tensor(rng.choices(ids, k=rng.randint(1, longest)))")),
    wrong("short_ones_run_out",
          "No sequence occurs twice in your data, so nearly all of them are long.",
          "How many different sequences of one symbol are there, and how many do you need?",
          source("""
              def random_sequences(count, rng, longest=10, symbols=10):
                  ids, rows = range(FIRST, FIRST + symbols), {}
                  while len(rows) < count:
                      row = rng.choices(ids, k=rng.randint(1, longest))
                      rows.setdefault(tuple(row), row)
                  return list(rows.values())
              """)),
    wrong("tuples",
          "The sequences are tuples instead of lists. `row + [EOS]` fails on a tuple.",
          "Which brackets, or which function, make a list?",
          edit("rng.choices(ids, k=rng.randint(1, longest))", "tuple(rng.choices(ids, k=rng.randint(1, longest)))")),
    wrong("always_64",
          "You always return 64 sequences, whatever `count` says.",
          "Which argument gives the number of sequences?",
          edit("range(count)", "range(64)")),
]

ACCEPTED = [
    right("loops", source("""
        def random_sequences(count, rng, longest=10, symbols=10):
            rows = []
            for _ in range(count):
                row = []
                for _ in range(rng.randint(1, longest)):
                    row.append(FIRST + rng.randrange(symbols))
                rows.append(row)
            return rows
        """)),
    right("with_random", source("""
        def random_sequences(count, rng, longest=10, symbols=10):
            return [[FIRST + int(rng.random() * symbols) for _ in range(1 + int(longest * rng.random()))] for _ in range(count)]
        """)),
    right("lengths_first", source("""
        def random_sequences(count, rng, longest=10, symbols=10):
            lengths = rng.choices(range(1, longest + 1), k=count)
            return [[rng.choice(range(FIRST, FIRST + symbols)) for _ in range(n)] for n in lengths]
        """)),
    right("torch_from_rng", source("""
        def random_sequences(count, rng, longest=10, symbols=10):
            g = torch.Generator().manual_seed(rng.getrandbits(40))
            lengths = torch.randint(1, longest + 1, (count,), generator=g).tolist()
            return [torch.randint(FIRST, FIRST + symbols, (n,), generator=g).tolist() for n in lengths]
        """)),
]

EXERCISE = Specification(
    name="sequence_reversal/random_sequences", title="Random sequences", target="random_sequences", precise=False,
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
