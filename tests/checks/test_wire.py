"""Values cross the wire unchanged; whatever else arrives ends in a WireError."""

import json
import socket
import threading

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.checks.exercise import Other
from autograder.checks.wire import Limits, WireError, packed, receive, send, within


@pytest.fixture
def pair():
    a, b = socket.socketpair()
    with a, b:
        yield a, b


def frame(header: object, data: bytes = b"") -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return len(text).to_bytes(4, "big") + text + data


def of_values(values: object, data: bytes = b"") -> bytes:
    return frame({"kind": "a", "values": values}, data)


def read(raw: bytes):
    a, b = socket.socketpair()
    with a, b:
        a.sendall(raw)
        a.shutdown(socket.SHUT_WR)
        return receive(b, wait=within(0.2))


@pytest.mark.parametrize(
    "dtype",
    [getattr(torch, name) for name in
     ("bool", "uint8", "int64", "float16", "bfloat16", "float64")],
)  # fmt: skip
@pytest.mark.parametrize("shape", [(), (0,), (3, 0, 2), (2, 3, 4)])
def test_tensors_arrive_as_they_were(pair, dtype, shape):
    sent = (torch.rand(shape) * 3).to(dtype)
    send(pair[0], "answer", {"x": sent})
    kind, values = receive(pair[1], wait=within(10))
    assert kind == "answer" and values["x"].dtype == dtype
    assert torch.equal(values["x"], sent)


def test_texts_and_other_things_arrive(pair):
    sent = {"a": "zwölf ✓", "b": Other("float"), "c": torch.ones(2).cfloat()}
    send(pair[0], "k", sent)
    values = receive(pair[1], wait=within(10))[1]
    assert values == sent | {"c": Other("complex64 tensor")}


def test_what_is_put_together_once_can_be_sent_again(pair):
    sent = {"a": torch.rand(3, 2), "b": 'in "two" words', "c": Other("float")}
    message = packed(sent)
    for number in range(2):
        send(pair[0], f"ask {number}", message)
        kind, values = receive(pair[1], wait=within(10))
        assert kind == f"ask {number}" and list(values) == list(sent)
        assert torch.equal(values["a"], sent["a"])
        assert (values["b"], values["c"]) == (sent["b"], sent["c"])


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"\xff\xff\xff\xff" + b"x" * 100,
        frame(b"not json"),
        frame(b"[" * 100_000),
        frame(b'{"kind": "a", "values": [' + b"9" * 5000 + b"]}"),
        frame({"kind": 1, "values": []}),
        of_values({}),
        of_values([{"name": "x"}]),
        of_values([{"name": 1, "text": "t"}]),
        of_values([{"name": "x", "text": 1}]),
        of_values([{"name": "x", "text": "t", "other": 1}]),
        of_values([{"name": "x", "dtype": "bool", "shape": [0], "text": 1}]),
        of_values([{"name": "x", "text": "t"}] * (Limits.entries + 1)),
    ],
)
def test_malformed_headers_are_refused(raw):
    with pytest.raises(WireError):
        read(raw)


@pytest.mark.parametrize(
    ("dtype", "shape", "data"),
    [
        ("float32", [2**40], b""),
        ("float32", [2**20, 2**20], b""),
        ("float32", [-1], b""),
        ("float32", [True], b"\0\0\0\0"),
        ("float32", [1.0], b"\0\0\0\0"),
        ("float32", "3", b""),
        ("float32", [1] * 9, b"\0\0\0\0"),
        ("object", [1], b"\0" * 8),
        (["float32"], [1], b"\0" * 4),
        ("bool", [1], b"\2"),
        ("float32", [2], b"\0" * 7),
        ("float32", [2**20, 0, 2**20], b""),
    ],
)
def test_lying_tensors_are_refused(dtype, shape, data):
    entry = {"name": "x", "dtype": dtype, "shape": shape}
    with pytest.raises(WireError):
        read(of_values([entry], data))


def test_each_message_is_waited_for_also_of_who_never_stops(pair):
    waits = []
    for number in range(3):
        send(pair[0], f"question {number}", {"x": torch.ones(4)})
    for number in range(3):
        receive(pair[1], wait=lambda channel, event: waits.append(event))
        assert len(waits) == number + 1


@pytest.mark.parametrize("sent", [b"", b"\0\0\0\x20"])
def test_silence_before_or_in_a_message_is_not_waited_for_for_long(pair, sent):
    pair[0].sendall(sent)
    with pytest.raises(WireError, match="slow"):
        receive(pair[1], wait=within(0.05))


def test_who_does_not_read_is_not_waited_for(pair):
    with pytest.raises(WireError, match="slow"):
        send(pair[0], "a", {"x": torch.zeros(1 << 20)}, within(0.05))


def test_a_large_message_passes_in_parts(pair):
    sent = torch.arange(1 << 20)
    sender = threading.Thread(target=send, args=(pair[0], "a", {"x": sent}))
    sender.start()
    assert torch.equal(receive(pair[1], wait=within(30))[1]["x"], sent)
    sender.join()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["name", "dtype", "shape", "text", "x"]), inner
        )
    ),
    max_leaves=12,
)


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=200) | st.builds(of_values, JSON))
def test_the_reader_survives_anything(raw):
    try:
        kind, values = read(raw)
    except WireError:
        return
    assert isinstance(kind, str)
    assert all(isinstance(v, torch.Tensor | str | Other) for v in values.values())
