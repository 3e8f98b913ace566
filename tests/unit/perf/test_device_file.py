from __future__ import annotations

from pathlib import Path

import pytest

from grader.perf.device_file import device_from_file, find_device
from grader.perf.devices import DeviceError, device


def write(folder: Path, text: str, name: str = "lab.toml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_a_file_changes_only_what_it_says(tmp_path: Path) -> None:
    path = write(tmp_path, 'like = "h100"\nsm_count = 114\nhbm_bytes_per_second = 2_000_000_000_000\n')
    found = device_from_file(path)
    assert found.name == "lab"
    assert found.sm_count == 114
    assert found.hbm_bytes_per_second == 2e12
    assert found.fp32_flops == device("h100").fp32_flops
    assert found.sources == {}


def test_a_rate_of_zero_means_the_device_lacks_it(tmp_path: Path) -> None:
    found = device_from_file(write(tmp_path, 'like = "h100"\nbf16_matrix_flops = 0\n'))
    assert found.bf16_matrix_flops is None


def test_find_device_takes_names_and_files(tmp_path: Path) -> None:
    path = write(tmp_path, 'like = "t4"\n')
    assert find_device(str(path)).name == "lab"
    assert find_device("t4") is device("t4")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("sm_count = ", "not a TOML file"),
        ('like = "h1000"', "no device named 'h1000'"),
        ("like = 3", "like must be the name of a device"),
        ('like = "h100"\nsms = 3', "unknown key 'sms'"),
        ('like = "h100"\nsm_count = "many"', "sm_count must be a whole number, not 'many'"),
        ('like = "h100"\nsm_count = true', "sm_count must be a whole number, not True"),
        ('like = "h100"\nsm_count = -1', "sm_count must be above zero"),
        ('like = "h100"\nsm_count = 0', "sm_count must be above zero"),
        ('like = "h100"\nclock_hz = inf', "clock_hz must be above zero"),
        ('like = "h100"\nclock_hz = nan', "clock_hz must be above zero"),
        ('like = "h100"\nmax_block_dims = [1, 2]', "max_block_dims must be three whole numbers"),
        ('like = "h100"\nmax_block_dims = [1, 2, 0]', "max_block_dims must be three whole numbers"),
        ('like = "h100"\ntitle = 3', "title must be a text in quotes"),
        ('like = "h100"\n[sources]\nclock = 3', "sources must be a table of texts"),
        ("sm_count = 3", "missing vendor"),
    ],
)
def test_a_wrong_file_is_refused_with_its_path_and_key(tmp_path: Path, text: str, said: str) -> None:
    path = write(tmp_path, text)
    with pytest.raises(DeviceError) as caught:
        device_from_file(path)
    message = str(caught.value)
    assert said in message
    assert "\n" not in message
    assert str(path) in message or "h1000" in message


def test_a_missing_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DeviceError, match="cannot read this device file"):
        device_from_file(tmp_path / "none.toml")
    with pytest.raises(DeviceError, match="cannot read this device file"):
        device_from_file(tmp_path)


def test_a_large_file_a_binary_and_deep_nesting_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DeviceError, match="larger than 64 KiB"):
        device_from_file(write(tmp_path, "# " + "x" * 70_000))
    (tmp_path / "b.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(DeviceError, match="not a TOML file"):
        device_from_file(tmp_path / "b.toml")
    with pytest.raises(DeviceError, match="not a TOML file"):
        device_from_file(write(tmp_path, "a = " + "[" * 30_000))
