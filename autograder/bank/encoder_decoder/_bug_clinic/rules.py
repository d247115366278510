"""Tests that leave out a part of one rule, or one rule."""

from __future__ import annotations

import re

from autograder.bank.encoder_decoder._bug_clinic.lines import (
    ALL,
    BUT_MEMORY,
    COUNT,
    FUTURE,
    MEMORY,
    OTHERS,
    PAST,
    SHAPE,
    test,
)
from autograder.oracle.specification import Mutant, Way


def _tolerant(source: str) -> str:
    """A test that lets what should stay move by a hundredth; what should move, does."""
    source = source.replace("n=3):", "n=3, limit=1e-5):").replace("> 1e-5", "> limit")
    return re.sub(r"not moves\((.*)\)\[", r"not moves(\1, limit=1e-2)[", source)


RULES = [
    Mutant(
        name="no_count",
        says="Your test takes a layer that has more or fewer weights than it should (rule 5).",
        asks="How could you notice a second cross-attention from outside?",
        ways=[Way(source=test(SHAPE, FUTURE, PAST, MEMORY, OTHERS))],
    ),
    Mutant(
        name="part_of_the_shape",
        says="Your test does not look at the whole shape of the output (rule 1).",
        asks="How many numbers has an output vector?",
        ways=[Way(source=test(COUNT, FUTURE, PAST, MEMORY, OTHERS, """
            for batch, Lt, Ls in ((1, 5, 4), (2, 4, 5), (3, 5, 5)):
                z = torch.randn(batch, Lt, d_model)
                assert layer(z, torch.randn(batch, Ls, d_model)).shape[:2] == z.shape[:2]
            """))],
    ),
    Mutant(
        name="one_batch_size",
        says="Your test never tries a batch of one sentence.",
        asks="What may go wrong for a batch of one that goes right for three?",
        ways=[Way(source=test(*ALL).replace("(1, 5, 4)", "(3, 5, 4)"))],
    ),
    Mutant(
        name="equal_lengths_only",
        says="Your test does not notice a layer that stops where target and memory "
        "differ in length.",
        asks="Do your two lengths differ, and what does your test make of an error of "
        "the layer?",
        ways=[Way(source=test(*ALL).replace("4, d_model", "5, d_model").replace("range(4)", "range(5)").replace("5, 4)", "5, 5)").replace("4, 5)", "5, 5)"))],
    ),
    Mutant(
        name="target_always_longer",
        says="Your test never gives a memory that is longer than the target.",
        asks="Which of the two lengths may be the longer one?",
        ways=[Way(source=test(*ALL).replace("4, 5)", "5, 5)"))],
    ),
    Mutant(
        name="memory_always_longer",
        says="Your test never gives a target that is longer than the memory.",
        asks="Which of the two lengths may be the longer one?",
        ways=[Way(source=test(*ALL).replace("5, d_model", "3, d_model").replace("range(5)", "range(3)").replace("range(1, 5)", "range(1, 3)").replace("5, 4)", "4, 5)"))],
    ),
    Mutant(
        name="never_two_sentences",
        says="Your test does not see what happens to a batch of two sentences.",
        asks="Which two numbers of sentences does it try, and what is special about "
        "a tensor that can be taken for a pair?",
        ways=[Way(source=test(*ALL).replace("(2, 4, 5)", "(3, 4, 5)").replace("(2, 0), (2, 1), ", ""))],
    ),
    Mutant(
        name="two_sentences_at_most",
        says="Your test tries batches of one and of two sentences only.",
        asks="Which batch sizes does rule 1 allow?",
        ways=[Way(source=test(*ALL).replace("(3, 0), (3, 1), (3, 2)", "").replace("(3, ", "(2, ").replace("range(3)", "range(2)"))],
    ),
    Mutant(
        name="about_as_many",
        says="Your test does not notice that a few weights are missing.",
        asks="Is it `==`, and by how many numbers does a layer without one of its biases "
        "differ?",
        ways=[
            Way(source=test(*ALL).replace("for p in layer.parameters()) == n", "for p in layer.parameters()) in range(n - n // 50, n + n // 50 + 1)")),
        ],
    ),
    Mutant(
        name="at_most_as_many",
        says="Your test takes layers that have too few weights, even half of them.",
        asks="Rule 5 counts the weights. Is it `==` or `<=`?",
        ways=[Way(source=test(*ALL).replace("for p in layer.parameters()) == n", "for p in layer.parameters()) <= n"))],
    ),
    Mutant(
        name="state_counted",
        says="Your test counts all numbers that a layer keeps, so it refuses a right one "
        "that keeps its causal mask, too.",
        asks="Which numbers of a module are learnt, and which method names only those?",
        ways=[Way(source=test(*ALL).replace("p.numel() for p in layer.parameters()", "p.numel() for p in layer.state_dict().values()"))],
    ),
    Mutant(
        name="trainable_counted",
        says="Your test counts only weights that take a gradient, so it refuses a right "
        "layer whose weights are frozen.",
        asks="Is a frozen weight a parameter of the layer, too?",
        ways=[Way(source=test(*ALL).replace("layer.parameters())", "layer.parameters() if p.requires_grad)").replace("layer.requires_grad_(False)\n", "pass\n"))],
    ),
    Mutant(
        name="two_words_only",
        says="Your test tries targets of two words at most: there is no past beyond the "
        "neighbour.",
        asks="How many positions back must an output see?",
        ways=[Way(source=test(*ALL).replace("5, d_model", "2, d_model").replace("range(5)", "range(2)").replace("range(1, 5)", "range(1, 2)").replace("b, 2)", "b, 1)"))],
    ),
    Mutant(
        name="too_tolerant",
        says="Your test lets outputs move by more than rounding.",
        asks="How large is rounding in float32, and how much leaks through a mask that "
        "is not quite closed?",
        ways=[Way(source=_tolerant(test(*ALL)))],
    ),
    Mutant(
        name="exact",
        says="Your test refuses right layers that only round: outputs that should stay "
        "may not move by the last digit.",
        asks="How large is rounding in float32?",
        ways=[Way(source=test(*ALL).replace("1e-5", "0"))],
    ),
    Mutant(
        name="itself_not_asked",
        says="Your test does not ask whether an output moves with its own position.",
        asks="Rule 2 says `0 ... i`. Is position i among them?",
        ways=[Way(source=test(COUNT, SHAPE, FUTURE, MEMORY, OTHERS, PAST.replace("range(5)", "range(4)").replace("[1, j:]", "[1, j + 1:]")))],
    ),
    Mutant(
        name="first_word_kept",
        says="Your test never changes the first target position.",
        asks="Which positions must output 3 move with?",
        ways=[Way(source=test(COUNT, SHAPE, FUTURE, MEMORY, OTHERS, PAST.replace("range(5)", "range(1, 5)")))],
    ),
    Mutant(
        name="last_word_kept",
        says="Your test never changes the last target position.",
        asks="Which positions must the last output move with?",
        ways=[Way(source=test(*ALL).replace("range(5)", "range(4)").replace("range(1, 5)", "range(1, 4)"))],
    ),
    Mutant(
        name="shared_counted_twice",
        says="Your test counts weights twice that a layer uses in two places (rule 5).",
        asks="How many weights has a layer whose two attentions are one and the same?",
        ways=[Way(source=test(*ALL).replace("for p in layer.parameters()", "for _, p in layer.named_parameters(remove_duplicate=False)"))],
    ),
    Mutant(
        name="last_position_only",
        says="Your test changes the last target position only, and looks at the "
        "first output only.",
        asks="Would you notice a mask that is too wide by one position?",
        ways=[Way(source=test(
            COUNT,
            SHAPE,
            PAST,
            MEMORY,
            OTHERS,
            "assert not moves(nudged(x, 1, 4), memory)[1, 0]",
        ))],
    ),
    Mutant(
        name="first_memory_only",
        says="Your test changes the first position of the memory only.",
        asks="May a layer leave out the last word of the source?",
        ways=[Way(source=test(
            *BUT_MEMORY,
            "assert moves(x, nudged(memory, 1, 0))[1].all()",
        ))],
    ),
    Mutant(
        name="last_memory_only",
        says="Your test changes the last position of the memory only.",
        asks="May a layer leave out the first word of the source?",
        ways=[Way(source=test(
            *BUT_MEMORY,
            "assert moves(x, nudged(memory, 1, 3))[1].all()",
        ))],
    ),
    Mutant(
        name="whole_memory",
        says="Your test changes all positions of the memory at once.",
        asks="May a layer leave out one word of the source?",
        ways=[Way(source=test(
            *BUT_MEMORY,
            "assert moves(x, nudged(memory, 1, slice(None)))[1].all()",
        ))],
    ),
    Mutant(
        name="anything_moves",
        says="Your test is content if anything moves with the memory: any output, of "
        "any sentence.",
        asks="Is it `any` or `all`, and which sentences must stay?",
        ways=[Way(source=test(COUNT, SHAPE, FUTURE, PAST, """
            for n, b in ((2, 0), (2, 1), (3, 0), (3, 1), (3, 2)):
                assert not moves(nudged(x, b, 2), memory, n)[torch.arange(n) != b].any()
                for j in range(4):
                    assert moves(x, nudged(memory, b, j), n).any()
            """))],
    ),
    Mutant(
        name="some_memory",
        says="Your test is content if *some* output moves with the memory.",
        asks="Is it `any` or `all`?",
        ways=[Way(source=test(
            *BUT_MEMORY,
            """
            for j in range(4):
                assert moves(x, nudged(memory, 1, j)).any()
            """,
        ))],
    ),
    Mutant(
        name="memories_not_apart",
        says="Your test does not ask whether the memory of one sentence moves others "
        "(rule 4).",
        asks="Which sentences may move with the memory of sentence 1?",
        ways=[Way(source=test(COUNT, SHAPE, FUTURE, PAST, MEMORY, """
            for n, b in ((2, 0), (2, 1), (3, 0), (3, 1), (3, 2)):
                assert not moves(nudged(x, b, 2), memory, n)[torch.arange(n) != b].any()
            """))],
    ),
    Mutant(
        name="first_sentence_only",
        says="Your test changes the first sentence of the batch only.",
        asks="Could another sentence be treated otherwise than the first one?",
        ways=[Way(source=test(*ALL).replace("for b in range(3):", "for b in range(1):").replace("((2, 0), (2, 1), (3, 0), (3, 1), (3, 2))", "((2, 0), (3, 0))").replace(", 1, j)", ", 0, j)").replace("[1, j:]", "[0, j:]").replace("j))[1]", "j))[0]"))],
    ),
    Mutant(
        name="last_sentence_only",
        says="Your test changes the last sentence of the batch only.",
        asks="Could another sentence be treated otherwise than the last one?",
        ways=[Way(source=test(*ALL).replace("for b in range(3):", "for b in range(2, 3):").replace("((2, 0), (2, 1), (3, 0), (3, 1), (3, 2))", "((2, 1), (3, 2))").replace(", 1, j)", ", 2, j)").replace("[1, j:]", "[2, j:]").replace("j))[1]", "j))[2]"))],
    ),
    Mutant(
        name="no_others",
        says="Your test does not ask whether sentences leave each other alone "
        "(rule 4).",
        asks="You change sentence 1. What should happen to sentences 0 and 2?",
        ways=[Way(source=test(COUNT, SHAPE, FUTURE, PAST, MEMORY))],
    ),
    Mutant(
        name="no_past",
        says="Your test asks that the future is hidden, but not that the past is "
        "seen (rule 2).",
        asks="Which outputs *must* move when position j changes?",
        ways=[Way(source=test(COUNT, SHAPE, FUTURE, MEMORY, OTHERS))],
    ),
    Mutant(
        name="no_future",
        says="Your test does not ask whether the future is hidden (rule 2).",
        asks="Which outputs may *not* move when position j changes?",
        ways=[Way(source=test(COUNT, SHAPE, PAST, MEMORY, OTHERS))],
    ),
    Mutant(
        name="no_memory_rule",
        says="Your test does not ask whether the outputs move with the memory "
        "(rule 3).",
        asks="Which rule would a layer break that never looks at the source?",
        ways=[Way(source=test(COUNT, SHAPE, FUTURE, PAST, OTHERS))],
    ),
]
