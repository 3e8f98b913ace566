"""Ask the independent oracles about every mutant that they have not judged yet, and keep their answers.

    python -m tests.mutation.oracles [PROCESSES]

``docs/results/mutants.json`` holds, for each mutant, a hash of its text, the faults that the reference
checker shows and what numba's simulator gives (right, wrong, error, or timeout); ``mutants_h200.json``
beside it what an H200 gave (``tools/hardware/mutants.py``). A mutant is faulty where any of them shows a
fault, and equivalent where none does.
"""

from __future__ import annotations

import hashlib
import json
import os
import select
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from typing import Any

from tests.content.variants import ROOT
from tests.mutation.corpus import corpus
from tests.mutation.mutant import Mutant
from tests.mutation.reference_verdict import faults

RECORD = ROOT / "docs" / "results" / "mutants.json"
HARDWARE = RECORD.with_name("mutants_h200.json")
LIMIT = 20.0
Answers = dict[str, dict[str, Any]]


def digest(source: str) -> str:
    return hashlib.sha256(source.encode()).hexdigest()[:12]


def recorded() -> Answers:
    """The answers that still belong to the text of their mutant."""
    known: Answers = json.loads(RECORD.read_text(encoding="utf-8")) if RECORD.exists() else {}
    measured = on_hardware()
    return {
        one.key: {**known[one.key], **({"h200": measured[one.key]} if one.key in measured else {})}
        for one in corpus()
        if known.get(one.key, {}).get("sha") == digest(one.source)
    }


def on_hardware() -> dict[str, str]:
    """What the H200 gave for each mutant: "right", "wrong in 40 of 80", or the error."""
    if not HARDWARE.exists():
        return {}
    answers: dict[str, str] = json.loads(HARDWARE.read_text(encoding="utf-8"))["answers"]
    return answers


def faulty(answer: dict[str, Any]) -> bool:
    """Whether any oracle shows a fault. A kernel that ran 20 times right on the H200 proves nothing."""
    hardware = answer.get("h200", "right")
    return bool(answer["reference"]) or answer["simulator"] != "right" or hardware != "right"


def _reference(one: Mutant) -> tuple[str, list[str]]:
    return one.key, list(faults(one.source, one.style))


def simulated(mutants: Sequence[Mutant]) -> Iterator[tuple[str, str]]:
    """The simulator's answers, by processes that are started anew where one hangs."""
    left = list(mutants)
    while left:
        child = _child()
        for number, one in enumerate(left):
            answer = _ask(child, one)
            if answer is None:
                yield one.key, "timeout"
                child.kill()
                left = left[number + 1 :]
                break
            yield one.key, answer
        else:
            left = []
            child.kill()
        child.wait()


def _child() -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "tests.mutation.simulate"]
    return subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )


def _ask(child: subprocess.Popen[bytes], one: Mutant) -> str | None:
    assert child.stdin is not None
    assert child.stdout is not None
    job = {"key": one.key, "style": one.style, "source": one.source}
    try:
        child.stdin.write((json.dumps(job) + "\n").encode())
        child.stdin.flush()
    except BrokenPipeError:
        return None
    ready, _, _ = select.select([child.stdout], [], [], LIMIT)
    line = child.stdout.readline() if ready else b""
    answer: str | None = json.loads(line)["answer"] if line.strip() else None
    return answer


def _merge(answers: Answers, found: Iterable[tuple[str, Any]], what: str) -> None:
    for number, (key, value) in enumerate(found, 1):
        answers[key][what] = value
        if number % 200 == 0:
            sys.stdout.write(f"{what}: {number}\n")
            sys.stdout.flush()


def main(processes: int) -> None:
    answers = recorded()
    waiting = [one for one in corpus() if one.key not in answers]
    answers |= {one.key: {"sha": digest(one.source)} for one in waiting}
    with ProcessPoolExecutor(processes) as pool:
        _merge(answers, pool.map(_reference, waiting, chunksize=8), "reference")
    parts = [waiting[start::processes] for start in range(processes)]
    with ThreadPoolExecutor(processes) as threads:
        for part in threads.map(lambda part: list(simulated(part)), parts):
            _merge(answers, part, "simulator")
    write(answers)


def write(answers: Answers) -> None:
    """Keep the answers, in the order of the corpus, a line each."""
    ordered = {
        one.key: {name: value for name, value in answers[one.key].items() if name != "h200"}
        for one in corpus()
    }
    text = ",\n".join(f"{json.dumps(key)}: {json.dumps(value)}" for key, value in ordered.items())
    RECORD.write_text(f"{{\n{text}\n}}\n", encoding="utf-8")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2)
