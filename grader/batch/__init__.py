"""Grading a class: find the submissions, grade each once, keep what was found, write it out."""

from grader.batch.problems import BatchError, Problem

__all__ = ["BatchError", "Problem"]
