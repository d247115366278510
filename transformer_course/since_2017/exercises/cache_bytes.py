"""The bytes of a cache whose layers have windows."""

from __future__ import annotations

import torch

from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.specification import Inputs, Maker, Specification
from transformer_course.since_2017.exercises._inputs import options, whole


def _cache(windows: list[int | None], length: int, groups: int, d_k: int, **given: float) -> Maker:
    """The windows of the layers, 0 for none; the text has this length or more."""

    def inputs(draw: Draw) -> Inputs:
        return {"windows": torch.tensor([w or 0 for w in windows])} | options(**given) | whole(
            length=length + int(draw.ids(0, 20, 1)), num_kv_heads=groups, d_k=d_k
        )  # fmt: skip

    return inputs


_KEPT = "kept = sum(length if window is None else min(window, length) for window in windows)"
_BYTES = "2 * kept * num_kv_heads * d_k * bytes_per_entry"

CASES = [
    case("mixed", "three layers, one of them global", _cache([4, None, 6], 10, 2, 8),
         "A local layer keeps its window, a global one the whole text."),
    case("global", "two global layers in float32", _cache([None, None], 7, 3, 5, bytes_per_entry=4),
         "Without windows, each layer keeps the whole text.", tells=("bytes_ignored",)),
    case("short", "windows that are wider than the text", _cache([64, 5, None], 9, 1, 16, bytes_per_entry=1),
         "A layer never keeps more positions than the text has."),
    case("local", "four local layers", _cache([3, 3, 8, 20], 50, 7, 9),
         "Each layer has a window of its own.", open=True),  # whatever the length is
    case("five_to_one", "twelve layers, five local to one global",
         _cache([None if i % 6 == 5 else 32 for i in range(12)], 100, 4, 6),
         "As above.", hidden_only=True),
]

MISTAKES = [
    wrong("keys_only",
          "You count only half of the entries that a layer caches.",
          "What does attention need from each earlier position?",
          edit("2 * kept", "kept")),
    wrong("bytes_ignored",
          "`bytes_per_entry` has no influence.",
          "How many bytes does a float32 take?",
          edit(" * bytes_per_entry", " * 2")),
    wrong("entries",
          "You count entries, not bytes.",
          "How many bytes does an entry take?",
          edit(" * bytes_per_entry", "")),
    wrong("bits",
          "You count bits, not bytes.",
          "What is `bytes_per_entry` measured in?",
          edit(" * bytes_per_entry", " * bytes_per_entry * 8")),
    wrong("windows_ignored",
          "Every layer keeps the whole text.",
          "How many positions does a layer with a window keep?",
          edit(_KEPT, "kept = len(windows) * length")),
    wrong("largest_for_all",
          "The layer that keeps most is counted for all of them.",
          "How many positions does each layer keep, and what is their sum?",
          edit(_KEPT, "kept = len(windows) * max(length if w is None else min(w, length) for w in windows)")),
    wrong("more_than_the_text",
          "You count more positions than the text has if a window is wider than the text.",
          "A window of 1,024 and a text of 300 tokens: how many positions are kept?",
          edit("min(window, length)", "window")),
    wrong("global_forgotten",
          "Layers without a window are left out.",
          "What does a layer keep if its window is None?",
          edit("length if window is None", "0 if window is None")),
    wrong("the_larger_one",
          "A layer with a window keeps the larger of window and text.",
          "Which of the two determines how much is kept?",
          edit("min(window, length)", "max(window, length)")),
    wrong("first_window_for_all",
          "The window of the first layer is used for all of them.",
          "Which layers are global?",
          edit("for window in windows", "for window in windows[:1] * len(windows)")),
    wrong("one_layer",
          "You count one layer only.",
          "Which layers have a cache?",
          edit("for window in windows", "for window in windows[:1]")),
    wrong("average",
          "You average over the layers; their caches add up.",
          "How many caches are there?",
          edit("for window in windows)", "for window in windows) // len(windows)")),
    wrong("heads_forgotten",
          "The number of heads is left out.",
          "How many keys does a layer keep for each position?",
          edit(" * num_kv_heads", "")),
    wrong("size_forgotten",
          "The size of a key is left out.",
          "How many components does a key have?",
          edit(" * d_k", "")),
    wrong("a_float",
          "The result is a float; a number of bytes is an integer.",
          "What does `/` return in Python, even if it divides evenly?",
          edit(_BYTES, f"float({_BYTES})")),
    wrong("window_minus_one",
          "You keep one position fewer than the window holds.",
          "A new token sees `window` positions, itself included. How many of them must the cache hold afterwards?",
          edit("min(window, length)", "min(window - 1, length)")),
    wrong("zero_for_none",
          "Your function fails if a layer has no window.",
          "What does `min(None, 10)` do?",
          edit("length if window is None else min(window, length)", "min(window, length)")),
]

ACCEPTED = [
    right("loop", source("""
        def cache_bytes(windows, length, num_kv_heads, d_k, bytes_per_entry=2):
            total = 0
            for window in windows:
                positions = length
                if window is not None and window < length:
                    positions = window
                keys = positions * num_kv_heads * d_k
                total += (keys + keys) * bytes_per_entry
            return total
        """)),
    right("or_the_length", edit("length if window is None else min(window, length)", "min(window or length, length)")),
    right("sorted_out", source("""
        def cache_bytes(windows, length, num_kv_heads, d_k, bytes_per_entry=2):
            local = [min(w, length) for w in windows if w is not None]
            kept = sum(local) + (len(windows) - len(local)) * length
            return 2 * d_k * kept * bytes_per_entry * num_kv_heads
        """)),
]

EXERCISE = Specification(
    name="since_2017/cache_bytes", title="The bytes of a cache", target="cache_bytes", precise=False,
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
