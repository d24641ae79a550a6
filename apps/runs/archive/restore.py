"""Restores archived runs into this installation, row by row: measurements are not derived again, and series only where
the archive has no statistics."""

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import chain
from typing import Any
from uuid import UUID

import numpy as np
from django.core.exceptions import ValidationError
from django.core.files.storage import Storage
from django.db import DataError, IntegrityError, transaction

from apps.catalog.api import InvalidField, metrics_for
from apps.catalog.models import LoadLevel, Metric, System, Workload
from apps.core import limits
from apps.core.canonical import canonical_hash
from apps.runs.archive import manifest, parquet, refill, samples, store
from apps.runs.archive import tables as layout
from apps.runs.archive.catalog import IDENTITY, load_level_of, system_of, workload_of
from apps.runs.archive.content import BIRTH_FIELDS, JSON_FIELDS, METRIC_FIELDS, PLAIN_FIELDS, STATISTICS_FIELDS, Row
from apps.runs.archive.manifest import Manifest
from apps.runs.archive.troubles import TOO_LARGE, ArchiveTrouble, Damaged, StoreUnreachable
from apps.runs.models import Artifact, Block, Configuration, Distribution, Event, Measurement, Run, RunNode, Series
from apps.runs.quality import check, exclusion
from apps.runs.quality.rules import reproducibility
from apps.runs.samples import derivation
from apps.runs.samples.columns import SampledNode
from apps.runs.samples.nodes import UPTIMES, server_start
from apps.runs.samples.rates import WHOLE_RUN, Phase
from apps.runs.storage import artifacts as storage_artifacts
from apps.runs.storage import blocks, codec
from apps.runs.storage.codec import Column

_NO_SAMPLES = set(samples.TYPES)
_Constants = dict[str, int | float | None]
METRIC = ("metric", *METRIC_FIELDS)
# As many processes may create what one restores.
ATTEMPTS = 8
# Of runs at one place in order of time, one of this many is compared with its siblings, and they with theirs.
EVERY = reproducibility.NEWEST


@dataclass(frozen=True)
class Restored:
    """Result for an archived run. `problem`: why it could not be restored, and the remedy. Neither: the run exists
    here already and stays unchanged."""

    run: Run | None = None
    problem: str = ""


@dataclass
class KnownRows:
    """Rows that many runs refer to, kept from run to run: metrics by key, ids of configurations by their text, systems
    by what a row says of them, workloads by hash, load levels by threads and rate."""

    metrics: dict[str, Metric] = field(default_factory=dict)
    configurations: dict[str, int] = field(default_factory=dict)
    systems: dict[tuple[str, ...], System] = field(default_factory=dict)
    workloads: dict[str, Workload] = field(default_factory=dict)
    load_levels: dict[tuple[int | None, float | None], LoadLevel] = field(default_factory=dict)

    def forget(self) -> None:
        """After a transaction that was rolled back: some may have been created in it."""
        for rows in (self.metrics, self.configurations, self.systems, self.workloads, self.load_levels):
            rows.clear()

    def system(self, row: Row) -> System:
        key = tuple(row[name] for name in IDENTITY)
        return self.systems.get(key) or self.systems.setdefault(key, system_of(row))

    def workload(self, row: Row) -> Workload:
        key = row["workload_hash"]
        return self.workloads.get(key) or self.workloads.setdefault(key, workload_of(row))

    def load_level(self, row: Row) -> LoadLevel:
        key = row["threads"], row["rate"]
        return self.load_levels.get(key) or self.load_levels.setdefault(key, load_level_of(row))


def restore(source: Storage, *, path: str, known: KnownRows | None = None, siblings: bool = True) -> Restored:
    """Restores the run of the manifest at `path`, completely or not at all. Raises StoreUnreachable.

    For many runs: the same `known` for all; without `siblings` the caller calls `compare_siblings`.
    """
    known = known or KnownRows()
    try:
        run = _unless_created_meanwhile(lambda: _restored(source, path, known, siblings=siblings), known)
        if run is not None and siblings:
            check.check_siblings(run_id=run.pk)
        return Restored(run=run)
    except StoreUnreachable:
        raise
    except (ArchiveTrouble, InvalidField, ValidationError, IntegrityError, DataError) as error:
        known.forget()
        return Restored(problem=f"{path}: {error!s:.1000}")
    except MemoryError:
        known.forget()
        return Restored(problem=f"{path}: {TOO_LARGE}")


