"""Every name has a page; its bad kernel shows exactly that fault and its good kernel shows none."""

from __future__ import annotations

import importlib.util
import re

import pytest

from grader.diagnosis import CATALOGUE
from tests.content.pages import PAGES, argument, blocks, findings, options

NAMES = sorted(CATALOGUE)
RUNNABLE = [name for name in NAMES if (PAGES / f"{name}.md").is_file() and blocks(name)["bad"].runs]


def test_every_name_has_a_page_and_every_page_a_name() -> None:
    assert {path.stem for path in PAGES.glob("*.md") if path.stem != "README"} == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_page_carries_the_catalogue_entry(name: str) -> None:
    first, _, second = (PAGES / f"{name}.md").read_text(encoding="utf-8").split("\n")[:3]
    entry = CATALOGUE[name]
    assert first == f"# {name}"
    assert second == f"*{entry.title}.* Family: {entry.family}. Usual severity: {entry.severity}."


@pytest.mark.parametrize("name", NAMES)
def test_page_has_a_bad_and_a_good_kernel(name: str) -> None:
    found = blocks(name)
    assert set(found) == {"bad", "good"}
    assert found["bad"].how.startswith("compile ") == CATALOGUE[name].needs_compiler


@pytest.mark.parametrize("name", NAMES)
def test_links_lead_to_pages(name: str) -> None:
    text = (PAGES / f"{name}.md").read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)]+)\)", text):
        assert (PAGES / target).is_file(), target


def _skip_without_compiler(name: str) -> None:
    if CATALOGUE[name].needs_compiler and importlib.util.find_spec("nvidia") is None:
        pytest.skip("the extra `compile` is not installed")


@pytest.mark.parametrize("name", RUNNABLE)
def test_bad_kernel_has_the_fault(name: str) -> None:
    _skip_without_compiler(name)
    assert name in findings(blocks(name)["bad"])


@pytest.mark.parametrize(
    "name", [name for name in NAMES if name not in RUNNABLE or blocks(name)["good"].runs]
)
def test_good_kernel_is_clean(name: str) -> None:
    _skip_without_compiler(name)
    good = blocks(name)["good"]
    if good.runs:
        assert findings(good) == set()


def test_only_pages_of_a_rubric_or_a_gpu_are_not_run() -> None:
    of_a_gpu = {name for name in NAMES if CATALOGUE[name].needs_gpu}
    assert set(NAMES) - set(RUNNABLE) == {"forbidden-call", *of_a_gpu}


def test_launch_options_are_read() -> None:
    given = options("launch grid=(1, 2) block=(32,) args=(ones(4, 8), 40) kernel=total")
    assert given == {"grid": "(1, 2)", "block": "(32,)", "args": "(ones(4, 8), 40)", "kernel": "total"}


def test_arrays_are_filled_as_named() -> None:
    import ast

    array = argument(ast.parse("halves(2, 3)", mode="eval").body)
    assert array.shape == (2, 3)
    assert array.dtype == "float32"
    assert (array == 0.5).all()
