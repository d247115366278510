"""Walls around one process: the only file of this package that makes system calls.

A supervisor calls `fork(level)`; the child calls `enter(level, policy, room)` and from
then on sees the interpreter, a private working directory and nothing else. Everything
is ordered so that what is given up cannot be had back: namespaces, file system, limits,
user and capabilities, then Landlock and the system-call filter.

Levels, strongest first:

``namespaces``       root: own mounts, network, process table and user id
``user-namespaces``  the same walls built by an ordinary user in a user namespace
``landlock``         Landlock for files and signals, seccomp for the rest; no mounts
``bwrap``            a cold kernel below bubblewrap, which brings its own privileges
``none``             resource limits only

Standard library only, and no import of the rest of the package: `selftest.py` and
`inside.py` run this file by its path inside bubblewrap.
"""

from __future__ import annotations

import ctypes
import dataclasses
import fcntl
import json
import os
import platform
import resource
import shutil
import socket
import stat
import struct
from collections.abc import Callable
from pathlib import Path

LEVELS = ("namespaces", "user-namespaces", "landlock", "bwrap", "none")
NAMESPACES = LEVELS[:2]

# Above every range that systemd gives out (containers end at 0x6fffffff), so that a
# slot's user owns no file. A slot is FIRST_UID + its supervisor's pid: no two at once.
FIRST_UID = 0x70000000

HOME = "/student"  # at the root, where nobody keeps a checkout that must be seen
MB = 1 << 20


class ConfinementError(RuntimeError):
    """A wall could not be built; nothing of the student's may run."""


@dataclasses.dataclass(frozen=True)
class Policy:
    """What a submission may use. Plain values, so that JSON and traitlets can carry it.

    `memory_mb` bounds what each process of the box allocates and what all of them hold
    together; `disk_mb` and `files` bound everything written; `file_mb` one file;
    `processes` counts threads too; `notebook_seconds` is the CPU time of all processes
    together (who starts boxes bounds the time that they sleep: see meter.py).
    `readable` adds paths the box may read, `hidden` takes paths away again that lie
    below a readable one. `level` forces one level instead of the strongest that works.
    `allow_unconfined` lets ``none`` be used.
    """

    memory_mb: int = 2048
    processes: int = 128
    open_files: int = 512
    file_mb: int = 64
    disk_mb: int = 256
    files: int = 4096
    notebook_seconds: float = 900.0
    readable: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()
    level: str = ""
    allow_unconfined: bool = False

    def __post_init__(self) -> None:
        """Refuse what cannot be a limit. Raises ValueError."""
        for name in ("memory_mb", "processes", "open_files", "file_mb", "disk_mb"):
            if not 0 < getattr(self, name) < 1 << 30:
                raise ValueError(f"{name} must be a positive number")
        if not 0 < self.notebook_seconds < 1e9 or not 0 < self.files < 1 << 30:
            raise ValueError("notebook_seconds and files must be positive")
        if self.level and self.level not in LEVELS:
            raise ValueError(f"{self.level!r} is none of {', '.join(LEVELS)}")
        for name in ("readable", "hidden"):
            object.__setattr__(self, name, tuple(getattr(self, name)))

    @classmethod
    def from_json(cls, text: str) -> Policy:
        """Read what `to_json` wrote. Raises ValueError, TypeError on anything else."""
        return cls(**json.loads(text))

    def to_json(self) -> str:
        """The policy as one line of JSON."""
        return json.dumps(dataclasses.asdict(self))


@dataclasses.dataclass(frozen=True)
class Room:
    """Where one box stands on the host and what is carried into it.

    `slot` is the box's own directory on the host; `submission` is copied in;
    `visible` are the paths that can be read, `hidden` those below them that cannot,
    `kit` single files and folders that are visible although they lie below a hidden
    path. `uid` is the user inside.
    """

    slot: Path
    submission: Path | None
    visible: tuple[str, ...]
    hidden: tuple[str, ...]
    kit: tuple[str, ...]
    uid: int

    def home(self, level: str) -> Path:
        """The student's home directory as the box sees it at `level`."""
        return self.slot / "home" if level in ("landlock", "none") else Path(HOME)


