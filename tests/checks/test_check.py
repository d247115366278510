"""What a student sees when a check is run, whatever was written in the cell."""

import re
import subprocess
import sys

import pytest
import torch

from autograder import check
from autograder.checks import references
from autograder.checks.check import Check
from tests.checks.notebook import Notebook
from tests.checks.scaled import NAME, unscaled
from transformer_course.solutions import attention


def test_the_solution_gets_all_points():
    verdict = check(NAME, attention.scaled_dot_product_attention)
    assert verdict.passed and repr(verdict) == repr(verdict.max_points)


def test_a_classic_mistake_is_named_first_and_printed_outside_a_notebook(capsys):
    verdict = check(NAME, unscaled)
    assert capsys.readouterr().out.strip() == str(verdict)
    assert verdict.points == 0 and verdict.mistake.name
    text, html = str(verdict), verdict._repr_html_()
    assert text.splitlines()[1].strip() == verdict.mistake.says
    assert html.index("Ask yourself") < html.index("expected")
    assert "<svg" in html and "<script" not in html


def test_a_wrong_name_lists_the_close_ones():
    note = str(check("attention/scaled_dot_produkt", unscaled))
    assert NAME in note and "Did you mean" in note
    assert "positional_encoding" in str(check("no such thing", unscaled))
    assert check(None, unscaled).points == 0


def test_an_unsolved_stub_says_so_in_one_line():
    def stub(*arguments):
        raise NotImplementedError  # your code here

    verdict = check(NAME, stub)
    assert verdict.points == 0 and str(verdict).count("\n") == 0
    assert str(verdict).startswith("Not solved yet")
    assert "short path" not in str(verdict)
    skipped = check("attention/softmax", stub)
    assert skipped.unsolved and "(not on the short path)" in str(skipped)


def test_what_is_right_counts_beside_a_stub_that_it_does_not_reach():
    def half(q, k, v, mask=None):
        if mask is not None:
            raise NotImplementedError  # for later
        return attention.scaled_dot_product_attention(q, k, v)

    verdict = check(NAME, half)
    assert 0 < verdict.points < verdict.max_points and "Not solved" not in str(verdict)


def test_an_error_shows_the_students_own_line_and_not_our_stack():
    def broken(q, k, v, mask=None):
        return q @ k  # shapes do not fit

    text = str(check(NAME, broken))
    assert "return q @ k" in text and "in your line" in text
    assert "probes" not in text and "Traceback" not in text


