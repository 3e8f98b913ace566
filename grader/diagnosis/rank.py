"""Which finding to fix first: causes before their consequences, errors before notes.

Findings are first put in the order of severity, family and place. Then every pair that one of the
``CONSEQUENCES`` joins is turned so that the cause comes first, and the cause takes over the rank
of the most pressing thing it explains: a warning that explains an error comes where the error was.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from grader.diagnosis.catalogue import CATALOGUE, FAMILIES
from grader.diagnosis.consequences import CONSEQUENCES
from grader.diagnosis.evidence import span_line
from grader.records import Finding, Slot, Span

_SEVERITIES = {"error": 0, "warning": 1, "note": 2}
_ORDER = {name: position for position, name in enumerate(CATALOGUE)}
_Key = tuple[int, int, int, int]


def rank(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Order findings so that the first is the first to fix; one finding for each name and pair of lines."""
    pool = sorted(_distinct(findings), key=_key)
    causes = [_causes_of(position, pool) for position in range(len(pool))]
    urgency = [_urgency(position, pool, causes) for position in range(len(pool))]
    placed: list[int] = []
    waiting = sorted(range(len(pool)), key=lambda position: (urgency[position], position))
    while waiting:
        ready = [position for position in waiting if causes[position] <= set(placed)]
        # Two findings that explain each other keep the order of severity and family.
        chosen = ready[0] if ready else waiting[0]
        placed.append(chosen)
        waiting.remove(chosen)
    return tuple(pool[position] for position in placed)


def _distinct(findings: Iterable[Finding]) -> list[Finding]:
    best: dict[tuple[str, int, int], Finding] = {}
    for finding in findings:
        key = (finding.name, span_line(finding.primary), span_line(finding.secondary))
        kept = best.get(key)
        if kept is None or _SEVERITIES[finding.severity] < _SEVERITIES[kept.severity]:
            best[key] = finding
    return _told_once(sorted(best.values(), key=_seen_most))


def _seen_most(finding: Finding) -> tuple[int, int]:
    return _SEVERITIES[finding.severity], -finding.counts.get("shapes", 0)


def _told_once(findings: Iterable[Finding]) -> list[Finding]:
    """Without those that say the same of the same element, where one of the two has no second place."""
    kept: dict[tuple[str, Span | None, Slot | None], list[Finding]] = {}
    for finding in findings:
        same = kept.setdefault((finding.name, finding.primary, finding.slot), [])
        bare = finding.secondary is None or any(one.secondary is None for one in same)
        if finding.slot is None or not same or not bare:
            same.append(finding)
    return [one for same in kept.values() for one in same]


def _key(finding: Finding) -> _Key:
    """Severity, family, line, place in the catalogue; what reaches no output comes after what does."""
    severity = _SEVERITIES[finding.severity]
    if finding.facts.get("reaches") == "nothing":
        severity = _SEVERITIES["note"]
    entry = CATALOGUE.get(finding.name)
    family = FAMILIES.index(entry.family) if entry is not None else len(FAMILIES)
    return (severity, family, _ORDER.get(finding.name, len(_ORDER)), span_line(finding.primary))


def _causes_of(position: int, pool: Sequence[Finding]) -> set[int]:
    effect = pool[position]
    return {
        other
        for other, cause in enumerate(pool)
        if other != position and cause.name != effect.name and _explains(cause, effect)
    }


def _explains(cause: Finding, effect: Finding) -> bool:
    if cause.facts.get("reaches") == "nothing":
        return False
    return any(
        cause.name in rule.causes and effect.name in rule.effects and rule.applies(cause, effect)
        for rule in CONSEQUENCES
    )


def _urgency(position: int, pool: Sequence[Finding], causes: Sequence[set[int]]) -> _Key:
    """The rank of the most pressing finding among this one and all that follow from it."""
    reached, frontier = {position}, [position]
    while frontier:
        at = frontier.pop()
        found = {effect for effect in range(len(pool)) if at in causes[effect]} - reached
        reached |= found
        frontier.extend(found)
    return min(_key(pool[at]) for at in reached)
