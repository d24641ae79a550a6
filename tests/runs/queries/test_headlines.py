"""Percentiles and distributions from a histogram that a checkpoint has parted from the count of events."""

import re

import pytest

from apps.runs.tool_output import sysbench_values as reading
from apps.runs.tool_output.parsers import sysbench
from tests.paths import RECORDINGS

OUTPUT = (RECORDINGS / "own" / "oltp_write_only_t2_checkpoint2_hist.txt").read_text()
EVENTS = int(re.findall(r"total number of events:\s+(\d+)", OUTPUT)[-1])


def parsed(*, events_too_many: int) -> sysbench.ParsedSysbench:
    """The output with its last count of events raised by so many."""
    head, _, tail = OUTPUT.rpartition("total number of events:")
    output = tail.replace(str(EVENTS), str(EVENTS + events_too_many), 1)
    return sysbench.parse(f"{head}total number of events:{output}".encode())


@pytest.mark.parametrize(("too_many", "is_read"), [(1, True), (20, False)])
def test_percentiles_are_read_as_long_as_their_rank_is_known(too_many: int, is_read: bool) -> None:
    found = {headline.metric for headline in reading.headlines(parsed(events_too_many=too_many))}
    assert ("client.latency.p99" in found) is is_read
    assert "client.latency.p95" in found, "sysbench printed it itself"


@pytest.mark.parametrize(("too_many", "is_kept"), [(1, True), (20, False)])
def test_a_distribution_is_kept_as_long_as_it_holds_the_events(too_many: int, is_kept: bool) -> None:
    assert bool(reading.distributions(parsed(events_too_many=too_many))) is is_kept


def test_a_distribution_names_the_lines_and_the_seconds_that_it_covers() -> None:
    (read,) = reading.distributions(sysbench.parse(OUTPUT.encode()))
    lines = OUTPUT[read.byte_start : read.byte_end].splitlines()
    assert [int(line.split()[-1]) for line in lines if line] == list(read.distribution.counts)
    assert (read.metric, read.distribution.grid.id) == ("client.latency", "sysbench:1024:0.001:100000")
    assert read.distribution.count == pytest.approx(EVENTS, abs=2)
    # From the checkpoint at second 2 to the end.
    assert (read.starts_at, read.ends_at) == reading.measured_phase(sysbench.parse(OUTPUT.encode()))
    assert read.starts_at == pytest.approx(2.0, abs=0.01)


def test_an_output_off_sysbenchs_grid_or_without_a_histogram_has_no_distribution() -> None:
    first = re.search(r"^ *(\d+\.\d{3}) \|", OUTPUT, re.MULTILINE)
    assert first is not None
    off = OUTPUT.replace(first[1], f"{float(first[1]) + 0.001:.3f}", 1)
    assert reading.distributions(sysbench.parse(off.encode())) == []
    without = (RECORDINGS / "sysbench_single" / "oltp_read_write_t4_p99.txt").read_bytes()
    assert reading.distributions(sysbench.parse(without)) == []
