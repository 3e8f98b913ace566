"""The frame of our HTML pages: one file, no scripts, nothing fetched, legible on a phone and in the dark."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

__all__ = ["page", "table"]

_STYLE = """
:root { color-scheme: light dark; --ink: #1a1c20; --paper: #ffffff; --soft: #f2f4f7; --line: #c9ced6;
  --pass: #1a6b35; --fail: #a4262c; --note: #5a5f68; --bar: #2f6fb2; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e8eaee; --paper: #16181c; --soft: #23262c; --line: #454a54;
    --pass: #7fd39a; --fail: #ff9a9f; --note: #aab0ba; --bar: #7ab3ee; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 75rem; padding: 1rem; font: 1rem/1.5 system-ui, sans-serif;
  color: var(--ink); background: var(--paper); overflow-wrap: anywhere; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.25rem; margin-top: 2rem; }
pre { background: var(--soft); border: 1px solid var(--line); padding: .75rem; overflow-x: auto;
  font-size: .85rem; line-height: 1.35; overflow-wrap: normal; }
.scroll { overflow-x: auto; border: 1px solid var(--line); margin: .5rem 0; }
table { border-collapse: collapse; width: 100%; overflow-wrap: normal; }
caption { text-align: left; padding: .4rem .6rem; color: var(--note); }
th, td { text-align: left; padding: .35rem .6rem; border-top: 1px solid var(--line); vertical-align: top; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.PASS { color: var(--pass); font-weight: 600; } .FAIL { color: var(--fail); font-weight: 600; }
.other { color: var(--note); font-weight: 600; }
:focus-visible { outline: 3px solid var(--bar); outline-offset: 2px; }
summary { cursor: pointer; padding: .25rem 0; } nav a { margin-right: 1rem; } a { color: var(--bar); }
figure { margin: 1rem 0; }
.bar { fill: var(--bar); } svg text { fill: var(--ink); font: 12px system-ui, sans-serif; }
.skip { position: absolute; left: -999rem; } .skip:focus { position: static; }
"""
# Nothing may run and nothing may be fetched, even if a text of a student's got in unescaped.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'none'; base-uri 'none'"


def page(title: str, body: str) -> str:
    """Give a whole document around a body that is escaped already."""
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{_POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<link rel="icon" href="data:,">
<title>{escape(title)}</title>
<style>{_STYLE}</style>
</head>
<body>
<main>
{body}
</main>
</body>
</html>
"""


def table(caption: str, header: Sequence[str], rows: Sequence[Sequence[str]], numbers: frozenset[int]) -> str:
    """Give a table whose cells are escaped already; ``numbers`` are the columns that hold figures."""
    kinds = [' class="number"' if i in numbers else "" for i in range(len(header))]
    head = "".join(
        f'<th scope="col"{kind}>{escape(name)}</th>' for name, kind in zip(header, kinds, strict=True)
    )
    body = "".join(
        "<tr>" + "".join(f"<td{kind}>{cell}</td>" for cell, kind in zip(row, kinds, strict=True)) + "</tr>\n"
        for row in rows
    )
    label = escape(caption, quote=True)
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{label}">'
        f"<table><caption>{escape(caption)}</caption>"
        f"<thead><tr>{head}</tr></thead>\n<tbody>{body}</tbody></table></div>"
    )
