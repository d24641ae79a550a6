"""What is called by two names."""

import pytest

from apps.core.names import with_tool


@pytest.mark.parametrize(
    ("tool", "name", "words"),
    [
        ("sysbench", "oltp_read_only", "sysbench oltp_read_only"),
        ("asyncload", "asyncload", "asyncload"),
        ("sysbench_oltp", "sysbench OLTP", "sysbench OLTP"),
        ("app_ingest", "Application ingest, primary_key=composite", "Application ingest, primary_key=composite"),
        ("ddl_under_load", "my own ALTER", "ddl_under_load my own ALTER"),
    ],
)
def test_a_workload_is_called_by_its_tool_once(tool: str, name: str, words: str) -> None:
    assert with_tool(tool, name) == words
