"""``nbgrader collect``: not stopped, not deceived, and never losing a submission."""

import datetime
import logging
import os
import shutil
import threading
import time
from pathlib import Path

import pytest
from nbgrader.coursedir import CourseDirectory
from nbgrader.exchange import ExchangeError
from traitlets.config import Config

from autograder.course import access, files
from autograder.course.access import account_name
from autograder.grading import collect
from autograder.grading.collect import CourseCollect
from autograder.grading.gradebook import extensions
from autograder.grading.intake import handed_in

UNIT = "01_numbers"


class Exchange:
    """An exchange in which this account plays all students."""

    def __init__(self, root: Path, caplog: pytest.LogCaptureFixture):
        self.root, self._caplog = root, caplog
        self.inbound = root / "exchange" / "tiny" / "inbound"
        self.inbound.mkdir(parents=True)

    def submit(self, student: str, text: str = "{}", timestamp: str = "") -> Path:
        """As nbgrader does it; ``timestamp`` is a time that the student made up."""
        timestamp = timestamp or f"{datetime.datetime.now(datetime.UTC):%F %T.%f} UTC"
        count = len(list(self.names()))
        folder = self.inbound / f"{student}+{UNIT}+{timestamp}+r{count}"
        folder.mkdir()
        (folder / f"{UNIT}.ipynb").write_text(text)
        (folder / "timestamp.txt").write_text(timestamp)
        (folder / "submission_secret.txt").write_text("s3cret")
        return folder

    def names(self):
        return self.inbound.iterdir()

    def collect(self, **options) -> None:
        self._caplog.clear()
        config = Config()
        config.Exchange.root = str(self.root / "exchange")
        names = {"course_id": "tiny", "assignment_id": UNIT}
        coursedir = CourseDirectory(root=str(self.root), **names)
        options = {"check_owner": False} | options
        collector = CourseCollect(coursedir=coursedir, config=config, **options)
        collector.log = logging.getLogger(__name__)
        collector.start()

    @property
    def told(self) -> str:
        return self._caplog.text

    def submitted(self, student: str) -> Path:
        return self.root / "submitted" / student / UNIT

    def text(self, student: str) -> str:
        return (self.submitted(student) / f"{UNIT}.ipynb").read_text()

    def late_by(self, student: str, moment: float) -> float:
        """Seconds from a moment (of this clock) to the time that counts."""
        stamp, repairs = handed_in(self.submitted(student))
        assert not repairs
        return stamp.replace(tzinfo=datetime.UTC).timestamp() - moment


@pytest.fixture
def exchange(tmp_path, caplog) -> Exchange:
    caplog.set_level(logging.INFO)
    return Exchange(tmp_path, caplog)


def test_the_last_submission_of_each_student_is_taken_with_its_time(exchange):
    before = time.time()
    exchange.submit("ada", "1")
    exchange.submit("ada", "2")
    exchange.submit("bob+x@uni.org", "3")
    exchange.collect()
    assert exchange.text("ada") == "2" and exchange.text("bob+x@uni.org") == "3"
    assert 0 <= exchange.late_by("ada", before) <= time.time() - before
    assert (exchange.submitted("ada") / "submission_secret.txt").read_text() == "s3cret"


def test_a_newer_one_is_taken_only_with_update(exchange):
    exchange.submit("ada", "1")
    exchange.collect()
    exchange.submit("ada", "2")
    exchange.collect()
    assert exchange.text("ada") == "1" and "--update takes the new one" in exchange.told
    exchange.collect(update=True)
    assert exchange.text("ada") == "2"
    exchange.collect(update=True)
    assert "Up to date: ada" in exchange.told
    assert [path.name for path in (exchange.root / "submitted/ada").iterdir()] == [UNIT]


@pytest.mark.parametrize(
    "timestamp", ["2020-01-01 00:00:00 UTC", "2999-01-01 00:00:00 UTC", "garbage"]
)
def test_a_made_up_time_does_not_count(exchange, timestamp):
    before = time.time()
    exchange.submit("eve", timestamp=timestamp)
    exchange.submit("ada")
    exchange.collect()
    assert -1 <= exchange.late_by("eve", before) <= time.time() - before
    assert "eve: the submission says" in exchange.told
    assert "ada: the" not in exchange.told


def test_what_is_changed_after_handing_in_counts_from_then(exchange, monkeypatch):
    monkeypatch.setattr(collect, "_COPYING", datetime.timedelta(seconds=0.1))
    folder = exchange.submit("eve")
    time.sleep(0.25)
    changed = time.time()
    (folder / f"{UNIT}.ipynb").write_text("better")
    os.utime(folder / f"{UNIT}.ipynb", (0, 0))
    exchange.collect()
    assert exchange.late_by("eve", changed) > -0.1
    assert "was last changed at" in exchange.told


