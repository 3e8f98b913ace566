"""The exercises: which there are, where their parts lie, how a student gets a fresh copy."""

from __future__ import annotations

import os
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from grader.skeletons import SkeletonError, derive_skeleton

__all__ = [
    "Exercise",
    "ExerciseFileError",
    "ResetResult",
    "SkeletonError",
    "UnknownExerciseError",
    "data_folder",
    "derive_skeleton",
    "find",
    "init",
    "locate_submission",
    "names",
    "page",
    "reset",
    "skeleton",
    "write_text",
]

_PACKAGE = Path(__file__).resolve().parent
_SUFFIXES = (".py", ".md")
STATE_FOLDER = ".tilegrade"


@dataclass(eq=False)
class UnknownExerciseError(LookupError):
    """A word that names no exercise, or several: the word, all names, those that fit, the nearest."""

    word: str
    known: tuple[str, ...]
    fitting: tuple[str, ...] = ()
    nearest: str | None = None


@dataclass(eq=False)
class ExerciseFileError(Exception):
    """A file or folder that cannot be written: its path and why."""

    path: str
    why: str


@dataclass(frozen=True, slots=True)
class Exercise:
    """One exercise: its name, the name of the file a student edits, and where its parts lie.

    ``solution`` is None in an installed package, where solutions do not travel.
    """

    name: str
    file_name: str
    rubric: Path
    original: Path
    solution: Path | None


@dataclass(frozen=True, slots=True)
class ResetResult:
    """What a reset did: the file, whether it changed, and where the student's version went."""

    path: Path
    changed: bool
    backup: Path | None


def data_folder(kind: Literal["exercises", "rubrics", "solutions", "diagnostics"]) -> Path:
    """Give the folder of one kind of data: inside an installed package, else in the checkout."""
    installed = _PACKAGE / "data"
    if installed.is_dir():
        return installed / kind
    return _PACKAGE.parent / ("docs/diagnostics" if kind == "diagnostics" else kind)


def names(rubrics: Path | None = None) -> tuple[str, ...]:
    """Give the names of all exercises, sorted: an exercise is what has a rubric."""
    folder = rubrics or data_folder("rubrics")
    return tuple(sorted(path.stem for path in folder.glob("*.yaml")))


def find(word: str, rubrics: Path | None = None) -> Exercise:
    """Find an exercise by its name, its file's name or a prefix that fits one alone.

    Raises
    ------
    UnknownExerciseError
        No exercise fits, or several do.
    """
    known = names(rubrics)
    plain = Path(word).name
    for suffix in _SUFFIXES:
        plain = plain.removesuffix(suffix)
    fitting = (plain,) if plain in known else tuple(n for n in known if plain and n.startswith(plain))
    if len(fitting) != 1:
        raise UnknownExerciseError(word, known, fitting, _nearest(plain, known) if not fitting else None)
    return _exercise(fitting[0], rubrics or data_folder("rubrics"))


def _nearest(word: str, known: tuple[str, ...]) -> str | None:
    import difflib

    # People leave out the number, or write it without its zero.
    keys = {name.lower(): name for name in known}
    keys |= {name.lower().partition("_")[2]: name for name in known}
    keys |= {name.lower().lstrip("0"): name for name in known}
    close = difflib.get_close_matches(word.lower(), keys, n=1, cutoff=0.5)
    if close:
        return keys[close[0]]
    return next((name for key, name in keys.items() if word and key.startswith(word.lower())), None)


def _exercise(name: str, rubrics: Path) -> Exercise:
    originals = rubrics.parent / "exercises"
    if not any((originals / (name + suffix)).exists() for suffix in _SUFFIXES):
        # A rubric of one's own for an exercise of ours, with no exercises of one's own beside it.
        originals = data_folder("exercises")
    file_name = next((name + s for s in _SUFFIXES if (originals / (name + s)).exists()), name + ".py")
    solution = rubrics.parent / "solutions" / file_name
    return Exercise(
        name=name,
        file_name=file_name,
        rubric=rubrics / f"{name}.yaml",
        original=originals / file_name,
        solution=solution if solution.is_file() else None,
    )


