"""Sides of a comparison: systems, under its workload or one of their own."""

import pytest

from apps.catalog.models import System, Workload
from apps.comparison import compare
from apps.core.problems import Invalid
from apps.runs.models import Run
from tests.support.builders import a_measured_run, a_system, a_workload

pytestmark = pytest.mark.django_db

TPS = "client.throughput"
A = (1000.0, 1012.0, 991.0)


def runs_of(system: System, values: tuple[float, ...], *, workload: Workload | None = None) -> list[Run]:
    return [
        a_measured_run({TPS: value}, system=system, workload=workload or a_workload(), repetition=number + 1)
        for number, value in enumerate(values)
    ]


def test_a_side_may_be_a_system_under_a_workload_of_its_own() -> None:
    workload, a = a_workload(), a_system("a")
    large = a_workload(table_size=20_000)
    small_runs = runs_of(a, A)
    large_runs = runs_of(a, tuple(value / 2 for value in A), workload=large)
    found = compare.compare(sides=[a.slug, f"{a.slug}:{large.pk}"], workload_id=workload.pk)
    assert [side.name for side in found.sides] == ["a", "a, table_size 20000"]
    assert {(run.side, run.id) for run in found.counted} == {
        *((a.slug, run.pk) for run in small_runs),
        *((f"{a.slug}:{large.pk}", run.pk) for run in large_runs),
    }
    ratio = found.cell(side=f"{a.slug}:{large.pk}", level=found.levels[0].id, metric=TPS).ratio
    assert ratio is not None
    assert ratio.value == pytest.approx(0.5)


def test_a_side_under_the_comparisons_own_workload_is_the_system_itself() -> None:
    workload, a = a_workload(), a_system("a")
    with pytest.raises(Invalid, match="each side may be chosen once"):
        compare.compare(sides=[a.slug, f"{a.slug}:{workload.pk}"], workload_id=workload.pk)
    with pytest.raises(Invalid, match="names no workload after the colon"):
        compare.compare(sides=[a.slug, f"{a.slug}:x"], workload_id=workload.pk)