# ------------------------------------------------------------------ system calls

_libc = ctypes.CDLL(None, use_errno=True)
_X86 = platform.machine() == "x86_64"

# Numbers for calls that the C library does not wrap; above 423 all machines agree.
_NR_CAPSET = 126 if _X86 else 91
_NR_PIVOT_ROOT = 155 if _X86 else 41
_NR_MOUNT_SETATTR = 442
_NR_LANDLOCK_CREATE, _NR_LANDLOCK_ADD, _NR_LANDLOCK_RESTRICT = 444, 445, 446

_NEWNS, _NEWCGROUP, _NEWUTS, _NEWIPC = 0x20000, 0x2000000, 0x4000000, 0x8000000
_NEWUSER, _NEWPID, _NEWNET, _NEWTIME = 0x10000000, 0x20000000, 0x40000000, 0x80
_NEW_ANY = (
    _NEWNS | _NEWCGROUP | _NEWUTS | _NEWIPC | _NEWUSER | _NEWPID | _NEWNET | _NEWTIME
)

_MS_RDONLY, _MS_NOSUID, _MS_NODEV, _MS_NOEXEC = 1, 2, 4, 8
_MS_BIND, _MS_REC, _MS_PRIVATE = 0x1000, 0x4000, 0x40000
_MNT_DETACH, _AT_FDCWD, _AT_RECURSIVE = 2, -100, 0x8000

_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_SECCOMP = 1, 4, 22
_PR_CAPBSET_DROP, _PR_SET_CHILD_SUBREAPER, _PR_SET_NO_NEW_PRIVS = 24, 36, 38


def _check(result: int, what: str) -> int:
    """Turn a C library's -1 into an OSError that says which wall failed."""
    if result == -1:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def _syscall(number: int, what: str, *args: object) -> int:
    longs = [ctypes.c_long(arg) if isinstance(arg, int) else arg for arg in args]
    return _check(_libc.syscall(ctypes.c_long(number), *longs), what)


def _prctl(option: int, *args: object) -> int:
    longs = [ctypes.c_ulong(arg) if isinstance(arg, int) else arg for arg in args]
    longs += [ctypes.c_ulong(0)] * (4 - len(longs))
    return _check(_libc.prctl(option, *longs), f"prctl {option}")


def _unshare(flags: int) -> None:
    _check(_libc.unshare(flags), "unshare")


def _mount(source: str, target: str, kind: str, flags: int, data: str = "") -> None:
    args = (os.fsencode(source), os.fsencode(target), kind.encode() or None)
    result = _libc.mount(*args, ctypes.c_ulong(flags), data.encode() or None)
    _check(result, f"mount {target}")


# ------------------------------------------------------------------ forking


def fork(level: str) -> int:
    """Fork the box's first process; returns its pid, or 0 in the child.

    The caller must be a throw-away supervisor: its own children to come are moved to
    the new process namespace. Below namespaces it becomes the box's reaper instead, so
    that a daemonised grandchild comes back to it. Raises OSError.
    """
    if level == "user-namespaces":
        uid, gid = os.getuid(), os.getgid()
        _unshare(_NEWUSER | _NEWPID)
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{uid} {uid} 1")
        Path("/proc/self/gid_map").write_text(f"{gid} {gid} 1")
    elif level == "namespaces":
        _unshare(_NEWPID)
    else:
        adopt_orphans()
    return os.fork()


