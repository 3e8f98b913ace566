"""A kernel from the text of its body."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from typing import Any

import pytest

from grader.simt import Run, launch

HEAD = """
import cmath, math, operator
import numpy as np
from numba import cuda, float32, float64, int8, int32, int64, uint32, uint64
from numba.types import float16
"""


@pytest.fixture
def run() -> Callable[..., Run]:
    """Run ``body`` with the arguments ``a, b, c ...``; ``before`` stands above the kernel."""

    def execute(
        body: str, *args: Any, grid: Any = 1, block: Any = 1, before: str = "", jit: str = "@cuda.jit"
    ) -> Run:
        names = ", ".join("abcdefgh"[: len(args)])
        inner = textwrap.indent(textwrap.dedent(body).strip(), "    ")
        text = f"{HEAD}\n{textwrap.dedent(before)}\n\n{jit}\ndef kernel({names}):\n{inner}\n"
        return launch(text, "kernel", grid=grid, block=block, args=args)

    return execute
