"""What a student sees when a check is run, whatever was written in the cell."""

import os
import re
import shutil
import subprocess
import sys

import matplotlib.pyplot as plt
import pytest
import torch

from autograder import check, demo, show
from autograder.solutions import attention
from autograder.student import references
from autograder.student.check import Check
from autograder.student.observe import observe, plain

NAME = "attention/scaled_dot_product"


def unscaled(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1)
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    weights = scores.softmax(-1)
    return weights @ v, weights


def test_the_solution_gets_all_points():
    verdict = check(NAME, attention.scaled_dot_product_attention)
    assert verdict.passed and repr(verdict) == repr(verdict.max_points)


def test_a_classic_mistake_is_named_first(capsys):
    verdict = check(NAME, unscaled)
    assert verdict.points == 0 and verdict.mistake.name
    text, html = str(verdict), verdict._repr_html_()
    assert text.splitlines()[1].strip() == verdict.mistake.says
    assert html.index("Ask yourself") < html.index("expected")
    assert "<svg" in html and "<script" not in html


def test_a_panel_needs_nothing_of_the_program_that_shows_it():
    """JupyterLab, Colab, VS Code: no script, no style sheet, no file."""
    html = check(NAME, unscaled)._repr_html_() + check.summary()._repr_html_()
    own = html.replace("http://www.w3.org/2000/svg", "")
    found = re.findall(r"<(?:script|style|link|img)|<[^>]* (?:class|on\w+)=", own)
    assert not found and "var(--" not in own and "http" not in own


def test_outside_a_notebook_the_panel_is_printed(capsys):
    verdict = check(NAME, unscaled)
    assert capsys.readouterr().out.strip() == str(verdict)


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


def test_an_error_shows_the_students_own_line_and_not_our_stack():
    def broken(q, k, v, mask=None):
        return q @ k  # shapes do not fit

    text = str(check(NAME, broken))
    assert "return q @ k" in text and "in your line" in text
    assert "probes" not in text and "Traceback" not in text


@pytest.mark.parametrize(
    "answer",
    [
        None,
        7,
        "text",
        [],
        torch.ones(3),
        lambda: None,
        lambda *a: None,
        lambda *a: (1, 2),
        lambda *a: "x" * 10**6,
        lambda *a: a,
        torch.nn.Linear(2, 2),
        lambda *a: sys.exit(3),
        lambda *a: 1 / 0,
        lambda *a: (torch.ones(2),) * 2,
        lambda q, *_: (q.to_sparse(), q),
        lambda q, *_: (q.cfloat(), q.half()),
    ],
)
def test_no_answer_makes_a_check_raise_or_write_to_stderr(answer, capsys):
    verdict = check(NAME, answer)
    assert verdict.points == 0 and "0 of" in str(verdict) and verdict._repr_html_()
    assert capsys.readouterr().err == ""


def test_warnings_and_progress_bars_cost_nothing(capsys):
    import warnings

    def noisy(*arguments):
        warnings.warn("deprecated", stacklevel=1)
        print("50%", file=sys.stderr)
        return attention.scaled_dot_product_attention(*arguments)

    assert check(NAME, noisy).passed
    captured = capsys.readouterr()
    assert captured.err == "" and "50%" in captured.out


def test_hidden_cases_show_neither_inputs_nor_numbers():
    """Also where the visible cases pass, so that the hidden one is the one on show."""
    from autograder.student import references

    stored = references.load("attention", "hidden")[NAME]
    secret = stored.cases[0].inputs["q"]

    def wrong_on_the_secret_case(q, *rest):
        output, weights = attention.scaled_dot_product_attention(q, *rest)
        same = q.shape == secret.shape and q.detach().equal(secret)
        return output + (0.123 if same else 0), weights

    verdict = check.hidden(NAME, wrong_on_the_secret_case)
    assert 0 < verdict.points < verdict.max_points
    text = str(verdict) + verdict._repr_html_()
    assert "(hidden)" in text and "output: wrong values" in text
    assert "expected" not in text and "svg" not in text


def test_answers_learnt_by_heart_fail_the_hidden_drawing():
    from autograder.student import references

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


