"""What an agent would send of one run."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from uuid import uuid4

from apps.catalog.models import LoadLevel, System, Workload
from apps.runs.ingest import accept
from apps.runs.models import Block, Distribution, Event, Measurement, Run, RunNode, Series
from apps.runs.storage import blocks
from apps.runs.storage.codec import Column
from tests.paths import RECORDINGS
from tests.support.builders import START, a_load_level, a_system, a_workload
from workers.protocol import wire
from workers.protocol.wire import BatchEncoder, EventMessage, Number

OUTPUT = (RECORDINGS / "sysbench_single" / "oltp_read_write_t4_p95_hist.txt").read_bytes()
SEGFAULT = (RECORDINGS / "sysbench_errors" / "server_killed_fatal_t4.txt").read_bytes()
Samples = Sequence[tuple[float, Mapping[str, Number]]]


def an_open_run(
    *,
    system: System | None = None,
    workload: Workload | None = None,
    load_level: LoadLevel | None = None,
    nodes: Sequence[str | wire.RunNodeMessage] = ("db1",),
    **fields: Any,
) -> Run:
    message = {
        "job": 1,
        "attempt": 1,
        "load_level": wire.LoadLevelMessage(threads=4),
        "started_at": START.isoformat(),
        "warmup": 0.0,
        "duration": 20.0,
        "nodes": [
            wire.RunNodeMessage(name=node, role="writer", variables={"port": "3306"}, defaults={"port": "3306"})
            if isinstance(node, str)
            else node
            for node in nodes
        ],
        "data_bytes": 5_000_000_000,
    }
    return accept.open_run(
        uid=fields.pop("uid", None) or uuid4(),
        system=system or a_system(),
        workload=workload or a_workload(),
        load_level=load_level or a_load_level(),
        repetition=fields.pop("repetition", 1),
        provenance="agent",
        message=wire.RunMessage(**{**message, **fields}),
    )


@dataclass
class Upload:
    """The batches and the artifact of one run, to be sent in any order."""

    run: Run
    batches: list[bytes] = field(default_factory=list)
    output: bytes | None = OUTPUT

    def send_batch(self, sequence: int) -> bool:
        payload = self.batches[sequence]
        stored = accept.accept_batch(run=self.run, sequence=sequence, checksum=wire.checksum(payload), payload=payload)
        return stored.is_new

    def send_output(self) -> bool:
        if self.output is None:
            return False
        return accept.accept_artifact(
            run=self.run, name="sysbench.txt", sha256=wire.checksum(self.output), content=self.output
        )

    def end(self, **fields: Any) -> None:
        accept.end_run(run=self.run, message=self.end_message(**fields))

    def end_message(self, **fields: Any) -> wire.RunEndMessage:
        announced = (
            []
            if self.output is None
            else [wire.ArtifactMessage(name="sysbench.txt", sha256=wire.checksum(self.output), size=len(self.output))]
        )
        message = {
            "outcome": "succeeded",
            "ended_at": (START + timedelta(seconds=21)).isoformat(),
            "batches": len(self.batches),
            "artifacts": announced,
        }
        return wire.RunEndMessage(**{**message, **fields})

    def send(self, **end: Any) -> Run:
        """All of it, in order."""
        for sequence in range(len(self.batches)):
            self.send_batch(sequence)
        self.send_output()
        self.end(**end)
        return self.run


def an_upload(
    *,
    run: Run | None = None,
    nodes: Mapping[str, Samples] | None = None,
    events: Sequence[EventMessage] = (),
    output: bytes | None = OUTPUT,
    lines: Sequence[tuple[float, str]] = (),
    seconds_a_batch: float = 10,
) -> Upload:
    """`nodes`: name -> samples (t, values), in the order of time."""
    nodes = {"db1": a_minute()} if nodes is None else nodes
    run = run or an_open_run(nodes=list(nodes))
    encoder = BatchEncoder(run=str(run.uid))
    upload = Upload(run=run, output=output)
    said: list[tuple[float, str | None, Any]] = [
        (t, name, values) for name, rows in nodes.items() for t, values in rows
    ]
    said += [(t, None, line) for t, line in lines]
    boundary = seconds_a_batch
    for event in events:
        encoder.add_event(event)
    for t, name, what in sorted(said, key=lambda entry: entry[0]):
        if t >= boundary:
            upload.batches.append(encoder.flush()[1])
            boundary += seconds_a_batch
        if name is None:
            encoder.add_output(t=t, line=what)
        else:
            encoder.add_sample(node=name, role="writer", t=t, values=what)
    if not encoder.is_empty():
        upload.batches.append(encoder.flush()[1])
    return upload


def a_minute(seconds: int = 20) -> list[tuple[float, dict[str, Number]]]:
    """A counter of 100/s, a gauge that swings, and one value that never changes."""
    return [
        (
            float(t),
            {
                "mysql.status.Questions": 1_000 + 100 * t,
                "mysql.status.Threads_running": 3 + t % 4,
                "mysql.status.Max_used_connections": 7,
            },
        )
        for t in range(seconds + 1)
    ]


def series(key: str, node: int = 1) -> Series:
    return Series.objects.get(metric__key=key, node=node)


def samples(key: str, node: int = 1) -> Column:
    """What is stored of the only run there is."""
    run = Run.objects.get()
    number_of = {row.name: row.number for row in run.nodes.all()}
    (found,) = (each for each in blocks.read([run.pk], [key])[run.pk] if number_of[each.name] == node)
    return found.changing[key]


def everything(run: Run) -> dict[str, Any]:
    """All that is held of a run, but for how often it was tried to seal it."""
    row = Run.objects.filter(pk=run.pk).values().get()
    return {
        "run": {name: value for name, value in row.items() if name not in ("seal_attempts", "seal_due_at")},
        "nodes": list(RunNode.objects.filter(run=run).values()),
        "blocks": [
            (node, bytes(data or b""))
            for node, data in Block.objects.filter(run=run).order_by("node").values_list("node", "data")
        ],
        "series": list(Series.objects.filter(run=run).order_by("metric_id", "node").values()),
        "measurements": list(Measurement.objects.filter(run=run).order_by("metric_id").values()),
        "distributions": list(Distribution.objects.filter(run=run).order_by("metric_id").values()),
        "events": list(Event.objects.filter(run=run).order_by("starts_at", "label").values()),
    }
