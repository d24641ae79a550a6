"""Ended runs waiting to be sealed: missing data and retry times."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Count, F, Max, Q
from django.utils import timezone

from apps.core.text import counted
from apps.runs.ingest import streams
from apps.runs.models import Artifact, Batch, Run

# The last batch or file enqueues a task of its own; the sweep leaves it this much time.
OWN_TASK_FIRST = timedelta(seconds=10)
FIRST_PAUSE = timedelta(seconds=15)
LONGEST_PAUSE = timedelta(hours=1)
# Doublings after which the pause is the longest one.
DOUBLINGS = 8
# An outage may last a night; after it the run is sealed without what is missing.
WAITS_AT_MOST = timedelta(hours=24)


@dataclass(frozen=True)
class SealWait:
    """Missing data of a run that ended at `since`. Nothing missing: its seal is under way, or has failed so far.

    `attempts`: seals tried since the last batch or file arrived; `next_at`: earliest time of the sweep's next one.
    `is_over`: nothing arrived for so long that the run is sealed as it is.
    """

    since: datetime
    batches: int
    missing_batches: int
    missing_artifacts: tuple[str, ...]
    attempts: int
    next_at: datetime | None
    samplers: tuple[str, ...] = ()  # agents whose streams have not ended yet
    is_over: bool = False

    @property
    def has_all(self) -> bool:
        return not self.missing and not self.samplers

    @property
    def missing(self) -> tuple[str, ...]:
        """Without samplers, as "2 of 7 batches", "sysbench.txt"."""
        batches = f"{self.missing_batches:,} of {counted(self.batches, 'batch', plural='batches')}"
        return (*((batches,) if self.missing_batches else ()), *self.missing_artifacts)


def due(*, now: datetime) -> list[int]:
    """Ended runs whose next attempt is due, longest waiting first: the sweep's work."""
    # Further ahead than the longest pause: the clock was set back since.
    is_due = Q(seal_due_at__lte=now) | Q(seal_due_at__gt=now + LONGEST_PAUSE) | Q(seal_due_at=None)
    waiting = Run.objects.filter(is_due, state=Run.State.ENDED)
    return list(waiting.order_by(F("seal_due_at").asc(nulls_first=True), "id").values_list("id", flat=True))


def pause_after(attempts: int) -> timedelta:
    """Exponential backoff up to an hour, for runs that can never be sealed."""
    return min(FIRST_PAUSE * (1 << min(attempts - 1, DOUBLINGS)), LONGEST_PAUSE)


def begin_again(run: Run) -> None:
    """Resets the attempts of an ended run, because more of its data arrived. Call it under the run's lock."""
    Run.objects.filter(pk=run.pk).update(seal_attempts=0, seal_due_at=timezone.now() + OWN_TASK_FIRST)


def count_attempt(run: Run) -> bool:
    """Counts an attempt before it starts, in case it kills its worker. False: the run was sealed meanwhile."""
    attempts = run.seal_attempts + 1
    waiting = Run.objects.filter(pk=run.pk, state=Run.State.ENDED)
    return waiting.update(seal_attempts=attempts, seal_due_at=timezone.now() + pause_after(attempts)) > 0


def pending(run: Run) -> SealWait | None:
    """What the run waits for; None unless it has ended and is not sealed. Three queries."""
    if run.state != Run.State.ENDED or run.ended_at is None or run.batches_expected is None:
        return None
    now = timezone.now()
    # Counting is enough: batches beyond the announced number are refused.
    held = Batch.objects.filter(run=run).aggregate(number=Count("id"), last=Max("received_at"))
    files = list(Artifact.objects.filter(run=run).values_list("name", "sha256", "created_at"))
    there = {(name, sha256) for name, sha256, _ in files}
    # A clock that is ahead, of the agent or of the server once, is no reason to wait longer.
    words = (run.created_at, run.ended_at, held["last"] or run.created_at, *(at for *_, at in files))
    last_word = max((at for at in words if at <= now), default=now)
    return SealWait(
        since=run.ended_at,
        batches=run.batches_expected,
        missing_batches=max(run.batches_expected - held["number"], 0),
        missing_artifacts=tuple(
            announced["name"]
            for announced in run.artifacts_expected
            if (announced["name"], announced["sha256"]) not in there
        ),
        attempts=run.seal_attempts,
        next_at=run.seal_due_at,
        samplers=streams.awaited(run, now=now),
        is_over=now - last_word > WAITS_AT_MOST,
    )
