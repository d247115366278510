"""What is taken of a submission, and the notebook that is made of it."""

from __future__ import annotations

import copy
import datetime
import json
import os
import socket
import time

import nbformat
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from nbformat.v4 import new_code_cell, new_markdown_cell, new_raw_cell

from autograder.course.errors import CourseError
from autograder.grading import intake
from autograder.grading.intake import File, Refused, SizeLimits, rebuild
from tests.tiny_course import (
    DOUBLE,
    STUB,
    TRIPLE,
    UNIT,
    WORDS,
    cell,
    data,
    solved,
    source_notebook,
)


def released() -> nbformat.NotebookNode:
    """The release of the tiny course, without asking nbgrader for it."""
    release = source_notebook()
    for c in release.cells:
        for begin, end, instead in (
            ("### BEGIN SOLUTION", "### END SOLUTION", STUB),
            ("### BEGIN HIDDEN TESTS", "### END HIDDEN TESTS", ""),
        ):
            if begin in c.source:
                before, _, rest = c.source.partition(begin)
                c.source = (before + instead + rest.partition(end)[2]).rstrip()
    return release


SOURCE, RELEASE = source_notebook(), released()


def graded(submission) -> tuple[nbformat.NotebookNode, list[str]]:
    content = submission if isinstance(submission, bytes) else data(submission)
    notebook, repairs = rebuild(SOURCE, RELEASE, content)
    nbformat.validate(notebook)
    return notebook, [repair.kind for repair in repairs]


def sources(notebook) -> list[str]:
    return [c.source for c in notebook.cells]


def is_solved(notebook) -> bool:
    """Whether both answers are in, in place, behind the course's own tests."""
    names: dict = {}
    try:
        for c in notebook.cells:
            if c.cell_type == "code":
                exec(c.source, names)
    except Exception:
        return False
    tests = ("numbers-double", "numbers-triple")
    return all(cell(notebook, i).source == cell(SOURCE, i).source for i in tests)


# --- rebuilding: the honest --------------------------------------------------


def test_an_untouched_solved_notebook_needs_no_repair():
    notebook, kinds = graded(solved(RELEASE))
    assert is_solved(notebook) and kinds == []
    assert [c.id for c in notebook.cells] == [c.id for c in SOURCE.cells]


def test_tests_come_from_the_source_with_their_hidden_part():
    notebook, _ = graded(solved(RELEASE))
    expected = cell(SOURCE, "numbers-double").source
    assert cell(notebook, "numbers-double").source == expected
    assert "HIDDEN" in expected


def test_an_empty_submission_holds_stubs_and_never_a_solution():
    notebook, _ = rebuild(SOURCE, RELEASE, None)
    assert STUB in cell(notebook, "numbers-double-answer").source
    assert "2 * x" not in "".join(sources(notebook))


def test_an_unchanged_written_answer_has_the_checksum_by_which_nbgrader_tells_it():
    from nbgrader.utils import determine_grade

    untouched, _ = graded(RELEASE)
    answered, _ = graded(solved(RELEASE))
    assert determine_grade(cell(untouched, "numbers-why"))[0] == 0
    assert determine_grade(cell(answered, "numbers-why"))[0] is None


def test_the_last_filled_copy_of_an_answer_wins_and_the_other_is_ignored():
    submission = solved(RELEASE, double="def double(x):\n    return 17")
    good = copy.deepcopy(cell(submission, "numbers-double-answer"))
    good.id, good.source = "copy", DOUBLE
    submission.cells.insert(4, good)
    notebook, kinds = graded(submission)
    assert is_solved(notebook) and kinds == ["copy ignored"]
    assert "17" not in "".join(sources(notebook))


def test_an_unfilled_copy_behind_the_answer_does_not_replace_it():
    submission = solved(RELEASE)
    submission.cells.append(copy.deepcopy(cell(RELEASE, "numbers-double-answer")))
    notebook, kinds = graded(submission)
    assert is_solved(notebook) and kinds == ["copy ignored"]


