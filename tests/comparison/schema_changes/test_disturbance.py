"""What a statement did to its load: three real ALTERs of a million rows at second 8, under 120 transactions/s."""

import numpy as np
import pytest

from apps.comparison.schema_changes.disturbance import Disturbance, LoadSeconds, disturbance, ends_at
from apps.comparison.stats.measures.dips import DipSpan
from apps.runs.samples.rates import Phase
from apps.runs.tool_output.parsers import sysbench
from tests.paths import RECORDINGS

DDL_RECORDINGS = RECORDINGS / "ddl"
# From the start of the load, by the clock that started both.
STATEMENTS = {"copy": Phase(8.0, 14.30), "inplace_rebuild": Phase(8.01, 12.16), "instant": Phase(8.01, 8.07)}


def recorded(name: str) -> tuple[LoadSeconds, LoadSeconds]:
    intervals = sysbench.parse((DDL_RECORDINGS / f"{name}.sysbench.txt").read_bytes()).intervals
    at = np.array([float(each.second) for each in intervals])
    latency = [each.values["latency"] for each in intervals]
    return (
        LoadSeconds(at, np.array([each.values["throughput"] or 0.0 for each in intervals])),
        LoadSeconds(at, np.array([np.nan if each is None else each for each in latency])),
    )


def did(name: str) -> Disturbance:
    throughput, latency = recorded(name)
    statement = STATEMENTS[name]
    return disturbance(
        throughput, latency, phase=Phase(0, 30), first=statement.start, statement=statement,
        until=ends_at(statement, None), share=50,
    )  # fmt: skip


def steady(*, seconds: int = 20, rate: float = 100.0) -> LoadSeconds:
    return LoadSeconds(np.arange(1.0, seconds + 1), np.full(seconds, rate))


def of_steady(throughput: LoadSeconds, **fields: object) -> Disturbance:
    asked = {"phase": Phase(0, 20), "first": 8.0, "statement": Phase(8, 10), "until": 13.0, "share": 50.0, **fields}
    return disturbance(throughput, None, **asked)  # type: ignore[arg-type]


def test_a_copy_stops_the_load_for_as_long_as_it_lasts() -> None:
    copy = did("copy")
    assert copy.longest == DipSpan(0.0, 6.0)
    assert (copy.depth, copy.stalled, copy.silent) == (100.0, 6.0, 6)
    assert copy.base == pytest.approx(127.0, abs=3)


def test_a_rebuild_in_place_starves_the_load_for_one_second() -> None:
    rebuilt = did("inplace_rebuild")
    assert rebuilt.longest is not None
    assert rebuilt.longest.length == 1.0
    assert rebuilt.depth == pytest.approx(89, abs=2)


def test_an_instant_change_is_no_deeper_than_the_load_itself_varies() -> None:
    instant = did("instant")
    assert instant.longest == DipSpan(0, 0)
    assert instant.depth is not None
    assert instant.depth_before is not None
    assert instant.depth < instant.depth_before + 5


def test_deviations_grow_with_what_a_statement_does() -> None:
    found = [did(name) for name in ("instant", "inplace_rebuild", "copy")]
    during = [each.throughput_during.deviation for each in found]
    assert during == sorted(during, key=lambda each: each or 0)
    latencies = [each.latency_during.deviation or 0 for each in found]
    assert latencies[0] < 20 < latencies[1] < 1000 < latencies[2]
    assert all((each.latency_before.deviation or 0) < 20 for each in found)


def test_seconds_in_which_nothing_ended_have_no_latency_to_deviate() -> None:
    copy = did("copy")
    assert copy.throughput_during.count == copy.latency_during.count + copy.silent


def test_two_seconds_tell_no_deviation() -> None:
    found = of_steady(steady(seconds=10), statement=Phase(8.5, 8.6), until=10.0)
    assert (found.throughput_during.count, found.throughput_during.deviation) == (2, None)
    assert found.throughput_before.deviation == 0


def test_without_seconds_before_the_statement_no_depth_is_reported() -> None:
    found = of_steady(steady(), phase=Phase(6, 20))
    assert (found.base, found.depth, found.longest) == (None, None, None)
    assert found.throughput_during.deviation == 0


def test_the_next_statement_ends_the_aftermath_of_the_one_before() -> None:
    assert ends_at(Phase(8, 10), None) == 13
    assert ends_at(Phase(8, 10), 11.5) == 11.5


def test_a_late_second_counts_for_as_long_as_it_took() -> None:
    values = np.full(20, 100.0)
    values[8:10] = 10.0
    late = np.arange(1.0, 21)
    late[8:] += 0.4
    assert of_steady(LoadSeconds(late, values)).stalled == pytest.approx(2.4)


def test_a_run_without_seconds_is_reported_as_such() -> None:
    nothing = of_steady(LoadSeconds(np.zeros(0), np.zeros(0)))
    assert (nothing.base, nothing.depth, nothing.throughput_during.count) == (None, None, 0)
