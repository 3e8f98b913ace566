"""How far a student has asked for hints: kept beside the exercise, starting anew with each new cause."""

from __future__ import annotations

import json
from pathlib import Path

from grader.exercises import STATE_FOLDER, ExerciseFileError, write_text


def next_level(submission: Path, exercise: str, cause: str, highest: int) -> int:
    """Give the level to show now: one more than the last for this cause, never above the highest.

    The level is remembered in ``.tilegrade/hints.json`` beside the submission. A state that cannot
    be read counts as none, and one that cannot be written is no error: the student gets the hint.
    """
    path = submission.parent / STATE_FOLDER / "hints.json"
    state = _load(path)
    seen = state.get(exercise, {})
    level = seen.get("level", 0) if seen.get("cause") == cause else 0
    level = min(level + 1 if isinstance(level, int) and level >= 0 else 1, highest)
    state[exercise] = {"cause": cause, "level": level}
    try:
        path.parent.mkdir(exist_ok=True)
        write_text(path, json.dumps(state, indent=2) + "\n")
    except (OSError, ExerciseFileError):
        pass
    return level


def _load(path: Path) -> dict[str, dict[str, object]]:
    try:
        state = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    if not isinstance(state, dict):
        return {}
    return {key: value for key, value in state.items() if isinstance(value, dict)}
