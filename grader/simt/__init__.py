"""The machine: a SIMT interpreter of numba.cuda kernels on NumPy. It executes no submitted code."""

from grader.simt.geometry import Box
from grader.simt.launch import Run, launch
from grader.simt.program import NotConstant, Program, parse
from grader.simt.tally import ArrayCounters, Counters

__all__ = ["ArrayCounters", "Box", "Counters", "NotConstant", "Program", "Run", "launch", "parse"]
