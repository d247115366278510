"""A class and its grades: collecting, reports, feedback, appeals, a sample class."""
