"""A device described by a course in a TOML file of its own.

The file holds the fields of :class:`grader.perf.devices.Device` as keys. ``like = "h100"`` starts from
a known device, so that only what differs need be written. Numbers are plain (bytes, hertz, flop/s);
a rate that the device lacks is left out, or written as 0 where the device it is like has one.
"""

from __future__ import annotations

from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from grader.perf.devices import Device, DeviceError, device

_MAX_FILE_BYTES = 64 * 1024
_RATES_A_DEVICE_MAY_LACK = {"fp64_flops", "fp16_matrix_flops", "bf16_matrix_flops", "l2_bytes_per_clock"}
_MAY_BE_ZERO = {"shared_bytes_reserved_per_block"}
_WORDS = {
    int: "a whole number",
    float: "a number",
    str: "a text in quotes",
    tuple: "three whole numbers",
    dict: "a table of texts",
}


def find_device(text: str) -> Device:
    """A device by name, or by the path of a ``.toml`` file. Raises DeviceError."""
    return device_from_file(Path(text)) if text.lower().endswith(".toml") else device(text)


def device_from_file(path: Path) -> Device:
    """Read one device. Raises DeviceError naming the file and the key for anything amiss."""
    written = _read_toml(path)
    like = written.pop("like", None)
    if like is not None and not isinstance(like, str):
        raise DeviceError(f'{path}: like must be the name of a device in quotes, say like = "h100"')
    values: dict[str, Any] = asdict(device(like)) if like is not None else {}
    values |= dict.fromkeys(_RATES_A_DEVICE_MAY_LACK - set(values))
    values |= {"name": path.stem, "title": path.stem, "sources": {}, "remarks": ""}
    _check_keys(path, written, values)
    values |= {key: _checked(path, key, value) for key, value in written.items()}
    return Device(**values)


def _read_toml(path: Path) -> dict[str, Any]:
    import tomllib

    try:
        if path.stat().st_size > _MAX_FILE_BYTES:
            raise DeviceError(f"{path}: larger than 64 KiB, which no device description is")
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise DeviceError(f"{path}: cannot read this device file ({error.strerror or error})") from error
    except (ValueError, RecursionError) as error:
        if isinstance(error, DeviceError):
            raise
        raise DeviceError(f"{path}: not a TOML file ({error})") from error


def _check_keys(path: Path, written: dict[str, Any], given: dict[str, Any]) -> None:
    allowed = [field.name for field in fields(Device)]
    for key in written:
        if key not in allowed:
            raise DeviceError(f"{path}: unknown key {key!r} (allowed: like, {', '.join(allowed)})")
    missing = [key for key in allowed if key not in written and key not in given]
    if missing:
        raise DeviceError(f'{path}: missing {", ".join(missing)}; like = "h100" fills in what you leave out')


def _checked(path: Path, key: str, value: Any) -> Any:
    """``value`` as that field's type, which is the type the field has in a complete device."""
    kind = type(getattr(device("a100"), key))
    refused = DeviceError(f"{path}: {key} must be {_WORDS[kind]}, not {value!r}")
    if kind is float and type(value) is int:
        value = float(value)
    if kind is tuple and type(value) is list and len(value) == 3:
        value = tuple(value)
    if type(value) is not kind:
        raise refused
    if kind is dict and not all(type(text) is str for text in value.values()):
        raise refused
    if kind is tuple and not all(type(part) is int and part > 0 for part in value):
        raise refused
    if kind in {int, float}:
        return _checked_number(path, key, value)
    return value


def _checked_number(path: Path, key: str, value: float) -> float | None:
    if value == 0 and key in _RATES_A_DEVICE_MAY_LACK:
        return None
    if value == 0 and key in _MAY_BE_ZERO:
        return value
    if not 0 < value < 1e24:
        raise DeviceError(
            f"{path}: {key} must be above zero and of a size that a device can have, not {value!r}"
        )
    return value
