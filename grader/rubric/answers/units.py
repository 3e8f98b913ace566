"""Units of answers: what a spelling such as ``GB/s`` or ``flops per byte`` measures.

Unit algebra is pint's, over a registry of the few units this field uses. Importing pint takes longer than
grading a worksheet, so the spellings that students write most are kept here as pint gives them (a test
compares each); pint is imported for any other.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from grader.rubric.answers.verdict import AnswerError, shortened

if TYPE_CHECKING:
    import pint

MAX_LENGTH = 40

DEFINITIONS = """
tera- = 1e12 = T-
peta- = 1e15 = P-
giga- = 1e9 = G-
mega- = 1e6 = M-
kilo- = 1e3 = k-
milli- = 1e-3 = m-
micro- = 1e-6 = µ- = u-
nano- = 1e-9 = n-
kibi- = 2**10 = Ki-
mebi- = 2**20 = Mi-
gibi- = 2**30 = Gi-
tebi- = 2**40 = Ti-
bit = [information] = b
byte = 8 * bit = B
FLOP = [operation]
FMA = 2 * FLOP
second = [time] = s = sec
minute = 60 * second = min
hertz = 1 / second = Hz
percent = 0.01 = %
thread = [thread]
register = [register]
element = [element] = value = word
read = [access] = load
block = [block]
""".strip().splitlines()


@dataclass(frozen=True, slots=True)
class Unit:
    """``factor`` times the base units in ``measures`` (base unit and exponent, by name)."""

    factor: float
    measures: tuple[tuple[str, int], ...]


_BIT, _FLOP, _PER_BIT, _PER_SECOND = ("bit", 1), ("FLOP", 1), ("bit", -1), ("second", -1)
_BYTES = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
_BINARY_BYTES = {"Ki": 2.0**10, "Mi": 2.0**20, "Gi": 2.0**30, "Ti": 2.0**40}

COMMON: dict[str, Unit] = {
    "FLOP/byte": Unit(1 / 8, (_FLOP, _PER_BIT)),
    "FLOP/B": Unit(1 / 8, (_FLOP, _PER_BIT)),
    "byte": Unit(8.0, (_BIT,)),
    "FLOP/s": Unit(1.0, (_FLOP, _PER_SECOND)),
    "s": Unit(1.0, (("second", 1),)),
    "ms": Unit(1e-3, (("second", 1),)),
    "us": Unit(1e-6, (("second", 1),)),
    "%": Unit(0.01, ()),
    "percent": Unit(0.01, ()),
    **{name: Unit(1.0, (("thread", 1),)) for name in ("thread", "threads")},
    **{name: Unit(1.0, (("register", 1),)) for name in ("register", "registers")},
    **{f"{p}B": Unit(8 * f, (_BIT,)) for p, f in (_BYTES | _BINARY_BYTES).items()},
    **{f"{p}B/s": Unit(8 * f, (_BIT, _PER_SECOND)) for p, f in _BYTES.items()},
    **{f"{p}FLOP": Unit(f, (_FLOP,)) for p, f in _BYTES.items()},
    **{f"{p}FLOP/s": Unit(f, (_FLOP, _PER_SECOND)) for p, f in _BYTES.items() if p},
}

_WORD = re.compile(r"[A-Za-zµμ%]+")
_READABLE = re.compile(r"(?:1|[A-Za-zµμ%]+(?:\^-?[1-9])?)(?:[*/ ](?:1|[A-Za-zµμ%]+(?:\^-?[1-9])?))*")
_FLOPS = re.compile(r"([kmgtp]?)(?:flops?)", re.IGNORECASE)
_BYTE = re.compile(r"([kmgtp]?)(i?)(?:b|bytes?)", re.IGNORECASE)
_SECONDS = frozenset({"sec", "secs", "second", "seconds"})


@lru_cache(maxsize=512)
def unit_of(text: str) -> Unit:
    """The unit that ``text`` spells, upper and lower case forgiven where only one reading makes sense.

    Raises
    ------
    AnswerError
        ``text`` is no unit known here.
    """
    spelled = re.sub(r"\s*(?:([*/])|\bper\b)\s*", lambda found: found[1] or "/", text.strip())
    if len(spelled) > MAX_LENGTH or not _READABLE.fullmatch(spelled):
        raise AnswerError(f"{shortened(text)} is not a unit")
    spelled = _WORD.sub(lambda word: _canonical(word[0]), spelled)
    return COMMON.get(spelled) or _by_pint(spelled, text)


def _canonical(word: str) -> str:
    if found := _FLOPS.fullmatch(word):
        return _prefix(found[1]) + "FLOP"
    # "Gb" is a gigabit; "gb" is what people type for GB.
    if (found := _BYTE.fullmatch(word)) and not (word.endswith("b") and not word.islower()):
        prefix = found[1].upper() + "i" if found[1] and found[2] else _prefix(found[1])
        return prefix + ("B" if prefix else "byte")
    if word.lower() in _SECONDS:
        return "s"
    return word.replace("µ", "u").replace("μ", "u")


def _prefix(letter: str) -> str:
    return "" if not letter else "k" if letter in "kK" else letter.upper()


def _by_pint(spelled: str, original: str) -> Unit:
    registry = _registry()
    try:
        factor, root = registry.get_root_units(registry.parse_units(spelled))
    except Exception:  # noqa: BLE001 - pint's own errors, its tokenizer's, AttributeError for names
        raise AnswerError(f"{shortened(original)} is not a unit known here") from None
    measures = {str(name): int(str(power)) for name, power in root._units.items()}
    return Unit(float(str(factor)), tuple(sorted(measures.items())))


@lru_cache(maxsize=1)
def _registry() -> pint.UnitRegistry[Any]:
    import pint

    registry: pint.UnitRegistry[Any] = pint.UnitRegistry(None)
    for line in DEFINITIONS:
        registry.define(line)
    return registry