def test_a_copied_answer_cell_used_as_scratch_paper_is_kept_as_an_own_cell():
    submission = solved(RELEASE)
    scratch = copy.deepcopy(cell(submission, "numbers-double-answer"))
    scratch.source = "print(double(4))"
    submission.cells.insert(3, scratch)
    notebook, kinds = graded(submission)
    assert is_solved(notebook) and kinds == ["copy kept"]
    assert sources(notebook)[3] == "print(double(4))"


def test_deleted_tests_return_and_edited_tests_are_undone():
    submission = solved(RELEASE)
    submission.cells = [c for c in submission.cells if c.id != "numbers-double"]
    cell(submission, "numbers-triple").source = "assert True"
    notebook, kinds = graded(submission)
    assert is_solved(notebook) and kinds == ["test returned", "test restored"]


def test_lost_nbgrader_metadata_is_restored_by_cell_ids():
    submission = solved(RELEASE)
    for c in submission.cells:
        c.metadata = {}
    notebook, kinds = graded(submission)
    assert is_solved(notebook) and kinds == ["metadata restored"]


def test_ids_where_colab_saves_them_restore_as_well():
    submission = solved(RELEASE)
    submission.nbformat_minor = 0
    for c in submission.cells:
        c.metadata = {"id": c.pop("id")}
    assert is_solved(graded(submission)[0])


def test_without_ids_and_metadata_answers_are_found_by_what_they_define():
    submission = solved(RELEASE)
    for c in submission.cells:
        c.metadata = {}
        c.pop("id")
    notebook, kinds = graded(submission)
    assert is_solved(notebook) and "answer found" in kinds
    assert cell(notebook, "numbers-why").source == WORDS  # by its place


def test_an_answer_below_its_untouched_stub_is_found():
    submission = solved(RELEASE, double=cell(RELEASE, "numbers-double-answer").source)
    submission.cells.insert(3, new_code_cell(DOUBLE))
    notebook, kinds = graded(submission)
    assert is_solved(notebook) and kinds == ["answer found"]


def test_own_cells_stay_behind_their_neighbour():
    submission = solved(RELEASE, double="def double(x):\n    return helper(x)")
    submission.cells.insert(2, new_code_cell("def helper(x):\n    return x + x"))
    submission.cells.insert(0, new_markdown_cell("My notes"))
    notebook, kinds = graded(submission)
    assert is_solved(notebook) and kinds == []
    assert sources(notebook)[0] == "My notes"
    assert sources(notebook)[3].startswith("def helper")


def test_a_moved_answer_returns_to_its_place_without_dragging_others_along():
    submission = solved(RELEASE, triple="def triple(x):\n    return helper(x)")
    moved = submission.cells.pop(2)
    submission.cells.insert(3, new_code_cell("def helper(x):\n    return 3 * x"))
    submission.cells.append(moved)
    notebook, _ = graded(submission)
    assert is_solved(notebook)


def test_an_answer_that_became_markdown_is_code_again():
    submission = solved(RELEASE)
    answer = cell(submission, "numbers-double-answer")
    answer.cell_type = "markdown"
    notebook, kinds = graded(submission)
    assert is_solved(notebook) and kinds == ["cell type"]


def test_an_added_import_in_a_cell_of_the_course_is_not_lost():
    submission = solved(RELEASE, double="def double(x):\n    return int(np.add(x, x))")
    submission.cells[1].source = "import math\nimport numpy as np"
    notebook, kinds = graded(submission)
    assert is_solved(notebook) and kinds == ["course cell"]
    assert sources(notebook)[1] == "import math"


@pytest.mark.parametrize(
    "line",
    [
        "!pip install einops",
        "%pip install -q einops",
        "!{sys.executable} -m pip install x",
        "from google.colab import drive",
        "drive.mount('/content/drive')",
        "drive.mount(\n    '/content/drive',\n    force_remount=True)",
        "!pip install \\\n    einops",
    ],
)
def test_installs_and_drives_are_made_harmless_and_told(line):
    submission = solved(RELEASE, double=f"{line}\n{DOUBLE}")
    notebook, kinds = graded(submission)
    assert is_solved(notebook) and kinds == ["install"]


