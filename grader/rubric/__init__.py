"""Rubrics: what an exercise asks for, read from YAML, and how its parts are scored."""

from grader.rubric.load import load
from grader.rubric.model import Rubric
from grader.rubric.typed_yaml import RubricError

__all__ = ["Rubric", "RubricError", "load"]
