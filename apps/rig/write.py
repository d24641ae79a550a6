"""Writes synthetic runs into the warehouse by COPY, one campaign at a time, with all indexes and constraints."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db import connection, transaction

from apps.catalog.models import LoadLevel, Metric, Node, System, Workload
from apps.dispatch.models import Agent, Campaign, Job
from apps.rig.make_runs import MadeRun, Shape
from apps.rig.plan import PlannedCampaign
from apps.rig.templates import Template
from apps.runs.api import DERIVATION, STATISTICS
from apps.runs.models import Run
from apps.runs.pure import CLIENT

SERIES_COLUMNS = (
    *("run_id", "metric_id", "node", "base", "offset", "length"),
    *STATISTICS,
    *(f"whole_{name}" for name in STATISTICS),
)
PARSER = "rig"
ARTIFACT = "rig.txt"
STATEMENT = b"Made up by the scale rig: nothing was measured, no load tool ran.\n"
TOOL_VERSION = "sysbench 1.0.20"


@dataclass(frozen=True)
class Catalog:
    """Rows that runs refer to. `configurations`: (system, node number) -> id of its variables; `constants`: (system,
    node number) -> JSON of the series that never change."""

    systems: Mapping[str, System]
    workloads: Mapping[str, Workload]
    levels: Mapping[int, LoadLevel]
    metrics: Mapping[str, Metric]
    configurations: Mapping[tuple[str, int], int]
    constants: Mapping[tuple[str, int], str]
    agent: Agent
    sha256: str


@transaction.atomic
def write_campaign(planned: PlannedCampaign, made: Sequence[MadeRun], *, shape: Shape, catalog: Catalog) -> None:
    jobs = _jobs(planned, made, shape, catalog)
    run_ids, artifacts = _ids("runs_run", len(made)), _ids("runs_artifact", len(made))
    runs = list(zip(run_ids, made, strict=True))
    _copy("runs_run", _RUN, (_run(pk, run, planned, shape, catalog) for pk, run in runs))
    _copy("dispatch_jobrun", ("run_id", "job_id", "attempt"), ((pk, jobs[run.job], 1) for pk, run in runs))
    _copy("runs_runnode", _NODE, (row for pk, run in runs for row in _nodes(pk, run, catalog)))
    _copy(
        "runs_block",
        ("run_id", "node", "size", "data"),
        ((pk, number, len(node.data), node.data) for pk, run in runs for number, node in enumerate(run.nodes)),
        types=("int8", "int2", "int8", "bytea"),
    )
    _copy_series(runs)
    _copy(
        "runs_artifact",
        ("id", "run_id", "name", "sha256", "size", "media_type", "created_at"),
        (
            (artifact, pk, ARTIFACT, catalog.sha256, len(STATEMENT), "text/plain", run.started_at)
            for artifact, (pk, run) in zip(artifacts, runs, strict=True)
        ),
    )
    _copy(
        "runs_measurement",
        ("run_id", "metric_id", "value", "artifact_id", "byte_start", "byte_end", "parser", "parser_version"),
        (
            (pk, catalog.metrics[key].pk, value, artifact, 0, len(STATEMENT), PARSER, "1")
            for artifact, (pk, run) in zip(artifacts, runs, strict=True)
            if not run.reason
            for key, value in run.values.items()
        ),
    )
    _copy(
        "runs_event",
        ("run_id", "kind", "label", "starts_at", "node", "detail", "from_output"),
        ((pk, "checkpoint", "checkpoint", run.event, "db1", "{}", False) for pk, run in runs if run.event is not None),
    )


def _jobs(planned: PlannedCampaign, made: Sequence[MadeRun], shape: Shape, catalog: Catalog) -> list[int]:
    """Create the campaign with its jobs, all finished; returns the jobs' ids."""
    campaign = Campaign.objects.create(name=planned.name, repetitions=planned.repetitions)
    campaign.systems.set([catalog.systems[spec.slug] for spec in planned.systems])
    entries = {}
    for place, spec in enumerate(planned.workloads):
        entries[spec.test] = campaign.entries.create(
            place=place, workload=catalog.workloads[spec.test], warmup=shape.warmup, duration=shape.duration
        )
        entries[spec.test].load_levels.set([catalog.levels[threads] for threads in planned.threads])
    Campaign.objects.filter(pk=campaign.pk).update(created_at=planned.starts_at)
    length = timedelta(seconds=shape.seconds)
    starts: dict[int, Any] = {}
    ends: dict[int, Any] = {}
    for run in made:
        starts.setdefault(run.job, run.started_at)
        ends[run.job] = run.started_at + length
    rows = [
        Job(
            campaign=campaign,
            entry=entries[workload.test],
            system=catalog.systems[system.slug],
            workload=catalog.workloads[workload.test],
            repetition=repetition,
            position=place,
            state=Job.State.SUCCEEDED,
            agent=catalog.agent,
            attempt=1,
            started_at=starts[place],
            finished_at=ends[place],
        )
        for place, (repetition, workload, system, _) in enumerate(planned.jobs())
    ]
    created = Job.objects.bulk_create(rows)
    Job.objects.filter(campaign=campaign).update(queued_at=planned.starts_at)
    return [job.pk for job in created]


