"""Gradescope's archives: addresses say who somebody is, and names prove nothing."""

from __future__ import annotations

import pytest

from autograder.classroom.lms import place
from autograder.classroom.lms.roster import Roster, from_csv
from tests.classroom.lms.course import ADA, BOB
from tests.grading.intake.released import released
from tests.tiny_course import data, solve_release

METADATA = """
submission_3001:
  :submitters:
  - {":name": Ada Lovelace, ":sid": "12345", ":email": ada@uni.example}
  - {":name": Bob, ":email": bob@uni.example}
  :created_at: 2026-11-20 14:03:59.123456000 Z
  :score: 3.0
  :results: !ruby/object:Results {a: 1}
"""


def notebook_of(number: int) -> bytes:
    """A notebook of the submission with this number."""
    return data(solve_release(released(), words=str(number)))


def test_gradescope_with_groups_and_times(course):
    path = course.zip(
        ("assignment_55_export/submission_3001/attention.ipynb", ADA),
        ("assignment_55_export/submission_metadata.yml", METADATA.encode()),
    )
    assert set(course.collect(path)) == {"ada", "bob"}
    assert course.notebook("ada") == course.notebook("bob") == ADA
    assert course.time("ada") == "2026-11-20 14:03:59"


def test_a_name_on_gradescope_is_nobody_s_proof(course):
    """There everybody writes their own name; addresses are what it checks."""
    metadata = METADATA + (
        "submission_3002:\n  :submitters:\n"
        '  - {":name": Ada Lovelace, ":email": mallory@else.example}\n'
        "  :created_at: 2026-11-22 14:03:59 Z\n"
    )
    outcomes = course.collect(
        course.zip(
            ("export/submission_3001/attention.ipynb", ADA),
            ("export/submission_3002/attention.ipynb", BOB),
            ("export/submission_metadata.yml", metadata.encode()),
        )
    )
    assert course.notebook("ada") == ADA and set(course.placed) == {"ada", "bob"}
    assert any("mallory@else.example" in o.remark for o in outcomes.values())


def test_who_hands_in_alone_after_the_group_is_taken_at_their_last_word(course):
    metadata = METADATA + (
        "submission_3002:\n  :submitters:\n"
        '  - {":name": Ada, ":email": ada@uni.example}\n'
        "  :created_at: 2026-11-22 14:03:59 Z\n"
    )
    course.collect(
        course.zip(
            ("export/submission_3001/attention.ipynb", BOB),
            ("export/submission_3002/attention.ipynb", ADA),
            ("export/submission_metadata.yml", metadata.encode()),
        )
    )
    assert (course.notebook("ada"), course.notebook("bob")) == (ADA, BOB)


def gradescope(course, *people: str):
    """An archive of submissions, one a day, whose content is their number."""
    first, *later = range(3001, 3001 + len(people))
    metadata = "".join(
        f"submission_{n}:\n  :submitters:\n  - {{{person}}}\n"
        f"  :created_at: 2026-11-{n - 2990} 14:03:59 Z\n"
        for n, person in zip((first, *later), people, strict=True)
    )
    return course.zip(
        *(
            (f"export/submission_{n}/attention.ipynb", notebook_of(n))
            for n in (first, *later)
        ),
        ("export/submission_metadata.yml", metadata.encode()),
    )


@pytest.mark.parametrize(
    "address",
    ["ada@u-ni.example", "a.da@uni.example", "a_da@uni.example", "ada@uni.ex.ample"],
)
def test_an_address_that_looks_like_another_is_another(course, address):
    outcomes = course.collect(
        gradescope(course, '":email": ada@uni.example', f'":email": "{address}"')
    )
    assert course.notebook("ada") == notebook_of(3001)
    assert outcomes["ada"].status == "placed" and set(course.placed) == {"ada"}
    assert any(f"{address} is not on the roster" in o.remark for o in outcomes.values())


def test_an_address_is_the_same_in_capitals(course):
    outcomes = course.collect(gradescope(course, '":email": Ada@UNI.example'))
    assert outcomes["ada"].status == "placed"


