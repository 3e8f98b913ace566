"""Wording for what a run on a real GPU shows, beside what the machine says."""

from __future__ import annotations

from grader.diagnosis.evidence import Evidence
from grader.diagnosis.grammar import listing, number, part, plural, quote
from grader.diagnosis.wording import Wording, Writer
from grader.records import DeviceRun

__all__ = ["WRITERS", "run_note"]

_REPORT = "send this report, with the file, to whoever maintains the grader"


def run_note(run: DeviceRun) -> str:
    """One line on how a run went: the GPU, the shapes that came out right, what ended it, the sandbox."""
    if run.fault == "gpu-not-planned":
        return "not run on the GPU: the kernel uses what cannot be rebuilt for it"
    if not run.device:
        return f"not run on the GPU: {run.detail or 'it could not be started'}"
    where = "" if run.sandboxed else " WITHOUT a sandbox"
    version = f" (sm_{run.capability[0]}{run.capability[1]})" if any(run.capability) else ""
    tally = f"right on {run.right} of {plural(run.total, 'shape')}"
    ended = f"; {_ENDS.get(run.fault, run.fault)}" if run.fault else ""
    return f"run on {run.device}{version}{where}: {tally}{ended}"


_ENDS = {
    "gpu-compile-error": "the compiler for the GPU refused it",
    "gpu-launch-refused": "a launch was refused",
    "gpu-illegal-address": "an illegal address ended it",
    "gpu-kernel-aborted": "the kernel was aborted",
    "gpu-did-not-finish": "a launch did not end in time",
    "gpu-out-of-memory": "memory ran out",
    "gpu-child-lost": "the process that ran it was lost",
    "gpu-margin-overwritten": "memory beside an array was overwritten",
}


def _device(evidence: Evidence) -> str:
    """The GPU as a subject: "the NVIDIA H200"."""
    name = evidence.text("device")
    return name if name.startswith("numba") else f"the {name}" if name else "the GPU"


def _detail(evidence: Evidence) -> str:
    """What the compiler or the driver said, on one line."""
    lines = [line.strip() for line in evidence.text("detail").splitlines() if line.strip()]
    return " ".join(lines)[:300]


def _lost(evidence: Evidence) -> str:
    shapes = evidence.count("concerned")
    return f"{plural(shapes, 'shape')} of the suite without a result" if shapes else ""


def _cause(evidence: Evidence, otherwise: str) -> str:
    """What the machine knows of it, or ``otherwise``."""
    reason = evidence.text("explained_by")
    return f"the machine found the cause: {reason}" if reason else otherwise


def _side(wrong: float | None, elements: int | None, ended: str) -> str:
    if wrong is None:
        return f"no result ({ended})" if ended else "no result"
    return "all elements right" if not wrong else f"{part(int(wrong), elements, 'element')} wrong"


def _value(value: float | None) -> str:
    return "no number" if value is None else f"{value:.7g}"


def _backends_disagree(evidence: Evidence) -> Wording:
    elements, shapes = evidence.count("elements"), evidence.count("concerned")
    ended, device = evidence.text("ended_by"), _device(evidence)
    here = _side(evidence.number("machine_wrong"), elements, ended)
    there = _side(evidence.number("gpu_wrong"), elements, ended)
    if ended == "gpu-margin-overwritten":
        there += ", and memory beside an array overwritten"
    index = evidence.numbers("index")
    element = f"{evidence.text('array')}[{', '.join(map(str, index))}]" if index else ""
    values = (
        f"{element}: expected {_value(evidence.number('expected'))}, the machine "
        f"{_value(evidence.number('machine_value'))}, {device} {_value(evidence.number('gpu_value'))}"
        if element
        else ""
    )
    others = f"the two differ on {plural(shapes, 'shape')} of the suite" if shapes and shapes > 1 else ""
    inputs = "on whole numbers" if evidence.text("inputs") == "exact" else "on floats"
    return Wording(
        headline=f"machine and GPU disagree: {here} on the machine, {there} on the GPU",
        primary="",
        seen=(f"{evidence.shape()}, {inputs}" if evidence.shape() else inputs, values, others),
        because="the machine found no hazard that would leave the result to luck, so one of the two "
        "is wrong about this kernel; until it is known which, it does not pass",
        hints=(
            "does the kernel use something that only some GPUs have, or that hangs on the order of threads?",
            f"look at {quote(element) if element else 'the shape above'} on both sides",
            _REPORT,
        ),
    )


def _compile_error(evidence: Evidence) -> Wording:
    detail, archs = _detail(evidence), evidence.finding.facts.get("archs")
    named = [str(one) for one in archs] if isinstance(archs, tuple) else []
    where = f" for {listing(named)}" if named else ""
    verb = "fails on" if evidence.text("refusal") == "compiler" else "refuses"
    kernel = evidence.role("kernel", "the kernel")
    return Wording(
        headline=f"numba's compiler {verb} {kernel}{where}{evidence.on_line()}",
        primary="the compiler stops here",
        seen=(detail, _lost(evidence)),
        because="what is not compiled cannot be launched, so no shape has a result",
        hints=(
            "which types do the values on that line have?",
            f"read what the compiler says of {evidence.code('the kernel')}{evidence.on_line()}",
            "write that line with types and functions that numba supports on a GPU",
        ),
    )


def _launch_refused(evidence: Evidence) -> Wording:
    return Wording(
        headline=f"{_device(evidence)} refuses to launch {evidence.role('kernel', 'the kernel')}",
        primary="",
        seen=(evidence.shape(), _detail(evidence), _lost(evidence)),
        because="a block needs all its threads' registers and its shared memory at the same time, and a "
        "multiprocessor has only so many",
        hints=(
            "how many registers and how much shared memory does one block need?",
            "registers a thread times threads a block may not exceed 65,536 on most GPUs",
            "make the block smaller, or let each thread keep fewer values",
        ),
    )


