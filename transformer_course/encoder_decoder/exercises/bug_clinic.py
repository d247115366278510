"""Cases and mistakes for an exercise: a test that finds faulty decoder layers."""

from __future__ import annotations

import textwrap

import torch

from autograder.authoring.common import common
from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.specification import CaseKind, Inputs, Specification, Variant

_ANSWERS = {"a right decoder layer": "accepted", "the other one": "rejected", "a third one": "rejected"}


def _make_case(
    name: str, title: str, bugs: tuple[str, str], hint: str, style: str = "post relu", hidden: bool = False
) -> CaseKind:
    """Make a case in which a student's test has to accept one layer and reject two.

    The rejected layers have one of the ``bugs`` each, as named in the probe.
    """

    def make_inputs(draw: Draw) -> Inputs:
        heads = 2 + int(draw.ids(0, 2))
        sizes = [heads * (3 + int(draw.ids(0, 2))), heads, 13 + int(draw.ids(0, 4))]
        second, third = (f"{style}, {bug}" for bug in bugs)
        return {
            "right": style, "other": second, "third": third,
            "sizes": torch.tensor(sizes), "seed": draw.ids(0, 10**6, 1)[0],
        }  # fmt: skip

    return case(name, title, make_inputs, hint, hidden_only=hidden, expected=lambda draw: _ANSWERS)


CASES = [
    _make_case("published", "a tensor unpacked as a pair; and no causal mask", ("unpacks", "no mask"),
               "Rule 1: which batch sizes do you try? Rule 2: which outputs must stay the same?"),
    _make_case("no_mask", "no causal mask; and positions that see only the past, not themselves (pre-norm)",
               ("no mask", "shifts"), "Rule 2: which outputs must stay the same, and which must change?", "pre gelu"),
    _make_case("wide_mask", "one position of the future is visible; and a causal mask on the memory",
               ("one ahead", "causal memory"),
               "Rules 2 and 3: do you change each position, of the target and of the memory?"),
    _make_case("batch", "sentences influence each other; and the past is not seen (pre-norm)",
               ("mixes the batch", "no past"),
               "Rules 2 and 4: which outputs, in which sentences, change when one position changes?", "pre gelu"),
    _make_case("shapes", "a batch of one is squeezed; and outputs with a single component", ("squeezes", "narrow"),
               "Rule 1: which batch sizes do you try, and do you check the whole shape?"),
    _make_case("lengths", "a memory longer than the target is an error; and only the previous word is seen (pre-norm)",
               ("square of the target", "short sight"),
               "Rules 1 and 2: do you try a longer target and a longer memory, and are both long enough?", "pre gelu"),
    _make_case("soft", "the future leaks through a soft mask; and the first word is never seen (each layer rounds in its "
               "own way)", ("soft mask", "first unseen"),
               "Rule 2: by how much may rounding change an output? Do you change *each* position?", "post relu rounding"),
    _make_case("memories", "memories are mixed; and only the last word attends to the memory (pre-norm)",
               ("mixes memories", "last asks"),
               "Rules 3 and 4: you change the memory of one sentence. Which outputs change?", "pre gelu"),
    _make_case("sentences", "the last sentence leaks into the others; and only the first two have a mask",
               ("last leaks", "mask of the first two"), "Rules 2 and 4: do you change each sentence of the batch?"),
    _make_case("first", "the first position of the memory is left out; and the first sentence leaks into the others",
               ("late memory", "first leaks"), "Rules 3 and 4: do you change each position, of each sentence?"),
    _make_case("last", "the last word is not read; and two sentences are mistaken for a pair",
               ("last unread", "unpacks pairs"),
               "Rules 2 and 4: do you change the last position as well? Which batches hold two sentences?"),
    _make_case("memory", "the last position of the memory is left out; and a target longer than the memory is an error "
               "(pre-norm)", ("short memory", "square of the memory"),
               "Rules 1 and 3: do you try each position, and targets that are longer?", "pre gelu", hidden=True),
]

_START = "push = torch.linspace(-1, 1, d_model)"
_SIZES = "((1, 5, 4), (2, 3, 5), (3, 4, 4))"
_SHAPE = "assert before.shape == x.shape"
_EQUAL = "assert torch.equal(moved, expected)"
_SENTENCES = "for b in range(batch):"
_TARGETS, _MEMORIES = "for j in range(target):", "for j in range(source):"
_LATER = 'assert_moves(later, other, memory, f"target position {j}")'
_WHOLE = 'assert_moves(whole, x, other, f"memory position {j}")'


