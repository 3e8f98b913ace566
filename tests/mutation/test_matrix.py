"""The published matrix holds its targets, and a sample graded anew gives what it says."""

from __future__ import annotations

import json
import os

import pytest

from tests.content.variants import ROOT
from tests.mutation.corpus import corpus
from tests.mutation.judging import graded
from tests.mutation.mutant import Mutant
from tests.mutation.oracles import faulty, on_hardware, recorded
from tests.mutation.reference_verdict import faults
from tests.mutation.styles import styles
from tools.diagnosis_matrix import SAMPLE

MATRIX = json.loads((ROOT / "docs" / "diagnosis_matrix.json").read_text(encoding="utf-8"))


#: Elsewhere than in CI every other one: tests/content/test_kernels.py has mistakes of the same kinds.
STEP = SAMPLE if os.environ.get("CI") else 2 * SAMPLE


def test_targets() -> None:
    assert MATRIX["mutants"] == len(corpus()) >= 1000
    assert MATRIX["found"] == MATRIX["faulty"] == MATRIX["mutants"] - MATRIX["equivalent"]
    assert MATRIX["false_alarms"] == 0
    assert MATRIX["named"] >= 0.98 * MATRIX["faulty"]
    assert MATRIX["line_right"] >= 0.95 * MATRIX["faulty"]


def test_two_mistakes_at_once() -> None:
    assert MATRIX["pairs"] >= 100
    assert MATRIX["first_true"] >= 0.95 * MATRIX["pairs"]


def test_the_matrix_carries_what_the_hardware_showed() -> None:
    shown = {key for key, answer in on_hardware().items() if answer != "right"}
    wrong = {key for key, answer in recorded().items() if faulty(answer)}
    figures = MATRIX["h200"]
    assert (figures["faulty"], figures["equivalent"]) == (MATRIX["faulty"], MATRIX["equivalent"])
    assert figures["faulty_shown"] == len(shown & wrong) == 795
    assert figures["equivalent_shown"] == len(shown - wrong) == 0
    page = (ROOT / "docs" / "diagnosis-matrix.md").read_text(encoding="utf-8")
    row = f"| all | {figures['faulty']} | {figures['faulty_found']} | {figures['faulty_shown']} |"
    assert row in page.splitlines()


def test_every_mutant_is_judged() -> None:
    answers = recorded()
    assert [one.key for one in corpus() if one.key not in answers] == []


def test_keys_are_unique() -> None:
    assert len({one.key for one in corpus()}) == len(corpus())


def test_styles_are_correct_by_the_reference() -> None:
    assert len(styles()) >= 8
    assert {style.name: faults(style.text.plain(), style.name) for style in styles()} == {
        style.name: () for style in styles()
    }


@pytest.mark.parametrize("mutant", corpus()[::STEP], ids=lambda mutant: mutant.key)
def test_sample(mutant: Mutant) -> None:
    one = graded(mutant)
    assert [one.outcome, one.name, one.line] == MATRIX["sample"][mutant.key]
