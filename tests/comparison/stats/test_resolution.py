"""Steps between reported values."""

import pytest

from apps.comparison.stats.resolution import printed_step


@pytest.mark.parametrize(
    ("tool", "key", "step"),
    [
        ("sysbench", "client.latency.p95", 0.01),
        ("sysbench", "client.throughput", 0.0),
        ("ddl_under_load", "ddl.gap", 0.05),
        ("ddl_under_load", "ddl.duration", 0.0),
        ("iibench", "client.latency.p95", 0.0),
    ],
)
def test_a_value_is_as_fine_as_its_tool_reports_it(tool: str, key: str, step: float) -> None:
    assert printed_step(key, tool=tool) == step
