"""Errors a second of outputs that state how many errors there were, not how fast they came."""

import pytest

from apps.runs.tool_output.formats import SUBMITTED
from tests.runs.tool_output.parsers.outputs import content

ONE_FAILED = b"[Summary] PAYMENT_ERR - Takes(s): 11.0, Count: 7, TPM: 38.2, Sum(ms): 1.0, Avg(ms): 1.0\ntpmC:"


@pytest.mark.parametrize(
    ("name", "file", "failed"),
    [
        ("ycsb", "ycsb/workloada.txt", 2),
        ("go-ycsb", "go_ycsb/run.txt", 0),
        ("go-tpc", "go_tpc/tpcc.txt", 7),
        ("tpcc-mysql", "tpcc_mysql/two_intervals.txt", 1),
        ("iibench-py", "iibench_py/tabs.txt", 3),
        ("pgbench", "pgbench/version_18.txt", 232),
    ],
)
def test_a_number_of_errors_gives_a_rate_at_the_bytes_of_both(name: str, file: str, failed: int) -> None:
    text = content(file).replace(b"tpmC:", ONE_FAILED) if name == "go-tpc" else content(file)
    values = {one.metric: one for one in SUBMITTED[name].read(text).output.headlines}
    rate, total, elapsed = (values[f"client.{what}"] for what in ("errors", "errors.total", "elapsed"))
    assert total.value == failed
    assert rate.value == pytest.approx(failed / elapsed.value)
    assert rate.byte_start <= total.byte_start < total.byte_end <= rate.byte_end


def test_an_output_that_does_not_count_errors_has_no_rate() -> None:
    found = SUBMITTED["iibench-py"].read(content("iibench_py/form_2009.txt")).output.headlines
    assert not any("errors" in one.metric for one in found)
