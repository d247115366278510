"""CSV files come and go as spreadsheets of any make write and read them."""

from __future__ import annotations

import csv
import io
import re
import time

import pytest

from autograder.course import sheet
from autograder.course.errors import CourseError


@pytest.fixture
def path(tmp_path):
    return tmp_path / "table.csv"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
@pytest.mark.parametrize("comma", [",", ";"])
def test_a_table_is_read_with_either_comma_and_a_mark_or_none(path, encoding, comma):
    path.write_text(f"Id{comma} Name \n1{comma}Ö\n\n2\n", encoding=encoding)
    table = sheet.read(path)
    assert table == sheet.Sheet(("Id", "Name"), (("1", "Ö"), ("2", "")), comma)


def test_a_column_is_found_whatever_its_case():
    table = sheet.Sheet(("Id", "Name"), (("1", " Ada "),))
    assert table.index("NAME") == 1 and table.cell(table.rows[0], "name") == "Ada"
    assert table.index("grade") is None and table.cell(table.rows[0], "grade") == ""


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "is empty"),
        (b"id\n\xff\n", "is not in UTF-8"),
        (b"id\n" + b"x" * 200_000, "field larger than field limit"),
        (None, "No such file"),
    ],
)
def test_a_table_that_cannot_be_read_is_one_line(path, data, message):
    if data is not None:
        path.write_bytes(data)
    with pytest.raises(CourseError, match=message) as error:
        sheet.read(path)
    assert str(path) in str(error.value)


def test_no_cell_begins_another_row():
    text = sheet.as_text([["a", "b"], ["one\rtwo\r\nthree", 1.5]])
    assert "\r" not in text
    assert list(csv.reader(io.StringIO(text)))[1] == ["one\ntwo\nthree", "1.5"]


@pytest.mark.parametrize("cell", ["=1+1", "+1", "-1", "@x", "\tx", "\uff1d1"])
def test_no_cell_is_a_formula_and_each_comes_back_as_it_was_meant(cell):
    assert sheet.harmless(cell) == f"'{cell}"
    assert sheet.as_meant(f"'{cell}") == cell


@pytest.mark.parametrize("cell", ["'=1", "''-1", "'@x;'=1", "'\t'+1", "''tis"])
def test_a_quote_that_was_there_before_stays(cell):
    assert sheet.as_meant(str(sheet.harmless(cell))) == cell


ELSEWHERE = [
    "x;=cmd|'/C calc'!A0;y", 'x;"=1+1"', "x\n=HYPERLINK(1)\n@SUM(1)",
    "x; -cmd|'/C calc'!A0", "x\t+SUM(1)\n ＝1", "a;'=b",
]  # fmt: skip


@pytest.mark.parametrize("cell", ELSEWHERE)
def test_no_part_of_a_cell_is_a_formula_where_semicolons_part_cells(cell):
    text = sheet.as_text([["zoe", sheet.harmless(cell), "5"]])
    for part in re.split("[;\t\n]", text):  # as a spreadsheet with decimal commas does
        assert not part.strip(' "').startswith(("=", "+", "-", "@", "＝")), part
    (row,) = csv.reader(io.StringIO(text))
    assert sheet.as_meant(row[1]) == cell


@pytest.mark.parametrize("letter", ["\n", ";", "\n ", ";'", "\n-", "-", "\t=", '"'])
def test_long_cells_are_made_harmless_in_time(letter):
    started = time.process_time()
    cell = letter * (30_000 // len(letter))
    assert sheet.as_meant(str(sheet.harmless(cell))) == cell
    assert time.process_time() - started < 1


@pytest.mark.parametrize(
    "cell", ["Ada", "'tis", "", "so:\n- one;\n- two", "a = b; c", "1;-2", "x;'y"]
)
def test_plain_text_stays_as_it_is(cell):
    assert sheet.harmless(cell) == cell and sheet.as_meant(cell) == cell


def test_points_have_no_noise_of_floats_and_none_is_empty():
    assert sheet.format_points(0.1 + 0.2) == "0.3" == sheet.harmless(0.1 + 0.2)
    assert sheet.format_points(4.0) == "4" and sheet.format_points(None) == ""
    assert sheet.format_points(2 / 3) == "0.6667"


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8"])
def test_a_table_that_excel_has_saved_as_text_is_read(path, encoding):
    path.write_bytes("id\tfirst_name\r\nada\tÖ, von\r\n".encode(encoding))
    assert sheet.read(path) == sheet.Sheet(
        ("id", "first_name"), (("ada", "Ö, von"),), "\t"
    )
