"""Prometheus' query API over the series of runs, as Grafana asks it."""

import json
import re
import subprocess
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

import pytest
from django.db import connection
from django.test import override_settings
from django.test.utils import CaptureQueriesContext
from pytest_django.live_server_helper import LiveServer
from rest_framework.test import APIClient

from apps.rest.prometheus import run_series
from apps.runs.models import Run
from apps.runs.seal import seal
from tests.paths import DOCS
from tests.runs.uploads import an_upload
from tests.support.builders import START, a_load_level, a_run

API = "/api/prometheus/api/v1/"
BEGAN = START.timestamp()
DASHBOARD = DOCS / "howto" / "grafana" / "runs.json"
# All series that it shows, of one node.
SHOWN = {
    **dict.fromkeys(("mysql.status.Questions", "mysql.status.Innodb_os_log_written"), 100),
    **dict.fromkeys(("mysql.status.Innodb_row_lock_time", "mysql.status.Innodb_buffer_pool_reads"), 1),
    **dict.fromkeys(("mysql.status.Innodb_buffer_pool_read_requests",), 10),
    **dict.fromkeys((f"host.disk.sda.{name}" for name in ("reads", "writes", "read_time", "write_time", "io_time")), 1),
    **dict.fromkeys((f"host.net.eth0.{way}_bytes" for way in ("rx", "tx")), 1_000),
    **dict.fromkeys((f"host.cpu.{mode}" for mode in ("user", "nice", "system", "idle", "irq", "softirq")), 0.25),
}
LEVELS = {"mysql.status.Threads_running": 3, "host.memory.MemTotal": 8e9, "host.memory.MemAvailable": 6e9}


SAMPLES = [(float(t), {"mysql.status.Threads_running": 3 + t % 4, "host.cpus": 8}) for t in range(11)]


@pytest.fixture
def run(db: None) -> Run:
    """Ten seconds: a counter that rises by 100/s and falls once, a gauge, a disk."""
    samples = [
        (
            float(t),
            {
                "mysql.status.Questions": 1_000 + 100 * t if t < 6 else 100 * (t - 5),
                "mysql.status.Threads_running": 3 + t % 4,
                "host.disk.sda.reads": 10 * t,
                "host.disk.sda.writes": 10 * t,
                "host.cpus": 8,
            },
        )
        for t in range(11)
    ]
    found = an_upload(nodes={"db1": samples}).send(ended_at=(START + timedelta(seconds=11)).isoformat())
    assert seal(run_id=found.pk)
    return found


def ask(client: APIClient, path: str, **parameters: Any) -> Any:
    answer = client.get(API + path, parameters)
    assert answer.status_code == 200, answer.content
    assert answer.json()["status"] == "success"
    return answer.json()["data"]


def at(client: APIClient, query: str, second: float) -> dict[str, float]:
    """Values by node or device."""
    data = ask(client, "query", query=query, time=BEGAN + second)
    assert data["resultType"] == "vector"
    return {
        one["metric"].get("device", one["metric"].get("node", "")): float(one["value"][1]) for one in data["result"]
    }


def refusal(client: APIClient, path: str, **parameters: Any) -> str:
    answer = client.get(API + path, parameters)
    assert answer.status_code == 400, answer.content
    assert answer.json()["errorType"] == "bad_data"
    return str(answer.json()["error"])


def test_a_series_has_the_labels_of_its_run(reader: APIClient, run: Run) -> None:
    (one,) = ask(reader, "query", query=f'mysql_status_Threads_running{{run="{run.pk}"}}', time=BEGAN + 5)["result"]
    assert one["value"] == [BEGAN + 5, "4"]
    assert one["metric"] == {
        "__name__": "mysql_status_Threads_running",
        "metric": "mysql.status.Threads_running",
        "run": str(run.pk),
        "node": "db1",
        "system": run.system.slug,
        "platform": run.system.release.platform.slug,
        "release": run.system.release.version,
        "workload": run.workload.name,
        "threads": str(run.load_level.threads),
    }


def test_totals_of_counters_rates_and_what_is_made_of_them(reader: APIClient, run: Run) -> None:
    assert at(reader, "mysql_status_Questions_total", 3) == {"db1": 1300}
    assert at(reader, "rate(mysql_status_Questions_total[3s])", 5) == {"db1": pytest.approx(100)}
    # It fell from 1,500 to 100: the new counter began at zero.
    assert at(reader, "irate(mysql_status_Questions_total[3s])", 6) == {"db1": pytest.approx(100)}
    # Of the samples at 5, 6, 7 and 8 s.
    assert at(reader, "increase(mysql_status_Questions_total[4s])", 8) == {"db1": 300}
    assert at(reader, 'host_disk_reads_total{device="sda"}', 4) == {"sda": 40}
    assert at(reader, "derived_disk_requests", 4) == {"sda": pytest.approx(20)}
    assert at(reader, "100 * sum by (node) (mysql_status_Threads_running) / 2", 5) == {"db1": 200}
    assert at(reader, "max without (device) (host_disk_reads_total)", 4) == {"db1": 40}
    assert at(reader, "host_cpus", 4) == {"db1": 8}