def adopt_orphans() -> None:
    """Make the calling process the parent of all that its children leave behind."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def slot_uid(supervisor: int) -> int:
    """The user id inside a box: one per supervisor pid if we are root, else our own."""
    return FIRST_UID + supervisor if os.getuid() == 0 else os.getuid()


def enter(level: str, policy: Policy, room: Room) -> None:
    """Close the calling process in. At ``bwrap``, bubblewrap has built the outer walls.

    Afterwards the process is `room.uid`, stands in its private working directory, and
    has no capability. Raises OSError or ConfinementError: then nothing may run in it.
    """
    os.umask(0o022)
    if level in NAMESPACES:
        _unshare(_NEWNS | _NEWNET | _NEWIPC | _NEWUTS | _NEWCGROUP)
        _loopback_up()
        socket.sethostname("box")
        _build_root(policy, room)
    else:
        furnish(policy, room, room.home(level))
    _set_limits(level, policy)
    if level != "none":
        _drop_privileges(room.uid)
    _prctl(_PR_SET_PDEATHSIG, 9)
    if level == "landlock":
        _landlock(room)
    if level != "none":
        _seccomp(level)
    os.chdir(room.home(level) / "work")


def _loopback_up() -> None:
    """ipykernel and many a tutorial talk to 127.0.0.1, here inside the box."""
    siocsifflags, up_and_running = 0x8914, 0x41
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as anything:
        request = struct.pack("16sH14x", b"lo", up_and_running)
        fcntl.ioctl(anything, siocsifflags, request)


# ------------------------------------------------------------------ file system


def _build_root(policy: Policy, room: Room) -> None:
    """A read-only root of our own with binds of what is visible; leave the host's."""
    root = str(room.slot)
    _mount("none", "/", "", _MS_REC | _MS_PRIVATE)
    _mount("box", root, "tmpfs", _MS_NOSUID | _MS_NODEV, "size=1m,mode=755")
    hidden = set(room.hidden)
    for path in sorted({*room.visible, *hidden}, key=lambda p: p.count("/")):
        if path in hidden:
            _mask(path, root)
        else:
            _bind(path, root)
    for path in room.kit:
        _bind(path, root)
    _bind_devices(root)
    os.mkdir(f"{root}/proc")
    _mount("proc", f"{root}/proc", "proc", _MS_NOSUID | _MS_NODEV | _MS_NOEXEC)
    _write_etc(root, room.uid)
    _mount_home(policy, room, root)
    _read_only(root, recursive=False)
    os.chdir(root)
    _syscall(_NR_PIVOT_ROOT, "pivot_root", b".", b".")
    _check(_libc.umount2(b".", _MNT_DETACH), "umount of the host's root")
    os.chdir("/")


def _mount_home(policy: Policy, room: Room, root: str) -> None:
    """The one place that can be written; /tmp and /dev/shm lie in it too.

    Except a /tmp in which something visible lies, say a checkout: TMPDIR serves then.
    """
    size = f"size={policy.disk_mb}m,nr_inodes={policy.files + 64},mode=700"
    os.makedirs(root + HOME)
    _mount("home", root + HOME, "tmpfs", _MS_NOSUID | _MS_NODEV, size)
    furnish(policy, room, Path(root + HOME))
    for place in ("/tmp", "/dev/shm"):
        if os.path.lexists(root + place):
            continue
        os.mkdir(root + place)
        _mount(f"{root}{HOME}/tmp", root + place, "", _MS_BIND)


def _bind(path: str, root: str, *, device: bool = False) -> None:
    """Show a host path, if there is one, at the same place below `root`, read-only."""
    target = root + path
    if os.path.islink(path) and not os.path.lexists(target):
        os.makedirs(os.path.dirname(target), exist_ok=True)
        os.symlink(os.readlink(path), target)
        return
    if not os.path.exists(path):
        return
    if os.path.isdir(path):
        os.makedirs(target, exist_ok=True)
    elif not os.path.exists(target):
        os.makedirs(os.path.dirname(target), exist_ok=True)
        os.close(os.open(target, os.O_CREAT, 0o644))
    _mount(path, target, "", _MS_BIND | _MS_REC)
    if not device:
        _read_only(target)


def _read_only(target: str, *, recursive: bool = True) -> None:
    """Only adds flags: allowed on mounts that a user namespace has locked."""
    flags = _MS_RDONLY | _MS_NOSUID | _MS_NODEV
    attributes = struct.pack("QQQQ", flags, 0, 0, 0)
    below = _AT_RECURSIVE if recursive else 0
    args = (_AT_FDCWD, os.fsencode(target), below, attributes, len(attributes))
    _syscall(_NR_MOUNT_SETATTR, f"read-only {target}", *args)


