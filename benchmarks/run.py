"""Benchmarks: ratios against peers, both sides measured in one run on one machine.

Usage: python benchmarks/run.py [CASE ...] [--small] [--json FILE]

Cases: simulator, oclgrind, latency, large, scaling, styles; all of them where none is named.
--small only shows that they work. A case whose tools are absent is skipped with the reason. Exit code
1 where a target is missed.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import platform
import sys
from dataclasses import asdict
from pathlib import Path

from measure import ROOT, Figure, Result, Skipped

CASES = ("simulator", "oclgrind", "latency", "large", "scaling", "styles")


def main(arguments: list[str] | None = None) -> int:
    options = parse(arguments)
    sys.path.insert(0, str(ROOT))
    print(f"Python {platform.python_version()}, {os.cpu_count()} cores, {platform.machine()}\n")
    results, skipped = [], {}
    for name in options.cases or CASES:
        try:
            results.append(importlib.import_module(f"cases.{name}").run(options.small))
            print(render(results[-1]))
        except Skipped as reason:
            skipped[name] = str(reason)
            print(f"{name}: skipped: {reason}\n")
    if options.json is not None:
        document = {"results": [asdict(result) for result in results], "skipped": skipped}
        options.json.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    return int(any(figure.met is False for result in results for figure in result.figures))


def parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Ratios against peers, measured in one run.")
    parser.add_argument("cases", nargs="*", metavar="CASE", choices=[[], *CASES], help=", ".join(CASES))
    parser.add_argument("--small", action="store_true", help="tiny sizes: shows that the cases work")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures to a file")
    return parser.parse_args(arguments)


def render(result: Result) -> str:
    lines = [result.case]
    lines += [line(figure) for figure in result.figures]
    lines += [f"  {note}" for note in result.notes]
    return "\n".join(lines) + "\n"


def line(figure: Figure) -> str:
    verdict = {True: "met", False: "MISSED", None: ""}[figure.met]
    target = f"   {figure.target} {verdict}".rstrip() if figure.target else ""
    return f"  {figure.name:<34} {figure.value:>12.4g} {figure.unit:<6}{target}".rstrip()


if __name__ == "__main__":
    sys.exit(main())
