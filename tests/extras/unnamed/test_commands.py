"""``autograder unnamed`` where something is missing: a line, and nothing lost."""

from __future__ import annotations

from pathlib import Path

from autograder import cli
from tests.classroom.unnamed_answers import SHORT, answers, failed


def ask(root: Path, capsys, *asked: str) -> tuple[int, str]:
    status = cli.main(["unnamed", "01", *asked, "--course", str(root)])
    said = capsys.readouterr()
    return status, said.out + said.err


def test_bad_tables_and_groups_are_a_line(graded, capsys):
    answers(graded, bob=(SHORT, failed("a1")))
    table = graded / "mine.csv"
    table.write_text("group,sentence\n12345678,Hello.\n")
    status, said = ask(graded, capsys, "--from", str(table))
    assert (
        status == 1 and "there is no group 12345678" in said and said.count("\n") == 1
    )
    table.write_text("a;b\n1;2\n")
    status, said = ask(graded, capsys, "--from", str(table))
    assert status == 1 and 'has no column "group"' in said and said.count("\n") == 1
    status, said = ask(graded, capsys, "--from", str(graded / "none.csv"))
    assert status == 1 and said.count("\n") == 1
    assert not (graded / "sentences").exists()
    status, said = ask(graded, capsys, "--adopt", "12345678", "added")
    assert status == 2 and "--asks" in said
