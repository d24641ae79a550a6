"""Series over HTTP: rates and gauges of live and complete runs, rounded, thinned, with what is missing named."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from apps.runs.ingest import accept
from apps.runs.models import Run
from tests.rest.submissions import ADDRESS, fields_of
from tests.runs.uploads import a_minute, an_upload
from tests.support.builders import a_metric

QUESTIONS, RUNNING = "mysql.status.Questions", "mysql.status.Threads_running"


def sealed(**what: Any) -> Run:
    run = an_upload(**what).send()
    assert accept.seal(run_id=run.pk)
    return run


def series(client: APIClient, run: Run, query: str) -> dict[str, Any]:
    answer = client.get(f"{ADDRESS}{run.pk}/series/?{query}")
    assert answer.status_code == 200, answer.content
    document: dict[str, Any] = answer.json()
    return document


@pytest.mark.parametrize("live", [True, False])
def test_counters_come_as_rates_and_gauges_as_they_are(anyone: APIClient, live: bool) -> None:
    run = an_upload().send() if live else sealed()
    rate, gauge = series(anyone, run, f"metric={QUESTIONS}&metric={RUNNING}")["series"]
    assert (rate["kind"], rate["unit"], set(rate["values"])) == ("rate", "statements/s", {100.0})
    assert (gauge["kind"], gauge["values"][:5]) == ("gauge", [3, 4, 5, 6, 3])
    assert rate["at"] == [float(t) for t in range(1, 21)]
    assert gauge["node"] == "db1"


def test_a_raw_total_is_whole_however_large_so_that_its_rise_is_exact(anyone: APIClient) -> None:
    used = "host.cpu.user"
    run = sealed(nodes={"db1": [(float(t), {used: 40434.5 + 0.125 * t, QUESTIONS: 123_456_789 + t}) for t in range(3)]})
    cpu, asked = series(anyone, run, f"metric={used}&metric={QUESTIONS}&raw=true")["series"]
    assert cpu["values"] == [40434.5, 40434.625, 40434.75]
    assert asked["values"] == [123_456_789, 123_456_790, 123_456_791]


def test_what_was_not_observed_is_null_and_a_restart_is_no_negative_rate(anyone: APIClient) -> None:
    values: list[int | None] = [100, 200, None, 400, 10, 110]
    run = sealed(nodes={"db1": [(float(t), {QUESTIONS: value}) for t, value in enumerate(values)]})
    (entry,) = series(anyone, run, f"metric={QUESTIONS}")["series"]
    assert entry["resets"] == [4.0]
    assert None in entry["values"]
    assert all(value is None or value >= 0 for value in entry["values"])


def test_only_the_nodes_asked_for_are_given(anyone: APIClient) -> None:
    run = sealed(nodes={"db1": a_minute(), "db2": a_minute()})
    both = series(anyone, run, f"metric={RUNNING}")["series"]
    one = series(anyone, run, f"metric={RUNNING}&node=db2")["series"]
    assert [entry["node"] for entry in both] == ["db1", "db2"]
    assert [entry["node"] for entry in one] == ["db2"]


def test_points_thin_a_series_but_keep_its_extremes(anyone: APIClient) -> None:
    rows = [(float(t), {RUNNING: 900 if t == 777 else t % 3}) for t in range(2000)]
    run = sealed(nodes={"db1": rows}, seconds_a_batch=500)
    (whole,) = series(anyone, run, f"metric={RUNNING}")["series"]
    (thin,) = series(anyone, run, f"metric={RUNNING}&points=100")["series"]
    assert len(whole["at"]) == 2000
    assert 50 <= len(thin["at"]) <= 220
    assert (max(thin["values"]), min(thin["values"])) == (900, 0)
    assert thin["at"][thin["values"].index(900)] == 777


def test_what_is_missing_is_named_with_the_reason(anyone: APIClient) -> None:
    a_metric("host.load.1m", unit="")
    document = series(anyone, sealed(), f"metric=no.such&metric={RUNNING}&metric=host.load.1m")
    assert [entry["metric"] for entry in document["series"]] == [RUNNING]
    assert document["missing"] == [
        {"metric": "no.such", "node": "", "reason": "no metric has this key: choose one of /api/v1/metrics/"},
        {"metric": "host.load.1m", "node": "", "reason": "not observed in this run"},
    ]
    (misspelt,) = series(anyone, sealed(), f"metric={RUNNING[:-2]}{RUNNING[-1]}{RUNNING[-2]}")["missing"]
    assert misspelt["reason"] == f"no metric has this key: did you mean {RUNNING}? See /api/v1/metrics/"
    (missing,) = series(anyone, sealed(), f"metric={RUNNING}&node=db9")["missing"]
    assert missing == {"metric": RUNNING, "node": "", "reason": "not observed on db9"}


def test_the_measured_phase_is_given_on_the_runs_clock(anyone: APIClient) -> None:
    run = an_upload().send(measured_from=5.0, measured_to=15.0)
    assert series(anyone, run, f"metric={RUNNING}")["measured"] == [5.0, 15.0]
    open_run = an_upload().run
    assert series(anyone, open_run, f"metric={RUNNING}")["measured"] is None


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("metric=", "metric"),
        ("metric=%00", "metric"),
        (f"metric={'x' * 161}", "metric"),
        ("&".join(["metric=a"] * 51), "metric"),
        ("metric=a&points=49", "points"),
        ("metric=a&points=5001", "points"),
        ("metric=a&points=1e3", "points"),
        ("metric=a&node=%00", "node"),
        ("metric=a&metrics=b", "metrics"),
    ],
)
def test_a_wrong_parameter_is_named(anyone: APIClient, query: str, field: str) -> None:
    answer = anyone.get(f"{ADDRESS}{sealed().pk}/series/?{query}")
    assert (answer.status_code, fields_of(answer)) == (400, [field])


def test_a_parameter_without_a_value_counts_as_left_out(anyone: APIClient) -> None:
    run = sealed()
    assert series(anyone, run, f"metric={RUNNING}&raw=") == series(anyone, run, f"metric={RUNNING}")


@pytest.mark.parametrize("path", [f"series/?metric={RUNNING}&points=100", "series-index/"])
def test_a_complete_run_is_not_sent_twice_to_who_holds_it(anyone: APIClient, path: str) -> None:
    address = f"{ADDRESS}{sealed().pk}/{path}"
    etag = anyone.get(address)["ETag"]
    assert anyone.get(address, headers={"If-None-Match": etag}).status_code == 304
    other = f"{ADDRESS}{sealed().pk}/{path}"
    assert anyone.get(other, headers={"If-None-Match": etag}).status_code == 200


def test_a_live_run_is_never_cached(anyone: APIClient) -> None:
    upload = an_upload()
    upload.send_batch(0)
    answer = anyone.get(f"{ADDRESS}{upload.run.pk}/series/?metric={RUNNING}")
    assert (answer.has_header("ETag"), answer["Cache-Control"]) == (False, "no-store")
    before = answer.json()["series"][0]["at"]
    upload.send_batch(1)
    assert len(series(anyone, upload.run, f"metric={RUNNING}")["series"][0]["at"]) > len(before)


def test_the_index_lists_every_series_with_its_statistics(anyone: APIClient) -> None:
    document = anyone.get(f"{ADDRESS}{sealed().pk}/series-index/").json()
    entries = {entry["metric"]: entry for entry in document["series"]}
    assert (entries[QUESTIONS]["mean"], entries[QUESTIONS]["unit"]) == (100.0, "statements/s")
    assert (entries["mysql.status.Max_used_connections"]["constant"], entries[RUNNING]["constant"]) == (True, False)
    assert "client.throughput" in entries


def test_more_metrics_cost_no_more_queries(anyone: APIClient) -> None:
    run = sealed()

    def ask(query: str) -> int:
        with CaptureQueriesContext(connection) as queries:
            series(anyone, run, query)
        return len(queries)

    assert ask(f"metric={QUESTIONS}&metric={RUNNING}&metric=client.throughput") == ask(f"metric={QUESTIONS}")
