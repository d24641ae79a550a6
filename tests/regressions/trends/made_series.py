"""Builders of histories: runs of one series in the database."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import numpy as np

from apps.catalog.models import Platform, Release, System
from apps.regressions.models import Finding, Trend
from apps.regressions.trends import follow
from apps.runs.models import Artifact, Measurement, Run
from tests.support.builders import START, a_load_level, a_system, a_workload


def a_release(version: str) -> System:
    """A system of this release, its settings and hardware those of all others."""
    platform = Platform.objects.get_or_create(slug="mariadb", defaults={"name": "MariaDB"})[0]
    key = [int(number) for number in version.split(".")]
    release = Release.objects.get_or_create(platform=platform, version=version, defaults={"version_key": key})[0]
    return System.objects.filter(release=release).first() or a_system(f"mariadb-{version}", release=release)


def values(*, runs: int, changes: Sequence[tuple[int, float]] = (), seed: int = 1, noise: float = 0.01) -> list[float]:
    """Around 1,000, from each place on by a factor of the first level."""
    made = 1000 * np.exp(np.random.default_rng(seed).normal(0, noise, runs))
    for place, factor in changes:
        made[place:] = made[place:] * factor
    return [float(value) for value in made]


def runs_of(system: System, numbers: Sequence[float], *, day: int = 0, **fields: Any) -> list[Run]:
    """Measured an hour apart, from `day` on; as a_measured_run makes them, all at once."""
    workload = fields.pop("workload", None) or a_workload()
    starts = [START + timedelta(days=day, hours=hour) for hour in range(len(numbers))]
    shared = {
        "provenance": "agent",
        "duration": 60,
        "system": system,
        "workload": workload,
        "load_level": fields.pop("load_level", None) or a_load_level(),
        "state": "sealed",
        "outcome": "succeeded",
        "sealed_at": START,
        **fields,
    }
    runs = Run.objects.bulk_create(Run(started_at=at, ended_at=at + timedelta(minutes=1), **shared) for at in starts)
    files = Artifact.objects.bulk_create(Artifact(run=run, name="out.txt", sha256="0" * 64, size=10) for run in runs)
    Measurement.objects.bulk_create(
        Measurement(
            run=run,
            metric=workload.primary_metric,
            value=value,
            artifact=file,
            byte_start=0,
            byte_end=10,
            parser="sysbench",
            parser_version="1",
        )
        for run, file, value in zip(runs, files, numbers, strict=True)
    )
    return runs


def followed(runs: Sequence[Run]) -> list[Finding]:
    """Run by run; what happened to findings, in order."""
    return [finding for run in runs for finding in follow.follow_run(run.pk)]


def a_trend() -> Trend:
    """Of two releases, the second slower by 15 %, with a change of conditions after it."""
    numbers = values(runs=26, changes=[(12, 0.85)])
    runs = runs_of(a_release("11.4.1"), numbers[:12])
    runs += runs_of(a_release("11.4.2"), numbers[12:24], day=2)
    runs += runs_of(a_release("11.4.2"), numbers[24:], day=3, duration=120)
    followed(runs[-1:])
    return Trend.objects.get(workload=runs[0].workload, load_level=runs[0].load_level)
