"""Series of Prometheus attached to a run, over the API."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pytest
from rest_framework.test import APIClient

from apps.catalog.models import Metric
from apps.runs.models import Artifact, Run
from apps.runs.seal import reseal
from tests.rest.submissions import a_description, fields_of, send
from tests.runs.ingest.prometheus.sent import a_file

BEGAN = datetime(2026, 11, 20, 10, tzinfo=UTC).timestamp()
SECONDS = [BEGAN + second + 0.1 for second in range(-1, 12)]
Series = tuple[str, dict[str, str], list[float], Any]


def some_series(times: Sequence[float] = SECONDS) -> list[Series]:
    at = list(times)
    rising = [float(place) for place in range(len(at))]
    return [
        *(
            ("node_cpu_seconds_total", {"cpu": "0", "mode": mode}, at, [share * count for count in rising])
            for mode, share in (("user", 0.5), ("system", 0.25), ("idle", 0.25))
        ),
        *(
            ("node_cpu_seconds_total", {"cpu": "0", "mode": mode}, at, 0.0)
            for mode in ("nice", "irq", "softirq", "steal", "iowait")
        ),
        ("mysql_global_variables_max_connections", {}, at, 100.0),
        ("mysql_global_status_threads_connected", {}, at, [10 + place % 2 for place in range(len(at))]),
        ("node_filesystem_avail_bytes", {"mountpoint": "/"}, at, rising),
        ("node_strange_things", {}, at, rising),
    ]


@pytest.fixture
def run(engineer: APIClient) -> Run:
    answer = send(engineer, a_description())
    assert answer.status_code == 201, answer.content
    return Run.objects.get()


def attach(client: APIClient, run: Run, content: bytes) -> Any:
    return client.post(f"/api/v1/runs/{run.pk}/series/", content, content_type="application/gzip")


def a_reading(client: APIClient, run: Run, indicator: str) -> dict[str, Any]:
    panel = client.get(f"/api/v1/runs/{run.pk}/use/").json()
    (found,) = [one for one in panel["readings"] if one["indicator"] == indicator]
    return dict(found)


def test_attached_series_feed_the_use_panel_and_change_no_number_of_the_run(engineer: APIClient, run: Run) -> None:
    before = engineer.get(f"/api/v1/runs/{run.pk}/").json()["measurements"]
    answer = attach(engineer, run, a_file(*some_series()))
    assert answer.status_code == 201, answer.content
    (node,) = answer.json()["nodes"]
    assert node["name"] == "db1"
    assert (node["own"], node["known"], node["interval"]) == (2, 0, 1.0)
    assert "host.cpu.user" in node["metrics"]
    assert a_reading(engineer, run, "cpu.busy")["value"] == pytest.approx(75)
    assert a_reading(engineer, run, "connections.used")["value"] == pytest.approx(10.5, abs=0.1)
    assert engineer.get(f"/api/v1/runs/{run.pk}/").json()["measurements"] == before


def test_series_of_unknown_names_are_charted_under_their_own(engineer: APIClient, run: Run) -> None:
    attach(engineer, run, a_file(*some_series(), types={"node_strange_things": "counter"}))
    index = engineer.get(f"/api/v1/runs/{run.pk}/series-index/").json()["series"]
    own = {one["metric"]: one for one in index if one["metric"].startswith("prometheus.")}
    assert own['prometheus.node_filesystem_avail_bytes{mountpoint="/"}']["unit"] == "bytes"
    assert own["prometheus.node_strange_things"]["kind"] == "rate"
    assert own["prometheus.node_strange_things"]["mean"] == pytest.approx(1.0)
    read = engineer.get(f"/api/v1/runs/{run.pk}/series/", {"metric": "prometheus.node_strange_things"}).json()
    assert len(read["series"][0]["at"]) == len(SECONDS) - 1


def test_the_same_file_is_attached_once_and_series_that_a_run_has_stay(engineer: APIClient, run: Run) -> None:
    content = a_file(*some_series())
    assert attach(engineer, run, content).status_code == 201
    again = attach(engineer, run, content)
    assert (again.status_code, again.json()["created"]) == (200, False)
    other = attach(engineer, run, a_file(*some_series([at + 0.2 for at in SECONDS])))
    assert (other.status_code, fields_of(other)) == (409, ["run"])
    assert "nothing is left to attach" in other.json()["detail"]
    more = attach(engineer, run, a_file(*some_series(), ("node_load1", {}, SECONDS, 7.0)))
    (node,) = more.json()["nodes"]
    assert (node["metrics"], node["own"], node["known"]) == (["host.load.1m"], 0, 13)
    assert Artifact.objects.filter(run=run, name__startswith="prometheus").count() == 2


def test_a_reseal_keeps_attached_series(engineer: APIClient, run: Run) -> None:
    attach(engineer, run, a_file(*some_series()))
    known = engineer.get(f"/api/v1/runs/{run.pk}/series-index/").json()["series"]
    assert reseal(run_id=run.pk)
    assert engineer.get(f"/api/v1/runs/{run.pk}/series-index/").json()["series"] == known


@pytest.mark.parametrize(
    ("content", "field", "words"),
    [
        (b"", "file", "is empty"),
        (b"up 1", "file", "not gzip"),
        (a_file(*some_series(), node="db9"), "node", "its nodes are db1, client"),
        (a_file(*some_series([at + 1e4 for at in SECONDS])), "file", "after its end"),
        (
            a_file(("up", {"url": "http://me:hidden@db1/"}, SECONDS, 1.0)),
            "file",
            "a label shows what may be a password",
        ),
    ],
)
def test_an_unusable_file_is_refused_with_field_and_remedy(
    engineer: APIClient, run: Run, content: bytes, field: str, words: str
) -> None:
    answer = attach(engineer, run, content)
    assert (answer.status_code, fields_of(answer)) == (422, [field]), answer.content
    assert words in answer.json()["detail"]
    assert not Artifact.objects.filter(run=run, name__startswith="prometheus").exists()
    assert not Metric.objects.filter(key__startswith="prometheus.").exists()


def test_only_engineers_attach_and_only_to_complete_runs(reader: APIClient, engineer: APIClient, run: Run) -> None:
    assert attach(reader, run, a_file(*some_series())).status_code == 403
    Run.objects.filter(pk=run.pk).update(state=Run.State.ENDED)
    answer = attach(engineer, run, a_file(*some_series()))
    assert (answer.status_code, fields_of(answer)) == (409, ["run"])
