"""One YAML answer block, read event by event: no aliases, no tags, little depth, every scalar as text.

Text stays as it was written (``0x10``, ``yes`` and ``1e3`` are not turned into numbers or booleans); the
kind of question decides what it means. Stopping at the first event that is not allowed keeps a hostile
block cheap: nothing is ever built from it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import yaml

from grader.rubric.answers.grading import Malformed
from grader.rubric.answers.verdict import shortened

MAX_CHARACTERS = 20_000
MAX_ANSWERS = 100
MAX_ITEMS = 50

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class BlockError(ValueError):
    """A block that cannot be read: ``line`` counts from 1 at the block's first line, ``what`` says why."""

    def __init__(self, line: int, what: str) -> None:
        super().__init__(f"line {line}: {what}")
        self.line = line
        self.what = what


@dataclass(frozen=True, slots=True)
class BlockAnswer:
    """One ``id: answer`` of a block: text, a list of texts, None for a blank, or ``Malformed``."""

    id: str
    value: object
    line: int


def read_block(text: str) -> list[BlockAnswer]:
    """The answers of one block, in order, repeated ids included.

    Raises
    ------
    BlockError
        It is not a plain YAML mapping within the limits.
    """
    if len(text) > MAX_CHARACTERS:
        raise BlockError(1, f"the block has {len(text)} characters; at most {MAX_CHARACTERS} are read")
    if tab := next((n for n, line in enumerate(text.split("\n"), 1) if line.lstrip(" ").startswith("\t")), 0):
        raise BlockError(tab, "a tab cannot indent YAML; use spaces")
    try:
        return list(_answers(_checked(yaml.parse(text, Loader=_Loader))))
    except yaml.MarkedYAMLError as error:
        raise BlockError(_line(error.problem_mark or error.context_mark), _explained(error)) from None
    except (yaml.YAMLError, UnicodeError):
        raise BlockError(1, "it holds a character that YAML does not allow") from None


def _checked(events: Iterator[yaml.Event]) -> Iterator[yaml.Event]:
    """Pass events on, refusing what an answer never needs."""
    documents = 0
    for event in events:
        line = _line(event.start_mark)
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            raise BlockError(line, "anchors (&) and aliases (*) are not read here; put the answer in quotes")
        if getattr(event, "tag", None):
            raise BlockError(line, "tags (!) are not read here; put the answer in quotes")
        documents += isinstance(event, yaml.DocumentStartEvent)
        if documents > 1:
            raise BlockError(line, "a line of three dashes starts a second document; leave it out")
        yield event


def _answers(events: Iterator[yaml.Event]) -> Iterator[BlockAnswer]:
    top = next(
        event for event in events if not isinstance(event, yaml.StreamStartEvent | yaml.DocumentStartEvent)
    )
    if isinstance(top, yaml.StreamEndEvent) or (isinstance(top, yaml.ScalarEvent) and not top.value):
        return
    if not isinstance(top, yaml.MappingStartEvent):
        raise BlockError(_line(top.start_mark), "answers are written as `id: answer`, one to a line")
    count = 0
    for key in events:
        if isinstance(key, yaml.MappingEndEvent):
            continue
        if not isinstance(key, yaml.ScalarEvent):
            if isinstance(key, yaml.DocumentEndEvent | yaml.StreamEndEvent):
                continue
            raise BlockError(_line(key.start_mark), "answers are written as `id: answer`, one to a line")
        count += 1
        if count > MAX_ANSWERS:
            raise BlockError(_line(key.start_mark), f"more than {MAX_ANSWERS} answers in one block")
        yield BlockAnswer(key.value, _value(next(events), events), _line(key.start_mark))


def _value(event: yaml.Event, events: Iterator[yaml.Event]) -> object:
    if isinstance(event, yaml.ScalarEvent):
        return _scalar(event)
    if isinstance(event, yaml.SequenceStartEvent):
        return _list(events)
    raise BlockError(
        _line(event.start_mark), "an answer is text or a list; put text with a colon or braces in quotes"
    )


def _list(events: Iterator[yaml.Event]) -> object:
    items: list[object] = []
    for event in events:
        if isinstance(event, yaml.SequenceEndEvent):
            return [item for item in items if item is not None] or None
        if not isinstance(event, yaml.ScalarEvent):
            raise BlockError(_line(event.start_mark), "a list inside a list is not read here")
        if len(items) == MAX_ITEMS:
            raise BlockError(_line(event.start_mark), f"more than {MAX_ITEMS} items in one list")
        items.append(_scalar(event))
    return Malformed("The list is not closed.")


def _scalar(event: yaml.ScalarEvent) -> str | None:
    text = str(event.value)
    if not event.style and text in {"", "~", "null"}:
        return None
    return text.strip() or None


def _line(mark: Any) -> int:
    return int(mark.line) + 1 if mark is not None else 1


def _explained(error: yaml.MarkedYAMLError) -> str:
    problem = str(error.problem or "it is not YAML")
    if "mapping values are not allowed" in problem:
        return "a colon inside an answer ends it; put the answer in quotes"
    if "alias" in problem or "anchor" in problem or "tag" in problem:
        return "anchors, aliases and tags are not read here; put the answer in quotes"
    if "cannot start any token" in problem:
        return f"{problem}; put the answer in quotes"
    if "simple key" in problem or "expected <block end>" in problem:
        return "a line that is no `id: answer`; put a longer answer in quotes or start it with `>`"
    return f"it is not YAML: {shortened(problem, 80)}"
