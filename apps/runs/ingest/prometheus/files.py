"""Files of Prometheus' series among the artifacts of a run, read when it is sealed."""

import re
from collections.abc import Iterable, Sequence

from django.db.models import Q

from apps.catalog.api import InvalidField, name_metrics
from apps.catalog.models import Node
from apps.core import limits
from apps.runs.ingest.clean_text import printable
from apps.runs.ingest.prometheus import payload
from apps.runs.ingest.prometheus.lay import Laid, Misplaced, RunPart, lay
from apps.runs.ingest.prometheus.payload import BadPayload, SentFile
from apps.runs.models import Artifact, Run, RunNode
from apps.runs.samples.columns import LABEL_LIMIT, NAME_LIMIT, SampledNode
from apps.runs.storage import artifacts
from workers.protocol import wire

ARTIFACTS = Q(name__startswith="prometheus")
NAME = re.compile(r"prometheus(?:\.[0-9]+)?\.ndjson\.gz")
MEDIA_TYPE = "application/gzip"


def name_of(number: int) -> str:
    """Of the `number`th file of a run, from 1."""
    return f"prometheus{'' if number == 1 else f'.{number}'}.ndjson.gz"


def with_series(
    run: Run, nodes: Sequence[SampledNode], files: Iterable[Artifact]
) -> tuple[list[SampledNode], list[wire.EventMessage]]:
    """The nodes with the series of `files`, and events about files that cannot be read. Series that a node has stay as
    they are. Creates missing metrics."""
    found, lost = list(nodes), list[wire.EventMessage]()
    for file in files:
        try:
            laid = laid_on(run, found, payload.read(artifacts.read_artifact(file)))
        except (BadPayload, Misplaced, InvalidField) as error:
            lost.append(_unread(file, printable(str(error))))
            continue
        new = {each.node.name: each.node for each in laid.nodes}
        found = [new.pop(node.name, node) for node in found] + list(new.values())
    return found, lost


def laid_on(run: Run, nodes: Sequence[SampledNode], sent: SentFile) -> Laid:
    """`nodes`: those with samples. Creates missing metrics. Raises Misplaced, or InvalidField: too many new ones."""
    laid = lay(sent, part_of(run, nodes))
    numbers = [len(each.node.changing) + len(each.node.constants) for each in laid.nodes]
    if max(numbers, default=0) > limits.NAMES:
        message = f"a node would have {max(numbers):,} series; at most {limits.NAMES:,} may be"
        raise Misplaced("file", message, "send fewer with --match")
    name_metrics([key for each in laid.nodes for key in (*each.mapped, *each.own)], laid.kinds)
    return laid


def part_of(run: Run, nodes: Sequence[SampledNode]) -> RunPart:
    ended_at = run.ended_at or run.started_at
    catalogued = Node.objects.filter(system=run.system_id).order_by("name").values_list("name", "role")
    announced = RunNode.objects.filter(run=run).values_list("name", "role")
    known = {**dict(catalogued), **dict(announced), **{node.name: node.role for node in nodes if node.role}}
    return RunPart(
        name=f"run {run.pk}",
        began=run.started_at.timestamp(),
        length=(ended_at - run.started_at).total_seconds(),
        # As of a submitted run without nodes: its server has the name of the system.
        nodes=known or {run.system.slug[:NAME_LIMIT]: "writer"},
        sampled=nodes,
    )


def _unread(file: Artifact, reason: str) -> wire.EventMessage:
    label = f"the series of {file.name} could not be read: {reason}"
    detail = {"file": file.name, "reason": reason}
    return wire.EventMessage(kind="sampler_error", label=label[:LABEL_LIMIT], starts_at=0.0, detail=detail)
