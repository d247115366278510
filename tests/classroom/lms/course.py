"""The tiny course with a roster, to make archives for and collect them in."""

from __future__ import annotations

import zipfile
from pathlib import Path

import nbformat

from autograder.classroom.lms import layouts, place
from autograder.classroom.lms.roster import from_csv
from autograder.grading import converter
from autograder.grading.intake import handed_in
from tests import tiny_course as tiny
from tests.grading.intake.released import released
from tests.tiny_course import UNIT, data, solve_release, source_notebook

ADA, BOB = (data(solve_release(released(), words=name)) for name in ("ada", "bob"))
ROSTER = """id,first_name,last_name,email,lms_user_id,username
ada,Ada,Lovelace,ada@uni.example,12345,alovelace
bob,Bob,Óðinsson,bob@uni.example,12346,bodin
eve,Eve,Mallory,eve@uni.example,12347,emallory
"""
# What Canvas exports of somebody who handed in the right file.
GOOD = ("lovelaceada_12345_678901_attention.ipynb", ADA)
EARLY, LATER = (2026, 11, 20, 14, 0, 0), (2026, 11, 21, 9, 0, 0)


def make_clone(root: Path, roster: str) -> Path:
    """A clone of the tiny course: no gradebook, nobody known, and a roster's table."""
    tiny.make_course(root)
    (root / "gradebook.db").unlink()
    (root / "roster.csv").write_text(roster)
    assert converter.install()
    return root


def entry(name: str, time=EARLY) -> zipfile.ZipInfo:
    return zipfile.ZipInfo(name, time)


class Course:
    def __init__(self, root: Path):
        self.root = root
        source = root / "source" / UNIT / f"{UNIT}.ipynb"
        source.parent.mkdir(parents=True)
        nbformat.write(source_notebook(), source)
        (root / "roster.csv").write_text(ROSTER, encoding="utf-8")
        self.roster = from_csv(root / "roster.csv")
        self.made = 0

    def zip(self, *members: tuple[str, bytes], time=EARLY) -> Path:
        self.made += 1
        path = self.root / f"export{self.made}.zip"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
            for name, data in members:
                info = entry(name, time) if isinstance(name, str) else name
                file.writestr(info, data, zipfile.ZIP_DEFLATED)
        return path

    def collect(self, *paths, roster=None, zone="Europe/Berlin", **options):
        collection = place.Collection(
            UNIT,
            self.root,
            self.roster if roster is None else roster,
            layouts.to_utc(zone),
            **options,
        )
        return {outcome.name: outcome for outcome in collection.place(paths)}

    @property
    def placed(self) -> dict[str, dict[str, bytes]]:
        """Student -> path -> content of all that is in submitted/."""
        files: dict[str, dict[str, bytes]] = {}
        for path in (self.root / "submitted").glob("**/*"):
            if path.is_file():
                student, unit, *inner = path.relative_to(self.root / "submitted").parts
                assert unit == UNIT
                files.setdefault(student, {})["/".join(inner)] = path.read_bytes()
        return files

    def notebook(self, student: str) -> bytes:
        return self.placed[student][f"{UNIT}.ipynb"]

    def time(self, student: str) -> str:
        stamp, odd = handed_in(self.root / "submitted" / student / UNIT)
        assert not odd
        return str(stamp)
