"""A test for decoder layers: rules."""

from __future__ import annotations

import re
import textwrap

from autograder.authoring.notation import source, wrong
from autograder.authoring.variants import clean


def test(*blocks: str) -> str:
    """A test made of the given lines, which may use x, memory, moves and nudged."""
    start = """
        def assert_decoder_layer(layer, d_model, d_ff):
            torch.manual_seed(0)
            layer.requires_grad_(False)
            x, memory = torch.randn(3, 5, d_model), torch.randn(3, 4, d_model)
            push = torch.linspace(-1, 1, d_model)
            def moves(x2, memory2, n=3):
                before, after = layer(x[:n], memory[:n]), layer(x2[:n], memory2[:n])
                return ((after - before).abs() > 1e-5).any(-1)
            def nudged(z, b, j):
                z = z.clone()
                z[b, j] += push
                return z
        """
    return inside(clean(start), *blocks)


def inside(head: str, *blocks: str) -> str:
    """Blocks of lines, indented below a line that begins them."""
    body = "\n".join(map(clean, blocks))
    return f"{head}\n{textwrap.indent(body, '    ')}"


SHAPE = """
    for batch, Lt, Ls in ((1, 5, 4), (2, 4, 5), (3, 5, 5)):
        z = torch.randn(batch, Lt, d_model)
        assert layer(z, torch.randn(batch, Ls, d_model)).shape == z.shape
    """
FUTURE = """
    for b in range(3):
        for j in range(1, 5):
            assert not moves(nudged(x, b, j), memory)[b, :j].any()
    """
PAST = """
    for j in range(5):
        assert moves(nudged(x, 1, j), memory)[1, j:].all()
    """
MEMORY = """
    for j in range(4):
        assert moves(x, nudged(memory, 1, j))[1].all()
    """
OTHERS = """
    for n, b in ((2, 0), (2, 1), (3, 0), (3, 1), (3, 2)):
        others = torch.arange(n) != b
        assert not moves(nudged(x, b, 2), memory, n)[others].any()
        assert not moves(x, nudged(memory, b, 1), n)[others].any()
    """
ALL = (SHAPE, FUTURE, PAST, MEMORY, OTHERS)
BUT_MEMORY = (SHAPE, FUTURE, PAST, OTHERS)


def _tolerant(source: str) -> str:
    """A test that tolerates changes of up to 0.01 where there should be none."""
    source = source.replace("n=3):", "n=3, limit=1e-5):").replace("> 1e-5", "> limit")
    return re.sub(r"not moves\((.*)\)\[", r"not moves(\1, limit=1e-2)[", source)


