"""BenchBase's windows of time: what a window without requests has, and the last one, in which the run ended."""

import pytest

from apps.runs import tool_output
from apps.runs.tool_output.parsers import benchbase
from tests.runs.tool_output.parsers.outputs import content


def test_a_window_without_a_request_has_no_latency() -> None:
    again = content("benchbase/tpcc.results.csv").splitlines(keepends=True)[1].replace(b"0,421", b"15,421", 1)
    found = benchbase.parse_csv(content("benchbase/tpcc.results.csv") + again)
    assert found.series["client.latency.p95"] == (21.702, 21.2, None, 21.702)
    assert found.series["client.throughput"][2] == 0
    assert found.clock == (5.0, 10.0, 15.0, 20.0)


def windows(*, seconds: int, window: int) -> bytes:
    """What BenchBase prints of 100 requests/s: those of a window by its length, however short the last one is."""
    starts = range(0, seconds, window)
    rates = (100 * min(window, seconds - start) / window for start in starts)
    rows = (f"{start},{rate:.3f},1.000\n" for start, rate in zip(starts, rates, strict=True))
    head = "Time (seconds),Throughput (requests/second),Average Latency (millisecond)\n"
    return (head + "".join(rows)).encode()


@pytest.mark.parametrize(("seconds", "window"), [(62, 5), (90, 60), (60, 5)])
def test_the_last_window_in_which_the_run_ended_lowers_no_throughput(seconds: int, window: int) -> None:
    found = benchbase.parse_csv(windows(seconds=seconds, window=window))
    whole = (seconds - 1) // window
    assert [(value.metric, value.value) for value in found.values] == [("client.throughput", 100)]
    assert found.series["client.throughput"] == (*[100.0] * whole, None)
    assert found.series["client.latency.avg"] == (*[1.0] * whole, 1.0)
    assert found.measured == (0.0, whole * window)


@pytest.mark.parametrize(("seconds", "last"), [(60, 100.0), (62, None)])
def test_the_last_window_keeps_its_throughput_where_the_summarys_time_covers_it(
    seconds: int, last: float | None
) -> None:
    summary = content("benchbase/tpcc.summary.json").replace(b"30000125042", b"%d000125042" % seconds)
    contents = {"benchbase-summary.json": summary, "benchbase-windows.csv": windows(seconds=seconds, window=5)}
    _, found = tool_output.read_kept("benchbase", contents, {})
    assert [row["client.throughput"] for row in found.intervals.values()][-2:] == [100.0, last]
