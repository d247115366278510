"""What students read in the course's language; English where nobody translated it."""

import json
import re
from itertools import chain

import pytest

from autograder import check
from autograder.authoring import translations
from autograder.checks import language
from autograder.checks.language import BrokenCatalogueError, Catalogue
from autograder.checks.panel import as_html
from autograder.course import find_unit
from transformer_course.solutions import positional_encoding as solved

NAME = "positional_encoding/embed"
UNIT = find_unit("positional_encoding")


def spoken(monkeypatch, *files) -> Catalogue:
    """Have checks speak German as some files for translators have it."""
    entries = chain.from_iterable(translations.read(file, "de") for file in files)
    catalogue = translations.compile_catalogue(entries, "de")
    monkeypatch.setattr(language, "catalogue", lambda: catalogue)
    return catalogue


@pytest.fixture
def german(monkeypatch) -> Catalogue:
    files = (translations.path_of("de"), translations.path_of("de", UNIT))
    return spoken(monkeypatch, *files)


def unmasked(ids, table, padding_idx=None):
    return table[ids]


def pads_by_default(ids, table, padding_idx=0):
    return solved.embed(ids, table, padding_idx)


# With N for each number: cases may be drawn anew.
PANEL = """\
Embeddings nachschlagen, mit Padding: N von N Punkten
  Token N wird auch dann zum Nullvektor, wenn es kein Padding-Token gibt.
  Frag dich: Was soll mit Token N geschehen, wenn `padding_idx` None ist?
  Verlorene Punkte: N von N für Werte, N von N für wiederholte Aufrufe, N von N für \
ungewöhnliche Eingaben, N von N für Gradienten.
  ✗ N Fälle scheitern auf dieselbe Weise (zuerst: kein Padding-Token)
      Vektoren: N von N Zahlen weichen ab, am stärksten bei [N, N, N]: erwartet: N, \
bei dir: N
      Gradient (Tabelle): N von N Zahlen weichen ab, am stärksten bei [N, N]: \
erwartet: N, bei dir: N
      ebenso: mehrere Eingaben nacheinander, dann noch einmal die erste
  ✗ N Fälle scheitern auf dieselbe Weise (zuerst: derselbe Aufruf zweimal, mit anderen \
dazwischen)
      Vektoren · nur mit dem, was angegeben werden muss: \
N von N Zahlen weichen ab, am stärksten bei [N, N, N]: erwartet: N, bei dir: N
      ebenso: Eingaben, die Views anderer Tensoren sind
  ✓ N andere Fälle sind bestanden
"""


def test_a_panel_is_german_from_its_first_word_to_its_last(german):
    panel = str(check(NAME, pads_by_default))
    assert re.sub(r"-?\d+(\.\d+)?", "N", panel) + "\n" == PANEL


def test_so_are_pictures_hints_and_long_lists(german):
    verdict = check(NAME, unmasked)
    html = as_html(verdict)
    assert "erwartet: Vektoren [" in html
    assert "blau = positiv, orange = negativ" in html
    assert "ebenfalls falsch: Vektoren · " in html
    for english in ("expected", " yours", "cases", "points", "the same", "vectors"):
        assert english not in str(verdict) + html, english


def test_a_right_answer_is_counted_in_the_plural(german):
    verdict = check(NAME, solved.embed)
    count = len({result.case.name for result in verdict.results})
    assert f"✓ Alle {count} Fälle sind bestanden. Weiter: Aufgabe 1." in str(verdict)
    assert language.plural("Its case passes.", "All {count} cases pass.", 1) == (
        "Der eine Fall ist bestanden."
    )


def test_what_a_sandbox_says_is_reworded_and_code_is_not(german):
    def nothing(ids, table, padding_idx=None):
        table[ids]

    panel = str(check(NAME, nothing))
    error = "erwartet wurde ein Tensor: Vektoren; da war None (fehlt ein return?)"
    assert error in panel
    assert language.translate("in your line 3") == "in deiner Zeile 3"
    assert language.translate("ValueError: the vectors") == "ValueError: the vectors"
    name = language.translate("gradient of table · with one example")
    assert name == "Gradient (Tabelle) · mit einem einzigen Beispiel"


@pytest.mark.timeout(20)  # its fields would be searched for minutes
def test_a_text_longer_than_any_of_ours_is_not_looked_up(german):
    text = "expected " + " , found " * 5_000 + "\n"
    assert language.translate(text) == text


def test_what_nobody_translated_is_english(monkeypatch):
    spoken(monkeypatch, translations.path_of("de"))
    lines = str(check(NAME, unmasked)).splitlines()
    assert lines[0].startswith("Embedding lookup with padding: ")
    assert lines[2] == "  Frag dich: What does your function do with `padding_idx`?"


def test_a_damaged_catalogue_is_one_line(tmp_path):
    path = tmp_path / "engine.json"
    for text in ("{", '{"langage": "de"}', "[]"):
        path.write_text(text)
        with pytest.raises(BrokenCatalogueError, match=r"engine\.json is damaged; "):
            language.read(path)


def test_several_catalogues_are_one(tmp_path):
    for name, sentences in (("a", {"one": "eins"}), ("b", {"two": "zwei"})):
        catalogue = {"language": "de", "sentences": sentences}
        (tmp_path / f"{name}.json").write_text(json.dumps(catalogue))
    merged = language.merge_catalogues(sorted(tmp_path.iterdir()))
    assert merged.sentences == {"one": "eins", "two": "zwei"}
    assert language.merge_catalogues([]) == Catalogue()
