"""Attacks by amounts that no single limit is about, and by misleading text."""

from __future__ import annotations

import base64

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell

from tests.attacks.attack import (
    CHANNEL,
    DESIGN,
    HARMING,
    HOST,
    LEAKING,
    MACHINE,
    MALFORMED,
    Attack,
    answer_both,
)

_PICTURE = base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(600_000)).decode()


def _saved(content: bytes, size: int) -> bytes:
    """A notebook with one cell whose saved outputs are something, again and again."""
    outputs = content * max(size // len(content), 1)
    return (
        b'{"nbformat": 4, "cells": [{"cell_type": "code", "outputs": [%s]}]}' % outputs
    )


def _one_text(letters: str, size: int) -> bytes:
    text = letters.encode()
    return _saved(b'{"text": "%s"}' % (text * (size // len(text))), size)


def _one_picture(nb: NotebookNode) -> None:
    cell = new_markdown_cell("![](attachment:a)" * 4000)
    cell.attachments = {"a": {"image/png": _PICTURE}}
    nb.cells.insert(1, cell)


# fmt: off
AMOUNTS: list[Attack] = [
    # --- what is saved, and what stands beside it ------------------------------------
    Attack(MALFORMED, "lists without end among saved outputs", harms=MACHINE,
           data=lambda data: _saved(b"[],", 90 << 20)[:-4] + b"0]}]}"),
    Attack(MALFORMED, "wide letters among saved outputs", harms=MACHINE,
           data=lambda data: _one_text("\U0001f600" + "a" * 999, 90 << 20)),
    Attack(MALFORMED, "twenty notebooks of lists", harms=MACHINE, files={
        f"copy{n}.ipynb": _saved(b"[],", 3 << 20)[:-4] + b"0]}]}" for n in range(20)}),
    Attack(MALFORMED, "a secret that is no text", files={
        "submission_secret.txt": b"\xff\xfe\x00" * 9, "timestamp.txt": b"\xff" * 30}),
    Attack(MALFORMED, "lines that end early",
           answers=answer_both("x = 5.0  # \rdef stable_softmax(x): return x\r"
                        "def who_sees_whom(layer, x): return x\r"
                        "\r\n\x0b\x0c\x1c\x85\u2028"),
           change=lambda nb: nb.cells.append(new_markdown_cell(
               "a\rzoe,,5,good\r\n=cmd|'/C calc'!A0"))),
    # --- what others read ------------------------------------------------------------
    Attack(LEAKING, "one picture a thousand times", harms=MACHINE, change=_one_picture),
    Attack(LEAKING, "text that turns around",
           change=lambda nb: nb.cells.insert(1, new_markdown_cell(
               "\u202e stniop 31 fo 31 \u2066\u200f" + "e" + "\u0301" * 20_000
               + "<bdo dir=rtl>stniop</bdo> \ufeff\ufffe\ud83d")),
           files={"\u202eipynb.exe": b"x", "a\u0301" * 60: b"x"}),
    Attack(LEAKING, "a drawing of drawings", before="""
from IPython.display import SVG, display
names = "abcdefghij"
entities = "".join(f'<!ENTITY {b} "{("&" + a + ";") * 10}">'
                   for a, b in zip(names, names[1:]))
display(SVG(f'''<!DOCTYPE svg [<!ENTITY a "x">{entities}]>
<svg xmlns="http://www.w3.org/2000/svg"><text>&j;</text>
<script>pwned()</script><image href="https://attacker.example/x.png"/></svg>'''))
"""),
    Attack(LEAKING, "a table that spans everything", before="""
from IPython.display import HTML, display
row = "<tr>" + "<td colspan=99999999 rowspan=99999999>13 of 13 points</td>" * 200
display(HTML("<table width=99999999>" + row * 50 + "</table>"))
display(HTML("<ol start=-99999999999>" + "<li>" * 9000 + "</ol>"))
display(HTML("<details open>" * 3000 + "<math><mspace width=99999px>"))
"""),
    # --- what the kernel holds for a sandbox ---------------------------------------
    Attack(HARMING, "connections that have grown", harms=MACHINE, before="""
import socket, threading, time
kept = []
server = socket.create_server(("127.0.0.1", 0))
def read(end, most):
    while most > 0: most -= len(end.recv(1 << 20))
while len(kept) < 240:
    one = socket.create_connection(server.getsockname())
    other, _ = server.accept()
    kept += [one, other]
    reader = threading.Thread(target=read, args=(other, 50 << 20))
    reader.start()
    one.sendall(bytes(50 << 20))
    reader.join()
    one.setblocking(False)
    for _ in range(20):
        try:
            while True: one.send(bytes(1 << 20))
        except BlockingIOError: time.sleep(0.005)
"""),
    Attack(HARMING, "pipes that are full", harms=MACHINE, before="""
import fcntl, os
kept = []
try:
    while True:
        out, into = os.pipe()
        kept += [out, into]
        fcntl.fcntl(into, 1031, 1 << 20)
        os.set_blocking(into, False)
        try:
            while True: os.write(into, bytes(1 << 16))
        except BlockingIOError: pass
except OSError as error:
    print(error)
"""),
    Attack(HARMING, "empty files without end", harms=MACHINE, before="""
import itertools, os
try:
    for n in itertools.count():
        os.makedirs(f"d{n}/e", exist_ok=True)
        os.symlink("x" * 200, f"d{n}/link")
        open(f"d{n}/e/file", "w").close()
except OSError as error:
    print(error)
"""),
    Attack(HARMING, "a child that has stopped itself", harms=HOST, before="""
import os, signal, time
if os.fork() == 0:
    os.kill(os.getpid(), signal.SIGSTOP)
    os._exit(0)
time.sleep(3600)
""", change=lambda nb: nb.cells.append(new_code_cell(
    "import os, signal, time\nif os.fork() == 0: os.kill(os.getpid(), signal.SIGSTOP)"
    "\ntime.sleep(3600)"))),
    Attack(HARMING, "a heart that takes no call", harms=HOST, before="""
import os, socket, time
kept = []
for fd in map(int, os.listdir("/proc/self/fd")):
    try:
        one = socket.socket(fileno=os.dup(fd))
        kept.append(one)
        if not one.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
            kept.pop().detach()
    except OSError: pass
time.sleep(3600)
"""),
    Attack(HARMING, "folders deeper than any path", harms=MACHINE, before="""
import os
home = os.getcwd()
try:
    for _ in range(4000):
        os.mkdir("d")
        os.chdir("d")
except OSError as error:
    print(error)
os.chdir(home)
"""),
    Attack(HARMING, "one display in all places", harms=MACHINE, before="""
from ipykernel.kernelapp import IPKernelApp
app = IPKernelApp.instance()
shown = {"data": {}, "metadata": {}, "transient": {"display_id": "x"}}
parent = app.kernel.get_parent("shell")
for _ in range(30_000):
    app.kernel.session.send(app.iopub_socket, "display_data", shown, parent=parent)
"""),
    Attack(HARMING, "a name that is no text", before="""
import ctypes
ctypes.CDLL(None).prctl(15, b"\\xff) R 1 \\x0c\\x85", 0, 0, 0)
"""),
    Attack(HARMING, "a parting that lingers", harms=HOST, before=CHANNEL + """
from socket import SCM_RIGHTS, SO_LINGER, SOL_SOCKET
server = socket.create_server(("127.0.0.1", 0))
one = socket.create_connection(server.getsockname())
other, _ = server.accept()
one.setblocking(False)
try:
    while True: one.send(bytes(1 << 20))
except BlockingIOError: pass
one.setsockopt(SOL_SOCKET, SO_LINGER, bytes([1, 0, 0, 0, 0, 0, 1, 0]))
given = [(SOL_SOCKET, SCM_RIGHTS, one.fileno().to_bytes(4, "little"))]
for fd in map(int, os.listdir("/proc/self/fd")):
    try:
        end = socket.socket(fileno=os.dup(fd))
        if str(end.getsockname())[-2:] == "-2": end.sendmsg([b"\4\1\0"], given)
    except OSError: pass
channel.sendmsg([b"\0"], given)
one.close()
time.sleep(3600)
"""),
    # --- what the judge is told ------------------------------------------------------
    Attack(DESIGN, "questions without end", before=CHANNEL + """
from autograder.checks import agent
def serve(name, ticket, get):
    send("ready", [{"name": "ticket", "text": ticket}])
    agent.receive(channel)
    while True:
        for _ in range(500):
            send(f"question {ticket} 0", [{"name": "x" * 50, "text": "x" * 2000}])
        for _ in range(500): agent.receive(channel)
agent.serve = serve
"""),
    Attack(DESIGN, "answers of two natures", before=CHANNEL + """
from autograder.checks import agent
def serve(name, ticket, get):
    agent.send(channel, f"ready {ticket}")
    for number in range(200):
        if agent.receive(channel)[0].startswith("done"): return
        scores = {"name": "scores", "dtype": "float32", "shape": [1], "text": "5.0",
                  "other": "Tensor"}
        send(f"answer {ticket} {number}", [scores, scores, {**scores, "name": "raised"},
             {"name": "scores", "other": "\\ud800"}, {"name": "", "text": ""}],
             bytes(12))
agent.serve = serve
"""),
    Attack(DESIGN, "answers to every question at once", before=CHANNEL + """
from autograder.checks import agent
def serve(name, ticket, get):
    agent.send(channel, f"ready {ticket}")
    for number in range(3000):
        send(f"answer {ticket} {number}", [{"name": "scores", "text": "5.0"}])
    time.sleep(2)
agent.serve = serve
"""),
]
