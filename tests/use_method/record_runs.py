"""Makes fixtures of recorded.py of runs in the database, where the servers had a proxy that was sampled too:

manage.py shell -c "from tests.use_method import record_runs; record_runs.record('lab.mha_failover', run_id=113)"
"""

import json
import re
from typing import Any

import numpy as np

from apps.runs.models import Event, Run, RunNode, Series
from apps.runs.queries import nodes as queries_nodes
from apps.runs.samples.columns import CLIENT
from apps.runs.storage.codec import Column
from tests.use_method.record import PRIVATE, VARIABLES, is_kept
from tests.use_method.recorded import FOLDER, MISSING

# Where the servers keep their files says nothing of the run.
FOLDERS = re.compile(r"/(?:[\w.-]+/)+")
KINDS = ("fault", "promotion", "recovered", "ddl", "node_state")


def record(name: str, *, run_id: int) -> None:
    """Of a run that is sealed; its measured phase becomes a phase of that name."""
    run = Run.objects.select_related("system__release__platform").get(pk=run_id)
    rows = list(RunNode.objects.filter(run=run).exclude(role__in=(CLIENT, "agent")).select_related("configuration"))
    keys = {key for row in rows for key in row.constants}
    keys |= set(Series.objects.filter(run=run).values_list("metric__key", flat=True))
    kept = [key for key in keys if not key.startswith("derived.") and (is_kept(key) or key.startswith("haproxy."))]
    nodes = queries_nodes.sealed([run_id], kept, [row.name for row in rows]).nodes[run_id]
    configured = {row.name: row.configuration.variables if row.configuration else {} for row in rows}
    arrays: dict[str, Any] = {}
    header: dict[str, Any] = {"platform": run.system.release.platform.slug, "tool_start": None, "nodes": {}}
    for node in nodes:
        whole = {key: each for key, each in node.changing.items() if each.values.dtype.kind in "iu"}
        decimal = {key: each for key, each in node.changing.items() if key not in whole}
        arrays |= {
            f"{node.name}.clock": np.round(node.clock, 3),
            f"{node.name}.whole": np.diff(_rows(whole, len(node.clock)), axis=1, prepend=0),
            f"{node.name}.decimal": np.array(
                [np.where(each.observed, each.values, np.nan) for each in decimal.values()], np.float64
            ),
        }
        header["nodes"][node.name] = {
            "role": node.role,
            "whole": list(whole),
            "decimal": list(decimal),
            "constants": {key: value for key, value in node.constants.items() if key in kept},
            "variables": {
                key: FOLDERS.sub("/srv/", value)
                for key, value in configured[node.name].items()
                if VARIABLES.match(key) and not PRIVATE.search(key)
            },
        }
    phase = {"kind": "phase", "label": "measured", "starts_at": run.measured_from, "ends_at": run.measured_to}
    header["events"] = [phase, *map(_event, Event.objects.filter(run=run, kind__in=KINDS).order_by("starts_at"))]
    arrays["told"] = np.frombuffer(json.dumps(header).encode(), np.uint8)
    np.savez_compressed(FOLDER / f"{name}.npz", **arrays)


def _rows(columns: dict[str, Column], length: int) -> Any:
    rows = [np.where(each.observed, each.values.astype(np.int64), MISSING) for each in columns.values()]
    return np.array(rows, np.int64).reshape(len(rows), length)


def _event(event: Event) -> dict[str, Any]:
    names = ("kind", "label", "starts_at", "ends_at", "node", "detail")
    return {name: getattr(event, name) for name in names}