def _mask(path: str, root: str) -> None:
    """Cover a path below a visible one with an empty directory."""
    if os.path.isdir(root + path):
        flags = _MS_NOSUID | _MS_NODEV
        _mount("hidden", root + path, "tmpfs", flags, "size=1m,nr_inodes=64,mode=755")


def _bind_devices(root: str) -> None:
    for name in ("null", "zero", "full", "random", "urandom"):
        _bind(f"/dev/{name}", root, device=True)
    os.symlink("/proc/self/fd", f"{root}/dev/fd")
    os.symlink("pts/ptmx", f"{root}/dev/ptmx")
    os.mkdir(f"{root}/dev/pts")
    options = "newinstance,ptmxmode=0666,mode=620"
    _mount("devpts", f"{root}/dev/pts", "devpts", _MS_NOSUID | _MS_NOEXEC, options)


def _write_etc(root: str, uid: int) -> None:
    """Names for the one user there is; the host's users are nobody's affair here."""
    gid = uid if os.getuid() == 0 else os.getgid()
    files = {
        "passwd": f"student:x:{uid}:{gid}::{HOME}:/bin/sh\n",
        "group": f"student:x:{gid}:\n",
        "hosts": "127.0.0.1 localhost box\n",
        "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
    }
    os.makedirs(f"{root}/etc", exist_ok=True)
    for name, text in files.items():
        Path(f"{root}/etc/{name}").write_text(text)


def furnish(policy: Policy, room: Room, home: Path) -> None:
    """Make the student's directories and copy the submission in.

    Everything the student may write belongs to `room.uid`. Raises ConfinementError if
    the submission is larger than half the disk the box gets.
    """
    home.mkdir(parents=True, mode=0o700, exist_ok=True)
    for name in ("work", "tmp", "cache", "ipython", "matplotlib"):
        (home / name).mkdir(exist_ok=True)
    if room.submission is not None:
        copy_submission(room.submission, home / "work", policy)
    if room.uid != os.getuid():
        for path in [home, *home.rglob("*")]:
            os.chown(path, room.uid, room.uid, follow_symlinks=False)


def copy_submission(source: Path, target: Path, policy: Policy) -> None:
    """Copy regular files and directories; links, pipes and devices stay outside.

    Raises ConfinementError over the caps of `policy` (half its disk, its file count).
    """
    left, files = policy.disk_mb * MB // 2, policy.files // 2
    for folder, _, names, handle in os.fwalk(source, follow_symlinks=False):
        place = target / Path(folder).relative_to(source)
        place.mkdir(exist_ok=True)
        files -= 1
        for name in names:
            files -= 1
            if files < 0 or left < 0:
                raise ConfinementError("the submission is too large for its box")
            left -= _copy_regular(handle, name, place / name, left)


