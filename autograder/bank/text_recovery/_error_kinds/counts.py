"""Mistakes in what is counted, and how often."""

from __future__ import annotations

from autograder.bank.text_recovery._error_kinds.lines import DIFFER, FUNCTION, SIGN
from autograder.oracle.specification import Edit, Mutant, Way

_BOTH = "both = len(there) == 2"

COUNTS = [
    Mutant(
        name="missing_do_not_count",
        says="Words that are missing or too much are not counted.",
        asks="Of which kind is `(None, the)`?",
        ways=[
            Way(edits=[Edit(DIFFER, "if pair[0] != pair[1] and None not in pair")]),
        ],
    ),
    Mutant(
        name="too_much_does_not_count",
        says="Words that are too much are not counted.",
        asks="Of which kind is `(the, None)`?",
        ways=[Way(edits=[
            Edit(DIFFER, "if pair[0] != pair[1] and pair[1] is not None"),
        ])],
    ),
    Mutant(
        name="missing_does_not_count",
        says="Words that are missing are not counted.",
        asks="Of which kind is `(None, the)`?",
        ways=[Way(edits=[
            Edit(DIFFER, "if pair[0] != pair[1] and pair[0] is not None"),
        ])],
    ),
    Mutant(
        name="missing_are_words",
        says="Whatever is missing or too much counts as a wrong word.",
        asks="Is a missing full stop a word?",
        ways=[Way(edits=[
            Edit(SIGN,
                 "if both and not any(c.isalnum() for side in there for c in side):"),
            Edit(FUNCTION,
                 "if both and all(side in function_words for side in there):"),
        ])],
    ),
    Mutant(
        name="original_only",
        says="You look at the original's side only.",
        asks="What did the model write in its place?",
        ways=[Way(edits=[
            Edit(SIGN, "if not any(c.isalnum() for c in there[-1]):"),
            Edit(FUNCTION, "if there[-1] in function_words:"),
        ])],
    ),
    Mutant(
        name="output_only",
        says="You look at the output's side only.",
        asks="What should the model have written in its place?",
        ways=[Way(edits=[
            Edit(SIGN, "if not any(c.isalnum() for c in there[0]):"),
            Edit(FUNCTION, "if there[0] in function_words:"),
        ])],
    ),
    Mutant(
        name="several_kinds",
        says="One pair counts for several kinds: all that fit.",
        asks="What does \"the *first* that fits\" mean for `(is, was)`?",
        ways=[Way(edits=[
            Edit("def kind(", "def kinds("),
            Edit("return Counter(kind(pair) for pair in pairs if",
                 "return Counter(k for pair in pairs for k in kinds(pair) if"),
            Edit(_BOTH, "both, found = len(there) == 2, set()"),
            Edit('return "case"', 'found.add("case")'),
            Edit('return "sign"', 'found.add("sign")'),
            Edit('return "function word"', 'found.add("function word")'),
            Edit('return "form"', 'found.add("form")'),
            Edit('return "word"', 'return found or {"word"}'),
        ])],
    ),
    Mutant(
        name="kinds_not_numbers",
        says="Each kind counts once, however often it occurs.",
        asks="What do you need, a set or a count?",
        ways=[Way(edits=[
            Edit("Counter(kind(pair) for pair in pairs if pair[0] != pair[1])",
                 "dict.fromkeys((kind(p) for p in pairs if p[0] != p[1]), 1)"),
        ])],
    ),
    Mutant(
        name="shares",
        says="Your numbers are shares of all mistakes; counts are asked for.",
        asks="How do shares of several sentences add up?",
        ways=[Way(edits=[
            Edit(
                "return Counter(",
                """
                pairs = list(pairs)
                wrong = sum(a != b for a, b in pairs) or 1
                return {k: n / wrong for k, n in Counter(""",
            ),
            Edit("if pair[0] != pair[1])", "if pair[0] != pair[1]).items()}"),
        ])],
    ),
    Mutant(
        name="read_twice",
        says="The pairs are gone through twice. Of a generator, nothing is left the "
        "second time.",
        asks="What does a second loop over a generator see?",
        ways=[Way(edits=[
            Edit(
                "return Counter(",
                """
                if not any(a != b for a, b in pairs):
                    return {}
                return Counter(""",
            ),
        ])],
    ),
]
