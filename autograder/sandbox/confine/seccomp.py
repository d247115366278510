"""The filter of system calls (seccomp), as BPF instructions."""

from __future__ import annotations

import ctypes
import socket
import struct
from collections.abc import Mapping

from autograder.sandbox.confine.calls import (
    ATTRIBUTES,
    DENIED,
    LAST_KNOWN,
    NR_CLONE,
    NR_CLONE3,
    NR_IOCTL,
    NR_PRLIMIT,
    NR_SETSOCKOPT,
    NR_SOCKET,
    NR_SOCKETPAIR,
    SCHEDULING,
    SESSIONS,
    numbers,
)
from autograder.sandbox.confine.system import NEW_ANY, PR_SET_SECCOMP, X86, prctl

_AUDIT_ARCH = 0xC000003E if X86 else 0xC00000B7
_TIOCSTI, _TIOCLINUX, _TIOCSCTTY = 0x5412, 0x541C, 0x540E
_SO_LINGER = socket.SO_LINGER
_LOAD, _IF_EQUAL, _IF_GREATER, _IF_ANY_BIT, _RETURN = 0x20, 0x15, 0x25, 0x45, 0x06
_ALLOW, _KILL, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
_EPERM, _ENOSYS = 1, 38


def _step(code: int, value: int, yes: int = 0, no: int = 0) -> bytes:
    """Encode a BPF instruction, with its operand `value`.

    A comparison skips the next `yes` instructions if it holds, else the next `no`.
    """
    return struct.pack("HBBI", code, yes, no, value)


def _answer(number: int, errno: int) -> bytes:
    """BPF code by which call `number` fails with `errno` (0: succeeds, no effect)."""
    return _step(_IF_EQUAL, number, 0, 1) + _step(_RETURN, _ERRNO | errno)


def _argument(
    number: int, index: int, listed: Mapping[int, int], default: int, test: int
) -> bytes:
    """Return BPF code that decides call `number` by its argument at position `index`.

    `listed` maps values of the argument to answers (`_ALLOW`, `_KILL` or `_ERRNO`),
    `default` is the answer for all others, and `test` the comparison (`_IF_...`).
    """
    # The arguments begin at byte 16 of the data that a filter sees.
    body = _step(_LOAD, 16 + 8 * index)  # low half: little-endian
    for value, answer in listed.items():
        body += _step(test, value, 0, 1) + _step(_RETURN, answer)
    body += _step(_RETURN, default)
    # Other calls skip the body; an instruction has 8 bytes.
    return _step(_IF_EQUAL, number, 0, len(body) // 8) + body


def _filter(level: str) -> bytes:
    """The filter of system calls for a confinement level, as BPF instructions."""
    # Sockets of the sandbox's own, empty network; libzmq asks netlink for interfaces.
    local = (socket.AF_UNIX, socket.AF_INET, socket.AF_INET6, socket.AF_NETLINK)
    families = dict.fromkeys(() if level == "landlock" else map(int, local), _ALLOW)
    ignored = SCHEDULING | SESSIONS | (ATTRIBUTES if level == "landlock" else {})
    deny, ignore = _ERRNO | _EPERM, _ERRNO
    # There is no session leader, so no pseudo-terminal (IPython's `!`) can control a
    # session.
    terminal = {_TIOCSTI: deny, _TIOCLINUX: deny, _TIOCSCTTY: ignore}
    steps = [
        # Byte 4 has the architecture, and byte 0 the number of the call.
        _step(_LOAD, 4) + _step(_IF_EQUAL, _AUDIT_ARCH, 1, 0) + _step(_RETURN, _KILL),
        _step(_LOAD, 0),
        _step(_IF_GREATER, LAST_KNOWN, 0, 1) + _step(_RETURN, _ERRNO | _ENOSYS),
        _answer(NR_CLONE3, _ENOSYS),  # its flags are in memory; clone is used instead
        *(_answer(number, _EPERM) for number in numbers(DENIED)),
        *(_answer(number, 0) for number in numbers(ignored)),
        _argument(NR_CLONE, 0, {NEW_ANY: deny}, _ALLOW, _IF_ANY_BIT),
        _argument(NR_PRLIMIT, 0, {0: _ALLOW}, deny, _IF_EQUAL),
        _argument(NR_IOCTL, 1, terminal, _ALLOW, _IF_EQUAL),
        _argument(NR_SOCKET, 0, families, deny, _IF_EQUAL),
        # A lingering socket could be sent to us over a channel; closing it, we would
        # wait as long as it says. The call "succeeds" without effect. The same number
        # at other levels means little in a network without any other machine.
        _argument(NR_SETSOCKOPT, 2, {_SO_LINGER: ignore}, _ALLOW, _IF_EQUAL),
    ]
    if level == "landlock":  # a datagram pair can be sent to any path of the host
        datagram = {socket.SOCK_DGRAM.value: deny}
        steps.append(_argument(NR_SOCKETPAIR, 1, datagram, _ALLOW, _IF_ANY_BIT))
    return b"".join(steps) + _step(_RETURN, _ALLOW)


def refuse_calls(level: str) -> None:
    """Filter the system calls of the calling process and of all that it starts."""
    code = ctypes.create_string_buffer(_filter(level))
    program = struct.pack("HxxxxxxP", len(code) // 8, ctypes.addressof(code))
    prctl(PR_SET_SECCOMP, 2, program)
