"""Reports as SARIF 2.1.0, which code hosts and editors show beside the lines."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from grader import __version__
from grader.records import Diagnostic, Frame, Label, Report

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def render(reports: Sequence[Report]) -> str:
    """One SARIF log with a run that holds the diagnostics of all reports."""
    names = sorted({diagnostic.name for report in reports for diagnostic in report.diagnostics})
    results = [_result(diagnostic) for report in reports for diagnostic in report.diagnostics]
    driver = {"name": "tilegrade", "version": __version__, "rules": [{"id": name} for name in names]}
    log = {"$schema": SCHEMA, "version": "2.1.0", "runs": [{"tool": {"driver": driver}, "results": results}]}
    return json.dumps(log, indent=2, ensure_ascii=False) + "\n"


def _result(diagnostic: Diagnostic) -> dict[str, Any]:
    text = "\n".join([diagnostic.headline, *diagnostic.seen, diagnostic.because])
    result: dict[str, Any] = {
        "ruleId": diagnostic.name,
        "level": diagnostic.severity,
        "message": {"text": text},
    }
    frame = diagnostic.frame
    if frame is not None:
        result["locations"] = [_location(frame, frame.primary)]
        if frame.secondary is not None:
            result["relatedLocations"] = [_location(frame, frame.secondary)]
    return result


def _location(frame: Frame, label: Label) -> dict[str, Any]:
    span = label.span
    region = {
        "startLine": span.line,
        "startColumn": span.column,
        "endLine": span.end_line,
        "endColumn": span.end_column,
    }
    place = {"artifactLocation": {"uri": frame.path.replace("\\", "/")}, "region": region}
    location: dict[str, Any] = {"physicalLocation": place}
    if label.text:
        location["message"] = {"text": label.text}
    return location