def _check(line: str, condition: str) -> tuple[str, str]:
    """Return the two arguments of an edit that makes a test assert ``condition``.

    The condition is code that uses ``moved``, a Boolean mask of changed outputs.
    """
    arguments = "other, memory" if line == _LATER else "x, other"
    return line, f"moved = ((layer({arguments}) - before).abs() > 1e-5).any(-1); assert {condition}"


def _wrap_test(code: str, name: str = "") -> Variant:
    """Make a variant called ``name``: a student's test whose body is ``code``.

    The code can call the reference solution as `find_bug(layer, d_model, d_ff)`.
    """
    body = textwrap.indent(textwrap.dedent(code), "    ")
    return source(f"find_bug = assert_decoder_layer\ndef assert_decoder_layer(layer, d_model, d_ff):{body}", name)


MISTAKES = [
    # Of all mistakes that explain the failures, the first one is reported, so mistakes in a
    # single rule come before general ones.
    wrong("part_of_the_shape", "Your test does not check the whole shape of the output (rule 1).",
          "How many components should each output vector have?",
          edit(_SHAPE, "assert before.shape[:2] == x.shape[:2]"), tests="lengths"),
    wrong("batch_sizes", "Your test does not try batches of one, of two and of more sentences (rule 1).",
          "What could go wrong at one of these sizes only, and at which could a tensor be mistaken for a pair?",
          edit("(1, 5, 4)", "(3, 5, 4)"),
          edit("(2, 3, 5)", "(3, 3, 5)", name="never_two_sentences"),
          edit("(3, 4, 4)", "(2, 4, 4)", name="two_sentences_at_most")),
    wrong("lengths",
          "Your test never uses a target that is longer than the memory, or never a memory that is longer than the "
          "target.",
          "May a short source have a long translation, and a long source a short one?",
          edit(_SIZES, "((1, 4, 4), (2, 4, 4), (3, 4, 4))"),
          edit("(2, 3, 5)", "(2, 5, 4)", name="target_always_longer"),
          edit("(1, 5, 4)", "(1, 4, 5)", name="memory_always_longer")),
    wrong("two_words_only",
          "Your test uses targets of at most two words, so there is no past beyond the previous word.",
          "How many positions back must an output be able to see?",
          edit(_SIZES, "((1, 2, 1), (2, 2, 5), (3, 2, 4))")),
    wrong("too_tolerant", "Your test tolerates changes that are far larger than rounding errors.",
          "How large are rounding errors in float32, and how much might leak through a soft mask?",
          edit(_EQUAL, """
              large = ((layer(x, memory) - before).abs() > 1e-2).any(dim=-1)
              assert moved[expected].all() and not large[~expected].any()
              """)),
    wrong("exact", "Your test leaves no room for rounding errors, so it rejects correct layers.",
          "How large are rounding errors in float32?",
          edit("1e-5", "0")),
    wrong("itself_not_asked", "Your test does not check whether an output depends on its own position.",
          "Rule 2 says `0 ... i`. Is position i included?",
          edit(*_check(_LATER, "torch.equal(moved | own & (torch.arange(target) == j), later)"))),
    wrong("ends_kept", "Your test never changes the first or never the last target position.",
          "Which target positions must the last output depend on?",
          edit(_TARGETS, "for j in range(1, target):"),
          edit(_TARGETS, "for j in range(target - 1):", name="last_word_kept")),
    wrong("last_position_only", "Your test changes only the last target position, and looks only at the first output.",
          "Would you notice a mask that is one position too wide?",
          edit(_TARGETS, "for j in [target - 1]:", *_check(_LATER, "not moved[b, 0]"))),
    wrong("one_change_of_memory", "Your test does not change each position of the memory by itself.",
          "May a layer ignore one word of the source, such as the first or the last?",
          edit(_MEMORIES, "for j in [0]:"),
          edit(_MEMORIES, "for j in [source - 1]:", name="last_memory_only"),
          edit(_MEMORIES, "for j in [slice(None)]:", name="whole_memory")),
    wrong("some_memory", "Your test is satisfied if the memory changes *some* output.",
          "Does rule 3 ask for `any` or for `all` outputs, and which sentences must stay the same?",
          edit(*_check(_WHOLE, "moved[b].any() and not (moved & ~own).any()")),
          edit(*_check(_WHOLE, "moved.any()"), name="anything_moves")),
    wrong("memories_not_apart",
          "Your test does not check whether the memory of one sentence influences the others (rule 4).",
          "Which sentences may change with the memory of sentence 1?",
          edit(*_check(_WHOLE, "moved[b].all()"))),
    wrong("one_sentence", "Your test changes only the first or only the last sentence of the batch.",
          "Could a layer treat another sentence differently from this one?",
          edit(_SENTENCES, "for b in [0]:"),
          edit(_SENTENCES, "for b in [batch - 1]:", name="last_sentence_only"), tests="independent"),
    wrong("batches_of_one",
          "Your test tries only batches of one sentence, so it cannot notice that sentences influence each other "
          "(rule 4).",
          "Which batch sizes does rule 1 allow, and how many sentences does it take for one to influence another?",
          edit(_SIZES, "((1, 5, 4), (1, 3, 5))"),
          edit(_SIZES, "[(1, 5, 4)]", name="one_batch_of_one")),
    wrong("own_sentence_some_memory",
          "Your test looks only at the sentence that it changed (rule 4), and is satisfied if the memory changes "
          "*some* output (rule 3).",
          "Which outputs must change, and which must not? Which of them does each `assert` look at?",
          edit(_EQUAL, "assert torch.equal(moved[b], expected[b])", *_check(_WHOLE, "moved[b].any()"))),
    wrong("no_others", "Your test does not check whether sentences are independent of each other (rule 4).",
          "You change one sentence in a batch. What should happen to the others?",
          edit(_EQUAL, "assert torch.equal(moved[b], expected[b])"),
          edit(_SIZES, "[(2, 5, 4)]", _EQUAL, "assert torch.equal(moved[b], expected[b])", name="batch_of_two")),
    wrong("no_past", "Your test checks that the future is hidden, but not that the past is visible (rule 2).",
          "Which outputs *must* change when position j changes?",
          edit(*_check(_LATER, "not (moved & ~later).any()")), tests="target"),
    wrong("no_future", "Your test does not check whether the future is hidden (rule 2).",
          "Which outputs must *not* change when position j changes?",
          edit(*_check(_LATER, "moved[later].all() and not (moved & ~own).any()"))),
    wrong("no_memory_rule", "Your test does not check whether the outputs depend on the memory (rule 3).",
          "Which rule is broken by a layer that never looks at the source?",
          edit(_MEMORIES, "for j in ():"), tests="memory"),
    # Tests that check only one rule, or nothing.
    wrong("even_push", "Your test rejects correct pre-norm layers; it accepts the post-norm ones that we tried.",
          "Do you add the same number to all features? What did LayerNorm make of `vector + 1` in section 2?",
          edit(_START, "push = 1.0"), tests="rounding"),
    wrong("one_rule_only", "Your test checks only one of the rules, or a part of one.",
          "Which other rules are there, and which bug breaks which rule?",
          edit(_SIZES, "[(3, 5, 4)]", _MEMORIES, "for j in ():", *_check(_LATER, "not moved[b, :j].any()")),
          edit(_SIZES, "[(3, 5, 4)]", _TARGETS, "for j in ():", *_check(_WHOLE, "moved[b].all()"), name="only_memory"),
          edit(_SENTENCES, "for b in ():", name="only_shape")),
    wrong("only_runs", "Your test rejects a layer only if it crashes.",
          "Is there an `assert` that can fail?",
          source("def assert_decoder_layer(layer, d_model, d_ff):\n"
                 "    layer(torch.randn(3, 5, d_model), torch.randn(3, 4, d_model))")),
    wrong("another_error", "Your test raises a different error than `AssertionError`.",
          "Which error does the text promise?",
          _wrap_test("""
              try:
                  find_bug(layer, d_model, d_ff)
              except Exception as error:
                  raise ValueError('not right') from error
              """)),
    common("returns_bool", _wrap_test("""
        try:
            find_bug(layer, d_model, d_ff)
        except Exception:
            return False
        return True
        """)),
    wrong("inverted", "Your test rejects correct layers and accepts incorrect ones.",
          "An `assert` passes when its condition is true. Is yours true for a correct layer?",
          _wrap_test("""
              try:
                  find_bug(layer, d_model, d_ff)
              except Exception:
                  return
              assert False
              """), tests="rejects"),
    wrong("rejects_all", "Your test rejects correct layers.",
          "Did you run it on your own `DecoderLayer`?",
          edit(_SHAPE, "assert not before.isfinite().all()"),
          edit(_START, f"layer.train(); {_START}", name="in_training_mode"),
          edit("whole = own.expand(batch, target)", "whole = own & (torch.arange(target) >= j)",
               name="memory_causal_expected"),
          edit(">= j", "> j", name="itself_forbidden"),
          edit(_START, f"assert sum(p.numel() for p in layer.parameters()) == 8 * d_model * (d_model + d_ff); {_START}",
               name="wrong_count"),
          edit("before = layer(x, memory)", "before = layer(x, memory, attention.causal_mask(target))",
               name="calls_with_masks"),
          edit(_START, f"assert hasattr(layer, 'cross_attention'); {_START}", name="by_name"),
          edit(_START, f"DecoderLayer(d_model, 2, d_ff).load_state_dict(layer.state_dict()); {_START}",
               name="against_own_with_copied_names"), tests="parameters"),
    wrong("accepts_all", "Your test accepts every layer, even the incorrect ones.",
          "Is there an `assert` that can fail?",
          source("def assert_decoder_layer(layer, d_model, d_ff): assert layer is not None"),
          _wrap_test("""
              try:
                  find_bug(layer, d_model, d_ff)
              except Exception:
                  return
              """, "swallows"), tests="AssertionError"),
]

