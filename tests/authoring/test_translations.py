"""Files for translators: what is refused, kept, and made of them."""

import re

import pytest

from autograder.authoring import extraction, translations
from autograder.checks import language
from autograder.course import find_unit
from autograder.course.errors import CourseError

UNIT = find_unit("positional_encoding")
HEAD = 'msgid ""\nmsgstr ""\n"Content-Type: text/plain; charset=utf-8\\n"\n\n'
NAME = 'msgid "the name {name}"\n'
POINTS = 'msgid "{points:g} of {most:g} points"\n'


def file(folder, text: str):
    path = folder / "de.po"
    path.write_text(HEAD + text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (POINTS + 'msgstr "{punkte} von {most:g}"\n', r"de\.po:5: .*has \{punkte\}"),
        (POINTS + 'msgstr "{points:g} Punkte"\n', r"de\.po:5: .*lacks \{most\}"),
        (POINTS + 'msgstr "{points} von {most:g"\n', r"de\.po:5: .*lacks \{most\}"),
        (POINTS + 'msgstr "{points} von {most} {}"\n', r"de\.po:5: .*cannot be filled"),
        (POINTS + 'msgstr "{points:d2} von {most}"\n', r"de\.po:5: .*cannot be filled"),
        (NAME + 'msgstr "{name} {name.__class__.__mro__}"\n', "cannot be filled"),
        (NAME + 'msgstr "{name} {name.nothing}"\n', "cannot be filled"),
        (NAME + 'msgstr "{name} {name[0]}"\n', "cannot be filled"),
        (NAME + 'msgstr "{name:>999999999}"\n', "cannot be filled"),
        (NAME + 'msgstr "{name:g}"\n', "cannot be filled"),
        (NAME + 'msgstr "{name!r}"\n', "cannot be filled"),
        (NAME + 'msgstr "{name:{name}}"\n', "cannot be filled"),
        (NAME + 'msgstr "{name}\\n{"\n', "cannot be filled"),
        (POINTS + 'msgstr "{points:.999999999f} {most}"\n', "cannot be filled"),
        (POINTS + 'msgstr "{points:99g} {most}"\n', "cannot be filled"),
        ('msgid "plain"\nmsgstr "{name.__class__}"\n', "cannot be filled"),
        ("msgid unquoted\n", r"de\.po:\d+: "),
    ],
)
def test_an_entry_that_checks_could_not_fill_in_is_one_line(tmp_path, entry, message):
    with pytest.raises(CourseError, match=message) as refused:
        translations.read(file(tmp_path, entry), "de")
    assert "\n" not in str(refused.value)


def test_fields_change_their_order_and_their_format(tmp_path):
    entry = POINTS + 'msgstr "von {most} Punkten {points:.1f}"\n'
    catalogue = translations.read(file(tmp_path, entry), "de")
    sentences = translations.compile_catalogue(catalogue, "de").sentences
    assert sentences["{points:g} of {most:g} points"].format(points=3, most=4) == (
        "von 4 Punkten 3.0"
    )


def test_code_in_braces_is_no_field(tmp_path):
    entry = 'msgid "What is `{1, 2}`?"\nmsgstr "Was ist `{1, 2}`?"\n'
    assert len(translations.read(file(tmp_path, entry), "de")) == 1


def test_a_file_that_is_no_text_is_one_line(tmp_path):
    (tmp_path / "de.po").write_bytes(HEAD.encode() + b'msgid "\xff"\n')
    with pytest.raises(CourseError, match=r"de\.po cannot be read as UTF-8 text"):
        translations.read(tmp_path / "de.po", "de")


def test_nobody_speaks_klingon_here(tmp_path):
    with pytest.raises(CourseError, match='there is no language "tlh"'):
        translations.read(tmp_path / "tlh.po", "tlh")


def test_unit_1_is_german_to_its_last_sentence():
    for unit in (None, UNIT):
        entries = translations.read(translations.path_of("de", unit), "de")
        translated = {translations.forms(e.id)[0] for e in entries if e.id and e.string}
        engine = extraction.of_engine()
        needed = extraction.of_unit(unit, engine) if unit else engine
        shared = {m.text for m in engine} if unit else set()
        assert not {m.text for m in needed} - shared - translated


def test_what_a_unit_hides_stays_beside_its_hidden_references(tmp_path, monkeypatch):
    monkeypatch.setattr(translations, "REFERENCES", tmp_path)
    monkeypatch.setattr(translations, "language", lambda root: "de")
    monkeypatch.setattr(translations, "units", lambda root: [UNIT])
    changed = translations.install()
    assert {path.relative_to(tmp_path).as_posix() for path in changed} == {
        "public/sentences/engine.json",
        "public/sentences/positional_encoding.json",
        "hidden/sentences/positional_encoding.json",
    }
    assert not translations.install()  # up to date
    visible, hidden = (
        language.read(tmp_path / kind / "sentences" / f"{UNIT.name}.json").sentences
        for kind in ("public", "hidden")
    )
    assert (
        hidden["powers of 1000 instead of 10000"] == "Potenzen von 1000 statt von 10000"
    )
    assert "vectors" in visible and not visible.keys() & hidden.keys()
    monkeypatch.setattr(translations, "language", lambda root: "en")
    assert not translations.install() and not list(tmp_path.rglob("*.json"))


def test_a_course_in_english_builds_none_of_it():
    assert translations.make_files() == {}
    assert language.catalogue() == language.Catalogue()


def test_german_speaks_to_a_student_as_to_a_friend():
    text = "".join(
        translations.path_of("de", unit).read_text("utf-8") for unit in (None, UNIT)
    )
    german = " ".join(
        re.findall(r'^(?:msgstr(?:\[\d\])? )?"(.*)"$', text, re.MULTILINE)
    )
    assert not re.findall(r"\b(?:Sie haben|Ihre[mnrs]? Code|Ihnen|bitte)\b", german)
