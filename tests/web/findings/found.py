"""A finding with what it rests on: runs of two releases, the later slower and waiting for its redo log."""

from datetime import timedelta

from apps.catalog.models import Release, System
from apps.regressions.findings import reconcile
from apps.regressions.findings.reconcile import DetectedChange, FindingKey
from apps.regressions.models import Finding
from apps.runs.models import Run
from apps.use_method.engine import VERSION
from apps.use_method.models import UsePanel
from apps.use_method.panels.panels import to_json
from apps.use_method.values import Panel, Reading, UseLevel
from tests.support.builders import START, a_load_level, a_measured_run, a_metric, a_system, a_workload

TPS = "client.throughput"
BEFORE = (1000.0, 1012.0, 991.0, 1005.0, 996.0)
AFTER = (880.0, 871.0, 889.0, 884.0, 876.0)


def a_release(version: str) -> System:
    """A system of its own of that release of MariaDB, on the small machine."""
    system = a_system(f"mariadb-{version.replace('.', '-')}", name=f"MariaDB {version}")
    key = [int(part) for part in version.split(".")]
    system.release = Release.objects.get_or_create(
        platform=system.release.platform, version=version, defaults={"version_key": key}
    )[0]
    system.save()
    return system


def measured(system: System, values: tuple[float, ...], *, test: str, waits: float, day: int) -> list[Run]:
    """Runs with these throughputs, judged: the server waited for its log buffer so often a second."""
    runs = [
        a_measured_run(
            {TPS: value},
            system=system,
            workload=a_workload(test),
            load_level=a_load_level(4),
            repetition=place + 1,
            started_at=START + timedelta(days=day, minutes=place),
        )
        for place, value in enumerate(values)
    ]
    for run in runs:
        level = UseLevel.SATURATED if waits else UseLevel.OK
        readings = (
            Reading("redo_log.waits", "db1", level, waits * 60, "waits for the log buffer"),
            Reading("cpu.busy", "db1", UseLevel.OK, 40.0, "highest 50 %"),
        )
        panel = Panel((0.0, 60.0), (("db1", "writer"),), readings)
        UsePanel.objects.create(run=run, version=VERSION, sealed_at=run.sealed_at, content=to_json(panel))
    return runs


def a_finding(
    test: str = "oltp_write_only",
    *,
    after: tuple[float, ...] = AFTER,
    versions: tuple[str, str] = ("10.11.19", "10.11.20"),
    family: str = "sysbench",
) -> Finding:
    """The later of two releases is slower than the earlier, five runs each."""
    a_metric(TPS, name="Throughput")
    systems = [
        System.objects.filter(release__version=version, slug__startswith="mariadb-").first() or a_release(version)
        for version in versions
    ]
    runs = [
        measured(system, values, test=test, waits=waits, day=day)
        for day, (system, values, waits) in enumerate(zip(systems, (BEFORE, after), (0.0, 340.0), strict=True))
    ]
    earlier, later = systems
    before, now = sum(BEFORE) / len(BEFORE), sum(after) / len(after)
    place = FindingKey("change", family, later.release.platform, later.hardware_class, later.release, earlier.release)
    change = DetectedChange(
        kind="release",
        verdict="worse" if now < before else "better",
        system=later.pk,
        baseline_system=earlier.pk,
        workload=a_workload(test).pk,
        load_level=a_load_level(4).pk,
        metric=a_metric(TPS).pk,
        before=before,
        after=now,
        ratio=now / before,
        low=now / before - 0.02,
        high=now / before + 0.02,
        p=0.0004,
        runs_before=tuple(run.pk for run in runs[0]),
        runs_after=tuple(run.pk for run in runs[1]),
    )
    (finding,) = reconcile.settle([(place, change)])
    return finding
