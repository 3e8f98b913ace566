"""Grade everything we have through the gpu backend, on a machine with a GPU, and record what came of it.

    python -m tools.hardware.gpu_backend OUT [--cases FOLDER] [--unsafe-no-sandbox] [--simulated]
                                         [--seconds 400] [--only TEXT] [--every N]

A batch of forty with four kernels in its middle that ruin a process; then exercises, skeletons, solutions,
all variants and the shared cases, sixteen at once. Writes OUT/gpu_backend.json, which
tools/hardware/gpu_report.py records.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import sys
import time
import traceback
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
WORKERS = 16
EXERCISES = ("01_tiled_matmul", "02_ragged_dims")

#: What spoils a process, put at the top of the kernel's body; see docs/gpu.md.
SPOILERS = {
    "illegal-address": "    C[cuda.threadIdx.x + 1_000_000_000, 0] = 1.0\n",
    "endless-loop": "    while M > 0:\n        pass\n",
    "allocation-of-200-GB": (
        "    big = cuda.local.array(50_000_000_000, float32)\n    for i in range(K):\n        big[i] = 1.0\n"
        "    if big[M] < 0:\n        C[0, 0] = big[N]\n"
    ),
    "jit-failure": "    names = {1: 2}\n",
}


def jobs(cases: Path | None) -> list[dict[str, Any]]:
    """Every grading to be made: what it is, its text, what is expected of it."""
    from tests.content.variants import KINDS, variants

    found: list[dict[str, Any]] = []
    for exercise in EXERCISES:
        for kind, folder in (("skeleton", "exercises"), ("solution", "solutions")):
            text = (ROOT / folder / f"{exercise}.py").read_text(encoding="utf-8")
            outcome = "PASS" if kind == "solution" else "FAIL"
            found.append(_job(f"{kind}-{exercise}", kind, exercise, text, outcome, None))
        for kind in KINDS:
            for variant in variants(kind, exercise):
                expected = variant.expected
                found.append(
                    _job(str(variant), kind, exercise, variant.source, expected.outcome, expected.name)
                )
    if cases is not None:
        found += [
            {"id": path.stem, "kind": "case", "path": str(path)} for path in sorted(cases.glob("[0-9]*.py"))
        ]
    return found


def batch() -> list[dict[str, Any]]:
    """Forty submissions, all of them the solution but for the four in the middle."""
    spoilers = list(SPOILERS.items())
    found = []
    for index in range(40):
        exercise = EXERCISES[index % 2]
        text = (ROOT / "solutions" / f"{exercise}.py").read_text(encoding="utf-8")
        name, outcome = f"student-{index:02}", "PASS"
        if 18 <= index < 22:
            kind, line = spoilers[index - 18]
            text, name, outcome = spoiled(text, line), f"student-{index:02}-{kind}", "not PASS"
        found.append(_job(name, "batch", exercise, f"{text}\n# {name}\n", outcome, None))
    return found


def spoiled(text: str, line: str) -> str:
    """A solution with lines put before its kernel's accumulator."""
    at = text.index("    acc = float32(0.0)\n", text.index("def tiled_matmul"))
    return text[:at] + line + text[at:]


def _job(name: str, kind: str, exercise: str, text: str, outcome: str, first: str | None) -> dict[str, Any]:
    expected = {"outcome": outcome, "name": first}
    return {"id": name, "kind": kind, "exercise": exercise, "text": text, "expected": expected}


def work(job: dict[str, Any], options: dict[str, Any]) -> dict[str, Any]:
    """One grading, in a process of its own; a failure of ours is recorded like anything else."""
    started = time.monotonic()
    try:
        answer = _graded(job, options) if job["kind"] != "case" else _case(job, options)
    except BaseException as error:  # noqa: BLE001 - the kind of error is the result
        answer = {"error": f"{type(error).__name__}: {error}"[:300], "trace": traceback.format_exc()[-1500:]}
    about = {key: job[key] for key in ("id", "kind", "exercise", "expected") if key in job}
    return {**about, **answer, "seconds": round(time.monotonic() - started, 2)}


def _case(job: dict[str, Any], options: dict[str, Any]) -> dict[str, Any]:
    from grader.gpu.options import GpuOptions
    from tools.hardware.gpu_cases import case

    return case(Path(job["path"]), GpuOptions(**options))


def _graded(job: dict[str, Any], options: dict[str, Any]) -> dict[str, Any]:
    from grader import exercises
    from grader.gpu.options import GpuOptions
    from grader.grade_gpu import beside_gpu
    from grader.grade_kernel import judge, report_of
    from grader.rubric.load import load
    from grader.simt import parse
    from tools.hardware.gpu_cases import briefly

    exercise = exercises.find(job["exercise"])
    rubric, name = load(exercise.rubric), f"{job['exercise']}.py"
    judged = judge(rubric, parse(job["text"]), exercises.skeleton(exercise))
    machine = report_of(rubric, name, judged)
    before = time.monotonic()
    report = beside_gpu(rubric, name, judged, GpuOptions(**options))
    return {
        "machine": {"outcome": machine.outcome.value, "first": _first(machine), "points": machine.points},
        "gpu": {"outcome": report.outcome.value, "first": _first(report), "points": report.points},
        "run": _run(report.gpu),
        "disagreements": [briefly(one) for one in report.disagreements],
        "luck": any(one.name == "gpu-result-by-luck" for one in report.diagnostics),
        "status": report.status,
        "note": report.notes[-1] if report.notes else "",
        "gpu_seconds": round(time.monotonic() - before, 2),
    }


