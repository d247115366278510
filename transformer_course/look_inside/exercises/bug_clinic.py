"""Cases and mistakes for an exercise: a test that finds faulty patching tools.

A patching tool runs a model with one hidden state from a run on another text.
"""

from __future__ import annotations

import torch

from autograder.authoring.common import common
from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.specification import CaseKind, Inputs, Specification

_ANSWERS = {"a correct tool": "accepted", "the other one": "rejected", "a third one": "rejected"}


def _make_case(
    name: str, title: str, bugs: tuple[str, str], hint: str, *, style: str = "hooks", hidden: bool = False
) -> CaseKind:
    """Make a case in which a student's test has to accept one tool and reject two.

    The first patching tool is correct; each of the others has one of the ``bugs``.
    """

    def make_inputs(draw: Draw) -> Inputs:
        second, third = (f"{style}, {bug}" for bug in bugs)
        return {
            "right": f"{style}, ", "other": second, "third": third,
            "sizes": torch.tensor((3 + int(draw.ids(0, 2)), 9 + int(draw.ids(0, 5)))),
            "seed": draw.ids(0, 10**6, 1)[0],
        }  # fmt: skip

    return case(name, title, make_inputs, hint, hidden_only=hidden, expected=lambda draw: _ANSWERS)


CASES = [
    _make_case("hooks", "hooks that stay in the model; and a state that is put one position too late",
               ("hook stays", "one late"),
               "Do two equal calls give equal logits, also after a patch? Which logits may a patch at `position` change?"),
    _make_case("states", "a cache that is edited in place; and states of the wrong text", ("in place", "own states"),
               "What must the logits be if block 0 gets a token's state from the other text?", style="loop"),
    _make_case("wide", "all positions are replaced; and the state enters the next block", ("whole text", "next block"),
               "Do your two texts differ at more than one position?"),
    _make_case("block", "every patch enters block 0; and the two texts are exchanged",
               ("always the first block", "wrong way round"),
               "In a later block a state has seen the tokens before it. Does a patch carry them along?", style="loop"),
    _make_case("later", "all later positions are replaced; and states are those of the first call",
               ("all later positions", "states of the first call"), "As above.", style="loop", hidden=True),
    _make_case("ends", "the position is always the last, or always the first",
               ("always the last position", "always the first position"), "Do you try every position?", hidden=True),
    _make_case("parts", "only attention is patched; and all earlier positions are replaced",
               ("attention only", "all earlier positions"), "As above.", style="loop", hidden=True),
    _make_case("sums", "the state is added; and half of its components are replaced", ("added", "half of the components"),
               "As above.", hidden=True),
]

_ENTRY = 'assert close(patch(ids, other, 0, position), expected), "not like the token"'
_CONTEXT = 'assert not close(late, early), "a later state has no context"'
_CLOSE = "return torch.allclose(logits, expected, rtol=0, atol=1e-4)"


def _write_test(*lines: str) -> str:
    """Write a student's test of a patching tool, with these lines as its body."""
    body = "\n".join(f"    {line}" for line in lines)
    return f"def assert_patches(patch, num_blocks, vocab_size):\n{body}\n"


