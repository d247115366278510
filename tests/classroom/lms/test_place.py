"""Nobody hands in for somebody else."""

from __future__ import annotations

import pytest

from autograder.classroom.lms.roster import Roster, from_csv
from tests.classroom.lms.course import ADA, BOB, GRADESCOPE
from tests.grading.intake.released import released
from tests.tiny_course import UNIT, data, solved


def made_by(number: int) -> bytes:
    """A notebook of the submission with this number."""
    return data(solved(released(), words=str(number)))


def test_a_file_name_cannot_make_its_author_somebody_else(course):
    forged = "Ada Lovelace_1234567_assignsubmission_file_attention.ipynb"
    course.collect(
        course.zip(
            (f"malloryeve_12347_5_{forged}", BOB),
            ("malloryeve_12347_6_lovelaceada_12345_678901_x.ipynb", BOB),
        )
    )
    assert set(course.placed) == {"eve"}
    moodle = course.zip(
        ("Eve Mallory_9_assignsubmission_file_" + forged, BOB),
        ("Bob Óðinsson_8_assignsubmission_file_x.ipynb", BOB),
    )
    course.collect(moodle, replace=True)
    assert set(course.placed) == {"eve", "bob"}


def test_a_name_that_reads_as_somebody_s_number_is_refused(course):
    """Eve calls herself "x_12345": her files look like the student 12345's."""
    told = course.collect(course.zip(("x_12345_12347_678_a.ipynb", BOB)))
    assert course.placed == {}
    assert all(outcome.needs_person for outcome in told.values())


def test_two_people_who_claim_to_be_one_are_both_refused(course):
    told = course.collect(
        course.zip(
            ("lovelaceada_12345_1_a.ipynb", ADA),
            ("x_12345_2_a.ipynb", BOB),
            ("óðinssonbob_12346_3_a.ipynb", BOB),
        )
    )
    assert set(course.placed) == {"bob"}
    assert "several people match" in told["ada"].says


def test_a_name_on_gradescope_is_nobody_s_proof(course):
    """There everybody writes their own name; addresses are what it checks."""
    metadata = GRADESCOPE + (
        "submission_3002:\n  :submitters:\n"
        '  - {":name": Ada Lovelace, ":email": mallory@else.example}\n'
        "  :created_at: 2026-11-22 14:03:59 Z\n"
    )
    told = course.collect(
        course.zip(
            ("export/submission_3001/attention.ipynb", ADA),
            ("export/submission_3002/attention.ipynb", BOB),
            ("export/submission_metadata.yml", metadata.encode()),
        )
    )
    assert course.notebook("ada") == ADA and set(course.placed) == {"ada", "bob"}
    assert any("mallory@else.example" in o.says for o in told.values())


