"""docs/model.md shows what the commands print and what the device data say."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from grader.cli.model import command as model
from grader.cli.roofline import command as roofline
from grader.perf.device_file import device_from_file
from grader.perf.devices import device, device_names
from grader.perf.gemm import predict
from grader.perf.ladder import parse_kernel
from grader.perf.roofline import roofs
from grader.reporters.model_words import milliseconds, three

PAGE = (Path(__file__).parents[2] / "docs" / "model.md").read_text(encoding="utf-8")
CONSOLES = re.findall(r"```console\n\$ grader ([^\n]*)\n(.*?)```", PAGE, flags=re.DOTALL)


@pytest.mark.parametrize(("line", "output"), CONSOLES, ids=[line for line, _ in CONSOLES])
def test_a_console_shows_what_the_command_prints(line: str, output: str) -> None:
    name, *arguments = shlex.split(line)
    done = CliRunner(env={"COLUMNS": "100"}).invoke({"model": model, "roofline": roofline}[name], arguments)
    assert done.exit_code == 0
    assert done.output == output


def test_the_page_has_its_three_consoles() -> None:
    assert len(CONSOLES) == 3


@pytest.mark.parametrize("name", device_names())
def test_the_table_of_devices(name: str) -> None:
    found = device(name)
    bf16 = "none" if found.bf16_matrix_flops is None else f"{found.bf16_matrix_flops / 1e12:g}"
    row = [
        name,
        str(found.sm_count),
        f"{found.clock_hz / 1e9:g}",
        f"{found.fp32_flops / 1e12:g}",
        bf16,
        f"{found.hbm_bytes_per_second / 1e9:,.0f}",
        three(roofs(found)[0].ridge),
    ]
    assert f"| {' | '.join(row)} |" in PAGE


@pytest.mark.parametrize(
    ("kernel", "measured"),
    [
        ("naive", "107"),
        ("tiled", "17.8"),
        ("register:64x64x16/4x4", "10"),
        ("register", "5.8"),
        ("tensor", "1.02"),
    ],
)
def test_the_table_of_measurements(kernel: str, measured: str) -> None:
    prediction = predict(parse_kernel(kernel), device("h200"), 4096, 4096, 4096)
    assert prediction.seconds is not None
    ratio = prediction.seconds * 1e3 / float(measured)
    assert f"| {milliseconds(prediction.seconds)} | " in PAGE
    assert f"| {measured} | {ratio:.2f} |" in PAGE


def test_the_device_file_of_the_page_is_read(tmp_path: Path) -> None:
    [text] = re.findall(r"```toml\n(.*?)```", PAGE, flags=re.DOTALL)
    path = tmp_path / "pcie.toml"
    path.write_text(text, encoding="utf-8")
    assert device_from_file(path).sm_count == 114
