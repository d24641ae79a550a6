"""The generated part of docs/reference/quality-checks.md: every check with its question and limits."""

from collections.abc import Iterable

from apps.catalog.pure import rewritten
from apps.runs.quality.checklist import CHECKS, QualityCheck

BEGIN = "<!-- checks: written by manage.py write_quality_checks -->"
END = "<!-- end of checks -->"
HEAD = ("| check | question | passes |", "|---|---|---|")


def with_entries(text: str) -> str:
    """`text` with the table between its two markers regenerated. Raises ValueError when a marker is missing."""
    return rewritten(text, begin=BEGIN, end=END, entries=entries(CHECKS.values()))


def entries(checks: Iterable[QualityCheck]) -> str:
    """Markdown: one table, in the order of the pages."""
    rows = (f"| {check.title} | {check.question} | {' '.join(check.limits.split())} |" for check in checks)
    return "\n".join([*HEAD, *rows])
