"""What a sandbox sees: the interpreter and the kit, but nothing else of the course."""

import os
from pathlib import Path

from autograder.root import CONTENT, ENGINE, ROOT
from autograder.sandbox import kit
from autograder.sandbox.confine import Policy, slot_uid
from autograder.sandbox.supervisor import room_for


def test_the_course_and_both_packages_are_hidden_but_for_the_kit():
    room = room_for(Policy(), Path("/slot"), "/submitted/ada")
    assert {*map(str, (ROOT, ENGINE, CONTENT))} <= {*room.hidden}
    assert room.hidden == kit.list_hidden() and room.kit == kit.kit_paths()
    assert set(kit.interpreter_paths()) <= set(room.visible)
    assert (room.slot, room.submission) == (Path("/slot"), Path("/submitted/ada"))


def test_a_policy_shows_more_and_hides_more():
    room = room_for(Policy(readable=("/data",), hidden=("/data/b",)), Path("/s"), None)
    assert "/data" in room.visible and "/data/b" in room.hidden
    assert room.submission is None


def test_no_two_supervisors_of_root_share_a_user(monkeypatch):
    monkeypatch.setattr(os, "getuid", lambda: 0)
    room = room_for(Policy(), Path("/slot"), None)
    assert room.uid == slot_uid(os.getpid()) != slot_uid(os.getpid() + 1)
