"""Series read from Prometheus and attached to a run: what is asked, and what a user reads."""

import base64
import gzip
import json
import time
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from splashboard.prometheus import source as prometheus
from tests.client.conftest import Answered, Command, FakeServer

BEGAN = 1_767_225_600.0
RUN = {
    "id": 7,
    "state": "sealed",
    "started_at": "2026-01-01T00:00:00Z",
    "ended_at": "2026-01-01T00:05:00Z",
    "nodes": [],
}
DONE: dict[str, Any] = {
    "run": 7,
    "artifact": "prometheus.ndjson.gz",
    "created": True,
    "nodes": [{"name": "db1", "metrics": ["host.cpus"], "own": 2, "known": 1, "interval": 1.0, "moved": 0.2}],
    "warnings": ["samples of db1 were moved by up to 0.20 s, to one clock for all of its exporters"],
}


def a(document: Any, status: int = 200) -> Answered:
    return status, {"Content-Type": "application/json"}, json.dumps(document).encode()


def data(found: Any) -> Answered:
    return a({"status": "success", "data": found})


def matrix(*series: tuple[dict[str, str], list[tuple[float, str]]]) -> Answered:
    rows = [{"metric": labels, "values": values} for labels, values in series]
    return data({"resultType": "matrix", "result": rows})


def vector(*labels: dict[str, str]) -> Answered:
    return data({"resultType": "vector", "result": [{"metric": one, "value": [0, "1"]} for one in labels]})


def now(ahead: float = 0.0) -> Answered:
    there = time.time() + ahead
    return data({"resultType": "scalar", "result": [there, str(there)]})


def now_of_victoria_metrics() -> Answered:
    """As of 30 s ago, by default, and as a vector."""
    there = time.time()
    return data({"resultType": "vector", "result": [{"metric": {}, "value": [there, str(there - 30)]}]})


UP = {"__name__": "up", "instance": "10.0.0.1:9100"}
SAMPLES = matrix((UP, [(BEGAN + second, "1") for second in range(0, 300, 60)]))
NOTHING = matrix()
TYPES = data({"up": [{"type": "gauge"}]})


@pytest.fixture
def attach(command: Command, fake: FakeServer, monkeypatch: pytest.MonkeyPatch) -> Command:
    monkeypatch.setenv("SPLASHBOARD_URL", fake.url)
    monkeypatch.setattr(prometheus, "FIRST_PAUSE", 0.001)
    for name in ("PASSWORD", "BEARER"):
        monkeypatch.delenv(f"SPLASHBOARD_PROMETHEUS_{name}", raising=False)
    return lambda *options: command("attach", 7, "--prometheus", f"{fake.url}/prometheus/", *options)


def asked(fake: FakeServer, path: str) -> list[dict[str, str]]:
    """Parameters of the queries of a kind."""
    parts = [urlsplit(there) for _, there, _, _ in fake.received]
    return [
        {name: values[0] for name, values in parse_qs(part.query).items()}
        for part in parts
        if part.path == f"/prometheus/api/v1/{path}"
    ]


def sent(fake: FakeServer) -> list[dict[str, Any]]:
    (body,) = [body for method, path, _, body in fake.received if (method, path) == ("POST", "/api/v1/runs/7/series/")]
    return [json.loads(line) for line in gzip.decompress(body).splitlines()]


def test_every_sample_of_the_runs_time_is_sent_as_it_was_scraped(attach: Command, fake: FakeServer) -> None:
    later = matrix((UP, [(BEGAN + 240, "1"), (BEGAN + 301, "0"), (BEGAN + 302, "NaN")]))
    fake.answers = [a(RUN), now(), SAMPLES, later, TYPES, a(DONE, 201)]
    said = attach("--node", "db1=10.0.0.1")
    assert said.code == 0, said.err
    assert said.out.splitlines() == [
        "Run 7: prometheus.ndjson.gz is attached",
        "  db1: 1 metrics, 2 series under their own names; 1 it had already; a sample each 1 s",
        f"  {DONE['warnings'][0]}",
    ]
    assert [one["query"] for one in asked(fake, "query")[1:]] == [
        r'{instance=~"10\\.0\\.0\\.1(:[0-9]+)?"}[300001ms]',
        r'{instance=~"10\\.0\\.0\\.1(:[0-9]+)?"}[120001ms]',
    ]
    assert [float(one["time"]) - BEGAN for one in asked(fake, "query")[1:]] == [240, 360]
    head, clock, series = sent(fake)
    assert (head["splashboard"], head["version"]) == ("prometheus series", 1)
    assert [at - BEGAN for at in clock["at"]] == [0, 60, 120, 180, 240, 301, 302]
    assert series == {
        "node": "db1",
        "labels": UP,
        "clock": 0,
        "type": "gauge",
        "values": [1, 1, 1, 1, 1, 0, None],
    }


