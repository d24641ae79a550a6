"""Steps between reported values."""

import pytest

from apps.comparison.stats.resolution import printed_step, resolution


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
    ],
)
def test_a_value_is_as_fine_as_its_tool_reports_it(tool: str, key: str, step: float) -> None:
    assert printed_step(key, tool=tool) == step


def test_percentiles_of_sysbenchs_machine_tests_lie_on_its_grid() -> None:
    known = resolution("client.latency.p95", tool="sysbench", grids=())
    assert known > 0.01
    assert resolution("client.latency.p95", tool="fileio", grids=()) == known
    assert resolution("client.latency.avg", tool="fileio", grids=()) == 0.0


def test_a_slow_disk_is_read_from_the_two_decimals_that_are_printed() -> None:
    assert printed_step("client.file_write_mib", tool="fileio") == 0.01
    assert printed_step("client.events", tool="cpu") == 0.01
    assert printed_step("client.file_write_mib", tool="sysbench_oltp") == 0
