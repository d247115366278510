"""What of the settings goes to another process means the same there."""

from pathlib import Path

import pytest
from nbgrader.plugins import LateSubmissionPlugin  # noqa: F401
from traitlets import Bool, Float, List
from traitlets.config import Config, Configurable
from traitlets.config.loader import KVArgParseConfigLoader

from autograder.course.errors import CourseError
from autograder.grading.execute import JudgedExecute  # noqa: F401 (it is known then)
from autograder.grading.settings import find_misspelt
from autograder.grading.task import Task
from tests.grading.eventful import Eventful, task
from tests.tiny_course import RunHere


def test_classes_and_paths_travel_by_name():
    config = Config()
    config.Eventful.kinds = [RunHere]
    config.Eventful.place = Path("/data")
    config.Eventful.words = {"b", "a"}
    received = Task.from_bytes(task(config=config).to_bytes())
    assert received.preprocessors == (Eventful,)
    assert received.config.Eventful == {
        "kinds": [f"{RunHere.__module__}.RunHere"],
        "place": "/data",
        "words": ["a", "b"],
    }


def test_flags_of_the_command_line_mean_the_same_in_another_process():
    class Wants(Configurable):
        often = Bool().tag(config=True)
        seconds = Float().tag(config=True)
        names = List().tag(config=True)

    flags = [
        "--Wants.often=True",
        "--Wants.seconds=1.5",
        "--Wants.names=a",
        "--Wants.names=b",
    ]
    config = KVArgParseConfigLoader(flags, classes=[Wants]).load_config()
    received = Task.from_bytes(task(config=config).to_bytes())
    wants = Wants(config=received.config)
    assert (wants.often, wants.seconds, wants.names) == (True, 1.5, ["a", "b"])


def test_a_setting_of_no_concern_to_grading_stays_behind_if_it_cannot_travel():
    config = Config()
    config.HTMLExporter.filters = {"x": lambda text: text}
    config.Execute.timeout = 3
    received = Task.from_bytes(task(config=config).to_bytes())
    assert received.config == Config({"Execute": Config({"timeout": 3})})
    config.Eventful.filters = {"x": lambda text: text}
    with pytest.raises(CourseError, match=r"c\.Eventful .* write it as a plain value"):
        task(config=config).to_bytes()


def test_settings_of_nothing_that_is_nearly_something_are_told():
    config = Config()
    config.JudgedExecut.timeout = 5
    config.LateSubmisionPlugin.penalty_method = "zero"
    config.JudgedExecute.timeout = 5
    config.SomebodysOwn.word = "is perhaps imported later"
    assert [line.partition("; ")[2] for line in find_misspelt(config)] == [
        "did you mean c.JudgedExecute?",
        "did you mean c.LateSubmissionPlugin?",
    ]
