"""Agents as samplers: the runs that they may extend, and the ownership of streams."""

from uuid import UUID

from django.db.models import Count, F

from apps.dispatch.jobs import bindings
from apps.dispatch.jobs.uploads import NoSuchRun
from apps.dispatch.models import Agent
from apps.runs.api import accept, streams
from apps.runs.models import Run, Stream
from workers.protocol import wire


def sampled_runs(*, agent: Agent, message: wire.SamplingMessage) -> wire.SamplingAnswer:
    """The runs being measured on these systems, each with the agent's stream in it."""
    admitted, _ = bindings.admitted(agent, list(message.systems))
    runs = Run.objects.filter(
        state=Run.State.OPEN,
        system__slug__in=admitted,
        job_run__job__state__in=("running", "cancelling"),
        # A dead attempt may have left a run open in which nothing is being measured.
        job_run__attempt=F("job_run__job__attempt"),
    )
    found = []
    for run in runs.select_related("system"):
        if not all(accept.is_seconds(run.host.get(fact)) for fact in accept.CLOCK_FACTS):
            continue  # stored before that was checked: the system's other runs are sampled
        stream = streams.join(run=run, agent=agent.name, nodes=message.systems[run.system.slug])
        if stream is not None and stream.batches_expected is None:
            found.append(_sampled_run(run, stream))
    return wire.SamplingAnswer(runs=found)


def stream_of(*, agent: Agent, uid: UUID, number: int) -> Stream:
    """Raises NoSuchRun when the agent has no such stream in this run."""
    stream = Stream.objects.select_related("run").filter(run__uid=uid, number=number, agent=agent.name).first()
    if stream is None:
        raise NoSuchRun(f"agent {agent.name} has no stream {number} in run {uid}")
    return stream


def _sampled_run(run: Run, stream: Stream) -> wire.SampledRun:
    """`zero` and `uncertainty` are based on the clock offset to the server that the driving agent reported."""
    uncertainty = run.host.get("clock_uncertainty_seconds")
    held = Stream.objects.filter(pk=stream.pk).aggregate(held=Count("batches"))["held"]
    return wire.SampledRun(
        run=str(run.uid),
        system=run.system.slug,
        stream=stream.number,
        zero=run.started_at.timestamp() + float(run.host.get("clock_ahead_seconds") or 0.0),
        uncertainty=None if uncertainty is None else float(uncertainty),
        began=held > 0,
    )
