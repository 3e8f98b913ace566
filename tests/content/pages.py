"""The pages under docs/diagnostics and how their two kernels are run.

A page holds two fenced Python blocks, each below an HTML comment that says how a test runs it::

    <!-- bad: launch grid=(1,) block=(32,) args=(ones(40), zeros(1), 40) kernel=total fuel=1000 -->
    <!-- good: grade page_product -->
    <!-- bad: compile block=(64,) args=(zeros(64, 64), 40) -->

``launch`` goes through ``grader.simt.launch``; ``kernel`` is by default the block's first function and
``args`` may hold numbers and ``zeros``, ``ones``, ``halves`` (0.5 everywhere) of a shape, as float32.
``grade`` grades the block as a submission by the named rubric in tests/content/page_rubrics. ``compile``
compiles the last function for sm_90 and the types of its arguments. Any other text is the reason why the
block cannot be run.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

PAGES = Path(__file__).parents[2] / "docs" / "diagnostics"
RUBRICS = Path(__file__).parent / "page_rubrics"

_BLOCK = re.compile(r"<!-- (?P<kind>bad|good): (?P<how>[^>]*?) -->\n```python\n(?P<code>.*?)```", re.DOTALL)
_OPTION = re.compile(r"(\w+)=")
_FILLED = {"zeros": 0.0, "ones": 1.0, "halves": 0.5}


@dataclass(frozen=True)
class Block:
    """One fenced block of a page and the text that says how to run it."""

    how: str
    code: str

    @property
    def runs(self) -> bool:
        return self.how.startswith(("launch ", "grade ", "compile "))


def blocks(name: str) -> dict[str, Block]:
    """The blocks of a page by kind, "bad" and "good"."""
    text = (PAGES / f"{name}.md").read_text(encoding="utf-8")
    return {found["kind"]: Block(found["how"], found["code"]) for found in _BLOCK.finditer(text)}


def options(how: str) -> dict[str, str]:
    """The ``key=value`` pairs of a launch; values may hold blanks inside brackets."""
    text = how.removeprefix("launch ").removeprefix("compile ")
    starts = [
        match
        for match in _OPTION.finditer(text)
        if text[: match.start()].count("(") == text[: match.start()].count(")")
    ]
    ends = [match.start() for match in starts[1:]] + [len(text)]
    return {match[1]: text[match.end() : end].strip() for match, end in zip(starts, ends, strict=True)}


def argument(node: ast.expr) -> Any:
    """One launch argument: a number, or an array filled with one value."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        shape = tuple(ast.literal_eval(size) for size in node.args)
        return np.full(shape, _FILLED[node.func.id], np.float32)
    return ast.literal_eval(node)


def findings(block: Block) -> set[str]:
    """Run a block; the names of what is found."""
    if block.how.startswith("grade "):
        return _graded(block)
    if block.how.startswith("compile "):
        return _compiled(block)
    from grader.simt import launch, parse

    given = options(block.how)
    program = parse(block.code)
    kernel = given.get("kernel") or program.functions[0]
    listed = ast.parse(given["args"], mode="eval").body
    assert isinstance(listed, ast.Tuple)
    run = launch(
        program,
        kernel,
        grid=ast.literal_eval(given["grid"]),
        block=ast.literal_eval(given["block"]),
        args=tuple(argument(node) for node in listed.elts),
        fuel=int(given["fuel"]) if "fuel" in given else None,
    )
    return {finding.name for finding in run.findings}


def _graded(block: Block) -> set[str]:
    from grader.grade_kernel import grade_kernel
    from grader.rubric.load import load

    rubric = load(RUBRICS / f"{block.how.removeprefix('grade ').strip()}.yaml")
    report = grade_kernel(rubric, "page.py", block.code, "", None)
    return {diagnostic.name for diagnostic in report.diagnostics}


def _compiled(block: Block) -> set[str]:
    from grader.compilation import compile_findings
    from grader.gpu.compile import compile_check
    from grader.simt import parse
    from grader.simt.plan import Plan, plan

    given = options(block.how)
    program = parse(block.code)
    kernel = program.functions[-1]
    planned = plan(program, kernel)
    assert isinstance(planned, Plan)
    listed = ast.parse(given["args"], mode="eval").body
    assert isinstance(listed, ast.Tuple)
    arguments = [argument(node) for node in listed.elts]
    types = [
        {"dtype": "float32", "ndim": one.ndim, "layout": "C"} if hasattr(one, "ndim") else {"dtype": "int64"}
        for one in arguments
    ]
    threads = int(np.prod(ast.literal_eval(given["block"])))
    compiled = compile_check(planned.request(), types, ["sm_90"], threads)
    assert not compiled.reason
    return {finding.name for finding in compile_findings(program, kernel, compiled.results)}
