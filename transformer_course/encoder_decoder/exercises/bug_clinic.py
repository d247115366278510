"""A test for decoder layers."""

from __future__ import annotations

import torch

from autograder.authoring.common import common
from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, right, source, wrong
from autograder.authoring.specification import CaseKind, Inputs, Maker, Specification
from transformer_course.encoder_decoder.exercises._bug_clinic_rules import (
    ALL,
    FUTURE,
    MEMORY,
    RULES,
    SHAPE,
    inside,
    test,
)


def _patients(second: str, third: str, right: str = "post relu") -> Maker:
    """A correct decoder layer and two faulty ones; sizes and weights are random."""

    def make_inputs(draw: Draw) -> Inputs:
        heads = 2 + int(draw.ids(0, 2))
        sizes = [heads * (3 + int(draw.ids(0, 2))), heads, 13 + int(draw.ids(0, 4))]
        return {
            "right": right,
            "other": second,
            "third": third,
            "sizes": torch.tensor(sizes),
            "seed": draw.ids(0, 10**6, 1)[0],
        }

    return make_inputs


def _patient(
    *,
    name: str,
    title: str,
    bug: str,
    second_bug: str,
    hint: str,
    hidden: bool = False,
    right: str = "post relu",
) -> CaseKind:
    second, third = (f"{right}, {bug_name}" for bug_name in (bug, second_bug))
    answers = {"a right decoder layer": "accepted", "the other one": "rejected", "a third one": "rejected"}
    return case(
        name,
        title,
        _patients(second, third, right),
        hint,
        hidden_only=hidden,
        expected=lambda draw: answers,
    )


CASES = [
    _patient(name="published", title="a tensor unpacked as a pair; and no causal mask", bug="unpacks",
             second_bug="no mask", hint="Rule 1: which batch sizes do you try? Rule 2: which outputs must stay the same?"),
    _patient(name="no_mask", title="no causal mask; and positions that see only the past, not themselves (pre-norm)", bug="no mask",
             second_bug="shifts", hint="Rule 2: which outputs must stay the same, and which must change?", right="pre gelu"),
    _patient(name="wide_mask", title="one position of the future is visible; and a causal mask on the memory",
             bug="one ahead", second_bug="causal memory",
             hint="Rules 2 and 3: do you change each position, of the target and of the memory?"),
    _patient(name="batch", title="sentences influence each other; and the past is not seen (pre-norm)",
             bug="mixes the batch", second_bug="no past",
             hint="Rules 2 and 4: which outputs, of which sentences, change if one position does?", right="pre gelu"),
    _patient(name="shapes", title="a batch of one is squeezed; and outputs with a single component", bug="squeezes",
             second_bug="narrow", hint="Rule 1: which batch sizes do you try, and do you check the whole shape?"),
    _patient(name="lengths", title="a memory longer than the target is an error; and only the previous word is seen "
                                   "(pre-norm)",
             bug="square of the target", second_bug="short sight",
             hint="Rules 1 and 2: do you try a longer target and a longer memory, and are both long enough?", right="pre gelu"),
    _patient(name="soft",
             title="the future leaks through a soft mask; and the first word is never seen (each layer rounds in its "
                   "own way)",
             bug="soft mask", second_bug="first unseen",
             hint="Rule 2: by how much may rounding change an output? Do you change *each* position?",
             right="post relu rounding"),
    _patient(name="memories", title="memories are mixed; and only the last word attends to the memory (pre-norm)",
             bug="mixes memories", second_bug="last asks",
             hint="Rules 3 and 4: you change the memory of one sentence. Which outputs change?", right="pre gelu"),
    _patient(name="sentences", title="the last sentence leaks into the others; and only the first two have a mask", bug="last leaks",
             second_bug="mask of the first two", hint="Rules 2 and 4: do you change each sentence of the batch?"),
    _patient(name="first",
             title="the first position of the memory is left out; and the first sentence leaks into the others",
             bug="late memory", second_bug="first leaks",
             hint="Rules 3 and 4: do you change each position, of each sentence?"),
    _patient(name="last", title="the last word is not read; and two sentences are mistaken for a pair", bug="last unread",
             second_bug="unpacks pairs",
             hint="Rules 2 and 4: do you change the last position as well? Which batches hold two sentences?"),
    _patient(name="memory",
             title="the last position of the memory is left out; and a target longer than the memory is an error "
                   "(pre-norm)",
             bug="short memory", second_bug="square of the memory",
             hint="Rules 1 and 3: do you try each position, and targets that are longer?", hidden=True,
             right="pre gelu"),
]