_RUN = (
    *("id", "uid", "system_id", "workload_id", "load_level_id", "repetition", "provenance", "state", "outcome"),
    *("reason", "started_at", "ended_at", "sealed_at", "created_at", "derivation", "told", "warmup", "duration"),
    *("measured_from", "measured_to", "batches_expected", "artifacts_expected", "seal_attempts", "server_version"),
    *("tool_version", "host", "command", "unparsed_lines", "tags"),
)


def _run(pk: int, run: MadeRun, planned: PlannedCampaign, shape: Shape, catalog: Catalog) -> tuple[Any, ...]:
    ended = run.started_at + timedelta(seconds=shape.seconds + 1)
    outcome = Run.Outcome.FAILED if run.reason else Run.Outcome.SUCCEEDED
    measured = shape.warmup, shape.seconds + 0.5
    reported = {
        "outcome": outcome.value,
        "reason": run.reason,
        "measured_from": measured[0],
        "measured_to": measured[1],
    }
    stored = ended + timedelta(seconds=2)
    host = {"name": f"loadgen-{run.system.hardware}", "cpus": 16, "memory_bytes": 32 * 2**30, "kernel": "6.1.0"}
    return (
        *(pk, run.uid, catalog.systems[run.system.slug].pk, catalog.workloads[run.workload.test].pk),
        *(catalog.levels[run.threads].pk, run.repetition, Run.Provenance.RIG.value, Run.State.SEALED.value),
        *(outcome.value, run.reason, run.started_at, ended, stored, stored, DERIVATION, json.dumps(reported)),
        *(shape.warmup, shape.duration, *measured, 0, "[]", 0, run.system.server_version, TOOL_VERSION),
        *(json.dumps(host), f"sysbench {run.workload.test} --threads={run.threads} run", [], list(planned.tags)),
    )


_NODE = ("run_id", "number", "name", "role", "samples", "clock", "constants", "configuration_id")


def _nodes(pk: int, run: MadeRun, catalog: Catalog) -> Iterable[tuple[Any, ...]]:
    for number, node in enumerate(run.nodes):
        name = f"db{number}" if number else CLIENT
        role = CLIENT if not number else Node.Role.WRITER.value if number == 1 else Node.Role.READER.value
        place = run.system.slug, number
        configuration = catalog.configurations.get(place)
        yield pk, number, name, role, node.samples, node.clock, catalog.constants.get(place, "{}"), configuration


def _copy_series(runs: Sequence[tuple[int, MadeRun]]) -> None:
    columns = ", ".join(f'"{name}"' for name in SERIES_COLUMNS)
    with connection.cursor() as cursor, cursor.copy(f"COPY runs_series ({columns}) FROM STDIN") as copy:
        for pk, run in runs:
            copy.write(b"".join(_series(pk, run, number, node) for number, node in enumerate(run.nodes)))


def _series(pk: int, run: MadeRun, number: int, node: Template) -> bytes:
    return b"".join(
        b"%d\t%d\t%d\t%d\t%d\t%d\t%b\n"
        % (
            pk,
            entry.metric,
            number,
            entry.base + run.shift if entry.movable else entry.base,
            entry.offset,
            entry.length,
            entry.text,
        )
        for entry in node.entries
    )


def _ids(table: str, count: int) -> list[int]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT nextval(pg_get_serial_sequence(%s, 'id')) FROM generate_series(1, %s)", [table, count])
        return [pk for (pk,) in cursor.fetchall()]


def _copy(
    table: str, columns: Sequence[str], rows: Iterable[tuple[Any, ...]], types: Sequence[str] | None = None
) -> None:
    """With `types`, in binary format: half the bytes for large values."""
    form = " (FORMAT BINARY)" if types else ""
    with (
        connection.cursor() as cursor,
        cursor.copy(f"COPY {table} ({', '.join(columns)}) FROM STDIN{form}") as copy,
    ):
        if types:
            copy.set_types(types)
        for row in rows:
            copy.write_row(row)