def test_what_a_counter_gained_is_not_extrapolated_to_a_window_that_is_longer_than_its_run(
    reader: APIClient, run: Run
) -> None:
    assert at(reader, "increase(mysql_status_Questions_total[5m])", 10) == {"db1": 1_000}
    assert at(reader, "rate(mysql_status_Questions_total[5m])", 10) == {"db1": 100}


def test_matchers_select_as_in_prometheus(reader: APIClient, run: Run) -> None:
    name = "mysql_status_Threads_running"
    assert at(reader, f'{name}{{run=~"{run.pk}|999",node!~"db[2-9]"}}', 5) == {"db1": 4}
    assert at(reader, f'{name}{{node!="db1"}}', 5) == {}
    assert at(reader, f'{name}{{run="{run.pk + 1}"}}', 5) == {}
    assert at(reader, f'{name}{{run="none"}}', 5) == {}
    assert at(reader, '{__name__=~"mysql_status_Threads.*",absent=""}', 5) == {"db1": 4}


def test_runs_of_a_number_of_threads_are_found_behind_newer_ones_of_others(
    reader: APIClient, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_series, "MOST_LISTED", 1)
    for number in range(1, 4):
        a_run(
            system=run.system,
            workload=run.workload,
            load_level=a_load_level(run.load_level.threads + 1),
            started_at=START + timedelta(minutes=number),
        )
    match = f'{{threads="{run.load_level.threads}"}}'
    assert ask(reader, "label/run/values", **{"match[]": match}) == [str(run.pk)]
    assert ask(reader, "label/run/values", **{"match[]": '{threads="many"}'}) == []


def test_a_series_of_five_minutes_has_a_value_at_any_instant_of_its_run(reader: APIClient, db: None) -> None:
    samples = [(300.0 * t, {"mysql.status.Threads_running": 3 + t}) for t in range(4)]
    found = an_upload(nodes={"db1": samples}).send(ended_at=(START + timedelta(seconds=901)).isoformat())
    assert seal(run_id=found.pk)
    assert at(reader, "mysql_status_Threads_running", 850) == {"db1": 5}


def test_a_range_has_values_where_the_run_was_and_none_beside_it(reader: APIClient, run: Run) -> None:
    data = ask(reader, "query_range", query="mysql_status_Threads_running", start=BEGAN - 5, end=BEGAN + 60, step="1s")
    (one,) = data["result"]
    times = [moment - BEGAN for moment, _ in one["values"]]
    assert times == [*range(11), 11, 12]  # the last sample counts for 2.5 intervals
    assert data["resultType"] == "matrix"
    assert ask(reader, "query_range", query="1+1", start=0, end=10, step=5)["result"][0]["values"][0] == [0.0, "2"]


def test_grafana_finds_its_variables(reader: APIClient, run: Run) -> None:
    span = {"start": BEGAN, "end": BEGAN + 10}
    assert ask(reader, "label/run/values", **span) == [str(run.pk)]
    assert ask(reader, "label/run/values", start=BEGAN + 1000, end=BEGAN + 2000) == []
    assert ask(reader, "label/system/values") == [run.system.slug]
    assert ask(reader, "label/node/values", **{"match[]": f'{{run="{run.pk}"}}'}) == ["client", "db1"]
    assert "host_disk_reads_total" in ask(reader, "label/__name__/values", **span)
    assert ask(reader, "label/device/values", **{"match[]": 'host_disk_reads_total{run!=""}'}) == ["sda"]
    assert {"run", "node", "device", "__name__"} <= set(ask(reader, "labels", **span))
    (one,) = ask(reader, "series", **{"match[]": "host_cpus"})
    assert one["metric"] == "host.cpus"
    kinds = ask(reader, "metadata")
    assert kinds["mysql_status_Questions_total"][0]["type"] == "counter"
    assert ask(reader, "metadata", metric="host_cpus").keys() == {"host_cpus"}
    assert ask(reader, "status/buildinfo")["application"] == "Splashboard"
    assert ask(reader, "query", query="1+1", time=4)["result"] == [4.0, "2"]


