from __future__ import annotations

import pytest

from grader.cli.explain_names import alike, begun

KNOWN = ("divergent-barrier", "out-of-bounds-read", "out-of-bounds-write", "stale-shared-read", "type-error")


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("stale", ("stale-shared-read",)),
        ("stale-shared-read", ("stale-shared-read",)),
        ("out-of", ("out-of-bounds-read", "out-of-bounds-write")),
        ("foo", ()),
        ("", ()),
    ],
)
def test_names_that_begin_so(name: str, found: tuple[str, ...]) -> None:
    assert begun(name, KNOWN) == found


def test_an_exact_name_is_alone_even_where_another_goes_on() -> None:
    assert begun("type", ("type", "type-error")) == ("type",)


@pytest.mark.parametrize(
    ("name", "first"),
    [("stale-read", "stale-shared-read"), ("barier", "divergent-barrier"), ("bounds", "out-of-bounds-read")],
)
def test_names_alike(name: str, first: str) -> None:
    assert alike(name, KNOWN)[0] == first


def test_nothing_is_like_foo() -> None:
    assert alike("foo", KNOWN) == ()
