"""A file for translators keeps what they wrote, and follows the sentences."""

from autograder.authoring import extraction, translations
from autograder.extras.translation.update import update


def test_an_update_keeps_what_is_translated(tmp_path, monkeypatch):
    for module in (extraction, translations):
        monkeypatch.setattr(module, "ENGINE", tmp_path)
    (tmp_path / "checks").mkdir()
    (tmp_path / "checks" / "panel.py").write_text('_("one"); plural("a", "{n} b", n)')
    update_before = update("de")
    assert (update_before.sentences, update_before.missing) == (2, 2)
    text = update_before.path.read_text("utf-8")
    update_before.path.write_text(
        text.replace('"one"\nmsgstr ""', '"one"\nmsgstr "eins"')
    )
    (tmp_path / "checks" / "panel.py").write_text('_("one"); template("at {n}")')
    update_after = update("de")
    assert (update_after.sentences, update_after.missing) == (2, 1)
    text = update_after.path.read_text("utf-8")
    assert 'msgid "one"\nmsgstr "eins"' in text
    assert "plural" not in text.split("\n\n")[1]
    assert 'msgctxt "raised"\nmsgid "at {n}"\nmsgstr ""' in text