MISTAKES = [
    *RULES,
    # Tests that look at one thing only, or at nothing.
    wrong("batch_of_one",
          "Your test tries only a single sentence, so it cannot notice sentences that influence each other.",
          "Which rules need more than one sentence?",
          source(test("""
                     x, memory = x[:1], memory[:1]
                     for j in range(5):
                         moved = moves(nudged(x, 0, j), memory)[0]
                         assert moved[j:].all() and not moved[:j].any()
                     for j in range(4):
                         assert moves(x, nudged(memory, 0, j))[0].all()
                     """))),
    wrong("batch_of_two",
          "Your test tries only a batch of 2 and ignores rule 4. At that size the published bug stays silent.",
          "Which batch sizes did the author forget?",
          source(test("""
                     x, memory = x[:2], memory[:2]
                     for j in range(5):
                         moved = moves(nudged(x, 0, j), memory)[0]
                         assert moved[j:].all() and not moved[:j].any()
                     for j in range(4):
                         assert moves(x, nudged(memory, 0, j))[0].all()
                     """))),
    wrong("even_push",
          "Your test rejects correct pre-norm layers; it accepts the post-norm ones that we tried.",
          "Do you add the same number to all features? What did LayerNorm make of `vector + 1` in section 2?",
          source(test(*ALL).replace("torch.linspace(-1, 1, d_model)", "1.0")), tests="rounding"),
    wrong("only_causal",
          "Your test checks only that the future is hidden, which is just one part of rule 2.",
          "Which other rules are there, and which bug breaks which rule?",
          source(test(FUTURE))),
    wrong("only_memory",
          "Your test checks only how the outputs depend on the memory (rule 3).",
          "Which other rules are there, and which bug breaks which rule?",
          source(test(MEMORY))),
    wrong("only_shape",
          "Your test checks only shapes.",
          "Which of the three published bugs changes a shape?",
          source(test(SHAPE))),
    wrong("only_runs",
          "Your test rejects a layer only if it crashes.",
          "Is there an `assert` that can fail?",
          source(test("layer(x, memory)"))),
    wrong("another_error",
          "Your test raises a different error than `AssertionError`.",
          "Which error does the text promise?",
          source(test(inside("def right():", *ALL), """
                     try:
                         right()
                     except Exception as error:
                         raise ValueError('not right') from error
                     """))),
    common("returns_bool",
           source(test(
                      "return not moves(nudged(x, 1, 4), memory)[1, :4].any()",
                  ).replace("(3, 5, d_model), torch.randn(3, 4", "(2, 5, d_model), torch.randn(2, 4"))),
    wrong("inverted",
          "Your test rejects correct layers and accepts incorrect ones.",
          "An `assert` passes when its condition is true. Is yours true for a correct layer?",
          source(test(inside("def right():", *ALL), """
                     try:
                         right()
                     except Exception:
                         return
                     assert False
                     """)), tests="rejects"),
    wrong("rejects_all",
          "Your test rejects correct layers.",
          "Did you run it on your own `DecoderLayer`?",
          source(test("assert not layer(x, memory).isfinite().all()")),
          source(test("layer.train()", *ALL), name="in_training_mode"),
          source(test(*ALL, "assert not moves(x, nudged(memory, 1, 3))[1, :3].any()"), name="memory_causal_expected"),
          source(test(*ALL, "assert not moves(nudged(x, 1, 2), memory)[1, 2]"), name="itself_forbidden"),
          source(test(*ALL,
                      "assert sum(p.numel() for p in layer.parameters()) == 8 * d_model * d_model + 2 * d_model * d_ff + 6 * d_model"),
                 name="wrong_count"),
          source(test(*ALL, "layer(x, memory, attention.causal_mask(5))"), name="calls_with_masks"),
          source(test("""
                     assert hasattr(layer, 'self_attention')
                     assert hasattr(layer, 'cross_attention')
                     """, *ALL), name="by_name"),
          source("""
              def assert_decoder_layer(layer, d_model, d_ff):
                  from transformer_course.encoder_decoder.probes.patients import DecoderLayer as Right
                  theirs = list(layer.parameters())
                  def is_like(heads, style):
                      right = Right(d_model, heads, d_ff, style, '').eval()
                      own = list(right.parameters())
                      assert [p.shape for p in own] == [p.shape for p in theirs]
                      with torch.no_grad():
                          for mine, its in zip(own, theirs):
                              mine.copy_(its)
                          for B, Lt, Ls in ((1, 5, 4), (2, 3, 5), (3, 4, 4)):
                              x, memory = torch.randn(B, Lt, d_model), torch.randn(B, Ls, d_model)
                              y = layer(x, memory)
                              if y.shape != x.shape or not torch.allclose(y, right(x, memory), atol=1e-5):
                                  return False
                      return True
                  heads = [h for h in range(1, d_model + 1) if d_model % h == 0]
                  assert any(is_like(h, style) for h in heads for style in ('post relu', 'pre gelu'))
              """, name="against_a_right_one_with_its_weights"),
          source(test("""
                     mine = DecoderLayer(d_model, 2, d_ff)
                     mine.load_state_dict(layer.state_dict())
                     assert torch.allclose(mine(x, memory, attention.causal_mask(5)), layer(x, memory))
                     """), name="against_own_with_copied_names"), tests="parameters"),
    wrong("accepts_all",
          "Your test accepts every layer, even the incorrect ones.",
          "Is there an `assert` that can fail?",
          source(test("assert layer is not None")),
          source(test(inside("try:", *ALL), """
                     except Exception as error:
                         print(error)
                     """), name="swallows"), tests="AssertionError"),
]