@pytest.mark.parametrize(
    "answer",
    [
        None, 7, "text", [], torch.ones(3), torch.nn.Linear(2, 2), lambda: None,
        lambda *a: None, lambda *a: (1, 2), lambda *a: "x" * 10**6, lambda *a: a,
        lambda *a: sys.exit(3), lambda *a: 1 / 0, lambda *a: (torch.ones(2),) * 2,
        lambda q, *_: (q.to_sparse(), q), lambda q, *_: (q.cfloat(), q.half()),
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("error")
def test_no_answer_makes_a_check_raise_or_write_to_stderr(answer, capsys):
    verdict = check(NAME, answer)
    assert verdict.points == 0 and "0 of" in str(verdict) and verdict._repr_html_()
    assert capsys.readouterr().err == ""


def test_warnings_and_progress_bars_cost_nothing(capsys):
    import warnings

    def noisy(*arguments, **options):
        warnings.warn("deprecated", stacklevel=1)
        print("50%", file=sys.stderr)
        return attention.scaled_dot_product_attention(*arguments, **options)

    assert check(NAME, noisy).passed
    captured = capsys.readouterr()
    assert captured.err == "" and "50%" in captured.out


def test_answers_learnt_by_heart_fail_the_hidden_drawing():
    table = {
        case.inputs["q"].numpy().tobytes(): case.expected
        for case in references.load("attention")[NAME].cases
        if "q" in case.inputs
    }

    def learnt(q, k, v, mask=None):
        answers = table[q.detach().numpy().tobytes()]
        return answers["output"], answers["weights"]

    assert check.hidden(NAME, learnt).points == 0


def test_a_check_leaves_the_students_random_state_alone():
    torch.manual_seed(3)
    expected = torch.rand(2)
    torch.manual_seed(3)
    check(NAME, lambda *a: torch.rand(2))
    assert torch.rand(2).equal(expected)


def test_the_students_part_loads_neither_the_instructors_nor_pytorchs_compiler():
    """The compiler would take seconds in each sandbox."""
    code = (
        "import sys, torch, autograder, autograder.checks.agent\n"
        "from autograder.checks.ready_made import noting_calls\n"
        "with noting_calls(['torch.softmax']): torch.ones(3).exp()\n"
        "ships = ('autograder.checks', 'autograder.root', 'autograder.aliases')\n"
        "print([m for m in sys.modules if m.startswith('autograder.')"
        " and not m.startswith(ships)], 'torch._dynamo' in sys.modules)"
    )
    command = [sys.executable, "-c", code]
    process = subprocess.run(command, capture_output=True, text=True)
    assert process.stdout.strip() == "[] False", process.stdout + process.stderr


def test_an_earlier_failure_is_blamed_only_if_its_code_runs():
    check = Check()

    def odd_attention(q, k, v, mask=None):
        output, weights = attention.scaled_dot_product_attention(q, k, v, mask)
        return output + 0.25 * v.mean() ** 2, weights

    class Using(attention.CrossAttention):
        def forward(self, x, memory, mask=None):
            return odd_attention(self.w_q(x), self.w_k(memory), self.w_v(memory), mask)

    class Alone(attention.CrossAttention):
        def forward(self, x, memory, mask=None):
            output, weights = super().forward(x, memory, mask)
            return output + 0.25 * x.mean() ** 2, weights

    check(NAME, odd_attention)
    using, alone = (check("attention/cross_attention", c) for c in (Using, Alone))
    assert using.mistake.name == "follows" and not using.sure
    assert alone.mistake is None or alone.mistake.name != "follows"


def test_an_interrupted_check_says_where_it_was():
    def endless(q, k, v, mask=None):
        raise KeyboardInterrupt

    verdict = Check()(NAME, endless)
    assert re.fullmatch(
        r"Stopped after 0 s, at case 1 of \d+ \(.+\), in your line \d+: "
        "`raise KeyboardInterrupt`",
        verdict.note,
    )
    assert verdict.points == 0 and not verdict.unsolved


@pytest.fixture
def notebook(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    notebook = Notebook(monkeypatch)
    notebook.shell.user_ns["check"] = Check()
    return notebook


def test_an_answer_whose_cell_did_not_run_is_one_line(notebook):
    verdict = notebook.run(f'check("{NAME}", scaled_dot_product_attention)')
    assert verdict.note == (
        "Run the cell above first: `scaled_dot_product_attention` is not defined yet."
    )
    notebook.run("def scaled_dot_product_attention(q, k:\n    pass")
    verdict = notebook.run(f'check("{NAME}", scaled_dot_product_attention)')
    assert "its cell ended with a syntax error in line 1" in verdict.note


def test_an_earlier_version_is_said_to_be_one(notebook):
    name = "attention/softmax"
    code = (
        "def stable_softmax(x):\n    powers = (x - x.amax(-1, keepdim=True)).exp()\n"
        "    return powers / powers.sum(-1, keepdim=True)"
    )
    notebook.run(code)
    assert notebook.run(f'check("{name}", stable_softmax)').notice == ""
    notebook.run(f"{code} +")
    verdict = notebook.run(f'check("{name}", stable_softmax)')
    assert verdict.passed and "a syntax error in line 3" in verdict.notice
    text, html = str(verdict), verdict._repr_html_()
    assert verdict.notice in text and "What your earlier version gives" in text
    notice, result = html.split("<details", 1)
    assert "did not run" in notice and "All" not in notice
    assert result.index("What your earlier version gives") < result.index("cases pass")
    assert "open" not in result.partition(">")[0]


MASKS = attention.padding_mask, attention.causal_mask, attention.combine_masks


def test_an_exercise_of_several_functions_is_given_all_of_them():
    assert check("attention/masks", *MASKS).passed
    flipped = check("attention/masks", MASKS[0], lambda n: MASKS[1](n).mT, MASKS[2])
    assert flipped.mistake.name == "upper" and 0 < flipped.points < flipped.max_points


def test_one_of_several_functions_that_is_a_stub_costs_its_own_cases():
    def stub(*_):
        raise NotImplementedError

    verdict = check("attention/masks", MASKS[0], stub, MASKS[2])
    assert 0 < verdict.points < verdict.max_points and not verdict.unsolved
    assert check("attention/masks", stub, stub, stub).unsolved


def test_of_several_functions_the_one_that_is_not_there_is_named(notebook):
    notebook.shell.user_ns |= {mask.__name__: mask for mask in MASKS}
    call = 'check("attention/masks", padding_mask, causal_mask, combine_masks)'
    assert notebook.run(call).passed
    notebook.run("def causal_mask(n:\n    pass")
    assert "The cell of `causal_mask` did not run" in notebook.run(call).notice
    del notebook.shell.user_ns["padding_mask"]
    assert "`padding_mask` is not defined yet" in notebook.run(call).note


def test_a_stub_that_an_answer_calls_is_named_though_its_check_did_not_run(notebook):
    notebook.run("def scaled_dot_product_attention(*_):\n    raise NotImplementedError")
    stub = notebook.get("scaled_dot_product_attention")

    class Using(attention.CrossAttention):
        def forward(self, x, memory, mask=None):
            return stub(self.w_q(x), self.w_k(memory), self.w_v(memory), mask)

    message = Check()("attention/cross_attention", Using).mistake.says
    assert "builds on Exercise 2.4 (*Scaled dot-product attention*)" in message
    assert "which is not solved yet. Grading tries" in message, "it's on the short path"


def test_more_memory_than_there_is_is_a_plain_line():
    def greedy(q, k, v, mask=None):
        return torch.zeros(10**7, 10**6), q

    verdict = Check()(NAME, greedy)
    assert verdict.mistake.says == "Your line asks for more memory than there is."
    assert "MemoryError: no room for 40,000 GB\n" in str(verdict)
