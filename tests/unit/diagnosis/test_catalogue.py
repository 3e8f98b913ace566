from __future__ import annotations

import re

import pytest

from grader.diagnosis.catalogue import CATALOGUE, FAMILIES, UnknownNameError, entry
from grader.diagnosis.explain import WRITERS

#: Words of a cure: a name says the bad pattern.
CURES = {"add", "use", "avoid", "missing", "fix", "guard", "should"}


def test_every_name_has_a_writer_and_every_writer_a_name() -> None:
    assert set(WRITERS) == set(CATALOGUE)


def test_names_are_kebab_case() -> None:
    assert [name for name in CATALOGUE if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name)] == []


def test_names_say_the_pattern_and_not_the_cure() -> None:
    allowed = {"missing-kernel"}
    assert [name for name in CATALOGUE if CURES & set(name.split("-")) and name not in allowed] == []


def test_families_are_known_and_all_used() -> None:
    assert {one.family for one in CATALOGUE.values()} == set(FAMILIES)


def test_titles_are_single_lines_without_a_full_stop() -> None:
    for one in CATALOGUE.values():
        assert one.title[0].isupper()
        assert not one.title.endswith(".")
        assert len(one.title) <= 60


def test_page_path() -> None:
    assert entry("stale-shared-read").page == "docs/diagnostics/stale-shared-read.md"


def test_unknown_name() -> None:
    with pytest.raises(UnknownNameError) as caught:
        entry("no-such-name")
    assert caught.value.name == "no-such-name"
