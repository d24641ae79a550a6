"""Every metric that the runs have, judged as a table of its own beside the answer."""

import csv
import io
import math
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.db.models import F
from django.test import Client
from django.test.utils import CaptureQueriesContext

from apps.catalog.models import System
from apps.comparison import compare
from apps.comparison.sections.all_metrics import Everything, Measured, everything
from apps.comparison.stats import welch
from apps.comparison.stats.replicates import Replicates, Sample
from apps.comparison.stats.welch import Direction, Ratio, Verdict
from apps.comparison.values import Cell, ComparedMetric, Comparison, More
from apps.runs.models import Measurement, Run
from apps.web.compare.sections.all_metrics import summary
from tests.support.builders import START, a_load_level, a_measured_run, a_metric, a_system, a_workload
from tests.support.pages import elements

pytestmark = pytest.mark.django_db

TPS, P95, ERRORS, READS, OUTAGE, THREADS = (
    "client.throughput",
    "client.latency.p95",
    "client.errors",
    "client.reads",
    "failover.outage",
    "client.threads",
)
A, B = (1000.0, 1012.0, 991.0, 1003.0), (1302.0, 1318.0, 1287.0, 1310.0)
OUTAGES = {"a": (10.0, 11.0, 14.0, 12.0), "b": (30.0, 31.0, 90.0, 35.0)}


def measure(system: System, values: tuple[float, ...], *, threads: int = 4) -> None:
    for number, value in enumerate(values):
        a_measured_run(
            {
                TPS: value,
                P95: 20_000 / value,
                ERRORS: 0.0,
                READS: 14 * value,
                OUTAGE: OUTAGES[system.slug][number],
                THREADS: float(threads),
            },
            system=system,
            load_level=a_load_level(threads),
            repetition=number + 1,
            started_at=START + timedelta(minutes=number),
        )


@pytest.fixture
def comparison() -> Comparison:
    a_metric(READS, name="read queries", unit="queries/s", direction="neutral")
    a, b = a_system("a", name="Alpha"), a_system("b", name="Beta")
    for system, values in ((a, A), (b, B)):
        measure(system, values)
        measure(system, A, threads=8)
    return compare.compare(sides=["a", "b"], workload_id=a_workload().pk)


def of(found: Everything, key: str, comparison: Comparison, threads: int = 4) -> Measured:
    level = next(level.id for level in comparison.levels if level.threads == threads)
    (one,) = (one for one in found.measured if one.metric.key == key and one.cell.level == level)
    return one


def test_metrics_beyond_the_answer_are_judged_as_it_is_and_corrected_for_their_own_number(
    comparison: Comparison,
) -> None:
    found = everything(comparison)
    reads = of(found, READS, comparison).cell.ratio
    again = welch.compare(Sample(tuple(14 * value for value in A)), Sample(tuple(14 * value for value in B)))
    assert reads is not None
    assert (reads.value, reads.low, reads.high) == pytest.approx((again.value, again.low, again.high))
    # Reads and outages at two levels; threads never vary.
    assert found.tests == 4
    assert again.cautious_p is not None
    assert reads.adjusted_p == pytest.approx(again.cautious_p * 4)
    assert of(found, READS, comparison).cell.words == "higher"


def test_metrics_of_the_answer_keep_its_cells(comparison: Comparison) -> None:
    one = of(everything(comparison), TPS, comparison)
    assert one.answered
    assert one.cell == comparison.cell(side="b", level=one.cell.level, metric=TPS)


def test_differences_come_first_then_by_corrected_p(comparison: Comparison) -> None:
    found = everything(comparison).measured
    relevant = [one.is_relevant for one in found]
    assert relevant == sorted(relevant, reverse=True)
    ps = [one.cell.ratio.adjusted_p for one in found if one.is_relevant and one.cell.ratio is not None]
    assert ps == sorted(ps, key=lambda p: p if p is not None else math.inf)
    assert {one.metric.key for one in found if one.is_relevant} == {TPS, P95, READS, OUTAGE}


