"""The bundle for students: skeletons, shown shapes, a Makefile; with proof that no more is in it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from grader import exercises
from grader.batch.problems import BatchError
from grader.exercises import Exercise, ExerciseFileError, write_text
from grader.gpu.scratch import scratch_folder
from grader.grade import grade
from grader.records import Outcome
from grader.rubric.load import load, load_text
from grader.rubric.model import Rubric
from grader.rubric.suites import shapes_of

__all__ = ["bundle_files", "prove", "release"]

#: Shorter texts are in any file by chance.
TELLING = 16

_REGION = re.compile(
    r"^[ \t]*(?:#|<!--)[ \t]*region student\b.*?^[ \t]*(?:#|<!--)[ \t]*endregion\b.*?$",
    re.MULTILINE | re.DOTALL,
)

_MAKEFILE = """\
# make check NAME: grade exercises/NAME on the shapes that you are told.
WORKSHEETS := {worksheets}
NAMES := $(filter-out check,$(MAKECMDGOALS))
SHEET := $(if $(NAMES),$(filter $(firstword $(NAMES))%,$(WORKSHEETS)))
.PHONY: check $(NAMES)
check:
ifeq (1,$(words $(SHEET)))
\t@echo "$(SHEET) is a worksheet: it is graded after you hand it in"
else
\t@grader check $(NAMES) --rubrics rubrics
endif
$(NAMES):
\t@:
"""
_README = """\
# {title}

Install the grader from the wheel or the folder that your instructor names (`pip install` and its path). Edit
the files in `exercises/`, then check one with

    grader check 02_ragged_dims --rubrics rubrics

or `make check 02_ragged_dims`. The rubrics here hold the shapes that you are told; your hand-in is graded on
others of the same kinds too. Worksheets (`.md`) are graded after you hand them in, whatever the sheet says
of a check.

{names}
"""


def release(out: Path, rubrics: Path | None, chosen: tuple[str, ...], key: bytes | None) -> tuple[str, ...]:
    """Write the students' bundle and give the names of its files.

    Raises
    ------
    BatchError
        The folder is not empty or cannot be written, or a file would tell what students must not know.
    """
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise BatchError(f"{out}: name a folder that is empty or does not exist yet")
    found = [exercises.find(name, rubrics) for name in chosen or exercises.names(rubrics)]
    files = bundle_files(found)
    prove(files, found, key)
    for name, text in files.items():
        try:
            (out / name).parent.mkdir(parents=True, exist_ok=True)
            write_text(out / name, text)
        except (OSError, ExerciseFileError) as error:
            raise BatchError(f"{out / name}: cannot be written: {error}") from None
    return tuple(files)


def bundle_files(found: list[Exercise]) -> dict[str, str]:
    """Give the bundle's files by name."""
    files: dict[str, str] = {}
    for exercise in found:
        files[f"exercises/{exercise.file_name}"] = exercises.skeleton(exercise)
        rubric = load(exercise.rubric)
        if rubric.kind == "kernel":
            files[f"rubrics/{exercise.name}.yaml"] = _shown_rubric(exercise, rubric)
    names = "\n".join(f"- `exercises/{exercise.file_name}`" for exercise in found)
    files["README.md"] = _README.format(title="Exercises", names=names)
    worksheets = [exercise.name for exercise in found if f"rubrics/{exercise.name}.yaml" not in files]
    files["Makefile"] = _MAKEFILE.format(worksheets=" ".join(worksheets))
    return files


def _shown_rubric(exercise: Exercise, rubric: Rubric) -> str:
    """A rubric with the kernel, its launch and the shown shapes: what a student can check with."""
    whole = yaml.safe_load(exercise.rubric.read_text(encoding="utf-8-sig"))
    checks = {
        name: {"points": whole["checks"][name]["points"]}
        for name in ("result", "hazards", "bounds")
        if name in whole["checks"]
    }
    shown: dict[str, Any] = {
        "title": rubric.title,
        "kind": "kernel",
        "kernel": whole["kernel"],
        "suites": {"shown": whole["suites"]["shown"]},
        "checks": checks,
    }
    text = yaml.safe_dump(shown, sort_keys=False, allow_unicode=True, width=110)
    load_text(text, exercise=exercise.name, path=f"rubrics/{exercise.name}.yaml")
    return text


