"""The tiny course, as an instructor has it before anybody handed in."""

import shutil

import pytest

from autograder.grading import converter
from tests import tiny_course as tiny


@pytest.fixture(scope="session")
def pristine(tmp_path_factory):
    root = tmp_path_factory.mktemp("course")
    tiny.make_course(root)
    return root


@pytest.fixture
def course(pristine, tmp_path):
    """A copy of it, graded by this process's ``nbgrader autograde``, too."""
    root = tmp_path / "course"
    shutil.copytree(pristine, root)
    assert converter.install()
    return root
