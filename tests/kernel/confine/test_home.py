"""Of a submission only plain files come into its box, and no more than fit."""

from __future__ import annotations

from pathlib import Path

import pytest

from autograder.kernel import confine


def test_a_submission_over_its_share_of_the_disk_is_refused(tmp_path: Path) -> None:
    (tmp_path / "big.bin").write_bytes(bytes(3 * confine.MB))
    policy = confine.Policy(disk_mb=4)
    target = tmp_path.parent / "copy"
    with pytest.raises(confine.ConfinementError, match="too large"):
        confine.copy_submission(tmp_path, target, policy)


def test_a_device_or_a_link_to_a_folder_is_not_copied(tmp_path: Path) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    (source / "deep").mkdir(parents=True)
    (source / "deep" / "a.txt").write_text("a")
    (source / "etc").symlink_to("/etc")
    confine.copy_submission(source, target, confine.Policy())
    names = sorted(str(p.relative_to(target)) for p in target.rglob("*"))
    assert names == ["deep", "deep/a.txt"]
