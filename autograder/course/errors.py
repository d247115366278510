"""The one kind of error that a person is meant to read."""


class CourseError(Exception):
    """Bad input or a broken course: the text says in one line what to do about it."""