RULES = [
    # Of all mistakes that explain the failures, the first one is reported, so those in a
    # single rule come before whole habits.
    wrong("part_of_the_shape",
          "Your test does not check the whole shape of the output (rule 1).",
          "How many components should each output vector have?",
          source(test(FUTURE, PAST, MEMORY, OTHERS, """
                     for batch, Lt, Ls in ((1, 5, 4), (2, 4, 5), (3, 5, 5)):
                         z = torch.randn(batch, Lt, d_model)
                         assert layer(z, torch.randn(batch, Ls, d_model)).shape[:2] == z.shape[:2]
                     """)), tests="lengths"),
    wrong("one_batch_size",
          "Your test never tries a batch of one sentence.",
          "What could go wrong for a batch of one but not for a batch of three?",
          source(test(*ALL).replace("(1, 5, 4)", "(3, 5, 4)"))),
    wrong("equal_lengths_only",
          "Your test misses a layer that fails when target and memory differ in length.",
          "Do your two lengths ever differ, and what does your test do if the layer raises an error?",
          source(test(*ALL).replace("4, d_model", "5, d_model").replace("range(4)", "range(5)").replace("5, 4)", "5, 5)").replace("4, 5)",
                                                                                                                                  "5, 5)"))),
    wrong("target_always_longer",
          "Your test never uses a memory that is longer than the target.",
          "May a long source have a short translation?",
          source(test(*ALL).replace("4, 5)", "5, 5)"))),
    wrong("memory_always_longer",
          "Your test never uses a target that is longer than the memory.",
          "May a short source have a long translation?",
          source(test(*ALL).replace("5, d_model", "3, d_model").replace("range(5)", "range(3)").replace("range(1, 5)", "range(1, 3)").replace("5, 4)",
                                                                                                                                              "4, 5)"))),
    wrong("never_two_sentences",
          "Your test never tries a batch of two sentences.",
          "Which batch sizes do you try, and at which size could a tensor be mistaken for a pair?",
          source(test(*ALL).replace("(2, 4, 5)", "(3, 4, 5)").replace("(2, 0), (2, 1), ", ""))),
    wrong("two_sentences_at_most",
          "Your test tries only batches of one and of two sentences.",
          "Which batch sizes does rule 1 allow?",
          source(test(*ALL).replace("(3, 0), (3, 1), (3, 2)", "").replace("(3, ", "(2, ").replace("range(3)",
                                                                                                  "range(2)"))),
    wrong("two_words_only",
          "Your test uses targets of at most two words, so there is no past beyond the previous word.",
          "How many positions back must an output be able to see?",
          source(test(*ALL).replace("5, d_model", "2, d_model").replace("range(5)", "range(2)").replace("range(1, 5)", "range(1, 2)").replace("b, 2)",
                                                                                                                                              "b, 1)"))),
    wrong("too_tolerant",
          "Your test tolerates changes that are far larger than rounding errors.",
          "How large are rounding errors in float32, and how much might leak through a soft mask?",
          source(_tolerant(test(*ALL)))),
    wrong("exact",
          "Your test leaves no room for rounding errors, so it rejects correct layers.",
          "How large are rounding errors in float32?",
          source(test(*ALL).replace("1e-5", "0"))),
    wrong("itself_not_asked",
          "Your test does not check whether an output depends on its own position.",
          "Rule 2 says `0 ... i`. Is position i included?",
          source(test(SHAPE, FUTURE, MEMORY, OTHERS,
                      PAST.replace("range(5)", "range(4)").replace("[1, j:]", "[1, j + 1:]")))),
    wrong("first_word_kept",
          "Your test never changes the first target position.",
          "Which target positions must output 3 depend on?",
          source(test(SHAPE, FUTURE, MEMORY, OTHERS, PAST.replace("range(5)", "range(1, 5)")))),
    wrong("last_word_kept",
          "Your test never changes the last target position.",
          "Which target positions must the last output depend on?",
          source(test(*ALL).replace("range(5)", "range(4)").replace("range(1, 5)", "range(1, 4)"))),
    wrong("last_position_only",
          "Your test changes only the last target position, and looks only at the first output.",
          "Would you notice a mask that is one position too wide?",
          source(test(SHAPE, PAST, MEMORY, OTHERS, "assert not moves(nudged(x, 1, 4), memory)[1, 0]"))),
    wrong("first_memory_only",
          "Your test changes only the first position of the memory.",
          "May a layer ignore the last word of the source?",
          source(test(*BUT_MEMORY, "assert moves(x, nudged(memory, 1, 0))[1].all()"))),
    wrong("last_memory_only",
          "Your test changes only the last position of the memory.",
          "May a layer ignore the first word of the source?",
          source(test(*BUT_MEMORY, "assert moves(x, nudged(memory, 1, 3))[1].all()"))),
    wrong("whole_memory",
          "Your test changes all positions of the memory at once.",
          "May a layer ignore one word of the source?",
          source(test(*BUT_MEMORY, "assert moves(x, nudged(memory, 1, slice(None)))[1].all()"))),
    wrong("anything_moves",
          "Your test is satisfied if the memory changes anything: any output, of any sentence.",
          "Does rule 3 ask for `any` or for `all` outputs, and which sentences must stay the same?",
          source(test(SHAPE, FUTURE, PAST, """
                     for n, b in ((2, 0), (2, 1), (3, 0), (3, 1), (3, 2)):
                         assert not moves(nudged(x, b, 2), memory, n)[torch.arange(n) != b].any()
                         for j in range(4):
                             assert moves(x, nudged(memory, b, j), n).any()
                     """))),
    wrong("some_memory",
          "Your test is satisfied if the memory changes *some* output.",
          "Does rule 3 ask for `any` or for `all` outputs?",
          source(test(*BUT_MEMORY, """
                     for j in range(4):
                         assert moves(x, nudged(memory, 1, j)).any()
                     """))),
    wrong("memories_not_apart",
          "Your test does not check whether the memory of one sentence influences the others (rule 4).",
          "Which sentences may change with the memory of sentence 1?",
          source(test(SHAPE, FUTURE, PAST, MEMORY, """
                     for n, b in ((2, 0), (2, 1), (3, 0), (3, 1), (3, 2)):
                         assert not moves(nudged(x, b, 2), memory, n)[torch.arange(n) != b].any()
                     """))),
    wrong("first_sentence_only",
          "Your test changes only the first sentence of the batch.",
          "Could a layer treat another sentence differently from the first one?",
          source(test(*ALL).replace("for b in range(3):", "for b in range(1):").replace("((2, 0), (2, 1), (3, 0), (3, 1), (3, 2))", "((2, 0), (3, 0))").replace(", 1, j)", ", 0, j)").replace("[1, j:]", "[0, j:]").replace("j))[1]",
                                                                                                                                                                                                                            "j))[0]")),
          tests="independent"),
    wrong("last_sentence_only",
          "Your test changes only the last sentence of the batch.",
          "Could a layer treat another sentence differently from the last one?",
          source(test(*ALL).replace("for b in range(3):", "for b in range(2, 3):").replace("((2, 0), (2, 1), (3, 0), (3, 1), (3, 2))", "((2, 1), (3, 2))").replace(", 1, j)", ", 2, j)").replace("[1, j:]", "[2, j:]").replace("j))[1]",
                                                                                                                                                                                                                               "j))[2]"))),
    wrong("no_others",
          "Your test does not check whether sentences are independent of each other (rule 4).",
          "You change sentence 1. What should happen to sentences 0 and 2?",
          source(test(SHAPE, FUTURE, PAST, MEMORY))),
    wrong("no_past",
          "Your test checks that the future is hidden, but not that the past is visible (rule 2).",
          "Which outputs *must* change when position j changes?",
          source(test(SHAPE, FUTURE, MEMORY, OTHERS)), tests="target"),
    wrong("no_future",
          "Your test does not check whether the future is hidden (rule 2).",
          "Which outputs must *not* change when position j changes?",
          source(test(SHAPE, PAST, MEMORY, OTHERS))),
    wrong("no_memory_rule",
          "Your test does not check whether the outputs depend on the memory (rule 3).",
          "Which rule is broken by a layer that never looks at the source?",
          source(test(SHAPE, FUTURE, PAST, OTHERS)), tests="memory"),
]
