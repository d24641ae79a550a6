"""The report format: what a tool of ours prints becomes headline values, series, distributions, events and verdicts."""

import json
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.core import limits
from apps.runs import tool_output
from apps.runs.samples.histograms import SYSBENCH

BODY = [
    '{"kind":"begin","tool":"failover","version":"1"}',
    '{"kind":"interval","t":1.0,"seconds":1.0,"threads":4,"counts":{"transactions":100,"errors":0},'
    '"values":{"latency.p95":19.6}}',
    '{"kind":"interval","t":3.0,"seconds":2.0,"threads":4,"counts":{"transactions":100,"errors":4},'
    '"values":{"latency.p95":null}}',
    '{"kind":"event","event":"fault","label":"kill -9 writer db1","from":1.5,"to":1.6,"node":"db1","detail":{"a":1}}',
    '{"kind":"error","t":1.7,"code":2013,"text":"Lost connection","count":4}',
    '{"kind":"check","check":"rows","label":"200 rows were acknowledged, 200 are there","held":true}',
    '{"kind":"probe","seq":1,"ok":1}',
    '{"kind":"histogram","from":1.0,"to":3.0,"buckets":[[1.007,40],[3.02,60]]}',
    '{"kind":"total","from":1.0,"to":3.0,"counts":{"transactions":100,"errors":4,"reads":30,"writes":20},'
    '"values":{"latency.p95":3.02,"failover.outage":1.25}}',
    '{"kind":"end"}',
]


def read(lines: list[str]) -> tool_output.Output:
    return tool_output.read("failover", ("\n".join(lines) + "\n").encode())


def test_totals_become_rates_sums_and_values() -> None:
    values = {headline.metric: headline.value for headline in read(BODY).headlines}
    assert values == {
        "client.elapsed": 2.0,
        "client.throughput": 50.0,
        "client.transactions": 100,
        "client.errors": 2.0,
        "client.errors.total": 4,
        "client.reads": 15.0,
        "client.writes": 10.0,
        "client.queries": 25.0,
        "client.latency.p95": 3.02,
        "failover.outage": 1.25,
    }


def test_a_headline_names_the_line_from_which_it_was_read() -> None:
    content = ("\n".join(BODY) + "\n").encode()
    for headline in tool_output.read("failover", content).headlines:
        assert content[headline.byte_start : headline.byte_end].startswith(b'{"kind":"total"')


def test_counts_become_rates_over_the_interval_that_was_measured() -> None:
    found = read(BODY).intervals
    assert found[1.0] == {
        "client.throughput": 100.0,
        "client.errors": 0.0,
        "client.threads": 4,
        "client.latency.p95": 19.6,
    }
    assert found[3.0]["client.throughput"] == 50.0
    assert found[3.0]["client.latency.p95"] is None


def test_events_errors_and_checks_stand_on_the_tools_clock() -> None:
    found = {event.kind: event for event in read(BODY).events}
    assert (found["fault"].starts_at, found["fault"].ends_at, found["fault"].node) == (1.5, 1.6, "db1")
    assert found["error"].detail == {"code": 2013, "count": 4, "level": "ERROR"}
    assert found["check"].detail["held"] is True


def test_a_check_that_did_not_hold_is_reported_as_a_failure() -> None:
    assert read(BODY).failures == ()
    broken = [line.replace('"held":true', '"held":false') for line in BODY]
    assert read(broken).failures == ("200 rows were acknowledged, 200 are there",)


def test_a_histogram_is_kept_on_its_grid() -> None:
    (found,) = read(BODY).distributions
    assert found.distribution.grid == SYSBENCH
    assert (found.starts_at, found.ends_at, found.distribution.count) == (1.0, 3.0, 100)
    assert found.distribution.percentile(95).value == pytest.approx(3.02)


def test_a_report_without_its_last_line_is_not_complete() -> None:
    assert read(BODY).complete
    assert not read(BODY[:-1]).complete
    assert not read(BODY[:3]).complete
    assert read(BODY[:3]).measured == (0.0, 3.0)


