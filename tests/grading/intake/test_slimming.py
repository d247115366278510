"""A large notebook loses its outputs on the way; nothing of them is in memory."""

import io
import json
import tracemalloc

import pytest

from autograder.grading.intake import RefusedError, SizeLimits, slimming
from autograder.grading.intake.slimming import Slimmer, read_slim

HEAD = b'{"cells": [{"cell_type": "code", "source": "x", "outputs": ['
TAIL = b"]}]}"


def slimmed(pieces, most: int) -> bytes:
    slimmer = Slimmer(most)
    for piece in pieces:
        slimmer.take(piece)
    return bytes(slimmer.kept)


def pieces(data: bytes, size: int):
    return (data[at : at + size] for at in range(0, len(data), size))


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
@pytest.mark.parametrize(
    "outputs",
    [
        [],
        None,
        5,
        'a "text" ]}, \\',
        [{"text": 'a"]}\\'}] * 5,
        {"a": [1, [2, "\\\\", {"outputs": [[[[[3]]]]]}]]},
    ],
    ids=str,
)
def test_outputs_and_widgets_become_empty_wherever_a_piece_ends(size, outputs):
    source = 'outputs = {"outputs": [1]}\n"größe 😀" \\'
    cell = {"cell_type": "code", "outputs": outputs, "source": [source], "id": "a"}
    widgets = {"widgets": {"a": [1, {"b": "}]"}]}, "kernelspec": {"name": "outputs"}}
    notebook = {"cells": [cell, {"source": "outputs"}], "metadata": widgets}
    for indent, plain in ((None, True), (1, False)):
        text = json.dumps(notebook, indent=indent, ensure_ascii=plain).encode()
        document = json.loads(slimmed(pieces(text, size), 10_000))
        assert (
            document["cells"][0].pop("outputs")
            == document["metadata"].pop("widgets")
            == []
        )
        cell_ = {k: v for k, v in cell.items() if k != "outputs"}
        assert document["cells"] == [cell_, notebook["cells"][1]]
        assert document["metadata"] == {"kernelspec": {"name": "outputs"}}


@pytest.mark.parametrize(
    "output", [b'"%s",' % (b"\\n" * 500), b'{"text": ["a\\n"]},', b"0.1,"], ids=len
)
def test_outputs_of_many_megabytes_take_no_memory(output):
    data = HEAD + output * ((8 << 20) // len(output)) + b"0" + TAIL
    tracemalloc.start()
    slim = slimmed(pieces(data, 1 << 16), 1000)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert slim == HEAD[:-2] + b"[]" + TAIL[1:] and most < 1 << 20


def test_what_is_no_notebook_goes_through_and_is_bounded(monkeypatch):
    assert slimmed([b"no notebook"], 100) == b"no notebook"
    with pytest.raises(RefusedError, match="larger than 0 MB even without its outputs"):
        slimmed([b"x" * 101], 100)
    monkeypatch.setattr(slimming, "_MOST_STEPS", 1 << 16)
    with pytest.raises(RefusedError, match=r"too many parts; Edit > Clear Outputs"):
        slimmed([HEAD, *[b"[" * (1 << 20)] * 20], 100)


def test_a_notebook_beyond_all_limits_is_refused_with_the_limit_and_a_remedy():
    data = HEAD + b"1," * (2 << 20) + b"0" + TAIL
    limits = SizeLimits(notebook=1000, saved=5 << 20)
    slim, size = read_slim(io.BytesIO(data), limits, 1000)
    assert len(slim) < 100 and size == len(data)
    with pytest.raises(RefusedError, match=r"larger than 3 MB; Edit > Clear Outputs"):
        read_slim(io.BytesIO(data), SizeLimits(notebook=1000, saved=3 << 20), 1000)
    assert read_slim(io.BytesIO(b"{}"), limits, 1000) == (b"{}", 0)
