"""Reports that contradict themselves, a load that stood still, a rate that was not reached: found and named."""

import re
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from apps.runs.models import RunCheck
from apps.runs.quality.rules import agreement, asked_rate, standstill, steady_state
from apps.runs.quality.values import CANNOT_TELL, FAILED, PASSED, Floats, QualityFacts, ThroughputSeconds
from apps.runs.tool_output import formats
from apps.runs.tool_output.parsers.parsed_output import NotThisFormat
from tests.paths import RECORDINGS
from tests.runs.quality.recorded import checked
from tests.support.builders import a_load_level

OUTPUT = "single_120s/phase4_wo_t32_rate1500.txt"
WHOLE = (RECORDINGS / OUTPUT).read_text()
NEW = ("agreement", "asked", "standstill", "steady")


def doctored(change: Callable[[str], str], **fields: object) -> dict[str, RunCheck]:
    text = change(WHOLE)
    assert text != WHOLE
    _, found = checked(OUTPUT, {}, content=text.encode(), **fields)
    return found


def failing(found: dict[str, RunCheck]) -> set[str]:
    return {key for key in NEW if found[key].status == FAILED}


def lines(change: Callable[[list[str]], list[str]]) -> Callable[[str], str]:
    """A change of the interval lines alone."""

    def changed(text: str) -> str:
        rows = text.splitlines(keepends=True)
        places = [place for place, row in enumerate(rows) if row.startswith("[ ")]
        first, last = places[0], places[-1] + 1
        return "".join([*rows[:first], *change([row for row in rows[first:last] if " tps: " in row]), *rows[last:]])

    return changed


def stood_still(text: str) -> str:
    """From second 4 on nothing is done; the totals say so too."""
    return "".join(
        _at_zero(row) if (second := re.match(r"\[ (\d+)s \]", row)) and int(second[1]) > 4 else row
        for row in text.splitlines(keepends=True)
    )


def _at_zero(row: str) -> str:
    row = re.sub(r"(tps|qps|err/s|reconn/s|r/w/o|lat [^:]*): \S+", lambda found: f"{found[1]}: 0.00", row)
    return row.replace("(r/w/o: 0.00", "(r/w/o: 0.00/0.00/0.00)")


@pytest.mark.django_db
def test_what_was_recorded_passes() -> None:
    _, found = checked(OUTPUT, {}, load_level=a_load_level(threads=32, rate=1500))
    assert failing(found) == set()
    assert found["agreement"].status == found["asked"].status == found["standstill"].status == PASSED


@pytest.mark.django_db
def test_a_rate_edited_in_the_totals_is_found() -> None:
    found = doctored(lambda text: re.sub(r"(transactions: +\d+ +)\(\S+ per", r"\1(99999.00 per", text))
    assert failing(found) == {"agreement"}
    assert "transactions were counted" in found["agreement"].evidence


@pytest.mark.django_db
def test_ten_times_the_transactions_against_seconds_times_rate_are_found() -> None:
    found = doctored(lambda text: re.sub(r"(transactions: +)(\d+)", r"\g<1>\g<2>0", text))
    assert failing(found) == {"agreement"}


@pytest.mark.django_db
@pytest.mark.parametrize(
    "change",
    [
        lambda rows: rows[:10] + rows[13:],
        lambda rows: rows[:10] + rows[9:],
        lambda rows: [*rows[:10], rows[11], rows[10], *rows[12:]],
    ],
    ids=["missing", "doubled", "swapped"],
)
def test_intervals_that_are_missing_doubled_or_swapped_are_found(change: Callable[[list[str]], list[str]]) -> None:
    found = doctored(lines(change))
    assert "agreement" in failing(found)


@pytest.mark.django_db
def test_a_load_that_stood_still_is_neither_steady_nor_what_was_asked() -> None:
    found = doctored(stood_still, load_level=a_load_level(threads=32, rate=15000))
    assert failing(found) == set(NEW) - {"steady"}