MISTAKES = [
    wrong("own_state_only", "Your test only puts a text's own states into it. A tool that never changes anything passes.",
          "What must a patch from another text do?",
          edit(_ENTRY, "pass", _CONTEXT, "pass")),
    wrong("changes_only", "Your test asks whether a patch changes something, but not what it changes.",
          "For which patches do you know the logits beforehand?",
          edit(_ENTRY, "assert not close(patch(ids, other, 0, position), plain)"),
          edit(_ENTRY, "assert close(patch(ids, other, 0, position)[:, :position], plain[:, :position])",
               name="past_only"),
          edit(_ENTRY, "assert not close(patch(ids, other, 0, position), plain)", _CONTEXT, "pass",
               "range(num_blocks)", "[0]", name="changes_of_block_0")),
    wrong("one_difference", "Your two texts differ at a single position, so a tool that replaces more passes.",
          "What would a tool that replaces the whole text do to yours?",
          edit("patch(ids, other, 0, position)", "patch(ids, swapped, 0, position)"), tests="other position"),
    wrong("one_position", "Your test patches only one position.",
          "Which tools are correct at this position by chance?",
          edit("for position in range(5)", "for position in [4]"),
          edit("for position in range(5)", "for position in [0]", name="first"), tests="this one state"),
    wrong("first_block_only",
          "In later blocks your test does not check what a state of the other text does, so a tool that always patches "
          "block 0 passes.",
          "How does a state of a later block differ from one of block 0?",
          edit(_CONTEXT, "pass"),
          edit(_CONTEXT, "pass", "range(num_blocks)", "[0]", name="no_other_block"), tests="earlier tokens"),
    wrong("each_call_once", "Your test never repeats a run after a patch. A tool that leaves something behind passes.",
          "Which call would show that the model is no longer as it was?",
          source(_write_test(
              "ids, other = torch.tensor([[1, 2, 3, 4, 5]]), torch.tensor([[4, 5, 6, 7, 8]])",
              "expected = patch(other[:, :1], other[:, :1], 0, 0)",
              "patched = patch(ids, other, 0, 0)",
              "assert torch.allclose(patched[:, :1], expected, atol=1e-4)")), tests="leaves nothing behind"),
    wrong("too_strict", "Your test rejects correct tools, whose last digits differ, or which do what it forbids.",
          "By how much may a correct tool differ? May a patch change the logits after its position?",
          edit(_CLOSE, "return torch.equal(logits, expected)"),
          edit(_ENTRY, "assert close(patch(ids, other, 0, position)[:, position + 1:], plain[:, position + 1:])",
               name="future"),
          source(_write_test("assert False"), name="rejects_all"), tests="exact to within"),
    wrong("wrong_way", "Your test expects the run of the other text, into which a state of the first one is put.",
          "Which of the two texts does the model read?",
          edit("patch(ids, other, 0, position)", "patch(other, ids, 0, position)"), tests="a run of"),
    wrong("too_long", "Your texts are longer than the contract allows, or of different lengths.",
          "How many tokens may a text have?",
          source(_write_test("ids = torch.zeros(1, 13, dtype=torch.int64)", "patch(ids, ids, 0, 0)")),
          source(_write_test("ids = torch.zeros(1, 5, dtype=torch.int64)", "patch(ids, ids[:, :4], 0, 0)"), name="unequal"),
          tests="at most 12"),
    wrong("another_error", "Faulty tools are found, but your test raises an error other than `AssertionError`.",
          "Which statement raises `AssertionError` by itself?",
          edit(_ENTRY, "if not close(patch(ids, other, 0, position), expected): raise ValueError('it differs')"),
          tests="AssertionError"),
    wrong("accepts_all", "Your test accepts every tool.",
          "Is there an `assert` that can fail, and is its tolerance between the two bounds of the contract?",
          edit(_CLOSE, "return (logits - expected).abs().mean() < 100", _CONTEXT, "pass", name="too_generous"),
          source(_write_test("ids = torch.zeros(1, 4, dtype=torch.int64)",
                             "assert patch(ids, ids, 0, 0).shape == (1, 4, vocab_size)")),
          source(_write_test("pass"), name="no_test")),
    common("returns_bool", source(_write_test("return False"))),
]

ACCEPTED = [
    right("by_properties", source("""
        def assert_patches(patch, num_blocks, vocab_size):
            for seed in range(3):
                ids = torch.randint(vocab_size, (1, 7))
                other = (ids + 1 + torch.randint(vocab_size - 1, (1, 7))) % vocab_size
                runs = {name: patch(t, t, 0, 0) for name, t in (("ids", ids), ("other", other))}
                for block in range(num_blocks):
                    for p in range(7):
                        out = patch(ids, other, block, p)
                        assert (out[:, :p] - runs["ids"][:, :p]).abs().sum() < 1e-3
                        assert (patch(ids, ids, block, p) - runs["ids"]).abs().max() < 1e-4
                        if p == 0:
                            assert (out[:, 0] - runs["other"][:, 0]).abs().max() < 1e-4
                        if block == 0:
                            mixed = ids.clone()
                            mixed[0, p] = other[0, p]
                            assert (out - patch(mixed, mixed, 0, 0)).abs().max() < 1e-4
                        elif p:
                            assert (out - patch(ids, other, 0, p))[:, p].abs().max() > 1e-4
        """)),
]

EXERCISE = Specification(
    target="assert_patches", precise=False, separate="each case has bugs of its own",
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