def test_an_install_inside_a_block_leaves_the_block_whole():
    code = "try:\n    from google.colab import drive\nexcept ImportError:\n    pass"
    changed, removed = intake.without_installs(code)
    compile(changed, "", "exec")
    assert removed == ["from google.colab import drive"]


def test_colabs_personal_data_outputs_and_widgets_are_gone():
    submission = solved(RELEASE)
    submission.metadata = {"colab": {"provenance": []}, "widgets": {"state": {}}}
    answer = cell(submission, "numbers-double-answer")
    answer.metadata["executionInfo"] = {"user": {"displayName": "Ada L", "userId": "7"}}
    answer.outputs = [nbformat.v4.new_output("stream", text="secret")]
    notebook, kinds = graded(submission)
    text = nbformat.writes(notebook)
    assert kinds == ["personal data"]
    assert not any(word in text for word in ("Ada L", "colab", "secret", "widgets"))


def test_colabs_badge_cell_is_dropped():
    submission = solved(RELEASE)
    badge = new_markdown_cell("<a href=...>", metadata={"id": "view-in-github"})
    submission.cells.insert(0, badge)
    assert len(graded(submission)[0].cells) == len(SOURCE.cells)


def test_another_kernel_is_set_back():
    submission = solved(RELEASE)
    submission.metadata = {"kernelspec": {"name": "ir", "language": "R"}}
    notebook, kinds = graded(submission)
    assert kinds == ["kernel"] and notebook.metadata.kernelspec.name == "python3"


def test_a_notebook_of_format_3_is_read():
    worksheet = [
        {"cell_type": "heading", "level": 1, "source": ["Numbers"]},
        {"cell_type": "code", "input": [DOUBLE], "language": "python", "metadata": {}},
        {"cell_type": "code", "input": [TRIPLE], "language": "python", "metadata": {}},
    ]
    old = {"nbformat": 3, "nbformat_minor": 0, "worksheets": [{"cells": worksheet}]}
    notebook, _ = graded(json.dumps(old).encode())
    assert is_solved(notebook)


def test_old_nbgrader_metadata_is_no_obstacle():
    submission = solved(RELEASE)
    for c in submission.cells:
        c.metadata.get("nbgrader", {}).pop("schema_version", None)
    assert is_solved(graded(submission)[0])


def test_raw_cells_become_plain_text_since_pages_would_show_them_unescaped():
    submission = solved(RELEASE)
    submission.cells.append(new_raw_cell("<script>alert(1)</script>"))
    last = graded(submission)[0].cells[-1]
    assert last.cell_type == "markdown" and last.source.startswith("    <script>")


def test_pictures_in_written_answers_are_kept_and_other_attachments_are_not():
    submission = solved(RELEASE)
    cell(submission, "numbers-why").attachments = {
        "a.png": {"image/png": "AAAA"},
        "b.svg": {"image/svg+xml": "<svg/>"},
    }
    kept = cell(graded(submission)[0], "numbers-why").attachments
    assert kept == {"a.png": {"image/png": "AAAA"}}


# --- rebuilding: the others --------------------------------------------------


def test_forged_metadata_of_a_student_does_not_reach_the_graded_notebook():
    submission = solved(RELEASE)
    submission.metadata["autograder"] = {"digest": "forged", "checks": {"a": 1}}
    for c in submission.cells:
        c.metadata["autograder"] = "verdict"
        c.metadata["tags"] = ["skip-execution"]
        if "nbgrader" in c.metadata:
            c.metadata["nbgrader"]["points"] = 1000
    notebook, _ = graded(submission)
    text = nbformat.writes(notebook)
    assert not any(w in text for w in ("forged", "verdict", "skip-exec", "1000"))


