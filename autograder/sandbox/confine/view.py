"""Build the sandbox's file system: read-only host paths, and one writable home."""

from __future__ import annotations

import os
import struct
from pathlib import Path

from autograder.sandbox.confine.home import furnish
from autograder.sandbox.confine.policy import HOME, Policy, Room
from autograder.sandbox.confine.system import (
    AT_FDCWD,
    AT_RECURSIVE,
    LIBC,
    MNT_DETACH,
    MS_BIND,
    MS_NODEV,
    MS_NOEXEC,
    MS_NOSUID,
    MS_PRIVATE,
    MS_RDONLY,
    MS_REC,
    NR_MOUNT_SETATTR,
    NR_PIVOT_ROOT,
    check,
    mount,
    syscall,
)


def build_root(policy: Policy, room: Room) -> None:
    """Make a read-only root that shows the visible paths; leave the host's root."""
    root = str(room.slot)
    mount("none", "/", "", MS_REC | MS_PRIVATE)
    mount("sandbox", root, "tmpfs", MS_NOSUID | MS_NODEV, "size=1m,mode=755")
    hidden = set(room.hidden)
    # Outer paths come first, so that what is mounted on paths inside them stays on top.
    for path in sorted({*room.visible, *hidden}, key=lambda p: p.count("/")):
        if path in hidden:
            _mask(path, root)
        else:
            _bind(path, root)
    for path in room.kit:
        _bind(path, root)
    _bind_devices(root)
    os.mkdir(f"{root}/proc")
    mount("proc", f"{root}/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC)
    _write_etc(root, room.uid)
    _mount_home(policy, room, root)
    _read_only(root, recursive=False)
    os.chdir(root)
    # The host's root is put on top of the new one, and unmounted there.
    syscall(NR_PIVOT_ROOT, "pivot_root", b".", b".")
    check(LIBC.umount2(b".", MNT_DETACH), "umount of the host's root")
    os.chdir("/")


def _mount_home(policy: Policy, room: Room, root: str) -> None:
    """Mount the only writable folder, which usually also holds /tmp and /dev/shm."""
    size = f"size={policy.disk_mb}m,nr_inodes={policy.files + 64},mode=700"
    os.makedirs(root + HOME)
    mount("home", root + HOME, "tmpfs", MS_NOSUID | MS_NODEV, size)
    furnish(policy, room, Path(root + HOME))
    for place in ("/tmp", "/dev/shm"):
        # A visible path inside it has created it, so it stays read-only.
        if os.path.lexists(root + place):
            continue
        os.mkdir(root + place)
        mount(f"{root}{HOME}/tmp", root + place, "", MS_BIND)


def _bind(path: str, root: str, *, device: bool = False) -> None:
    """Show a host path below `root`, read-only unless it is a `device`.

    A path that does not exist is skipped.
    """
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
    mount(path, target, "", MS_BIND | MS_REC)
    if not device:
        _read_only(target)


def _read_only(target: str, *, recursive: bool = True) -> None:
    """Make a mount read-only, with those below it if `recursive`.

    Flags are only added, which is allowed even for mounts that are locked.
    """
    flags = MS_RDONLY | MS_NOSUID | MS_NODEV
    attributes = struct.pack("QQQQ", flags, 0, 0, 0)
    below = AT_RECURSIVE if recursive else 0
    args = (AT_FDCWD, os.fsencode(target), below, attributes, len(attributes))
    syscall(NR_MOUNT_SETATTR, f"read-only {target}", *args)


def _mask(path: str, root: str) -> None:
    """Hide a directory in the new `root` by mounting an empty one over it."""
    if os.path.isdir(root + path):
        flags = MS_NOSUID | MS_NODEV
        mount("hidden", root + path, "tmpfs", flags, "size=1m,nr_inodes=1k,mode=755")


def _bind_devices(root: str) -> None:
    """Show harmless devices, and provide new pseudo-terminals."""
    for name in ("null", "zero", "full", "random", "urandom"):
        _bind(f"/dev/{name}", root, device=True)
    os.symlink("/proc/self/fd", f"{root}/dev/fd")
    os.symlink("pts/ptmx", f"{root}/dev/ptmx")
    os.mkdir(f"{root}/dev/pts")
    options = "newinstance,ptmxmode=0666,mode=620"
    mount("devpts", f"{root}/dev/pts", "devpts", MS_NOSUID | MS_NOEXEC, options)


def _write_etc(root: str, uid: int) -> None:
    """Write /etc with the names of the only user, and of none of the host's users."""
    gid = uid if os.getuid() == 0 else os.getgid()
    files = {
        "passwd": f"student:x:{uid}:{gid}::{HOME}:/bin/sh\n",
        "group": f"student:x:{gid}:\n",
        "hosts": "127.0.0.1 localhost sandbox\n",
        "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
    }
    os.makedirs(f"{root}/etc", exist_ok=True)
    for name, text in files.items():
        Path(f"{root}/etc/{name}").write_text(text)