def _copy_regular(folder: int, name: str, target: Path, most: int) -> int:
    """Copy one file if it is a plain one; returns its size in bytes."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        source = open(os.open(name, flags, dir_fd=folder), "rb")  # noqa: SIM115
    except OSError:
        return 0
    with source:
        status = os.fstat(source.fileno())
        if not stat.S_ISREG(status.st_mode):
            return 0
        if status.st_size > most:
            raise ConfinementError("the submission is too large for its box")
        with open(target, "wb") as copy:
            shutil.copyfileobj(source, copy)
        return status.st_size


# ------------------------------------------------------------------ limits and user


def _set_limits(level: str, policy: Policy) -> None:
    """Bounds per process; the supervisor watches the sum.

    RLIMIT_DATA counts what a process could touch, so an allocation over it fails as a
    MemoryError and the kernel lives on. What the warm process holds is on top of it.
    """
    status = Path("/proc/self/status").read_text()
    held = int(status.split("VmData:")[1].split()[0]) * 1024
    processes = policy.processes + _shared_count(level)
    limits = {
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_MSGQUEUE: 0,
        resource.RLIMIT_DATA: held + policy.memory_mb * MB,
        resource.RLIMIT_FSIZE: policy.file_mb * MB,
        resource.RLIMIT_NOFILE: policy.open_files,
        resource.RLIMIT_NPROC: processes,
    }
    for name, value in limits.items():
        _, most = resource.getrlimit(name)
        value = value if most == resource.RLIM_INFINITY else min(value, most)
        resource.setrlimit(name, (value, value))
    with open("/proc/self/oom_score_adj", "w") as score:
        score.write("1000")  # if the machine runs out, the box goes first


def _shared_count(level: str) -> int:
    """Threads that count against this user's limit although they are not the box's."""
    if os.getuid() == 0 or level in ("user-namespaces", "bwrap"):
        return 0
    count = 0
    for entry in os.scandir("/proc"):
        try:
            if entry.name.isdigit() and entry.stat().st_uid == os.getuid():
                count += len(os.listdir(f"/proc/{entry.name}/task"))
        except OSError:  # it has just ended
            continue
    return count


def _drop_privileges(uid: int) -> None:
    if os.getuid() == 0:
        for capability in range(64):
            try:
                _prctl(_PR_CAPBSET_DROP, capability)
            except OSError:
                break  # the first number that this kernel does not know
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
    version_3 = struct.pack("Ii", 0x20080522, 0)
    _syscall(_NR_CAPSET, "capset", version_3, bytes(24))
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)
    _prctl(_PR_SET_DUMPABLE, 1)  # a change of user hides /proc/self from its owner


# ------------------------------------------------------------------ Landlock

_FS_EXECUTE, _FS_WRITE, _FS_READ, _FS_READ_DIR = 1, 2, 4, 8
_FS_REMOVE_FILE, _FS_MAKE_REG, _FS_TRUNCATE = 1 << 5, 1 << 8, 1 << 14
_FS_ALL = (1 << 16) - 1
_FS_OF_FILES = _FS_EXECUTE | _FS_WRITE | _FS_READ | _FS_TRUNCATE | 1 << 15
_FS_DEVICES = 1 << 6 | 1 << 11

_READ_ONLY = _FS_EXECUTE | _FS_READ | _FS_READ_DIR
_PROC = ("cpuinfo", "meminfo", "stat", "self/status", "self/stat", "self/statm")


def _landlock(room: Room) -> None:
    """Files, TCP, abstract sockets and signals. Needs ABI 6 (Linux 6.12) for the last.

    Without its own mounts the box must name semaphores in the host's /dev/shm: it may
    make and remove files there, but not list them.
    """
    abi = _syscall(_NR_LANDLOCK_CREATE, "Landlock", None, 0, 1)
    if abi < 6:
        raise ConfinementError(f"Landlock ABI {abi} does not confine signals")
    tcp, scoped = 3, 3
    ruleset_attributes = struct.pack("QQQ", _FS_ALL, tcp, scoped)
    ruleset = _syscall(_NR_LANDLOCK_CREATE, "Landlock", ruleset_attributes, 24, 0)
    hidden = {os.path.realpath(path) for path in room.hidden}
    for path in room.visible:
        _allow_around(ruleset, os.path.realpath(path), hidden)
    for path in room.kit:
        _allow(ruleset, path, _READ_ONLY)
    for name in _PROC:
        _allow(ruleset, f"/proc/{name}", _FS_READ)
    _allow(ruleset, "/proc/self/fd", _FS_READ_DIR | _FS_READ)
    for name in ("zero", "random", "urandom"):
        _allow(ruleset, f"/dev/{name}", _FS_READ)
    _allow(ruleset, "/dev/null", _FS_READ | _FS_WRITE | _FS_TRUNCATE)
    semaphores = _FS_READ | _FS_WRITE | _FS_MAKE_REG | _FS_REMOVE_FILE | _FS_TRUNCATE
    _allow(ruleset, "/dev/shm", semaphores)
    _allow(ruleset, str(room.home("landlock")), _FS_ALL & ~_FS_DEVICES)
    _syscall(_NR_LANDLOCK_RESTRICT, "Landlock", ruleset, 0)
    os.close(ruleset)


def _allow_around(ruleset: int, path: str, hidden: set[str]) -> None:
    """Allow reading `path` except below `hidden`: rules only add, so go round it."""
    if path in hidden:
        return
    if not any(other.startswith(path.rstrip("/") + "/") for other in hidden):
        _allow(ruleset, path, _READ_ONLY)
        return
    _allow(ruleset, path, _FS_READ_DIR)
    for name in os.listdir(path):
        _allow_around(ruleset, os.path.join(path, name), hidden)


def _allow(ruleset: int, path: str, access: int) -> None:
    try:
        handle = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return  # what is not there needs no permission
    if not stat.S_ISDIR(os.fstat(handle).st_mode):
        access &= _FS_OF_FILES
    rule = struct.pack("=Qi", access, handle)
    _syscall(_NR_LANDLOCK_ADD, f"Landlock {path}", ruleset, 1, rule, 0)
    os.close(handle)


# ------------------------------------------------------------------ seccomp

# name: (x86_64, aarch64); None where the machine has no such call.
_DENIED: dict[str, tuple[int | None, int | None]] = {
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "kcmp": (312, 272),
    "unshare": (272, 97),
    "setns": (308, 268),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "fanotify_init": (300, 262),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "reboot": (169, 142),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "acct": (163, 89),
    "syslog": (103, 116),
    "vhangup": (153, 58),
    "personality": (135, 92),
    # memory that no limit of the box counts, and that of other processes by number
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "shmget": (29, 194),
    "shmat": (30, 196),
    "shmctl": (31, 195),
    "semget": (64, 190),
    "semop": (65, 193),
    "semtimedop": (220, 192),
    "semctl": (66, 191),
    "msgget": (68, 186),
    "msgsnd": (69, 189),
    "msgrcv": (70, 188),
    "msgctl": (71, 187),
    "mq_open": (240, 180),
    # what one user's process may do to another's by its number
    "pidfd_getfd": (438, 438),
    "process_madvise": (440, 440),
    "process_mrelease": (448, 448),
    "migrate_pages": (256, 238),
    "move_pages": (279, 239),
}

# Scheduling of any of the user's processes: "succeeds", as libzmq aborts if refused.
_SCHEDULING: dict[str, tuple[int | None, int | None]] = {
    "setpriority": (141, 140),
    "ioprio_set": (251, 30),
    "sched_setparam": (142, 118),
    "sched_setscheduler": (144, 119),
    "sched_setaffinity": (203, 122),
    "sched_setattr": (314, 274),
}

# Landlock does not govern attributes: where the host's files are in reach, a change of
# mode or time "succeeds" and does nothing (shutil.copy insists on it).
_ATTRIBUTES: dict[str, tuple[int | None, int | None]] = {
    "chmod": (90, None),
    "fchmod": (91, 52),
    "fchmodat": (268, 53),
    "fchmodat2": (452, 452),
    "chown": (92, None),
    "fchown": (93, 55),
    "lchown": (94, None),
    "fchownat": (260, 54),
    "utime": (132, None),
    "utimes": (235, None),
    "futimesat": (261, None),
    "utimensat": (280, 88),
    "setxattr": (188, 5),
    "lsetxattr": (189, 6),
    "fsetxattr": (190, 7),
    "removexattr": (197, 14),
    "lremovexattr": (198, 15),
    "fremovexattr": (199, 16),
}

_NR_CLONE = 56 if _X86 else 220
_NR_CLONE3 = 435
_NR_SOCKET = 41 if _X86 else 198
_NR_SOCKETPAIR = 53 if _X86 else 199
_NR_IOCTL = 16 if _X86 else 29
_NR_PRLIMIT = 302 if _X86 else 261
_LAST_KNOWN = 456  # newer calls, and x86's second table above 0x40000000: not here

_AUDIT_ARCH = 0xC000003E if _X86 else 0xC00000B7
_TIOCSTI, _TIOCLINUX = 0x5412, 0x541C
_LOAD, _IF_EQUAL, _IF_GREATER, _IF_ANY_BIT, _RETURN = 0x20, 0x15, 0x25, 0x45, 0x06
_ALLOW, _KILL, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
_EPERM, _ENOSYS = 1, 38


def _step(code: int, value: int, yes: int = 0, no: int = 0) -> bytes:
    return struct.pack("HBBI", code, yes, no, value)


def _answer(number: int, errno: int) -> bytes:
    """If the call is `number`, it fails with `errno` (0: it does nothing)."""
    return _step(_IF_EQUAL, number, 0, 1) + _step(_RETURN, _ERRNO | errno)


def _argument(
    number: int, index: int, values: tuple[int, ...], listed: int, other: int, test: int
) -> bytes:
    """If the call is `number`: `listed` when argument `index` is in `values`."""
    tests = [_step(test, v, len(values) - i) for i, v in enumerate(values)]
    low_half = _step(_LOAD, 16 + 8 * index)  # both machines are little-endian
    body = b"".join([low_half, *tests, _step(_RETURN, other), _step(_RETURN, listed)])
    return _step(_IF_EQUAL, number, 0, len(body) // 8) + body


def _filter(level: str) -> bytes:
    """The system-call filter as BPF instructions."""
    # Sockets of the box's own, empty network; libzmq asks netlink for interfaces.
    own = (socket.AF_UNIX, socket.AF_INET, socket.AF_INET6, socket.AF_NETLINK)
    families = () if level == "landlock" else tuple(map(int, own))
    column = 0 if _X86 else 1
    denied = [numbers[column] for numbers in _DENIED.values()]
    ignored = _SCHEDULING | (_ATTRIBUTES if level == "landlock" else {})
    ignored = [numbers[column] for numbers in ignored.values()]
    deny = _ERRNO | _EPERM
    steps = [
        _step(_LOAD, 4) + _step(_IF_EQUAL, _AUDIT_ARCH, 1, 0) + _step(_RETURN, _KILL),
        _step(_LOAD, 0),
        _step(_IF_GREATER, _LAST_KNOWN, 0, 1) + _step(_RETURN, _ERRNO | _ENOSYS),
        _answer(_NR_CLONE3, _ENOSYS),  # its flags lie in memory; clone is used instead
        *(_answer(number, _EPERM) for number in denied if number is not None),
        *(_answer(number, 0) for number in ignored if number is not None),
        _argument(_NR_CLONE, 0, (_NEW_ANY,), deny, _ALLOW, _IF_ANY_BIT),
        _argument(_NR_PRLIMIT, 0, (0,), _ALLOW, deny, _IF_EQUAL),
        _argument(_NR_IOCTL, 1, (_TIOCSTI, _TIOCLINUX), deny, _ALLOW, _IF_EQUAL),
        _argument(_NR_SOCKET, 0, families, _ALLOW, deny, _IF_EQUAL),
    ]
    if level == "landlock":  # a datagram pair can be sent to any path of the host
        datagram = (socket.SOCK_DGRAM.value,)
        steps.append(_argument(_NR_SOCKETPAIR, 1, datagram, deny, _ALLOW, _IF_ANY_BIT))
    return b"".join(steps) + _step(_RETURN, _ALLOW)


def _seccomp(level: str) -> None:
    code = ctypes.create_string_buffer(_filter(level))
    program = struct.pack("HxxxxxxP", len(code) // 8, ctypes.addressof(code))
    _prctl(_PR_SET_SECCOMP, 2, program)


def forbidden_calls() -> list[str]:
    """Names of calls that ought to be refused in a box and were not (self-test)."""
    ptrace_me = 0
    calls = {
        "ptrace": lambda: _check(_libc.ptrace(ptrace_me, 0, None, None), "ptrace"),
        "unshare": lambda: _unshare(_NEWUSER),
        "mount": lambda: _mount("none", HOME, "tmpfs", 0),
    }
    return [name for name, call in calls.items() if _succeeds(call)]


def _succeeds(call: Callable[[], object]) -> bool:
    try:
        call()
    except OSError:
        return False
    return True
