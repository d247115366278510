"""Mistakes in what is counted."""

from __future__ import annotations

from autograder.oracle.specification import Edit, Mutant, Way

TOKENS = [
    Mutant(
        name="lower_cased",
        says="The texts are lower-cased: nobody sees whether case was recovered.",
        asks="Which half of the task is to recover case?",
        ways=[Way(edits=[
            Edit("tokens, wanted = tokenize(text), [tokenize(original) for",
                 "tokens, wanted = tokenize(text.lower()), [tokenize(original.lower()) for"),
        ])],
    ),
    Mutant(
        name="signs_stripped",
        says="Signs are stripped before counting: nobody sees whether they were "
        "recovered.",
        asks="Do commas count?",
        ways=[Way(edits=[
            Edit(
                "tokens, wanted = tokenize(text), [tokenize(original) for",
                r"""
                strip = lambda t: re.sub(r'[^\w\s]', '', t)
                tokens, wanted = tokenize(strip(text)), [tokenize(strip(original)) for
                """,
            ),
        ])],
    ),
    Mutant(
        name="split_always",
        says="Texts are cut at spaces, whatever `tokenize` says.",
        asks="What is `key.` after `split`, and after 13a?",
        ways=[Way(edits=[
            Edit("tokens, wanted = tokenize(text), [tokenize(original) for",
                 "tokens, wanted = text.split(), [original.split() for"),
        ])],
    ),
    Mutant(
        name="characters",
        says="The n-grams are made of characters: a text was counted, not its "
        "tokens.",
        asks="What does `tokenize` return, and did you use it?",
        ways=[Way(edits=[
            Edit("tokens, wanted = tokenize(text), [tokenize(original) for",
                 "tokens, wanted = list(text), [list(original) for"),
        ])],
    ),
]
