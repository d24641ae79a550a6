"""What Prometheus reads of the server, and the alerts on it."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.test import Client, RequestFactory
from prometheus_client.parser import text_string_to_metric_families

from apps.core.server import measures
from apps.dispatch.models import Job
from config.observe import CountRequests
from tests.paths import DOCS, ROOT
from tests.support.builders import a_job, a_token, a_user, an_agent
from workers.celery import app

pytestmark = pytest.mark.django_db

ALERTS = DOCS / "howto" / "alerts.yml"


def read(client: Client) -> dict[str, dict[tuple[tuple[str, str], ...], float]]:
    """Name of a sample -> its labels -> value."""
    response = client.get("/metrics")
    assert response.status_code == 200
    found: dict[str, dict[tuple[tuple[str, str], ...], float]] = {}
    for family in text_string_to_metric_families(response.content.decode()):
        for sample in family.samples:
            found.setdefault(sample.name, {})[tuple(sorted(sample.labels.items()))] = sample.value
    return found


def answered(route: str = "", status: str = "200 OK", *, path: str = "/", **headers: str) -> dict[str, str]:
    """The headers of an answer under the address `route`, from the outermost application."""

    def django(environ: dict[str, Any], start_response: Any) -> list[bytes]:
        if route:
            environ[measures.ROUTE] = route
        start_response(status, [])
        return []

    begun: list[Any] = []
    list(CountRequests(django)(RequestFactory(headers=headers).get(path).environ, lambda *head: begun.append(head)))
    return dict(begun[0][1])


def test_checks_jobs_and_agents_are_counted_when_they_are_asked_for(client: Client) -> None:
    an_agent()
    a_job(state=Job.State.QUEUED)
    found = read(client)
    assert found["splashboard_check"][("check", "database"),] == 0
    assert ("check", "queue") in {key[0] for key in found["splashboard_check"]}
    assert found["splashboard_jobs"][("state", "queued"),] == 1
    assert sum(found["splashboard_agents"].values()) == 1


def test_requests_are_counted_by_the_name_of_their_address(client: Client) -> None:
    def count(route: str, status: str) -> float:
        labels = (("method", "GET"), ("route", route), ("status", status))
        return read(client).get("splashboard_http_requests_total", {}).get(labels, 0)

    before = count("web:run", "404"), count("unknown", "404")
    for number in (4711, 4712):
        request = client.get(f"/runs/{number}/").wsgi_request
        answered(request.META[measures.ROUTE], "404 Not Found", path=request.path)
    assert measures.ROUTE not in client.get("/no-such-page/").wsgi_request.META
    answered("", "404 Not Found", path="/no-such-page/")
    assert (count("web:run", "404"), count("unknown", "404")) == (before[0] + 2, before[1] + 1)


def test_a_request_keeps_the_name_that_a_proxy_gave_it_and_no_other_text() -> None:
    assert answered(**{"X-Request-ID": "proxy-4711-abc"})["X-Request-ID"] == "proxy-4711-abc"
    for odd in ("", "short", "a b c d e f g h", "x" * 65):
        assert re.fullmatch("[0-9a-f]{32}", answered(**{"X-Request-ID": odd})["X-Request-ID"])


def test_tasks_are_counted_by_their_outcome(client: Client) -> None:
    def count(outcome: str) -> float:
        return read(client).get("splashboard_tasks_total", {}).get((("outcome", outcome), ("task", "tried")), 0)

    @app.task(name="tests.tried")
    def tried(*, fails: bool) -> None:
        if fails:
            raise ValueError

    before = count("success"), count("failure")
    tried.apply(kwargs={"fails": False}), tried.apply(kwargs={"fails": True}), tried.apply(kwargs={"fails": True})
    assert (count("success"), count("failure")) == (before[0] + 1, before[1] + 2)


def test_strangers_read_no_metrics_where_reading_needs_a_sign_in(client: Client, settings: Any) -> None:
    settings.SPLASHBOARD_PUBLIC_READ = False
    assert client.get("/metrics").status_code == 401
    _, secret = a_token(a_user(), scope="read")
    headers = {"Authorization": f"Token {secret}"}
    assert client.get("/metrics", headers=headers).status_code == 200


def test_every_alert_asks_for_metrics_that_are_there(client: Client) -> None:
    rules = [rule for group in yaml.safe_load(ALERTS.read_text())["groups"] for rule in group["rules"]]
    assert len(rules) == len({rule["alert"] for rule in rules}) >= 7
    known = {family.name for family in text_string_to_metric_families(client.get("/metrics").content.decode())}
    asked = {name for rule in rules for name in re.findall(r"splashboard_\w+", rule["expr"])}
    assert asked
    assert {re.sub(r"_(total|bucket)$", "", name) for name in asked} <= known


def test_processes_add_up(tmp_path: Path) -> None:
    """Two processes count on their own; a third is asked."""
    environment = {measures.FOLDER: str(tmp_path / "metrics")}
    counts = "from apps.core.server import measures; measures.TASKS.labels('a', 'success').inc(3)"
    for _ in range(2):
        subprocess.run([sys.executable, "-c", counts], cwd=ROOT, env=environment, check=True)
    asks = "from apps.core.server import measures; print(measures.exposition([]).decode())"
    found = subprocess.run(
        [sys.executable, "-c", asks], cwd=ROOT, env=environment, check=True, capture_output=True, text=True
    )
    assert 'splashboard_tasks_total{outcome="success",task="a"} 6.0' in found.stdout
