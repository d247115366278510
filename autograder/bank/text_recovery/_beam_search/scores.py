"""Mistakes in what competes, and by which score."""

from __future__ import annotations

from autograder.oracle.specification import Edit, Mutant, Way

_TOTAL = "total = scores[..., None] + log_p"

SCORES = [
    Mutant(
        name="greedy",
        says="This is greedy decoding: only one prefix stays live, or all are the same one.",
        asks="How many different prefixes does `beam_size` ask for?",
        ways=[Way(edits=[Edit("k, answers = beam_size,", "k, answers = 1,")])],
    ),
    Mutant(
        name="per_prefix",
        says="Every prefix keeps its own best continuation; they should compete "
        "with each other.",
        asks="Of how many continuations are the k best chosen?",
        ways=[Way(edits=[
            Edit(
                "scores, places = total.flatten(1).topk(wide)  # (b, k)",
                """
                each, tokens = total.topk(min(k if live == 1 else 1, total.size(-1)), dim=-1)
                scores = each.flatten(1)
                places = (tokens + torch.arange(live)[:, None] * total.size(-1)).flatten(1)
                scores, order = scores.sort(dim=1, descending=True)
                places = places.gather(1, order)
                """,
            ),
        ])],
    ),
    Mutant(
        name="probabilities",
        says="Probabilities are added up, not their logarithms.",
        asks="What is the probability of two things in a row?",
        ways=[Way(edits=[Edit("log_softmax(-1)", "softmax(-1)")])],
    ),
    Mutant(
        name="logits",
        says="Logits are added up. They are no logarithms of probabilities: "
        "prefixes cannot be compared by them.",
        asks="What makes the scores of different prefixes comparable?",
        ways=[Way(edits=[
            Edit("[:, -1].log_softmax(-1).unflatten", "[:, -1].unflatten"),
        ])],
    ),
    Mutant(
        name="scores_forgotten",
        says="Only the newest token's score counts: the prefix's own score is "
        "forgotten.",
        asks="What is the score of a continuation made of?",
        ways=[Way(edits=[Edit(_TOTAL, "total = log_p.clone()")])],
    ),
    Mutant(
        name="divided_by_k",
        says="The place in the flat list is divided by k, not by the size of the "
        "vocabulary.",
        asks="How many columns does the table have?",
        ways=[Way(edits=[
            Edit("places // total.size(-1)", "(places // k) % live"),
        ])],
    ),
    Mutant(
        name="no_parent",
        says="The new tokens are appended to the wrong prefixes: the prefixes stay "
        "where they were.",
        asks="Which prefix does each of the k best continue?",
        ways=[Way(edits=[
            Edit("places // total.size(-1)",
                 "torch.arange(places.size(1)).expand_as(places) % live"),
        ])],
    ),
    Mutant(
        name="not_normalised",
        says="Ended hypotheses are compared by their raw scores, whatever alpha "
        "is.",
        asks="Where does `alpha` stand in your code?",
        ways=[Way(edits=[
            Edit("(total[..., EOS] / length**alpha)", "(total[..., EOS] / 1)"),
            Edit("best[rows] < scores[:, 0] / length**alpha",
                 "best[rows] < scores[:, 0]"),
        ])],
    ),
    Mutant(
        name="always_by_length",
        says="Scores are divided by the length, whatever alpha is.",
        asks="What is length to the power of alpha for alpha = 0?",
        ways=[Way(edits=[
            Edit("(total[..., EOS] / length**alpha)", "(total[..., EOS] / length)"),
            Edit("best[rows] < scores[:, 0] / length**alpha",
                 "best[rows] < scores[:, 0] / length"),
        ])],
    ),
    Mutant(
        name="length_off_by_one",
        says="The length is off by one: BOS counts, or EOS does not.",
        asks="How long is the hypothesis that is only EOS?",
        ways=[Way(edits=[
            Edit("(total[..., EOS] / length**alpha)",
                 "(total[..., EOS] / (length + 1)**alpha)"),
            Edit("best[rows] < scores[:, 0] / length**alpha",
                 "best[rows] < scores[:, 0] / (length + 1)**alpha"),
        ])],
    ),
    Mutant(
        name="normalised_on_the_way",
        says="Live scores are divided by the length in every step: the division "
        "adds up.",
        asks="When do lengths have to be compared?",
        ways=[Way(edits=[
            Edit(
                "going = best",
                """
                scores = scores / length**alpha
                going = best
                """,
            ),
        ])],
        unsteady=["defaults"],  # after 60 divisions all scores are nearly equal
    ),
    Mutant(
        name="narrow_beam",
        says="A wide beam is cut down: fewer prefixes stay live than `beam_size` asks for.",
        asks="Where does your code use `beam_size`?",
        ways=[Way(edits=[
            Edit("k, answers = beam_size,", "k, answers = min(beam_size, 5),"),
        ])],
    ),
    Mutant(
        name="small_steps_lost",
        says="Scores are kept in half precision: those that differ by little become "
        "equal.",
        asks="How many digits has a `bfloat16`?",
        ways=[Way(edits=[
            Edit("total = scores[..., None] + log_p",
                 "total = (scores[..., None] + log_p).bfloat16().to(log_p.dtype)"),
        ])],
    ),
]
