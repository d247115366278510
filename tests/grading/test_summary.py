"""What the summary of a feedback page takes from the notebook."""

from nbformat import v4

from autograder.grading.feedback.summary import Block


def test_a_heading_of_blanks_takes_no_longer_than_any_other_text():
    """Grading shows what students write, and a slow pattern would hold it up."""
    cell = v4.new_markdown_cell(f"# Masks{' ' * 300_000}and more")
    assert Block("", None, [cell]).heading == "Masks"
    assert Block("", None, []).heading == "text and demonstrations"
