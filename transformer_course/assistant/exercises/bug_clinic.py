"""Cases and mistakes for an exercise: a test that finds faulty training steps."""

from __future__ import annotations

from autograder.authoring.common import common
from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, right, source, wrong
from autograder.authoring.specification import CaseKind, Inputs, Specification, Variant


def _make_case(
    name: str, title: str, bugs: tuple[str, str], hint: str, *, style: str = "labels", hidden: bool = False
) -> CaseKind:
    """Make a case in which a student's test has to accept one step and reject two.

    The rejected steps have one of the ``bugs`` each; `take_step` knows their names.
    """
    def make_inputs(draw: Draw) -> Inputs:
        other, third = (f"{style}, {bug}" for bug in bugs)
        return {"right": f"{style}, ", "other": other, "third": third}

    verdicts = {"a correct step": "accepted", "the other one": "rejected", "a third one": "rejected"}
    return case(name, title, make_inputs, hint, hidden_only=hidden, expected=lambda draw: verdicts)


_CHECK = (
    "assert torch.allclose(loss, right.detach(), rtol=0, atol=1e-4)",
    "assert torch.allclose(gradient, leaf.grad, rtol=0, atol=1e-4)",
)
_SPANS = ((0, 3, 6), (0, 9, 11), (1, 2, 9), (2, 5, 7), (2, 10, 12))  # row, begin, end of each answer


def _write_test(
    *check: str, spans: tuple[tuple[int, int, int], ...] = _SPANS, rows: int = 3, before: str = "", name: str = ""
) -> Variant:
    """Write a student's test, which tries a training step on a random batch.

    Args:
        check: the test's last lines, which compare the step's ``loss`` and
            ``gradient`` with the correct values, ``right`` and ``leaf.grad``.
        spans: (row, begin, end) of each answer in the batch.
        before: a line that changes the batch before the step; "" for none.
    """
    lines = [
        f"logits, ids = torch.randn({rows}, 12, 7), torch.randint(7, ({rows}, 12))",
        f"answers = torch.zeros({rows}, 12, dtype=torch.bool)",
        *(f"answers[{row}, {begin}:{end}] = True" for row, begin, end in spans),
        before or "pass",
        "loss, gradient = step(logits, ids, answers)",
        "leaf, learnt = logits.clone().requires_grad_(), answers[:, 1:]",
        "right = F.cross_entropy(leaf[:, :-1][learnt], ids[:, 1:][learnt])",
        "right.backward()",
        *check,
    ]
    body = "\n".join(f"    {line}" for line in lines)
    return source(f"def assert_learns_answers(step):\n{body}\n", name)


CASES = [
    _make_case("questions", "the published step, which learns the questions too; and one that hides the end of answers",
               ("questions", "no end"), "Change a logit in front of a question's token: may the loss change?"),
    _make_case("shift", "no shift; and a mean over all tokens", ("no shift", "all tokens in the mean"),
               "Which token do the logits at position `t` predict, and by how many tokens is the sum divided?",
               style="selected"),
    _make_case("logs",
               "the loss of the answers is logged, but all tokens are learnt; and only the last answer is learnt",
               ("logs answers, learns all", "last answer only"),
               "Compare the gradient as well. Give a row two answers."),
    _make_case("reported", "the answers are learnt, but too small a loss is logged; and the end of answers is lost",
               ("learns answers, logs less", "no end"), "Compare the loss as well, in both directions."),
    _make_case("rows", "a mean of the rows' means; and only the first row is learnt",
               ("mean of rows", "first row only"),
               "Let the rows have answers of different lengths.", style="selected"),
    _make_case("early", "labels two tokens ahead; and the first token of each answer is lost",
               ("two ahead", "no start"),
               "As above.", hidden=True),
    _make_case("mask", "the mask is not shifted; and the gradient is that of a sum",
               ("mask not shifted", "gradient of a sum"), "As above.", style="selected", hidden=True),
    _make_case("uphill", "the first answer only; and a gradient of the wrong sign", ("first answer only", "uphill"),
               "As above.", hidden=True),
]