ACCEPTED = [
    right("random_pushes", source("""
        def assert_decoder_layer(layer, d_model, d_ff):
            sizes = [p.numel() for p in layer.parameters()]
            attention_size = 4 * d_model * (d_model + 1)
            assert sum(sizes) == 2 * attention_size + (2 * d_model + 1) * d_ff + 7 * d_model
            with torch.no_grad():
                for B, Lt, Ls in ((1, 4, 6), (2, 3, 5), (3, 5, 4)):
                    x, memory = torch.randn(B, Lt, d_model), torch.randn(B, Ls, d_model)
                    y = layer(x, memory)
                    assert y.shape == (B, Lt, d_model)
                    for b in range(B):
                        for j in range(Lt):
                            x2 = x.clone()
                            x2[b, j] = torch.randn(d_model)
                            moved = (layer(x2, memory) - y).abs().amax(-1) > 1e-5
                            assert moved[b, j:].all() and moved.sum() == Lt - j
                        for j in range(Ls):
                            m2 = memory.clone()
                            m2[b, j] = -3 * memory[b, j].flip(0)
                            moved = (layer(x, m2) - y).abs().amax(-1) > 1e-5
                            assert moved[b].all() and moved.sum() == Lt
        """)),
    right("by_gradients", source("""
        def assert_decoder_layer(layer, d_model, d_ff):
            for B, Lt, Ls in ((3, 4, 6), (1, 5, 3), (2, 4, 4)):
                x = torch.randn(B, Lt, d_model, requires_grad=True)
                memory = torch.randn(B, Ls, d_model, requires_grad=True)
                y = layer(x, memory)
                assert y.shape == x.shape
                for b in range(B):
                    for i in range(Lt):
                        pull = torch.randn(d_model)
                        gx, gm = torch.autograd.grad((y[b, i] * pull).sum(), (x, memory),
                            retain_graph=True, allow_unused=True)
                        assert gx is not None and gm is not None
                        sx, sm = gx.abs().sum(-1) > 1e-7, gm.abs().sum(-1) > 1e-7
                        assert sx[b, :i + 1].all() and sx.sum() == i + 1
                        assert sm[b].all() and sm.sum() == Ls
            assert_parameters(layer, d_model, d_ff)
        """)),
    right("catches_and_raises", _wrap_test("""
        try:
            find_bug(layer, d_model, d_ff)
        except (ValueError, RuntimeError) as error:
            raise AssertionError('it crashes') from error
        """), tests="rejected"),
]

EXERCISE = Specification(
    target="assert_decoder_layer", precise=False, separate="each case has bugs of its own",
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
