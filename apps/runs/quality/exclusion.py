"""Exclusion of runs from all comparisons, by a user and with a reason; can be undone, and both are kept as history."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, TypedDict

from django.db import transaction
from django.db.models import OuterRef, QuerySet
from django.utils import timezone

from apps.accounts import services as accounts
from apps.accounts.models import User
from apps.core.answers import component
from apps.core.audit.api import Action, record
from apps.core.problems import FieldProblem, Invalid
from apps.runs.ingest.clean_text import has_nul
from apps.runs.models import ArchivedRun, Exclusion, Run
from apps.runs.quality import check

MOST_CHARACTERS = 2000


@component("Exclusion", "An exclusion of the run from all comparisons by a person.")
@dataclass(frozen=True)
class ExclusionDetail:
    """`ended_at`: time from which the run counts again; None: excluded now."""

    reason: str
    excluded_by: str
    excluded_at: datetime
    ended_by: Annotated[str, "user who ended the exclusion; empty: none"]
    ended_at: Annotated[datetime | None, "null: excluded now"]


def exclude(*, run: Run, reason: str, by: User) -> bool:
    """False: already excluded; the earlier reason stays. Raises Invalid."""
    text = reason.strip()
    if not text or len(text) > MOST_CHARACTERS or has_nul(text):
        problem = f"must state the reason in 1 to {MOST_CHARACTERS:,} characters"
        raise Invalid([FieldProblem("reason", problem, "it is shown with the run")])
    if run.state != Run.State.SEALED:
        raise Invalid([FieldProblem("", f"run {run.pk} is not complete", "wait until it is")])
    with transaction.atomic():
        held = Run.objects.select_for_update(no_key=True).get(pk=run.pk)
        if held.is_excluded:
            return False
        Exclusion.objects.create(run=held, reason=text, excluded_by=by)
        Run.objects.filter(pk=run.pk).update(is_excluded=True)
        _archive_anew(held)
        record(Action.RUN_EXCLUDE, f"run {run.pk}", after=text)
    run.is_excluded = True
    check.check_siblings(run_id=run.pk)
    return True


def count_again(*, run: Run, by: User) -> bool:
    """Ends an exclusion. False: the run was not excluded."""
    with transaction.atomic():
        held = Run.objects.select_for_update(no_key=True).get(pk=run.pk)
        if not held.is_excluded:
            return False
        Exclusion.objects.filter(run=held, ended_at=None).update(ended_by=by, ended_at=timezone.now())
        Run.objects.filter(pk=run.pk).update(is_excluded=False)
        _archive_anew(held)
        record(Action.RUN_COUNT_AGAIN, f"run {run.pk}", before="excluded")
    run.is_excluded = False
    check.check_siblings(run_id=run.pk)
    return True


def history(run_id: int) -> tuple[ExclusionDetail, ...]:
    """Exclusions of a run, newest first. One query."""
    rows = Exclusion.objects.filter(run_id=run_id).select_related("excluded_by", "ended_by").order_by("-id")
    return tuple(
        ExclusionDetail(
            reason=row.reason,
            excluded_by=row.excluded_by.username,
            excluded_at=row.excluded_at,
            ended_by=row.ended_by.username if row.ended_by else "",
            ended_at=row.ended_at,
        )
        for row in rows
    )


class ArchivedExclusion(TypedDict):
    """An entry of `history_of`."""

    reason: str
    excluded_by: str
    excluded_at: str
    ended_by: str
    ended_at: str


def history_of(run: Run) -> list[ArchivedExclusion]:
    """The history as JSON for the archive, oldest first; empty `ended_at`: not ended."""
    return [
        {
            "reason": one.reason,
            "excluded_by": one.excluded_by,
            "excluded_at": one.excluded_at.isoformat(),
            "ended_by": one.ended_by,
            "ended_at": one.ended_at.isoformat() if one.ended_at else "",
        }
        for one in reversed(history(run.pk))
    ]


def take_over(run: Run, entries: Sequence[ArchivedExclusion]) -> None:
    """Restores the history of an imported run from the output of `history_of`. Users are matched by name alone.

    Raises ValueError for a time that is none."""
    for entry in entries:
        row = Exclusion.objects.create(
            run=run,
            reason=entry["reason"],
            excluded_by=accounts.named(entry["excluded_by"]),
            ended_by=accounts.named(entry["ended_by"]) if entry["ended_by"] else None,
            ended_at=datetime.fromisoformat(entry["ended_at"]) if entry["ended_at"] else None,
        )
        # auto_now_add sets the current time on creation.
        Exclusion.objects.filter(pk=row.pk).update(excluded_at=datetime.fromisoformat(entry["excluded_at"]))
    run.is_excluded = any(not entry["ended_at"] for entry in entries)
    run.save(update_fields=["is_excluded"])


def _archive_anew(run: Run) -> None:
    """The archive stores exclusions with the run."""
    ArchivedRun.objects.filter(run=run).update(is_outdated=True)


def why_excluded() -> "QuerySet[Exclusion, tuple[str]]":
    """Subquery: the reason of the outer query's run for being excluded now."""
    return Exclusion.objects.filter(run_id=OuterRef("pk"), ended_at=None).order_by().values_list("reason")[:1]
