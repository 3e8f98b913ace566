"""What the parent makes of a child that is killed, lies about lengths, floods, or speaks nonsense."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from grader.gpu.device_runs import Deadlines, Launch, Session, run_on_device
from grader.gpu.margins import inner, margin_of, padded, reached

# What every stand-in begins with: it reads the request as the real child does.
HEAD = """\
import json, os, signal, sys, time
stream = sys.stdin.buffer
header = json.loads(stream.read(int.from_bytes(stream.read(8), "big")))
data = stream.read()

def say(said, after=b""):
    message = said if isinstance(said, bytes) else json.dumps(said).encode()
    os.write(1, len(message).to_bytes(4, "big") + message + after)

def begin():
    say({"at": "ready", "device": "a stand-in", "capability": [9, 0], "versions": {"numba": "1"}})
    say({"at": "built", "fault": ""})

def ok(index=0, **more):
    size = len(data) // len(header["launches"])
    return {"at": "launch", "index": index, "fault": "", "bytes": size, **more}
"""
DEADLINES = Deadlines(start=20, build=20, launch=2, total=40)


def launch() -> Launch:
    arrays = {"a": np.arange(6, dtype=np.float32).reshape(2, 3), "n": 6, "out": np.zeros((2, 3), np.float32)}
    return Launch((1,), (6,), arrays)


def stand_in(folder: Path, text: str, launches: int = 1) -> Session:
    script = folder / "child.py"
    script.write_text(HEAD + text)
    return run_on_device(
        {"file": "one.py"},
        [launch() for _ in range(launches)],
        sandbox=None,
        simulated=True,
        deadlines=DEADLINES,
        script=script,
    )


def test_an_honest_stand_in_is_believed(tmp_path: Path) -> None:
    session = stand_in(tmp_path, "begin()\nsay(ok(regs_per_thread=32), data)\n")
    result = session.results[0]
    assert result.fault is None
    assert result.after is not None
    assert result.after["a"].tolist() == [[0, 1, 2], [3, 4, 5]]
    assert (session.device, session.capability, session.figures) == (
        "a stand-in",
        (9, 0),
        {"regs_per_thread": 32},
    )


@pytest.mark.parametrize(
    ("text", "detail"),
    [
        ("os.kill(os.getpid(), 9)", "it was ended by signal 9"),
        ("begin()\nos.kill(os.getpid(), 11)", "it was ended by signal 11"),
        ("begin()\nsys.exit(3)", "it ended with status 3"),
        (
            "begin()\nsys.stderr.write('why\\n')\nsys.stderr.flush()\nos._exit(3)",
            "it ended with status 3: why",
        ),
        ("os.write(1, b'x' * 100)", "it sent what is no message"),
        ("os.write(1, (2**31).to_bytes(4, 'big'))", "it sent what is no message"),
        ("os.write(1, bytes(4))", "it sent what is no message"),
        ("say(b'[' * 60_000)", "it sent what is no message"),
        ("say(b'\\xff\\xfe')", "it sent what is no message"),
        ("say([1])", "it sent another message than the one due"),
        ("say(ok())", "it sent another message than the one due"),
        ("begin()\nsay(ok(1), data)", "it answered another launch than the one asked for"),
        ("begin()\nsay({**ok(), 'fault': 'a-name-of-its-own'})", "it named a fault that there is not"),
        ("begin()\nsay({**ok(), 'bytes': 8})", "it announced results of another length than the arrays'"),
        ("begin()\nsay({**ok(), 'bytes': None})", "it announced results of another length than the arrays'"),
        ("begin()\nsay(ok(), data[:-1])", "it ended with status 0"),
        ("begin()\nos.close(1)\ntime.sleep(60)", "it closed its output"),
    ],
)
def test_a_child_that_cannot_be_believed_is_lost(tmp_path: Path, text: str, detail: str) -> None:
    session = stand_in(tmp_path, text + "\n")
    fault = session.results[0].fault
    assert fault is not None
    assert (fault.name, fault.detail) == ("gpu-child-lost", detail)
    assert session.results[0].after is None


def test_a_silent_child_costs_its_deadline_alone(tmp_path: Path) -> None:
    session = stand_in(tmp_path, "begin()\ntime.sleep(60)\n", launches=3)
    assert [one.fault.name for one in session.results if one.fault] == ["gpu-did-not-finish"] * 3
    assert [one.launched for one in session.results] == [True, False, False]


def test_what_came_before_a_crash_stays(tmp_path: Path) -> None:
    text = "begin()\nsay(ok(), data[:len(data) // 2])\nos.kill(os.getpid(), 9)\n"
    first, second = stand_in(tmp_path, text, launches=2).results
    assert first.after is not None
    assert second.fault is not None
    assert second.fault.detail == "it was ended by signal 9"


def test_a_flood_fills_no_memory(tmp_path: Path) -> None:
    tracemalloc.start()
    session = stand_in(
        tmp_path, "begin()\nsay(ok(), data)\nwhile True: os.write(1, b'x' * 65536)\n", launches=2
    )
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert session.results[1].fault is not None
    assert session.results[1].fault.detail == "it announced results of another length than the arrays'" or (
        session.results[1].fault.detail == "it sent what is no message"
    )
    assert peak < 20_000_000


def test_a_child_s_words_are_bounded_and_printable(tmp_path: Path) -> None:
    told = "{**ok(), 'fault': 'gpu-compile-error', 'detail': '\\x1b[31m' + 'y' * 9000, 'line': True}"
    text = f"begin()\nsay({told})\n"
    fault = stand_in(tmp_path, text).results[0].fault
    assert fault is not None
    assert fault.detail.startswith("?[31myyy")
    assert len(fault.detail) == 2000
    assert fault.line is None


@pytest.mark.parametrize(
    ("at", "distance"), [("margin - 1", -1), ("margin - 9", -9), ("margin + 24", 1), ("-1", 0)]
)
def test_a_byte_beside_an_array_is_noticed(tmp_path: Path, at: str, distance: int) -> None:
    text = (
        "begin()\nmargin = header['launches'][0]['arguments'][0]['margin']\nchanged = bytearray(data)\n"
        f"changed[{at}] ^= 1\nsay(ok(), bytes(changed))\n"
    )
    result = stand_in(tmp_path, text).results[0]
    # The last byte of all belongs to the last word of the last margin.
    last = margin_of(launch().arguments["out"]) - 3
    assert result.overwritten == ({"a": distance} if distance else {"out": last})


def test_margins_are_nan_in_every_float_type_and_differ_from_word_to_word() -> None:
    array = np.zeros((3, 5), np.float32)
    margin = margin_of(array)
    assert margin == 4096
    data = padded(array, margin)
    for kind in (np.float32, np.float64):
        assert np.isnan(np.frombuffer(data[:margin], kind)).all()
    assert np.isnan(np.frombuffer(data[:margin], np.float16)[1::2]).all()
    words = np.frombuffer(data[:margin], np.uint32)
    assert len(set(words.tolist())) == len(words)
    assert reached(data, array) == 0
    assert np.array_equal(inner(data, array), array)


def test_wide_rows_have_wide_margins() -> None:
    assert margin_of(np.zeros((2, 1000), np.float64)) == 32_256
    assert margin_of(np.zeros((2, 10**6), np.float32)) == 1 << 20
    assert margin_of(np.zeros((2, 1000), np.float64)) % 512 == 0
