"""Refusals that are not 422 and still name a field."""

from apps.api.problems import Problem
from apps.core.problems import FieldProblem


def objection(field: str, message: str, *, status: int, kind: str, title: str) -> Problem:
    """A problem other than 422 that still names a field."""
    error = FieldProblem(field=field, message=message)
    return Problem(status=status, kind=kind, title=title, detail=error.sentence(), errors=[error])


def conflict(field: str, message: str) -> Problem:
    return objection(field, message, status=409, kind="conflict", title="Contradicts what is held")