def _ignored_ones_in_front(folder: Path) -> None:
    (folder / "00.ipynb").mkdir()
    for n in range(500):
        (folder / "00.ipynb" / f"{n}.pyc").write_text("")


def _put_folder_in_front(folder: Path) -> None:
    (folder / "00.ipynb").mkdir()
    (folder / "00.ipynb" / "closed").write_text("")


@pytest.mark.parametrize("hide", [_ignored_ones_in_front, _put_folder_in_front])
def test_a_late_change_cannot_hide_behind_other_files(exchange, monkeypatch, hide):
    monkeypatch.setattr(collect, "_COPYING", datetime.timedelta(seconds=0.1))
    look = os.stat

    def stat(name, **options):  # as in a folder that only its owner may pass
        if name == "closed":
            raise PermissionError(13, "Permission denied")
        return look(name, **options)

    monkeypatch.setattr(os, "stat", stat)
    folder = exchange.submit("eve")
    hide(folder)
    time.sleep(0.25)
    changed = time.time()
    with (folder / f"{UNIT}.ipynb").open("r+") as file:  # the folder stays as it was
        file.write("better")
    exchange.collect()
    assert exchange.text("eve") == "better"
    assert exchange.late_by("eve", changed) > -0.1


def test_a_change_while_it_is_collected_counts_from_then(exchange, monkeypatch):
    monkeypatch.setattr(collect, "_COPYING", datetime.timedelta(seconds=0.1))
    folder = exchange.submit("eve")
    look, changed = collect.last_change, []

    def last_moment(*args):
        status = look(*args)
        time.sleep(0.25)
        changed.append(time.time())
        (folder / f"{UNIT}.ipynb").write_text("better")
        return status

    monkeypatch.setattr(collect, "last_change", last_moment)
    exchange.collect()
    assert exchange.text("eve") == "better"
    assert exchange.late_by("eve", changed[0]) > -0.1
    assert "eve: changed while it was collected" in exchange.told


def test_the_last_one_in_time_can_be_asked_for_also_with_an_extension(
    exchange, monkeypatch
):
    for student in ("ada", "cyd"):
        exchange.submit(student, "in time")
    due = datetime.datetime.now(datetime.UTC).replace(tzinfo=None)
    for student in ("ada", "bob", "cyd"):
        exchange.submit(student, "late")
    monkeypatch.setattr(collect, "find_due_date", lambda _: due)
    extensions.grant(exchange.root, UNIT, "cyd", datetime.timedelta(hours=1))
    exchange.collect(before_duedate=True)
    assert exchange.text("ada") == "in time" and exchange.text("bob") == "late"
    assert exchange.text("cyd") == "late", "but in time for her"


def test_extensions_that_cannot_be_read_are_told_in_a_line(exchange, monkeypatch):
    exchange.submit("ada")
    extensions.grant(exchange.root, UNIT, "ada", datetime.timedelta(hours=1))
    (exchange.root / ".autograder" / "extensions.json").write_text("{")
    exchange.collect()  # to whom nobody's deadline matters
    monkeypatch.setattr(collect, "find_due_date", lambda _: datetime.datetime.max)
    with pytest.raises(ExchangeError, match="repair or remove it"):
        exchange.collect(before_duedate=True)


def test_who_hands_in_a_thousand_times_is_looked_through_for_the_newest(
    exchange, monkeypatch
):
    looked, look = [], collect.last_change
    monkeypatch.setattr(
        collect, "last_change", lambda *args: looked.append(args) or look(*args)
    )
    for n in range(200):
        exchange.submit("eve", str(n))
    exchange.submit("ada", "fine")
    exchange.collect()
    assert len(looked) == 51 and "eve has handed in 200 times" in exchange.told
    assert exchange.text("eve") == "199" and exchange.text("ada") == "fine"


def test_somebody_elses_folder_and_strange_names_are_left_out(exchange):
    exchange.submit("nobody", "a gift")
    exchange.submit("..", "out")
    exchange.submit("a\nb", "out")
    (exchange.inbound / "no plus at all").mkdir()
    (exchange.inbound / f"file+{UNIT}+2026-01-01 00:00:00 UTC+x").write_text("")
    exchange.submit(account_name(os.geteuid()), "mine")
    exchange.collect(check_owner=True)
    assert os.listdir(exchange.root / "submitted") == [account_name(os.geteuid())]
    assert "belongs to" in exchange.told and "nobody" in exchange.told
    exchange.collect()
    assert {p.name for p in (exchange.root / "submitted").glob("*/*/..")} >= {".."}
    assert not (exchange.root / UNIT).exists()


