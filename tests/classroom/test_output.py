"""Where a command cannot write, it says so in one line."""

from autograder import cli


def test_a_report_to_an_impossible_place_is_one_line(graded, capsys):
    (graded / "file").write_text("")
    where = ["--course", str(graded), "--output"]
    assert cli.main(["report", "01", *where, str(graded / "file" / "r.html")]) == 1
    (said,) = capsys.readouterr().err.splitlines()
    assert said.startswith("autograder: ") and str(graded / "file") in said
