"""System calls that a sandbox may not make, by their numbers on two architectures."""

from __future__ import annotations

from autograder.sandbox.confine.system import X86

# name: (x86_64, aarch64); None if the architecture has no such call.
Calls = dict[str, tuple[int | None, int | None]]

DENIED: Calls = {
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
    # memory that no limit of the sandbox counts, and shared memory and queues by id
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
    # what a process may do to other processes of its user, by their ids
    "pidfd_getfd": (438, 438),
    "process_madvise": (440, 440),
    "process_mrelease": (448, 448),
    "migrate_pages": (256, 238),
    "move_pages": (279, 239),
}

# Scheduling, as it could be that of any process of the user. These calls "succeed"
# without effect, because libzmq aborts if they are refused.
SCHEDULING: Calls = {
    "setpriority": (141, 140),
    "ioprio_set": (251, 30),
    "sched_setparam": (142, 118),
    "sched_setscheduler": (144, 119),
    "sched_setaffinity": (203, 122),
    "sched_setattr": (314, 274),
}

# If the kernel groups processes by session (autogroups), each session has a share of
# the CPUs, and niceness counts only inside it: a sandbox must stay in its session. The
# call "succeeds" without effect, because programs that start others insist on it.
SESSIONS: Calls = {"setsid": (112, 157)}

# Landlock does not govern attributes: where the host's files are in reach, a change of
# mode or time "succeeds" and does nothing (shutil.copy insists on it).
ATTRIBUTES: Calls = {
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

NR_CLONE = 56 if X86 else 220
NR_CLONE3 = 435
NR_SOCKET = 41 if X86 else 198
NR_SOCKETPAIR = 53 if X86 else 199
NR_SETSOCKOPT = 54 if X86 else 208
NR_IOCTL = 16 if X86 else 29
NR_PRLIMIT = 302 if X86 else 261
LAST_KNOWN = 456  # newer calls, and x86's table above 0x40000000, are refused


def numbers(calls: Calls) -> list[int]:
    """Return the numbers of these system calls on this machine.

    Calls that its architecture lacks are left out.
    """
    column = 0 if X86 else 1
    return [n for call in calls.values() if (n := call[column]) is not None]
