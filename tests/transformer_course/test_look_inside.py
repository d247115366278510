"""Unit 9: texts that repeat, and what is shown where the chat model is missing."""

import json
import re

import torch

from autograder.course import find_unit
from transformer_course.look_inside.library import repeats, results

NOTEBOOK = find_unit("look_inside").text.read_text("utf-8")


def test_texts_repeat_after_their_period():
    ids, periods = repeats.draw(torch.Generator().manual_seed(0), 20)
    for row, period in zip(ids, periods.tolist(), strict=True):
        assert torch.equal(row[period:], row[:-period])
    assert periods.min() >= 6 and periods.max() <= 18 and len(periods.unique()) > 5


def test_only_tokens_that_can_be_known_are_measured():
    ids, periods = repeats.draw(torch.Generator().manual_seed(1), 8)
    tokens = torch.eye(repeats.VOCABULARY)

    def copies(texts):  # what followed the last time, where there was one
        logits = torch.zeros(*texts.shape, repeats.VOCABULARY)
        for row, period in enumerate(periods.tolist()):
            following = texts[row, 1 : texts.size(1) - period + 1]
            logits[row, period:] = 50 * tokens[following]
        return logits

    loss, correct = repeats.measure(copies, ids, periods)
    assert correct == 1.0 and loss < 1e-6


def test_everything_that_is_shown_without_the_model_is_recorded():
    loaded = set(re.findall(r'results\.load\("([^"]+)"\)', NOTEBOOK))
    noted = set(re.findall(r'results\.note\("([^"]+)"', NOTEBOOK))
    recorded = json.loads(results.RECORDED.read_text("utf-8"))
    assert loaded == noted == set(recorded)
