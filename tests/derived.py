"""What README and docs/ derive from the exercises; ``make docs`` writes it."""

from __future__ import annotations

import re

from autograder.authoring import budget
from autograder.authoring.catalogue import specifications
from autograder.authoring.notebook import read
from autograder.course import ROOT, manifest, units
from autograder.course.files import write
from autograder.course.language import WORDINGS
from tests.authoring import outside

README = ROOT / "README.md"
_COUNTS = re.compile(r"\w+ units? with \d+ exercises")
_BANK = re.compile(
    r"more than [\d,]+ (mutants \(.*?)more than [\d,]+ (accepted .*?)"
    r"at least \d+ and \d+ in every unit",
    re.DOTALL,
)
_HEAD = "| unit | what you build | hours |\n|---|---|---:|\n"
_TABLE = re.compile(rf"^{re.escape(_HEAD)}(?:\|.*\n)+", re.MULTILINE)


def unit_table() -> str:
    """The table of units; what each row says is the summary in the unit's manifest."""
    table = _HEAD
    for unit in units():
        cells = read(unit)
        number, title = cells[0].text.splitlines()[0].lstrip("# ").split(" · ")
        path = unit.release.relative_to(ROOT).as_posix()
        time = budget.stated_time(cells).removeprefix("about ")
        time = time.removesuffix(" hours")
        summary = manifest.read(unit).summary
        table += f"| {number} · [{title}]({path}) | {summary} | {time} |\n"
    return table


def readme(text: str) -> str:
    """README with the units and the exercises that there are."""
    cells = [cell for unit in units() for cell in read(unit)]
    count = sum(cell.role == "check" for cell in cells)
    number = len(units())
    words = WORDINGS["en"].numerals
    word = words[number] if number < len(words) else str(number)
    counts = f"{word} unit{'s' if number != 1 else ''} with {count} exercises"
    text = _BANK.sub(_bank, _COUNTS.sub(counts, text, count=1), count=1)
    return _TABLE.sub(lambda _: unit_table(), text, count=1)


def _bank(match: re.Match[str]) -> str:
    """How many mutants and accepted solutions there are, rounded down."""
    counts = [
        (
            sum(len(m.variants) for e in exercises for m in e.mutants),
            sum(len(e.accepted) for e in exercises),
        )
        for exercises in (specifications(unit.name) for unit in units())
    ]
    mutants, accepted = (list(column) for column in zip(*counts, strict=True))
    every = sum(mutants) - 1, sum(accepted) - 1  # "more than"
    return (
        f"more than {every[0] // 100 * 100:,} {match[1]}"
        f"more than {every[1] // 100 * 100:,} {match[2]}"
        f"at least {_round_down(min(mutants), 50)} "
        f"and {_round_down(min(accepted), 10)} "
        "in every unit"
    )


def _round_down(count: int, step: int) -> int:
    """A multiple of a step; a count below the step stays as it is."""
    return count // step * step or count


def main() -> None:
    """Write README's counts and table, and docs/outside.md; say what has changed."""
    files = {
        README: readme(README.read_text(encoding="utf-8")),
        outside.DOCUMENT: outside.document(outside.rows()),
    }
    changed = [path.name for path, text in files.items() if write(path, text)]
    print(", ".join(changed) or "up to date")


if __name__ == "__main__":
    main()
