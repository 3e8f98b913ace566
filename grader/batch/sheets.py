"""Personal worksheets: the numbers of a sheet have to be those of the student who hands it in."""

from __future__ import annotations

from grader.reporters.classroom import Student
from grader.rubric.worksheet import read

__all__ = ["foreign_key"]


def foreign_key(student: Student, path: str, content: bytes) -> str | None:
    """The key that a handed-in sheet was drawn for, where it is not the student's own; else None.

    A key may be the student's id, the e-mail address, or the part of it before the @.
    """
    if not path.lower().endswith(".md"):
        return None
    key = read(content.decode("utf-8", errors="replace")).student
    if not key:
        return None
    email = student.email or ""
    own = {student.id.casefold(), email.casefold(), email.partition("@")[0].casefold()} - {""}
    return None if key.casefold() in own else key
