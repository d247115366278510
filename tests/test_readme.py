"""The README tells the truth: its tables are those of the course, its paths exist."""

import re

from autograder.classroom.readme import unit_rows, variant_rows
from autograder.course import ROOT, units

TEXT = (ROOT / "README.md").read_text(encoding="utf-8")


def test_it_lists_every_unit_with_its_badge():
    assert "\n".join(unit_rows(units())) in TEXT


def test_it_counts_the_variants_as_they_are():
    assert "\n".join(variant_rows(units())) in TEXT


def test_its_links_and_folders_exist():
    links = re.findall(r"\]\((?!http)([^)#]+)\)", TEXT)
    folders = re.findall(r"`([a-z]+(?:/[a-z]+)*/)`", TEXT)
    assert len(links) >= 4 and len(folders) >= 8
    for name in [*links, *folders]:
        assert (ROOT / name).exists(), name


def test_its_make_targets_exist():
    makefile = (ROOT / "Makefile").read_text()
    for target in set(re.findall(r"make ([a-z]+)", TEXT)):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target