def test_no_address_is_nobody_s(course):
    (course.root / "roster.csv").write_text("id,first_name\nada,Ada\nbob,Bob\n")
    roster = from_csv(course.root / "roster.csv")
    course.collect(gradescope(course, '":email": " "'), roster=roster)
    assert course.placed == {}


@pytest.mark.parametrize(
    "mallory",
    [
        '":sid": "12345", ":email": mallory@else.example',  # Ada's number
        '":email": ADA@uni.example',  # of a host that keeps cases apart
        '":sid": "12345"',
    ],
)
def test_none_of_several_claimants_is_placed_whoever_was_last(course, mallory):
    ada = '":name": Ada, ":email": ada@uni.example'
    outcomes = course.collect(gradescope(course, ada, f'":name": M, {mallory}'))
    assert course.placed == {}
    assert "several people match: Ada ada@uni.example and M" in outcomes["ada"].remark
    assert "collect again" in outcomes["ada"].remark


def test_who_claims_to_be_a_student_later_on_does_not_replace_them(course):
    ada = '":email": ada@uni.example'
    mallory = '":sid": "12345", ":email": mallory@else.example'
    bob = '":email": bob@uni.example'
    course.collect(gradescope(course, ada))
    later = gradescope(course, bob, mallory)
    outcome = course.collect(later)["ada"]
    assert outcome.status == "unclear"
    assert "from ada@uni.example, this from mallory@else.example" in outcome.remark
    assert course.notebook("ada") == notebook_of(3001)
    assert course.collect(later, replace=True)["ada"].status == "replaced"


def test_without_a_roster_one_number_of_two_people_is_nobody_s(course):
    people = (
        '":sid": "7", ":email": one@a.example',
        '":sid": "7", ":email": two@a.example',
    )
    outcomes = course.collect(gradescope(course, *people), roster=Roster())
    assert course.placed == {} and "several people" in outcomes["7"].remark


def test_many_claimants_are_counted(course):
    people = [f'":sid": "12345", ":email": m{n}@else.example' for n in range(9)]
    assert "m2@else.example (12345) and 6 more;" in (
        course.collect(gradescope(course, *people))["ada"].remark
    )


def test_a_file_called_like_gradescope_s_own_costs_nobody_anything(course):
    path = course.zip(
        ("submission_3001/attention.ipynb", ADA),
        ("submission_3001/submission_metadata.yml", b"submission_3001: {}"),
        ("submission_metadata.yml", METADATA.encode()),
    )
    assert not [o for o in course.collect(path).values() if o.needs_person]
    assert course.notebook("ada") == course.notebook("bob") == ADA


def test_a_name_that_somebody_chose_cannot_steer_a_terminal(course):
    metadata = r"""
submission_1:
  :submitters:
  - {":name": "\e[2J\nAda \ud800", ":sid": "\r9", ":email": "\e]0;x\a"}
"""
    path = course.zip(
        ("x/submission_1/a.ipynb", ADA),
        ("x/submission_metadata.yml", metadata.encode()),
    )
    lines = place.as_text(course.collect(path).values()).splitlines()
    assert len(lines) == 3  # hers, a blank one and the sums
    assert all(line.isprintable() for line in lines)


@pytest.mark.parametrize(
    "metadata",
    [None, b"[1, 2", b"&a [*a]", b"- 1", b"submission_3001: 5", b"\xff\xfe\x00"],
)
def test_odd_gradescope_metadata_is_told(course, metadata):
    members = [("export/submission_3001/a.ipynb", ADA)]
    if metadata is not None:
        members.append(("export/submission_metadata.yml", metadata))
    (outcome,) = course.collect(course.zip(*members)).values()
    assert outcome.needs_person and course.placed == {}


def test_a_submission_that_the_metadata_does_not_know_is_nobody_s(course):
    """Its number is one of Gradescope's, even where it is also a student's."""
    (outcome,) = course.collect(
        course.zip(
            ("export/submission_12345/a.ipynb", ADA),
            ("export/submission_metadata.yml", b"{}"),
        )
    ).values()
    assert outcome.needs_person and "does not say whose" in outcome.remark
