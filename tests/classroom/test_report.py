"""The class report says what the grades say, and the shareable one names nobody."""

import csv
import io
import random
import re
import shutil
import subprocess
from html.parser import HTMLParser

import pytest

from autograder import cli
from autograder.classroom import report
from autograder.classroom.classbook import Classbook, Item, Student, Submission
from autograder.classroom.report.rows import ExerciseRow, ExtraSection
from autograder.course.errors import CourseError
from autograder.grading.judge.verdict import Verdict
from autograder.sandbox.ending import EndReason
from tests.classroom.conftest import WHOLE
from tests.tiny_course import UNIT

EXERCISES = (Item("a", 4.0), Item("b", 6.0), Item("essay", 5.0, True))


def submission(name, a, b, essay=None, mistake="", message="", **fields) -> Submission:
    records = {
        "a": Verdict("u/a", a, 4.0, mistake if a < 4 else "", message),
        "b": Verdict("u/b", b, 6.0),
    }
    points = {"a": a, "b": b, "essay": essay}
    return Submission(Student(name), points, records=records, **fields)


def class_of(*submissions) -> Classbook:
    return Classbook("01_unit", EXERCISES, submissions, (Student("absentee"),))


def thirteen(**fields) -> Classbook:
    """Ten made the same mistake, one another one, two none."""
    common = [
        submission(f"id-{n}", 1, n / 2, mistake="shifted", message="You `shifted` it.")
        for n in range(10)
    ]
    rare = submission(
        "id-rare", 0, 6, mistake="odd", message="A mistake like no other."
    )
    return class_of(*common, rare, submission("id-top", 4, 6), submission("ok", 4, 5.5))


def index_of(values) -> ExerciseRow:
    book = class_of(*(submission(f"s{n}", a, b) for n, (a, b) in enumerate(values)))
    return report.overview(book).exercises[0]


# --- the numbers ---------------------------------------------------------------------


def test_bands_hold_everybody_and_the_last_one_its_end():
    book = class_of(submission("x", 4, 6), submission("y", 0, 0), submission("z", 0, 9))
    bands = report.overview(book).bands
    assert [band.count for band in bands] == [1, 0, 0, 0, 0, 0, 0, 0, 0, 2]


def test_written_answers_that_wait_are_no_zeros():
    view = report.overview(class_of(submission("x", 4, 6), submission("y", 4, 0, 5)))
    essay = view.exercises[2]
    assert (essay.mean, essay.waiting, essay.none) == (1.0, 1, 0)
    assert view.waiting == 1 and view.known_max == 10 and view.max_points == 15
    unread = report.overview(class_of(submission("x", 4, 6))).exercises[2]
    assert unread.mean is None
    page = report.as_html(view)
    assert "1 not yet graded" in page and "10 so far" in page


