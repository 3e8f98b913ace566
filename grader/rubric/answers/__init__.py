"""Grading of written answers: one module per kind of question."""
