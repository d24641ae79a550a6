"""Collection of a run's data from AWS, and its conversion to a stream of the run's samples.

The stream is announced when the run opens, so that the seal waits for it; the data is requested after the run's end.
"""

from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone

from apps.aws import measurements, metrics
from apps.aws.clients import AwsTrouble
from apps.aws.measurements import AwsReport
from apps.aws.models import Collection
from apps.aws.places import AwsPlace, place_of
from apps.runs.api import streams
from apps.runs.models import Run, Stream
from workers.protocol import wire

# Never the name of an agent, which has no space.
SAMPLER = "AWS CloudWatch"
# Added to the deadline of the collection itself.
MARGIN = timedelta(minutes=2)


def announce(run: Run) -> None:
    """When a run opens: if its system is at AWS, announce the stream, so that the seal waits for it."""
    place = place_of(run.system)
    if place is not None:
        streams.join(run=run, agent=SAMPLER, nodes=[metrics.NODE.format(place.identifier)])


def expect(run: Run) -> None:
    """When a run ends: schedule the collection and the deadline of the seal. Idempotent."""
    run.refresh_from_db(fields=["state", "ended_at"])
    if run.ended_at is None or run.state != Run.State.ENDED:
        return
    # A reconnected agent may report an end long ago: such a run is collected, too. A clock that is ahead reports one to
    # come, which nothing waits for.
    now = timezone.now()
    ended_at = min(run.ended_at, now)
    until = max(measurements.give_up_at(ended_at), now) + MARGIN
    if Stream.objects.filter(run=run, agent=SAMPLER, closed=False).update(wait_until=until):
        Collection.objects.get_or_create(run=run, defaults={"due_at": measurements.first_due(ended_at)})


def due(*, now: datetime) -> list[int]:
    """Runs with a collection due now."""
    # Runs whose end was not processed, for example because the web process died.
    unscheduled = Run.objects.filter(state=Run.State.ENDED, streams__agent=SAMPLER, collection=None)
    for run in unscheduled:
        expect(run)
    waiting = Collection.objects.filter(_is_due(now), done_at=None).order_by("due_at")
    return list(waiting.values_list("run_id", flat=True))


def _is_due(now: datetime) -> Q:
    """Further ahead than any pause: the clock was set back since."""
    return Q(due_at__lte=now) | Q(due_at__gt=now + measurements.GIVE_UP)


def collect(*, run_id: int, now: datetime) -> bool:
    """Collect a run's data. True: everything available is stored, and the run can be sealed; False: try again later."""
    known = Collection.objects.select_related("run__system").filter(_is_due(now), run_id=run_id, done_at=None)
    waiting = known.first()
    if waiting is None:
        return False
    asked = {"due_at": now + measurements.ASK_AGAIN, "attempts": F("attempts") + 1}
    if not Collection.objects.filter(pk=run_id, done_at=None, due_at=waiting.due_at).update(**asked):
        return False  # another worker has it
    run, place = waiting.run, place_of(waiting.run.system)
    ended_at = run.ended_at or run.started_at
    if place is None:
        return _keep(run, None, AwsReport(problem="the system is no longer at AWS"), now=now)
    is_sealed = run.state == Run.State.SEALED  # without it
    try:
        found = measurements.ask(run, place)
    except AwsTrouble as trouble:
        if not is_sealed and not measurements.is_final(trouble, ended_at=ended_at, now=now):
            return _wait(run, str(trouble))
        found = AwsReport(problem=str(trouble))
    else:
        too_late = is_sealed or now >= measurements.give_up_at(ended_at)
        if not too_late and not measurements.is_whole(found.observed, ended_at=ended_at, now=now):
            return _wait(run, "CloudWatch has no data of the run's last minutes yet")
    return _keep(run, place, found, now=now)


def _wait(run: Run, problem: str) -> bool:
    Collection.objects.filter(run=run).update(problem=problem)
    return False


def _keep(run: Run, place: AwsPlace | None, report: AwsReport, *, now: datetime) -> bool:
    payload = measurements.batch_of(run, place, report)
    problem = report.problem
    try:
        with transaction.atomic():
            stream = Stream.objects.get(run=run, agent=SAMPLER)
            streams.accept_batch(stream=stream, sequence=0, checksum=wire.checksum(payload), payload=payload)
            streams.end(stream=stream, batches=1)
    except streams.Closed as closed:
        problem = f"{problem}; {closed}" if problem else str(closed)
    Collection.objects.filter(run=run).update(done_at=now, problem=problem)
    return True
