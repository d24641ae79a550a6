"""Percentiles from a histogram that a checkpoint has parted from the count of events."""

import re

import pytest

from apps.runs import headlines
from apps.runs.parsers import sysbench
from tests.runs.uploads import RECORDINGS

OUTPUT = (RECORDINGS / "own" / "oltp_write_only_t2_checkpoint2_hist.txt").read_text()
EVENTS = int(re.findall(r"total number of events:\s+(\d+)", OUTPUT)[-1])


def metrics(*, events_too_many: int) -> set[str]:
    """Of the output with its last count of events raised by so many."""
    head, _, tail = OUTPUT.rpartition("total number of events:")
    told = tail.replace(str(EVENTS), str(EVENTS + events_too_many), 1)
    parsed = sysbench.parse(f"{head}total number of events:{told}".encode())
    return {headline.metric for headline in headlines.headlines(parsed)}


@pytest.mark.parametrize(("too_many", "is_read"), [(1, True), (20, False)])
def test_percentiles_are_read_as_long_as_their_rank_is_known(too_many: int, is_read: bool) -> None:
    found = metrics(events_too_many=too_many)
    assert ("client.latency.p99" in found) is is_read
    assert "client.latency.p95" in found, "sysbench printed it itself"