def prove(files: Mapping[str, str], found: Iterable[Exercise], key: bytes | None) -> None:
    """Search every file for what must not be in it. Raises ``BatchError``: the file, the line, what it is."""
    found = list(found)
    # What one exercise asks for, another may give, a kernel to mend above all.
    given = [exercises.skeleton(exercise) for exercise in found]
    for exercise in found:
        _unsolved(files, exercise)
        for what, secret in _secrets(exercise, given, key):
            for name, text in files.items():
                if match := secret.search(text):
                    line = text.count("\n", 0, match.start()) + 1
                    raise BatchError(f"{name}:{line}: not released: it holds {what} of {exercise.name}")


def _unsolved(files: Mapping[str, str], exercise: Exercise) -> None:
    """Grade what students get: it must not pass as it is."""
    with scratch_folder() as folder:
        path = folder / exercise.file_name
        path.write_text(files[f"exercises/{exercise.file_name}"], encoding="utf-8")
        report = grade(exercise.name, path, rubric_dir=exercise.rubric.parent)
    if report.outcome in (Outcome.PASS, Outcome.HARNESS_FAULT):
        raise BatchError(
            f"exercises/{exercise.file_name}: not released: as it is it ends in {report.outcome.value}"
        )


def _secrets(
    exercise: Exercise, given: list[str], key: bytes | None
) -> Iterator[tuple[str, re.Pattern[str]]]:
    if exercise.solution is not None:
        for region in _REGION.findall(exercise.solution.read_text(encoding="utf-8")):
            for line in region.splitlines():
                plain = line.strip()
                own = len(plain) >= TELLING and not plain.startswith(("#", "<!--"))
                if own and not any(plain in text for text in given):
                    yield "a line of the solution", re.compile(re.escape(plain))
    rubric = load(exercise.rubric)
    whole = yaml.safe_load(exercise.rubric.read_text(encoding="utf-8-sig"))
    asked = exercises.skeleton(exercise)
    for text in _texts(whole.get("questions")):
        if len(text) >= TELLING and text not in asked and " " in text:
            yield "a text of the rubric's questions", re.compile(re.escape(text))
    yield from _hidden(rubric, key)


def _hidden(rubric: Rubric, key: bytes | None) -> Iterator[tuple[str, re.Pattern[str]]]:
    if rubric.kernel is None or rubric.suites is None or rubric.suites.hidden is None:
        return
    for settings in _settings(rubric):
        shapes = shapes_of(rubric, settings, private_key=key)
        shown = {tuple(shape.dims.values()) for shape in shapes if shape.shown}
        for sizes in {tuple(shape.dims.values()) for shape in shapes} - shown:
            if len(sizes) > 1 and not _is_listed(sizes, rubric.kernel.constants.values()):
                # However a file writes a list of sizes.
                between = r"[\s,x\u00d7*-]+"
                yield "a hidden shape", re.compile(rf"(?<!\d){between.join(map(str, sizes))}(?!\d)")


def _is_listed(sizes: tuple[int, ...], lists: Iterable[tuple[int, ...]]) -> bool:
    """Whether the sizes stand side by side in a list that every student reads: TILE is 4, 8, 16 or 32."""
    width = len(sizes)
    return any(
        tuple(choices[start : start + width]) == sizes
        for choices in lists
        for start in range(len(choices) - width + 1)
    )


def _settings(rubric: Rubric) -> Iterator[dict[str, int]]:
    assert rubric.kernel is not None
    choices = rubric.kernel.constants
    most = max((len(values) for values in choices.values()), default=1)
    for index in range(most):
        yield {name: values[min(index, len(values) - 1)] for name, values in choices.items()}


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield re.sub(r"\s+\Z", "", value)
    elif isinstance(value, dict):
        for key, item in value.items():
            # The words of the question itself stand in the exercise.
            if key not in ("id", "title", "text", "kind", "unit", "options"):
                yield from _texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)
