"""Mistakes in how hypotheses and the search end."""

from __future__ import annotations

from autograder.oracle.specification import Edit, Mutant, Way

ENDS = [
    Mutant(
        name="ended_stay_live",
        says="Continuations by EOS stay among the live prefixes and go on growing.",
        asks="What should become of a hypothesis that has ended?",
        ways=[Way(edits=[Edit("total[..., EOS] = -math.inf", "")])],
    ),
    Mutant(
        name="first_end_wins",
        says="The search stops only when EOS is the best continuation of a step; "
        "hypotheses that ended in earlier steps do not stop it.",
        asks="Which ended hypothesis is compared with the live ones?",
        ways=[Way(edits=[
            Edit(
                "total[..., EOS] = -math.inf",
                """
                over = total.flatten(1).argmax(1) % total.size(-1) == EOS
                total[..., EOS] = -math.inf
                """,
            ),
            Edit("going = best[rows] < scores[:, 0] / length**alpha",
                 "going = ~over"),
        ])],
    ),
    Mutant(
        name="last_end_wins",
        says="The ended hypothesis that came last is taken, not the best one.",
        asks="What was remembered, and was it better?",
        ways=[Way(edits=[
            Edit("(ended > best[rows]).nonzero()", "(ended > -math.inf).nonzero()"),
        ])],
    ),
    Mutant(
        name="later_of_equal",
        says="Of two ended hypotheses that are exactly as good you take the later "
        "one.",
        asks="When does an ended hypothesis replace the one that you remember?",
        ways=[Way(edits=[
            Edit("(ended > best[rows]).nonzero()", "(ended >= best[rows]).nonzero()"),
        ])],
    ),
    Mutant(
        name="live_wins",
        says="The best live hypothesis is returned, although others have ended.",
        asks="What is the answer when the search is over?",
        ways=[Way(edits=[
            Edit(
                "return padded(answers)",
                """
                for i, row in enumerate(rows.tolist()):
                    answers[row] = prefixes[i, 0, 1:].tolist()
                return padded(answers)""",
            ),
        ])],
    ),
    Mutant(
        name="never_stops",
        says="The search always runs for max_len steps.",
        asks="When can no live hypothesis win any more?",
        ways=[Way(edits=[
            Edit("going = best[rows] < scores[:, 0] / length**alpha",
                 "going = best[rows] < math.inf"),
        ])],
    ),
    Mutant(
        name="stops_by_raw_score",
        says="The stop rule compares a normalised with a raw score.",
        asks="Are both divided by their length?",
        ways=[Way(edits=[
            Edit("best[rows] < scores[:, 0] / length**alpha",
                 "best[rows] < scores[:, 0]"),
        ])],
    ),
    Mutant(
        name="eos_lost",
        says="EOS is missing at the end of the answers.",
        asks="What should an ended row end with?",
        ways=[Way(edits=[
            Edit("[*prefixes[i, winner[i], 1:].tolist(), EOS]",
                 "prefixes[i, winner[i], 1:].tolist()"),
        ])],
    ),
    Mutant(
        name="one_sentence_alone",
        says="For a single sentence, the first dimension is lost.",
        asks="Which shape has the result if B is 1?",
        ways=[Way(edits=[
            Edit("return padded(answers).to(source.device)",
                 "return padded(answers).to(source.device).squeeze(0)"),
        ])],
    ),
    Mutant(
        name="bos_returned",
        says="BOS is part of the answers.",
        asks="Where does the answer begin?",
        ways=[Way(edits=[
            Edit("[*prefixes[i, winner[i], 1:].tolist(), EOS]",
                 "[*prefixes[i, winner[i]].tolist(), EOS]"),
        ])],
    ),
    Mutant(
        name="at_most_60",
        says="No text is longer than 60 tokens, whatever `max_len` is.",
        asks="Where does your code use `max_len`?",
        ways=[Way(edits=[
            Edit("range(1, max_len + 1)", "range(1, min(max_len, 60) + 1)"),
        ])],
    ),
    Mutant(
        name="minus_hundred",
        says="A number like -100 stands for minus infinity: in a long text, prefixes "
        "that have ended go on.",
        asks="Which number is below every score that there can be?",
        ways=[Way(edits=[
            Edit("total[..., EOS] = -math.inf", "total[..., EOS] = -100.0"),
        ])],
    ),
]
