"""docs/ladder-command.md tells of every field that grader ladder --json writes, and of every option."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from grader.cli.ladder import command
from grader.perf.climb import Resources, measured_rows
from grader.perf.devices import device
from grader.perf.rungs import TOLERANCE
from grader.reporters import ladder_json
from tests.unit.reporters.ladder_sample import climb

PAGE = (Path(__file__).parents[2] / "docs" / "ladder-command.md").read_text(encoding="utf-8")


def test_every_field_is_told() -> None:
    document = json.loads(ladder_json.render(climb(), measured_rows(climb(), device("h200"))))
    fields = {*document, *document["rungs"][0], *Resources.__slots__}
    told = set(re.findall(r"`([A-Za-z_]+)`", PAGE))
    assert fields - told - {"schema"} == set()
    assert document["schema"] in PAGE


@pytest.mark.parametrize("option", [name for one in command.params for name in one.opts])
def test_every_option_is_told(option: str) -> None:
    assert option in PAGE or option in {"--colour", "--color"}


def test_the_tolerances_are_those_that_count() -> None:
    assert "1e-4 for FP32 and BF16" in PAGE
    assert "4e-3 for TF32" in PAGE
    assert TOLERANCE == {"FP32": 1e-4, "BF16": 1e-4, "TF32": 4e-3}
