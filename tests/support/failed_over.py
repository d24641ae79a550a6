"""Failovers as the probe reports them: recorded attempts reported by the program itself, or made-up ones; as runs."""

import gzip
import json
from collections.abc import Mapping
from contextlib import redirect_stdout
from datetime import timedelta
from functools import cache
from io import StringIO
from typing import Any

from apps.catalog.models import Platform, System, Workload
from apps.core.canonical import canonical_hash
from apps.runs import tool_output
from apps.runs.models import Event, Run
from apps.runs.tool_output import Output
from tests.paths import RECORDINGS
from tests.support.builders import START, a_measured_run, a_metric, a_system
from workers.agent.faults import events
from workers.agent.faults.faults import Fault
from workers.agent.faults.lanes import Attempt
from workers.agent.faults.phases import Sign, SteadyState
from workers.agent.faults.record import Record
from workers.agent.programs.report import emit
from workers.protocol.workloads import failover
from workers.protocol.workloads.declaration import check

RECORDING = RECORDINGS / "failover.json.gz"
FAULT_AT = 10.0  # s on the probe's clock
INTERVAL = 0.05  # s between the recorded inserts
OFFSET = 2.5  # s on the run's clock when the probe's began


@cache
def recordings() -> dict[str, dict[str, Any]]:
    return {run["run"]: run for run in json.loads(gzip.decompress(RECORDING.read_bytes()))}


def reported(name: str, *, control: str = "kill", node: str = "node1", proxy: float | None = None) -> Output:
    """What the probe would have printed of a recording, as the server reads it. `proxy`: when HAProxy marked the node
    down, s after the fault."""
    return _reported(tuple(map(tuple, recordings()[name]["attempts"])), control=control, node=node, proxy=proxy)


def made_up(outage: float | None, *, control: str = "kill", node: str = "node1", **more: Any) -> Output:
    """Inserts each 50 ms, none of which is acknowledged for `outage` s; None: nor until the end."""
    back = round(1000 * outage) - 50 if outage is not None else 10**9
    attempts = tuple((t, t + 4, "" if 0 <= t < back else "node2") for t in range(-8000, 20000, 50))
    return _reported(attempts, control=control, node=node, **more)


def _reported(
    attempts: tuple[Any, ...],
    *,
    control: str,
    node: str,
    proxy: float | None = None,
    counts: Mapping[str, list[int]] | None = None,
    is_whole: bool = True,
) -> Output:
    """`counts`: numbers of inserts, as the read-back lists them; `is_whole`: the program came to its end."""
    record, text = Record(), StringIO()
    with redirect_stdout(text):
        emit("begin", tool="failover", version="1")
        checks = {"inter": "500ms", "fall": "2"} if proxy is not None else {}
        begun = {"run": "r", "began_at": 0.0, "proxy": checks}
        emit("event", event="node_state", label="node1 is the writer", **{"from": 0.0}, node="node1", detail=begun)
        for number, (due, end, server) in enumerate(attempts):
            error = None if server else (2013, "Lost connection")
            at = FAULT_AT + due / 1000
            record.insert(Attempt(number, 0, 1, at, at, FAULT_AT + end / 1000, str(server or ""), error))
        if proxy is not None:
            record.add_proxy_sign(Sign(FAULT_AT + proxy, f"HAProxy: writer/{node} is DOWN"))
        struck = events.InjectedFault(Fault(control, node, "writer"), FAULT_AT, FAULT_AT)
        start = FAULT_AT + attempts[0][0] / 1000
        values = events.phase_values(record, struck, warmup=start, interval=INTERVAL, rule=SteadyState())
        if is_whole:
            found = {"missing": [], "errant": [], "failed_present": [], "duplicated": [], **(counts or {})}
            emit("event", event="read_back", label="counted", **{"from": 40.0}, node="client", detail=found)
            values |= {
                "failover.acknowledged_missing": len(found["missing"]),
                "failover.errant_rows": len(found["errant"]),
                "failover.failed_present": len(found["failed_present"]),
                "failover.duplicated": len(found["duplicated"]),
                "failover.stale_reads": 0,
            }
            emit("total", **{"from": start, "to": 40.0}, counts={"transactions": 1}, values=values)
            emit("end")
    return tool_output.read("failover", text.getvalue().encode())


def a_failover_workload(fault: str = "kill_writer", **parameters: Any) -> Workload:
    whole = check(failover.SPEC, {"fault": fault, **parameters})
    return Workload.objects.get_or_create(
        content_hash=canonical_hash({"tool": "failover", "parameters": whole}),
        defaults={
            "tool": "failover",
            "name": fault,
            "parameters": whole,
            "primary_metric": a_metric("failover.outage", name="write outage", unit="s", direction="lower"),
        },
    )[0]


def a_cluster() -> System:
    platform = Platform.objects.create(slug="galera", name="MariaDB Galera", color=4)
    return a_system("cluster", name="three nodes", platform=platform, settings={"evs.suspect_timeout": "PT5S"})


def a_replicated_pair() -> System:
    platform = Platform.objects.create(slug="mha", name="MHA", color=2)
    return a_system("replicas", name="one source", platform=platform, settings={"ping_interval": "1"})


def a_failover(system: System, report: Output, *, fault: str = "kill_writer", **fields: Any) -> Run:
    """A sealed run of the probe whose output was `report`."""
    number = Run.objects.count()
    run = a_measured_run(
        {headline.metric: headline.value for headline in report.headlines},
        system=system,
        workload=a_failover_workload(fault, **fields.pop("parameters", {})),
        started_at=fields.pop("started_at", START + timedelta(minutes=number)),
        ended_at=START + timedelta(minutes=number + 1),
        told={"offset": OFFSET},
        **fields,
    )
    Event.objects.bulk_create(
        Event(
            run=run,
            kind=event.kind,
            label=event.label,
            starts_at=event.starts_at + OFFSET,
            ends_at=None if event.ends_at is None else event.ends_at + OFFSET,
            node=event.node,
            detail=event.detail,
            from_output=True,
        )
        for event in report.events
    )
    return run
