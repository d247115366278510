"""A message passes between two of our processes as a whole, or the line is over."""

import os
import socket
import threading

import pytest

from autograder.grading.ipc import Connection, ConnectionLostError


@pytest.fixture
def pair():
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield Connection(ours), theirs


def test_messages_arrive_in_order_and_as_they_were(pair):
    ours, theirs = pair
    for number in range(3):
        ours.send({"number": number, "text": "zwölf"}, 5.0)
    peer = Connection(theirs)
    assert [peer.receive(5.0)[0]["number"] for _ in range(3)] == [0, 1, 2]


def test_a_message_larger_than_any_buffer_arrives(pair):
    ours, theirs = pair
    sender = threading.Thread(target=ours.send, args=({"text": "x" * (8 << 20)}, 60.0))
    sender.start()
    assert len(Connection(theirs).receive(60.0)[0]["text"]) == 8 << 20
    sender.join()


def test_a_descriptor_goes_with_its_message(pair):
    ours, theirs = pair
    reader, writer = os.pipe()
    ours.send({"first": True}, 5.0)
    ours.send({"second": True}, 5.0, [writer])
    peer = Connection(theirs)
    assert peer.receive(5.0) == ({"first": True}, [])
    message, (received,) = peer.receive(5.0)
    assert message == {"second": True}
    os.write(received, b"through")
    assert os.read(reader, 7) == b"through"
    for descriptor in (reader, writer, received):
        os.close(descriptor)


@pytest.mark.parametrize(
    "sent", [b"", b"\0\0", b"\0\0\0\x09{", b"\0\0\0\x01{", b"\0\0\0\x02\xff\xff"]
)
def test_half_a_message_or_none_is_an_error_at_the_deadline(pair, sent):
    ours, theirs = pair
    theirs.sendall(sent)
    with pytest.raises(ConnectionLostError):
        ours.receive(0.1)


def test_who_does_not_read_is_not_waited_for(pair):
    with pytest.raises(ConnectionLostError, match="does not answer"):
        pair[0].send({"text": "x" * (8 << 20)}, 0.1)


def test_the_end_of_the_other_process_is_heard_at_once(pair):
    ours, theirs = pair
    theirs.close()
    with pytest.raises(ConnectionLostError, match="gone"):
        ours.receive(60.0)
    with pytest.raises(ConnectionLostError, match="gone"):
        ours.send({}, 60.0)


def test_hanging_up_wakes_who_waits(pair):
    ours, _ = pair
    timer = threading.Timer(0.1, ours.shutdown)
    timer.start()
    with pytest.raises(ConnectionLostError, match="gone"):
        ours.receive(60.0)
    timer.join()
