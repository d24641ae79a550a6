"""Recorded runs as an agent would have sent them: what sysbench printed and what was counted meanwhile."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from apps.rig.recordings import FILE
from apps.runs.ingest import accept
from apps.runs.models import Run, RunCheck
from tests.paths import RECORDINGS
from tests.runs.uploads import Samples, an_open_run, an_upload
from tests.support import recorded
from tests.support.builders import a_workload
from workers.protocol.wire import Number

# Of the hundreds of recorded counters those that a check looks at, or what is derived from.
WANTED = ("host.cpu", "host.cpus", "host.net", "host.tcp", "process.cpu", "mysql.status.Com_", "mysql.status.Bytes_")
ALSO = ("mysql.status.Questions", "mysql.status.Innodb_rows_inserted")
Values = dict[str, Number]


@dataclass(frozen=True)
class Recording:
    """A load of `seconds` that began at second `starts` of the recorded node's clock."""

    output: str
    node: str
    starts: float
    seconds: float


@cache
def loads(node: str) -> list[tuple[float, float, str]]:
    with np.load(FILE) as held:
        return [(start, end, kind) for start, end, kind in json.loads(bytes(held["told"]))[node]["loads"]]


def the_recording(output: str, node: str, place: int) -> Recording:
    start, end, _ = loads(node)[place]
    return Recording(output, node, start, end - start)


def samples(
    recording: Recording, change: Callable[[float, Values], Values | None] = lambda _, values: values
) -> Samples:
    """Second by second on the run's clock, in which the load begins at second 1. `change` may alter a sample, or drop
    it (None)."""
    node = recorded.nodes()[recording.node]
    keys = [key for key in (*node.changing, *node.constants) if key.startswith(WANTED) or key in ALSO]
    columns = {key: node.column(key) for key in keys}
    found = []
    for place, at in enumerate((node.clock - recording.starts + 1).tolist()):
        if 0 <= at <= recording.seconds + 2:
            values: Values = {key: column.values[place].item() for key, column in columns.items() if column}
            changed = change(at, values)
            if changed is not None:
                found.append((at, changed))
    return found


def checked(output: str, nodes: Mapping[str, Samples], **fields: Any) -> tuple[Run, dict[str, RunCheck]]:
    """The run, sealed, and its checks by their key. `content`: of the output in place of what was recorded."""
    content = fields.pop("content", None) or (RECORDINGS / output).read_bytes()
    lines = [
        (float(line.split()[1][:-1]) + 1.0, line) for line in content.decode().splitlines() if line.startswith("[ ")
    ]
    end = fields.pop("end", {})
    run = an_open_run(nodes=list(nodes), workload=fields.pop("workload", None) or a_workload(), **fields)
    an_upload(run=run, nodes=nodes, output=content, lines=lines).send(**end)
    assert accept.seal(run_id=run.pk)
    run.refresh_from_db()
    return run, {row.check_key: row for row in RunCheck.objects.filter(run=run)}
