"""The warm server imports nothing that does not ship to students."""

import subprocess
import sys


def test_a_probe_that_imports_what_does_not_ship_is_named_and_spoils_no_other(tmp_path):
    """What the warm server has imported, every sandbox can read."""
    units = tmp_path / "transformer_course"
    for unit, imported in (("bad", "autograder.authoring.draw"), ("good", "math")):
        (units / unit / "probes").mkdir(parents=True)
        (units / unit / "probes" / "__init__.py").write_text(f"import {imported}\n")
        (units / unit / "probes" / "more.py").write_text("")
    code = (
        "import sys, pathlib, transformer_course\n"
        "from autograder.sandbox import fork_server, kit\n"
        f"units = pathlib.Path({str(units)!r})\n"
        "transformer_course.__path__.append(str(units))\n"
        "names = ['bad.probes', 'bad.probes.more', 'good.probes', 'good.probes.more']\n"
        "names = [f'transformer_course.{name}' for name in names]\n"
        "fork_server.kit.modules = lambda _: iter(names)\n"
        "fork_server.kit.KIT = {fork_server.shipped.ENGINE: (), units: ()}\n"
        "fork_server.kit.kit_paths = lambda: map(str, units.glob('*/probes'))\n"
        "fork_server.WARM = ()\n"
        "print(*fork_server.preload(), sep='\\n')\n"
        "print(*(name for name in names if name in sys.modules))\n"
        "print(any('authoring' in name for name in sys.modules))\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert run.stdout.splitlines() == [
        "transformer_course.bad.probes: autograder.authoring does not ship to students "
        "(transformer_course/bad/probes/__init__.py, line 1)",
        "transformer_course.good.probes transformer_course.good.probes.more",
        "False",
    ]