def _first(report: Any) -> str | None:
    return next((one.name for one in report.diagnostics if one.severity == "error"), None)


def _run(run: Any) -> dict[str, Any] | None:
    return (
        None if run is None else {key: value for key, value in asdict(run).items() if value not in ("", None)}
    )


def run_all(todo: list[dict[str, Any]], options: dict[str, Any], end: float) -> list[dict[str, Any]]:
    """All jobs, so many at once, until the time is up."""
    done = []
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(WORKERS if os.cpu_count() != 2 else 2, mp_context=context) as pool:
        futures = [pool.submit(work, job, options) for job in todo]
        try:
            for future in as_completed(futures, timeout=max(1.0, end - time.monotonic())):
                done.append(future.result())  # noqa: PERF401 - what is done when time is up counts
        except TimeoutError:
            sys.stdout.write("time is up\n")
            pool.shutdown(wait=False, cancel_futures=True)
    order = {job["id"]: index for index, job in enumerate(todo)}
    return sorted(done, key=lambda row: order[row["id"]])


def trial(options: dict[str, Any]) -> dict[str, Any]:
    """One small kernel without the sandbox and in it: whether a GPU works there, and how long it takes."""
    from dataclasses import asdict

    import numpy as np

    from grader.gpu.available import gpu_reason, nvidia_device
    from grader.gpu.device_runs import Launch, run_on_device
    from grader.gpu.sandbox import find_sandbox
    from grader.simt import parse
    from grader.simt.plan import Plan, plan

    text = "from numba import cuda\n@cuda.jit\ndef one(a):\n    a[cuda.threadIdx.x] = 1.0\n"
    planned = plan(parse(text), "one", file="one.py")
    assert isinstance(planned, Plan)
    launch = Launch((1,), (32,), {"a": np.zeros(32, np.float32)})
    answer: dict[str, Any] = {"reason": gpu_reason(), "child_has": asdict(nvidia_device())}
    for name, sandbox in (("bare", None), ("sandboxed", find_sandbox())):
        if name == "sandboxed" and sandbox is None:
            answer[name] = {"said": "there is no sandbox here"}
            continue
        started = time.monotonic()
        session = run_on_device(
            planned.request(), [launch], sandbox=sandbox, simulated=bool(options["simulated"])
        )
        result = session.results[0]
        right = result.after is not None and bool((result.after["a"] == 1).all())
        said = "right" if right else str(result.fault or "wrong")
        answer[name] = {"said": said, "seconds": round(time.monotonic() - started, 2)}
        answer |= {"device": session.device, "versions": dict(session.versions)}
    return answer


def main(arguments: argparse.Namespace) -> None:
    """A trial of the sandbox, the batch, all gradings."""
    out = Path(arguments.out)
    end = time.monotonic() + arguments.seconds
    options = {
        "unsafe_no_sandbox": arguments.unsafe_no_sandbox,
        "simulated": arguments.simulated,
        "timed": False,
    }
    answer: dict[str, Any] = {"workers": WORKERS, "sandboxed": not arguments.unsafe_no_sandbox}
    answer["trial"] = trial(options)
    every = jobs(arguments.cases)
    parts = {"batch": [] if arguments.only else batch()}
    parts["rows"] = [one for one in every if arguments.only in one["id"]][:: arguments.every]
    for part, todo in parts.items():
        started = time.monotonic()
        answer[part] = run_all(todo, options, end)
        answer[f"{part}_seconds"] = round(time.monotonic() - started, 1)
        (out / "gpu_backend.json").write_text(json.dumps(answer, indent=0))
    summary(answer)
    sys.stdout.flush()
    os._exit(0)


def summary(answer: dict[str, Any]) -> None:
    """A short table."""
    for part in ("batch", "rows"):
        rows = answer[part]
        sys.stdout.write(f"{part}: {len(rows)} gradings in {answer[part + '_seconds']} s\n")
        for row in rows:
            here, there = row.get("machine", {}).get("outcome"), row.get("gpu", {}).get("outcome")
            unexplained = [one for one in row.get("disagreements", ()) if not one["explained_by"]]
            if here != there or unexplained or "error" in row:
                said = row.get("error") or unexplained[:1]
                sys.stdout.write(f"  {row['id']}: {here} on the machine, {there} beside the GPU, {said}\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("out")
    parser.add_argument("--cases", type=Path)
    parser.add_argument("--seconds", type=float, default=400)
    parser.add_argument("--only", default="")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--unsafe-no-sandbox", action="store_true")
    parser.add_argument("--simulated", action="store_true")
    main(parser.parse_args())
