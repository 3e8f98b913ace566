"""From the words of a command to an exercise and a file."""

from __future__ import annotations

import os
from pathlib import Path

from grader.cli.refusal import Refusal
from grader.exercises import Exercise, UnknownExerciseError, find, locate_submission, names


def typed_command() -> str:
    """Give what the reader typed to get here: ``make`` or ``grader``."""
    return "make" if os.environ.get("TILEGRADE_COMMAND") == "make" else "grader"


def choose(word: str | None, rubrics: Path | None = None) -> Exercise:
    """Find an exercise or end in a usage error that names the right ones."""
    if rubrics is not None and not rubrics.is_dir():
        raise Refusal(f"{rubrics} is not a folder of rubrics")
    if not word:
        raise Refusal(f"name an exercise: {_listed(names(rubrics))}")
    try:
        return find(word, rubrics)
    except UnknownExerciseError as error:
        if error.fitting:
            raise Refusal(f"`{word}` fits several exercises: {_listed(error.fitting)}") from None
        near = f" Did you mean {error.nearest}?" if error.nearest else ""
        raise Refusal(
            f"there is no exercise `{word}`.{near} The exercises are: {_listed(error.known)}"
        ) from None


def choose_file(exercise: Exercise, word: str, file: Path | None) -> Path:
    """Give the file to grade: the named one, the word itself where it is a path, else the student's own."""
    if file is not None:
        return file
    if os.sep in word or "/" in word:
        return Path(word)
    return locate_submission(exercise, Path.cwd()) if not Path(word).suffix else _here(exercise, word)


def _here(exercise: Exercise, word: str) -> Path:
    return Path(word) if Path(word).is_file() else locate_submission(exercise, Path.cwd())


def _listed(known: tuple[str, ...]) -> str:
    return ", ".join(known) or "none are installed here"