def test_an_answer_that_is_far_too_long_is_left_out():
    notebook, kinds = graded(solved(RELEASE, double="#" * 300_000))
    assert STUB in cell(notebook, "numbers-double-answer").source
    assert kinds == ["cell left out"]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "empty"),
        (b"   \n", "empty"),
        (b'{"cells": [', "cut off"),
        (b"PK\x03\x04", "not readable"),
        (b"[]", "not a notebook"),
        (b'{"nbformat": 4}', "not a notebook"),
        (b'{"cells": ' + b"[" * 100_000, "nested too deeply"),
        (b'{"cells": [' + b'{"cell_type": "code"},' * 2001 + b"{}]}", "2000 cells"),
    ],
)
def test_what_cannot_be_read_is_refused_with_a_plain_reason(content, reason):
    with pytest.raises(Refused, match=reason):
        rebuild(SOURCE, RELEASE, content)


def test_a_notebook_above_the_size_limit_is_refused_unread():
    with pytest.raises(Refused, match="larger than 0 MB"):
        rebuild(SOURCE, RELEASE, b"{" * 100, SizeLimits(notebook=99))


def test_outputs_of_a_notebook_do_not_count(tmp_path):
    submission = solved(RELEASE)
    output = nbformat.v4.new_output("stream", text="x" * 30_000)
    next(c for c in submission.cells if c.cell_type == "code").outputs = [output]
    (tmp_path / "n.ipynb").write_bytes(data(submission))
    limits = SizeLimits(file=20_000, total=20_000, notebook=20_000, saved=50_000)
    kept = intake.take(tmp_path, limits)
    assert not kept.repairs and b"xxx" not in kept.files["n.ipynb"].data
    rebuilt, _ = rebuild(SOURCE, RELEASE, kept.files["n.ipynb"].data, limits)
    assert cell(rebuilt, "numbers-double-answer").source
    small = SizeLimits(file=20_000, total=20_000, notebook=20_000, saved=25_000)
    assert not intake.take(tmp_path, small).files


@pytest.mark.parametrize("content", [b"{" * 60_000, b"[" * 60_000, b"\xff" * 60_000])
def test_a_large_file_that_is_no_notebook_is_left_out(tmp_path, content):
    (tmp_path / "n.ipynb").write_bytes(content)
    limits = SizeLimits(file=20_000, total=20_000, notebook=20_000, saved=99_000)
    assert not intake.take(tmp_path, limits).files


def test_huge_numbers_and_lone_surrogates_are_survived():
    submission = json.dumps(solved(RELEASE, words="\ud800 odd")).replace(
        '"execution_count": null', '"execution_count": ' + "9" * 10_000
    )
    notebook, _ = graded(submission.encode())
    assert is_solved(notebook) and cell(notebook, "numbers-why").source == "? odd"


def test_source_and_release_that_differ_are_the_courses_fault():
    with pytest.raises(CourseError, match="build and release"):
        rebuild(SOURCE, nbformat.v4.new_notebook(), None)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["cells", "metadata", "source", "id", "nbgrader", "x"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=20,
)


def _graft(document, path: list[int], value):
    """Replace one part of a JSON document, wherever the numbers lead."""
    here = document
    for step, number in enumerate(path):
        keys = list(here) if isinstance(here, dict) else list(range(len(here)))
        key = keys[number % len(keys)]
        last = step == len(path) - 1
        if last or not here[key] or not isinstance(here[key], dict | list):
            here[key] = value
            break
        here = here[key]
    return document


quick = settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)


def only_refused(content: bytes) -> None:
    try:
        notebook, _ = rebuild(SOURCE, RELEASE, content)
    except Refused:
        return
    nbformat.validate(notebook)
    nbformat.writes(notebook).encode()
    for grade_id in ("numbers-double", "numbers-triple"):
        assert cell(notebook, grade_id).source == cell(SOURCE, grade_id).source


