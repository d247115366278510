"""Build the zip for Gradescope's autograder, with all that grading one unit needs.

Gradescope runs ``setup.sh`` once, and ``run_autograder`` for each hand-in. The
zip contains hidden references and the course's secret, and must never be given
to students.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path

from autograder.course import Unit, notebooks
from autograder.course.files import replacing
from autograder.grading.secret import course_secret
from autograder.root import ENGINE, PACKAGE

_SETUP = """\
#!/usr/bin/env bash
# Gradescope runs this once, when it builds the image: an environment beside the source.
set -euo pipefail
root=$(dirname "$(dirname "$(readlink -f "$0")")")
apt-get update
apt-get install --yes --no-install-recommends bubblewrap ca-certificates python3-venv
python3 -m venv /opt/uv && /opt/uv/bin/pip install --quiet uv
export UV_PYTHON_INSTALL_DIR=/opt/python
/opt/uv/bin/uv venv --python 3.12 "$root/environment"
cd "$root/source"
/opt/uv/bin/uv pip install --python "$root/environment/bin/python" \\
  --extra-index-url https://download.pytorch.org/whl/cpu \\
  --index-strategy unsafe-best-match --constraint constraints.txt --editable .
"""

_RUN = """\
#!/usr/bin/env bash
# Gradescope runs this for each hand-in.
set -uo pipefail
root=$(dirname "$(readlink -f "$0")")
mkdir -p "$root/results"
cd "$root/source"
chmod -R go-rwx "$root/results" .autograder source {package}/references/hidden \\
  {package}/*/exercises autograder/authoring {package}/solutions/{name}.py
export PATH="$root/environment/bin:$PATH" PYTHONPATH="$root/source"
exec python -m autograder hosted {unit} --submission "$root/submission" \\
  --results "$root/results/results.json" --format gradescope --tell {tell} --unconfined
"""

_BESIDE = (
    "course.toml", "pyproject.toml", "constraints.txt", "nbgrader_config.py",
    "README.md",
    "deploy/environment/backend.py", "deploy/environment/nbgrader_config.py",
)  # fmt: skip


def build(unit: Unit, path: Path, tell: str) -> Path:
    """Write the zip with which Gradescope grades a unit, and return its path.

    Args:
        tell: what students see immediately: "points", "cases" or "panels".

    Raises:
        CourseError: the zip cannot be written, or the unit's notebooks are damaged.
    """
    scripts = {"setup.sh": _SETUP, "run_autograder": _RUN}
    # Read only to raise an error now if one is damaged.
    for notebook in (unit.source, unit.release):
        notebooks.read_valid_text(notebook)
    with replacing(path) as part, zipfile.ZipFile(part, "w") as file:
        for name, text in scripts.items():
            words = {"unit": unit.label, "name": unit.name, "tell": tell}
            for key, value in {**words, "package": PACKAGE}.items():
                text = text.replace(f"{{{key}}}", value)
            _add(file, name, text.encode(), 0o755)
        for source in sorted(_files(unit)):
            name = source.relative_to(unit.root).as_posix()
            _add(file, name, source.read_bytes(), 0o644)
        _add(file, ".autograder/secret", course_secret(unit.root), 0o600)
    return path


def _files(unit: Unit) -> Iterator[Path]:
    """Yield the files to zip: packages, settings, and the unit's text and notebooks.

    Other units' hidden references are left out.
    """
    secret = unit.package / "references" / "hidden"
    for path in (*ENGINE.rglob("*"), *unit.package.rglob("*")):
        wanted = not path.is_relative_to(secret) or path.stem in (unit.name, "seeds")
        if wanted and path.is_file() and "__pycache__" not in path.parts:
            yield path
    yield from (unit.root / name for name in _BESIDE)
    yield unit.text
    for folder in (unit.source.parent, unit.release.parent):
        yield from (path for path in folder.rglob("*") if path.is_file())


def _add(file: zipfile.ZipFile, name: str, data: bytes, mode: int) -> None:
    info = zipfile.ZipInfo(name)
    info.external_attr = (0o100000 | mode) << 16
    file.writestr(info, data, zipfile.ZIP_DEFLATED)
