"""A test for cached decoding."""

from __future__ import annotations

import torch

from autograder.authoring.common import common
from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.specification import CaseKind, Inputs, Specification


def _patients(
    name: str, title: str, bugs: tuple[str, str], hint: str, *, right: str = "grows", hidden: bool = False
) -> CaseKind:
    def make_inputs(draw: Draw) -> Inputs:
        groups = 2 + int(draw.ids(0, 2))
        second, third = (f"{right}, {bug}" for bug in bugs)
        return {
            "right": f"{right}, ",
            "other": second,
            "third": third,
            "sizes": torch.tensor([9 + int(draw.ids(0, 5)), 2 * groups, groups]),
            "seed": draw.ids(0, 10**6),
        }

    answers = {"a right decoder": "accepted", "the other one": "rejected", "a third one": "rejected"}
    return case(name, title, make_inputs, hint, hidden_only=hidden, expected=lambda draw: answers)


def _test(*lines: str, near: str = "5e-5") -> str:
    """A test of the given lines, which see ids, others, the logits wanted, and `near`."""
    body = "\n".join(f"    {line}" for line in lines)
    return (
        "def assert_cached_decoding(decoder):\n"
        "    ids = torch.randint(decoder.vocab_size, (3, 11))\n"
        "    others = torch.randint(decoder.vocab_size, (3, 11))\n"
        "    wanted = decoder.full(ids)\n"
        "    def near(given, begin, end):\n"
        f"        return (given - wanted[:, begin:end]).abs().max() < {near}\n"
        "    decoder.start()\n"
        f"{body}\n"
    )


_BY_ONE = ("for t in range(11):", "    assert near(decoder.feed(ids[:, t:t + 1]), t, t + 1)")
_CHUNKS = (
    "for begin, end in ((0, 4), (4, 5), (5, 9), (9, 11)):",
    "    assert near(decoder.feed(ids[:, begin:end]), begin, end)",
)
_CUT = (
    "decoder.feed(others[:, :3])",
    "decoder.cut(11)",
    "decoder.cut(8)",
    "assert near(decoder.feed(ids[:, 8:]), 8, 11)",
)
_CUT_ALL = ("decoder.cut(0)", "assert near(decoder.feed(ids), 0, 11)")
_OTHERS_FIRST = ("decoder.start()", "decoder.feed(others)")
_CUT_ONE = ("decoder.cut(10)", "assert near(decoder.feed(ids[:, 10:]), 10, 11)")
_AGAIN = ("decoder.start()", "assert near(decoder.feed(ids), 0, 11)")
_ALL = (*_CHUNKS, *_CUT, *_OTHERS_FIRST, *_CUT_ALL, *_AGAIN, *_CUT)

CASES = [
    _patients("offset", "the offset is forgotten; and the wrong group", ("no offset", "wrong group"),
              "Feed more than one chunk, and compare each with `full`, number by number."),
    _patients("cut", "the cache is not cut; and the norm in half precision", ("does not cut", "half"),
              "Feed wrong tokens, cut them away, feed the right ones. How near is near? Rounding in float32 stays "
              "below 1e-5.", right="ahead"),
    _patients("future", "a chunk sees its own future; and a second text begins with the first one's cache",
              ("sees the chunk", "starts with the old"), "One token at a time, the first is invisible. Start twice."),
    _patients("to_nothing", "a cut to 0 does nothing; and a chunk's mask knows no past",
              ("does not cut to 0", "mask without a past"),
              "Cut all of it away, too. Feed chunks of several tokens behind others."),
    _patients("once", "a place that was written is never written again; and all tokens of a chunk stand at one place",
              ("written once", "one place for a chunk"),
              "After a cut, feed other tokens than those that were cut away.", right="ahead"),
    _patients("near", "one number is 0.0003 too small; and some are not numbers",
              ("one number too small", "not a number"),
              "Compare number by number. Is NaN less than your bound, or more, or neither?"),
    _patients("rows", "all rows look at the first row's cache; and only the keys are cut",
              ("first row for all", "cuts keys only"),
              "Are your rows different from each other? Feed something after a cut.", hidden=True),
    _patients("places", "places go on counting after a cut; and single tokens stand one place too early",
              ("places go on", "single tokens"),
              "What comes after a cut stands where the cut was made. Feed single tokens and longer chunks.",
              hidden=True, right="ahead"),
    _patients("short", "only the last eight positions are seen; and a cut takes away one position at most",
              ("last eight only", "cuts one at most"),
              "Is your text long enough? Cut more than one position, and at different places.", hidden=True),
    _patients("above", "the largest number of one row is 0.0005 too large; and queries all stand at place 0",
              ("the largest too large", "queries not turned on"),
              "A difference has a sign. Is -5 near 0? And a large number may not differ by more than a small one.",
              hidden=True),
]