def test_inputs_are_copies():
    x = torch.ones(3)
    observe(lambda answer, inputs: {"x": inputs["x"].mul_(9)}, None, {"x": x})
    assert x.sum() == 3


def test_tensor_subclasses_arrive_as_plain_tensors():
    class Sly(torch.Tensor):
        pass

    assert type(plain(torch.ones(2).as_subclass(Sly))) is torch.Tensor
    assert type(plain(torch.nn.Parameter(torch.ones(2)))) is torch.Tensor


def test_a_demonstration_waits_for_its_exercise(capsys):
    @demo
    def heat_map_of_the_table():
        raise NotImplementedError

    @demo
    def curves():
        return 1 / 0

    out = capsys.readouterr().out
    assert "heat map of the table waits: " in out
    assert "curves waits: ZeroDivisionError" in out


def unsolved_mask():
    raise NotImplementedError


def test_a_demonstration_names_the_exercise_that_it_waits_for(capsys):
    @demo
    def heat_map():
        unsolved_mask()

    assert capsys.readouterr().out == (
        "(heat map waits: unsolved_mask is not solved yet)\n"
    )


def test_what_the_course_s_own_code_lacks_is_not_called_the_student_s_line(capsys):
    @demo
    def table():
        return corpus  # noqa: F821

    @demo
    def curves():
        raise ValueError("no")

    out = capsys.readouterr().out
    assert '(table waits: "corpus" is made by a cell above' in out
    assert "(curves waits: ValueError: no)" in out and "your line" not in out


def test_grading_runs_no_demonstration_and_draws_no_figure(monkeypatch, capsys):
    monkeypatch.setenv("AUTOGRADER_LEAVES_OUT_DEMONSTRATIONS", "1")
    ran = []

    @demo
    def heat_map():
        ran.append(heat_map)

    figure = plt.figure()
    show(figure, "Two curves cross.")
    out = capsys.readouterr().out
    assert ran == [] and plt.get_fignums() == []
    assert "(heat map: left out while grading)" in out
    assert "(figure left out while grading: Two curves cross.)" in out


def test_importing_the_students_part_loads_nothing_of_the_instructors():
    code = (
        "import sys, autograder, autograder.student.agent;"
        "print([m for m in sys.modules if m.startswith('autograder.')"
        " and not m.startswith('autograder.student')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.strip() == "[]", done.stdout + done.stderr


def test_an_earlier_failure_is_blamed_only_if_its_code_runs():
    check = Check()

    def odd_attention(q, k, v, mask=None):
        output, weights = attention.scaled_dot_product_attention(q, k, v, mask)
        return output + 0.25 * v.mean() ** 2, weights

    class Using(attention.SelfAttention):
        def forward(self, x, mask=None):
            return odd_attention(self.w_q(x), self.w_k(x), self.w_v(x), mask)

    class Alone(attention.SelfAttention):
        def forward(self, x, mask=None):
            output, weights = super().forward(x, mask)
            return output + 0.25 * x.mean() ** 2, weights

    check(NAME, odd_attention)
    using, alone = (check("attention/self_attention", c) for c in (Using, Alone))
    assert using.mistake.name == "follows" and not using.sure
    assert alone.mistake is None or alone.mistake.name != "follows"


def test_a_panel_stays_small_and_keeps_its_first_picture():
    def zeros(q, k, v, mask=None):
        lead = q.shape[:-1]
        return torch.zeros(*lead, v.size(-1)), torch.zeros(*lead, k.size(-2))

    html = check(NAME, zeros)._repr_html_()
    assert html.count("<details") > 5 and "<svg" in html
    assert len(html.encode()) < 60 * 1024


def test_references_are_read_once_and_again_when_they_have_changed(tmp_path):
    path = tmp_path / "attention.safetensors"
    shutil.copy(references.FOLDER / "public" / path.name, path)
    first = references.read(path, NAME)[NAME]
    assert references.read(path, NAME)[NAME] is first
    os.utime(path, ns=(1, 1))
    assert references.read(path, NAME)[NAME] is not first