def test_links_pipes_and_huge_files_are_left_out_and_stop_nobody(exchange, tmp_path):
    solution = tmp_path / "solution.ipynb"
    solution.write_text("the solution")
    folder = exchange.submit("eve")
    (folder / f"{UNIT}.ipynb").unlink()
    (folder / f"{UNIT}.ipynb").symlink_to(solution)
    (folder / "linked").symlink_to(tmp_path)
    os.mkfifo(folder / "pipe")
    with (folder / "huge.bin").open("wb") as file:
        file.truncate(40 << 20)
    (folder / "more").mkdir()
    (folder / "more" / "data.txt").write_text("kept")
    (folder / "__pycache__").mkdir()
    (folder / "__pycache__" / "x.pyc").write_text("ignored")
    exchange.submit("ada", "fine")
    exchange.collect()
    names = {p.name for p in exchange.submitted("eve").rglob("*")}
    assert names == {"more", "data.txt", "timestamp.txt", "submission_secret.txt"}
    for reason in ("it is a link", "not a regular file", "too large"):
        assert reason in exchange.told
    assert exchange.text("ada") == "fine"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_a_file_of_somebody_else_is_left_out(exchange):
    folder = exchange.submit(account_name(os.geteuid()))
    os.chown(folder / f"{UNIT}.ipynb", 65534, -1)
    exchange.collect(check_owner=True)
    assert "it is not the student's own file" in exchange.told


def test_a_folder_in_place_of_the_stamp_costs_only_itself(exchange):
    folder = exchange.submit("eve")
    (folder / "timestamp.txt").unlink()
    (folder / "timestamp.txt").mkdir()
    exchange.collect()
    assert exchange.text("eve") == "{}"
    assert (exchange.submitted("eve") / "timestamp.txt").is_file()


def test_a_full_disk_keeps_the_earlier_submission_and_half_of_one_is_none(
    exchange, monkeypatch
):
    """There may be room for a stamp, where there was none for a notebook."""
    exchange.submit("ada", "1")
    exchange.collect()
    exchange.submit("ada", "2" * 99)
    exchange.submit("bob", "3")
    write = Path.write_bytes

    def short(path, data):
        if len(data) < 99:
            return write(path, data)
        write(path, data[:9])
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_bytes", short)
        with pytest.raises(ExchangeError, match=r"No space left.* same command again"):
            exchange.collect(update=True)
    assert exchange.text("ada") == "1" and exchange.text("bob") == "3"
    assert "ada: not collected" in exchange.told
    submitted = exchange.submitted("ada")
    assert list(submitted.parent.iterdir()) == [submitted]
    exchange.collect(update=True)
    assert exchange.text("ada") == "2" * 99


def test_a_full_disk_is_said_before_anything_is_collected(exchange, monkeypatch):
    exchange.submit("ada")
    monkeypatch.setattr(access, "_ROOM", 1 << 62)
    with pytest.raises(ExchangeError, match="make room"):
        exchange.collect()


def test_what_is_collected_and_what_is_graded_wait_for_each_other(exchange):
    exchange.submit("ada", "1")
    folder = exchange.submitted("ada")
    with files.locked(folder):
        thread = threading.Thread(target=exchange.collect)
        thread.start()
        time.sleep(0.2)
        assert not folder.exists()
    thread.join()
    assert exchange.text("ada") == "1"


def test_what_disappears_while_it_is_looked_at_stops_nobody(exchange, monkeypatch):
    submission = exchange.submit("eve")
    exchange.submit("ada")
    look = collect.last_change

    def vanishing(folder, ignore):
        if folder == submission:
            shutil.rmtree(folder)
        return look(folder, ignore)

    monkeypatch.setattr(collect, "last_change", vanishing)
    exchange.collect()
    assert os.listdir(exchange.root / "submitted") == ["ada"]


def test_an_assignment_that_was_never_released_is_not_just_empty(exchange):
    (exchange.inbound.with_name("outbound") / "02_words").mkdir(parents=True)
    with pytest.raises(ExchangeError, match="never released; there is 02_words"):
        exchange.collect()
    (exchange.inbound.with_name("outbound") / UNIT).mkdir()
    exchange.collect()
    assert f"0 submissions of {UNIT}" in exchange.told
    exchange.inbound.rmdir()
    with pytest.raises(ExchangeError, match="nothing was released yet"):
        exchange.collect()


@pytest.mark.parametrize("stamp", [None, ""])
def test_what_was_cut_off_while_it_was_handed_in_replaces_nothing_whole(
    exchange, stamp
):
    """On a full disk of the exchange, `nbgrader submit` ends before the stamp."""
    exchange.submit("ada", "whole")
    for student in ("ada", "bob"):
        folder = exchange.submit(student, "who")
        (folder / "timestamp.txt").unlink()
        if stamp is not None:
            (folder / "timestamp.txt").write_text(stamp)
    exchange.collect()
    assert exchange.text("ada") == "whole" and exchange.text("bob") == "who"
    assert "ada: the last hand-in is incomplete" in exchange.told
    assert "bob: the last" not in exchange.told
