"""What a notebook imports: ``from autograder import check, demo, show, earlier``."""

from autograder.student.check import check
from autograder.student.demo import demo, show
from autograder.student.earlier import earlier

__all__ = ["check", "demo", "earlier", "show"]
__version__ = "1.0.0"
