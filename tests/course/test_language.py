"""The course's language, and the words of its notebooks."""

from functools import partial

import pytest

from autograder.authoring import budget, numbers
from autograder.authoring.notebook import Cell as EnglishCell
from autograder.course.errors import CourseError
from autograder.course.language import WORDINGS, language, wording

Cell = partial(EnglishCell, words=WORDINGS["de"])
HEAD = """\
# 1 · Positionen

*Etwa eine halbe Stunde · kurzer Weg
etwa ½: Aufgaben 1.1*

*Zwei Aufgaben und eine Frage in Worten.*
"""
TEXT = """\
## 1.1 Ein Abschnitt

### Aufgabe 1.{0} - Nachschlagen
*Zeit ~{1} min · Schwierigkeit 1/5 · 5 Punkte*
"""


def course(folder, setting: str):
    (folder / "course.toml").write_text(f"{setting}\n")
    return folder


def test_a_course_is_english_unless_it_says_otherwise(tmp_path):
    assert language(course(tmp_path, "")) == "en"
    assert language(course(tmp_path, 'language = "de"')) == "de"


@pytest.mark.parametrize("name", ['"German"', '"../de"', "7", '""'])
def test_another_word_is_refused(tmp_path, name):
    with pytest.raises(CourseError, match=r"course\.toml.*language is .*like"):
        language(course(tmp_path, f"language = {name}"))


def test_a_language_without_words_for_notebooks_is_refused(tmp_path):
    with pytest.raises(CourseError, match=r'"fr", whose words WORDINGS .* en, de'):
        wording("", course(tmp_path, 'language = "fr"'))


@pytest.mark.parametrize(
    ("heading", "notebooks"), [("Exercise", "en"), ("Aufgabe", "de")]
)
def test_checks_may_be_german_before_the_notebooks_are(tmp_path, heading, notebooks):
    text = f"# %% [markdown]\n# ### {heading} 1.1 · Twice\n"
    root = course(tmp_path, 'language = "de"')
    assert wording(text, root) is WORDINGS[notebooks]


def test_a_german_notebook_is_counted_like_an_english_one():
    cells = [Cell("markdown", HEAD, "n.py:1"), Cell("code", "import math", "n.py:9")]
    for i, minutes in ((1, 10), (2, 20)):
        cells += [
            Cell("markdown", TEXT.format(i, minutes), "n.py:20"),
            Cell("code", "x", "n.py:30", role="exercise", name=f"u/{i}"),
            Cell("code", "y", "n.py:40", role="check", name=f"u/{i}", points=5),
        ]
    question = Cell("markdown", "Warum?", "n.py:50", role="written", name="w", points=1)
    numbers.refuse_stale([*cells, question])
    assert budget.stated_minutes(cells) == {"1.1": 10, "1.2": 20}
    budget.refuse_wrong(cells, ["u/1"], "unit.toml:1")
    with pytest.raises(CourseError, match='the text says "Zwei Aufgaben"; it has 3'):
        numbers.refuse_stale([*cells, *cells[-1:], question])
    with pytest.raises(CourseError, match='this should say "Etwa eine halbe Stunde"'):
        budget.refuse_wrong(cells, [], "unit.toml:1")
