"""Mistakes with targets that are given."""

from __future__ import annotations

from autograder.oracle.specification import Edit, Mutant, Way

TARGETS = [
    Mutant(
        name="empty_targets_as_none",
        says="Where all targets are empty, you write the sequences backwards.",
        asks="Is a list of empty lists the same as no list?",
        ways=[Way(edits=[
            Edit("if targets is None", "if not any(targets or [])"),
        ])],
    ),
    Mutant(
        name="targets_ignored",
        says="You reverse the sequences even if `targets` are given.",
        asks="What does your function do with its second argument?",
        ways=[Way(edits=[
            Edit("if targets is None else targets",
                 "if True else targets"),
        ])],
    ),
    Mutant(
        name="lists_only",
        says="Targets count for you only if a *list* holds them; in a tuple, they are lost.",
        asks="What is a `Sequence`, beside a list?",
        ways=[Way(edits=[
            Edit("if targets is None", "if not isinstance(targets, list)"),
        ])],
    ),
    Mutant(
        name="targets_reversed",
        says="Targets that were given are written backwards, too.",
        asks="Of which lists is the order right already?",
        ways=[Way(edits=[
            Edit("if targets is None else targets",
                 "if targets is None else [ids[::-1] for ids in targets]"),
        ])],
    ),
    Mutant(
        name="one_width",
        says="Source and target are filled up to one common rule: with targets of "
        "other lengths, a row is too long or too short.",
        asks="Which rows decide the width of the target?",
        ways=[
            Way(edits=[
                Edit("longest, widest = max(map(len, source)), max(map(len, target))",
                     "longest = max(map(len, source + target)); widest = longest"),
            ]),
        ],
    ),
    Mutant(
        name="at_least_source",
        says="Your target is always wider than the source. Where the targets are short, "
        "all of its rows are too long.",
        asks="Which rows decide the width of the target?",
        ways=[Way(edits=[
            Edit("longest, widest = max(map(len, source)), max(map(len, target))",
                 "longest = max(map(len, source)); widest = max(longest + 1, max(map(len, target)))"),
        ])],
    ),
]
