from __future__ import annotations

import dataclasses
import subprocess
import sys

import pytest

from grader.perf.devices import Device, DeviceError, device, device_names

EVERY = [device(name) for name in device_names()]


def test_the_devices_of_the_course_are_known() -> None:
    assert device_names() == ("t4", "a100", "h100", "h200", "rtx4090", "mi300x")


@pytest.mark.parametrize(
    ("name", "sms", "clock", "fp32", "bf16", "bandwidth"),
    [
        ("a100", 108, 1.41e9, 19.5e12, 312e12, 1555e9),
        ("h100", 132, 1.98e9, 66.9e12, 989e12, 3350e9),
        ("h200", 132, 1.98e9, 66.9e12, 989e12, 4800e9),
        ("t4", 40, 1.59e9, 8.1e12, None, 320e9),
        ("rtx4090", 128, 2.52e9, 82.6e12, 165.2e12, 1008e9),
        ("mi300x", 304, 2.1e9, 163e12, 1307e12, 5300e9),
    ],
)
def test_figures_of_the_makers(
    name: str, sms: int, clock: float, fp32: float, bf16: float | None, bandwidth: float
) -> None:
    found = device(name)
    assert (found.sm_count, found.clock_hz) == (sms, clock)
    assert (found.fp32_flops, found.bf16_matrix_flops) == (fp32, bf16)
    assert found.hbm_bytes_per_second == bandwidth


@pytest.mark.parametrize("found", EVERY, ids=device_names())
def test_peak_is_what_lanes_and_clock_make(found: Device) -> None:
    made = found.sm_count * found.fp32_flops_per_clock_per_sm * found.clock_hz
    assert found.fp32_flops == pytest.approx(made, rel=0.01)


@pytest.mark.parametrize("found", EVERY, ids=device_names())
def test_limits_agree_with_one_another(found: Device) -> None:
    assert found.max_threads_per_sm % found.warp_width == 0
    assert found.max_threads_per_block <= found.max_threads_per_sm
    assert found.shared_bytes_per_block_static <= found.shared_bytes_per_block_optin
    reserved = found.shared_bytes_reserved_per_block
    assert found.shared_bytes_per_block_optin + reserved == found.shared_bytes_per_sm


@pytest.mark.parametrize("found", EVERY, ids=device_names())
def test_every_figure_has_its_type_and_its_source(found: Device) -> None:
    complete = device("a100")
    for field in dataclasses.fields(Device):
        value = getattr(found, field.name)
        assert value is None or type(value) is type(getattr(complete, field.name)), field.name
    assert set(found.sources) == {"limits", "chip", "rates"}
    assert all(len(text) > 20 for text in found.sources.values())


def test_limits_of_a_launch_on_the_h100() -> None:
    h100 = device("h100")
    assert h100.warp_width == 32
    assert h100.shared_banks == 32
    assert h100.sector_bytes == 32
    assert h100.max_threads_per_block == 1024
    assert h100.shared_bytes_per_block_static == 49152
    assert h100.shared_bytes_per_block_optin == 232448
    assert h100.max_registers_per_thread == 255


def test_amd_warps_are_64_wide_and_shared_memory_is_64_kib() -> None:
    mi300x = device("mi300x")
    assert mi300x.warp_width == 64
    assert mi300x.shared_bytes_per_sm == 65536
    assert mi300x.max_warps_per_sm == 32


def test_shared_bandwidth_is_every_bank_once_a_clock() -> None:
    assert device("a100").shared_bytes_per_second == 108 * 128 * 1.41e9
    assert device("h100").shared_bytes_per_second == 132 * 128 * 1.98e9


def test_l2_bandwidth_only_where_its_maker_says_it() -> None:
    assert device("a100").l2_bytes_per_second == 5120 * 1.41e9
    assert device("h100").l2_bytes_per_second is None


@pytest.mark.parametrize("name", ["H100", " h100 ", "h100-sxm", "H100 SXM", "h100_sxm5"])
def test_names_are_read_kindly(name: str) -> None:
    assert device(name) is device("h100") or device(name) == device("h100")


def test_an_unknown_device_names_the_known_ones_and_the_nearest() -> None:
    with pytest.raises(DeviceError) as caught:
        device("h10")
    assert str(caught.value) == (
        "no device named 'h10'; did you mean h100? (known: t4, a100, h100, h200, rtx4090, mi300x)"
    )


def test_loading_reads_neither_yaml_nor_toml_nor_numpy() -> None:
    code = (
        "import sys; from grader.perf.devices import device; device('h100'); "
        "print(sorted({'yaml', 'tomllib', 'numpy', 'json'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
