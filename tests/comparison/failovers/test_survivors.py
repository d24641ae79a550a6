"""Beside an outage the latency of what succeeded is no verdict."""

import pytest

from apps.catalog.models import Workload
from apps.comparison import compare
from apps.comparison.sections.all_metrics import everything
from apps.comparison.tables.matrix import LATENCY, compare_systems
from apps.web.compare.sections.all_metrics import summary
from tests.support.builders import START, a_measured_run, a_metric, a_system

pytestmark = pytest.mark.django_db
OUTAGE, P95, P99, WIDEST = "failover.outage", "client.latency.p95", "client.latency.p99", "client.latency.max"


@pytest.fixture
def workload() -> Workload:
    """Writes of the second system fail at once, those of the first wait until the outage ends."""
    workload = Workload.objects.create(
        tool="failover",
        name="kill_writer",
        parameters={"fault": "kill_writer"},
        content_hash="f" * 64,
        primary_metric=a_metric(OUTAGE, name="write outage", unit="s", direction="lower"),
    )
    for system, outage, latency in ((a_system("a"), 6.3, 3060.0), (a_system("b"), 8.47, 3.18)):
        for number in range(4):
            values = {OUTAGE: outage + number / 10, P95: latency + number / 100, P99: latency + number, WIDEST: 9.0}
            a_measured_run(values, system=system, workload=workload, started_at=START.replace(minute=number))
    return workload


def test_latency_of_what_succeeded_is_neither_better_nor_worse(workload: Workload) -> None:
    found = everything(compare.compare(sides=["a", "b"], workload_id=workload.pk))
    words = {
        one.metric.key: (one.cell.words, one.cell.ratio.reason if one.cell.ratio else "") for one in found.measured
    }
    why = "writes that failed have no latency"
    assert {key: words[key] for key in (P95, P99, WIDEST)} == dict.fromkeys((P95, P99, WIDEST), ("not judged", why))
    assert words[OUTAGE][0] == "worse"
    assert summary(found.measured).endswith(f"3 of latency are not judged: {why}")


def test_the_matrix_does_not_judge_it_either(workload: Workload) -> None:
    matrix = compare_systems(sides=["a", "b"], metrics=[LATENCY, P95])
    assert [row.cells[1].words for row in matrix.rows] == ["not judged"]