@quick
@given(st.lists(st.integers(0, 99), min_size=1, max_size=7), json_values)
def test_any_value_anywhere_is_graded_or_refused(path, value):
    only_refused(data(_graft(json.loads(data(solved(RELEASE))), path, value)))


@quick
@given(json_values | st.dictionaries(st.just("cells"), json_values))
def test_any_json_is_graded_or_refused(value):
    only_refused(data(value))


@quick
@given(st.integers(0, 4000), st.binary(max_size=8))
def test_any_cut_or_damage_is_graded_or_refused(place, junk):
    whole = data(solved(RELEASE))
    only_refused(whole[:place] + junk)
    only_refused(whole[:place] + junk + whole[place + len(junk) :])


@quick
@given(st.lists(st.text(alphabet="defclass =:(x\n#", max_size=40), max_size=6))
def test_any_code_in_any_cell_leaves_the_tests_alone(texts):
    submission = solved(RELEASE)
    for number, text in enumerate(texts):
        submission.cells[number % len(submission.cells)].source = text
    only_refused(data(submission))


# --- files -------------------------------------------------------------------


def test_links_fifos_and_sockets_are_left_out_and_told(tmp_path):
    folder = tmp_path / "work"
    folder.mkdir()
    (tmp_path / "secret").write_text("secret")
    (folder / "a.txt").write_text("fine")
    (folder / "link").symlink_to(tmp_path / "secret")
    (folder / "loop").symlink_to(folder)
    os.mkfifo(folder / "fifo")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(folder / "s"))
        taken = intake.take(folder)
    assert list(taken.files) == ["a.txt"]
    told = " ".join(repair.says for repair in taken.repairs)
    assert "link, loop (is a link)" in told
    assert "fifo, s (is not a regular file)" in told


def test_a_folder_that_is_a_link_is_refused(tmp_path):
    (tmp_path / "other").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "other")
    with pytest.raises(Refused, match="not a folder"):
        intake.take(tmp_path / "link")


def test_sizes_and_counts_are_capped_and_notebooks_come_first(tmp_path):
    (tmp_path / "aaa.bin").write_bytes(b"x" * 90)
    (tmp_path / "z.ipynb").write_bytes(b"x" * 50)
    os.truncate(os.open(tmp_path / "huge", os.O_CREAT | os.O_WRONLY), 1 << 40)
    taken = intake.take(tmp_path, SizeLimits(file=100, total=120))
    assert list(taken.files) == ["z.ipynb"]
    assert [r.kind for r in taken.repairs] == ["file left out"]
    assert "aaa.bin, huge (is too large)" in taken.repairs[0].says


def test_too_many_files_end_the_reading_but_not_the_grading(tmp_path):
    for number in range(30):
        (tmp_path / f"{number:02}").touch()
    taken = intake.take(tmp_path, SizeLimits(files=10))
    assert len(taken.files) == 10
    assert "too many files" in taken.repairs[0].says


def test_folders_too_deep_and_odd_names_are_left_out(tmp_path):
    deep = tmp_path
    for _ in range(12):
        deep = deep / "d"
    deep.mkdir(parents=True)
    (deep / "file").touch()
    (tmp_path / "line\nbreak").touch()
    (tmp_path / os.fsdecode(b"bytes\xff")).touch()
    taken = intake.take(tmp_path)
    assert taken.files == {}
    assert len(taken.repairs) == 2


def test_ignored_names_are_skipped_silently(tmp_path):
    (tmp_path / ".ipynb_checkpoints").mkdir()
    (tmp_path / ".ipynb_checkpoints" / "a.ipynb").touch()
    assert intake.take(tmp_path, ignore=[".ipynb_checkpoints"]) == intake.Taken({})


# --- finding the notebook ----------------------------------------------------

NAME = f"{UNIT}.ipynb"


def other_unit() -> bytes:
    cells = [new_markdown_cell("# Letters"), new_code_cell("import string")]
    return data(nbformat.v4.new_notebook(cells=cells))