def test_a_line_that_breaks_the_grammar_is_shown_with_the_reason() -> None:
    bad = '{"kind":"interval","t":"soon","seconds":1}'
    (shown,) = read([*BODY, bad, "some words"][:-1]).unparsed
    assert shown.startswith(bad)
    assert "`str`" in shown
    assert read([*BODY, "some words"]).unparsed == ("some words",)


def an_interval(t: int, names: Iterable[str]) -> str:
    return json.dumps(
        {"kind": "interval", "t": t, "seconds": 1, "counts": dict.fromkeys(names, 1)}, separators=(",", ":")
    )


def test_lines_with_further_names_are_shown_and_the_names_before_stay_few() -> None:
    lines = [an_interval(t, (f"n{t}_{place}" for place in range(300))) for t in range(1, 301)]
    last = an_interval(301, ["n1_0"])
    found = read([BODY[0], *lines, last, *BODY[-2:]])
    assert sorted(found.intervals) == [1, 2, 3, 301]
    assert len(found.unparsed) == 297
    assert all("a report has at most 1,000 names" in line for line in found.unparsed)
    assert {headline.metric: headline.value for headline in found.headlines}["client.throughput"] == 50.0


def test_a_total_of_too_many_names_is_no_total() -> None:
    total = json.dumps({"kind": "total", "from": 0, "to": 1, "values": {f"n{place}.x": 1 for place in range(50_000)}})
    found = read([BODY[0], total.replace(": ", ":"), BODY[-1]])
    assert (found.complete, found.headlines) == (False, ())
    (shown,) = found.unparsed
    assert "1,000 names" in shown
    assert len(shown) < 3_000


def test_the_series_of_a_report_have_a_bounded_number_of_values(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "REPORT_VALUES", 20)
    found = read([BODY[0], *(an_interval(t, ["a", "b"]) for t in range(1, 20)), BODY[-1]])
    assert sorted(found.intervals) == list(range(1, 11))
    assert "at most 20 values" in found.unparsed[0]


@pytest.mark.parametrize("depth", [30, 900, 100_000])
def test_a_line_that_is_nested_too_deep_is_shown_and_the_others_are_read(depth: int) -> None:
    nested = "[" * depth + "]" * depth
    bad = [
        f'{{"kind":"event","event":"x","label":"x","from":1,"detail":{{"a":{nested}}}}}',
        f'{{"kind":"check","check":"x","label":"x","held":true,"found":{nested}}}',
    ]
    output = read([*BODY[:-1], *bad, BODY[-1]])
    assert len(output.unparsed) == 2
    assert output.headlines == read(BODY).headlines


def test_the_text_that_sysbench_prints_around_a_report_is_read_too() -> None:
    lines = [
        "sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)",
        "Threads started!",
        '{"kind":"interval","t":1.0,"seconds":1.0,"threads":1,"counts":{"transactions":3}}',
        "FATAL: mysql_drv_query() returned error 2013 (Lost connection)",
        '{"kind":"total","from":0.0,"to":1.0,"counts":{"transactions":3}}',
        "Latency histogram (values are in milliseconds)",
        "       value  ------------- distribution ------------- count",
        "       1.007 |**************************************** 2",
        "       3.020 |******************** 1",
    ]
    found = read(lines)
    assert found.tool_version == "1.0.20"
    assert found.fatal.startswith("mysql_drv_query()")
    assert found.complete
    assert found.unparsed == ()
    (distribution,) = found.distributions
    assert distribution.distribution.count == 3
    assert {line.metric: line.value for line in found.headlines}["client.latency.p50"] == 1.007


def test_a_live_run_is_read_by_its_own_lines() -> None:
    assert tool_output.live("\n".join(BODY[:2])).intervals[1.0]["client.throughput"] == 100.0


@given(st.lists(st.sampled_from(BODY)), st.integers(0, 400))
def test_no_cut_or_shuffled_report_is_ever_a_crash(lines: list[str], cut: int) -> None:
    found = tool_output.read("failover", "\n".join(lines).encode()[cut:])
    assert all(headline.byte_start < headline.byte_end for headline in found.headlines)
