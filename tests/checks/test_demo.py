"""Demonstrations wait for what they need, and are left out while grading."""

import matplotlib.pyplot as plt

from autograder import demo, show


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
