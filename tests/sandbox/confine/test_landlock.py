"""Landlock's rules only add: they go round what is hidden."""

from autograder.sandbox.confine import landlock


def test_rules_go_round_what_is_hidden_and_follow_no_link(monkeypatch, tmp_path):
    for name in ("course/exercises", "other", "torch/lib"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "link").symlink_to("course")
    allowed = {}

    def allow(_: int, path: str, access: int) -> None:
        allowed[path] = access

    monkeypatch.setattr(landlock, "_allow", allow)
    landlock._allow_around(0, str(tmp_path), {str(tmp_path / "course")})
    read = {p for p, access in allowed.items() if access == landlock._READ_ONLY}
    assert read == {str(tmp_path / "other"), str(tmp_path / "torch")}
