"""Mistakes in what is compared with what, and in the length that counts."""

from __future__ import annotations

from autograder.oracle.specification import Edit, Mutant, Way

_CLOSEST = "min(map(len, wanted), key=lambda size: (abs(size - len(tokens)), size))"

REFERENCES = [
    Mutant(
        name="turned_round",
        says="You take a list of lists for one that is turned round: for the first "
        "references of all sentences, then the second ones.",
        asks="What is `references[0]`: of one sentence, or of all?",
        ways=[Way(edits=[
            Edit("zip(hypotheses, references, strict=True)",
                 "zip(hypotheses, zip(*references) if len(references[0]) == len(references) else references)"),
        ])],
    ),
    Mutant(
        name="swapped",
        says="Hypotheses and references are exchanged: precision has become "
        "recall.",
        asks="Whose n-grams are asked to match?",
        ways=[Way(source="""
            def corpus_bleu(hypotheses, references, tokenize=tokenize_13a, smooth='exp', effective_order=False):
                matches, totals, h, r = [0] * 4, [0] * 4, 0, 0
                for text, originals in zip(hypotheses, references):
                    tokens, wanted = tokenize(originals[0]), [tokenize(text)]
                    for n in range(4):
                        m, t = clipped_matches(tokens, wanted, n + 1)
                        matches[n] += m; totals[n] += t
                    h += len(tokens); r += len(wanted[0])
                orders = sum(t > 0 for t in totals) if effective_order else 4
                if not any(matches) or 0 in totals[:orders]:
                    return 0.0
                logs, share = 0.0, 1.0
                for m, t in zip(matches[:orders], totals):
                    if m == 0 and smooth == 'none':
                        return 0.0
                    if m == 0:
                        share /= 2
                    logs += math.log((m or share) / t)
                return 100 * min(1.0, math.exp(1 - r / h)) * math.exp(logs / orders)
            """)],
    ),
    Mutant(
        name="first_reference",
        says="Only the first reference is used.",
        asks="Where are the others?",
        ways=[Way(edits=[
            Edit("[tokenize(original) for original in originals]",
                 "[tokenize(original) for original in originals[:1]]"),
        ])],
    ),
    Mutant(
        name="references_as_characters",
        says="Each reference was taken apart into characters: one level of lists "
        "is missing, or one too many.",
        asks="What is `references[0]`, and what is `references[0][0]`?",
        ways=[Way(edits=[
            Edit("for original in originals]", "for original in originals[0]]"),
        ])],
    ),
    Mutant(
        name="one_sentence",
        says="Only one sentence was scored: `zip` stopped there without a word.",
        asks="Which of the two lists was shorter, and why?",
        ways=[Way(edits=[
            Edit("in zip(hypotheses, references, strict=True)",
                 "in list(zip(hypotheses, references))[:1]"),
        ])],
    ),
    Mutant(
        name="joined_corpus",
        says="The sentences were joined into one text: n-grams cross the borders "
        "of sentences.",
        asks="Is the end of one sentence and the beginning of the next an n-gram?",
        ways=[Way(edits=[
            Edit(
                "for text, originals in zip(hypotheses, references, strict=True):",
                """
                hypotheses = [' '.join(hypotheses)]
                references = [[' '.join(o[min(i, len(o) - 1)] for o in references) for i in range(max(map(len, references)))]]
                for text, originals in zip(hypotheses, references, strict=True):
                """,
            ),
        ])],
    ),
    Mutant(
        name="shortest_reference",
        says="The shortest reference counts for the length, not the closest one.",
        asks="Which reference would a fair judge compare your length with?",
        ways=[Way(edits=[Edit(_CLOSEST, "min(map(len, wanted))")])],
    ),
    Mutant(
        name="longest_reference",
        says="The longest reference counts for the length.",
        asks="Which reference would a fair judge compare your length with?",
        ways=[Way(edits=[Edit(_CLOSEST, "max(map(len, wanted))")])],
    ),
    Mutant(
        name="mean_length",
        says="The references' mean length counts.",
        asks="Which reference is closest in length?",
        ways=[Way(edits=[Edit(_CLOSEST, "sum(map(len, wanted)) / len(wanted)")])],
    ),
    Mutant(
        name="all_lengths",
        says="The lengths of all references are added up.",
        asks="How many references should count for the length?",
        ways=[Way(edits=[Edit(_CLOSEST, "sum(map(len, wanted))")])],
    ),
    Mutant(
        name="tie_to_longer",
        says="Of two equally close references the longer one counts.",
        asks="Which of the two does the text above choose?",
        ways=[Way(edits=[
            Edit("(abs(size - len(tokens)), size)",
                 "(abs(size - len(tokens)), -size)"),
        ])],
    ),
    Mutant(
        name="references_sorted",
        says="BLEU is right, but the lists of references are in another order "
        "afterwards.",
        asks="Which of your steps changes a list that you were given?",
        ways=[Way(edits=[
            Edit("return 100 *", """
                for originals in references:
                    originals.sort()
                return 100 *
                """),
        ])],
    ),
]
