"""Every name that a finding may carry: its family, its title, its usual severity and its page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from grader.records import Severity

Family = Literal[
    "compile",
    "launch",
    "synccheck",
    "racecheck",
    "initcheck",
    "memcheck",
    "result",
    "performance",
    "device",
]

#: The order in which a student has to fix faults: each family can make those after it meaningless.
FAMILIES: tuple[Family, ...] = (
    "compile",
    "launch",
    "synccheck",
    "racecheck",
    "initcheck",
    "memcheck",
    "result",
    "performance",
    "device",
)


@dataclass(frozen=True, slots=True)
class Entry:
    """One name of the catalogue.

    ``severity`` is what the name has unless a finding says otherwise. ``needs_compiler`` marks
    the names that only a compiled kernel can show, ``needs_gpu`` those of a run on a GPU; their
    pages hold no executable block.
    """

    name: str
    family: Family
    title: str
    severity: Severity = "error"
    needs_compiler: bool = False
    needs_gpu: bool = False

    @property
    def page(self) -> str:
        """Path of the page in the repository, with forward slashes."""
        return f"docs/diagnostics/{self.name}.md"


#: What a run on a GPU shows; the machine's own findings are errors already where they explain it.
_OF_THE_DEVICE: tuple[tuple[str, str, Severity], ...] = (
    ("backends-disagree", "The machine and the GPU judge a launch differently", "error"),
    ("gpu-compile-error", "Numba's compiler refuses the kernel", "error"),
    ("gpu-launch-refused", "A launch that the GPU refuses", "error"),
    ("gpu-illegal-address", "An illegal address that ended the run", "error"),
    ("gpu-kernel-aborted", "A kernel that the driver aborted", "error"),
    ("gpu-did-not-finish", "A launch that did not end in time on the GPU", "error"),
    ("gpu-out-of-memory", "No memory on the GPU for a launch's arrays", "error"),
    ("gpu-child-lost", "The process that runs the kernel was lost", "error"),
    ("gpu-margin-overwritten", "Memory beside an array was overwritten", "error"),
    ("gpu-result-by-luck", "A right result on the GPU in spite of a hazard", "note"),
)

_ENTRIES = (
    Entry("syntax-error", "compile", "The file is not valid Python"),
    Entry("missing-kernel", "compile", "The kernel is not in the file"),
    Entry("changed-signature", "compile", "The kernel's parameters differ from the exercise's"),
    Entry("not-started", "compile", "The skeleton is unchanged or unfinished", "note"),
    Entry("forbidden-call", "compile", "A call that the exercise rules out"),
    Entry("unsupported-construct", "compile", "A construct that the grader cannot follow"),
    Entry("type-error", "compile", "A type that the compiler for the GPU refuses"),
    Entry("non-constant-shared-shape", "compile", "A shared array whose shape is not a constant"),
    Entry("bad-launch-config", "launch", "A launch configuration that is no grid and block"),
    Entry("block-too-large", "launch", "More threads in a block than the device holds"),
    Entry("grid-too-large", "launch", "More blocks along an axis than the device takes"),
    Entry("shared-memory-too-large", "launch", "More shared memory than a block may have"),
    Entry("grid-too-small", "launch", "A grid that does not reach the end of the output", "warning"),
    Entry("did-not-finish", "launch", "A loop that does not end in time"),
    Entry("zero-step", "launch", "A range whose step is 0"),
    Entry("divergent-barrier", "synccheck", "A barrier that only part of the block reaches"),
    Entry("exit-before-barrier", "synccheck", "Threads that return before a barrier", "warning"),
    Entry("shuffle-from-inactive-lane", "synccheck", "A shuffle from a lane that takes no part"),
    Entry("lane-not-in-mask", "synccheck", "A lane that calls and is not in the mask"),
    Entry("inactive-lane-in-mask", "synccheck", "A lane that is in the mask and does not call"),
    Entry("shared-read-before-barrier", "racecheck", "A shared read with no barrier after the write"),
    Entry("shared-overwrite-before-barrier", "racecheck", "A shared write with no barrier after the read"),
    Entry("shared-write-conflict", "racecheck", "Two threads that write one shared word"),
    Entry("global-write-conflict", "racecheck", "Two threads that write one global word"),
    Entry("global-read-write-race", "racecheck", "A global read and write that nothing orders"),
    Entry("undefined-variable", "initcheck", "A variable that some threads never set"),
    Entry("uninitialised-shared-read", "initcheck", "A shared slot that nobody wrote"),
    Entry("uninitialised-local-read", "initcheck", "A local array element that was never set"),
    Entry("stale-shared-read", "initcheck", "A shared slot that kept its value from an earlier round"),
    Entry("unwritten-output", "initcheck", "Output elements that no thread stored"),
    Entry("out-of-bounds-read", "memcheck", "A read outside an array"),
    Entry("out-of-bounds-write", "memcheck", "A write outside an array"),
    Entry("misaligned-access", "memcheck", "A wide access at an address that is no multiple of its size"),
    Entry("negative-index", "memcheck", "A negative index, which wraps round", "note"),
    Entry("dropped-k-tail", "result", "The last products of the sum are missing"),
    Entry("repeated-k-tail", "result", "Some products are added twice"),
    Entry("transposed-result", "result", "The result is the transpose of the right one"),
    Entry("swapped-operands", "result", "The two factors have changed places"),
    Entry("accumulated-into-output", "result", "The result is added to the old output"),
    Entry("precision-loss", "result", "Digits lost on the way to the output", "warning"),
    Entry("wrong-result", "result", "The result is wrong, and no known pattern fits"),
    Entry("float64-arithmetic", "performance", "Arithmetic in float64 where float32 was meant", "note"),
    Entry("uncoalesced-access", "performance", "A warp's accesses are spread over memory", "note"),
    Entry("bank-conflict", "performance", "Lanes of a warp queue for one bank", "note"),
    Entry("idle-blocks", "performance", "Many more blocks than the output needs", "warning"),
    Entry("low-arithmetic-intensity", "performance", "Too few operations per loaded byte", "note"),
    Entry("no-shared-reuse", "performance", "A shared tile that does not save loads", "note"),
    Entry(
        "register-spill", "performance", "Registers that overflow into memory", "note", needs_compiler=True
    ),
    Entry("low-occupancy", "performance", "Too few warps in flight", "note", needs_compiler=True),
    *(Entry(name, "device", title, severity, needs_gpu=True) for name, title, severity in _OF_THE_DEVICE),
)

CATALOGUE: Mapping[str, Entry] = {entry.name: entry for entry in _ENTRIES}


class UnknownNameError(LookupError):
    """A finding carries a name that the catalogue does not list: a fault of the grader."""

    def __init__(self, name: str) -> None:
        super().__init__(f"no diagnosis is named {name!r}")
        self.name = name


def entry(name: str) -> Entry:
    """Return the entry of a name; raise ``UnknownNameError`` where there is none."""
    try:
        return CATALOGUE[name]
    except KeyError:
        raise UnknownNameError(name) from None
