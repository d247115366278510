"""A real JupyterHub with our sample configuration, used through its own addresses.

What JupyterLab's Assignment List and the formgrader send, this sends, too.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import psutil
import pytest

from autograder.classroom import sample
from autograder.course import ROOT, find_unit
from tests.accounts import Accounts, accounts, as_root, needs_accounts
from tests.clone import checkout

UNIT = find_unit("positional_encoding")
PROXY = "configurable-http-proxy@5"
NAMES = ("prof", "formgrader", "ada", "alan")

pytestmark = [
    pytest.mark.slow,
    needs_accounts,
    pytest.mark.skipif(
        importlib.util.find_spec("jupyterhub") is None,
        reason="needs JupyterHub: pip install -e '.[hub]'",
    ),
    pytest.mark.skipif(not shutil.which("npm"), reason="the hub's proxy needs npm"),
]


@pytest.fixture(scope="module")
def proxy(tmp_path_factory) -> Path:
    """The hub's proxy, from the npm registry."""
    folder = tmp_path_factory.mktemp("proxy")
    command = ["npm", "install", "--no-audit", "--no-fund", "--prefix", folder, PROXY]
    process = subprocess.run(command, capture_output=True, text=True, check=False)
    if process.returncode:
        pytest.skip(f"the npm registry does not answer: {process.stderr[-200:]}")
    return folder / "node_modules" / ".bin" / "configurable-http-proxy"


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@dataclass
class Hub:
    """A running hub of a class; ``folder`` holds its homes, course and log."""

    folder: Path
    people: Accounts
    port: int = field(default_factory=_free_port)
    token: str = field(default_factory=lambda: secrets.token_hex(16))

    def ask(
        self, method: str, path: str, data: object = None, token: str = ""
    ) -> tuple[int, object]:
        """What an address of the hub answers: its status and its JSON (or text)."""
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}{path}",
            method=method,
            data=None if data is None else json.dumps(data).encode(),
            headers={"Authorization": f"token {token or self.token}"},
        )
        if method != "GET" and data is None:
            request.data = b""
        try:
            with urllib.request.urlopen(request, timeout=300) as reply:
                status, text = reply.status, reply.read().decode()
        except urllib.error.HTTPError as error:
            status, text = error.code, error.read().decode()
        except OSError as error:
            status, text = 0, str(error)
        try:
            return status, json.loads(text)
        except ValueError:
            return status, text

    def must(self, method: str, path: str, data: object = None) -> object:
        """The answer, which must be a success."""
        status, answer = self.ask(method, path, data)
        assert 200 <= status < 300, f"{method} {path}: {status} {str(answer)[-2000:]}"
        return answer

    def wait(self, path: str, seconds: float = 240) -> None:
        """Wait until an address answers."""
        deadline = time.monotonic() + seconds
        while not 200 <= (answer := self.ask("GET", path))[0] < 300:
            assert time.monotonic() < deadline, f"{path}: {answer}\n{self.log()}"
            time.sleep(0.5)

    def log(self) -> str:
        return (self.folder / "hub.log").read_text()[-6000:]

    def start_server(self, person: str) -> None:
        self.must("POST", f"/hub/api/users/{self.people[person]}/server")
        self.wait(f"/user/{self.people[person]}/api/status")

    def student(self, person: str, action: str) -> object:
        """What the Assignment List does for a student."""
        query = urllib.parse.urlencode(
            {"assignment_id": UNIT.label, "course_id": "transformer"}
        )
        path = f"/user/{self.people[person]}/assignments/{action}?{query}"
        answer = self.must("POST", path)
        assert answer["success"], answer
        return answer["value"]

    def grader(self, action: str, method: str = "POST") -> object:
        """What the shared formgrader does for a grader."""
        return self.must(method, f"/services/transformer/formgrader/api/{action}")

    def api_token(self, person: str) -> str:
        """A token with which somebody can do what they can do in the browser."""
        path = f"/hub/api/users/{self.people[person]}/tokens"
        return self.must("POST", path, {})["token"]


def _configuration(hub: Hub, proxy: Path) -> str:
    """The sample with its first lines changed, as docs/jupyterhub.md says."""
    text = (ROOT / "deploy" / "jupyterhub" / "jupyterhub_config.py").read_text()
    people = hub.people
    for name, value in {
        "GROUP": people["graders"],
        "ADMINS": {people["prof"]},
        "SERVICE_ACCOUNT": people["formgrader"],
        "COURSE_FOLDER": str(hub.folder / "shared" / "transformer"),
        "GRADERS_ENVIRONMENT": sys.prefix,
        "STUDENTS_ENVIRONMENT": sys.prefix,
        "FORMGRADER_PORT": _free_port(),
    }.items():
        (line,) = [n for n in text.splitlines() if n.startswith(f"{name} = ")]
        text = text.replace(line, f"{name} = {value!r}")
    variables = {
        "JUPYTER_CONFIG_PATH": str(hub.folder / "etc"),
        "PYTHONPATH": str(hub.folder / "checkout"),
    }
    scopes = [
        "admin:users",
        "admin:servers",
        "access:servers",
        "access:services",
        "tokens",
    ]
    return f"""{text}
# --- of this test
c.Spawner.environment = {variables!r}
c.JupyterHub.services[0]["environment"].update({variables!r})
c.JupyterHub.services.append({{"name": "test", "api_token": {hub.token!r}}})
c.JupyterHub.load_roles.append(
    {{"name": "test", "services": ["test"], "scopes": {scopes!r}}}
)
c.JupyterHub.bind_url = "http://127.0.0.1:{hub.port}"
c.JupyterHub.hub_port = {_free_port()}
c.ConfigurableHTTPProxy.api_url = "http://127.0.0.1:{_free_port()}"
c.ConfigurableHTTPProxy.command = [{str(proxy)!r}]
c.Spawner.http_timeout = c.Spawner.start_timeout = 240
"""