MISTAKES = [
    # What explains a gap is said in this order: a single rule before a whole habit.
    wrong("a_little_generous",
          "Your test accepts differences that are larger than rounding, or a mean hides a single wrong logit.",
          "According to the contract, between which two numbers should your bound lie?",
          source(_test(*_ALL, near="1e-3")),
          source(_test(*_ALL).replace("(given - wanted[:, begin:end]).abs().max() < 5e-5",
                                      "torch.allclose(given, wanted[:, begin:end], rtol=1e-2, atol=3e-5)"),
                 name="relative"),
          source(_test(*_ALL, near="2e-5").replace(".max()", ".mean()"), name="mean_only")),
    wrong("nan_passes",
          "Your test accepts NaN.",
          "Is NaN larger than your bound? Is it smaller?",
          source(_test(*_ALL).replace("return (given - wanted[:, begin:end]).abs().max() < 5e-5",
                                      "return not (given - wanted[:, begin:end]).abs().max() > 5e-5"))),
    wrong("signed",
          "Your test does not take the absolute value: logits that are too small pass, or those that are too large.",
          "Is -5 less than your bound?",
          source(_test(*_ALL).replace("(given - wanted[:, begin:end]).abs()", "(given - wanted[:, begin:end])")),
          source(_test(*_ALL).replace("(given - wanted[:, begin:end]).abs()", "(wanted[:, begin:end] - given)"),
               name="signed_backwards"),
          tests="somewhere"),
    wrong("against_the_rules",
          "Your test does something that a correct decoder may refuse, and treats the refusal as a mistake.",
          "According to the contract, when must you call `start`, and how long may a text be?",
          source(_test(*_ALL).replace("    decoder.start()\n", "    decoder.feed(ids[:, :1])\n    decoder.start()\n",
                                      1)),
          source(_test(*_ALL).replace("(3, 11)", "(3, 44)").replace("11", "44"), name="too_long"), tests="positions"),
    wrong("too_generous",
          "Your test accepts differences that are too large for rounding: half precision goes unnoticed.",
          "According to the contract, between which two numbers should your bound lie?",
          source(_test(*_ALL, near="0.5"))),
    wrong("same_best_token",
          "Your test compares only the most probable tokens; many bugs do not change them.",
          "Do equal tokens prove equal logits?",
          source(_test(*(
                           line.replace("near(", "same(") for line in (
                               "def same(given, begin, end):",
                               "    wrong = (given.argmax(-1) != wanted[:, begin:end].argmax(-1)).double().mean()",
                               "    return wrong < 0.05", *_ALL))))),
    wrong("first_chunk_only",
          "Your test compares only the first chunk, which does not use the cache.",
          "In which call does the past come from the cache, and do you compare its result with `full`?",
          source(_test("assert near(decoder.feed(ids), 0, 11)")),
          source(_test("assert near(decoder.feed(ids[:, :4]), 0, 4)", "decoder.feed(ids[:, 4:])"), name="one_feed"),
          tests="correct"),
    wrong("no_single_tokens",
          "Your test never feeds a single token: a bug that appears only then goes unnoticed.",
          "When a model writes, how many of its own tokens does it feed at a time?",
          source(_test("assert near(decoder.feed(ids), 0, 11)", *_CUT, *_AGAIN, *_CUT))),
    wrong("cuts_too_little",
          "Your test never cuts away more than one position, or never all of a text.",
          "Which lengths may `cut` be called with?",
          source(_test(*_CHUNKS, *_CUT_ONE, *_AGAIN, *_CUT_ONE)),
          source(_test(*_CHUNKS, *_CUT, "decoder.start()", "decoder.feed(ids[:, :4])", "decoder.feed(others[:, :3])",
                       "decoder.cut(4)", "assert near(decoder.feed(ids[:, 4:]), 4, 11)"), name="never_cut_to_0")),
    wrong("one_by_one_only",
          "Your test feeds one token at a time and never cuts or starts again.",
          "Which bug shows only if a chunk has two tokens, and which only after a cut?",
          source(_test(*_BY_ONE))),
    wrong("same_tokens_again",
          "After a cut, your test feeds the same tokens as before: old keys that were not replaced look correct.",
          "Which tokens may follow after a cut?",
          source(_test(*_CHUNKS, "decoder.cut(8)", "assert near(decoder.feed(ids[:, 8:]), 8, 11)", *_CUT_ALL, *_AGAIN,
                       *_CUT_ALL))),
    wrong("single_tokens_after_the_prompt",
          "After the first chunk, your test feeds only single tokens.",
          "May a chunk have more than one token when the cache is not empty?",
          source(_test("decoder.feed(others[:, :4])", "decoder.cut(0)", "assert near(decoder.feed(ids[:, :4]), 0, 4)",
                       *(line for t in range(4, 11) for line in (
                           f"decoder.feed(others[:, {t}:{t + 1}])", f"decoder.cut({t})",
                           f"assert near(decoder.feed(ids[:, {t}:{t + 1}]), {t}, {t + 1})")), "decoder.cut(6)",
                       *(f"assert near(decoder.feed(ids[:, {t}:{t + 1}]), {t}, {t + 1})" for t in range(6, 11)),
                       *_AGAIN))),
    wrong("never_cut",
          "Your test never cuts away wrong tokens.",
          "What is `cut` for, and where do you test it?",
          source(_test(*_CHUNKS, *_AGAIN))),
    wrong("never_restarted",
          "Your test never starts a second text.",
          "What must `start` forget?",
          source(_test(*_CHUNKS, *_CUT)), tests="before"),
    wrong("first_row_only",
          "Your test uses a single text: mistakes between the rows of a batch go unnoticed.",
          "How many rows has your batch, and do they differ?",
          source(_test(*_ALL).replace("(3, 11)", "(1, 11)")),
          source(_test(*_ALL).replace("(decoder.vocab_size, (3, 11))", "(decoder.vocab_size, (1, 11)).repeat(3, 1)"),
                 name="equal_rows")),
    wrong("too_short",
          "Your text is too short to show that distant positions are forgotten.",
          "According to the contract, how many positions may a text have?",
          source(_test("assert near(decoder.feed(ids[:, :3]), 0, 3)", "assert near(decoder.feed(ids[:, 3:5]), 3, 5)",
                       "decoder.feed(others[:, :2])", "decoder.cut(5)", "decoder.cut(3)",
                       "assert near(decoder.feed(ids[:, 3:6]), 3, 6)", "decoder.start()",
                       "assert near(decoder.feed(ids[:, :6]), 0, 6)"))),
    common("returns_bool", source(_test("return bool(near(decoder.feed(ids), 0, 11))"))),
    wrong("another_error",
          "Your test ends in an error other than `AssertionError`, or uses something that a decoder need not have.",
          "Which error does a test raise, and which five names does the docstring list?",
          source(_test("def right():", *(f"    {line}" for line in _ALL), "try:", "    right()",
                       "except AssertionError:", "    raise ValueError('it differs')")),
          source(_test("decoder.cache.clear()"), name="needs_more"),
          tests="AssertionError"),
    wrong("inverted",
          "Your test rejects correct decoders and accepts faulty ones.",
          "An `assert` passes when its condition is true. Is yours true for a correct decoder?",
          source(_test("def right():", *(f"    {line}" for line in _ALL), "try:", "    right()", "except Exception:",
                       "    return", "assert False")), tests="rejected"),
    wrong("rejects_all",
          "Your test rejects correct decoders.",
          "How large may a difference be if it comes from rounding alone?",
          source(_test(*_ALL, "assert False")),
          source(_test(*_ALL, near="1e-9"), name="to_the_last_bit"),
          source(_test("decoder.feed(ids[:, :4])", "assert near(decoder.feed(ids[:, 4:8]), 3, 7)"), name="wrong_place"),
          source(_test("decoder.feed(ids)", "decoder.cut(5)", "assert near(decoder.feed(ids[:, 5:7]), 9, 11)"),
                 name="cut_is_kept"), tests="different; less than 1e-5"),
    wrong("accepts_all",
          "Your test accepts every decoder, even faulty ones.",
          "Is there an `assert` that can fail?",
          source(_test("assert decoder is not None")),
          source(_test("passed = near(decoder.feed(ids), 0, 11)"), name="prints_only"),
          source(_test("assert torch.equal(wanted, decoder.full(ids))"), name="full_with_itself"),
          source(_test("assert (near(decoder.feed(ids), 0, 11), 'not near')"), name="asserts_a_pair"),
          source(_test("assert decoder.feed(ids).shape == wanted.shape"), name="shapes"),
          source(_test("try:", *(f"    {line}" for line in _ALL), "except Exception:", "    pass"), name="swallows")),
]

ACCEPTED = [
    right("all_rules", source(_test(*_ALL))),
    right("allclose", source("""
        def assert_cached_decoding(decoder):
            g = torch.Generator().manual_seed(3)
            for sizes in ((1, 2, 9, 1), (6, 1, 1, 1, 5)):
                n = sum(sizes)
                x = torch.randint(decoder.vocab_size, (4, n), generator=g)
                full = decoder.full(x)
                decoder.start()
                done = 0
                for size in sizes:
                    if done or n == 13:  # the second text shows what `start` forgets
                        decoder.feed(torch.randint(decoder.vocab_size, (4, 3), generator=g))
                        decoder.cut(done)
                    out = decoder.feed(x[:, done:done + size])
                    torch.testing.assert_close(out, full[:, done:done + size], rtol=0, atol=4e-5)
                    done += size
        """)),
    right("other_bound", edit("max() < 5e-5", "max() < 2e-5")),
]

EXERCISE = Specification(
    target="assert_cached_decoding", precise=False,
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
