"""A roster has an id for everybody that can name a folder, and no formula."""

from autograder.extras.lti.assignment import LmsMember
from autograder.extras.lti.class_list import as_roster

TITLES = "id,first_name,last_name,email,lms_user_id,username,section"


def rows(*members: LmsMember) -> list[str]:
    first, *others = as_roster(members).splitlines()
    assert first == TITLES
    return others


def test_an_id_is_the_login_the_number_or_the_key():
    assert rows(
        LmsMember("3", login="ada", number="77"),
        LmsMember("2", login="b/../ob", number="76"),
        LmsMember("1", "Grace Brewster Hopper"),
    ) == [
        "1,Grace Brewster,Hopper,,1,,",
        "76,,,,2,b/../ob,",
        "ada,,,,3,ada,",
    ]


def test_names_are_the_lms_s_own_where_it_tells_them_apart():
    member = LmsMember("1", "Ada King", first_name="Ada", last_name="of Lovelace")
    assert rows(member) == ["1,Ada,of Lovelace,,1,,"]


def test_a_name_is_no_formula():
    (row,) = rows(LmsMember("1", "=cmd A"))
    assert row == "1,'=cmd,A,,1,,"


def test_who_has_nothing_that_can_name_a_folder_is_left_out():
    assert rows(LmsMember("a/b")) == []
