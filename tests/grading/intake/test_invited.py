"""Changes that a notebook invites are told from others."""

import pytest

from autograder.grading.intake.invited import is_invited

DEMO = "@demo\ndef show():\n    print({})"


@pytest.mark.parametrize(
    ("original", "edited", "is_reported"),
    [
        ('LEVEL = 2\nNAME = ""', 'LEVEL = 3\nNAME = "Ada"', False),
        ('MARKS = ""\n' + DEMO.format(1), 'MARKS = "a"\n' + DEMO.format(2), False),
        ("LEVEL = 2", "LEVEL = 3\nnp = 4", True),
        ("LEVEL = 2", "LEVEL = open('x')", True),
        ("LEVEL = 2", "LEVEL = (", True),
        ("LEVEL = 2", "LEVEL = 3\ndef double(x): ...", True),
        ("def helper(x):\n    return x", "def helper(x):\n    return 2 * x", True),
    ],
)
def test_settings_and_demonstrations_may_be_changed_unsaid(
    original, edited, is_reported
):
    assert is_invited(edited, original) is not is_reported