def _unless_created_meanwhile(restored: Callable[[], Run | None], known: KnownRows) -> Run | None:
    """Again where another process created the same system, or gave one the same short name: now that is there."""
    for _ in range(ATTEMPTS - 1):
        try:
            return restored()
        except IntegrityError:
            known.forget()
    return restored()


def compare_siblings(run_ids: Collection[int]) -> None:
    """Compares restored runs with their siblings, once all are here."""
    places = defaultdict[tuple[int, ...], list[int]](list)
    of_place = ("system_id", "workload_id", "load_level_id")
    for pk, *place in Run.objects.filter(pk__in=run_ids).order_by("started_at").values_list("pk", *of_place):
        places[tuple(place)].append(pk)
    for runs in places.values():
        for pk in runs[::EVERY]:
            check.check_siblings(run_id=pk)


def derive_server_starts(runs: Sequence[Run]) -> None:
    """From the samples, where the archive is older than the column: it decides which runs are of one session. Reads all
    of them at once. Raises blocks.Moved."""
    found = blocks.read([run.pk for run in runs], UPTIMES)
    for run in runs:
        start = server_start(found.get(run.pk, []))
        run.server_started_at = None if start is None else run.started_at + timedelta(seconds=start)
    Run.objects.bulk_update(runs, ["server_started_at"])


def chosen(
    source: Storage, *, uids: Collection[UUID] = (), platform: str = "", workload: str = "", month: str = ""
) -> list[str]:
    """Paths of the selected runs' manifests. Raises StoreUnreachable, and Damaged when a run of `uids` has none."""
    found = list(manifest.paths(source, platform=platform, workload=workload, month=month))
    if not uids:
        return found
    by_uid = {manifest.uid_of(path): path for path in found}
    missing = [str(uid) for uid in uids if str(uid) not in by_uid]
    if missing:
        raise Damaged(f"the archive has no manifest of run {', '.join(missing)}: its archiving may be incomplete")
    return [by_uid[str(uid)] for uid in uids]


def _restored(source: Storage, path: str, known: KnownRows, *, siblings: bool) -> Run | None:
    """The restored run; None: a run with this uid exists here."""
    found = manifest.read(source, path)
    if Run.objects.filter(uid=found.run).exists():
        return None
    tables = {name: _rows(source, found, name) for name in ("runs", "nodes", "events", "measurements")}
    is_compact = found.version == layout.COMPACT
    tables |= {name: _rows(source, found, name) for name in ("distributions", "artifacts")}
    tables["series"] = _rows(source, found, "series", METRIC if is_compact else ())
    if len(tables["runs"]) != 1:
        raise Damaged(f"{path} has no row in the table of runs: restore the archive from a backup")
    # Before the transaction: what is kept for other runs must outlive this one's failure.
    with transaction.atomic():
        metrics = _metrics(tables, known.metrics)
        _keep_configurations(tables["nodes"], known.configurations)
    with transaction.atomic():
        _keep_artifacts(source, found)
        run = _run(tables["runs"][0], known)
        RunNode.objects.bulk_create(_node(run, row, known, with_samples=not is_compact) for row in tables["nodes"])
        if is_compact:
            _compute_series(source, found, run, tables["nodes"], metrics)
        else:
            _write_series(source, found, run, tables["series"], metrics)
        if "server_started_at" not in tables["runs"][0]:
            derive_server_starts([run])
        Event.objects.bulk_create(_event(run, row) for row in tables["events"])
        kept = Artifact.objects.bulk_create(_artifact(run, row) for row in tables["artifacts"])
        artifacts = {artifact.name: artifact for artifact in kept}
        Measurement.objects.bulk_create(
            Measurement(value=row["value"], **_born(run, row, metrics, artifacts)) for row in tables["measurements"]
        )
        Distribution.objects.bulk_create(
            Distribution(
                **{name: row[name] for name in ("node", "starts_at", "ends_at", "grid", "buckets", "counts")},
                **_born(run, row, metrics, artifacts),
            )
            for row in tables["distributions"]
        )
        # Absent in older archives.
        if tables["runs"][0].get("exclusions"):
            _take_over_exclusions(run, tables["runs"][0])
        check.check(run, siblings=siblings)
    return run