ACCEPTED = [
    right("rule_by_rule", source(test(*ALL))),
    right("one_matrix", source("""
        def assert_decoder_layer(layer, d_model, d_ff):
            sizes = [p.numel() for p in layer.parameters()]
            attention_size = 4 * d_model * (d_model + 1)
            network = nn.Sequential(nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model))
            network_size = sum(p.numel() for p in network.parameters())
            assert sum(sizes) == 2 * attention_size + network_size + 6 * d_model
            with torch.no_grad():
                for B, Lt, Ls in ((1, 4, 6), (2, 3, 5), (3, 5, 4)):
                    x, memory = torch.randn(B, Lt, d_model), torch.randn(B, Ls, d_model)
                    y = layer(x, memory)
                    assert y.shape == (B, Lt, d_model)
                    own = torch.eye(B, dtype=torch.bool)
                    for b in range(B):
                        for j in range(Lt):
                            x2 = x.clone()
                            x2[b, j] = torch.randn(d_model)
                            moved = (layer(x2, memory) - y).abs().amax(-1) > 1e-5
                            later = torch.arange(Lt) >= j
                            assert (moved == (own[b][:, None] & later)).all()
                        for j in range(Ls):
                            m2 = memory.clone()
                            m2[b, j] = -3 * memory[b, j].flip(0)
                            moved = (layer(x, m2) - y).abs().amax(-1) > 1e-5
                            assert (moved == own[b][:, None].expand(-1, Lt)).all()
        """)),
    right("by_gradients", source("""
        def assert_decoder_layer(layer, d_model, d_ff):
            count = sum(p.numel() for p in layer.parameters())
            wanted = 8 * d_model**2 + 8 * d_model + 2 * d_model * d_ff + d_ff + 7 * d_model
            if count != wanted:
                raise AssertionError(f'{count} weights, not {wanted}')
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
                        assert sx[b, :i + 1].all() and not sx[b, i + 1:].any()
                        assert sm[b].all()
                        rest = torch.arange(B) != b
                        assert not sx[rest].any() and not sm[rest].any()
        """)),
    right("catches_and_raises", source(test(
        inside("try:", *ALL),
        """
        except (ValueError, RuntimeError) as error:
            raise AssertionError('it crashes') from error
        """,
    ).replace("1e-5", "1e-6")), tests="rejected"),
]

EXERCISE = Specification(
    target="assert_decoder_layer", precise=False,
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