@pytest.mark.parametrize(
    ("values", "remark"),
    [
        ([(n % 5, n) for n in range(9)], "too few graded submissions to tell"),
        ([(4, n) for n in range(12)], "everybody has all points"),
        ([(0, n) for n in range(12)], "nobody has a point"),
        ([(2, n) for n in range(12)], "all have the same points"),
        ([(4 if n < 6 else 0, n / 2) for n in range(12)], "does worse here"),
        ([(4 * (n % 2), (n // 2) / 2) for n in range(12)], "says little"),
    ],
)
def test_an_exercise_that_does_not_discriminate_is_remarked(values, remark):
    assert remark in index_of(values).remark


def test_an_exercise_that_discriminates_has_its_index_and_no_remark():
    row = index_of([(n / 3, n / 2) for n in range(12)])
    assert row.index == pytest.approx(1.0) and row.remark == ""


def test_a_written_exercise_is_compared_with_all_others_but_not_with_itself():
    """Whoever is good at the checks writes badly here, and the index says so."""
    book = class_of(*(submission(f"s{n}", 0, n / 12, 5 - n / 3) for n in range(12)))
    row = report.overview(book).exercises[2]
    assert row.index == pytest.approx(-1.0) and "does worse here" in row.remark


def test_the_most_common_mistake_comes_first_with_its_students():
    first = report.overview(thirteen()).mistakes[0]
    assert (first.name, first.count) == ("shifted", 10)
    assert first.students[0] == "id-0"


def test_who_needs_help_is_listed_with_reasons():
    stopped = "The notebook stopped here: too many sandboxes."
    record = Verdict("u/a", 0.0, 4.0, note=stopped, ended=EndReason.TOO_MANY_SANDBOXES)
    lost = Submission(Student("lost"), {"a": 0.0, "b": 6.0}, records={"a": record})
    refused = submission("refused", 0, 0, refused="it is empty")
    view = report.overview(class_of(lost, refused, submission("fine", 4, 6)))
    reasons = {row.student: " ".join(row.reasons) for row in view.help}
    assert set(reasons) == {"lost", "refused"}
    assert stopped in reasons["lost"] and "refused: it is empty" in reasons["refused"]


def test_whoever_has_two_exercises_at_zero_is_listed_however_many_points_are_left():
    stuck = Submission(Student("stuck"), {"a": 0.0, "b": 0.0, "c": 90.0})
    stuck_once = Submission(Student("once"), {"a": 0.0, "b": 6.0, "c": 90.0})
    items = (*EXERCISES, Item("c", 90.0))
    view = report.overview(Classbook("01_unit", items, (stuck, stuck_once)))
    (row,) = view.help
    assert row.student == "stuck" and row.reasons == ("no points in 2 exercises: a, b",)
    assert view.exercises[0].without_points == ("stuck", "once")


def test_refused_work_is_in_no_figure_and_is_counted_apart():
    refused = submission("refused", 0, 0, refused="it is empty")
    view = report.overview(class_of(refused, submission("fine", 4, 6)))
    assert sum(band.count for band in view.bands) == view.handed_in == 1
    assert view.mean == 10 and view.behind == 0
    assert [(row.mean, row.none, row.waiting) for row in view.exercises[:2]] == [
        (1.0, 0, 0)
    ] * 2
    assert "refused, and not in these figures" in report.as_html(view)
    alone = report.overview(class_of(refused))
    assert "it is empty" in report.as_html(alone), "and nobody divides by zero"


# --- the page ------------------------------------------------------------------------


class Page(HTMLParser):
    """Which tags, links and ids a page has, and whether it is well nested."""

    VOID = ("meta", "br", "img", "link", "hr", "input")

    def __init__(self, text):
        super().__init__()
        self.tags, self.ids, self.links, self.open = [], [], [], []
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.tags.append(tag)
        self.ids += [values["id"]] if "id" in values else []
        self.links += [values[k] for k in ("href", "src") if k in values]
        assert not any(name.startswith("on") for name in values)
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_the_page_is_self_contained_and_its_links_lead_somewhere():
    section = ExtraSection("pairs", "Pairs", "<p>x, y</p>")
    for view in (
        report.overview(thirteen(), [section]),
        report.overview(thirteen(), named=False),
    ):
        page = Page(report.as_html(view))
        assert not {"script", "link", "img", "iframe", "object"} & set(page.tags)
        leading = [x for x in page.links if not x.startswith("../feedback/")]
        assert leading and all(link.startswith("#") for link in leading)
        assert {link[1:] for link in leading} <= set(page.ids)
        assert len(page.ids) == len(set(page.ids))


def test_what_students_wrote_stays_text():
    evil = "<script>pwned()</script>"
    book = class_of(
        submission(evil, 0, 0, message=evil, repairs=((evil, evil),)),
        submission("x", 0, 0, refused=evil),
    )
    page = report.as_html(report.overview(book))
    assert "<script" not in page and "&lt;script&gt;" in page


def test_a_mistake_of_one_student_is_folded_and_each_cell_leads_to_its_page():
    html = report.as_html(report.overview(thirteen()))
    common, _, single = html.partition("1 more, each made by one student")
    assert "You <code>shifted</code> it." in common and "no other" in single
    assert '<a href="../feedback/id-rare/01_unit/01_unit.html#a">' in html
    assert "--o1:6;" in html, "the points, by which its row can be sorted"


def test_the_csv_has_a_row_for_each_student_and_no_formula():
    book = class_of(submission("=1+1", 4, 6, 5.0), submission("y", 4, 6))
    rows = list(csv.DictReader(io.StringIO(report.as_csv(report.overview(book)))))
    assert [row["student"] for row in rows] == ["'=1+1", "y"]
    assert rows[0]["score"] == "15"
    assert rows[1]["score"] == "" and rows[1]["essay"] == "", "waits: empty, not 0"


# --- what can be shared --------------------------------------------------------------


def test_the_shareable_report_names_nobody_and_hides_rare_mistakes():
    view = report.overview(thirteen(), named=False)
    text = report.as_html(view) + report.as_csv(view)
    for student in [f"id-{n}" for n in range(10)] + ["id-rare", "id-top", "absentee"]:
        assert student not in text
    assert "shifted" in text and "no other" not in text and "odd" not in text
    assert view.students == () and view.help == () and view.sections == ()


def test_no_band_of_a_shareable_report_holds_one_or_two():
    for seed in range(200):
        draw = random.Random(seed)
        scores = [draw.randint(0, 6) for _ in range(draw.randint(5, 12))]
        book = class_of(*(submission(f"s{n}", 4, b) for n, b in enumerate(scores)))
        bands = report.overview(book, named=False).bands
        assert sum(band.count for band in bands) == len(scores)
        assert not {band.count for band in bands} & {1, 2}, scores
        assert [b.low for b in bands][1:] == [b.high for b in bands][:-1]


def test_a_class_of_four_has_no_shareable_report():
    book = class_of(*(submission(f"s{n}", 4, 6) for n in range(4)))
    with pytest.raises(CourseError, match="it needs at least 5"):
        report.overview(book, named=False)


@pytest.mark.parametrize(
    ("level", "is_grouped", "level_sentence"),
    [
        ("namespaces", True, ""),
        ("landlock", True, ""),
        (
            "landlock, no control group",
            False,
            "memory was measured four times a second",
        ),
        ("none", True, "this machine gave none"),
    ],
)
def test_the_report_says_what_a_level_does_not_promise(
    level, is_grouped, level_sentence
):
    ran = {"level": level, "is_grouped": is_grouped}
    book = class_of(*(submission(f"s{n}", 4, 6, **ran) for n in range(3)))
    page = report.as_html(report.overview(book))
    assert f"isolation: {level}" in page
    for sentence in (
        "memory was measured four times a second",
        "this machine gave none",
    ):
        assert (sentence in page) == (sentence == level_sentence)


# --- the command ---------------------------------------------------------------------


def test_the_command_writes_the_page_and_the_table(graded, capsys):
    assert cli.main(["report", "numbers", "--course", str(graded)]) == 0
    page = (graded / "reports" / f"{UNIT}.html").read_text()
    assert WHOLE in page and "Ada Lovelace" in page and "not yet graded" in page
    assert "Decided inside" in page and "namespaces" in page and "1.5 s" in page
    assert "cannot be read" in page and "never" in page
    table = (graded / "reports" / f"{UNIT}.csv").read_text()
    assert table.startswith("student,name,") and WHOLE in table
    assert capsys.readouterr().out.count("reports") == 2


def test_the_command_says_what_is_missing(graded, capsys):
    shutil.rmtree(graded / "autograded")
    assert cli.main(["report", "01", "--course", str(graded)]) == 1
    assert f"run: nbgrader autograde {UNIT}" in capsys.readouterr().err
    assert not (graded / "reports").exists()


CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")


@pytest.mark.slow
@pytest.mark.skipif(not CHROMIUM, reason="chromium is not installed")
def test_a_browser_lays_the_page_out_and_prints_it(tmp_path):
    view = report.overview(thirteen())
    path = tmp_path / "report.html"
    path.write_text(report.as_html(view), encoding="utf-8")
    command = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu"]
    process = subprocess.run(
        [*command, "--dump-dom", path.as_uri()],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert re.search(r"<td[^>]*>10</td>", process.stdout), process.stderr
    printed = tmp_path / "report.pdf"
    subprocess.run(
        [*command, f"--print-to-pdf={printed}", path.as_uri()],
        capture_output=True,
        timeout=120,
    )
    assert printed.read_bytes().startswith(b"%PDF")


def test_exercises_stand_beside_those_of_an_earlier_term(tmp_path):
    book = class_of(submission("ada", 4, 3), submission("bob", 2, 6))
    table = tmp_path / "before.csv"
    table.write_text("exercise,mean_share,discrimination\na,0.875,0.41\nessay,,\n")
    overview = report.with_before(report.overview(book), table)
    assert [row.mean_before for row in overview.exercises] == [0.875, None, None]
    assert [row.index_before for row in overview.exercises] == [0.41, None, None]
    page = report.as_html(overview)
    assert '<td class="n">88%</td>' in page and '<td class="n">0.41</td>' in page
    table.write_text("exercise,mean_share\nelsewhere,1\n")
    with pytest.raises(CourseError, match="not a shareable report"):
        report.with_before(overview, table)


def test_a_term_is_compared_with_what_the_last_one_wrote(tmp_path):
    """Who was told apart before, and is not any more, is remarked; so is a hard one."""
    apart = class_of(*(submission(f"s{n}", n / 3, n / 2) for n in range(12)))
    table = tmp_path / "a.csv"
    table.write_text(report.as_csv(report.overview(apart, named=False)))
    columns = zip(*csv.reader(table.read_text().splitlines()), strict=True)
    assert all(any(values) for _, *values in columns)
    alike = class_of(
        *(submission(f"s{n}", (n % 2) / 4, (n // 2) / 2) for n in range(12))
    )
    row = report.with_before(report.overview(alike), table).exercises[0]
    assert row.index_before == pytest.approx(1.0) and row.index < 0.2
    assert row.remark.endswith("harder than before; it told students apart before")


def test_a_report_to_an_impossible_place_is_one_line(graded, capsys):
    (graded / "file").write_text("")
    option = ["--course", str(graded), "--output"]
    assert cli.main(["report", "01", *option, str(graded / "file" / "r.html")]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("autograder: ") and str(graded / "file") in line
