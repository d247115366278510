"""Clipped n-gram matches."""

from __future__ import annotations

import json

from autograder.oracle.draw import Draw
from autograder.oracle.specification import (
    Accepted,
    CaseKind,
    Edit,
    Inputs,
    Mutant,
    Specification,
    Way,
)


def _small_texts(draw: Draw, rows: int, references: int, words: str) -> Inputs:
    """Texts of few different words, so that repetitions matter."""
    pool = words.split()

    def text(low: int, high: int) -> list[str]:
        length = int(draw.ids(low, high, 1))
        return [pool[int(i)] for i in draw.ids(0, len(pool), length)]

    made = [
        [text(3, 12), [text(3, 12) for _ in range(references)]] for _ in range(rows)
    ]
    last = text(4, 8)
    made.append([["the"] * 7, [last] * references])
    made.append([[word.title() for word in last], [last] * references])
    # A reference that is too short for four words in a row stands before the others.
    made.append([last, [last[:3], *[last] * (references - 1)]])
    return {"rows": json.dumps(made)}


def _short_texts(draw: Draw) -> Inputs:
    pool = ["a", "b", "c"]

    def text(length: int) -> list[str]:
        return [pool[int(i)] for i in draw.ids(0, 3, length)]

    rows = [[text(n), [text(m)]] for n, m in ((0, 3), (1, 1), (2, 5), (3, 2), (4, 4))]
    # The same letters and signs, other tokens.
    rows.append([["ab", "c", "c"], [["a", "bc", "c"]]])
    rows += [[["a" + s + "b", "c"], [["a", "b" + s + "c"]]] for s in "-_|"]
    return {"rows": json.dumps([*rows, [text(6), [text(0)]]])}


