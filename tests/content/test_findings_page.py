"""docs/findings.md lists every name once, with the severity of the catalogue."""

from __future__ import annotations

import re
from pathlib import Path

from grader.diagnosis import CATALOGUE

DOCS = Path(__file__).parents[2] / "docs"


def test_every_name_is_listed_once_with_its_severity() -> None:
    text = (DOCS / "findings.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([a-z0-9-]+)` \[([a-z]+)", text, re.MULTILINE)
    assert sorted(name for name, _ in rows) == sorted(CATALOGUE)
    usual = {name: entry.severity for name, entry in CATALOGUE.items()}
    unclear = {"the", "as"}
    assert {name: word for name, word in rows if word not in unclear and usual[name] != word} == {
        "stale-shared-read": "note"
    }


def test_glossary_is_in_alphabetical_order() -> None:
    text = (DOCS / "glossary.md").read_text(encoding="utf-8")
    words = [word.lower() for word in re.findall(r"^\*\*([^*]+)\*\* - ", text, re.MULTILINE)]
    assert words == sorted(words)
    assert len(words) > 40
