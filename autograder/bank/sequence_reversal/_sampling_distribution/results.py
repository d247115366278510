"""Mistakes in what comes back, and in what is accepted."""

from __future__ import annotations

from autograder.bank.sequence_reversal._sampling_distribution.lines import DIVIDED, LAST
from autograder.oracle.specification import Edit, Mutant, Way

RESULTS = [
    Mutant(
        name="logits_returned",
        says="Logits come back, not probabilities.",
        asks="What do your numbers sum to?",
        ways=[Way(edits=[Edit(LAST, "return scores")])],
    ),
    Mutant(
        name="logarithms",
        says="Logarithms of probabilities come back.",
        asks="Can a probability be negative?",
        ways=[Way(edits=[Edit(LAST, "return scores.log_softmax(dim=-1)")])],
    ),
    Mutant(
        name="over_rows",
        says="The last softmax runs over another dimension than the vocabulary.",
        asks="Which dimension has one entry for each token?",
        ways=[Way(edits=[Edit(LAST, "return scores.softmax(dim=0)")])],
    ),
    Mutant(
        name="overflow",
        says="The exponential is taken of the bare logits: large ones overflow.",
        asks="What did you subtract in unit 2 before `exp`?",
        ways=[Way(edits=[
            Edit(LAST, """
                powers = scores.exp()
                return powers / powers.sum(dim=-1, keepdim=True)
                """),
        ])],
    ),
    Mutant(
        name="logits_changed",
        says="The logits that you were given have changed.",
        asks="Which of your operations write into their tensor?",
        ways=[Way(edits=[Edit(DIVIDED, "scores = logits.div_(temperature)")])],
    ),
    Mutant(
        name="zero_temperature_accepted",
        says="A temperature of 0, or a negative one, is not refused.",
        asks="What does a division by 0 give?",
        ways=[Way(edits=[Edit("if temperature <= 0:", "if False:")])],
    ),
    Mutant(
        name="only_negative_refused",
        says="A temperature of 0 is not refused.",
        asks="What does a division by 0 give?",
        ways=[Way(edits=[
            Edit("if temperature <= 0:", "if temperature < 0:"),
        ])],
    ),
    Mutant(
        name="only_zero_refused",
        says="A negative temperature is not refused.",
        asks="Which token would be the most probable one?",
        ways=[Way(edits=[
            Edit("if temperature <= 0:", "if temperature == 0:"),
        ])],
    ),
    Mutant(
        name="forbidden_may_come",
        says="A token whose logit is -inf gets a probability above 0: it may be drawn "
        "some day.",
        asks="What is added to the probabilities, and is that exactly 0?",
        ways=[Way(edits=[
            Edit(LAST, """
                chances = scores.softmax(dim=-1) + 1e-9
                return chances / chances.sum(dim=-1, keepdim=True)
                """),
        ])],
    ),
    Mutant(
        name="finite_infinity",
        says="A number like -100 stands for minus infinity: where it is hot, forbidden "
        "tokens come to life.",
        asks="What is -100 divided by a temperature of 20, and its exponential?",
        ways=[Way(edits=[
            Edit(DIVIDED, "scores = logits.clamp(min=-1e2) / temperature"),
        ])],
    ),
    Mutant(
        name="drawn",
        says="A token is drawn already; its probabilities were asked for.",
        asks="Should your function give the same answer twice?",
        ways=[Way(edits=[
            Edit(LAST, """
                chances = scores.softmax(dim=-1)
                rows = chances.reshape(-1, chances.size(-1))
                drawn = torch.multinomial(rows, 1).view(chances.shape[:-1])
                return F.one_hot(drawn, chances.size(-1)).to(chances.dtype)
                """),
        ])],
    ),
    Mutant(
        name="most_probable",
        says="All the probability goes to the most probable token: that is greedy "
        "decoding.",
        asks="How many tokens may be drawn if no dial is turned?",
        ways=[Way(edits=[
            Edit(LAST, "return F.one_hot(scores.argmax(dim=-1), scores.size(-1)).to(scores.dtype)"),
        ])],
    ),
]
