"""The README tells the truth: its tables are those of the course, its paths exist."""

import re

from autograder.authoring.catalogue import specifications
from autograder.classroom.publishing import kit
from autograder.course import ROOT, units
from tests import derived
from tests.attacks.bank import BANK
from tests.attacks.batches import EFFECTS

TEXT = (ROOT / "README.md").read_text(encoding="utf-8")


def test_it_lists_and_counts_every_unit_and_its_exercises():
    assert derived.readme(TEXT) == TEXT, "run make docs"
    assert "\n".join(derived.unit_rows()) in TEXT
    assert " units with " in TEXT.partition("\n## ")[0]


def test_what_it_derives_follows_the_course():
    old = re.sub(r"with \d+ exercises", "with 9 exercises", TEXT)
    old = old.replace("| 2 · Attention | ", "| 2 · Attention | 7")
    assert old != TEXT and derived.readme(old) == TEXT


def test_there_are_as_many_mutants_and_accepted_solutions_as_it_says():
    claim = r"than ([\d,]+) mutants .* ([\d,]+) accepted .* least (\d+) and (\d+) in"
    [claimed] = re.findall(claim, TEXT, re.DOTALL)
    mutants, accepted, mutants_each, accepted_each = (
        int(number.replace(",", "")) for number in claimed
    )
    counts = [
        (
            sum(len(m.ways) for e in exercises for m in e.mutants),
            sum(len(e.accepted) for e in exercises),
        )
        for exercises in (specifications(unit.name) for unit in units())
    ]
    assert all(m >= mutants_each and a >= accepted_each for m, a in counts)
    assert sum(m for m, _ in counts) > mutants
    assert sum(a for _, a in counts) > accepted


def test_its_table_of_attacks_is_the_benchmark_s():
    """Measured by hand; that no attack achieves anything, tests of the bank say."""
    head = f"| | tried | {' | '.join(EFFECTS)} |"
    assert head in TEXT and f"contains {len(BANK)} hostile submissions" in TEXT
    found = {
        who: [int(number) for number in re.findall(r"\d+", cells)]
        for who, cells in re.findall(r"^\| ([a-z ]+) \|((?: \d+ \|){5})$", TEXT, re.M)
    }
    tried, *achieved = found["this autograder"]
    assert tried <= len(BANK) and not any(achieved)
    assert max(found["plain nbgrader"]) == found["plain nbgrader"][0]


def test_its_links_and_folders_exist():
    links = re.findall(r"\]\((?!http)([^)#]+)\)", TEXT)
    links += re.findall(r'src(?:set)?="([^"]+)"', TEXT)
    folders = re.findall(r"`([a-z]+(?:/[a-z]+)*/)`", TEXT)
    assert len(links) >= 4 and len(folders) >= 8
    for name in [*links, *folders]:
        assert (ROOT / name).exists(), name


def test_its_make_targets_exist():
    makefile = (ROOT / "Makefile").read_text()
    for target in set(re.findall(r"make ([a-z]+)", TEXT)):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


def test_it_names_the_pythons_that_the_kit_and_the_makefile_name():
    first, last = kit.pythons().split(" to ")
    makefile = (ROOT / "Makefile").read_text()
    assert f"Python {first} to {last}:" in TEXT
    assert f"Python {first} or later" in makefile
    assert f"newer than {last}," in makefile
