"""Answers out of a worksheet: Markdown with fenced YAML blocks.

A block looks like this, and a sheet may have any number of them::

    ```yaml
    naive_bytes: 549.8 GB
    holds: [a, c]
    why: >
      Every thread waits ...
    ```

Text between ``<!--`` and ``-->`` is not read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from grader.rubric.answer_blocks import BlockError, read_block
from grader.rubric.answers.grading import Malformed

__all__ = ["WorksheetAnswers", "is_student_key", "read"]

MAX_CHARACTERS = 200_000
MAX_BLOCKS = 200
MAX_PROBLEMS = 10
STUDENT = "student"

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})\s*([A-Za-z0-9_-]*).*")
_KEY = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)\s*:(?:\s|$)")
_STUDENT_KEY = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@+-]{0,63}")


@dataclass(frozen=True, slots=True)
class WorksheetAnswers:
    """What a worksheet holds.

    ``answers`` maps ids to text, to a list of texts, to None for a blank, or to ``Malformed``; pass it to
    ``grade_answers`` with ``lines`` (of each id, from 1) and ``student``, the key that the sheet names.
    ``problems`` are lines for the student, with line numbers, about what belongs to no answer: a block
    that is never closed, text that is no ``id: answer``.
    """

    answers: dict[str, object] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)
    student: str | None = None
    problems: tuple[str, ...] = ()

    @property
    def started(self) -> bool:
        """Whether anything at all is answered; a sheet where nothing is has not been started."""
        return any(answer is not None for answer in self.answers.values())


@dataclass(frozen=True, slots=True)
class _Block:
    line: int
    text: str
    closed: bool


def read(text: str) -> WorksheetAnswers:
    """The answers in a worksheet's text. Never raises: what cannot be read is in ``problems``."""
    if len(text) > MAX_CHARACTERS:
        return WorksheetAnswers(
            problems=(f"the sheet has {len(text)} characters; at most {MAX_CHARACTERS} are read",)
        )
    sheet = WorksheetAnswers()
    problems: list[str] = []
    for count, block in enumerate(_blocks(text.removeprefix("\ufeff"))):
        if count == MAX_BLOCKS:
            problems.append(f"line {block.line}: more than {MAX_BLOCKS} answer blocks; this one is not read")
            break
        if not block.closed:
            problems.append(f"line {block.line}: this answer block is never closed; end it with ```")
        problems += _read_into(sheet, block)
    student, said = _student(sheet)
    shown = (*problems, *said)
    if len(shown) > MAX_PROBLEMS:
        shown = (*shown[:MAX_PROBLEMS], f"and {len(shown) - MAX_PROBLEMS} more problems like these")
    return WorksheetAnswers(sheet.answers, sheet.lines, student, shown)


def is_student_key(text: str) -> bool:
    """Whether a sheet can name a student so."""
    return _STUDENT_KEY.fullmatch(text) is not None


def _read_into(sheet: WorksheetAnswers, block: _Block) -> list[str]:
    try:
        found = [(answer.id, answer.value, block.line + answer.line) for answer in read_block(block.text)]
    except BlockError as error:
        found = _one_by_one(block)
        if not found:
            return [f"line {block.line + error.line}: {error.what}"]
    for name, value, line in found:
        if name in sheet.lines:
            first = sheet.lines[name]
            sheet.answers[name] = Malformed(f"It is answered twice, on lines {first} and {line}; keep one.")
            continue
        sheet.lines[name] = line
        sheet.answers[name] = value
    return []


def _one_by_one(block: _Block) -> list[tuple[str, object, int]]:
    """The answers of a block that is no YAML as a whole, so that one bad answer does not take the others."""
    lines = block.text.split("\n")
    starts = [index for index, line in enumerate(lines) if _KEY.match(line)][:MAX_BLOCKS]
    found: list[tuple[str, object, int]] = []
    for start, end in zip(starts, [*starts[1:], len(lines)]):
        try:
            answers = read_block("\n".join(lines[start:end]))
            found += [(answer.id, answer.value, block.line + start + answer.line) for answer in answers]
        except BlockError as error:
            line = block.line + start + error.line
            name = lines[start].partition(":")[0].strip()
            found.append(
                (name, Malformed(f"It cannot be read (line {line}): {error.what}."), block.line + start + 1)
            )
    return found


def _student(sheet: WorksheetAnswers) -> tuple[str | None, list[str]]:
    line = sheet.lines.pop(STUDENT, 0)
    key = sheet.answers.pop(STUDENT, None)
    if key is None:
        return None, []
    if not isinstance(key, str) or not is_student_key(key):
        return None, [f"line {line}: a student key is 1 to 64 letters, digits and . _ @ + -"]
    return key, []


def _blocks(text: str) -> Iterator[_Block]:
    """The fenced YAML blocks outside comments, each with the line of its opening fence."""
    fence: re.Match[str] | None = None
    kept: list[str] = []
    opened = 0
    comment = False
    for number, line in enumerate(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"), start=1):
        found = _FENCE.fullmatch(line)
        if fence is not None:
            if found and found[1].startswith(fence[1]) and not line.strip().strip(fence[1][0]):
                if _is_yaml(fence):
                    yield _Block(opened, "\n".join(kept), closed=True)
                fence = None
            else:
                kept.append(line)
        elif comment or line.lstrip().startswith("<!--"):
            comment = "-->" not in line
        elif found:
            fence, kept, opened = found, [], number
    if fence is not None and _is_yaml(fence):
        yield _Block(opened, "\n".join(kept), closed=False)


def _is_yaml(fence: re.Match[str]) -> bool:
    return fence[2].lower() in {"yaml", "yml"}
