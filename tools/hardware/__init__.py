"""Kernels on a real GPU, beside the machine's verdicts: see docs/what-each-tool-finds.md."""
