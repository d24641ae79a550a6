"""Steps between reported values."""

import pytest

from apps.comparison.stats import welch
from apps.comparison.stats.replicates import Sample
from apps.comparison.stats.resolution import GO_TPC, printed_step, resolution
from apps.comparison.stats.welch import Verdict
from tests.runs.tool_output.parsers.outputs import parsed


@pytest.mark.parametrize(
    ("tool", "key", "step"),
    [
        ("sysbench", "client.latency.p95", 0.01),
        ("fileio", "client.latency.p95", 0.01),
        ("cpu", "client.latency.avg", 0.01),
        ("fileio", "client.file_reads", 0.01),
        ("sysbench", "client.throughput", 0.0),
        ("ddl_under_load", "ddl.gap", 0.05),
        ("ddl_under_load", "ddl.duration", 0.0),
        ("iibench", "client.latency.p95", 0.0),
        ("mysqlslap", "client.execution_time.avg", 0.001),
        ("go-tpc", "client.new_order.latency.p95", 0.524288),
        ("go-tpc", "client.new_order.latency.avg", 0.0),
        ("go-tpc", "client.throughput", 0.0),
    ],
)
def test_a_value_is_as_fine_as_its_tool_reports_it(tool: str, key: str, step: float) -> None:
    assert printed_step(key, tool=tool) == step


def test_percentiles_of_sysbenchs_machine_tests_lie_on_its_grid() -> None:
    known = resolution("client.latency.p95", tool="sysbench", grids=())
    assert known > 0.01
    assert resolution("client.latency.p95", tool="fileio", grids=()) == known
    assert resolution("client.latency.avg", tool="fileio", grids=()) == 0.0


def test_percentiles_of_fio_and_go_tpc_lie_on_their_grids_without_a_histogram() -> None:
    assert resolution("client.file_read.latency.p99.9", tool="fio", grids=()) == 1 / 64
    assert resolution("client.payment.latency.p99", tool="go-tpc", grids=()) == 1 / 16
    assert resolution("client.payment.latency.avg", tool="go-tpc", grids=()) == 0.0


def test_what_go_tpc_printed_lies_on_the_grid_that_is_assumed() -> None:
    printed = [each.value for each in parsed("go_tpc/tpcc.txt").values if ".latency.p" in each.metric]
    assert len(printed) > 10
    for value in printed:
        assert GO_TPC.value(GO_TPC.bucket(value - 0.1)) == pytest.approx(value, abs=0.05)


def test_executions_that_are_alike_to_the_printed_millisecond_may_differ_by_it() -> None:
    step = printed_step("client.execution_time.avg", tool="mysqlslap") / 0.018
    found = welch.compare(*(Sample((0.018, 0.018, 0.018), resolution=step) for _ in "ab"))
    assert found.verdict is Verdict.INCONCLUSIVE
    assert found.low is not None
    assert found.low < 0.95


def test_a_slow_disk_is_read_from_the_two_decimals_that_are_printed() -> None:
    assert printed_step("client.file_write_mib", tool="fileio") == 0.01
    assert printed_step("client.events", tool="cpu") == 0.01
    assert printed_step("client.file_write_mib", tool="sysbench_oltp") == 0