EXERCISE = Specification(
    name="text_recovery/clipped_matches",
    title="Clipped n-gram matches",
    target="clipped_matches",
    precise=False,
    cases=[
        CaseKind(
            name="one",
            title="one reference",
            inputs=lambda draw: _small_texts(draw, 8, 1, "the cat sat on mat"),
            hint="An n-gram counts at most as often as it occurs in the reference.",
        ),
        CaseKind(
            name="three",
            title="three references",
            inputs=lambda draw: _small_texts(draw, 8, 3, "the dog dog saw a cat"),
            hint="With several references the one that has an n-gram most often "
            "decides.",
        ),
        CaseKind(
            name="short",
            title="texts shorter than n",
            inputs=_short_texts,
            hint="A text of three words has no 4-gram: 0 of 0.",
            tells=("unordered", "sets_total"),
        ),
        CaseKind(
            name="two",
            title="two references, other words",
            inputs=lambda draw: _small_texts(draw, 12, 2, "the b the c d"),
            hint="The same for other texts.",
            hidden_only=True,
        ),
    ],
    mutants=[
        Mutant(
            name="no_clipping",
            says="Matches are not clipped: `the the the` matches a reference with one "
            "`the` three times.",
            asks="How often may an n-gram count?",
            ways=[Way(edits=[
                Edit("(own & allowed).total()",
                     "sum(c for gram, c in own.items() if gram in allowed)"),
            ])],
        ),
        Mutant(
            name="sets",
            says="Each different n-gram counts once.",
            asks="What does a set not know?",
            ways=[Way(source="""
                def clipped_matches(hypothesis, references, n):
                    def grams(t):
                        return {tuple(t[i:i + n]) for i in range(len(t) - n + 1)}
                    own = grams(hypothesis)
                    return len(own & set().union(*map(grams, references))), len(own)
                """)],
        ),
        Mutant(
            name="sets_total",
            says="Matches are counted with sets: each n-gram counts once.",
            asks="How often may an n-gram count that stands twice on both sides?",
            ways=[Way(edits=[Edit("(own & allowed).total()", "len(own & allowed)")])],
        ),
        Mutant(
            name="added_up",
            says="The counts of several references are added up: each may match.",
            asks="Which reference decides how often an n-gram may count?",
            ways=[Way(edits=[
                Edit("allowed |= ngrams(reference)", "allowed += ngrams(reference)"),
            ])],
        ),
        Mutant(
            name="short_reference_ends",
            says="A reference that is shorter than n hides those behind it.",
            asks="What does your loop do when a reference has no n-gram?",
            ways=[Way(edits=[
                Edit("allowed |= ngrams(reference)",
                     """
                     if len(reference) < n:
                         break
                     allowed |= ngrams(reference)
                     """),
            ])],
        ),
        Mutant(
            name="smallest",
            says="An n-gram must occur in *all* references.",
            asks="Which of the references has it most often?",
            ways=[Way(source="""
                def clipped_matches(hypothesis, references, n):
                    def grams(t):
                        return Counter(tuple(t[i:i + n]) for i in range(len(t) - n + 1))
                    own = grams(hypothesis)
                    left = own
                    for r in references:
                        left = left & grams(r)
                    return left.total(), own.total()
                """)],
        ),
        Mutant(
            name="first_reference",
            says="Only the first reference is looked at.",
            asks="Where are the others?",
            ways=[Way(edits=[
                Edit("for reference in references:",
                     "for reference in references[:1]:"),
            ])],
        ),
        Mutant(
            name="best_reference",
            says="The best single reference decides for the whole sentence; it should "
            "be chosen for each n-gram.",
            asks="Two n-grams, each found in another reference: how many match?",
            ways=[Way(source="""
                def clipped_matches(hypothesis, references, n):
                    def grams(t):
                        return Counter(tuple(t[i:i + n]) for i in range(len(t) - n + 1))
                    own = grams(hypothesis)
                    return max((own & grams(r)).total() for r in references), own.total()
                """)],
        ),
        Mutant(
            name="total_of_reference",
            says="The total counts the n-grams of the reference: that is recall, not "
            "precision.",
            asks="Which text's n-grams are asked to match?",
            ways=[Way(edits=[Edit("own.total()", "allowed.total()")])],
        ),
        Mutant(
            name="last_ngram_lost",
            says="The last n-gram is missing.",
            asks="How many n-grams does a text of L tokens have?",
            ways=[Way(edits=[Edit("len(tokens) - n + 1", "len(tokens) - n")])],
        ),
        Mutant(
            name="short_tails",
            says="Tails that are shorter than n count as n-grams.",
            asks="How many n-grams does a text of L tokens have?",
            ways=[Way(edits=[
                Edit("range(len(tokens) - n + 1)", "range(len(tokens))"),
            ])],
        ),
        Mutant(
            name="non_overlapping",
            says="N-grams do not overlap: every token is used once.",
            asks="How many pairs does `a b c` have?",
            ways=[Way(edits=[
                Edit("range(len(tokens) - n + 1)", "range(0, len(tokens) - n + 1, n)"),
            ])],
        ),
        Mutant(
            name="unordered",
            says="The order inside an n-gram is lost.",
            asks="Is `a b` the same as `b a`?",
            ways=[Way(edits=[
                Edit("tuple(tokens[i : i + n])", "tuple(sorted(tokens[i : i + n]))"),
            ])],
        ),
        Mutant(
            name="characters",
            says="N-grams are made of characters, not of tokens.",
            asks="What do you get when you walk through a text, and what through a "
            "list of tokens?",
            ways=[Way(edits=[
                Edit("Counter(tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1))",
                     "(lambda s: Counter(s[i : i + n] for i in range(len(s) - n + 1)))(' '.join(tokens))"),
            ])],
        ),
        Mutant(
            name="exactly_n_missing",
            says="All orders up to n are counted together.",
            asks="Is a unigram a bigram?",
            ways=[Way(edits=[
                Edit("Counter(tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1))",
                     "Counter(tuple(tokens[i : i + m]) for m in range(1, n + 1) for i in range(len(tokens) - m + 1))"),
            ])],
        ),
        Mutant(
            name="joined_by_hyphens",
            says="The tokens of an n-gram are joined by a sign that may stand in a token: "
            "different n-grams become equal.",
            asks="Are `a-b`, `c` and `a`, `b-c` the same two tokens?",
            ways=[Way(edits=[
                Edit("Counter(tuple(tokens[i : i + n])", "Counter('-'.join(tokens[i : i + n])"),
            ])],
        ),
    ],
    accepted=[
        Accepted(name="dicts", source="""
            def clipped_matches(hypothesis, references, n):
                def count(tokens):
                    table = {}
                    for i in range(len(tokens) - n + 1):
                        gram = ' '.join(tokens[i:i + n])
                        table[gram] = table.get(gram, 0) + 1
                    return table
                own, others = count(hypothesis), [count(r) for r in references]
                good = sum(min(c, max(o.get(g, 0) for o in others)) for g, c in own.items())
                return good, sum(own.values())
            """),
        Accepted(name="zip_ngrams", source="""
            def clipped_matches(hypothesis, references, n):
                grams = lambda t: Counter(zip(*(t[i:] for i in range(n))))
                own = grams(hypothesis)
                most = Counter()
                for reference in map(grams, references):
                    for g in reference:
                        most[g] = max(most[g], reference[g])
                return sum((own & most).values()), max(len(hypothesis) - n + 1, 0)
            """),
    ],
)
