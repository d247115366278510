"""``autograder unnamed`` where something is missing: a line, and nothing lost."""

from __future__ import annotations

from pathlib import Path

from autograder import cli
from tests.classroom.unnamed_answers import SHORT, answers, failed


def ask(root: Path, capsys, *arguments: str) -> tuple[int, str]:
    status = cli.main(["unnamed", "01", *arguments, "--course", str(root)])
    output = capsys.readouterr()
    return status, output.out + output.err


def test_bad_tables_and_groups_are_a_line(graded, capsys):
    answers(graded, bob=(SHORT, failed("a1")))
    table = graded / "mine.csv"
    table.write_text("group,sentence\n12345678,Hello.\n")
    status, output = ask(graded, capsys, "--from", str(table))
    assert (
        status == 1
        and "there is no group 12345678" in output
        and output.count("\n") == 1
    )
    table.write_text("a;b\n1;2\n")
    status, output = ask(graded, capsys, "--from", str(table))
    assert status == 1 and 'has no column "group"' in output and output.count("\n") == 1
    status, output = ask(graded, capsys, "--from", str(graded / "none.csv"))
    assert status == 1 and output.count("\n") == 1
    assert not (graded / "sentences").exists()
    status, output = ask(graded, capsys, "--adopt", "12345678", "added")
    assert status == 2 and "--asks" in output
