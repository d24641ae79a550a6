"""When AWS is asked about a run, and how its answer becomes a stream of the run's samples.

The run's stream is announced when the run opens, so that the seal waits for it; asked is after the end.
"""

from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from apps.aws import measurements, metrics
from apps.aws.clients import AwsTrouble
from apps.aws.measurements import AwsReport
from apps.aws.models import Collection
from apps.aws.places import AwsPlace, place_of
from apps.runs.api import streams
from apps.runs.models import Run, Stream
from workers.protocol import wire

# No agent can be called so: its name has no blank.
SAMPLER = "AWS CloudWatch"
# Beyond the time at which the collection gives up by itself.
MARGIN = timedelta(minutes=2)


def announce(run: Run) -> None:
    """The run has opened: if its system is at AWS, its seal will wait for what AWS tells of it."""
    place = place_of(run.system)
    if place is not None:
        streams.join(run=run, agent=SAMPLER, nodes=[metrics.NODE.format(place.identifier)])


def expect(run: Run) -> None:
    """The run has ended: when AWS is asked, and until when the seal waits. Said again it changes nothing."""
    run.refresh_from_db(fields=["state", "ended_at"])
    if run.ended_at is None or run.state != Run.State.ENDED:
        return
    # An agent that was cut off tells of an end long ago: AWS is asked of that run, too.
    until = max(measurements.give_up_at(run.ended_at), timezone.now()) + MARGIN
    if Stream.objects.filter(run=run, agent=SAMPLER, closed=False).update(wait_until=until):
        Collection.objects.get_or_create(run=run, defaults={"due_at": measurements.first_due(run.ended_at)})


def due(*, now: datetime) -> list[int]:
    """Runs of which AWS is to be asked now."""
    # Of an end that was not heard of, as when the web process died.
    forgotten = Run.objects.filter(state=Run.State.ENDED, streams__agent=SAMPLER, collection=None)
    for run in forgotten:
        expect(run)
    waiting = Collection.objects.filter(done_at=None, due_at__lte=now).order_by("due_at")
    return list(waiting.values_list("run_id", flat=True))


def collect(*, run_id: int, now: datetime) -> bool:
    """Asks AWS of the run. True: all that it will tell is kept, and the run can be sealed; False: again later."""
    waiting = Collection.objects.select_related("run__system").filter(run_id=run_id, done_at=None).first()
    if waiting is None or waiting.due_at > now:
        return False
    asked = {"due_at": now + measurements.ASK_AGAIN, "attempts": F("attempts") + 1}
    if not Collection.objects.filter(pk=run_id, done_at=None, due_at=waiting.due_at).update(**asked):
        return False  # another worker asks
    run, place = waiting.run, place_of(waiting.run.system)
    ended_at = run.ended_at or run.started_at
    if place is None:
        return _keep(run, None, AwsReport(problem="the system is at AWS no more"), now=now)
    try:
        told = measurements.ask(run, place)
    except AwsTrouble as trouble:
        if not measurements.is_final(trouble, ended_at=ended_at, now=now):
            return _wait(run, str(trouble))
        told = AwsReport(problem=str(trouble))
    else:
        too_late = now >= measurements.give_up_at(ended_at)
        if not too_late and not measurements.is_whole(told.observed, ended_at=ended_at, now=now):
            return _wait(run, "CloudWatch has not yet told of the run's last minutes")
    return _keep(run, place, told, now=now)


def _wait(run: Run, problem: str) -> bool:
    Collection.objects.filter(run=run).update(problem=problem)
    return False


def _keep(run: Run, place: AwsPlace | None, told: AwsReport, *, now: datetime) -> bool:
    payload = measurements.batch_of(run, place, told)
    problem = told.problem
    try:
        with transaction.atomic():
            stream = Stream.objects.get(run=run, agent=SAMPLER)
            streams.accept_batch(stream=stream, sequence=0, checksum=wire.checksum(payload), payload=payload)
            streams.end(stream=stream, batches=1)
    except streams.Closed as closed:
        problem = f"{problem}; {closed}" if problem else str(closed)
    Collection.objects.filter(run=run).update(done_at=now, problem=problem)
    return True
