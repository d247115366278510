"""An assignment as the course defines it, and the tasks of grading submissions."""

from __future__ import annotations

import functools
import hashlib
import os
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from nbformat import NotebookNode
from nbgrader import api
from nbgrader.preprocessors import CheckCellMetadata
from nbgrader.utils import is_grade
from traitlets.config import Config

from autograder import __version__
from autograder.course import ROOT, manifest, units
from autograder.course.errors import CourseError
from autograder.course.files import locked
from autograder.course.notebooks import parse, parse_cached, text_of
from autograder.grading import extra_cells, warmable
from autograder.grading.checks import reference_metadata
from autograder.grading.checks.check_cell import check_cell
from autograder.grading.gradebook.book import Gradebook
from autograder.grading.intake import (
    OF_NBGRADER,
    STAMP,
    File,
    RefusedError,
    Repair,
    SizeLimits,
    dump_repairs,
    find_notebook,
    grade_ids,
    handed_in,
    rebuild,
    take,
)
from autograder.grading.provenance import course_version
from autograder.grading.run.submission import InFlightSubmission
from autograder.grading.secret import course_secret
from autograder.grading.settings import Stages
from autograder.grading.task import Task

SOLUTION = "the course's own solution"  # in place of a student's name


@dataclass(frozen=True)
class Assignment:
    """What all submissions of an assignment share.

    Attributes:
        notebooks: the texts of source and release, by the notebook's name.
        beside: the contents of the course's other files, by relative path.
        stages: the preprocessors that grade a notebook, in this order.
        depends: further digests of what results depend on.
        ignored: file name patterns; matching files in a submission are skipped.
        keys: by student, data with which optional packages score some cells.
    """

    name: str
    root: Path
    notebooks: Mapping[str, tuple[str, str]]
    beside: Mapping[str, bytes]
    stages: Stages
    config: Config
    limits: SizeLimits
    secret: bytes
    depends: tuple[str, ...]
    ignored: tuple[str, ...]
    keys: Mapping[str, Mapping[str, extra_cells.Key]]

    @functools.cached_property
    def version(self) -> Mapping[str, str]:
        """The digest "build" of the course and, if known, its git commit "course"."""
        return course_version(self.depends)

    def submission(self, student: str, folder: Path, final: bool) -> InFlightSubmission:
        """Read a student's folder, whatever it contains, into grading tasks.

        Raises:
            CourseError: this account may not read the folder.
        """
        files: Mapping[str, File] = {}
        repairs: tuple[Repair, ...] = ()
        odd: tuple[Repair, ...] = ()
        stamp, reason = None, ""
        try:
            with locked(folder):  # else a newer one may be arriving there
                contents = take(folder, self.limits, self.ignored)
                stamp, odd = handed_in(folder)
            files, repairs = contents.files, contents.repairs + odd
            reason = contents.why_no_notebook
        except RefusedError as refusal:
            reason = str(refusal)
        beside = {name: files[name].data for name in OF_NBGRADER if name in files}
        if stamp and odd and STAMP in beside:  # the time that counts, as plain text
            beside[STAMP] = f"{stamp:%Y-%m-%d %H:%M:%S} UTC".encode()
        tasks = [
            self._task(student, name, files, repairs, reason, final)
            for name in self.notebooks
        ]
        return InFlightSubmission(student, final, stamp, beside, tuple(tasks))

    def _task(
        self, student: str, name: str, files: Mapping[str, File],
        repairs: tuple[Repair, ...], reason: str, final: bool,
    ) -> Task:  # fmt: skip
        """Return the task of grading one notebook of a submission.

        Args:
            name: the notebook's name, without the suffix.
            repairs: what was corrected in the submission so far.
            reason: why the submission is refused; "" if it is not.
        """
        source, release = self.notebooks[name]
        data = None
        if not reason:
            other_ids = functools.partial(grade_ids, self.root)
            try:
                path, chosen = find_notebook(
                    files,
                    f"{name}.ipynb",
                    parse_cached(release),
                    self.limits,
                    other_ids,
                )
                data, repairs = files[path].data, repairs + chosen
            except RefusedError as refusal:
                reason = str(refusal)
        beside = {
            path: file.data for path, file in files.items()
            if path not in OF_NBGRADER and not _in_the_way(path, self.beside)
        }  # fmt: skip
        # One per account, as only its owner can remove what a killed run left behind.
        scratch = self.root / ".autograder" / f"work-{os.getuid()}"
        submission_id = identity(student, self.name, name, data)  # names may be long
        return Task(
            student=student, assignment=self.name, notebook=name, source=source,
            release=release, submission=data, files=beside | dict(self.beside),
            folder=str(scratch / submission_id), repairs=repairs, refused=reason,
            preprocessors=self.stages, config=self.config, limits=self.limits,
            secret=self.secret, id=submission_id, final=final,
            keys=self.keys.get(student, {}),
        )  # fmt: skip

    def solution(self, name: str) -> Task:
        """The task of grading the course's solution of a notebook, as if handed in."""
        unit = next((unit for unit in units() if unit.label == self.name), None)
        beside = manifest.read(unit).handed_in if unit else {}
        files = {path: File(file.read_bytes()) for path, file in beside.items()}
        files[f"{name}.ipynb"] = File(self.notebooks[name][0].encode())
        return self._task(SOLUTION, name, files, (), "", final=False)

    def digest(self, task: Task, *inputs: object) -> str:
        """Return a digest of all files and ``inputs`` that a result depends on.

        A notebook whose digest has changed is graded again.
        """
        digest = hashlib.sha256()
        parts: list[object] = [__version__, task.source, task.release, task.refused]
        parts += [*inputs, *self.depends, task.submission, *dump_repairs(task.repairs)]
        parts += sorted(task.keys.items())
        parts += [part for item in sorted(task.files.items()) for part in item]
        for part in parts:
            data = part if isinstance(part, bytes) else repr(part).encode()
            # With the lengths, no other list of parts gives the same bytes.
            digest.update(b"%d:" % len(data) + data)
        return digest.hexdigest()

    def refuse_mismatch(self, book: Gradebook) -> None:
        """Check that gradebook, source and checks agree on the cells and their points.

        Raises:
            CourseError: they do not; the text names the command that helps.
        """
        for name, (source, _) in self.notebooks.items():
            self._refuse_other_points(name, parse_cached(source))
            marks = [
                c.metadata.nbgrader for c in parse_cached(source).cells if is_grade(c)
            ]
            points = {mark.grade_id: float(mark.points) for mark in marks}
            try:
                notebook = book.find_notebook(name, self.name)
                recorded = {cell.name: cell.max_score for cell in notebook.grade_cells}
            except api.MissingEntry:
                recorded = None
            if recorded != points:
                raise CourseError(
                    f'the gradebook and the source of "{name}" differ; run: '
                    f'nbgrader generate_assignment "{self.name}" --force'
                )

    def _refuse_other_points(self, name: str, source: NotebookNode) -> None:
        """Refuse a unit whose source and checks have different points for a cell.

        Raises:
            CourseError: they differ; the text says what to do.
        """
        if self.name not in {unit.label for unit in units()}:
            return
        for cell in source.cells:
            check = check_cell(cell)
            most = check and reference_metadata.points(check.exercise)
            if most is not None and most != float(cell.metadata.nbgrader.points):
                label, mark = self.name, cell.metadata.nbgrader
                remedy = (
                    "on a shared machine, have the administrator run `autograder "
                    f"exchange` again; otherwise copy {ROOT / 'source' / label} here"
                )
                if self.root.resolve() == ROOT:
                    remedy = f"run: make build UNIT={label.partition('_')[0]}"
                raise CourseError(
                    f"{mark.grade_id} has {mark.points:g} points in source/{label}/"
                    f"{name}.ipynb and {most:g} in the course's checks, which are of "
                    f"another build; {remedy}, then "
                    f'nbgrader generate_assignment "{label}" --force'
                )


