"""Set up nbgrader for one machine with several accounts: graders and students.

Root may run this repeatedly: it creates what is missing, and repairs what a wrong
umask, a copy or a different account has changed. The result is:

    FOLDER/exchange          3777 root:GROUP   students hand in and fetch here
    FOLDER/exchange/COURSE   2775 root:GROUP   with outbound, inbound and feedback
    FOLDER/COURSE            2770 root:GROUP   where graders work; closed to students
    the course's checkout    o-rwx   :GROUP    solutions and hidden references
    CONFIG/nbgrader_config.py  644             read by everybody's nbgrader
"""

from __future__ import annotations

import contextlib
import grp
import os
import pwd
import stat
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from autograder.course import ROOT, units
from autograder.course.errors import CourseError
from autograder.course.files import write

_FIRST_LINE = "# Written by `autograder exchange`; run that again to change it.\n"

# Read by every nbgrader on the machine. Graders may work from anywhere and with any
# umask; a folder with its own configuration is a different course.
_EVERYBODY = (
    _FIRST_LINE
    + """\
import grp
import os
import sys
from pathlib import Path

c = get_config()
c.CourseDirectory.course_id = {course_id!r}
c.Exchange.root = {exchange!r}
c.Exchange.assignment_dir = os.path.expanduser("~")  # fetch and submit from anywhere
c.ExchangeSubmit.strict = False  # a renamed notebook is graded: its content tells

# nbgrader starts `alembic` by name, which lies beside its interpreter.
programs = str(Path(sys.executable).parent)
os.environ["PATH"] = programs + os.pathsep + os.environ["PATH"]

try:
    graders = grp.getgrnam({group!r}).gr_gid
except KeyError:
    graders = None
if graders in (os.getegid(), *os.getgroups()):
    os.umask(0o007)  # what one grader makes, all graders can change
    c.CourseDirectory.groupshared = True
    if not Path("nbgrader_config.py").exists():
        c.CourseDirectory.root = {course!r}
"""
)

_COURSE = """\
# The class's own settings. Those of the course come first; yours, below, win.
c = get_config()
load_subconfig("nbgrader_config.py", path={root!r})
c.CourseDirectory.course_id = {course_id!r}

# c.LateSubmissionPlugin.penalty_method = "zero"  # a late submission counts nothing
"""

_TRY = """\
import os, sys
import nbgrader
from autograder.root import CONTENT
course = sys.argv[1]
assert os.access(course, os.W_OK), f"{course} is closed"
assert os.access(f"{course}/gradebook.db", os.W_OK), "the gradebook is closed"
assert any(CONTENT.glob("references/hidden/*")), f"{CONTENT} is closed"
"""


@dataclass(frozen=True)
class Classroom:
    """The settings of a shared machine: its graders, and the location of everything.

    Attributes:
        graders, group: the graders' accounts, and the name of their group.
        folder: contains the exchange and the graders' folder of the course.
        config: the folder for nbgrader's settings.
        root: the course's checkout.
    """

    graders: Sequence[str]
    folder: Path
    config: Path
    group: str
    course_id: str
    root: Path = ROOT

    @property
    def exchange(self) -> Path:
        return self.folder / "exchange"

    @property
    def course(self) -> Path:
        return self.folder / self.course_id

    @property
    def settings(self) -> str:
        """The configuration that every nbgrader on the machine reads."""
        return _EVERYBODY.format(
            course_id=self.course_id, exchange=str(self.exchange),
            course=str(self.course), group=self.group,
        )  # fmt: skip


def set_up(room: Classroom) -> None:
    """Create or repair the exchange and the course; check that every grader can work.

    Raises:
        CourseError: it is not run by root, or an account or its access is missing.
    """
    _require(room)
    group = _group(room)
    before = os.umask(0o007)
    try:
        _make_exchange(room, group)
        _make_course(room, group)
    finally:
        os.umask(before)
    # Graders may enter and read the checkout, but not write; others have no access.
    os.chown(room.root, -1, group)
    room.root.chmod((stat.S_IMODE(room.root.stat().st_mode) | 0o050) & ~0o027)
    write(room.config / "nbgrader_config.py", room.settings)
    (room.config / "nbgrader_config.py").chmod(0o644)
    room.config.chmod(0o755)
    for grader in room.graders:
        _try_as(grader, room)


def _require(room: Classroom) -> None:
    """Raise CourseError if the machine cannot be set up, before changing anything."""
    if not sys.platform.startswith("linux") or os.geteuid():
        raise CourseError(
            "this creates groups and folders for other accounts: run it with sudo"
        )
    if not room.graders:
        raise CourseError(
            "no graders are given; name their accounts: --graders prof ta1 ta2"
        )
    for grader in room.graders:
        try:
            pwd.getpwnam(grader)
        except KeyError:
            raise CourseError(
                f'there is no account "{grader}"; create it: sudo adduser {grader}'
            ) from None
    config = room.config / "nbgrader_config.py"
    if config.exists() and not config.read_text().startswith(_FIRST_LINE):
        raise CourseError(
            f"{config} was not written by this command; move it away, run this "
            f"again, and put your settings into {room.course / 'nbgrader_config.py'}"
        )


def _group(room: Classroom) -> int:
    """Make the graders' group, with all graders in it; returns its id."""
    try:
        group_entry = grp.getgrnam(room.group)
    except KeyError:
        _run("groupadd", room.group)
        group_entry = grp.getgrnam(room.group)
    for grader in room.graders:
        groups = os.getgrouplist(grader, pwd.getpwnam(grader).pw_gid)
        if group_entry.gr_gid not in groups:
            _run("usermod", "--append", "--groups", room.group, grader)
    return group_entry.gr_gid