def load(values: Floats, *, rate: float | None = None, **headlines: float) -> QualityFacts:
    at = np.arange(1.0, len(values) + 1)
    return QualityFacts(
        tool="sysbench",
        measured=(0.0, float(len(values))),
        seconds=ThroughputSeconds("throughput", "transactions/s", at, values),
        headlines={f"client.{name.replace('_', '.')}": value for name, value in headlines.items()},
        rate=rate,
    )


def test_a_series_that_ends_at_zero_is_not_steady() -> None:
    values = np.concatenate([np.full(4, 1500.0), np.zeros(59)])
    assert steady_state.check(load(values)).status == FAILED
    assert steady_state.check(load(np.zeros(100))).status == FAILED


@pytest.mark.parametrize(("standing", "status"), [(0, PASSED), (1, PASSED), (3, FAILED), (59, FAILED)])
def test_a_second_at_zero_now_and_then_is_none_and_three_in_a_row_are(standing: int, status: str) -> None:
    values = np.full(120, 100.0)
    values[30 : 30 + standing] = 0
    assert standstill.check(load(values)).status == status


def test_zeros_of_a_slow_load_may_be_chance() -> None:
    """Of a load of 2 transactions a second, one second in seven has none."""
    values = np.random.default_rng(3).poisson(2, 200).astype(float)
    assert (values == 0).sum() > 10
    assert standstill.check(load(values)).status == CANNOT_TELL


def test_a_rate_missed_by_chance_is_reached() -> None:
    """Simulated arrivals: of 2,000 loads that do all that arrives none is called short, of loads that do 90 % most."""
    rng = np.random.default_rng(4)
    done = rng.poisson(60 * 5, 2000) / 5
    missed = [asked_rate.check(load(np.full(5, 60.0), rate=60, throughput=one)).status for one in done]
    assert missed.count(FAILED) <= 0.005 * 2000
    slow = rng.poisson(0.9 * 1500 * 60, 200) / 60
    short = [asked_rate.check(load(np.full(60, 1350.0), rate=1500, throughput=one)).status for one in slow]
    assert short.count(FAILED) == 200


def test_a_rate_of_a_run_of_unknown_length_is_not_missed_by_chance() -> None:
    done = {100.0: PASSED, 96.0: PASSED, 94.0: FAILED, 50.0: FAILED}
    runs = [replace(load(np.full(60, 100.0), rate=100, throughput=one), measured=None) for one in done]
    assert [asked_rate.check(run).status for run in runs] == list(done.values())


@pytest.mark.parametrize(
    ("headlines", "words"),
    [
        ({"latency_p50": 5.0, "latency_p95": 3.0}, "50 of 5.00 ms is above p95 of 3.00 ms"),
        ({"latency_p99": 9.0, "latency_max": 4.0}, "99 of 9.00 ms is above the greatest of 4.00 ms"),
        ({"errors": -3.0}, "Client.errors is -3.00"),
    ],
)
def test_latencies_out_of_order_and_negative_numbers_are_named(headlines: dict[str, float], words: str) -> None:
    found = agreement.check(load(np.full(60, 100.0), **{"throughput": 100.0} | headlines))
    assert (found.status, words in found.evidence.replace("\xa0", " ")) == (FAILED, True), found.evidence


def test_clocks_of_client_and_server_may_differ_either_way() -> None:
    """As every run of the execution-latency workload says how far they are apart."""
    clocks = {"clock_offset": -0.004, "clock_drift": -0.001}
    found = agreement.check(load(np.full(60, 100.0), throughput=100.0, elapsed=60.0, transactions=6000.0, **clocks))
    assert found.status == PASSED


@pytest.mark.django_db
def test_two_runs_in_one_file_are_refused_at_the_second() -> None:
    with pytest.raises(NotThisFormat, match="this begins another") as refused:
        formats.SUBMITTED["sysbench"].read((WHOLE + WHOLE).encode())
    assert refused.value.line == WHOLE.count("\n") + 1
