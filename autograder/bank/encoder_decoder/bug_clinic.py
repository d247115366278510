"""A test for decoder layers."""

from __future__ import annotations

import textwrap

import torch

from autograder.oracle.draw import Draw
from autograder.oracle.specification import (
    Accepted,
    CaseKind,
    Inputs,
    Maker,
    Mutant,
    Specification,
    Way,
)
from autograder.oracle.variants import clean


def _patients(other: str, third: str, right: str = "post relu") -> Maker:
    """A right decoder layer and others; sizes and weights vary with the draw."""

    def inputs(draw: Draw) -> Inputs:
        heads = 2 + int(draw.ids(0, 2))
        sizes = [heads * (3 + int(draw.ids(0, 2))), heads, 13 + int(draw.ids(0, 4))]
        return {
            "right": right,
            "other": other,
            "third": third,
            "sizes": torch.tensor(sizes),
            "seed": draw.ids(0, 10**6, 1)[0],
        }

    return inputs


def _test(*blocks: str) -> str:
    """A test of the given lines, which see x, memory, and what moves what."""
    start = """
        def assert_decoder_layer(layer, d_model, d_ff):
            torch.manual_seed(0)
            layer.requires_grad_(False)
            x, memory = torch.randn(3, 5, d_model), torch.randn(3, 4, d_model)
            push = torch.linspace(-1, 1, d_model)
            def moves(x2, memory2):
                return ((layer(x2, memory2) - layer(x, memory)).abs() > 1e-5).any(-1)
            def nudged(z, b, j):
                z = z.clone()
                z[b, j] += push
                return z
        """
    return _inside(clean(start), *blocks)


def _inside(head: str, *blocks: str) -> str:
    """Blocks of lines, indented below a line that begins them."""
    body = "\n".join(map(clean, blocks))
    return f"{head}\n{textwrap.indent(body, '    ')}"


_COUNT = """
    n = 8 * (d_model * d_model + d_model) + 2 * d_model * d_ff + d_ff + 7 * d_model
    assert sum(p.numel() for p in layer.parameters()) == n
    """
_SHAPE = """
    for batch in (1, 2, 3):
        z = torch.randn(batch, 5, d_model)
        assert layer(z, torch.randn(batch, 4, d_model)).shape == z.shape
    """
_FUTURE = """
    for b in range(3):
        for j in range(1, 5):
            assert not moves(nudged(x, b, j), memory)[b, :j].any()
    """
_PAST = """
    for j in range(5):
        assert moves(nudged(x, 1, j), memory)[1, j:].all()
    """
_MEMORY = """
    for j in range(4):
        assert moves(x, nudged(memory, 1, j))[1].all()
    """
_OTHERS = """
    for b in range(3):
        others = torch.arange(3) != b
        assert not moves(nudged(x, b, 2), memory)[others].any()
        assert not moves(x, nudged(memory, b, 1))[others].any()
    """
_ALL = (_COUNT, _SHAPE, _FUTURE, _PAST, _MEMORY, _OTHERS)


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
    other, third = (f"{right}, {each}" for each in (bug, second_bug))
    answers = {
        "a right decoder layer": "accepted",
        "the other one": "rejected",
        "a third one": "rejected",
    }
    return CaseKind(
        name=name,
        title=title,
        inputs=_patients(other, third, right),
        hint=hint,
        hidden_only=hidden,
        known=lambda draw: answers,
    )