def test_grafana_12_asks_by_forms_and_with_limits(reader: APIClient, run: Run) -> None:
    """As the source of its data source has it: the health check, the builder of queries, and a panel."""

    def post(path: str, **form: Any) -> Any:
        answer = reader.post(API + path, urlencode(form, doseq=True), content_type="application/x-www-form-urlencoded")
        assert answer.status_code == 200, answer.content
        return answer.json()["data"]

    span = {"start": int(BEGAN), "end": int(BEGAN) + 10}
    assert post("query", query="1+1", time=4, timeout="60s") == {"resultType": "scalar", "result": [4.0, "2"]}
    assert "features" not in ask(reader, "status/buildinfo"), "which it takes for a sign of Mimir"
    assert "host_cpus" in ask(reader, "label/__name__/values", limit=40_000, **span)
    assert "host_cpus" in ask(reader, "metadata", limit=40_000)
    assert {"run", "device"} <= set(post("labels", limit=40_000, **{"match[]": "host_disk_reads_total"}, **span))
    listed = post("series", limit=40_000, **{"match[]": '{__name__!=""}'}, **span)
    assert {"host_cpus", "host_disk_reads_total"} <= {one["__name__"] for one in listed}
    (row,) = post("query_range", query="host_cpus", step=1, timeout="60s", **span)["result"]
    assert len(row["values"]) == 11


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("histogram_quantile(0.9, host_cpus)", "histogram_quantile() is not supported here: rate, irate, increase are"),
        ("topk(3, host_cpus)", "topk is not supported here"),
        ("host_cpus > 1", "operator > is not supported"),
        ("host_cpus / host_cpus", "between two vectors is not supported"),
        ("host_cpus offset 5m", "offset and @"),
        ("rate(host_cpus[5s])", "host_cpus is a gauge: rate() is for counters"),
        ("rate(host_cpus[5m:1m])", "subquery"),
        ("host_cpus[5m]", "not supported"),
        ('host_cpus{run="1"', "unexpected end"),
        ('host_cpus{run=~"("}', "regex"),
        ('{run=~".*"}', "non-empty"),
        ("(" * 300 + "1" + ")" * 300, "parentheses"),
        ("x" * 2001, "2,001 characters"),
        ("", "no expression"),
    ],
)
def test_what_is_not_supported_is_refused_by_name(reader: APIClient, run: Run, query: str, words: str) -> None:
    assert words in refusal(reader, "query", query=query, time=BEGAN + 5)


@pytest.mark.parametrize(
    ("path", "parameters", "words"),
    [
        ("query_range", {"query": "1", "end": 1, "step": 1}, "'start': it is missing"),
        ("query_range", {"query": "1", "start": "soon", "end": 1, "step": 1}, "'soon' is not a time"),
        ("query_range", {"query": "1", "start": 2, "end": 1, "step": 1}, "end lies before start"),
        ("query_range", {"query": "1", "start": 0, "end": 1, "step": 0}, "'step'"),
        ("query_range", {"query": "1", "start": 0, "end": 20_000, "step": 1}, "11,000 points"),
        ("query", {"query": "1", "time": "nan"}, "'time'"),
        ("label/a-b/values", {}, "invalid label name"),
        ("series", {}, "no match[]"),
        ("series", {"match[]": "1"}, "is no selector"),
    ],
)
def test_a_wrong_parameter_is_named(reader: APIClient, path: str, parameters: dict[str, Any], words: str) -> None:
    assert words in refusal(reader, path, **parameters)


def test_too_many_runs_in_a_time_are_refused_with_the_remedy(reader: APIClient, run: Run, monkeypatch: Any) -> None:
    monkeypatch.setattr("apps.rest.prometheus.run_series.MOST_RUNS", 0)
    assert 'choose with run="' in refusal(reader, "query", query="host_cpus", time=BEGAN + 5)


@pytest.mark.parametrize("query", ['{__name__=~"host_disk_.*"}', "host_cpus + (host_cpus + 1)", 'sum({node="db1"})'])
def test_too_many_values_are_refused_with_the_remedy(reader: APIClient, run: Run, monkeypatch: Any, query: str) -> None:
    monkeypatch.setattr("apps.rest.prometheus.views.MOST_VALUES", 21)
    span = {"start": BEGAN, "end": BEGAN + 10}
    assert len(ask(reader, "query_range", query="host_cpus", step=1, **span)["result"][0]["values"]) == 11
    said = refusal(reader, "query_range", query=query, step=1, **span)
    assert "11 points of each series, at most 21: ask with a longer step" in said


@override_settings(SPLASHBOARD_PUBLIC_READ=False)
def test_strangers_read_nothing_and_forms_are_read_as_addresses(anyone: APIClient, reader: APIClient, run: Run) -> None:
    for path in ("query", "labels", "label/run/values", "series", "metadata", "status/buildinfo", "query_range"):
        assert anyone.get(API + path).status_code == 401
        assert anyone.post(API + path).status_code == 401
    posted = reader.post(f"{API}query", "query=1%2B1&time=4", content_type="application/x-www-form-urlencoded")
    assert posted.json()["data"]["result"] == [4.0, "2"]
    assert reader.put(f"{API}query").status_code == 405


