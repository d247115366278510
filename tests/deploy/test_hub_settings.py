"""What the sample configuration of the hub sets, without a hub."""

from __future__ import annotations

import grp
import pwd
from types import SimpleNamespace

import pytest
from traitlets.config import Config

from autograder.course import ROOT

SAMPLE = ROOT / "deploy" / "jupyterhub" / "jupyterhub_config.py"
HOST = "https://hub.uni.example"


def settings(monkeypatch: pytest.MonkeyPatch, text: str) -> Config:
    group = SimpleNamespace(gr_mem=["prof", "formgrader"])
    monkeypatch.setattr(grp, "getgrnam", lambda name: group)
    monkeypatch.setattr(pwd, "getpwnam", lambda name: SimpleNamespace(pw_dir="/home"))
    config = Config()
    exec(compile(text, str(SAMPLE), "exec"), {"get_config": lambda: config})
    return config


@pytest.mark.parametrize("host", ["", HOST])
def test_one_line_gives_each_server_an_address_of_its_own(monkeypatch, host):
    line = 'SUBDOMAIN_HOST = ""'
    text = SAMPLE.read_text().replace(line, f'SUBDOMAIN_HOST = "{host}"')
    assert f'"{host}"' in text
    assert settings(monkeypatch, text).JupyterHub.subdomain_host == host


def test_only_graders_reach_the_shared_formgrader(monkeypatch):
    hub = settings(monkeypatch, SAMPLE.read_text()).JupyterHub
    assert hub.load_groups == {"graders": {"users": ["prof"]}}
    assert [role["groups"] for role in hub.load_roles] == [["graders"]]