EXERCISE = Specification(
    name="encoder_decoder/bug_clinic",
    title="A test for decoder layers",
    target="assert_decoder_layer",
    precise=False,
    cases=[
        _patient(
            name="published",
            title="a tensor unpacked as a pair; and two cross-attentions",
            bug="unpacks",
            second_bug="two memories",
            hint="Rule 1: which batch sizes do you try? Rule 5: what can you count?",
        ),
        _patient(
            name="no_mask",
            title="no causal mask; and the memory is not looked at (pre-norm)",
            bug="no mask",
            second_bug="no memory",
            hint="Rules 2 and 3: what must stay, and what must move?",
            right="pre gelu",
        ),
        _patient(
            name="wide_mask",
            title="one position of the future is seen; and a causal mask on the memory",
            bug="one ahead",
            second_bug="causal memory",
            hint="Rules 2 and 3: do you try each position, of the target and of the memory?",
        ),
        _patient(
            name="batch",
            title="sentences move each other; and the past is not seen (pre-norm)",
            bug="mixes the batch",
            second_bug="no past",
            hint="Rules 2 and 4: which outputs, of which sentences, move if one changes?",
            right="pre gelu",
        ),
        _patient(
            name="shapes",
            title="a batch of one is squeezed; and an output of twice the size",
            bug="squeezes",
            second_bug="side by side",
            hint="Rule 1: which batch sizes do you try, and do you look at the whole shape?",
        ),
        _patient(
            name="lengths",
            title="only equal lengths; and only the word before is seen (pre-norm)",
            bug="equal lengths",
            second_bug="short sight",
            hint="Rules 1 and 2: are your two lengths different, and long enough?",
            right="pre gelu",
        ),
        _patient(
            name="soft",
            title="the future shines through; and nobody sees the first word",
            bug="soft mask",
            second_bug="first unseen",
            hint="Rule 2: by how much may rounding move an output? Do you change *each* "
            "position?",
        ),
        _patient(
            name="memories",
            title="memories are mixed; and only the last word looks (pre-norm)",
            bug="mixes memories",
            second_bug="last asks",
            hint="Rules 3 and 4: you change the memory of one sentence. Which outputs move?",
            right="pre gelu",
        ),
        _patient(
            name="sentences",
            title="the last sentence leaks; and only the first one has a mask",
            bug="last leaks",
            second_bug="mask of the first",
            hint="Rules 2 and 4: do you change each sentence of the batch?",
        ),
        _patient(
            name="memory",
            title="the last position of the memory is left out; and self-attention looks "
            "at the memory (pre-norm)",
            bug="short memory",
            second_bug="memory twice",
            hint="Rules 2 and 3: do you try each position of both?",
            hidden=True,
            right="pre gelu",
        ),
        _patient(
            name="two_norms",
            title="one norm too few; and all look at the first sentence's memory",
            bug="two norms",
            second_bug="first memory",
            hint="Rules 3 to 5: count the weights. Does a sentence move with *its own* "
            "memory?",
            hidden=True,
        ),
    ],
    mutants=[
        # The first one that explains what is wrong is said: those of one rule come first.
        Mutant(
            name="no_count",
            says="Your test does not count the weights (rule 5).",
            asks="How could you notice a second cross-attention from outside?",
            ways=[Way(source=_test(_SHAPE, _FUTURE, _PAST, _MEMORY, _OTHERS))],
        ),
        Mutant(
            name="part_of_the_shape",
            says="Your test does not look at the whole shape of the output (rule 1).",
            asks="How many numbers has an output vector?",
            ways=[Way(source=_test(_COUNT, _FUTURE, _PAST, _MEMORY, _OTHERS, """
                for batch in (1, 2, 3):
                    z = torch.randn(batch, 5, d_model)
                    assert layer(z, torch.randn(batch, 4, d_model)).shape[:2] == z.shape[:2]
                """))],
        ),
        Mutant(
            name="one_batch_size",
            says="Your test tries a single batch size only.",
            asks="What may go wrong for a batch of one that goes right for three?",
            ways=[Way(source=_test(_COUNT, _FUTURE, _PAST, _MEMORY, _OTHERS, """
                assert layer(x, memory).shape == x.shape
                """))],
        ),
        Mutant(
            name="equal_lengths_only",
            says="Your test tries equal lengths of target and memory only.",
            asks="Which lengths does rule 1 allow?",
            ways=[Way(source=_test(*_ALL).replace("4, d_model", "5, d_model").replace("range(4)", "range(5)"))],
        ),
        Mutant(
            name="two_words_only",
            says="Your test tries targets of two words only: there is no past beyond the "
            "neighbour.",
            asks="How many positions back must an output see?",
            ways=[Way(source=_test(*_ALL).replace("5, d_model", "2, d_model").replace("range(5)", "range(2)").replace("range(1, 5)", "range(1, 2)").replace("b, 2)", "b, 1)"))],
        ),
        Mutant(
            name="too_tolerant",
            says="Your test lets outputs move by more than rounding.",
            asks="How large is rounding in float32, and how much leaks through a mask that "
            "is not quite closed?",
            ways=[Way(source=_test(*_ALL).replace("1e-5", "1e-2"))],
        ),
        Mutant(
            name="first_word_kept",
            says="Your test never changes the first target position.",
            asks="Which positions must output 3 move with?",
            ways=[Way(source=_test(_COUNT, _SHAPE, _FUTURE, _MEMORY, _OTHERS, _PAST.replace("range(5)", "range(1, 5)")))],
        ),
        Mutant(
            name="last_position_only",
            says="Your test changes the last target position only, and looks at the "
            "first output only.",
            asks="Would you notice a mask that is too wide by one position?",
            ways=[Way(source=_test(
                _COUNT,
                _SHAPE,
                _PAST,
                _MEMORY,
                _OTHERS,
                "assert not moves(nudged(x, 1, 4), memory)[1, 0]",
            ))],
        ),
        Mutant(
            name="first_memory_only",
            says="Your test changes the first position of the memory only.",
            asks="May a layer leave out the last word of the source?",
            ways=[Way(source=_test(
                _COUNT,
                _SHAPE,
                _FUTURE,
                _PAST,
                _OTHERS,
                "assert moves(x, nudged(memory, 1, 0))[1].all()",
            ))],
        ),
        Mutant(
            name="anything_moves",
            says="Your test is content if anything moves with the memory: any output, of "
            "any sentence.",
            asks="Is it `any` or `all`, and which sentences must stay?",
            ways=[Way(source=_test(_COUNT, _SHAPE, _FUTURE, _PAST, """
                for b in range(3):
                    assert not moves(nudged(x, b, 2), memory)[torch.arange(3) != b].any()
                    for j in range(4):
                        assert moves(x, nudged(memory, b, j)).any()
                """))],
        ),
        Mutant(
            name="some_memory",
            says="Your test is content if *some* output moves with the memory.",
            asks="Is it `any` or `all`?",
            ways=[Way(source=_test(
                _COUNT,
                _SHAPE,
                _FUTURE,
                _PAST,
                _OTHERS,
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
            ways=[Way(source=_test(_COUNT, _SHAPE, _FUTURE, _PAST, _MEMORY, """
                for b in range(3):
                    assert not moves(nudged(x, b, 2), memory)[torch.arange(3) != b].any()
                """))],
        ),
        Mutant(
            name="first_sentence_only",
            says="Your test changes the first sentence of the batch only.",
            asks="Could another sentence be treated otherwise than the first one?",
            ways=[Way(source=_test(*_ALL).replace("for b in range(3):", "for b in range(1):").replace(", 1, j)", ", 0, j)").replace("[1, j:]", "[0, j:]").replace("j))[1]", "j))[0]"))],
        ),
        Mutant(
            name="no_others",
            says="Your test does not ask whether sentences leave each other alone "
            "(rule 4).",
            asks="You change sentence 1. What should happen to sentences 0 and 2?",
            ways=[Way(source=_test(_COUNT, _SHAPE, _FUTURE, _PAST, _MEMORY))],
        ),
        Mutant(
            name="no_past",
            says="Your test asks that the future is hidden, but not that the past is "
            "seen (rule 2).",
            asks="Which outputs *must* move when position j changes?",
            ways=[Way(source=_test(_COUNT, _SHAPE, _FUTURE, _MEMORY, _OTHERS))],
        ),
        Mutant(
            name="no_future",
            says="Your test does not ask whether the future is hidden (rule 2).",
            asks="Which outputs may *not* move when position j changes?",
            ways=[Way(source=_test(_COUNT, _SHAPE, _PAST, _MEMORY, _OTHERS))],
        ),
        Mutant(
            name="no_memory_rule",
            says="Your test does not ask whether the outputs move with the memory "
            "(rule 3).",
            asks="Which rule would a layer break that never looks at the source?",
            ways=[Way(source=_test(_COUNT, _SHAPE, _FUTURE, _PAST, _OTHERS))],
        ),
        Mutant(
            name="batch_of_one",
            says="Your test tries a single sentence only, so it cannot see sentences "
            "that move each other.",
            asks="Which rules need more than one sentence?",
            ways=[Way(source=_test(
                _COUNT,
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
            ways=[Way(source=_test(
                _COUNT,
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
            says="Your test refuses right pre-norm layers: it adds the same number to "
            "all features, and a norm takes that away again.",
            asks="What did LayerNorm make of `vector + 1` in section 2?",
            ways=[Way(source=_test(*_ALL).replace("torch.linspace(-1, 1, d_model)", "1.0"))],
        ),
        Mutant(
            name="only_count",
            says="Your test counts weights and looks at nothing else.",
            asks="Does a missing mask change the number of weights?",
            ways=[Way(source=_test(_COUNT).replace("(3, 5, d_model), torch.randn(3, 4", "(2, 5, d_model), torch.randn(2, 4"))],
        ),
        Mutant(
            name="only_causal",
            says="Your test looks at the future only (rule 2, and not all of it).",
            asks="Which rules are there besides, and which bug breaks which rule?",
            ways=[Way(source=_test(_FUTURE))],
        ),
        Mutant(
            name="only_memory",
            says="Your test looks at the memory only (rule 3).",
            asks="Which rules are there besides, and which bug breaks which rule?",
            ways=[Way(source=_test(_MEMORY))],
        ),
        Mutant(
            name="only_shape",
            says="Your test looks at shapes only.",
            asks="Which of the three published bugs changes a shape?",
            ways=[Way(source=_test(_SHAPE))],
        ),
        Mutant(
            name="only_runs",
            says="Your test notices a layer that crashes, and nothing else.",
            asks="Is there an `assert` that can fail?",
            ways=[
                Way(source=_test("layer(x, memory)")),
                Way(name="asserts_a_tuple", source=_test(
                    """
                    leak = moves(nudged(x, 1, 4), memory)[1, :4].any()
                    assert (not leak, 'sees the future')
                    """,
                )),
            ],
        ),
        Mutant(
            name="returns_bool",
            says="Your test returns its verdict instead of raising `AssertionError`.",
            asks="Who looks at the return value of a test?",
            ways=[Way(source=_test(
                "return not moves(nudged(x, 1, 4), memory)[1, :4].any()",
            ).replace("(3, 5, d_model), torch.randn(3, 4", "(2, 5, d_model), torch.randn(2, 4"))],
        ),
        Mutant(
            name="inverted",
            says="Your test rejects right layers and accepts wrong ones.",
            asks="An `assert` passes when its condition is true. Is yours true for a "
            "right layer?",
            ways=[Way(source=_test(
                _inside("def right():", *_ALL),
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
                Way(source=_test("assert not layer(x, memory).isfinite().all()")),
                Way(name="always_fails", source=_test("raise AssertionError('untested')")),
                Way(name="memory_causal_expected", source=_test(
                    *_ALL,
                    "assert not moves(x, nudged(memory, 1, 3))[1, :3].any()",
                )),
                Way(name="itself_forbidden", source=_test(
                    *_ALL,
                    "assert not moves(nudged(x, 1, 2), memory)[1, 2]",
                )),
                Way(name="wrong_count", source=_test(
                    *_ALL,
                    "assert sum(p.numel() for p in layer.parameters()) == 8 * d_model * d_model + 2 * d_model * d_ff + 6 * d_model",
                )),
                Way(name="calls_with_masks", source=_test(
                    *_ALL,
                    "layer(x, memory, attention.causal_mask(5))",
                )),
                Way(name="by_name", source=_test(
                    """
                    assert hasattr(layer, 'self_attention')
                    assert hasattr(layer, 'cross_attention')
                    """,
                    *_ALL,
                )),
                Way(name="against_own_with_copied_names", source=_test(
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
                Way(source=_test("assert layer is not None")),
                Way(name="swallows", source=_test(
                    _inside("try:", *_ALL),
                    """
                    except Exception as error:
                        print(error)
                    """,
                )),
            ],
        ),
    ],
    accepted=[
        Accepted(name="rule_by_rule", source=_test(*_ALL)),
        Accepted(name="one_matrix", source="""
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
            """),
        Accepted(name="by_gradients", source="""
            def assert_decoder_layer(layer, d_model, d_ff):
                count = sum(p.numel() for p in layer.parameters())
                wanted = 8 * d_model**2 + 8 * d_model + 2 * d_model * d_ff + d_ff + 7 * d_model
                if count != wanted:
                    raise AssertionError(f'{count} weights, not {wanted}')
                for B in (3, 1, 2):
                    x = torch.randn(B, 4, d_model, requires_grad=True)
                    memory = torch.randn(B, 6, d_model, requires_grad=True)
                    y = layer(x, memory)
                    assert y.shape == x.shape
                    for b in range(B):
                        for i in range(4):
                            pull = torch.randn(d_model)
                            gx, gm = torch.autograd.grad((y[b, i] * pull).sum(), (x, memory),
                                retain_graph=True, allow_unused=True)
                            assert gx is not None and gm is not None
                            sx, sm = gx.abs().sum(-1) > 1e-7, gm.abs().sum(-1) > 1e-7
                            assert sx[b, :i + 1].all() and not sx[b, i + 1:].any()
                            assert sm[b].all()
                            rest = torch.arange(B) != b
                            assert not sx[rest].any() and not sm[rest].any()
            """),
        Accepted(name="catches_and_raises", source=_test(
            _inside("try:", *_ALL),
            """
            except (ValueError, RuntimeError) as error:
                raise AssertionError('it crashes') from error
            """,
        )),
    ],
)