def locate_submission(exercise: Exercise, start: Path) -> Path:
    """Give the student's file: the nearest one at or above ``start``, else the checkout's own.

    Looks for ``exercises/FILE``, then ``FILE``, in ``start`` and each folder above it. Where a
    student's folder lacks the file, gives the path at which it is missing: another one must not
    be graded in its place.
    """
    for folder in (start, *start.parents):
        for candidate in (folder / "exercises" / exercise.file_name, folder / exercise.file_name):
            if candidate.exists():
                return _as_seen_from(candidate, start)
        if (folder / "exercises").is_dir():
            return _as_seen_from(folder / "exercises" / exercise.file_name, start)
    if exercise.original.is_file() and _PACKAGE not in exercise.original.parents:
        return exercise.original
    return Path("exercises") / exercise.file_name


def _as_seen_from(path: Path, start: Path) -> Path:
    return path.relative_to(start) if path.is_relative_to(start) else Path(os.path.relpath(path, start))


def skeleton(exercise: Exercise) -> str:
    """Give an exercise's text as a student first gets it."""
    if exercise.solution is not None:
        return derive_skeleton(exercise.solution.read_text(encoding="utf-8"))
    return exercise.original.read_text(encoding="utf-8")


def reset(exercise: Exercise, path: Path) -> ResetResult:
    """Put the skeleton back at ``path``, keeping what stood there in ``.tilegrade/backups`` beside it.

    Raises
    ------
    ExerciseFileError
        The file, or its backup, cannot be written; then the student's version is still in place.
    """
    fresh = skeleton(exercise)
    try:
        if not path.exists():
            write_text(path, fresh)
            return ResetResult(path, changed=True, backup=None)
        if path.read_bytes() == fresh.encode():
            return ResetResult(path, changed=False, backup=None)
        backup = _back_up(path)
    except OSError as error:
        raise ExerciseFileError(str(path), error.strerror or str(error)) from error
    write_text(path, fresh)
    return ResetResult(path, changed=True, backup=backup)


def _back_up(path: Path) -> Path:
    folder = path.parent / STATE_FOLDER / "backups"
    folder.mkdir(parents=True, exist_ok=True)
    number = 1
    while (backup := folder / f"{path.stem}.{number}{path.suffix}").exists():
        number += 1
    shutil.copyfile(path, backup)
    return backup


def init(folder: Path) -> tuple[tuple[Path, ...], tuple[Path, ...]]:
    """Lay out a student's folder: ``exercises/`` with a fresh copy of each exercise.

    Files that are there already are left alone. Gives the files written and those left.
    """
    written: list[Path] = []
    left: list[Path] = []
    present = [e for e in map(find, names()) if e.solution is not None or e.original.is_file()]
    texts = {Path("exercises") / exercise.file_name: skeleton(exercise) for exercise in present}
    introduction = data_folder("exercises") / "README.md"
    if introduction.is_file():
        texts[Path("exercises/README.md")] = introduction.read_text(encoding="utf-8")
    texts[Path(".gitignore")] = f"{STATE_FOLDER}/\n"
    for relative, text in texts.items():
        path = folder / relative
        if path.exists():
            left.append(path)
            continue
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ExerciseFileError(str(path.parent), error.strerror or str(error)) from error
        write_text(path, text)
        written.append(path)
    return tuple(written), tuple(left)


def page(name: str) -> Path | None:
    """Give the page of a diagnostic, or None where it has none."""
    path = data_folder("diagnostics") / f"{name}.md"
    return path if path.parent.is_dir() and path in path.parent.glob("*.md") else None


def write_text(path: Path, text: str) -> None:
    """Write a whole file or leave it as it was.

    Raises
    ------
    ExerciseFileError
        The file cannot be written.
    """
    temporary: Path | None = None
    try:
        with tempfile.NamedTemporaryFile(
            "wb", dir=path.parent, prefix=f".{path.name}.", delete=False
        ) as file:
            temporary = Path(file.name)
            file.write(text.encode("utf-8", "replace"))
        temporary.chmod(path.stat().st_mode & 0o777 if path.exists() else 0o644)
        temporary.replace(path)
    except OSError as error:
        if temporary is not None:
            temporary.unlink(missing_ok=True)
        raise ExerciseFileError(str(path), error.strerror or str(error)) from error
