"""A kernel that is prepared once: what forks of it share, and what they must not."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.sandbox.conftest import linux

pytestmark = linux

FORKED = """
import json, os, sys, threading
from pathlib import Path
from autograder.sandbox import inside
from autograder.sandbox.app import SandboxedKernelApp

folder = Path(sys.argv[1])
inside.prepare(folder / "server")
inside.rehearse()
app = SandboxedKernelApp.instance()
print(json.dumps({
    "threads": threading.active_count(),
    "unused": [name for name in ("debugpy", "jedi") if name in sys.modules],
    "descriptors": [os.readlink(f"/proc/self/fd/{fd}") for fd in (3, 4, 5, 6)
                    if os.path.lexists(f"/proc/self/fd/{fd}")],
}), flush=True)
for name in ("one", "other"):
    if not os.fork():
        os.environ["IPYTHONDIR"] = str(folder / name)
        (folder / name).mkdir()
        app._become_another()
        shell = app.kernel.shell
        print(json.dumps({
            "session": app.session.session, "pid": app.session.pid == os.getpid(),
            "ident": app.kernel.ident, "topic": shell.displayhook.topic.decode(),
            "folder": shell.profile_dir.location, "term": os.environ.get("TERM"),
        }), flush=True)
        os._exit(0)
    os.wait()
"""


def fork_application(folder: Path) -> list[dict[str, Any]]:
    clean = {k: v for k, v in os.environ.items() if k != "TERM"}
    run = subprocess.run(
        [sys.executable, "-c", FORKED, str(folder)],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True,
        env=clean,
    )  # fmt: skip
    return [json.loads(line) for line in run.stdout.splitlines()]


def test_nothing_is_open_before_the_fork_and_no_identity_shared_after_it(tmp_path):
    server, first, second = fork_application(tmp_path)
    assert server["threads"] == 1 and server["unused"] == []
    kinds = ("socket:", "pipe:", "anon_inode:")
    assert not [name for name in server["descriptors"] if name.startswith(kinds)]
    for sandbox, name in ((first, "one"), (second, "other")):
        assert sandbox["pid"] and sandbox["ident"] in sandbox["topic"]
        assert Path(sandbox["folder"]).is_relative_to(tmp_path / name)
        assert sandbox["term"] == "xterm-color"
    assert first["session"] != second["session"] and first["ident"] != second["ident"]