def load(
    name: str, root: Path, source: Path, release: Path, pattern: str,
    exempt: Collection[str], stages: Stages, config: Config, limits: SizeLimits,
    ignored: Iterable[str],
) -> Assignment:  # fmt: skip
    """Read an assignment from its folders of sources and releases.

    Args:
        pattern: a glob pattern of the notebooks' names, without the suffix.
        exempt: files beside the source that do not replace the students'.
        ignored: file name patterns; matching files in a submission are skipped.

    Raises:
        CourseError: a notebook is missing, or a release does not match its source.
    """
    paths = sorted(source.glob(f"{pattern}.ipynb"))
    if not paths:
        raise CourseError(f"there is no notebook {source}/*.ipynb")
    notebooks, sources = {}, []
    for source_path in paths:
        release_path = release / source_path.name
        texts = (text_of(source_path), text_of(release_path))
        sources.append(parse(texts[0], source_path))
        # Checked only here, as every rebuilt submission has the same metadata.
        rebuilt, _ = rebuild(sources[-1], parse(texts[1], release_path), None)
        CheckCellMetadata(config=config)(rebuilt, {})
        notebooks[source_path.stem] = texts
    beside = {
        str(path.relative_to(source)): path.read_bytes()
        for path in sorted(source.rglob("*"))
        if path.is_file() and path.suffix != ".ipynb"
        if str(path.relative_to(source)) not in exempt
    }
    # Read in each run: a server that grades again must see what has changed.
    depends = [stage.depends_on(name) for stage in warmable.stages(stages)]
    return Assignment(
        name=name, root=root, notebooks=notebooks, beside=beside, stages=stages,
        config=config, limits=limits, secret=course_secret(root),
        depends=tuple(depends), ignored=tuple(ignored),
        keys=extra_cells.read_keys(root, name, sources),
    )  # fmt: skip


def identity(student: str, assignment: str, notebook: str, data: bytes | None) -> str:
    """Return an id made of these names and a digest of the student's notebook.

    Results carry this id, so that no submission can get the verdict on a different one.
    """
    parts = (student, assignment, notebook, hashlib.sha256(data or b"").hexdigest())
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:32]


def _in_the_way(path: str, course_paths: Iterable[str]) -> bool:
    """Whether a student's file is where the course needs a folder, or vice versa."""
    return any(
        course_path.startswith(f"{path}/") or path.startswith(f"{course_path}/")
        for course_path in course_paths
    )
