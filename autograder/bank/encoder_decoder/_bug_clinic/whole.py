"""Tests that look at one thing only, or at nothing."""

from __future__ import annotations

from autograder.bank.encoder_decoder._bug_clinic.lines import (
    ALL,
    COUNT,
    FUTURE,
    MEMORY,
    SHAPE,
    inside,
    test,
)
from autograder.oracle.specification import Mutant, Way

WHOLE = [
    Mutant(
        name="batch_of_one",
        says="Your test tries a single sentence only, so it cannot see sentences "
        "that move each other.",
        asks="Which rules need more than one sentence?",
        ways=[Way(source=test(
            COUNT,
            """
            x, memory = x[:1], memory[:1]
            for j in range(5):
                moved = moves(nudged(x, 0, j), memory)[0]
                assert moved[j:].all() and not moved[:j].any()
            for j in range(4):
                assert moves(x, nudged(memory, 0, j))[0].all()
            """,
        ))],
    ),
    Mutant(
        name="batch_of_two",
        says="Your test tries a batch of 2 and nothing of rule 4. That is the size "
        "for which the published bug stays silent.",
        asks="Which batch sizes did the author forget?",
        ways=[Way(source=test(
            COUNT,
            """
            x, memory = x[:2], memory[:2]
            for j in range(5):
                moved = moves(nudged(x, 0, j), memory)[0]
                assert moved[j:].all() and not moved[:j].any()
            for j in range(4):
                assert moves(x, nudged(memory, 0, j))[0].all()
            """,
        ))],
    ),
    Mutant(
        name="even_push",
        says="Your test refuses right pre-norm layers, and takes right post-norm ones.",
        asks="Does it add the same number to all features? What did LayerNorm make of "
        "`vector + 1` in section 2?",
        ways=[Way(source=test(*ALL).replace("torch.linspace(-1, 1, d_model)", "1.0"))],
    ),
    Mutant(
        name="only_count",
        says="Your test counts weights and looks at nothing else.",
        asks="Does a missing mask change the number of weights?",
        ways=[Way(source=test(COUNT).replace("(3, 5, d_model), torch.randn(3, 4", "(2, 5, d_model), torch.randn(2, 4"))],
    ),
    Mutant(
        name="only_causal",
        says="Your test looks at the future only (rule 2, and not all of it).",
        asks="Which rules are there besides, and which bug breaks which rule?",
        ways=[Way(source=test(FUTURE))],
    ),
    Mutant(
        name="only_memory",
        says="Your test looks at the memory only (rule 3).",
        asks="Which rules are there besides, and which bug breaks which rule?",
        ways=[Way(source=test(MEMORY))],
    ),
    Mutant(
        name="only_shape",
        says="Your test looks at shapes only.",
        asks="Which of the three published bugs changes a shape?",
        ways=[Way(source=test(SHAPE))],
    ),
    Mutant(
        name="only_runs",
        says="Your test notices a layer that crashes, and nothing else.",
        asks="Is there an `assert` that can fail?",
        ways=[
            Way(source=test("layer(x, memory)")),
            Way(name="asserts_a_tuple", source=test(
                """
                leak = moves(nudged(x, 1, 4), memory)[1, :4].any()
                assert (not leak, 'sees the future')
                """,
            )),
        ],
    ),
    Mutant(
        name="another_error",
        says="Your test raises another error than `AssertionError`.",
        asks="Which error was promised to whoever runs your test?",
        ways=[Way(source=test(
            inside("def right():", *ALL),
            """
            try:
                right()
            except Exception as error:
                raise ValueError('not right') from error
            """,
        ))],
    ),
    Mutant(
        name="returns_bool",
        says="Your test returns its verdict instead of raising `AssertionError`.",
        asks="Who looks at the return value of a test?",
        ways=[Way(source=test(
            "return not moves(nudged(x, 1, 4), memory)[1, :4].any()",
        ).replace("(3, 5, d_model), torch.randn(3, 4", "(2, 5, d_model), torch.randn(2, 4"))],
    ),
    Mutant(
        name="inverted",
        says="Your test rejects right layers and accepts wrong ones.",
        asks="An `assert` passes when its condition is true. Is yours true for a "
        "right layer?",
        ways=[Way(source=test(
            inside("def right():", *ALL),
            """
            try:
                right()
            except Exception:
                return
            assert False
            """,
        ))],
    ),
    Mutant(
        name="rejects_all",
        says="Your test rejects every layer, right ones as well.",
        asks="Did you run it on your own `DecoderLayer`?",
        ways=[
            Way(source=test("assert not layer(x, memory).isfinite().all()")),
            Way(name="in_training_mode", source=test("layer.train()", *ALL)),
            Way(name="always_fails", source=test("raise AssertionError('untested')")),
            Way(name="memory_causal_expected", source=test(
                *ALL,
                "assert not moves(x, nudged(memory, 1, 3))[1, :3].any()",
            )),
            Way(name="itself_forbidden", source=test(
                *ALL,
                "assert not moves(nudged(x, 1, 2), memory)[1, 2]",
            )),
            Way(name="wrong_count", source=test(
                *ALL,
                "assert sum(p.numel() for p in layer.parameters()) == 8 * d_model * d_model + 2 * d_model * d_ff + 6 * d_model",
            )),
            Way(name="calls_with_masks", source=test(
                *ALL,
                "layer(x, memory, attention.causal_mask(5))",
            )),
            Way(name="by_name", source=test(
                """
                assert hasattr(layer, 'self_attention')
                assert hasattr(layer, 'cross_attention')
                """,
                *ALL,
            )),
            Way(name="against_a_right_one_with_its_weights", source="""
                def assert_decoder_layer(layer, d_model, d_ff):
                    from autograder.student.probes.encoder_decoder.patients import DecoderLayer as Right
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
                """),
            Way(name="against_own_with_copied_names", source=test(
                """
                mine = DecoderLayer(d_model, 2, d_ff)
                mine.load_state_dict(layer.state_dict())
                assert torch.allclose(mine(x, memory, attention.causal_mask(5)), layer(x, memory))
                """,
            )),
        ],
    ),
    Mutant(
        name="accepts_all",
        says="Your test accepts every layer, wrong ones as well.",
        asks="Is there an `assert` that can fail?",
        ways=[
            Way(source=test("assert layer is not None")),
            Way(name="swallows", source=test(
                inside("try:", *ALL),
                """
                except Exception as error:
                    print(error)
                """,
            )),
        ],
    ),
]
