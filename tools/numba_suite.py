"""Run the tests that numba-cuda ships on the machine, and count what becomes of each.

``python tools/numba_suite.py`` runs them all, writes ``docs/results/numba_suite.json`` and, from it,
``docs/numba-suite.md``. With names of test modules it runs those and prints each test that did not
pass; with ``--page`` it writes the page from the stored result. The tests are read from the
installed package; their own assertions judge the machine's results. Tests that are not about
kernels are excluded in ``tools/numba_exclusions.toml``.
"""

from __future__ import annotations

import builtins
import importlib
import json
import linecache
import os
import re
import signal
import sys
import tomllib
import types as pytypes
import unittest
import warnings
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

os.environ["NUMBA_ENABLE_CUDASIM"] = "1"
ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tools")]
from numba_page import KINDS, Outcome, page  # noqa: E402 - found by the path above

SECONDS = 150
RESULTS = ROOT / "docs" / "results" / "numba_suite.json"
PAGE = ROOT / "docs" / "numba-suite.md"
FOLDERS = ("cudapy", "cudadrv", "cudasim", "doc_examples", "nocuda", "nrt", "core")


class Judge(unittest.TestResult):
    """Turns what unittest reports, with what the machine recorded, into outcomes."""

    def __init__(self) -> None:
        super().__init__()
        self.outcomes: list[Outcome] = []
        self.error: tuple[type[BaseException], BaseException, Any] | None = None

    def addError(self, test: Any, err: Any) -> None:  # noqa: ARG002, N802 - unittest's names
        self.error = err

    def addFailure(self, test: Any, err: Any) -> None:  # noqa: ARG002, N802
        self.error = err

    def addSubTest(self, test: Any, subtest: Any, err: Any) -> None:  # noqa: ARG002, N802
        if err is not None and self.error is None:
            self.error = err

    def addSkip(self, test: Any, reason: str) -> None:  # noqa: N802
        self.outcomes.append(Outcome(short(test.id()), "excluded", reason))

    def startTest(self, test: Any) -> None:  # noqa: ARG002, N802
        from numba_kernels import RECORD, Record

        self.error, self.before = None, len(self.outcomes)
        for name in Record.__dataclass_fields__:
            setattr(RECORD, name, getattr(Record(), name))
        signal.alarm(SECONDS)

    def stopTest(self, test: Any) -> None:  # noqa: N802
        signal.alarm(0)
        if len(self.outcomes) == self.before:
            self.outcomes.append(judged(short(test.id()), self.error))


def judged(name: str, error: Any) -> Outcome:
    """The outcome of one finished test."""
    from numba_kernels import RECORD, MachineTypeError, NotAboutKernels, Refused

    findings = sorted(RECORD.findings)
    if error is None:
        kind = "passed" if RECORD.launches or RECORD.type_errors else "excluded"
        return Outcome(name, kind, "" if kind == "passed" else "launches no kernel", findings)
    if isinstance(error[1], NotAboutKernels):
        return Outcome(name, "excluded", f"reads the compiler's `{error[1]}`", findings)
    text = f"{error[0].__name__}: {error[1]}".strip().splitlines()[0][:160]
    if isinstance(error[1], Refused) or RECORD.refusals:
        return Outcome(name, "refused", RECORD.refusals[-1][:160] if RECORD.refusals else text, findings)
    if isinstance(error[1], MachineTypeError):
        return Outcome(name, "type-error", RECORD.type_errors[-1][:160], findings)
    if isinstance(error[1], AssertionError) and RECORD.type_errors:
        return Outcome(name, "refused-alike", RECORD.type_errors[-1][:160], findings)
    if isinstance(error[1], AssertionError) and RECORD.launches:
        lines = [line for line in str(error[1]).splitlines() if line.strip()]
        return Outcome(name, "wrong", " / ".join(lines)[:240], findings)
    where, step = "", error[2]
    while step is not None:
        file = step.tb_frame.f_code.co_filename
        where = f" at {Path(file).name}:{step.tb_lineno}" if "/grader/" in file else where
        step = step.tb_next
    return Outcome(name, "crash" if where else "other", text + where, findings)


def short(test_id: str) -> str:
    """A test's name without the package's."""
    return test_id.removeprefix("numba.cuda.tests.")


# -- running ----------------------------------------------------------------------------------------