def test_what_never_varies_is_no_question_of_repetitions(comparison: Comparison) -> None:
    one = of(everything(comparison), THREADS, comparison)
    assert (one.cell.words, one.cell.more) == ("the same in all runs", ())


def test_where_a_run_is_negative_the_order_of_the_runs_decides(comparison: Comparison) -> None:
    for run in Run.objects.filter(load_level__threads=4):
        value = (-3.0 if run.system.slug == "a" else 2.0) + run.repetition / 10
        Measurement.objects.filter(run=run, metric__key=READS).update(value=value)
    one = of(everything(comparison), READS, comparison)
    assert one.cell.ratio is not None
    assert (one.cell.words, one.cell.ratio.value) == ("higher", None)
    assert one.cell.ratio.reason == (
        "by the rank test: a run is negative, so no ratio exists; within one session of each side"
    )


def test_order_among_runs_of_few_sessions_decides_nothing(comparison: Comparison) -> None:
    for run in Run.objects.filter(load_level__threads=4):
        Measurement.objects.filter(run=run, metric__key=READS).update(value=0.0 if run.system.slug == "a" else 2.0)
    later = {name: F(name) + timedelta(days=1) for name in ("started_at", "ended_at")}
    Run.objects.filter(repetition__gt=2).update(**later)
    comparison = compare.compare(sides=["a", "b"], workload_id=comparison.workload.id)
    cell = of(everything(comparison), READS, comparison).cell
    assert cell.more == (More("a", 2, "session"), More("b", 2, "session"))
    ratio = cell.ratio
    assert ratio is not None
    assert (ratio.verdict, ratio.replicates, ratio.counts) == (Verdict.TOO_FEW, Replicates.SESSIONS, (2, 2))
    assert ratio.reason == "a run is zero, and the rank test needs 4 sessions per side"


def test_it_asks_the_same_number_of_queries_whatever_there_is(comparison: Comparison) -> None:
    with CaptureQueriesContext(connection) as context:
        everything(comparison)
    assert len(context) == 3


def address(comparison: Comparison, **options: Any) -> str:
    more = "".join(f"&{name}={value}" for name, value in options.items())
    return f"side=a&side=b&workload={comparison.workload.id}{more}"


def rows(html: str) -> list[tuple[str, str]]:
    """Metrics, and how many of their load levels have a cell."""
    return [
        (each.attributes["data-metric"] or "", str(len(each.css("td[data-level]"))))
        for each in elements(html, "tr[data-metric]")
    ]


def test_the_page_shows_the_metrics_that_differ_a_row_each_and_on_request_the_rest(
    client: Client, comparison: Comparison
) -> None:
    html = client.get(f"/compare/part/all-metrics/?{address(comparison)}").content.decode()
    found = everything(comparison)
    relevant = [one for one in found.measured if one.is_relevant]
    assert f'data-relevant="{len(relevant)}"' in html
    keys = [key for key, _ in rows(html)]
    assert len(keys) == len(set(keys))
    assert set(keys) == {one.metric.key for one in relevant}
    answered = {one.metric.key for one in found.measured if one.answered}
    assert keys == sorted(keys, key=lambda key: key not in answered)
    whole = client.get(f"/compare/part/all-metrics/?{address(comparison, show='all')}").content.decode()
    assert sum(int(cells) for _, cells in rows(whole)) == len(found.measured) == 12
    assert "30.0, 31.0, 90.0, 35.0 against 10.0, 11.0, 14.0, 12.0" in whole