def _illegal_address(evidence: Evidence) -> Wording:
    misaligned = "MISALIGNED" in evidence.text("detail")
    what = "a misaligned address" if misaligned else "an address outside all memory"
    return Wording(
        headline=f"a thread used {what} on {_device(evidence)}, which ended the run",
        primary="",
        seen=(evidence.shape(), _detail(evidence), _lost(evidence)),
        because="such an access leaves the process without a usable GPU: this launch and all after it "
        "have no result",
        hints=(
            "which index can leave its array?",
            _cause(evidence, "follow the indices of the first and the last thread of the grid on this shape"),
            "test each index against its array's shape before the access",
        ),
    )


def _kernel_aborted(evidence: Evidence) -> Wording:
    return Wording(
        headline=f"{evidence.role('kernel', 'the kernel')} was aborted on {_device(evidence)}",
        primary="",
        seen=(evidence.shape(), _detail(evidence), _lost(evidence)),
        because="the driver ended the launch, which leaves the process without a usable GPU",
        hints=(
            "what can make a thread fail: a trap, an assertion, a stack that is too deep?",
            _cause(evidence, "look at the accesses and calls of the kernel on this shape"),
            "take out what the kernel does not need until it runs, and put it back piece by piece",
        ),
    )


def _gpu_did_not_finish(evidence: Evidence) -> Wording:
    limit = evidence.text("detail") or "the time allowed"
    return Wording(
        headline=f"a launch was still running on {_device(evidence)} after {limit}, and was ended",
        primary="",
        seen=(evidence.shape(), _lost(evidence)),
        because="a launch ends when every thread has ended: one that waits at a barrier for threads that "
        "never come, or stays in a loop, holds the GPU for ever",
        hints=(
            "does every loop end, and does every thread of a block reach each barrier?",
            _cause(evidence, "follow the loops of the last thread of the last block on this shape"),
            "make each loop end, and put barriers where all threads of the block pass",
        ),
    )


def _out_of_memory(evidence: Evidence) -> Wording:
    return Wording(
        headline=f"{_device(evidence)} has no memory for the arrays of a launch",
        primary="",
        seen=(evidence.shape(), _detail(evidence), _lost(evidence)),
        because="the arrays' sizes come from the exercise, so this is not in the kernel; without the launch "
        "it is neither right nor wrong",
        hints=(
            "is the GPU shared with another process?",
            "the exercise's rubric gives the sizes",
            "run on a GPU with more free memory, or make the exercise's shapes smaller",
        ),
    )


def _child_lost(evidence: Evidence) -> Wording:
    return Wording(
        headline="the process that runs the kernel on the GPU was lost",
        primary="",
        seen=(evidence.shape(), _detail(evidence), _lost(evidence)),
        because="it ended, or answered what it was not asked, before all launches had a result",
        hints=(
            "does it happen again?",
            "memory that runs out and a driver that fails end such a process",
            f"grade once more; if it happens again, {_REPORT}",
        ),
    )


def _margin_overwritten(evidence: Evidence) -> Wording:
    array, distance = evidence.array("an array"), evidence.whole("distance")
    side = "" if distance is None else "before it begins" if distance < 0 else "past its end"
    # The first byte past the end has the distance 1.
    away = "" if distance is None else f"{number(abs(distance))}{_ordinal(abs(distance))} byte {side}"
    return Wording(
        headline=f"memory beside {array} was overwritten on {_device(evidence)}"
        + (f": the {away}" if away else ""),
        primary="",
        seen=(evidence.shape(), f"on {plural(evidence.count('shapes') or 1, 'shape')} of the suite"),
        because="the grader puts margins around each array; a store into one would have changed another "
        "array's values, or ended the run",
        hints=(
            "which store can leave its array?",
            _cause(evidence, f"follow the indices of the stores to {array} on this shape"),
            f"test each index of {array} before the store",
        ),
    )


def _ordinal(value: int) -> str:
    if value % 100 in (11, 12, 13):
        return "th"
    return {1: "st", 2: "nd", 3: "rd"}.get(value % 10, "th")


def _result_by_luck(evidence: Evidence) -> Wording:
    shapes, hazard = evidence.count("concerned"), evidence.text("hazard")
    return Wording(
        headline=f"{_device(evidence)} got the right result on {plural(shapes or 1, 'shape')} all the same",
        primary="",
        seen=(evidence.shape(), f"the machine's finding there: {hazard}" if hazard else ""),
        because=f"what {hazard or 'the finding'} leaves open, this GPU happened to do in the wanted order in "
        "this run; another run, GPU or compiler may not",
        hints=(
            "what makes the order in which threads run the same every time?",
            "nothing does, but barriers; a right result here is luck",
            "repair what the messages above name",
        ),
        all_the_same="a result by luck is no result to rely on",
    )


WRITERS: dict[str, Writer] = {
    "backends-disagree": _backends_disagree,
    "gpu-compile-error": _compile_error,
    "gpu-launch-refused": _launch_refused,
    "gpu-illegal-address": _illegal_address,
    "gpu-kernel-aborted": _kernel_aborted,
    "gpu-did-not-finish": _gpu_did_not_finish,
    "gpu-out-of-memory": _out_of_memory,
    "gpu-child-lost": _child_lost,
    "gpu-margin-overwritten": _margin_overwritten,
    "gpu-result-by-luck": _result_by_luck,
}
