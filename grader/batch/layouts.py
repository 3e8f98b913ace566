"""Whose file is it, for which exercise: read off the paths that campus systems and people make."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass

from grader.batch.tree import archive_stem

__all__ = ["Catalogue", "Placed", "fold", "place", "whose"]

_MOODLE_FOLDER = re.compile(r"(?P<name>.+)_(?P<id>\d+)_assignsubmission_(?:file|onlinetext)_?")
_MOODLE_FLAT = re.compile(r"(?P<name>.+?)_(?P<id>\d+)_assignsubmission_file_(?P<file>.+)")
_CANVAS = re.compile(r"(?P<name>.+?)(?P<late>_LATE)?_(?P<id>\d+)_(?P<upload>\d+)_(?P<file>.+)")
# What a browser, a campus system or a file manager appends to a name that it has seen before.
_COPY = re.compile(
    r"(?P<stem>.+?)(?:\s*\((?P<browser>\d+)\)|-(?P<canvas>\d+)| - Copy(?: \((?P<copy>\d+)\))?)?"
    r"(?P<suffix>\.[A-Za-z]+)(?:\.txt)?",
    re.DOTALL,
)
_ATTEMPT = re.compile(r"(?:attempt|try|version)?[ _-]*(?P<number>\d{1,6})", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Placed:
    """Where a file belongs. ``campus_id`` is the number that Moodle or Canvas put beside the name.

    ``attempt`` orders a student's files for one exercise where their names do; ``late`` says that
    the campus system marked it.
    """

    student: str
    exercise: str
    attempt: int = 0
    campus_id: str = ""
    late: bool = False


@dataclass(frozen=True, slots=True)
class Catalogue:
    """The exercises of the assignment: each file name in small letters to its exercise's name."""

    files: Mapping[str, str]

    def named(self, file_name: str) -> tuple[str, int] | None:
        """Give the exercise that a file is for and its number among copies, or None."""
        match = _COPY.fullmatch(unicodedata.normalize("NFC", file_name))
        if match is None:
            return None
        exact = self.files.get(f"{match['stem']}{match['suffix']}".casefold())
        number = int(match["browser"] or match["canvas"] or match["copy"] or 0)
        if " - Copy" in file_name:
            number += 1
        return None if exact is None else (exact, number)

    def ending(self, file_name: str) -> tuple[str, str, int] | None:
        """Give (what stands before, exercise, copy) of ``STUDENT_EXERCISE.py``, or None."""
        for separator in ("__", "_", "-", " "):
            start = file_name.find(separator)
            while start > 0:
                found = self.named(file_name[start + len(separator) :])
                if found is not None:
                    return file_name[:start], *found
                start = file_name.find(separator, start + 1)
        return None

    def only(self, file_name: str) -> str | None:
        """Give the one exercise of an assignment that has only one, where the suffix fits."""
        if len(self.files) != 1:
            return None
        ((known, exercise),) = self.files.items()
        suffix = known[known.rfind(".") :]
        plain = file_name.casefold().removesuffix(".txt")
        return exercise if plain.endswith(suffix) else None


def fold(text: str) -> str:
    """Give what two spellings of one name share: Unicode form, case and outer spaces do not count."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold()).strip()


def place(parts: tuple[str, ...], catalogue: Catalogue) -> Placed | None:
    """Say whose file this is and for which exercise; None where its path does not tell.

    ``parts`` are the names from the submissions' root down, ``submitted`` of nbgrader left out.
    """
    if len(parts) == 1:
        return _flat(parts[0], catalogue)
    folder, file_name = parts[0], parts[-1]
    moodle = _MOODLE_FOLDER.fullmatch(folder)
    canvas = None if moodle else _CANVAS.fullmatch(folder)
    match = moodle or canvas
    student, campus_id = (match["name"], match["id"]) if match else (folder, "")
    named = catalogue.named(file_name)
    if named is None:
        exercise = catalogue.only(file_name) or _of_folder(parts[1:-1], file_name, catalogue)
        if exercise is None:
            return None
        named = exercise, 0
    late = bool(canvas and canvas["late"])
    return Placed(student, named[0], named[1] or _attempt(parts[1:-1]), campus_id, late)


def whose(parts: tuple[str, ...]) -> Placed:
    """Say whose file or archive this is, whatever it is for: the exercise is empty."""
    name = parts[0]
    match = _MOODLE_FOLDER.fullmatch(name) or _MOODLE_FLAT.fullmatch(name) or _CANVAS.fullmatch(name)
    if match is not None:
        return Placed(match["name"], "", campus_id=match["id"])
    return Placed(name if len(parts) > 1 else archive_stem(name) or name, "")


def _flat(file_name: str, catalogue: Catalogue) -> Placed | None:
    for pattern in (_MOODLE_FLAT, _CANVAS):
        match = pattern.fullmatch(file_name)
        if match is None:
            continue
        named = catalogue.named(match["file"])
        if named is None:
            exercise = catalogue.only(match["file"])
            if exercise is None:
                continue
            named = exercise, 0
        late = pattern is _CANVAS and bool(match["late"])
        return Placed(match["name"], named[0], named[1], match["id"], late)
    ending = catalogue.ending(file_name)
    return None if ending is None else Placed(ending[0], ending[1], ending[2])


def _of_folder(folders: tuple[str, ...], file_name: str, catalogue: Catalogue) -> str | None:
    """The exercise of nbgrader's ``STUDENT/ASSIGNMENT/any.py``, where the assignment is named after one."""
    suffix = file_name[file_name.rfind(".") :] if "." in file_name else ""
    for folder in reversed(folders):
        exercise = catalogue.files.get(f"{folder}{suffix}".casefold())
        if exercise is not None:
            return exercise
    return None


def _attempt(folders: tuple[str, ...]) -> int:
    for folder in reversed(folders):
        if match := _ATTEMPT.fullmatch(folder):
            return int(match["number"])
    return 0
