"""From evidence to a message: which finding to fix first, and the words that explain it."""

from grader.diagnosis import catalogue
from grader.diagnosis.catalogue import CATALOGUE, UnknownNameError
from grader.diagnosis.context import Context, MendedPart
from grader.diagnosis.explain import explain
from grader.diagnosis.rank import rank

__all__ = ["CATALOGUE", "Context", "MendedPart", "UnknownNameError", "catalogue", "explain", "rank"]
