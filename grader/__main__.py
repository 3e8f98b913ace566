"""``python -m grader``: the command line without an installed script."""

from grader.cli import entry

if __name__ == "__main__":
    entry()