def test_who_hands_in_alone_after_the_group_is_taken_at_their_last_word(course):
    metadata = GRADESCOPE + (
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
    first, *more = range(3001, 3001 + len(people))
    metadata = "".join(
        f"submission_{n}:\n  :submitters:\n  - {{{person}}}\n"
        f"  :created_at: 2026-11-{n - 2990} 14:03:59 Z\n"
        for n, person in zip((first, *more), people, strict=True)
    )
    return course.zip(
        *(
            (f"export/submission_{n}/attention.ipynb", made_by(n))
            for n in (first, *more)
        ),
        ("export/submission_metadata.yml", metadata.encode()),
    )


@pytest.mark.parametrize(
    "other",
    ["ada@u-ni.example", "a.da@uni.example", "a_da@uni.example", "ada@uni.ex.ample"],
)
def test_an_address_that_looks_like_another_is_another(course, other):
    told = course.collect(
        gradescope(course, '":email": ada@uni.example', f'":email": "{other}"')
    )
    assert course.notebook("ada") == made_by(3001)
    assert told["ada"].status == "placed" and set(course.placed) == {"ada"}
    assert any(f"{other} is not on the roster" in o.says for o in told.values())


def test_an_address_is_the_same_in_capitals(course):
    told = course.collect(gradescope(course, '":email": Ada@UNI.example'))
    assert told["ada"].status == "placed"


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
    told = course.collect(gradescope(course, ada, f'":name": M, {mallory}'))
    assert course.placed == {}
    assert "several people match: Ada ada@uni.example and M" in told["ada"].says
    assert "collect again" in told["ada"].says


def test_who_claims_to_be_a_student_later_on_does_not_replace_them(course):
    ada = '":email": ada@uni.example'
    mallory = '":sid": "12345", ":email": mallory@else.example'
    bob = '":email": bob@uni.example'
    course.collect(gradescope(course, ada))
    later = gradescope(course, bob, mallory)
    outcome = course.collect(later)["ada"]
    assert outcome.status == "unclear"
    assert "from ada@uni.example, this from mallory@else.example" in outcome.says
    assert course.notebook("ada") == made_by(3001)
    assert course.collect(later, replace=True)["ada"].status == "replaced"


def test_without_a_roster_one_number_of_two_people_is_nobody_s(course):
    people = (
        '":sid": "7", ":email": one@a.example',
        '":sid": "7", ":email": two@a.example',
    )
    told = course.collect(gradescope(course, *people), roster=Roster())
    assert course.placed == {} and "several people" in told["7"].says


def test_many_claimants_are_counted(course):
    people = [f'":sid": "12345", ":email": m{n}@else.example' for n in range(9)]
    assert "m2@else.example (12345) and 6 more;" in (
        course.collect(gradescope(course, *people))["ada"].says
    )


MOODLE_ADA = "Ada Lovelace_{}_assignsubmission_file_/a.ipynb"


def worksheet(course, *rows: str) -> Roster:
    path = course.root / "worksheet.csv"
    titles = "Identifier,Full name,Email address"
    path.write_text("\n".join([titles, *rows]) + "\n")
    return course.roster.with_worksheet(path)


def test_two_rows_of_a_worksheet_that_may_be_one_student_are_nobody_s(course):
    rows = ("Participant 77,Ada Lovelace,", "Participant 78,Ada Lovelace,")
    path = course.zip((MOODLE_ADA.format(78), BOB))
    (outcome,) = course.collect(path, roster=worksheet(course, *rows)).values()
    assert course.placed == {} and "participants 77, 78 may be ada" in outcome.says


def test_a_name_is_no_proof_where_the_worksheet_knows_the_number(course):
    roster = worksheet(course, "Participant 77,A. L.,ada@uni.example")
    (outcome,) = course.collect(
        course.zip((MOODLE_ADA.format(78), BOB)), roster=roster
    ).values()
    assert course.placed == {} and "not on the roster" in outcome.says


def test_a_worksheet_s_address_is_compared_as_one(course):
    roster = worksheet(course, "Participant 77,Mallory,ada@u-ni.example")
    assert not any(entry.participants for entry in roster.entries)


def test_two_students_of_one_name_are_not_guessed(course):
    (course.root / "roster.csv").write_text(
        "id,first_name,last_name\nada1,Ada,Lovelace\nada2,Ada,Lovelace\n"
    )
    path = course.zip(("Ada Lovelace_7_assignsubmission_file_/a.ipynb", ADA))
    roster = from_csv(course.root / "roster.csv")
    (outcome,) = course.collect(path, roster=roster).values()
    assert outcome.needs_person and "ada1, ada2" in outcome.says


def test_a_time_cannot_be_handed_in_as_a_file(course):
    course.collect(
        course.zip(
            ("Ada Lovelace_7_assignsubmission_file_/a.ipynb", ADA),
            (
                "Ada Lovelace_7_assignsubmission_file_/timestamp.txt",
                b"2020-01-01 00:00",
            ),
            ("Ada Lovelace_7_assignsubmission_file_/Submission_Secret.txt", b"x"),
        )
    )
    assert course.placed == {"ada": {f"{UNIT}.ipynb": ADA}}