def _run(*command: str) -> None:
    path = f"{os.environ['PATH']}:/usr/sbin:/sbin"  # missing from PATH after `su`
    process = subprocess.run(
        ["env", f"PATH={path}", *command], capture_output=True, text=True, check=False
    )
    if process.returncode:
        raise CourseError(f"`{' '.join(command)}` failed: {process.stderr.strip()}")


def _folder(path: Path, mode: int, group: int | None = None) -> None:
    """Make a folder with this mode and group."""
    path.mkdir(parents=True, exist_ok=True)
    if group is not None:
        os.chown(path, -1, group)
    path.chmod(mode)


def _make_exchange(room: Classroom, group: int) -> None:
    """Make the exchange with nbgrader's layout, but owned by the graders' group.

    It is made before the first release, so that no student can create it.
    """
    _folder(room.folder, 0o755)
    _folder(room.exchange, 0o3777, group)
    inside = room.exchange / room.course_id
    for path, mode in (
        (inside, 0o2775), (inside / "outbound", 0o2775),
        (inside / "inbound", 0o2773), (inside / "feedback", 0o2771),
    ):  # fmt: skip
        _folder(path, mode, group)
        os.chown(path, 0, -1)
    # Not what is in inbound/, which stays the students' own.
    for name in ("outbound", "feedback"):
        _share(inside / name, group, mode=0o2775)
    # `_share` has also changed the folder itself.
    (inside / "feedback").chmod(0o2771)


def _make_course(room: Classroom, group: int) -> None:
    """Make the graders' folder: the current sources, the gradebook and the secret."""
    from nbgrader.api import Gradebook

    from autograder.grading.secret import course_secret

    _folder(room.course, 0o2770, group)
    for unit in units(room.root):
        path = room.course / "source" / unit.label / unit.source.name
        write(path, unit.source.read_bytes())
    config = room.course / "nbgrader_config.py"
    if not config.exists():
        write(config, _COURSE.format(root=str(room.root), course_id=room.course_id))
    # Gradebook and secret are created now, so that all graders can use them.
    Gradebook(f"sqlite:///{room.course / 'gradebook.db'}", room.course_id).close()
    course_secret(room.course)
    _share(room.course, group, mode=0o2770)


def _share(folder: Path, group: int, mode: int) -> None:
    """Give everything in a folder to the group, which may read and change it.

    ``mode`` is that of folders; files are not executable, and links are skipped.
    """
    for _, _, files, parent in os.fwalk(folder, follow_symlinks=False):
        os.fchown(parent, -1, group)
        os.fchmod(parent, mode)
        for name in files:
            with contextlib.suppress(OSError):  # a link, or deleted meanwhile
                _give(os.open(name, _PLAIN, dir_fd=parent), group, mode & 0o664)


_PLAIN = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def _give(descriptor: int, group: int, mode: int) -> None:
    """Give a regular file to a group, and close it."""
    try:
        if stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.fchown(descriptor, -1, group)
            os.fchmod(descriptor, mode)
    finally:
        os.close(descriptor)


def _try_as(grader: str, room: Classroom) -> None:
    """Raise CourseError unless a grader can start nbgrader and write in the course."""
    account = pwd.getpwnam(grader)
    groups = os.getgrouplist(grader, account.pw_gid)
    try:
        process = subprocess.run(
            [sys.executable, "-c", _TRY, room.course], capture_output=True, text=True,
            user=account.pw_uid, group=account.pw_gid, extra_groups=groups,
            cwd="/", env=os.environ | {"HOME": account.pw_dir}, check=False,
        )  # fmt: skip
        last_line = (process.stderr.strip().splitlines() or [""])[-1]
        reason = last_line if process.returncode else ""
    except PermissionError:
        closed = find_closed(Path(sys.executable), grader)
        reason = f"{closed} is closed"
        python = Path(sys.executable).resolve()
        if python.is_relative_to(closed) and not python.is_relative_to(sys.prefix):
            raise CourseError(
                f"{grader} cannot work with this course: {reason}. The environment's "
                f"interpreter is {python}; make the environment of one that all "
                f"graders can read: rm -r {sys.prefix}; make PYTHON=/usr/bin/python3 "
                "setup"
            ) from None
    if reason:
        raise CourseError(
            f"{grader} cannot work with this course: {reason}. Course and environment "
            f"({room.root}, {sys.prefix}) must lie where all graders can read, for "
            "example in /opt, and not in anybody's home"
        )


# Prints the first of some paths that the account may not enter or execute.
_FIRST_CLOSED = 'for path; do [ -x "$path" ] || { printf %s "$path"; exit; }; done'


def find_closed(program: Path, account: str) -> Path:
    """Find the folder or file whose permissions keep an account from running a program.

    It is the program itself if no other is found.
    """
    account_entry = pwd.getpwnam(account)
    real = program.resolve()
    steps = [*reversed(real.parents), real, *reversed(program.parents), program]
    process = subprocess.run(
        ["/bin/sh", "-c", _FIRST_CLOSED, "sh", *steps], capture_output=True, text=True,
        user=account_entry.pw_uid, group=account_entry.pw_gid, cwd="/", check=False,
        extra_groups=os.getgrouplist(account, account_entry.pw_gid),
    )  # fmt: skip
    return Path(process.stdout or program)
