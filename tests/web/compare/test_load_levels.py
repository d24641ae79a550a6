"""The part "Load levels" of Compare: fit, objective and charts, on runs in the database."""

import json
import math
import re
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

import numpy as np
import pytest
from django.http import QueryDict
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from apps.catalog.models import System, Workload
from apps.comparison import compare
from apps.comparison.sections import load_level_data, table_growth, time_to_finish
from apps.comparison.stats.usl import Estimate
from apps.core.problems import Invalid
from apps.runs.models import Distribution, Measurement, Run
from apps.web.compare.sections import load_levels
from apps.web.compare.view import CompareAddress
from tests.support.builders import START, a_load_level, a_measured_run, a_metric, a_system, a_workload
from tests.support.pages import data, elements, page_data, text

pytestmark = pytest.mark.django_db
TPS, P95 = "client.throughput", "client.latency.p95"
THREADS = (1, 2, 4, 8, 16)


def law(threads: int, one: float, wait: float, agree: float) -> float:
    return one * threads / (1 + wait * (threads - 1) + agree * threads * (threads - 1))


def ramp(system: System, workload: Workload, *, runs: int = 3, wait: float = 0.05, agree: float = 0.004) -> list[Run]:
    random = np.random.default_rng(1)
    made = []
    for threads in THREADS:
        for repetition in range(1, runs + 1):
            noise = float(np.exp(random.normal(0, 0.01)))
            made.append(
                a_measured_run(
                    {TPS: law(threads, 500, wait, agree) * noise, P95: 2.0 * threads / noise},
                    system=system,
                    workload=workload,
                    load_level=a_load_level(threads),
                    repetition=repetition,
                    started_at=START,
                )
            )
    return made


@pytest.fixture
def workload() -> Workload:
    workload = a_workload()
    ramp(a_system("aurora"), workload)
    ramp(a_system("pxc"), workload, wait=0.2)
    return workload


def part(client: Client, workload: Workload, **options: Any) -> str:
    words = "".join(f"&{name}={value}" for name, value in options.items())
    address = f"/compare/part/ladder/?side=aurora&side=pxc&workload={workload.pk}{words}"
    return client.get(address, headers={"HX-Request": "true"}).content.decode()


def shown(html: str, slug: str, name: str) -> str:
    """Text of one fact about a side."""
    return text(html, f"[data-load-levels={slug}] [data-{name}]")


def chart(html: str) -> Any:
    return page_data(html, "load-levels-data")


def test_each_side_has_its_knee_and_its_peak_with_intervals(client: Client, workload: Workload) -> None:
    html = part(client, workload)
    for slug, wait in (("aurora", 0.05), ("pxc", 0.2)):
        knee, low, high = map(float, re.findall(r"[\d.]+", shown(html, slug, "knee")))
        true = max(np.roots([3 * 0.004, wait - 0.004, wait - 1]))
        assert low <= true <= high
        assert knee == pytest.approx(true, rel=0.1)
    assert not elements(html, "[data-reach]")
    assert all(shown(html, slug, "peak") for slug in ("aurora", "pxc"))


def test_a_peak_without_an_upper_end_is_none_found() -> None:
    unsure = load_levels.place_text(Estimate(4.59, 1.0, math.inf), 8)
    assert (unsure.value, unsure.note) == ("", "none found within the levels")
    assert load_levels.place_text(Estimate(math.inf, 12.0, math.inf), 8).note == "none up to 12.0 threads"


def test_the_viewers_objective_ends_at_the_last_level_that_surely_keeps_it(client: Client, workload: Workload) -> None:
    """Runs have a p95 of two ms a thread, so 10 ms holds up to 4 threads."""
    html = part(client, workload, objective="10")
    assert shown(html, "aurora", "reach") == "up to 4 threads; exceeded at 8 threads"
    assert shown(html, "aurora", "one-session") == "(in one session)"
    assert chart(html)["latency"]["objective"] == 10
    html = part(client, workload, objective="10", percentile="99")
    assert shown(html, "aurora", "reach") == "p99 not observed"


def test_an_objective_over_several_sessions_rests_on_them(client: Client, workload: Workload) -> None:
    for number, run in enumerate(Run.objects.order_by("pk")):
        Run.objects.filter(pk=run.pk).update(started_at=START + timedelta(days=number % 3))
    html = part(client, workload, objective="10")
    assert shown(html, "aurora", "reach") == "up to 4 threads; exceeded at 8 threads"
    assert not elements(html, "[data-one-session]")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"objective": "fast"}, "objective: 'fast' is not a time (give milliseconds above 0)"),
        ({"percentile": "12"}, "percentile: '12' is not known (choose from p"),
    ],
)
def test_an_objective_that_is_none_is_said(client: Client, workload: Workload, options: Any, words: str) -> None:
    address = CompareAddress.read(QueryDict(urlencode({"side": ["a", "b"], "workload": 1, **options}, doseq=True)))
    with pytest.raises(Invalid) as refused:
        load_levels.objective_of(address)
    assert str(refused.value).startswith(words)
    assert data(part(client, workload, **options), "field") == list(options)