MISTAKES = [
    wrong("questions_only",
          "Your test looks only at the gradient of the questions: a step that learns too little of the answers passes.",
          "What if nothing of the answers is learnt?",
          _write_test("assert not gradient[:, :-1][~learnt].any()"),
          _write_test("assert not gradient[:, :-1][~learnt].any() and gradient[:, :-1][learnt].any()",
                      name="something_learnt")),
    wrong("where_only",
          "Your test checks which positions have a gradient, but not which token is learnt there, or by how much.",
          "Is a gradient of the wrong sign or size caught?",
          _write_test("assert ((gradient.abs().sum(-1) > 0)[:, :-1] == learnt).all()")),
    wrong("loss_only", "Your test compares only the loss. A step may report one loss and learn from another.",
          "Which of the two results changes the model?",
          _write_test(_CHECK[0])),
    wrong("gradient_only", "Your test compares only the direction of the gradient, or only its size.",
          "Does your comparison see the sign and the size of every entry?",
          _write_test("assert torch.allclose(gradient / gradient.norm(), leaf.grad / leaf.grad.norm(), atol=1e-4)"),
          _write_test(_CHECK[0], "assert torch.allclose(gradient.abs(), leaf.grad.abs(), atol=1e-4)",
                      name="without_sign")),
    wrong("loss_unseen", "Your test does not compare the loss, or overlooks one that is too small.",
          "A step learns correctly and reports half of its loss. Does your test notice?",
          _write_test(_CHECK[1]),
          _write_test("assert loss - right.detach() < 1e-4", _CHECK[1], name="one_sided"),
          tests="in loss and gradient"),
    wrong("one_answer_per_row",
          "Each row of your batch has a single answer: a step that learns only the first or the last one passes.",
          "How many answers does a conversation have?",
          _write_test(*_CHECK, spans=((0, 3, 6), (1, 2, 9), (2, 10, 12))), tests="several answers"),
    wrong("one_row", "Your batch has a single conversation: mistakes between the rows go unnoticed.",
          "What is the mean of one row's mean?",
          _write_test(*_CHECK, spans=((0, 3, 6), (0, 9, 11)), rows=1), tests="counts equally"),
    wrong("equal_lengths", "All rows of your batch have equally many answer tokens, or all rows are equal.",
          "When does the mean of the rows' means differ from the mean of all tokens?",
          _write_test(*_CHECK, spans=tuple((row, begin, begin + 3) for row in range(3) for begin in (2, 8))),
          _write_test(*_CHECK, spans=tuple((row, *span) for row in range(3) for span in ((3, 6), (9, 11))),
                      before="logits, ids = logits[:1].repeat(3, 1, 1), ids[:1].repeat(3, 1)", name="equal_rows"),
          tests="counts equally"),
    wrong("everything_an_answer",
          "In your batch everything is an answer, so a step that learns the questions too cannot be seen.",
          "Which tokens of your batch are a question?",
          _write_test(*_CHECK, spans=tuple((row, 1, 12) for row in range(3)))),
    wrong("equal_logits", "Your logits are all equal, so the loss is the same whatever is learnt.",
          "What is the loss if the model finds all tokens equally probable?",
          _write_test(_CHECK[0], before="logits = torch.zeros_like(logits)")),
    wrong("too_generous", "Your tolerance is so large that mistakes pass.",
          "Between which two bounds from the contract should your tolerance lie?",
          _write_test("assert torch.allclose(loss, right.detach(), atol=1.0)",
                      "assert torch.allclose(gradient, leaf.grad, atol=0.5)"), tests="more than"),
    wrong("too_strict", "Your test rejects correct steps, whose last digits differ.",
          "By how much may a correct step differ?",
          _write_test("assert (gradient - leaf.grad).abs().max() < 1e-12 and (loss - right).abs() < 1e-12",
                      "assert not torch.equal(loss, loss)"),
          _write_test(*_CHECK, "assert False", name="rejects_all"), tests="less than"),
    wrong("bug_copied", "Your test computes the loss with a bug of its own, so it rejects correct steps.",
          "Which token do the logits at position `t` predict, and how many tokens are learnt?",
          _write_test("right = F.cross_entropy(logits[answers], ids[answers])", _CHECK[0]),
          _write_test("right = F.cross_entropy(logits[:, :-1].flatten(0, 1), ids[:, 1:].flatten())", _CHECK[0],
                      name="questions_copied"),
          tests="predicted by"),
    wrong("too_large", "Your batch is larger than the contract allows.",
          "How many rows and tokens may a batch have?",
          _write_test(*_CHECK, rows=9, before="logits, ids, answers = (t.repeat(1, 9, *[1] * (t.dim() - 2)) "
                      "for t in (logits, ids, answers))"), tests="at most 4 rows"),
    wrong("another_error", "Faulty steps are found, but your test raises an error other than `AssertionError`.",
          "Which statement raises `AssertionError` by itself?",
          _write_test("wrong = not torch.allclose(gradient, leaf.grad, atol=1e-4)",
                      "if wrong or not torch.allclose(loss, right, atol=1e-4): raise ValueError('it differs')"),
          tests="AssertionError"),
    wrong("accepts_all", "Your test accepts every step.",
          "Is there an `assert` that can fail?",
          _write_test("assert loss > 0 and gradient.shape == logits.shape"),
          _write_test("assert (torch.allclose(loss, right), 'differs')", name="asserts_a_pair")),
    common("returns_bool", _write_test("return bool(torch.allclose(loss, right, atol=1e-4))")),
]

ACCEPTED = [
    right("compared", _write_test(*_CHECK)),
    right("by_hand", source("""
        def assert_learns_answers(step):
            for seed in range(3):
                torch.manual_seed(seed)
                logits, ids = torch.randn(4, 20, 9), torch.randint(9, (4, 20))
                answers = torch.rand(4, 20) < torch.tensor([[0.2], [0.4], [0.6], [0.8]])
                answers[:, 0] = False
                loss, gradient = step(logits, ids, answers)
                total, expected, count = 0.0, torch.zeros_like(logits), int(answers.sum())
                for row in range(4):
                    for t in range(1, 20):
                        if answers[row, t]:
                            p = logits[row, t - 1].softmax(-1)
                            total -= p[ids[row, t]].log().item() / count
                            expected[row, t - 1] = (p - F.one_hot(ids[row, t], 9)) / count
                assert abs(loss.item() - total) < 1e-4
                assert (gradient - expected).abs().max() < 1e-4
        """)),
]

EXERCISE = Specification(
    target="assert_learns_answers", precise=False, separate="each case has bugs of its own",
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
