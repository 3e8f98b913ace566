"""``grader version``: what is at work."""

from __future__ import annotations

import platform
from importlib import metadata

import click

from grader import __version__


@click.command()
def command() -> None:
    """Say which versions are at work, as a report of a fault needs them."""
    click.echo(f"tilegrade {__version__}")
    click.echo(f"Python {platform.python_version()} on {platform.platform()}")
    for package in ("numpy", "numba-cuda", "cupy-cuda13x"):
        try:
            click.echo(f"{package} {metadata.version(package)}")
        except metadata.PackageNotFoundError:
            continue