def test_the_charts_have_every_run_and_the_tables_values(client: Client, workload: Workload) -> None:
    drawn = chart(part(client, workload))
    assert len(drawn["throughput"]["dots"]) == len(drawn["latency"]["dots"]) == 2 * len(THREADS) * 3
    (line,) = [each for each in drawn["throughput"]["lines"] if each["side"] == 0]
    assert line["threads"] == list(THREADS)
    runs = [dot["value"] for dot in drawn["throughput"]["dots"] if (dot["side"], dot["threads"]) == (0, 8)]
    assert line["values"][3] == pytest.approx(np.exp(np.log(runs).mean()))
    assert [fit["side"] for fit in drawn["throughput"]["fits"]] == [0, 1]


def test_a_cap_is_named_and_drawn_with_its_interval_where_the_law_does_not_fit(
    client: Client, workload: Workload
) -> None:
    for place, measured in enumerate(Measurement.objects.filter(run__system__slug="aurora", metric__key=TPS)):
        measured.value = 500 * min(measured.run.load_level.threads, 4) * (1 + 0.004 * (place % 3 - 1))
        measured.save()
    html = part(client, workload)
    assert "grows up to about 4 threads, then stays at 2,000 (1,990 to 2,010)" in text(
        html, "[data-load-levels=aurora]"
    )
    assert "no fit: it deviates by 17" in text(html, "[data-load-levels=aurora]")
    assert "Flat bands: the cap of a side" in text(html, "#chart-ladder-throughput")
    (cap,) = [fit for fit in chart(html)["throughput"]["fits"] if fit["side"] == 0]
    assert cap["threads"] == [pytest.approx(4), 16]
    assert cap["values"] == [pytest.approx(2000, rel=0.001)] * 2
    assert cap["low"] == [pytest.approx(1994.7, abs=0.1)] * 2
    assert cap["high"] == [pytest.approx(2005.3, abs=0.1)] * 2
    assert (cap["knee"], cap["peak"]) == (pytest.approx(4), None)


def test_percentiles_of_a_level_are_those_of_all_its_requests_together(client: Client, workload: Workload) -> None:
    """One slow run of three: the merged p95 is far from any mean of the three."""
    metric = a_metric("client.latency", unit="ms", direction="lower", kind="distribution")
    slow = 700
    runs = Run.objects.filter(system__slug="aurora", load_level__threads=4)
    for run, (buckets, counts) in zip(runs, [([300], [100]), ([300], [100]), ([300, slow], [50, 50])], strict=True):
        artifact = run.artifacts.get()
        Distribution.objects.create(
            run=run, metric=metric, node=0, starts_at=0, ends_at=60, grid="sysbench:1024:0.001:100000", buckets=buckets,
            counts=counts, artifact=artifact, byte_start=0, byte_end=1, parser="sysbench", parser_version="1",
        )  # fmt: skip
    lines = chart(part(client, workload))["latency"]["lines"]
    found = {line["percentile"]: line["values"] for line in lines}
    low, high = (0.001 * (1e8) ** (bucket / 1023) for bucket in (300, slow))
    assert found["p50"] == [pytest.approx(low, rel=0.01)]
    assert found["p95"] == found["p99"] == [pytest.approx(high, rel=0.01)]


def test_a_ladder_without_enough_levels_says_why_it_has_no_fit(client: Client) -> None:
    workload = a_workload()
    for slug in ("aurora", "pxc"):
        system = a_system(slug)
        for threads in (1, 4):
            a_measured_run({TPS: 100.0 * threads}, system=system, workload=workload, load_level=a_load_level(threads))
    html = part(client, workload)
    assert "add 3 load levels" in shown(html, "pxc", "refused")
    assert not elements(html, "[data-knee]")
    assert data(html, "state") == ["no-latency"]


def test_levels_at_a_fixed_rate_are_drawn_and_no_part_of_the_ladder(client: Client) -> None:
    workload = a_workload()
    for slug in ("aurora", "pxc"):
        a_measured_run({TPS: 100.0}, system=a_system(slug), workload=workload, load_level=a_load_level(4, 100.0))
    html = part(client, workload)
    assert data(html, "rated") == ["1"]
    assert len(chart(html)["throughput"]["lines"]) == 2


def test_it_asks_the_same_however_many_runs_there_are(
    client: Client, workload: Workload, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    part(client, workload)
    with django_assert_max_num_queries(40) as few:
        part(client, workload)
    ramp(System.objects.get(slug="pxc"), workload, runs=6)
    with django_assert_max_num_queries(len(few)):
        part(client, workload)


def test_a_snapshot_keeps_what_the_part_reads(workload: Workload) -> None:
    comparison = compare.compare(sides=["aurora", "pxc"], workload_id=workload.pk)
    for section in (load_level_data.SECTION, table_growth.SECTION, time_to_finish.SECTION):
        level = comparison.levels[0]
        kept = json.loads(json.dumps(section.to_json(comparison)))[section.key(level)]
        assert section.from_json(kept) == section.read(comparison, level)


def test_the_api_gives_the_same_ladder(client: Client, workload: Workload) -> None:
    address = f"/api/v1/comparisons/?side=aurora&side=pxc&workload={workload.pk}&include=ladder,finishing,growth"
    answer = client.get(f"{address}&objective=10&percentile=95").json()
    one = answer["ladder"][0]
    assert (one["side"], one["reach"]["last_within"], one["reach"]["first_beyond"]) == ("aurora", 4, 8)
    knee = one["fit"]["knee"]
    assert f"{knee['value']:.2f}" in shown(part(client, workload), "aurora", "knee")
    assert [level["threads"] for level in one["levels"]] == list(THREADS)
    assert (answer["finishing"], answer["growth"]) == (None, [])
    assert client.get(f"{address}&objective=-1").status_code == 400
