"""Attacks on the seams: the judge's channel, and the sockets of the kernel.

Who holds a socket in the sandbox need not be who was given it: a child inherits all.
"""

from __future__ import annotations

from tests.attacks.attack import CHANNEL, DESIGN, HARMING, MACHINE, Attack, answer_both

DEAF = (
    CHANNEL
    + """
from autograder.checks import agent
agent.serve = lambda *a: None
def child(work):
    if os.fork() == 0:
        try: work()
        finally: os._exit(0)
"""
)

# Sockets that lead out of the sandbox, but for the judge's: those of the kernel's
# client.
PARTS = """
import os, socket, threading
judge = os.environ["AUTOGRADER_CHANNEL_FD"]
def outward():
    for name in os.listdir("/proc/self/fd"):
        try:
            one = socket.socket(fileno=os.dup(int(name)))
            one.getpeername()
        except OSError:
            continue
        if name != judge and one.family == socket.AF_UNIX:
            one.setblocking(True)
            yield one
def send_all(parts, again=False):
    def send(one):
        try:
            while True:
                one.sendall(parts)
                if not again: return
        except OSError: return
    senders = [threading.Thread(target=send, args=(one,)) for one in outward()]
    for one in senders: one.start()
    for one in senders: one.join()
def part(size): return b"\\x03" + size.to_bytes(8, "big")
"""

# fmt: off
SEAMS: list[Attack] = [
    Attack(DESIGN, "junk for the judge without end", before=DEAF + """
def work():
    while True: send("junk")
child(work)
"""),
    Attack(DESIGN, "junk for the judge in a trickle", before=DEAF + """
def work():
    while True:
        send("junk")
        time.sleep(0.3)
child(work)
"""),
    Attack(DESIGN, "bytes for the judge in a trickle", before=DEAF + """
def work():
    while True:
        channel.sendall(b"\\0")
        time.sleep(0.3)
child(work)
"""),
    Attack(DESIGN, "half a message for the judge", before=DEAF + """
channel.sendall(b"\\0\\0\\1\\0" + b'{"kind": "ready", ')
"""),
    Attack(DESIGN, "half a message before the answers", before=CHANNEL + """
channel.sendall(b"\\0\\0\\0\\100" + b'{"kind": "answer", ')
"""),
    Attack(DESIGN, "answers without end from a child", before=CHANNEL + """
from autograder.checks import agent
def serve(name, ticket, get):
    send("ready", [{"name": "ticket", "text": ticket}])
    if os.fork() == 0:
        while True:
            try: send("answer", [{"name": "raised", "text": "x" * 1000}])
            except OSError: os._exit(0)
agent.serve = serve
"""),
    Attack(DESIGN, "memory of the server of sandboxes", before="""
import ctypes, re
found = set()
for line in open("/proc/self/maps"):
    place, modes, *_ = line.split(maxsplit=5)
    first, last = (int(end, 16) for end in place.split("-"))
    if modes.startswith("rw") and "[v" not in line and last - first < 1 << 28:
        held = ctypes.string_at(first, last - first)
        found |= set(re.findall(rb"/([a-z-]+)[+]02_attention[+]", held))
for name in found:
    if not name.startswith(b"m-memory-of"): print("STOLEN " + name.decode())
"""),
    Attack(HARMING, "parts without end", harms=MACHINE, before=PARTS + """
send_all(part(15 << 20) + bytes(15 << 20), again=True)
"""),
    Attack(HARMING, "empty parts without end", harms=MACHINE, before=PARTS + """
send_all(b"\\1\\0" * (1 << 16), again=True)
"""),
    Attack(HARMING, "half a message on each socket", harms=MACHINE, before=PARTS + """
send_all(part(15 << 20) + bytes(7 << 20))
"""),
    Attack(HARMING, "another protocol on each socket", before=PARTS + """
send_all(b"\\xff" + bytes(8) + b"\\x7f\\x01" + b"x" * 600)
"""),
    Attack(HARMING, "memory of the host left behind", harms=MACHINE, before="""
import os
try:
    for n in range(40):
        with open(f"/dev/shm/left-{n}", "wb") as file:
            os.posix_fallocate(file.fileno(), 0, 15 << 20)
except OSError as error:
    print(error)
""", answers=answer_both("pass")),
]
