"""Secrets and scripts in what a student gets back."""

from __future__ import annotations

import html.parser
import json
import re
from collections.abc import Iterator

from autograder.checks import references
from tests.attacks.course import Course
from tests.attacks.material import CANARY

_STOLEN = re.compile('STOLEN[^\\\\"<]{0,60}')  # attacks print it with what they got
_ADDRESSES = (
    "src", "srcset", "href", "action", "formaction", "data", "poster", "background",
    "xlink:href", "cite", "ping",
)  # fmt: skip
_ACTIVE = {
    "script", "iframe", "frame", "object", "embed", "applet", "base", "link", "form",
    "portal", "animate", "set", "foreignobject",
}  # fmt: skip


def leaks(course: Course, student: str) -> list[str]:
    """Secrets in a student's autograded notebook or feedback."""
    outputs = course.outputs(student)
    page = course.feedback(student)
    secrets = [name for name, secret in _secrets(course) if secret in outputs + page]
    hidden = f"{CANARY}-assert"
    secrets += ["the hidden assert"] * (hidden in page)
    return secrets + _STOLEN.findall(outputs)[:2]


def _secrets(course: Course) -> Iterator[tuple[str, str]]:
    secret = course.root / ".autograder" / "secret"
    yield "the course's secret", secret.read_text()
    yield "a file of the course", f"{CANARY}-file"
    yield "the environment", f"{CANARY}-environment"
    for case in references.load("attention", "hidden")["attention/softmax"].cases:
        if "weights" not in case.expected:  # a general property, in other words
            continue
        row = case.expected["weights"].flatten()[:3].tolist()
        yield "a hidden reference", ", ".join(map(str, row))
        yield "a hidden reference", ", ".join(f"{value:.4f}" for value in row)


class _Page(html.parser.HTMLParser):
    """Collects what a browser would run or fetch by itself."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[str] = []
        self._style = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._style = tag == "style"
        if tag in _ACTIVE:
            self.found.append(f"<{tag}> {dict(attrs)}")
        for name, value in attrs:
            if _objection(tag, name, value or ""):
                self.found.append(f"<{tag} {name}={value!r:.120}>")
        equivalents = [v for n, v in attrs if n == "http-equiv"]
        if tag == "meta" and equivalents not in ([], ["Content-Security-Policy"]):
            self.found.append(f"<meta {equivalents}>")

    def handle_data(self, data: str) -> None:
        # A font in the page itself is neither run nor fetched.
        data = re.sub(r"url\(data:font/woff2;base64,[\w+/=]*\)", "", data)
        if self._style and re.search(r"@import|url\(", data):
            self.found.append(f"style {data:.120}")

    def handle_endtag(self, tag: str) -> None:
        self._style = self._style and tag != "style"


def _objection(tag: str, name: str, value: str) -> bool:
    plain = re.sub(r"[\s\x00-\x1f]", "", value).lower()
    if name.startswith("on") or name == "srcdoc":
        return True
    if name == "style":
        return bool(re.search(r"url\(|expression\(|@import|\\", plain))
    if name in _ADDRESSES:
        if re.match(r"(javascript|vbscript|file|blob):", plain):
            return True
        if plain.startswith("data:"):
            return tag != "img"
        return tag != "a" and not plain.startswith("#")
    return False


def scripts(page: str) -> list[str]:
    """What a page of feedback would run or fetch in a browser."""
    reader = _Page()
    reader.feed(page)
    reader.close()
    return reader.found


def active_outputs(course: Course, student: str) -> list[str]:
    """The same in an autograded notebook, which an instructor opens."""
    notebook = json.loads(course.graded(student) or '{"cells": []}')
    contents = []
    for cell in notebook["cells"]:
        count = cell.get("execution_count")
        if not isinstance(count, int | None):
            contents.append(f"execution_count {count!r:.80}")
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            for kind in set(data) & {"application/javascript", "image/svg+xml"}:
                contents.append(kind)
            text = data.get("text/html", "")
            contents += scripts("".join(text) if isinstance(text, list) else text)
    return contents