def test_a_step_asks_query_range_for_no_more_points_than_it_gives(attach: Command, fake: FakeServer) -> None:
    fake.answers = [a(RUN | {"ended_at": "2026-01-01T06:00:00Z"}), now(), SAMPLES, NOTHING, NOTHING, TYPES, a(DONE)]
    assert attach("--node", "db1=10.0.0.1:9100", "--step", 30, "--match", "node_.*").code == 0
    ranges = asked(fake, "query_range")
    assert {one["query"] for one in ranges} == {'{instance="10.0.0.1:9100",__name__=~"node_.*"}'}
    assert {(one["nocache"], one["latency_offset"]) for one in ranges} == {("1", "0s")}, (
        "VictoriaMetrics changes values"
    )
    spans = [(float(one["start"]) - BEGAN, float(one["end"]) - BEGAN) for one in ranges]
    assert spans[0][0] == -60
    assert len(spans) == 3
    assert all((end - start) / 30 < prometheus.MOST_POINTS for start, end in spans)
    assert spans[-1][1] == 6 * 3600 + 60


def test_a_server_that_gives_fewer_samples_is_asked_for_shorter_times(attach: Command, fake: FakeServer) -> None:
    many = a({"status": "error", "error": "query processing would load too many samples into memory"}, 422)
    fake.answers = [a(RUN), now(), many, SAMPLES, NOTHING, NOTHING, TYPES, a(DONE)]
    assert attach("--node", "db1=a").code == 0
    assert [one["query"].rpartition("[")[2] for one in asked(fake, "query")[1:]] == [
        "300001ms]",
        *["150001ms]"] * 2,
        "120001ms]",
    ]


def test_without_nodes_the_only_host_is_read_and_several_are_refused(attach: Command, fake: FakeServer) -> None:
    both = [UP, {**UP, "instance": "10.0.0.1:9104"}]
    fake.answers = [a(RUN), now(), data(both), SAMPLES, NOTHING, TYPES, a(DONE)]
    assert attach().code == 0
    assert asked(fake, "series")[0]["match[]"] == '{__name__=~"node_.+|mysql_.+"}'
    assert "node" not in sent(fake)[2]
    several = [*both, {"node_name": "db2", "instance": "x"}]
    fake.answers = [a(RUN), now(), data(several), vector(*several)]
    said = attach()
    assert said.code == 3
    assert "2 hosts: 10.0.0.1, db2" in said.err
    assert "--node NAME=INSTANCE" in said.err


def test_a_host_that_was_scraped_at_another_time_of_the_day_is_not_counted(attach: Command, fake: FakeServer) -> None:
    """VictoriaMetrics lists the series of whole days."""
    earlier = {**UP, "instance": "10.0.0.9:9100"}
    fake.answers = [a(RUN), now(), data([earlier, UP]), vector(UP), SAMPLES, NOTHING, TYPES, a(DONE)]
    said = attach()
    assert said.code == 0, said.err
    assert asked(fake, "query")[1] == {"query": "count_over_time(up[300000ms])", "time": f"{BEGAN + 300:.3f}"}


def headers(fake: FakeServer) -> dict[str, str]:
    found = next(found for _, path, found, _ in fake.received if path.startswith("/prometheus"))
    return {name.lower(): value for name, value in found.items()}


