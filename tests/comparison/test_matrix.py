"""The matrix: every shared workload and load level in one table, with Compare's numbers."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from apps.catalog.models import HardwareClass, System, Workload
from apps.comparison import compare
from apps.comparison.comparability.acknowledgements import acknowledge
from apps.comparison.selection.sides import UnknownSide
from apps.comparison.stats.multiple_testing import false_discovery_control
from apps.comparison.tables.matrix import LATENCY, PRIMARY, Matrix, MatrixRow, compare_systems
from apps.core.problems import Invalid
from apps.runs.models import Run
from tests.support.builders import START, a_campaign, a_load_level, a_measured_run, a_system, a_user, a_workload

pytestmark = pytest.mark.django_db

TPS, P95, P99 = "client.throughput", "client.latency.p95", "client.latency.p99"
A = (1000.0, 1012.0, 991.0)
B = (1302.0, 1318.0, 1287.0)


def measure(
    system: System, workload: Workload, values: tuple[float, ...], *, threads: int = 4, **fields: object
) -> list[Run]:
    return [
        a_measured_run(
            {TPS: value, P95: 20_000 / value, P99: 30_000 / value},
            system=system,
            workload=workload,
            load_level=a_load_level(threads),
            repetition=number + 1,
            started_at=START + timedelta(minutes=number),
            ended_at=START + timedelta(minutes=number + 1),
            **fields,
        )
        for number, value in enumerate(values)
    ]


@pytest.fixture
def reads() -> Workload:
    return a_workload("oltp_read_only")


@pytest.fixture
def writes() -> Workload:
    return a_workload("oltp_write_only")


def _measured(reads: Workload, writes: Workload) -> None:
    a, b, c = a_system("a"), a_system("b"), a_system("c")
    measure(a, reads, A), measure(b, reads, B), measure(c, reads, A[:1])
    measure(a, reads, A, threads=16), measure(b, reads, A[::-1], threads=16)
    measure(a, writes, B), measure(b, writes, A), measure(c, writes, (1305.0, 1330.0, 1260.0))


def _row(matrix: Matrix, workload: Workload, threads: int, metric: str = TPS) -> MatrixRow:
    return next(
        row
        for row in matrix.rows
        if (row.workload.id, row.level.threads, row.metric.key) == (workload.pk, threads, metric)
    )


def test_a_row_is_a_workload_at_a_load_level_with_a_cell_for_each_side(reads: Workload, writes: Workload) -> None:
    _measured(reads, writes)
    matrix = compare_systems(sides=["a", "b", "c"], metrics=[PRIMARY])
    assert [(row.workload.name, row.level.threads, row.metric.key) for row in matrix.rows] == [
        ("oltp_read_only", 4, TPS),
        ("oltp_read_only", 16, TPS),
        ("oltp_write_only", 4, TPS),
    ]
    assert [[cell.side for cell in row.cells] for row in matrix.rows] == [["a", "b", "c"]] * 3
    assert [[cell.words for cell in row.cells] for row in matrix.rows] == [
        ["", "better", "too few repetitions"],
        ["", "inconclusive", "no runs"],
        ["", "worse", "inconclusive"],
    ]
    assert [(side.slug, side.position, side.runs) for side in matrix.sides] == [("a", 0, 9), ("b", 1, 9), ("c", 2, 4)]


def test_values_ratios_intervals_and_p_are_those_of_compare(reads: Workload, writes: Workload) -> None:
    _measured(reads, writes)
    matrix = compare_systems(sides=["a", "b", "c"])
    checked = 0
    for row in matrix.rows:
        for own in row.cells[1:]:
            alone = compare.compare(sides=["a", own.side], workload_id=row.workload.id)
            if not own.replicates:
                continue
            cell = alone.cell(side=own.side, level=row.level.id, metric=row.metric.key)
            assert own.ratio is not None
            assert cell.ratio is not None
            names = ("value", "low", "high", "p", "delta")
            assert [getattr(own.ratio, name) for name in names] == [getattr(cell.ratio, name) for name in names]
            assert (own.summary, own.replicates, own.history) == (cell.summary, cell.replicates, cell.history)
            checked += 1
    assert checked == 10


def test_differences_are_corrected_for_the_whole_table(reads: Workload, writes: Workload) -> None:
    _measured(reads, writes)
    matrix = compare_systems(sides=["a", "b", "c"], metrics=[TPS])
    ratios = [cell.ratio for row in matrix.rows for cell in row.cells if cell.ratio and cell.ratio.p is not None]
    assert matrix.tests == len(ratios) == 4
    cautious = [getattr(ratio, "cautious_p", None) or ratio.p or 1.0 for ratio in ratios]
    assert [ratio.adjusted_p for ratio in ratios] == pytest.approx(false_discovery_control(cautious))


def test_another_baseline_turns_ratios_and_verdicts_over(reads: Workload, writes: Workload) -> None:
    _measured(reads, writes)
    one = compare_systems(sides=["a", "b"], metrics=[PRIMARY])
    other = compare_systems(sides=["b", "a"], metrics=[PRIMARY])
    turned = {"better": "worse", "worse": "better"}
    for row, mirrored in zip(one.rows, other.rows, strict=True):
        here, there = row.cells[1].ratio, mirrored.cells[1].ratio
        assert here is not None
        assert there is not None
        assert here.value == pytest.approx(1 / (there.value or 0))
        assert here.low == pytest.approx(1 / (there.high or 0))
        assert turned.get(row.cells[1].words, row.cells[1].words) == mirrored.cells[1].words


def test_a_metric_is_a_key_or_the_percentile_that_most_runs_have(reads: Workload, writes: Workload) -> None:
    _measured(reads, writes)
    latency = compare_systems(sides=["a", "b"], metrics=[LATENCY])
    assert {row.metric.key for row in latency.rows} == {P95}
    p99 = compare_systems(sides=["a", "b"], metrics=[P99])
    assert {row.metric.key for row in p99.rows} == {P99}
    assert _row(p99, reads, 4, P99).cells[1].words == "better"


def test_other_hardware_withholds_verdicts_as_compare_does(reads: Workload) -> None:
    large = HardwareClass.objects.create(slug="large", name="large", vcpu=8, memory_bytes=32 * 2**30)
    a, b = a_system("a"), a_system("b", hardware_class=large)
    measure(a, reads, A), measure(b, reads, B)
    (row,) = compare_systems(sides=["a", "b"], metrics=[PRIMARY]).rows
    assert row.cells[1].words == "verdict withheld"
    assert row.cells[1].ratio is not None
    alone = compare.compare(sides=["a", "b"], workload_id=reads.pk)
    acknowledge(differences=alone.obstacles, by=a_user(), reason="the larger one is what is offered")
    (row,) = compare_systems(sides=["a", "b"], metrics=[PRIMARY]).rows
    assert row.cells[1].words == "better"


def test_workloads_that_only_one_side_ran_are_not_shared(reads: Workload, writes: Workload) -> None:
    a, b = a_system("a"), a_system("b")
    measure(a, reads, A), measure(b, writes, B)
    assert compare_systems(sides=["a", "b"]).rows == ()


def test_a_tool_or_a_campaign_narrows_the_table(reads: Workload, writes: Workload) -> None:
    _measured(reads, writes)
    matrix = compare_systems(sides=["a", "b"], metrics=[PRIMARY], tool="tpcc")
    assert (matrix.rows, matrix.tools) == ((), ("sysbench",))
    campaign = a_campaign(System.objects.get(slug="a"), System.objects.get(slug="b"))
    assert compare_systems(sides=["a", "b"], campaign=campaign.pk).rows == ()


def test_queries_do_not_grow_with_runs_workloads_levels_or_sides(reads: Workload, writes: Workload) -> None:
    a, b = a_system("a"), a_system("b")
    measure(a, reads, A), measure(b, reads, B)
    with CaptureQueriesContext(
        connection,
    ) as few:
        compare_systems(sides=["a", "b"])
    _more(reads, writes, a, b)
    with CaptureQueriesContext(connection) as matrix:
        compare_systems(sides=["a", "b", "c"])
    assert len(matrix) == len(few)


def _more(reads: Workload, writes: Workload, a: System, b: System) -> None:
    c = a_system("c")
    for threads in (1, 4, 16):
        for system in (a, b, c):
            for workload in (reads, writes, a_workload("oltp_insert")):
                measure(system, workload, A, threads=threads)


def test_sides_that_cannot_be_are_refused(reads: Workload) -> None:
    a_system("a")
    for sides in (["a"], ["a", "a"], [f"s{number}" for number in range(9)]):
        with pytest.raises(Invalid):
            compare_systems(sides=sides)
    with pytest.raises(UnknownSide, match="no system 'gone'"):
        compare_systems(sides=["a", "gone"])


def test_a_metric_that_is_not_there_is_refused(reads: Workload) -> None:
    a, b = a_system("a"), a_system("b")
    measure(a, reads, A), measure(b, reads, B)
    with pytest.raises(Invalid, match=r"no metric 'client\.thruput'"):
        compare_systems(sides=["a", "b"], metrics=["client.thruput"])
