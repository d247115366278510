"""What is started early: asked of our own stages, and of nobody else's."""

from nbconvert.preprocessors import ClearOutputPreprocessor
from traitlets.config import Config

from autograder.grading.execute import JudgedExecute
from autograder.grading.warmable import Stage, stages, warmables


class Plain(Stage):
    """Shares nothing."""


def test_only_our_own_stages_are_asked():
    stage_classes = (ClearOutputPreprocessor, Plain, JudgedExecute)
    assert stages(stage_classes) == [Plain, JudgedExecute]
    by_name = [f"{kind.__module__}.{kind.__name__}" for kind in stage_classes]
    assert stages(by_name) == [Plain, JudgedExecute]


def test_who_shares_nothing_has_nothing_to_start():
    assert warmables([ClearOutputPreprocessor, Plain], Config()) == []
    assert len(warmables([Plain, JudgedExecute], Config())) == 1
