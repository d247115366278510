"""What the trusted side waits for, sandbox by sandbox."""

from autograder.sandbox import sandboxed


def test_a_wait_in_which_all_was_stopped_goes_on_afterwards(monkeypatch):
    """A laptop that sleeps: one step of the wait takes hours, and the rest is left."""
    waits = []

    class Poll:
        def register(self, *_):
            pass

        def poll(self, milliseconds):
            waits.append(milliseconds)
            return ["something"] if len(waits) == 3 else []

    monkeypatch.setattr(sandboxed.select, "poll", Poll)
    assert sandboxed.readable(None, 60.0) and waits == [1000.0] * 3
    waits[:] = [0.0] * 3
    assert not sandboxed.readable(None, 0.0) and len(waits) == 4
