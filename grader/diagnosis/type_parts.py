"""The pieces that the sentences about type errors are built from."""

from __future__ import annotations

import ast

from grader.diagnosis import source
from grader.diagnosis.evidence import Evidence
from grader.diagnosis.grammar import quote

# Headline, label under the code, rule of the compiler, question, action.
Rule = tuple[str, str, str, str, str]


class Parts:
    """What a type error says: the code, the name in it, what was found and what is needed."""

    def __init__(self, evidence: Evidence) -> None:
        finding = evidence.finding
        self.code = evidence.code("this expression")
        self.name = quote(evidence.text("name")) or self.code
        self.at = evidence.on_line()
        self.near = quote(source.nearest_name(evidence.lines, finding.primary, evidence.text("name")))
        self.got = _shown(finding.facts.get("got"))
        self.wanted = _shown(finding.facts.get("wanted"))
        self.declared = _declared(evidence)


def _declared(evidence: Evidence) -> str:
    """The function in whose decorator a span lies, quoted: its declared types are meant; else nothing."""
    span, root = evidence.finding.primary, source.tree(evidence.lines)
    if root is None or span is None:
        return ""
    for node in ast.walk(root):
        if isinstance(node, ast.FunctionDef):
            places = [source.span_of(evidence.lines, one) for one in node.decorator_list]
            if any(one is not None and one.line <= span.line <= one.end_line for one in places):
                return quote(node.name)
    return ""


def _shown(value: object) -> str:
    if isinstance(value, tuple):
        return " and ".join(quote(str(item)) for item in value if item is not None)
    return quote(str(value)) if isinstance(value, str) else ("" if value is None else str(value))
