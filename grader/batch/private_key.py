"""The instructor's secret, from which hidden shapes and numbers are drawn.

It comes from a file or from the environment, never from an argument, which every user of a machine
can read in its list of processes. No message contains it.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import stat
import string
from collections.abc import Mapping
from pathlib import Path

from grader.batch.problems import BatchError

__all__ = ["VARIABLE", "key_mark", "read_key"]

VARIABLE = "TILEGRADE_PRIVATE_KEY"
LEAST_BITS = 128


def read_key(path: Path | None, environment: Mapping[str, str] = os.environ) -> bytes | None:
    """Give the key, or None where neither a file nor ``TILEGRADE_PRIVATE_KEY`` gives one.

    Raises
    ------
    BatchError
        It cannot be read, other users can read it, or it is shorter than 128 bits.
    """
    if path is not None:
        return _strong(_of_file(path), str(path))
    written = environment.get(VARIABLE)
    return None if written is None else _strong(written.encode("utf-8", "surrogateescape").strip(), VARIABLE)


def _of_file(path: Path) -> bytes:
    try:
        mode = path.stat().st_mode
        data = path.read_bytes()[:65536].strip()
    except OSError as error:
        raise BatchError(f"{path}: the private key cannot be read: {error.strerror}") from None
    if os.name == "posix" and mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise BatchError(f"{path}: other users can read the private key; run chmod 600 on it")
    return data


def _strong(key: bytes, source: str) -> bytes:
    """Refuse a key whose characters cannot hold 128 bits."""
    text = set(key.decode("latin-1"))
    bits = len(key) * (
        4.0 if text <= set(string.hexdigits) else 6.0 if text <= set(string.printable) else 8.0
    )
    if bits < LEAST_BITS or len(text) < 8:
        raise BatchError(
            f"{source}: the private key holds fewer than {LEAST_BITS} bits; "
            "make one with: openssl rand -hex 32 > key && chmod 600 key"
        )
    return key


def key_mark(key: bytes | None) -> str:
    """Give a mark that tells keys apart and tells nothing of the key; empty without one."""
    return "" if key is None else hmac.new(key, b"tilegrade mark", hashlib.sha256).hexdigest()[:16]
