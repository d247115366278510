"""A replaced hand-in can still be looked at, and a student cannot fill the disk."""

from __future__ import annotations

from autograder.grading.replaced import MOST, replace_hand_in


def hand_in(root, text: str) -> None:
    folder = root / "submitted" / "ada" / "01_numbers"
    part = folder.with_name(".01_numbers.part")
    part.mkdir(parents=True)
    (part / "a.ipynb").write_text(text)
    replace_hand_in(root, folder, part)
    assert (folder / "a.ipynb").read_text() == text


def test_the_last_few_are_kept(tmp_path):
    archive = tmp_path / ".autograder" / "replaced" / "01_numbers" / "ada"
    hand_in(tmp_path, "0")
    assert not archive.exists()
    for number in range(1, MOST + 3):
        hand_in(tmp_path, str(number))
    texts = [path.read_text() for path in sorted(archive.glob("*/a.ipynb"))]
    assert texts == [str(number) for number in range(2, MOST + 2)]
    folders = sorted(path.name for path in (tmp_path / "submitted" / "ada").iterdir())
    assert folders == ["01_numbers"]
