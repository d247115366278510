"""The README tells the truth: its tables are those of the course, its paths exist."""

import re

from PIL import Image

from assets import draw
from autograder.classroom.publishing import kit
from autograder.course import ROOT, units
from tests import derived
from tests.attacks.attack import COMPARING, DESIGN, REWRITING
from tests.attacks.bank import BANK
from tests.attacks.batches import EFFECTS

TEXT = (ROOT / "README.md").read_text(encoding="utf-8")


def test_it_lists_and_counts_every_unit_and_its_exercises():
    stale = re.sub(r"with \d+ exercises", "with 9 exercises", TEXT)
    stale = stale.replace("| 2 · [Attention](", "| 2 · [Another](")
    stale = stale.replace(" mutants (", "0 mutants (", 1)
    assert stale != TEXT and derived.readme(stale) == TEXT, "run make docs"
    assert re.findall(r"^\| (\d+) · ", TEXT, re.M) == [
        str(int(unit.number)) for unit in units()
    ]
    assert " units with " in TEXT.partition("\n## ")[0]


def test_its_table_of_attacks_is_the_benchmark_s():
    """Measured by hand; that no attack achieves anything, tests of the bank say."""
    head = f"| | tried | {' | '.join(EFFECTS)} |"
    assert head in TEXT and f"contains {len(BANK)} hostile submissions" in TEXT
    rows = {
        grader: [int(number) for number in re.findall(r"\d+", cells)]
        for grader, cells in re.findall(
            r"^\| ([a-z ]+) \|((?: \d+ \|){5})$", TEXT, re.M
        )
    }
    assert rows["this autograder"] == [len(BANK), 0, 0, 0, 0]
    on_plain = [a for a in BANK if not a.harms and a.group != DESIGN]
    assert rows["plain nbgrader"][0] == len(on_plain) >= max(rows["plain nbgrader"])
    assert f"only with the {len(on_plain)} that" in TEXT
    inside = [a for a in on_plain if a.group in (REWRITING, COMPARING)]
    assert f"Of the {len(inside)} that rewrite" in TEXT


def test_its_picture_shows_what_a_check_says_today():
    for theme in draw.THEMES:
        with Image.open(ROOT / "assets" / f"student_panel_{theme}.png") as picture:
            assert picture.text[draw.FINGERPRINT] == draw.fingerprint(), (
                "run python assets/draw.py"
            )


def test_its_pictures_and_folders_exist():
    pictures = re.findall(r'src(?:set)?="([^"]+)"', TEXT)
    folders = re.findall(r"`([a-z]+(?:/[a-z]+)*/)`", TEXT)
    assert pictures and len(folders) >= 8
    for name in [*pictures, *folders]:
        assert (ROOT / name).exists(), name


def test_it_names_the_pythons_that_the_kit_and_the_makefile_name():
    first, last = kit.pythons().split(" to ")
    makefile = (ROOT / "Makefile").read_text()
    assert f"Python {first} to {last}:" in TEXT
    assert f"Python {first} or later" in makefile
    assert f"newer than {last}," in makefile
