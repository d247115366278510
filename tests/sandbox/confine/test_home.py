"""Of a submission only plain files come into its sandbox, and no more than fit."""

import os

import pytest

from autograder.sandbox import confine
from autograder.sandbox.confine import home


def test_a_submission_over_its_share_of_the_disk_is_refused(tmp_path):
    (tmp_path / "big.bin").write_bytes(bytes(3 * confine.MB))
    policy = confine.Policy(disk_mb=4)
    target = tmp_path.parent / "copy"
    with pytest.raises(confine.ConfinementError, match="too large"):
        home.copy_submission(tmp_path, target, policy)


def test_a_submission_of_many_empty_folders_is_refused(tmp_path):
    for number in range(9):
        (tmp_path / "source" / str(number)).mkdir(parents=True)
    with pytest.raises(confine.ConfinementError, match="too large"):
        home.copy_submission(
            tmp_path / "source", tmp_path / "copy", confine.Policy(files=18)
        )


def test_files_are_made_in_the_order_of_their_names(tmp_path, monkeypatch):
    """A sandbox's disk lists them by it, and the host's by what it likes."""
    source, file_names = tmp_path / "source", []
    for name in ("b/d.txt", "b/c.txt", "a/f.txt", "e.txt"):
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_text(name)

    def backwards(*arguments: object, **options: object) -> object:
        for folder, folders, names, handle in walk(*arguments, **options):
            folders.sort(reverse=True)
            yield folder, folders, sorted(names, reverse=True), handle

    walk, copied = os.fwalk, home._copy_regular
    monkeypatch.setattr(os, "fwalk", backwards)
    monkeypatch.setattr(
        home,
        "_copy_regular",
        lambda f, name, *rest: file_names.append(name) or copied(f, name, *rest),
    )
    home.copy_submission(source, tmp_path / "target", confine.Policy())
    assert file_names == ["e.txt", "f.txt", "c.txt", "d.txt"]


def test_a_device_or_a_link_to_a_folder_is_not_copied(tmp_path):
    source, target = tmp_path / "source", tmp_path / "target"
    (source / "deep").mkdir(parents=True)
    (source / "deep" / "a.txt").write_text("a")
    (source / "etc").symlink_to("/etc")
    home.copy_submission(source, target, confine.Policy())
    names = sorted(str(p.relative_to(target)) for p in target.rglob("*"))
    assert names == ["deep", "deep/a.txt"]
