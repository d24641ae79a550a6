"""Findings with changes, for tests about what people do with them."""

from typing import Any

from apps.catalog.models import Release, System
from apps.regressions.findings import reconcile
from apps.regressions.findings.reconcile import DetectedChange, FindingKey
from apps.regressions.models import Change, Finding
from tests.support.builders import a_measured_run, a_metric, a_system, a_workload


def a_pair(platform: Any = None, version: str = "10.11.20") -> tuple[System, System]:
    """A system of a release and one of the next."""
    before = a_system(**({"platform": platform} if platform else {}))
    numbers = [int(number) for number in version.split(".")]
    release = Release.objects.get_or_create(
        platform=before.release.platform, version=version, defaults={"version_key": numbers}
    )[0]
    return before, a_system(platform=release.platform, release=release)


def a_detected_change(
    before: System, after: System, *, test: str = "oltp_write_only", ratio: float = 0.88, **fields: Any
) -> tuple[FindingKey, DetectedChange]:
    """A change of throughput by `ratio`, with two runs on each side that lasted 30 s after a warm-up of 5 s."""
    workload = a_workload(test)
    runs: dict[str, list[Any]] = {"before": [], "after": []}
    for side, system, value in (("before", before, 100.0), ("after", after, 100.0 * ratio)):
        for _ in range(2):
            times = {"warmup": 5.0, "duration": 30.0}
            runs[side].append(a_measured_run({"client.throughput": value}, system=system, workload=workload, **times))
    place = FindingKey(
        kind="change",
        family="sysbench",
        platform=after.release.platform,
        hardware_class=after.hardware_class,
        release=after.release,
        baseline=before.release,
    )
    change: dict[str, Any] = {
        "kind": "release",
        "verdict": "worse" if ratio < 1 else "better",
        "system": after.pk,
        "baseline_system": before.pk,
        "workload": workload.pk,
        "load_level": runs["after"][0].load_level_id,
        "metric": a_metric().pk,
        "before": 100.0,
        "after": 100.0 * ratio,
        "ratio": ratio,
        "low": ratio - 0.02,
        "high": ratio + 0.03,
        "p": 0.001,
        "runs_before": tuple(run.pk for run in runs["before"]),
        "runs_after": tuple(run.pk for run in runs["after"]),
        **fields,
    }
    return place, DetectedChange(**change)


def a_finding(*tests: str, pair: tuple[System, System] | None = None, ratio: float = 0.88, **fields: Any) -> Finding:
    """One with a change of each of `tests` (workloads), as a look would have found it; `fields` are set afterwards."""
    before, after = pair or a_pair()
    changes = [a_detected_change(before, after, test=test, ratio=ratio) for test in tests or ("oltp_write_only",)]
    (finding,) = reconcile.settle(changes)
    for name, value in fields.items():
        setattr(finding, name, value)
    finding.save()
    return finding


def gone(*findings: Finding) -> None:
    """Newer runs do not bear out any of their changes."""
    reconcile.settle([], looked_at=list(Change.objects.filter(finding__in=findings)))