def test_credentials_come_from_files_or_the_environment(
    attach: Command, fake: FakeServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    answers = [a(RUN), now(), SAMPLES, NOTHING, TYPES, a(DONE)]
    (tmp_path / "bearer").write_text("a-token\n")
    (tmp_path / "password").write_text("hidden\n")
    basic = f"Basic {base64.b64encode(b'me:hidden').decode()}"
    for options, expected in (
        (("--user", "me", "--password-file", tmp_path / "password"), basic),
        (("--bearer-file", tmp_path / "bearer", "--tenant", "benchmarks"), "Bearer a-token"),
    ):
        fake.answers, fake.received = [*answers], []
        assert attach("--node", "db1=a", *options).code == 0
        assert headers(fake)["authorization"] == expected
    assert headers(fake)["x-scope-orgid"] == "benchmarks"
    monkeypatch.setenv("SPLASHBOARD_PROMETHEUS_PASSWORD", "hidden")
    fake.answers, fake.received = [*answers], []
    assert attach("--node", "db1=a", "--user", "me").code == 0
    assert headers(fake)["authorization"] == basic
    assert b"hidden" not in fake.received[-1][3]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--node", "db1"), "names no instance"),
        (("--node", "db1={}"), "is not a selector"),
        (("--user", "me"), "SPLASHBOARD_PROMETHEUS_PASSWORD"),
        (("--password-file", "x"), "--password-file needs --user"),
        (("--ca", "/nowhere.pem"), "TLS options are given for an http:// address"),
        (("--prometheus", "prometheus:9090"), "write it as http://prometheus:9090"),
        (("--prometheus", "http://me:you@a"), "give the name as user"),
        (("--prometheus", "https://a.example", "--ca", "/nowhere.pem"), "/nowhere.pem holds no certificates"),
        (("--step", "0"), "number of seconds"),
        (("--file", "x"), "--prometheus URL, or --file"),
    ],
)
def test_wrong_options_are_named_with_the_remedy(
    attach: Command, fake: FakeServer, options: tuple[str, ...], words: str
) -> None:
    fake.answers = [a(RUN), now(), SAMPLES]
    said = attach(*options)
    assert said.code == 3, said
    assert words in said.err


@pytest.mark.parametrize(
    ("answers", "code", "words"),
    [
        ([a(RUN | {"state": "ended"})], 3, "run 7 is not complete yet"),
        ([a({"detail": "no"}, 401)], 4, "give user and password, or a bearer token"),
        ([a("nothing here", 404)], 4, "Mimir's ends with /prometheus"),
        ([a({"status": "error", "error": "invalid parameter"}, 400)], 3, "400: invalid parameter"),
        ([(302, {"Location": "https://login.example/"}, b"")], 4, "redirects to https://login.example/"),
        ([(200, {}, b"<html>")], 5, "is it a Prometheus?"),
        ([data({"result": []})], 5, "is it a Prometheus?"),
        ([a({}, 503)], 4, "answered 503"),
        ([now(), NOTHING], 3, "no sample of these nodes in the run's time, 2026-01-01 00:00:00 to"),
        ([now(), matrix((UP, [(BEGAN + 900, "1")]))], 3, "the clocks of both"),
    ],
)
def test_trouble_is_said_in_words(
    attach: Command, fake: FakeServer, answers: list[Answered], code: int, words: str
) -> None:
    is_about_run = b'"ended"' in answers[0][2]
    fake.answers = [*([] if is_about_run else [a(RUN)]), *answers]
    said = attach("--node", "db1=a", "--timeout", 5)
    assert said.code == code, said
    assert words in said.err
    assert "Traceback" not in said.err


def test_a_clock_that_differs_is_a_warning(attach: Command, fake: FakeServer) -> None:
    fake.answers = [a(RUN), now(ahead=-90), SAMPLES, NOTHING, TYPES, a(DONE)]
    said = attach("--node", "db1=a")
    assert said.code == 0
    assert "Prometheus' clock is 90" in said.err
    assert "behind that of this machine" in said.err


def test_the_clock_of_victoria_metrics_is_not_taken_for_late(attach: Command, fake: FakeServer) -> None:
    fake.answers = [a(RUN), now_of_victoria_metrics(), SAMPLES, NOTHING, TYPES, a(DONE)]
    said = attach("--node", "db1=a")
    assert said.code == 0, said.err
    assert "clock" not in said.err


def test_series_can_be_saved_where_prometheus_is_and_attached_elsewhere(
    attach: Command, command: Command, fake: FakeServer, tmp_path: Path
) -> None:
    fake.answers = [a(RUN), now(), SAMPLES, NOTHING, TYPES]
    said = attach("--node", "db1=a", "--save", tmp_path / "series")
    assert (said.code, said.out) == (0, "")
    fake.answers, fake.received = [a(DONE, 201)], []
    assert command("attach", 7, "--file", tmp_path / "series", "--json").code == 0
    assert sent(fake)[2]["labels"] == UP
