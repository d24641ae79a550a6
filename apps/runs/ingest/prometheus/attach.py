"""Adds series of Prometheus to a complete run: the run is sealed anew with them, from the samples that it has."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

from apps.catalog.api import InvalidField
from apps.core import limits
from apps.core.audit.api import Action, record
from apps.core.problems import FieldProblem, Invalid
from apps.runs.ingest import quota
from apps.runs.ingest.prometheus import files, payload
from apps.runs.ingest.prometheus.lay import NOTABLE, LaidNode, Misplaced
from apps.runs.models import Artifact, Run
from apps.runs.quality import check
from apps.runs.seal import reseal_alone
from apps.runs.storage import artifacts, blocks
from workers.protocol.secrets import first_secret
from workers.protocol.wire import checksum


@dataclass(frozen=True)
class AttachedNode:
    """What a node got."""

    name: str
    metrics: Annotated[tuple[str, ...], "keys of our metrics that the node has by these series"]
    own: Annotated[int, "how many series keep names of their own: prometheus.<name>"]
    known: Annotated[int, "how many the node had; those stay as they were"]
    interval: Annotated[float, "median time between samples, s"]
    moved: Annotated[float, "the most by which samples were moved to the node's clock, s"]


@dataclass(frozen=True)
class AttachedSeries:
    """`created` False: the same file was attached before."""

    run: int
    artifact: str
    created: bool
    nodes: tuple[AttachedNode, ...]
    warnings: tuple[str, ...]


class NotNow(Exception):
    """The run cannot take series in its state; the text is the sentence to show."""


def attach(*, run: Run, content: bytes) -> AttachedSeries:
    """Keeps the file and seals the run anew with its series, all or nothing. What the run had stays as it was.

    Raises Invalid, NotNow, OSError when storage fails, or what `reseal` raises.
    """
    try:
        sent = payload.read(content)
    except payload.BadPayload as error:
        remedy = "send the file that splashboard attach writes"
        raise Invalid([FieldProblem("file", f"cannot be read: {error}", remedy)]) from error
    shown = [sent.source, *(text for series in sent.series for text in series.labels.values())]
    if first_secret("\n".join(shown).encode()) is not None:
        raise Invalid([FieldProblem("file", "a label shows what may be a password", "leave it out with --match")])
    sha256 = checksum(content)
    with artifacts.atomic() as keep:
        quota.charge(len(content))
        locked = Run.objects.select_related("system").select_for_update(no_key=True, of=("self",)).get(pk=run.pk)
        if locked.state != Run.State.SEALED:
            raise NotNow(f"run {run.pk} is not complete yet: attach its series afterwards")
        held = [one for one in locked.artifacts.all() if files.NAME.fullmatch(one.name)]
        same = next((one for one in held if one.sha256 == sha256), None)
        if same is not None:
            keep(content)  # it may be missing, or half-written
            return AttachedSeries(run.pk, same.name, False, (), ("the same series were attached before",))
        if len(held) >= limits.ATTACHED_FILES:
            raise NotNow(f"run {run.pk} holds {limits.ATTACHED_FILES} files of series, as many as it may")
        try:
            sampled = [node for node in blocks.read([run.pk]).get(run.pk, []) if node.changing or node.constants]
            laid = files.laid_on(locked, sampled, sent)
        except blocks.Moved as moved:
            raise NotNow(f"the samples of run {run.pk} are in the archive only: fetch them first") from moved
        except Misplaced as error:
            raise Invalid([FieldProblem(error.field, error.message, error.remedy)]) from error
        except InvalidField as error:
            raise Invalid([FieldProblem("file", error.message, "send fewer series with --match")]) from error
        if not any(each.mapped or each.own for each in laid.nodes):
            raise NotNow(f"run {run.pk} has all of these series: nothing is left to attach")
        keep(content)
        made = Artifact.objects.create(
            run=locked,
            name=files.name_of(len(held) + 1),
            sha256=sha256,
            size=len(content),
            media_type=files.MEDIA_TYPE,
        )
        reseal_alone(run_id=run.pk)
        number = sum(len(each.mapped) + len(each.own) for each in laid.nodes)
        record(Action.RUN_ATTACH, f"run {run.pk}", after=f"{made.name}, {number:,} series of {sent.source}")
    check.check_siblings(run_id=run.pk)
    nodes = tuple(_described(each) for each in laid.nodes)
    return AttachedSeries(run.pk, made.name, True, nodes, tuple(_warnings(laid.nodes, locked)))


def _described(each: LaidNode) -> AttachedNode:
    return AttachedNode(
        name=each.node.name,
        metrics=each.mapped,
        own=len(each.own),
        known=len(each.known),
        interval=round(each.interval, 3),
        moved=round(each.moved, 3),
    )


def _warnings(nodes: list[LaidNode], run: Run) -> Iterator[str]:
    length = (run.ended_at - run.started_at).total_seconds() if run.ended_at else 0.0
    for each in nodes:
        clock, name = each.node.clock, each.node.name
        if each.moved > NOTABLE:
            yield f"samples of {name} were moved by up to {each.moved:.2f} s, to one clock for all of its exporters"
        late, early = float(clock[0]), length - float(clock[-1])
        if late > each.interval or early > each.interval:
            yield f"the samples of {name} cover {clock[0]:.0f} to {clock[-1]:.0f} s of the run's {length:.0f} s"
        if each.interval and length < 10 * each.interval:
            yield f"{name} was sampled every {each.interval:g} s: a run of {length:.0f} s has few samples"
        if not each.mapped and not each.known:
            yield f"no series of {name} is known here as one of node_exporter or mysqld_exporter"