def test_more_runs_cost_no_more_queries(reader: APIClient, run: Run) -> None:
    def asked(path: str, **parameters: Any) -> int:
        run_series._sealed = run_series._SealedSeries()
        with CaptureQueriesContext(connection) as queries:
            ask(reader, path, **parameters)
        return len(queries)

    def counted() -> list[int]:
        return [
            asked("query", query="mysql_status_Threads_running", time=BEGAN + 5),
            asked("query_range", query="host_cpus", start=BEGAN, end=BEGAN + 10, step=1),
            asked("label/node/values", **{"match[]": "host_cpus"}),
            asked("metadata"),
        ]

    alone = counted()
    others = [an_upload(nodes={"db1": SAMPLES}).send() for _ in range(3)]
    assert all(seal(run_id=other.pk) for other in others[:2])  # the last one is live
    assert counted() == alone
    found = ask(reader, "query", query="mysql_status_Threads_running", time=BEGAN + 5)["result"]
    assert {one["metric"]["run"] for one in found} == {str(each.pk) for each in (run, *others)}


def test_each_run_is_read_at_its_own_time(reader: APIClient, run: Run) -> None:
    later = an_upload(nodes={"db1": SAMPLES}).send()
    assert seal(run_id=later.pk)
    Run.objects.filter(pk=later.pk).update(started_at=START + timedelta(seconds=8))
    data = ask(reader, "query_range", query="mysql_status_Threads_running", start=BEGAN, end=BEGAN + 30, step=1)
    times = {one["metric"]["run"]: [int(at - BEGAN) for at, _ in one["values"]] for one in data["result"]}
    assert {name: (each[0], each[-1]) for name, each in times.items()} == {str(run.pk): (0, 12), str(later.pk): (8, 20)}


def test_a_live_run_is_read_too(reader: APIClient) -> None:
    upload = an_upload()
    upload.send_batch(0)
    assert at(reader, "mysql_status_Threads_running", 5) == {"db1": 4}


def test_every_query_of_the_dashboard_has_an_answer(reader: APIClient) -> None:
    samples = [(float(t), {**{key: each * t for key, each in SHOWN.items()}, **LEVELS}) for t in range(21)]
    run = an_upload(nodes={"db1": samples}).send()
    assert seal(run_id=run.pk)
    dashboard = json.loads(DASHBOARD.read_text())
    variables = {"$system": run.system.slug, "$run": str(run.pk), "$node": "db1|client", "$__rate_interval": "4s"}

    def filled(text: str) -> str:
        for name, value in variables.items():
            text = text.replace(name, value)
        return text

    for variable in dashboard["templating"]["list"][1:]:
        asked = re.fullmatch(r"label_values\((?:(.+), )?(\w+)\)", variable["query"]["query"])
        assert asked is not None
        selector, label = asked.groups()
        match = {"match[]": filled(selector)} if selector else {}
        assert ask(reader, f"label/{label}/values", start=BEGAN, end=BEGAN + 20, **match), variable["name"]
    queries = [filled(target["expr"]) for panel in dashboard["panels"] for target in panel["targets"]]
    span = {"start": BEGAN, "end": BEGAN + 20, "step": 1}
    answers = {query: ask(reader, "query_range", query=query, **span)["result"] for query in queries}
    # The load tool of this recording prints one percentile.
    assert [query for query, found in answers.items() if not found and "client_latency" not in query] == []
    assert len(answers) > 10


@pytest.mark.needs("promtool")
@pytest.mark.django_db(transaction=True)
@override_settings(SPLASHBOARD_PUBLIC_READ=True)  # Debian's has no options for a token
def test_prometheus_own_client_reads_a_run(live_server: LiveServer, run: Run) -> None:
    def promtool(*arguments: str) -> str:
        argv = ["promtool", "query", *arguments]
        done = subprocess.run(argv, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    url = f"{live_server.url}/api/prometheus"
    name = f'mysql_status_Threads_running{{run="{run.pk}"}}'
    assert "=> 4 @[" in promtool("instant", url, name, "--time", str(BEGAN + 5))
    rate = f'rate(mysql_status_Questions_total{{run="{run.pk}"}}[3s])'
    ranged = promtool("range", url, rate, f"--start={BEGAN + 3}", f"--end={BEGAN + 5}", "--step=1s")
    assert ranged.count("100 @[") == 3
    assert "mysql_status_Threads_running" in promtool("series", url, "--match", name)
    assert "db1" in promtool("labels", url, "node")
