"""The verdict of `splashboard run --baseline` on what the server answers."""

from datetime import timedelta
from urllib.parse import parse_qs, urlsplit

import pytest
from django.test import Client
from pytest_django.live_server_helper import LiveServer

from apps.catalog.models import System, Workload
from splashboard.failures import Exit, Misuse
from splashboard.server import Server
from splashboard.shapes import checked
from splashboard.wrap import baseline
from splashboard.wrap.baseline import BaselineRuns, Compared
from tests.support.builders import START, a_load_level, a_measured_run, a_run, a_system, a_workload

LIVE = pytest.mark.django_db(transaction=True)
RATE = 100.0
LONG = "before-" + "x" * 70


def measured(system: System, *, throughput: float, p95: float) -> None:
    for number in range(5):
        a_measured_run(
            {"client.throughput": throughput + number / 10, "client.latency.p95": p95 + number / 100},
            **{"system": system, "load_level": a_load_level(8, RATE), "repetition": number + 1},
            started_at=START.replace(minute=number),
        )


def compared(client: Client, *, throughput: float, p95: float) -> Compared:
    """With a baseline that did 100/s, 95 % of it within 5 ms."""
    measured(a_system("before"), throughput=100.0, p95=5.0)
    measured(a_system("after", settings={"innodb_flush_log_at_trx_commit": "2"}), throughput=throughput, p95=p95)
    answer = client.get(f"/api/v1/comparisons/?side=before&side=after&workload={a_workload().pk}").json()
    return baseline.judged(checked(answer, baseline.COMPARISON), side="after", address="", tolerance=0.1)


@pytest.mark.django_db
def test_a_rate_that_was_held_passes(client: Client) -> None:
    found = compared(client, throughput=99.0, p95=5.0)
    assert found.exit is Exit.FINE, found
    (line,) = [line for line in found.lines if "rate held" in line]
    assert line.endswith("at 8 threads, 100/s: rate held, 99.2 % of 100/s (baseline 100 %)")


@pytest.mark.django_db
def test_a_rate_that_was_not_held_cannot_tell(client: Client) -> None:
    found = compared(client, throughput=70.0, p95=5.0)
    assert found.exit is Exit.CANNOT_TELL
    assert "100/s: rate not held, 70.2" in found.sentence


@pytest.mark.django_db
def test_a_latency_that_rose_at_a_rate_that_was_held_is_worse(client: Client) -> None:
    found = compared(client, throughput=99.0, p95=9.0)
    assert found.exit is Exit.REGRESSION
    assert "at 8 threads, 100/s 1.79" in found.sentence


def named(live_server: LiveServer, text: str) -> BaselineRuns:
    """As of runs of the system "after"."""
    return baseline.find(Server(url=live_server.url), text, system="after", base="after", platform="mariadb")


@LIVE
@pytest.mark.parametrize(
    ("system", "text", "words"),
    [
        ("before", "before", "system before"),
        (LONG, LONG, f"system {LONG}"),
        ("before", "10.11.19", "release 10.11.19"),
        ("before", "10.11", "release 10.11"),
        ("after-before", "before", "variant before"),
    ],
)
def test_a_baseline_is_found_by_the_first_name_that_has_runs(
    live_server: LiveServer, system: str, text: str, words: str
) -> None:
    a_run(system=a_system(system))
    found = named(live_server, text)
    assert (found.words, found.systems) == (words, [system])


@LIVE
@pytest.mark.parametrize("text", ["nothing", "x" * 300])
def test_a_baseline_that_names_nothing_is_refused_with_what_may_be_given(live_server: LiveServer, text: str) -> None:
    a_run(system=a_system("before"))
    with pytest.raises(Misuse, match="names no run that counts: give ids of runs"):
        named(live_server, text)


@LIVE
def test_the_newest_runs_of_the_workload_are_compared_and_it_says_that_there_are_more(
    live_server: LiveServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(baseline, "MOST_RUNS", 3)
    monkeypatch.setattr(baseline, "PAGE", 2)
    before, after = a_system("before"), a_system("after", settings={"innodb_flush_log_at_trx_commit": "2"})
    old, new = a_workload("oltp_insert"), a_workload("oltp_delete")

    def run(system: System, workload: Workload, minute: int) -> int:
        began = START + timedelta(minutes=minute)
        result = {"client.throughput": 100 + minute / 10}
        return a_measured_run(result, system=system, workload=workload, started_at=began, repetition=minute + 1).pk

    known = [run(before, old, minute) for minute in range(4)]
    for minute in range(4, 9):
        run(before, new, minute)
    own = [run(after, old, minute) for minute in range(4)]
    server, runs = Server(url=live_server.url), named(live_server, "before")
    found = baseline.compare(server, runs, system="after", workload=old.pk, runs=own, tolerance=0.1)
    assert parse_qs(urlsplit(found.address).query)["runs"] == [",".join(map(str, [*known[1:], *own]))]
    assert found.lines
    assert baseline.CUT in found.notes
