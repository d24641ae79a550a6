"""Two releases of one platform on one machine, with runs whose throughput is given."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

from apps.catalog.models import HardwareClass, Platform, Release, System, Workload
from apps.catalog.services import version_key
from apps.dispatch.models import Job, JobRun
from apps.regressions.releases.values import CheckRow, ReleaseCheck, RowVerdict, answer
from apps.runs.models import Run
from tests.support.builders import START, a_load_level, a_measured_run, a_system, a_workload

OLD, NEW = "10.11.19", "10.11.20"
# Runs of one level, and the same 12 % slower.
STEADY = (1000.0, 1001.0, 999.0)
SLOWER = (880.0, 881.0, 879.0)


def a_release(version: str = NEW) -> Release:
    platform = Platform.objects.get_or_create(slug="mariadb", name="MariaDB")[0]
    defaults = {"version_key": version_key(version)}
    return Release.objects.get_or_create(platform=platform, version=version, defaults=defaults)[0]


def a_system_of(version: str, slug: str = "", **fields: Any) -> System:
    return a_system(slug or f"system-{version}", release=a_release(version), **fields)


def measure(
    system: System,
    values: Sequence[float] = STEADY,
    *,
    workload: Workload | None = None,
    threads: int = 4,
    rate: float | None = None,
    metrics: Mapping[str, float] | None = None,
    job: Job | None = None,
    day: int = 0,
    **fields: Any,
) -> list[Run]:
    """A run for each throughput, each on a day of its own from `day` on; `job`: of which they came."""
    runs = [
        a_measured_run(
            {"client.throughput": value, **(metrics or {})},
            system=system,
            workload=workload or a_workload(),
            load_level=a_load_level(threads, rate),
            started_at=START + timedelta(days=day + number),
            ended_at=START + timedelta(days=day + number, minutes=1),
            **{"repetition": number + 1, **fields},
        )
        for number, value in enumerate(values)
    ]
    JobRun.objects.bulk_create(JobRun(run=run, job=job, attempt=1) for run in runs if job)
    return runs


def two_releases(before: Sequence[float] = STEADY, after: Sequence[float] = SLOWER) -> tuple[System, System]:
    old, new = a_system_of(OLD), a_system_of(NEW)
    measure(old, before)
    measure(new, after)
    return old, new


def the_hardware() -> HardwareClass:
    return HardwareClass.objects.get(slug="small")


def a_row(verdict: RowVerdict, **fields: object) -> CheckRow:
    plain = dict.fromkeys(("tool", "workload", "level", "metric", "metric_name", "unit", "baseline_system"), "x")
    ids = dict.fromkeys(("workload_id", "level_id", "threads", "metric_id", "baseline_system_id"), 1)
    row = CheckRow(verdict=verdict, rate=None, direction="higher", **plain, **ids)  # type: ignore[arg-type]
    return replace(row, **fields)  # type: ignore[arg-type]


def a_check(*rows: CheckRow, baseline: str = OLD) -> ReleaseCheck:
    """Of MariaDB on the hardware "small", without the database."""
    result, why = answer(rows, baseline=baseline, tolerance=0.1)
    return ReleaseCheck(
        platform_id=1,
        platform="mariadb",
        platform_name="MariaDB",
        release_id=2,
        release=NEW,
        baseline_id=1,
        baseline=baseline,
        hardware_id=1,
        hardware="small",
        hardware_name="small",
        lines=(),
        rows=rows,
        tests=len(rows),
        result=result,
        why=why,
        notes=(),
        tolerance=0.1,
        checked_at=START,
    )
