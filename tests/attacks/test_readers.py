"""Whoever reads a stranger's bytes ends in an answer or a plain refusal, in time."""

from __future__ import annotations

import json
import socket
import threading
import time

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from autograder.checks.exercise import Other
from autograder.checks.wire import Limits, WireError, receive, send, within
from autograder.grading import intake
from autograder.grading.rendering.sanitise import clean_html
from autograder.grading.rendering.texts import markdown
from tests.attacks.leaking import scripts
from tests.attacks.material import answered, as_file, source_notebook

QUICK = settings(
    max_examples=150, deadline=None, suppress_health_check=list(HealthCheck)
)
LIMITS = Limits(header=4096, data=1 << 16, entries=8, rank=8)
SOURCE = source_notebook()
LONG = 20_000  # a tenth of the longest cell: enough to tell 1 second from 100

plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(max_size=9), inner, max_size=4)
    ),
    max_leaves=12,
)


def received(data: bytes) -> object:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        sender = threading.Thread(target=_send_all, args=(theirs, data))
        sender.start()
        try:
            return receive(ours, LIMITS, within(1.0))
        except WireError as error:
            return error
        finally:
            ours.close()
            sender.join()


def _send_all(channel: socket.socket, data: bytes) -> None:
    try:
        channel.sendall(data)
        channel.shutdown(socket.SHUT_WR)
    except OSError:
        return  # the reader has seen enough


def frame(header: object, data: bytes = b"") -> bytes:
    text = json.dumps(header).encode()
    return len(text).to_bytes(4, "big") + text + data


entries = st.fixed_dictionaries(
    {},
    optional={
        "name": st.text(max_size=5) | plain,
        "text": st.text() | plain,
        "other": st.text() | plain,
        "dtype": st.sampled_from(["float32", "bool", "x"]),
        "shape": st.lists(st.integers(-1, 1 << 30), max_size=9) | plain,
    },
)


@QUICK
@given(st.binary(max_size=300))
def test_any_bytes_are_a_message_or_an_error(data):
    assert isinstance(received(data), tuple | WireError)


@QUICK
@given(
    plain
    | st.fixed_dictionaries(
        {
            "kind": st.text(max_size=5) | plain,
            "values": st.lists(entries, max_size=9) | plain,
        }
    ),
    st.binary(max_size=99),
)
def test_any_header_is_a_message_or_an_error(header, data):
    parsed = received(frame(header, data))
    if not isinstance(parsed, WireError):
        for value in parsed[1].values():
            assert isinstance(value, torch.Tensor | str | Other)
            str(value).encode()


@QUICK
@given(st.integers(0, 200), st.binary(min_size=1, max_size=8))
def test_a_damaged_message_is_a_message_or_an_error(place, damage):
    ours, theirs = socket.socketpair()
    with ours, theirs:
        send(theirs, "answer", {"x": torch.arange(12.0).reshape(3, 4), "t": "text"})
        data = bytearray(ours.recv(1 << 16))
    data[place : place + len(damage)] = damage
    assert isinstance(received(bytes(data)), tuple | WireError)


def rebuilt(data: bytes) -> int:
    try:
        notebook, _ = intake.rebuild(SOURCE, SOURCE, data)
    except intake.RefusedError as reason:
        assert str(reason).isprintable()
        return 0
    as_file(notebook)
    return len(notebook.cells)


@QUICK
@given(st.binary(max_size=300))
def test_any_bytes_are_a_notebook_or_refused(data):
    rebuilt(data)


@QUICK
@given(
    st.lists(
        st.fixed_dictionaries(
            {},
            optional={
                "cell_type": st.sampled_from(["code", "markdown", "raw"]) | plain,
                "source": st.text() | st.lists(st.text()) | plain,
                "outputs": plain,
                "id": plain,
                "metadata": plain | st.fixed_dictionaries({"nbgrader": plain}),
                "attachments": plain,
            },
        )
        | plain,
        max_size=6,
    ),
    plain,
)
def test_any_cells_are_a_notebook_or_refused(cells, metadata):
    document = {"nbformat": 4, "cells": cells, "metadata": metadata}
    assert rebuilt(json.dumps(document).encode()) >= len(SOURCE.cells)


@QUICK
@given(st.integers(0, 6000), st.binary(max_size=8))
def test_a_damaged_notebook_is_a_notebook_or_refused(place, damage):
    data = bytearray(as_file(answered(SOURCE, {})))
    data[place : place + len(damage)] = damage
    rebuilt(bytes(data))


TAGS = (
    "<script>", "<img src=x onerror=pwned()>", "<svg/onload=pwned()>", "<style>",
    "<math><mtext>", "</mtext>", "<a href='java\tscript:pwned()'>", "<!--", "-->",
    "<![CDATA[", "<noscript>", "<p title='", "'>", "&lt;script&gt;", "<template>",
    "[x](javascript:pwned())", "![x](//attacker.example)", "$x$", "`", "\n\n", "<form>",
    "<select>", "<table>", "<iframe srcdoc='<script>'>",
)  # fmt: skip


@QUICK
@given(st.lists(st.sampled_from(TAGS), max_size=9).map("".join))
def test_no_mixture_of_tags_becomes_active(text):
    assert scripts(clean_html(text)) == []
    assert scripts(markdown(text)) == []


@pytest.mark.parametrize(
    "text",
    [
        "!" + " " * LONG,
        "!" * LONG,
        "%" + "\t" * LONG + "x",
        "a" * LONG,
        "import" + " " * LONG,
        "from " * (LONG // 5),
        "drive.mount((" * (LONG // 13),
        "async\n" * (LONG // 6),
        "a :" + " " * LONG,
        "(\n" * (LONG // 2),
    ],
    ids=lambda text: repr(text[:6]),
)
def test_long_cells_are_read_in_time(text):
    notebook = answered(SOURCE, {})
    notebook.cells.insert(1, {"cell_type": "code", "source": text, "metadata": {}})
    started = time.process_time()
    rebuilt(as_file(notebook))
    assert time.process_time() - started < 1


@pytest.mark.parametrize("piece", ["[", "$", "`", "*", "<", "![", "\\(", "**a", "> "])
def test_the_longest_texts_are_shown_in_time(piece):
    started = time.process_time()
    markdown((piece * 50_000)[:50_000])
    assert time.process_time() - started < 5