@pytest.mark.parametrize(
    "name",
    [
        f"Copy of {NAME}",
        "01_numbers (1).ipynb",
        "Copy_of_x.ipynb",
        "sub/a.ipynb",
        "01_numbers.ipynb.txt",
        "01_numbers.json",
    ],
)
def test_a_renamed_notebook_is_found_by_content_and_told(name):
    files = {name: File(data(solved(RELEASE))), "b.ipynb": File(other_unit())}
    path, repairs = intake.find_notebook(files, NAME, RELEASE)
    assert path == name and [r.kind for r in repairs] == ["renamed"]


def test_of_two_notebooks_the_one_with_more_answers_counts_then_the_newer():
    half = data(solved(RELEASE, double=cell(RELEASE, "numbers-double-answer").source))
    whole = data(solved(RELEASE))
    files = {
        NAME: File(half, 9.0),
        "a.ipynb": File(whole, 1),
        "b.ipynb": File(whole, 2),
    }
    path, repairs = intake.find_notebook(files, NAME, RELEASE)
    assert path == "b.ipynb"
    assert [r.kind for r in repairs] == ["renamed", "several notebooks"]


def test_a_broken_notebook_beside_a_good_one_does_no_harm():
    files = {NAME: File(b"{broken"), "a.ipynb": File(data(solved(RELEASE)))}
    assert intake.find_notebook(files, NAME, RELEASE)[0] == "a.ipynb"


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        ({}, "there is no notebook"),
        ({"notes.txt": File(b"hello")}, "there is no notebook"),
        ({"b.ipynb": File(other_unit())}, "no notebook of this unit"),
        ({NAME: File(b"{broken")}, "cut off"),
    ],
)
def test_without_a_notebook_of_the_unit_there_is_a_plain_reason(files, reason):
    with pytest.raises(Refused, match=reason):
        intake.find_notebook(files, NAME, RELEASE)


# --- time --------------------------------------------------------------------


def test_a_plain_stamp_before_the_collection_is_believed(tmp_path):
    (tmp_path / "timestamp.txt").write_text(
        "2024-03-01 12:30:00.250000 Europe/Berlin\n"
    )
    stamp, repairs = intake.handed_in(tmp_path)
    assert stamp == datetime.datetime(2024, 3, 1, 11, 30, 0, 250000) and not repairs


@pytest.mark.parametrize(
    "text",
    [
        "",
        "yesterday",
        "1985-01-01 00:00:00",
        "2999-01-01 00:00:00",
        "x" * 500,
        "2024-01-01 00:00:00 ../../etc/passwd",
        "2024-99-01 00:00:00",
        "\x00\xff",
        "0001-01-01 00:00:00 +23:59",
    ],
)
def test_an_absurd_stamp_counts_as_the_time_of_collection(tmp_path, text):
    (tmp_path / "timestamp.txt").write_text(text)
    stamp, repairs = intake.handed_in(tmp_path)
    assert abs(stamp.replace(tzinfo=datetime.UTC).timestamp() - time.time()) < 60
    assert [r.kind for r in repairs] == ["time"]


def test_a_stamp_that_is_a_fifo_does_not_hold_the_run(tmp_path):
    os.mkfifo(tmp_path / "timestamp.txt")
    assert intake.handed_in(tmp_path)[1][0].kind == "time"


def test_without_a_stamp_no_time_is_known(tmp_path):
    assert intake.handed_in(tmp_path) == (None, ())


@pytest.mark.parametrize(
    ("text", "hour"),
    [
        ("2024-03-01 12:00:00 UTC", 12),
        ("2024-03-01 12:00:00", 12),
        ("2024-03-01 12:00:00 +0100", 11),
        ("2024-03-01T12:00:00-05:00", 17),
    ],
)
def test_zones_and_offsets_are_read_right(text, hour):
    assert intake.parse_stamp(text) == datetime.datetime(2024, 3, 1, hour)
