"""Grades reach the right rows of an LMS's files, and nobody gets a zero for waiting."""

import csv
import dataclasses
import io
import unicodedata

import pytest

from autograder import cli
from autograder.classroom import exports
from autograder.course import sheet
from autograder.course.errors import CourseError
from tests.classroom.conftest import WHOLE
from tests.classroom.students import BOB, BOOK, submission

CANVAS = """\
Student,ID,SIS User ID,SIS Login ID,Section,Quiz (77),Attention (78),Final Score
    Points Possible,,,,,5,10,
"Lovelace, Ada",501,u1,ada1,Tuesday,4,,80
"Óðinsson, Bob",502,u2,BOB@uni.example,Tuesday,3,,70
"Mallory, Eve",503,u3,eve3,Tuesday,2,EX,60
"Nobody, Ny",504,u4,ny4,Tuesday,1,7,50
"""


@pytest.fixture
def table(tmp_path):
    def read(text: str, encoding="utf-8") -> sheet.Sheet:
        path = tmp_path / "table.csv"
        path.write_text(text, encoding=encoding)
        return sheet.read(path)

    return read


def rows(text: str, comma=","):
    return list(csv.DictReader(io.StringIO(text), delimiter=comma))


# --- Canvas --------------------------------------------------------------------------


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_canvas_s_own_export_is_filled_in(table, encoding):
    export = exports.canvas(BOOK, table(CANVAS, encoding))
    points, ada, bob, eve, nobody = rows(export.text)
    assert "Quiz (77)" not in points and "Final Score" not in points
    assert points["Attention (78)"] == "10"
    assert ada["Attention (78)"] == "7.5", "9 points, 1.5 off for lateness"
    assert bob["Attention (78)"] == "", "an essay waits: empty, not 6 and not 0"
    assert eve["Attention (78)"] == "EX" and nobody["Attention (78)"] == "7"
    assert ada["Student"] == "Lovelace, Ada" and ada["Section"] == "Tuesday"
    assert export.missing == () and "1 of 3 have no score yet" in export.remarks[0]


def test_semicolons_stay_semicolons(table):
    text = "Student;ID;Section;Attention (78)\nEve Mallory;503;;\n"
    export = exports.canvas(BOOK, table(text))
    assert rows(export.text, ";")[0]["Attention (78)"] == "5"
    assert export.missing == ("ada", "bob")


def test_a_known_canvas_id_outdoes_a_name(table):
    text = "Student,ID,Section,Attention (78)\nAda Lovelace,999,,\n"
    assert exports.canvas(BOOK, table(text)).missing == ("ada", "bob", "eve")


def test_two_rows_of_one_name_get_nothing(table):
    text = 'Student,ID,Section,Attention (78)\n"Mallory, Eve",1,,\n"Mallory, Eve",2,,\n'
    export = exports.canvas(BOOK, table(text))
    assert [row["Attention (78)"] for row in rows(export.text)] == ["", ""]
    assert "eve" in export.missing


def test_the_column_is_found_or_asked_for(table):
    export = table(CANVAS.replace("Attention (78)", "Week two (78)"))
    with pytest.raises(CourseError, match='with --column: "Quiz", "Week two"'):
        exports.canvas(BOOK, export)
    for title in ("week two", "Week two (78)"):
        assert rows(exports.canvas(BOOK, export, title).text)[1]["Week two (78)"]
    with pytest.raises(CourseError, match="not the gradebook that Canvas exports"):
        exports.canvas(BOOK, table("a,b\n1,2\n"))


def test_other_points_in_the_lms_are_told(table):
    export = exports.canvas(BOOK, table(CANVAS.replace(",5,10,", ",5,100,")))
    assert any("Canvas has 100 points" in remark for remark in export.remarks)


@pytest.mark.parametrize(("most", "is_reported"), [("10,00", False), ("20,00", True)])
def test_a_comma_is_a_decimal_point_in_moodle_s_worksheet(table, most, is_reported):
    titles = "Identifier,Full name,Email address,Grade,Maximum Grade"
    row = f'Participant 1,Ada Lovelace,ADA@uni.example,,"{most}"'
    export = exports.moodle(BOOK, table(f"{titles}\n{row}\n"))
    assert any("Moodle has" in remark for remark in export.remarks) == is_reported


# --- Moodle --------------------------------------------------------------------------


def test_moodle_s_import_has_an_address_and_a_score(table):
    table_rows = rows(exports.moodle(BOOK).text)
    assert [(row["email"], row["02_attention"]) for row in table_rows] == [
        ("ada@uni.example", "7.5"),
        ("bob@uni.example", ""),
        ("eve@uni.example", "5"),
    ]


def test_moodle_s_worksheet_is_filled_in(table):
    export = exports.moodle(
        BOOK,
        table(
            "Identifier,Full name,Email address,Grade,Maximum Grade,"
            '"Last modified (grade)"\n'
            "Participant 1,Ada Lovelace,ADA@uni.example,,10.00,-\n"
            "Participant 2,Bob Óðinsson,,3.00,10.00,-\n"
            "Participant 3,Ny Nobody,ny@uni.example,1.00,10.00,yesterday\n"
        ),
    )
    assert [row["Grade"] for row in rows(export.text)] == ["7.5", "", "1.00"]
    assert rows(export.text)[2]["Last modified (grade)"] == "yesterday"
    assert export.missing == ("eve",)
    with pytest.raises(CourseError, match="not Moodle's grading worksheet"):
        exports.moodle(BOOK, table(CANVAS))


# --- the command ---------------------------------------------------------------------


def test_the_command_writes_each_format(graded, tmp_path, capsys):
    def run(*options):
        status = cli.main(["grades", "01", "--course", str(graded), *options])
        return status, capsys.readouterr()

    status, output = run("--format", "moodle")
    path = graded / "reports" / "01_numbers-moodle.csv"
    assert status == 1 and "cut" not in path.read_text()
    assert "no grade for cut: the notebook cannot be read" in output.out
    assert "1 refused: look at them, or write zeros with --zero-refused" in output.out
    assert run("--format", "moodle", "--zero-refused")[0] == 0
    text = (graded / "reports" / "01_numbers-moodle.csv").read_text()
    assert {row["id"]: row["01_numbers"] for row in rows(text)} == {
        WHOLE: "",
        "bob": "",
        "cut": "0",
        "silent": "0",
    }, "refused and blank ones are zero, what waits is empty"
    status, output = run("--format", "canvas")
    assert status == 2 and "export its gradebook" in output.err
    (tmp_path / "canvas.csv").write_text(
        "Student,ID,Section,Numbers (1)\nSomebody,501,,\n"
    )
    status, output = run("--format", "canvas", "--into", str(tmp_path / "canvas.csv"))
    assert status == 1 and "graded, but not in" in output.out and "bob" in output.out


def test_letters_with_their_accents_apart_are_the_same_letters(table):
    apart = unicodedata.normalize("NFD", CANVAS.replace("BOB@uni.example", ""))
    filled = rows(exports.canvas(BOOK, table(apart)).text)
    assert {r["ID"]: r["Attention (78)"] for r in filled} == {
        r["ID"]: r["Attention (78)"]
        for r in rows(exports.canvas(BOOK, table(CANVAS)).text)
    }
    named = dataclasses.replace(BOOK, submissions=(submission(BOB),))
    assert exports.canvas(named, table(apart)).missing == ()