def prepare() -> Path:
    """Put the machine in the simulator's place; gives the folder of the installed tests."""
    for name in ("filecheck.matcher", "filecheck.options", "filecheck.parser", "filecheck.finput", "cffi"):
        stub: Any = pytypes.ModuleType(name)
        stub.__getattr__ = lambda attr: MagicMock() if not attr.startswith("__") else _missing(attr)
        sys.modules[name] = stub
        sys.modules.setdefault(name.split(".", maxsplit=1)[0], stub)
    import numba.cuda
    import numba_kernels
    import numba_values
    from numba.cuda import testing

    from grader.simt import cache_hints

    testing.skip_on_cudasim = _unskipped
    builtins.exec = keeping_exec
    numba.cuda.jit = numba_kernels.jit
    for name in (*cache_hints.LOADS, *cache_hints.STORES):
        setattr(numba.cuda, name, numba_values.Named(f"numba.cuda.{name}"))
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGALRM, _expired)
    return Path(numba.cuda.__file__).parent / "tests"


def _unskipped(_: str) -> Any:
    return lambda test: test


def keeping_exec(source: Any, *scopes: Any) -> None:
    """``exec`` that keeps the text, for the tests that make their kernels from templates."""
    if not scopes:
        frame = sys._getframe(1)
        scopes = (frame.f_globals, frame.f_locals)
    if isinstance(source, str):
        name = f"<made {len(linecache.cache)}>"
        linecache.cache[name] = (len(source), None, source.splitlines(True), name)
        source = compile(source, name, "exec")
    _EXEC(source, *scopes)


_EXEC = builtins.exec


def _missing(attr: str) -> Any:
    raise AttributeError(attr)


def _expired(*_: Any) -> None:
    raise TimeoutError(f"more than {SECONDS} s")


def exclusions() -> list[tuple[re.Pattern[str], str]]:
    """Patterns of test names with the reason why each is excluded."""
    table = tomllib.loads((ROOT / "tools" / "numba_exclusions.toml").read_text())
    return [(re.compile(pattern), reason) for reason, names in table.items() for pattern in names]


def excluded(name: str, patterns: list[tuple[re.Pattern[str], str]]) -> str:
    """The reason for which a test or a module of tests is excluded; empty where it is not."""
    return next((reason for pattern, reason in patterns if pattern.match(name)), "")


def run(folder: Path, wanted: list[str]) -> list[Outcome]:
    """Run the modules whose names are wanted (all where none is given)."""
    judge, patterns = Judge(), exclusions()
    for kind in FOLDERS:
        for file in sorted((folder / kind).glob("test_*.py")):
            name = f"{kind}.{file.stem}"
            if wanted and file.stem not in wanted:
                continue
            reason = excluded(name, patterns)
            if reason:
                judge.outcomes.append(Outcome(name, "excluded", reason))
                continue
            _run_module(f"numba.cuda.tests.{name}", judge, patterns)
    return judge.outcomes


def _run_module(name: str, judge: Judge, patterns: list[tuple[re.Pattern[str], str]]) -> None:
    try:
        module = importlib.import_module(name)
    except BaseException as error:  # noqa: BLE001 - pytest skips a module with one
        judge.outcomes.append(Outcome(short(name), "other", f"not importable: {error}"))
        return
    chosen = unittest.TestSuite()
    for test in _flat(unittest.defaultTestLoader.loadTestsFromModule(module)):
        if type(test).__module__ != name:
            continue
        reason = excluded(short(test.id()), patterns)
        if reason:
            judge.outcomes.append(Outcome(short(test.id()), "excluded", reason))
        else:
            chosen.addTest(test)
    chosen.run(judge)


def _flat(suite: unittest.TestSuite) -> list[Any]:
    return [
        part for item in suite for part in (_flat(item) if isinstance(item, unittest.TestSuite) else [item])
    ]


def main(wanted: list[str]) -> None:
    """Run, then write the two files, or print what did not pass of the wanted modules."""
    if wanted == ["--page"]:
        PAGE.write_text(page(json.loads(RESULTS.read_text())))
        return
    outcomes = run(prepare(), wanted)
    if wanted:
        for item in outcomes:
            if item.kind not in ("passed", "excluded") or item.findings:
                print(item.kind, item.name, item.reason, *item.findings)
        print({kind: sum(item.kind == kind for item in outcomes) for kind in KINDS})
        return
    totals = {kind: sum(item.kind == kind for item in outcomes) for kind in KINDS}
    data = {"numba_cuda": version("numba-cuda"), "totals": totals, "outcomes": [asdict(o) for o in outcomes]}
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    RESULTS.write_text(json.dumps(data, indent=1) + "\n")
    PAGE.write_text(page(data))
    print(totals)


if __name__ == "__main__":
    main(sys.argv[1:])
