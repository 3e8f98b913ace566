"""The machine on its own: run any numba.cuda kernel once and explain all that it shows."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from grader.diagnosis import Context, explain, rank
from grader.records import Diagnostic, Finding, Outcome, Report
from grader.simt import Run, launch, parse
from grader.simt.observer import Observer
from grader.simt.tally import MMA_FLOPS

MAX_ELEMENTS = 1 << 28
_ARRAY = re.compile(r"(?P<dtype>[a-z]\w*)\[(?P<shape>[\d, ]*)\](?::(?P<fill>\w+))?")
_TYPED = re.compile(r"(?P<dtype>[a-z]\w*):(?P<value>[-+.\w]+)")
_DTYPES = frozenset(
    [
        "bool",
        "int8",
        "int16",
        "int32",
        "int64",
        "uint8",
        "uint16",
        "uint32",
        "uint64",
        "float16",
        "float32",
        "float64",
        "complex64",
        "complex128",
    ]
)
FILLS = ("random", "ones", "zeros", "arange", "nan")


class ArgumentError(ValueError):
    """An argument that cannot be made; the text is one line that says what to write instead."""


def make_argument(text: str, seed: int = 0) -> tuple[str, Any]:
    """The name and the value of ``NAME=VALUE``.

    VALUE is a number (``100``, ``0.5``), a typed number (``int32:100``), an array
    (``float32[100,130]:random``, or ones, zeros, arange, nan; zeros where nothing is said) or the
    path of a ``.npy`` file. Random floats are drawn from [0, 1), integers from [-8, 8].
    """
    name, equals, value = text.partition("=")
    if not equals or not name.isidentifier() or not value:
        raise ArgumentError(f"--arg {text}: write NAME=VALUE, say A=float32[100,130]:random or M=100")
    array = _ARRAY.fullmatch(value)
    if array:
        return name, _array(text, array, seed)
    if value.endswith(".npy"):
        return name, _load(text, Path(value))
    typed = _TYPED.fullmatch(value)
    if typed and typed["dtype"] in _DTYPES:
        return name, np.dtype(typed["dtype"]).type(_number(text, typed["value"]))
    return name, _number(text, value)


def _number(text: str, value: str) -> int | float:
    for kind in (int, float):
        try:
            return kind(value)
        except ValueError:
            continue
    raise ArgumentError(f"--arg {text}: {value} is no number, array such as float32[8,8]:ones, or .npy file")


def _array(text: str, found: re.Match[str], seed: int) -> Any:
    if found["dtype"] not in _DTYPES:
        raise ArgumentError(
            f"--arg {text}: no dtype {found['dtype']}; known are {', '.join(sorted(_DTYPES))}"
        )
    shape = tuple(int(part) for part in found["shape"].split(",") if part.strip())
    size = int(np.prod(shape, dtype=object)) if shape else 1
    if size > MAX_ELEMENTS:
        raise ArgumentError(f"--arg {text}: {size} elements are more than {MAX_ELEMENTS}")
    fill = found["fill"] or "zeros"
    if fill not in FILLS:
        raise ArgumentError(f"--arg {text}: no filling {fill}; known are {', '.join(FILLS)}")
    dtype = np.dtype(found["dtype"])
    if fill == "random":
        rng = np.random.default_rng([seed, size])
        values = (
            rng.random(shape)
            if dtype.kind in "fc"
            else rng.integers(0 if dtype.kind in "ub" else -8, 9, shape)
        )
        return np.asarray(values).astype(dtype)
    if fill == "arange":
        return np.arange(size).reshape(shape).astype(dtype)
    filler = {"ones": 1, "zeros": 0, "nan": np.nan if dtype.kind in "fc" else 0}[fill]
    return np.full(shape, filler, dtype)


def _load(text: str, path: Path) -> Any:
    try:
        return np.load(path, allow_pickle=False)
    except (OSError, ValueError) as error:
        raise ArgumentError(f"--arg {text}: {path} cannot be read as a .npy file: {error}") from None


def ordered(source: str, kernel: str, given: Mapping[str, Any]) -> list[Any]:
    """The arguments in the order of the kernel's parameters."""
    function = parse(source).function(kernel, {})
    if function is None:
        return list(given.values())
    names = [arg.arg for arg in function.node.args.args]
    missing, extra = [n for n in names if n not in given], [n for n in given if n not in names]
    if missing or extra:
        wrong = [f"missing: {', '.join(missing)}"] * bool(missing) + [f"unknown: {', '.join(extra)}"] * bool(
            extra
        )
        raise ArgumentError(f"{kernel}({', '.join(names)}): {'; '.join(wrong)}")
    return [given[name] for name in names]


def sanitize(
    path: str,
    source: str,
    kernel: str,
    *,
    grid: Sequence[int],
    block: Sequence[int],
    args: Sequence[Any],
    shared_bytes: int = 0,
    device: str = "h100",
    observers: Sequence[Observer] = (),
) -> tuple[Report, Run]:
    """Run the kernel once over ``args`` and report every finding, errors first.

    The outcome is FAIL where there is an error, CANNOT JUDGE where the machine does not follow the
    kernel, else PASS. There is no reference here: a wrong result without a hazard stays unseen.
    """
    started = perf_counter()
    run = launch(
        source,
        kernel,
        grid=grid,
        block=block,
        args=args,
        shared_bytes=shared_bytes,
        device=device,
        observers=observers,
    )
    context = Context(path, tuple(source.splitlines()))
    findings = sorted(rank(run.findings), key=_weight)
    diagnostics = tuple(_explained(finding, context) for finding in findings)
    outcome = _outcome(run)
    report = Report(
        exercise=kernel,
        title=kernel,
        kind="kernel",
        path=path,
        outcome=outcome,
        diagnostics=diagnostics,
        reason="" if outcome is Outcome.PASS else diagnostics[0].headline if diagnostics else "",
        notes=_figures(run),
        hint_level=3,
    )
    return replace(report, seconds=perf_counter() - started), run


def _weight(finding: Finding) -> int:
    return {"error": 0, "warning": 1, "note": 2}[finding.severity]


def _outcome(run: Run) -> Outcome:
    if any(finding.name == "unsupported-construct" for finding in run.findings):
        return Outcome.CANNOT_JUDGE
    return Outcome.FAIL if run.errors or not run.completed else Outcome.PASS


def _explained(finding: Finding, context: Context) -> Diagnostic:
    return explain(finding, context)


def _figures(run: Run) -> tuple[str, ...]:
    """The counters worth a line each."""
    counters = run.counters
    flops = 2 * counters.ffma_threads + counters.fadd_threads + counters.fmul_threads
    flops += MMA_FLOPS * counters.mma_threads
    lines = [
        f"global loads: {counters.global_load_requests} requests, {counters.global_load_sectors} sectors, "
        f"{counters.global_load_bytes} bytes; stores: {counters.global_store_requests} requests, "
        f"{counters.global_store_sectors} sectors",
        f"shared memory: {counters.shared_bytes_per_block} bytes per block, bank conflicts: "
        f"{counters.shared_load_bank_conflicts} on loads, {counters.shared_store_bank_conflicts} on stores",
    ]
    if flops and counters.global_load_bytes:
        lines.append(f"{flops} flop, {flops / counters.global_load_bytes:.4g} flop per loaded byte")
    return tuple(lines)
