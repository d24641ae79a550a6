"""Data of CloudWatch and RDS about a finished run, as a further stream of its samples.

CloudWatch is minutes late. A run at AWS waits for it up to a deadline; values missing by then are reported as missing.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from apps.aws import events, metrics, topology
from apps.aws.clients import AwsTrouble
from apps.aws.events import AwsEvent
from apps.aws.metrics import Observed
from apps.aws.places import AwsPlace
from apps.aws.topology import Topology
from apps.runs.models import Run
from apps.runs.pure import RDS_CLOCK
from workers.protocol import wire

# Longest delay of a value after the end of its period; later there will be none.
LATE = timedelta(minutes=3)
ASK_AGAIN = timedelta(seconds=60)
GIVE_UP = timedelta(minutes=15)
# Kinds of events, the same as agents use.
NOT_OBSERVABLE, PROMOTION, JOURNAL, TOPOLOGY = "not_observable", "promotion", "aws_event", "topology"
LABEL_LIMIT = 200
REMEDY = "look at the metric in CloudWatch; docs/howto/aurora.md lists those that must be enabled"


@dataclass(frozen=True)
class AwsReport:
    """`topology` None: AWS gave no answer; `problem` is the reason."""

    topology: Topology | None = None
    observed: Sequence[Observed] = ()
    journal: Sequence[AwsEvent] = ()
    problem: str = ""


def first_due(ended_at: datetime) -> datetime:
    """Time at which the values of a run's last minute are available."""
    end = datetime.fromtimestamp(-(-ended_at.timestamp() // 60) * 60, UTC)
    return end + LATE


def is_whole(observed: Iterable[Observed], *, ended_at: datetime, now: datetime) -> bool:
    """Whether no more values are expected: every metric with values covers the run's last moment, and the time for the
    others is over."""
    until, moment = ended_at.timestamp(), now.timestamp()
    for node in observed:
        for key, points in node.values.items():
            last = metrics.end_of_period(until, key=key)
            if (points and max(points) < last) or (not points and moment < last + LATE.total_seconds()):
                return False
    return True


def ask(run: Run, place: AwsPlace) -> AwsReport:
    """All data of AWS about the run as of now. Raises AwsTrouble."""
    until = run.ended_at or run.started_at
    found = topology.describe(place)
    observed = metrics.observe(place, found, since=run.started_at, until=until)
    return AwsReport(found, observed, events.during(place, found, since=run.started_at, until=until))


def batch_of(run: Run, place: AwsPlace | None, report: AwsReport) -> bytes:
    """The report as one batch in the wire format, on the run's clock."""
    encoder = wire.BatchEncoder(run=str(run.uid))
    began, until = run.started_at.timestamp(), (run.ended_at or run.started_at).timestamp()
    for node in report.observed:
        for at in node.times():
            values: dict[str, wire.Number] = {key: points.get(at) for key, points in node.values.items()}
            encoder.add_sample(node=node.name, role=node.role, t=at - began, values=values)
        for event in _missing(node, until=until):
            encoder.add_event(event)
    if report.topology is not None and place is not None:
        encoder.add_event(_topology(place, report.topology))
    for entry in report.journal:
        encoder.add_event(_journal(entry, began=began))
    if report.problem:
        detail = {"what": "CloudWatch", "reason": report.problem, "remedy": ""}
        encoder.add_event(_event(NOT_OBSERVABLE, f"CloudWatch: {report.problem}", detail=detail))
    return encoder.flush()[1]


def give_up_at(ended_at: datetime) -> datetime:
    return ended_at + GIVE_UP


def is_final(trouble: AwsTrouble, *, ended_at: datetime, now: datetime) -> bool:
    """Whether another attempt would be useless, or too late."""
    return not trouble.passes or now >= give_up_at(ended_at)


def _missing(node: Observed, *, until: float) -> list[wire.EventMessage]:
    """Values missing in CloudWatch, as one event per reason."""
    found = []
    for keys, reason in (
        (node.missing(), "CloudWatch has no value"),
        (node.awaited(until=until), "CloudWatch did not deliver the last values in time"),
    ):
        if keys:
            names = ", ".join(key.rpartition(".")[2] for key in keys)
            detail = {"what": names, "reason": reason, "remedy": REMEDY}
            found.append(_event(NOT_OBSERVABLE, f"{reason} of {names}", node=node.name, detail=detail))
    return found


def _topology(place: AwsPlace, found: Topology) -> wire.EventMessage:
    members = ", ".join(f"{each.name} ({each.role}, {each.zone}, {each.hardware_class})" for each in found.instances)
    detail = {
        "engine": found.engine,
        "engine_version": found.engine_version,
        "storage": found.storage,
        "instances": members,
    }
    return _event(TOPOLOGY, f"{place}: {found.engine} {found.engine_version}: {members}", detail=detail)


def _journal(event: AwsEvent, *, began: float) -> wire.EventMessage:
    detail = {"source": event.source, "categories": ", ".join(event.categories), "clock": RDS_CLOCK}
    kind = PROMOTION if event.is_failover else JOURNAL
    return _event(kind, f"{event.source}: {event.message}", at=max(event.at.timestamp() - began, 0.0), detail=detail)


def _event(
    kind: str, label: str, *, at: float = 0.0, node: str = "", detail: dict[str, str] | None = None
) -> wire.EventMessage:
    return wire.EventMessage(
        kind=kind, label=label[:LABEL_LIMIT], starts_at=round(at, 6), node=node, detail=detail or {}
    )
