"""What a class tried is summed up from logs, each of which is a stranger's file."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from transformer_course.leaderboard import tried
from transformer_course.library import run_log
from transformer_course.library.run_log import LoggedRun, RunLog

UNIT = "06_text_recovery"
HEADS = {"heads": ("4", "8")}


def run(name: str, gain: float, changed=HEADS, **fields) -> LoggedRun:
    difference = (gain, gain - 1.0, gain + 1.0)
    return LoggedRun(name, changed=changed, difference=difference, **fields)


def submitted(root: Path, student: str, data: bytes) -> Path:
    path = root / "submitted" / student / UNIT / run_log.FILE
    path.parent.mkdir(parents=True)
    path.write_bytes(data)
    return path


def test_a_student_counts_once_for_each_change():
    many = RunLog(tuple(run(f"r{i}", 5.0) for i in range(100)))
    logs = {
        "ann": many,
        "bob": RunLog((run("a", -3.0),)),
        "cid": RunLog((run("a", 0.2),)),
    }
    (change,) = tried.summary(logs).changes
    assert change.name == "heads: 4 → 8" and change.task == "embedded, level 2"
    assert (change.helped, change.unclear, change.hurt) == (1, 1, 1)
    assert change.median == pytest.approx((0.2, -0.8, 1.2))


def test_one_long_log_does_not_crowd_out_the_others():
    flood = RunLog(tuple(run(f"r{i}", 1.0, {"peak": ("0", f"{i}")}) for i in range(99)))
    summary = tried.summary({"ann": flood, "bob": RunLog((run("a", 2.0),))})
    names = [change.name for change in summary.changes]
    assert len(names) == 31 and "heads: 4 → 8" in names and summary.runs == 100


def test_what_says_nothing_is_left_out_and_counted():
    runs = (
        run("short", 9.0, too_short=True),
        run("both", 9.0, {**HEADS, "depth": ("1", "2")}),
        run("beam", 2.0, {"beam": ("-", "3"), "alpha": ("-", "1")}),
        LoggedRun("stopped", stopped="KeyboardInterrupt"),
    )
    summary = tried.summary({"ann": RunLog(runs)})
    assert [change.name for change in summary.changes] == ["beam: - → 3"]
    assert (summary.runs, summary.students) == (4, 1)
    assert (summary.several, summary.short) == (1, 1)


def test_levels_and_own_corpora_are_told_apart():
    runs = (run("a", 1.0), run("b", 1.0, level=3), run("c", 1.0, corpus="kafka"))
    summary = tried.summary({"ann": RunLog(runs)})
    assert sorted(change.task for change in summary.changes) == [
        "embedded, level 2", "embedded, level 3", "own corpora"
    ]  # fmt: skip


def test_a_page_a_table_and_a_picture_are_written_of_hostile_logs(tmp_path):
    line = {"run": "a", "changed": {"<b>x</b>": ["=1", "<script>"]},
            "difference": [1, 0.5, 1.5]}  # fmt: skip
    submitted(tmp_path, "ann", json.dumps(line).encode() + b"\nnot JSON")
    submitted(tmp_path, "bob", b"\xff" * 100)
    submitted(tmp_path, "cid", b" " * (run_log.MOST_BYTES + 1))
    os.symlink("/etc/passwd", submitted(tmp_path, "dan", b"").with_suffix(".x"))
    link = tmp_path / "submitted" / "eve" / UNIT / run_log.FILE
    link.parent.mkdir(parents=True)
    link.symlink_to("/etc/passwd")
    paths, summary = tried.write(UNIT, tmp_path)
    page, table, logs = (path.read_text(encoding="utf-8") for path in paths)
    assert "<script>" not in logs and "<h2>ann</h2>" in logs
    assert "+1.0 [+0.5, +1.5]" in logs and "=1 → &lt;script&gt;" in logs
    assert "<script>" not in page and "&lt;b&gt;x&lt;/b&gt;: =1 → &lt;scri" in page
    assert 'aria-label="BLEU more, in the median: ' in page and "<circle" in page
    assert "helped" in table and "1.00,0.50,1.50" in table
    assert [remark.partition(":")[0] for remark in summary.remarks] == [
        "ann", "bob", "cid", "eve"
    ]  # fmt: skip
    assert "is larger than 8 MB" in summary.remarks[2]
    assert not any(student in page for student in ("bob", "cid", "dan"))


def test_a_class_without_logs_has_a_page(tmp_path):
    paths, summary = tried.write(UNIT, tmp_path)
    assert summary == tried.Tried() and "No log compares anything yet." in (
        paths[0].read_text(encoding="utf-8")
    )


def test_a_picture_keeps_its_marks_within_its_axis():
    wild = tried.TriedChange("x", "y", ((1e300, -1e300, 1e300),))
    end = tried.axis_end([wild, tried.TriedChange("z", "y", ((0.0, -0.5, 0.5),))])
    assert end == 100.0
    leftmost, middle, right = (tried.x_coordinate(x, end) for x in (-1e300, 0, 1e300))
    assert 360 <= leftmost < middle < right <= 780