def _rows(source: Storage, found: Manifest, name: str, columns: Collection[str] = ()) -> list[Row]:
    """Rows of one table, of all `columns` but samples unless given. Raises Damaged, StoreUnreachable."""
    table = found.table(name)
    if table is None:
        return []
    with store.verified(source, table.stored()) as local:
        wanted = list(columns) or [each for each in parquet.columns_of(local, name) if each not in _NO_SAMPLES]
        with parquet.opened(local, name, wanted) as file:
            read = file.read(wanted, use_threads=False)
            for each in wanted:
                parquet.require_values(name, each, read.column(each))
            values = [samples.plain(read.column(each)) for each in wanted]
    return [dict(zip(wanted, row, strict=True)) for row in zip(*values, strict=True)]


def _write_series(
    source: Storage, found: Manifest, run: Run, rows: Collection[Row], metrics: Mapping[str, Metric]
) -> None:
    """Samples and statistics as they were archived."""
    table, filled = found.table("series"), refill.Filled()
    if table is not None:
        with store.verified(source, table.stored()) as local:
            filled = refill.filled(local)
    Series.objects.bulk_create((_series(run, row, metrics, filled) for row in rows), batch_size=1000)
    Block.objects.bulk_create(filled.blocks(run))


def _compute_series(
    source: Storage, found: Manifest, run: Run, rows: Collection[Row], metrics: dict[str, Metric]
) -> None:
    """Samples as they were archived; statistics and derived metrics as sealing computes them."""
    table, changing = found.table("series"), defaultdict[int, dict[str, Column]](dict)
    if table is not None:
        with store.verified(source, table.stored()) as local:
            for number, key, column in samples.series_of(local):
                if column is not None:
                    changing[number][key] = column
    nodes = [
        SampledNode(
            name=row["node_name"],
            role=row["role"],
            clock=np.array(row["clock"] or [], dtype=np.float64),
            changing=changing[row["node"]],
            constants=parquet.json_of(row, "constants", _Constants),
        )
        for row in rows
        if row["clock"] is not None
    ]
    for node in nodes:
        _require_clock(run, node)
    derived = set(chain.from_iterable(derivation.keys(node) for node in nodes))
    metrics |= metrics_for(derived - metrics.keys(), most_new=limits.SERIES) if derived - metrics.keys() else {}
    phase = (
        WHOLE_RUN if run.measured_from is None or run.measured_to is None else Phase(run.measured_from, run.measured_to)
    )
    blocks.write(run=run, nodes=nodes, metrics=metrics, phase=phase, compare=False)  # the archive stays


def _require_clock(run: Run, node: SampledNode) -> None:
    """Raises Damaged unless its times rise and each series has a sample at each."""
    clock = node.clock
    if not np.isfinite(clock).all() or (np.diff(clock) <= 0).any():
        raise Damaged(f"the clock of {node.name:.80} in run {run.uid} does not rise: restore the archive from a backup")
    for key, column in node.changing.items():
        if len(column) != len(clock):
            raise Damaged(f"{key:.80} of run {run.uid} has {len(column):,} samples at {len(clock):,} times")


def _take_over_exclusions(run: Run, row: Row) -> None:
    try:
        exclusion.take_over(run, parquet.json_of(row, "exclusions", list[exclusion.ArchivedExclusion]))
    except ValueError as error:
        raise Damaged(f"exclusions of run {run.uid} have a time that is none ({error!s:.200})") from error


def _keep_artifacts(source: Storage, found: Manifest) -> None:
    for one in found.artifacts:
        with store.verified(source, one.stored()) as local:
            storage_artifacts.keep(local.read())


