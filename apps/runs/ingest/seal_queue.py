"""Ended runs that wait to be sealed: when they are tried again, and what they wait for."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import F, Q
from django.utils import timezone

from apps.runs.ingest import streams
from apps.runs.models import Artifact, Batch, Run

# When the last piece arrived, a task of its own is under way: the sweep comes later.
OWN_TASK_FIRST = timedelta(seconds=10)
FIRST_PAUSE = timedelta(seconds=15)
LONGEST_PAUSE = timedelta(hours=1)
# Doublings after which the pause is the longest one.
DOUBLINGS = 8


@dataclass(frozen=True)
class SealWait:
    """What an ended run waits for since `since`, its end. Nothing missing: its seal is under way, or failed so far.

    `attempts` to seal it since the last piece arrived; `next_at`: the sweep's next one at the earliest.
    """

    since: datetime
    batches: int
    missing_batches: int
    missing_artifacts: tuple[str, ...]
    attempts: int
    next_at: datetime | None
    samplers: tuple[str, ...] = ()  # agents that have not yet ended what they sampled of the run

    @property
    def has_all(self) -> bool:
        return not self.missing_batches and not self.missing_artifacts and not self.samplers


def due(*, now: datetime) -> list[int]:
    """Ended runs whose next attempt has come, those that wait longest first: the sweep's work."""
    waiting = Run.objects.filter(Q(seal_due_at__lte=now) | Q(seal_due_at=None), state=Run.State.ENDED)
    return list(waiting.order_by(F("seal_due_at").asc(nulls_first=True), "id").values_list("id", flat=True))


def pause_after(attempts: int) -> timedelta:
    """Twice as long each time: a run that can never be sealed costs an attempt an hour."""
    return min(FIRST_PAUSE * (1 << min(attempts - 1, DOUBLINGS)), LONGEST_PAUSE)


def begin_again(run: Run) -> None:
    """A piece of an ended run arrived: earlier attempts say nothing of the next one. To be called under its lock."""
    Run.objects.filter(pk=run.pk).update(seal_attempts=0, seal_due_at=timezone.now() + OWN_TASK_FIRST)


def count_attempt(run: Run) -> bool:
    """Before the attempt, so that one that kills its worker counts too. False: the run has been sealed meanwhile."""
    attempts = run.seal_attempts + 1
    waiting = Run.objects.filter(pk=run.pk, state=Run.State.ENDED)
    return waiting.update(seal_attempts=attempts, seal_due_at=timezone.now() + pause_after(attempts)) > 0


def pending(run: Run) -> SealWait | None:
    """None unless the run has ended and is not sealed. Three queries."""
    if run.state != Run.State.ENDED or run.ended_at is None or run.batches_expected is None:
        return None
    # No batch beyond the announced ones is ever taken, so their number tells.
    held = Batch.objects.filter(run=run).count()
    there = set(Artifact.objects.filter(run=run).values_list("name", "sha256"))
    return SealWait(
        since=run.ended_at,
        batches=run.batches_expected,
        missing_batches=max(run.batches_expected - held, 0),
        missing_artifacts=tuple(
            announced["name"]
            for announced in run.artifacts_expected
            if (announced["name"], announced["sha256"]) not in there
        ),
        attempts=run.seal_attempts,
        next_at=run.seal_due_at,
        samplers=streams.awaited(run, now=timezone.now()),
    )
