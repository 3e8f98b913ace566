"""The machine's verdict on kernels as people write them, where the collection lies beside the checkout.

``tests/cases/expected.yaml`` holds the verdicts. A case file is a kernel and a harness; the kernel's
text goes to the machine, and only the harness (array set-up) is run, with stand-ins for numba.
"""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import yaml

from grader.simt import launch

ROOT = Path(__file__).resolve().parents[2]
CASES = ROOT.parent / "shared" / "cases"
TABLE = ROOT / "tests" / "cases" / "expected.yaml"
EXPECTED: dict[str, dict[str, Any]] = yaml.safe_load(TABLE.read_text(encoding="utf-8"))
RUNS = [(case, shape) for case, shapes in EXPECTED.items() for shape in shapes]

needs_cases = pytest.mark.skipif(not CASES.is_dir(), reason="no folder shared/cases beside the checkout")


def _source(case: str) -> str:
    """The case's text with the tile that its shapes are meant for."""
    text = (CASES / f"{case}.py").read_text(encoding="utf-8")
    header = re.search(r"tile constants: (.+?) +sim tile: (\d+)", text)
    assert header is not None, case
    if header[1] == "none":
        return text
    names = "|".join(name.strip() for name in header[1].split(","))
    return re.sub(rf"^( *(?:{names})) = \d+$", rf"\1 = {header[2]}", text, flags=re.MULTILINE)


def _harness(source: str) -> dict[str, Any]:
    """The names that the case's file defines, with numba's decorators and types as stand-ins.

    It is run: a case is a test's own data, not a submission.
    """
    cuda = SimpleNamespace(jit=lambda function: function)
    names: dict[str, Any] = {"cuda": cuda, "numba": None, "float32": None, "float64": None, "int32": None}
    without_numba = re.sub(r"^(import numba|from numba import .*)$", "", source, flags=re.MULTILINE)
    exec(compile(without_numba, "case", "exec"), names)
    return names


@needs_cases
def test_the_table_covers_the_collection() -> None:
    files = {path.stem for path in CASES.glob("*.py")}
    assert files == set(EXPECTED)
    for case, shapes in EXPECTED.items():
        shape_list = _harness(_source(case))["SHAPES"]
        assert {tuple(map(int, shape.split(","))) for shape in shapes} == set(shape_list), case


@needs_cases
@pytest.mark.parametrize(("case", "shape"), RUNS)
def test_verdict(case: str, shape: str) -> None:
    entry = EXPECTED[case][shape]
    wanted = {"output": entry} if isinstance(entry, str) else entry
    source = _source(case)
    names = _harness(source)
    kernel, grid, block, args, output, want, *shared_bytes = names["setup"](*map(int, shape.split(",")))
    text = source.partition("# ---- harness")[0]

    dynamic = shared_bytes[0] if shared_bytes else 0
    run = launch(text, kernel.__name__, grid=grid, block=block, args=args, shared_bytes=dynamic)

    reported = {(finding.name, finding.severity) for finding in run.findings}
    must: dict[str, str] = wanted.get("must", {})
    shown = {finding.name for finding in run.findings if finding.severity in ("error", "warning")}
    assert shown <= {*must, *wanted.get("may", ())}, run.findings
    assert set(must.items()) <= reported, run.findings
    if wanted["output"] != "any":
        assert np.array_equal(args[output], want) == (wanted["output"] == "right")