def _run(row: Row, known: KnownRows) -> Run:
    return Run.objects.create(
        uid=row["run"],
        system=known.system(row),
        workload=known.workload(row),
        load_level=known.load_level(row),
        state=Run.State.SEALED,
        # Older archives lack some of these, and have 0 s for a planned length that is not known.
        **{name: row[name] for name in PLAIN_FIELDS if row.get(name) is not None and (row[name] or name != "duration")},
        **{name: parquet.json_of(row, name, kind) for name, kind in JSON_FIELDS.items()},
    )


def _node(run: Run, row: Row, known: KnownRows, *, with_samples: bool) -> RunNode:
    """Without `with_samples`, clock and constants are written with the series."""
    has_clock = row["clock"] is not None
    return RunNode(
        run=run,
        number=row["node"],
        name=row["node_name"],
        role=row["role"],
        samples=row["samples"],
        clock=codec.encode_floats(np.array(row["clock"], dtype=np.float64)) if has_clock and with_samples else b"",
        constants={} if has_clock and not with_samples else parquet.json_of(row, "constants", _Constants),
        configuration_id=known.configurations.get(row["variables"] or ""),
        defaults_id=known.configurations.get(row.get("defaults") or ""),
    )


def _keep_configurations(rows: Collection[Row], known: dict[str, int]) -> None:
    texts = {
        text: parquet.json_of(row, name, dict[str, str])
        for row in rows
        for name in ("variables", "defaults")
        if (text := row.get(name)) is not None and text not in known
    }
    for text, variables in texts.items():
        kept, _ = Configuration.objects.get_or_create(
            content_hash=canonical_hash(variables), defaults={"variables": variables}
        )
        known[text] = kept.pk


def _metrics(tables: Mapping[str, list[Row]], metrics: dict[str, Metric]) -> dict[str, Metric]:
    """Adds to `metrics` those of all rows; the ones that are new here get the archived description."""
    rows = {row["metric"]: row for name in ("series", "measurements", "distributions") for row in tables[name]}
    constants = {key for row in tables["nodes"] for key in parquet.json_of(row, "constants", _Constants)}
    missing = {*rows, *constants} - metrics.keys()
    if not missing:
        return metrics
    known = set(Metric.objects.filter(key__in=missing).values_list("key", flat=True))
    found = metrics_for(missing, most_new=limits.SERIES)
    new = [found[key] for key in rows.keys() & missing - known]
    for metric in new:
        for name, attribute in METRIC_FIELDS.items():
            setattr(metric, attribute, rows[metric.key][name])
    Metric.objects.bulk_update(new, list(METRIC_FIELDS.values()))
    metrics |= found
    return metrics


def _series(run: Run, row: Row, metrics: Mapping[str, Metric], found: refill.Filled) -> Series:
    place = found.places.get((row["node"], row["metric"]))
    if place is None:
        raise Damaged(f"the archived series {row['metric']:.80} of run {run.uid} is there twice or has no samples")
    return Series(
        run=run,
        metric=metrics[row["metric"]],
        node=row["node"],
        base=place.base,
        offset=place.offset,
        length=place.length,
        **{name: row[name] for name in STATISTICS_FIELDS},
    )


def _event(run: Run, row: Row) -> Event:
    return Event(
        run=run,
        kind=row["event"],
        label=row["label"],
        starts_at=row["starts_at"],
        ends_at=row["ends_at"],
        node=row["node_name"],
        detail=parquet.json_of(row, "detail", dict[str, Any]),
        from_output=bool(row.get("from_output")),  # absent in older archives
    )


def _artifact(run: Run, row: Row) -> Artifact:
    return Artifact(
        run=run,
        name=row["artifact"],
        sha256=row["artifact_sha256"],
        size=row["size"],
        media_type=row["media_type"],
    )


def _born(run: Run, row: Row, metrics: Mapping[str, Metric], artifacts: Mapping[str, Artifact]) -> dict[str, Any]:
    if row["artifact"] not in artifacts:
        raise Damaged(f"the archived {row['metric']:.80} of run {run.uid} was read from a file that is not there")
    return {
        "run": run,
        "metric": metrics[row["metric"]],
        "artifact": artifacts[row["artifact"]],
        **{name: row[name] for name in BIRTH_FIELDS},
    }