@pytest.fixture(scope="module")
def hub(proxy) -> Iterator[Hub]:
    with tempfile.TemporaryDirectory(prefix="hub-", dir="/tmp") as name:
        folder = Path(name)
        folder.chmod(0o755)
        checkout(folder / "checkout")
        with accounts(NAMES, folder / "home") as people:
            running_hub = Hub(folder, people)
            graders = [people["prof"], people["formgrader"]]
            subprocess.run(
                as_root(
                    [
                        sys.executable,
                        "-m",
                        "autograder",
                        "exchange",
                        "--folder",
                        folder / "shared",
                        "--config",
                        folder / "etc",
                        "--group",
                        people["graders"],
                        "--graders",
                        *graders,
                    ]
                ),
                cwd=folder / "checkout",
                check=True,
                env=os.environ | {"PYTHONPATH": str(folder / "checkout")},
            )
            (folder / "hub").mkdir()
            config = folder / "hub" / "jupyterhub_config.py"
            config.write_text(_configuration(running_hub, proxy))
            with (folder / "hub.log").open("w") as log:
                running = subprocess.Popen(
                    as_root([sys.executable, "-m", "jupyterhub", "-f", config]),
                    cwd=folder / "hub",
                    stdout=log,
                    stderr=log,
                    start_new_session=True,
                )
            try:
                running_hub.wait("/hub/api/")
                yield running_hub
            finally:
                os.killpg(running.pid, signal.SIGTERM)
                try:
                    running.wait(60)
                except subprocess.TimeoutExpired:
                    os.killpg(running.pid, signal.SIGKILL)
                    running.wait()
                _end_all(people)


def _end_all(people: Accounts) -> None:
    """End what still runs for the accounts of this test."""
    names = {people[name] for name in NAMES}
    for process in psutil.process_iter(["username"]):
        if process.info["username"] in names:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()


def test_a_unit_from_release_to_feedback_through_the_hub(hub):
    unit, people = UNIT.label, hub.people
    for person in ("ada", "alan"):  # who logs in is known from then on
        hub.must("POST", f"/hub/api/users/{people[person]}")
    hub.wait("/services/transformer/formgrader/api/status")

    assert hub.grader(f"assignment/{unit}/assign")["success"]
    released = hub.grader(f"assignment/{unit}/release")
    assert released["success"], released

    # Students: fetch, work, submit. They cannot open the formgrader.
    work = sample.submissions(UNIT)
    for person, like in (("ada", "ada"), ("alan", "alan")):
        hub.start_server(person)
        hub.student(person, "fetch")
        home = f"/user/{people[person]}/api/contents/{unit}/{UNIT.release.name}"
        answer = {"type": "notebook", "content": json.loads(work[like])}
        hub.must("PUT", home, answer)
        hub.student(person, "submit")
    address = "/services/transformer/formgrader/api/assignments"
    assert hub.ask("GET", address, token=hub.api_token("ada"))[0] == 403

    # The instructor, in the shared formgrader: collect, autograde, hand back.
    hub.start_server("prof")
    collected = hub.grader(f"assignment/{unit}/collect")
    assert collected["success"], collected
    for person in ("ada", "alan"):
        graded = hub.grader(f"submission/{unit}/{people[person]}/autograde")
        assert graded["success"], graded
    submissions = hub.grader(f"submissions/{unit}", "GET")
    points = {row["student"]: row["score"] for row in submissions}
    assert points[people["ada"]] > points[people["alan"]] > 0
    for step in ("generate_feedback", "release_feedback"):
        reply = hub.grader(f"assignment/{unit}/{step}")
        assert reply["success"], reply
    # The instructor's own server stands in the same course, by group.
    formgrader_path = f"/user/{people['prof']}/formgrader/api/submissions/{unit}"
    assert {row["student"] for row in hub.must("GET", formgrader_path)} == set(points)

    for person in ("ada", "alan"):
        hub.student(person, "fetch_feedback")
        pages = hub.people.home / people[person] / unit / "feedback"
        (page,) = pages.glob("*/*.html")
        assert page.stat().st_size > 10_000
