"""Demonstrations wait for what they need, and are left out while grading."""

import linecache

import pytest

from autograder import demo, require_solved
from autograder.checks import contents


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
        "(heat map waits: `unsolved_mask` is not solved yet)\n"
    )


def test_what_the_course_s_own_code_lacks_is_not_called_the_student_s_line(capsys):
    @demo
    def table():
        return corpus  # noqa: F821

    @demo
    def curves():
        raise ValueError("no")

    out = capsys.readouterr().out
    assert "(table waits: `corpus` is not defined: a cell above" in out
    assert "(curves waits: ValueError: no)" in out and "your line" not in out


@pytest.fixture
def cell(monkeypatch):
    """Runs a text as a cell of unit 2's notebook."""
    monkeypatch.setattr(contents, "this_unit", lambda: "attention")
    names = {"demo": demo, "require_solved": require_solved}

    def run(text: str) -> None:
        file = f"<cell {len(text)}>"
        linecache.cache[file] = (len(text), None, text.splitlines(True), file)
        exec(compile(text, file, "exec"), names)

    yield run
    for file in [name for name in linecache.cache if name.startswith("<cell ")]:
        del linecache.cache[file]


def test_it_says_which_exercise_a_demonstration_needs(cell, capsys):
    cell("def causal_mask(n):\n    raise NotImplementedError")
    cell("@demo\ndef heat_map():\n    causal_mask(3)")
    cell("@demo\ndef sums():\n    stable_softmax(3)")
    path, off = " (short path)", " (not on the short path)"
    assert capsys.readouterr().out.splitlines() == [
        f"(heat map waits: `causal_mask` is not solved yet; needs Exercise 2.3{path})",
        "(sums waits: `stable_softmax` is not defined: run its cell first; needs "
        f"Exercise 2.2{off})",
    ]


def test_a_demonstration_can_ask_before_it_trains(cell, capsys):
    """Also for a class of which one method is a stub."""
    cell("def causal_mask(n):\n    raise NotImplementedError")
    cell(
        "class CrossAttention:\n    def __init__(self):\n        self.size = 3\n"
        "    def forward(self, x):\n        raise NotImplementedError"
    )
    for name in ("causal_mask", "CrossAttention", "padding_mask"):
        cell(f"@demo\ndef training():\n    require_solved({name})\n    print('10 s')")
    assert capsys.readouterr().out.splitlines() == [
        f"(training waits: `{name}` is {state}; needs Exercise {number} (short path))"
        for name, number, state in (
            ("causal_mask", "2.3", "not solved yet"),
            ("CrossAttention", "2.5", "not solved yet"),
            ("padding_mask", "2.3", "not defined: run its cell first"),
        )
    ]
    cell("def causal_mask(n):\n    return n")
    cell("@demo\ndef training():\n    require_solved(causal_mask)\n    print('10 s')")
    assert capsys.readouterr().out == "10 s\n"


def test_only_an_answer_s_line_is_the_student_s(cell, capsys):
    cell("def causal_mask(n):\n    return n.tril()")
    cell("def draw(mask):\n    return mask.sahpe")
    cell("@demo\ndef heat_map():\n    causal_mask(3)")
    cell("@demo\ndef plots():\n    draw(3)")
    first, line, last = capsys.readouterr().out.splitlines()
    assert first.endswith("no attribute 'tril'; needs Exercise 2.3 (short path)")
    assert line == "in your line 2: return n.tril())"
    assert "plots waits: AttributeError" in last and "your line" not in last


def test_in_a_notebook_it_links_to_the_exercise(cell, monkeypatch, capsys):
    pages = []
    monkeypatch.setattr("autograder.checks.demo.is_attended", lambda: True)
    monkeypatch.setattr("IPython.display.display", lambda html: pages.append(html.data))
    monkeypatch.setenv("JPY_SESSION_NAME", "/home/ada/02 mine.ipynb")
    cell("def causal_mask(n):\n    return {}['a*b*c']")
    cell("@demo\ndef heat_map():\n    causal_mask([])")
    (html,) = pages
    cell_id = contents.contents_of("attention").places["attention/masks"].cell
    assert f'<a href="02%20mine.ipynb#cell-id={cell_id}"' in html
    assert "short path" in html
    assert "<code>return {}[&#x27;a*b*c&#x27;]</code>" in html
    assert not capsys.readouterr().out


def test_grading_runs_no_demonstration(monkeypatch, capsys):
    monkeypatch.setenv("AUTOGRADER_LEAVES_OUT_DEMONSTRATIONS", "1")
    ran = []

    @demo
    def heat_map():
        ran.append(heat_map)

    assert ran == [] and "(heat map: left out while grading)" in capsys.readouterr().out
