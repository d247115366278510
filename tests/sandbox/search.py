"""Searches a sandbox of installed packages for a course's exercises and answers.

``python search.py FOLDER LEVEL``, by the interpreter that they are installed for and in
the course's folder, prints as JSON what the cell below gets at.
"""

import asyncio
import json
import os
import sys
from pathlib import Path

import autograder.sandbox.provisioner  # the installed one, before the checkout's path

sys.path.append(str(Path(__file__).resolve().parents[2]))

from tests.sandbox import drive

SEARCH = r"""
import gc, glob, importlib, json, os, pkgutil, re, sys
from importlib import metadata
PACKAGE = "transformer_course"
SECRET = re.compile(PACKAGE + r"/(.*/)?(exercises|solutions|authoring|hidden)/.*\w\.")
seen = {}

def reads(path):
    try:
        with open(path, "rb") as file:
            return bool(file.read(1))
    except OSError:
        return False

def imports(name):
    try:
        importlib.import_module(name)
    except Exception:
        return False
    return True

def gets(path):
    try:
        return bool(pkgutil.get_data(PACKAGE, path.partition(f"/{PACKAGE}/")[2]))
    except OSError:
        return False

places = [str(metadata.distribution("transformer-course").locate_file(file))
          for file in metadata.files("transformer-course")]
secrets = [path for path in places if SECRET.search(path)]
print("SECRETS", len(secrets))
seen["metadata"] = [path for path in secrets if reads(path)]
seen["path"] = [
    path for folder, _, names in os.walk("/")
    if not folder.startswith(("/proc", "/sys"))
    for path in (os.path.join(folder, name) for name in names)
    if SECRET.search(path) and reads(path)]
views = [*glob.glob("/proc/*/root"), *glob.glob("/proc/*/cwd")]
seen["proc"] = [view + path for view in views for path in secrets if reads(view + path)]
for link in glob.glob("/proc/*/fd/*"):
    try:
        seen["proc"] += [name for name in [os.readlink(link)] if SECRET.search(name)]
    except OSError:
        pass
for maps in glob.glob("/proc/*/maps"):
    seen["proc"] += SECRET.findall(open(maps).read()) if reads(maps) else []
seen["memory"] = [name for name in sys.modules if SECRET.search(name.replace(".", "/"))]
held = [scope for scope in gc.get_objects() if type(scope) is dict]
seen["memory"] += [str(scope["__file__"]) for scope in held
                   if SECRET.search(str(scope.get("__file__", "")))]
sites = [path for path in sys.path if path.endswith("-packages")]
for path in (list(sys.path), sites):
    sys.path[:] = path
    for name in [name for name in sys.modules if name.split(".")[0] == PACKAGE]:
        del sys.modules[name]
    importlib.invalidate_caches()
    names = {re.sub(r"(/__init__)?\.py$", "", place[place.rindex(PACKAGE):])
             for place in secrets if place.endswith(".py")}
    seen["import"] = [n for n in names if imports(n.replace("/", "."))]
    seen["pkgutil"] = [path for path in secrets if gets(path)]
from autograder.checks import references
try:
    seen["references"] = list(references.load("attention", "hidden"))
except Exception:
    seen["references"] = []
print("PROBES", imports(PACKAGE + ".attention.probes"))
print("SEEN" + json.dumps(seen))
"""


async def main(folder: Path) -> None:
    """Run the cell, and print what it printed, with the level of its sandbox."""
    os.environ["JUPYTER_DEFAULT_PROVISIONER_NAME"] = "autograder-sandbox"
    manager, client = await drive.start_kernel(folder)
    printed = drive.text(await drive.run(client, SEARCH, 120))
    level = manager.provisioner.level
    await manager.shutdown_kernel(now=True)
    client.stop_channels()
    engine = autograder.sandbox.provisioner.__file__
    print(json.dumps({"level": level, "printed": printed, "engine": engine}))


if __name__ == "__main__":
    drive.set_level(sys.argv[2])
    asyncio.run(main(Path(sys.argv[1])))
