"""What the docs name exists: files, modules, functions, commands, targets and links."""

from __future__ import annotations

import functools
import re
import subprocess
from fnmatch import filter as matching
from pathlib import Path

import pytest

from autograder import cli
from autograder.course import ROOT

PAGES = [ROOT / f"{name}.md" for name in ("README", "CONTRIBUTING", "SECURITY")]
PAGES += sorted((ROOT / "docs").glob("*.md"))
LISTED = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
FILES = subprocess.check_output(LISTED, cwd=ROOT, text=True).splitlines()
FILES = [f"/{path}" for path in FILES if (ROOT / path).is_file()]
HOMES = "autograder|transformer_course|tests|benchmarks|assets|notebooks|docs|deploy"
FILE = re.compile(rf"(?<![\w/.-])((?:{HOMES})/[\w./*-]*[\w*]|\w[\w/-]*\.py\b)")
MODULE = re.compile(r"(?<![\w./-])((?:autograder|transformer_course|tests)(?:\.\w+)+)")
COMMANDS = re.findall(r"^  ([a-z-]+) ", cli._parser().format_help(), re.MULTILINE)
TARGETS = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
CODE = [path for path in FILES if path.endswith((".py", ".toml", ".j2"))]
# What a page has its reader write, and names of Python's and PyTorch's.
EXAMPLES = {
    "01_first.py", "property_sizes", "favourite_key.py", "mistake.py", "replay.py",
    "getgrnam", "share_memory_",
}  # fmt: skip


@functools.cache
def texts() -> dict[str, str]:
    """The code of the repository, by path."""
    return {path: (ROOT / path[1:]).read_text("utf-8") for path in CODE}


@functools.cache
def names() -> set[str]:
    """All words of the code."""
    return {name for text in texts().values() for name in re.findall(r"\w+", text)}


def is_file(name: str) -> bool:
    """Whether a path of ours ends like this; UNIT, NAME and NN stand for any."""
    pattern = "*/" + re.sub("UNIT|NAME|NN", "*", name)
    return bool(matching(FILES, pattern) or matching(FILES, f"{pattern}/*"))


def is_module(name: str) -> bool:
    """Whether it is a module of ours, or a name in one."""
    module, _, last = (path := f"/{name.replace('.', '/')}").rpartition("/")
    text = texts().get(f"{module}.py", "") + texts().get(f"{module}/__init__.py", "")
    ends = (".py", "/__init__.py")
    is_path = any(path + end in texts() for end in ends)
    return is_path or last in re.findall(r"\w+", text)


def stale(text: str) -> set[str]:
    """What a page names and nobody finds."""
    blocks = re.findall(r"^ *```\w*\n(.*?)^ *```$", text, re.DOTALL | re.MULTILINE)
    lines = "\n".join(blocks).splitlines() + re.findall(r"`([^`\n]+)`", text)
    missing = {name for name in FILE.findall(text) if not is_file(name)}
    missing |= {name for name in MODULE.findall(text) if not is_module(name)}
    for line in lines:
        missing |= {*re.findall(r"^(?:.*/)?autograder ([a-z][a-z-]+)", line)} - {
            *COMMANDS
        }
        for targets in re.findall(r"^make((?: [a-z-]+(?![\w=-]))+)", line):
            missing |= {*targets.split()} - {*TARGETS}
        missing |= {*re.findall(r"^(\w*(?:_|[a-z][A-Z])\w*|\w+(?=\())", line)} - names()
    return {name for name in missing if Path(name).name not in EXAMPLES}


@pytest.mark.skipif(
    (ROOT / "tests" / "left_out.txt").exists(), reason="units were left out"
)
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_what_a_page_names_exists(page):
    assert stale(page.read_text("utf-8")) == set()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_its_links_lead_somewhere(page):
    for link in re.findall(r"\]\((?!http)([^)\s]+)\)", page.read_text("utf-8")):
        path, _, anchor = link.partition("#")
        target = page.parent / path if path else page
        assert target.exists(), link
        if anchor:
            headings = re.findall(r"^#+ (.+)$", target.read_text("utf-8"), re.MULTILINE)
            plain = [re.sub(r"[^\w -]", "", heading).lower() for heading in headings]
            assert anchor in {heading.replace(" ", "-") for heading in plain}, link


GONE = (
    "checks/gone.py",
    "python -m tests.gone",
    "autograder gone",
    "make gone",
    "x" * 9 + "()",
)


@pytest.mark.parametrize("text", GONE)
def test_what_is_gone_is_found(text):
    assert len(stale(f"`{text}`")) == 1
