"""The page of mistakes holds every sentence of the bank, and believes none of them."""

import dataclasses
import html
import re

import pytest

from autograder import cli
from autograder.authoring.catalogue import specifications
from autograder.authoring.specification import Mutant, Specification, Variant
from autograder.classroom import mistakes
from autograder.course import find_unit, units

UNIT = find_unit("attention")


def words(page: str) -> str:
    """The page as it is read, without tags."""
    return html.unescape(re.sub(r"<[^>]+>", "", page.partition("<body>")[2]))


def plain(text: str) -> str:
    """A text without the signs that become code and emphasis."""
    return re.sub(r"[`*]", "", text)


@pytest.mark.parametrize("unit", units(), ids=lambda unit: unit.label)
def test_every_mistake_and_every_hint_is_there_in_the_order_of_the_notebook(unit):
    text = plain(words(mistakes.as_html(unit)))
    place = 0
    for exercise in specifications(unit.name):
        for mutant in exercise.mutants:
            place = text.index(plain(mutant.says), place)
            place = text.index(plain(mutant.asks), place)
        for kind in exercise.cases:
            assert plain(kind.hint) in text


def test_exercises_have_their_headings_and_a_way_to_them():
    page = mistakes.as_html(UNIT)
    assert "Exercise 2.1" in page and "Exercise 2.6" in page
    for target in re.findall(r'href="#([^"]+)"', page):
        assert page.count(f'id="{target}"') == 1


def test_it_is_a_page_without_scripts_that_fetches_nothing_and_prints():
    page = mistakes.as_html(UNIT)
    assert "<script" not in page and "http" not in page.partition("<body>")[2]
    assert "@media print" in page and "default-src 'none'" in page


def test_what_a_sentence_holds_is_shown_not_run(monkeypatch):
    evil = Mutant(
        name="evil",
        says="<script>alert(1)</script>",
        asks="`<b>`?",
        variants=[Variant()],
    )

    def spoilt(name: str) -> Specification:
        unit = name.split("/")[0]
        exercise = next(s for s in specifications(unit) if s.name == name)
        return dataclasses.replace(exercise, mutants=[evil])

    monkeypatch.setattr(mistakes, "specification", spoilt)
    page = mistakes.as_html(UNIT)
    assert "<script" not in page and "&lt;script&gt;" in page
    assert "<code>&lt;b&gt;</code>?" in page


def test_the_command_writes_a_page_a_unit(tmp_path, capsys):
    assert cli.main(["mistakes", "02", "03", "--output", str(tmp_path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.rpartition("/")[2] for line in lines] == [
        "02_attention.html",
        "03_multi_head_attention.html",
    ]
    assert (tmp_path / "02_attention.html").read_text().startswith("<!DOCTYPE html>")


def test_a_unit_that_is_not_there_is_a_plain_error(capsys):
    assert cli.main(["mistakes", "no_such_unit"]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_the_aspects_of_each_exercise_sum_to_its_points():
    for entry in mistakes.sections(mistakes.read(UNIT)):
        assert sum(entry.aspects.values()) == pytest.approx(entry.points)


def test_the_page_says_what_earns_which_points():
    page = words(mistakes.as_html(UNIT))
    assert "What earns which points" in page and "masks" in page