def test_what_nobody_can_judge_is_not_called_without_a_difference() -> None:
    def measured(words: str, verdict: Verdict) -> Measured:
        cell = Cell("b", 1, "m", (), None, 0, Ratio(verdict), words, ())
        metric = ComparedMetric("m", "m", "ms", Direction.HIGHER, "latency", primary=False)
        return Measured(metric, cell, cell, answered=False)

    better, withheld = measured("better", Verdict.HIGHER), measured("verdict withheld", Verdict.HIGHER)
    few, same = measured("too few repetitions", Verdict.TOO_FEW), measured("equivalent", Verdict.EQUIVALENT)
    unknown = "cannot be judged (too few repetitions, or no ratio exists)"
    assert summary([few, few]) == f"All 2 comparisons {unknown}"
    assert summary([same, few]) == f"None of 1 comparison shows a difference; 1 {unknown}"
    assert summary([better, same, few]) == f"1 of 3 comparisons shows a difference (1 better); 1 does not; 1 {unknown}"
    assert summary([withheld]) == "1 of 1 comparisons differ, but their verdicts are withheld"


def test_an_unknown_choice_of_rows_is_refused_in_words(client: Client, comparison: Comparison) -> None:
    answer = client.get(f"/compare/part/all-metrics/?{address(comparison, show='some')}")
    assert answer.status_code == 400
    assert "&#x27;some&#x27; is not known" in answer.content.decode()


def test_csv_has_every_comparison_with_all_digits(client: Client, comparison: Comparison) -> None:
    answer = client.get(f"/compare/everything.csv?{address(comparison)}")
    assert answer["Content-Type"] == "text/csv; charset=utf-8"
    lines = list(csv.DictReader(io.StringIO(answer.content.decode())))
    found = everything(comparison)
    assert len(lines) == len(found.measured)
    for line, one in zip(lines, found.measured, strict=True):
        assert line["metric"] == one.metric.name
        assert line["verdict"] == one.cell.words
        assert one.cell.ratio is not None
        assert line["low"] == ("" if one.cell.ratio.low is None else repr(one.cell.ratio.low))
        assert one.cell.summary is not None
        assert float(line["value"]) == one.cell.summary.value


def test_csv_says_whether_sessions_or_runs_are_needed(client: Client, comparison: Comparison) -> None:
    def units() -> set[str]:
        text = client.get(f"/compare/everything.csv?{address(comparison)}").content.decode()
        found = [line for line in csv.DictReader(io.StringIO(text)) if line["unit"] == "transactions/s"]
        return {line["unit of needed"] for line in found if line["needed per side"]}

    assert units() == {"runs"}
    later = {name: F(name) + timedelta(days=1) for name in ("started_at", "ended_at")}
    Run.objects.filter(repetition__gt=2).update(**later)
    assert units() == {"sessions"}


def test_markdown_is_what_the_page_shows_with_a_link(client: Client, comparison: Comparison) -> None:
    text = client.get(f"/compare/everything.md?{address(comparison)}").content.decode()
    table = [line for line in text.splitlines() if line.startswith("|")][2:]
    assert len(table) == sum(one.is_relevant for one in everything(comparison).measured)
    assert "http://testserver/compare/?side=a&side=b" in text
    assert "| 4 threads | Beta | 1,000 | 1,300 | 1.30 × [1.28, 1.32] | better |" in text


def test_a_comparison_that_is_none_cannot_be_exported(client: Client, comparison: Comparison) -> None:
    assert client.get("/compare/everything.csv?side=a&side=zz&workload=1").status_code == 404
    assert client.get("/compare/everything.csv?side=a&side=b").content.startswith(b"workload: is missing")
    assert client.get(f"/compare/everything.xls?{address(comparison)}").status_code == 404


def test_the_api_has_the_same(client: Client, comparison: Comparison) -> None:
    answer = client.get(f"/api/v1/comparisons/?{address(comparison, include='everything')}").json()["everything"]
    found = everything(comparison)
    assert answer["tests"] == found.tests
    assert [(each["metric"]["key"], each["cell"]["words"], each["relevant"]) for each in answer["measured"]] == [
        (one.metric.key, one.cell.words, one.is_relevant) for one in found.measured
    ]
