"""Submissions that are no notebooks, or not the released one."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Callable
from pathlib import Path

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell

from tests.attacks.attack import MACHINE, MALFORMED, Attack
from tests.attacks.material import COMPANIONS, NOTEBOOK, SEES, SOFTMAX, UNIT, grade_id


def _replaced(content: bytes) -> Callable[[bytes], bytes]:
    return lambda _: content


def _socket_at(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        folder_fd = os.open(path.parent, os.O_RDONLY)
        server.bind(f"/proc/self/fd/{folder_fd}/{path.name}")
        os.close(folder_fd)


def _instead(make: Callable[[Path], None]) -> Callable[[Path], None]:
    """Put something else in the place of the notebook."""

    def replace_notebook(folder: Path) -> None:
        (folder / NOTEBOOK).unlink()
        make(folder / NOTEBOOK)

    return replace_notebook


def _sparse(path: Path, size: int) -> None:
    with path.open("wb") as file:
        file.truncate(size)


def _link_folder(folder: Path) -> None:
    (folder / NOTEBOOK).unlink()
    folder.rmdir()
    folder.symlink_to(f"../../source/{UNIT}")


def _renamed_marks(nb: NotebookNode) -> None:
    swap = {SOFTMAX: SEES, SEES: SOFTMAX, f"{SOFTMAX}-answer": f"{SEES}-answer"}
    for cell in nb.cells:
        if grade_id(cell) in swap:
            cell.metadata.nbgrader.grade_id = swap[grade_id(cell)]


def _without_marks(nb: NotebookNode) -> None:
    for number, cell in enumerate(nb.cells):
        cell.metadata.pop("nbgrader", None)
        cell.id = f"course-{number}" if number % 2 else "own-1"


def _old(data: bytes) -> bytes:
    notebook = json.loads(data)
    cells = [{**cell, "input": cell.pop("source")} for cell in notebook["cells"]]
    return json.dumps(
        {
            "nbformat": 3,
            "nbformat_minor": 0,
            "metadata": {},
            "worksheets": [{"cells": cells}],
        }
    ).encode()


def _odd_types(data: bytes) -> bytes:
    notebook = json.loads(data)
    values = (5, None, [[]], {"a": 1}, True)
    for cell, odd in zip(notebook["cells"], values, strict=False):
        cell.update(source=odd, metadata=odd, outputs=odd, id=odd, cell_type=odd)
    notebook["metadata"] = {"kernelspec": [], "language_info": {"name": {}}}
    return json.dumps(notebook).encode()


# fmt: off
MALFORMED_ONES: list[Attack] = [
    *(Attack(MALFORMED, name, data=data) for name, data in (
        ("cut off", lambda data: data[: len(data) // 2]),
        ("empty", _replaced(b"")),
        ("a picture", _replaced(b"\x89PNG\r\n\x1a\n" + bytes(2000))),
        ("a list", _replaced(b"[1, 2, 3]")),
        ("null", _replaced(b"null")),
        ("no cells", _replaced(b'{"nbformat": 4, "metadata": {}}')),
        ("cells of another type", _replaced(b'{"nbformat": 4, "cells": {"a": 1}}')),
        ("values of odd types", _odd_types),
        ("format three", _old),
        ("format ninety-nine", lambda data: data.replace(
            b'"nbformat": 4', b'"nbformat": 99')),
        ("deep", _replaced(b'{"cells": ' + b"[" * 100_000 + b"]" * 100_000 + b"}")),
        ("huge number", _replaced(b'{"nbformat": ' + b"9" * 1_000_000 + b"}")),
        ("sixteen bits", lambda data: data.decode().encode("utf-16")),
        ("not text", lambda data: data.replace(b"Two", b"\xff\xfe\xed\xa0\x80")),
        ("zeros inside", lambda data: data.replace(b"Two", b"\\u0000\\ud800")),
        ("repeated keys", lambda data: data[:-1] + b', "cells": []}'),
    )),
    Attack(MALFORMED, "four million objects", harms=MACHINE, data=_replaced(
        b'{"nbformat": 4, "cells": [' + b"{}," * 4_000_000 + b"{}]}")),
    Attack(MALFORMED, "no cell left", change=lambda nb: nb.update(cells=[])),
    Attack(MALFORMED, "marks swapped", change=_renamed_marks, answers={
        SOFTMAX: "def who_sees_whom(layer, x): return torch.ones(len(x), len(x))"}),
    Attack(MALFORMED, "marks removed and ids that collide", change=_without_marks),
    Attack(MALFORMED, "every cell ten times", change=lambda nb: nb.update(
        cells=[cell for cell in nb.cells for _ in range(10)])),
    Attack(MALFORMED, "more than two thousand cells", change=lambda nb: nb.cells.extend(
        new_code_cell(f"x = {n}") for n in range(2100))),
    Attack(MALFORMED, "a cell of a million characters",
           before="x = '" + "a" * 1_000_000 + "'"),
    Attack(MALFORMED, "strange kernel", change=lambda nb: nb.metadata.update(
        kernelspec={"name": "../../bin/sh", "display_name": "<script>pwned()</script>",
                    "language": "bash"}, language_info={"name": "<script>"})),
    Attack(MALFORMED, "a pipe", folder=_instead(os.mkfifo)),
    Attack(MALFORMED, "a socket", folder=_instead(_socket_at)),
    Attack(MALFORMED, "a folder", folder=_instead(Path.mkdir)),
    Attack(MALFORMED, "a link to itself", folder=_instead(
        lambda path: path.symlink_to(path.name))),
    Attack(MALFORMED, "a link to a solved one", folder=_instead(
        lambda path: path.symlink_to(f"../../{COMPANIONS[0]}/{UNIT}/{NOTEBOOK}"))),
    Attack(MALFORMED, "a link to an endless file", folder=_instead(
        lambda path: path.symlink_to("/dev/zero")), harms=MACHINE),
    Attack(MALFORMED, "the folder is a link", folder=_link_folder),
    Attack(MALFORMED, "links in a circle", folder=lambda folder: [
        (folder / "a").mkdir(), (folder / "a" / "b").symlink_to("..")]),
    Attack(MALFORMED, "too large a notebook", folder=_instead(
        lambda path: _sparse(path, 300 << 20)), harms=MACHINE),
    Attack(MALFORMED, "large files", folder=lambda folder: [
        _sparse(folder / f"{n}.bin", 30 << 20) for n in range(6)]),
    Attack(MALFORMED, "two thousand files", folder=lambda folder: [
        (folder / f"{n}.txt").write_text("x") for n in range(2000)]),
    Attack(MALFORMED, "deep folders", folder=lambda folder: (
        folder / "/".join("d" * 60)).mkdir(parents=True)),
    Attack(MALFORMED, "strange names", files={
        "a\nb.txt": b"", "\x1b[31mred.txt": b"", "x" * 250: b"", " ": b"", "-rf": b"",
        "\u202egnp.ipynb": b"{}", "..ipynb": b"{}", f"aaron_{NOTEBOOK}": b"{}",
        "$(touch pwned)": b"", "%2e%2e%2fx": b""}),
    Attack(MALFORMED, "a pipe for the time", folder=lambda folder: os.mkfifo(
        folder / "timestamp.txt")),
    Attack(MALFORMED, "archives beside", files={
        "bomb.zip": b"PK\x03\x04" + bytes(1000), "up.tar": bytes(10240)}),
]
