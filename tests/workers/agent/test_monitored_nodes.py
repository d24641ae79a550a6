"""An agent that reads a node's series from a real Prometheus, besides what it samples itself."""

from datetime import datetime
from pathlib import Path

import pytest

from apps.runs.ingest.prometheus import payload
from lab.mariadb import ACCOUNT, MariaDB
from tests.support.monitoring import PASSWORD, PROGRAMS, USER, monitored
from tests.support.waiting import eventually
from tests.workers.agent.jobs import StartAgent, ended, only_run
from tests.workers.agents import ConfigFile
from tests.workers.server import FakeServer, a_job
from workers.agent.samplers.prometheus import ARTIFACT

pytestmark = pytest.mark.mariadb


@pytest.mark.needs(*PROGRAMS)
def test_the_series_of_its_prometheus_are_sent_with_the_run(
    server: FakeServer, single: ConfigFile, mariadb: MariaDB, start_agent: StartAgent, tmp_path: Path
) -> None:
    (tmp_path / "prometheus-password").write_text(f"{PASSWORD}\n")
    with monitored(mariadb.port, ACCOUNT, mariadb.password, tmp_path) as prometheus:
        with single.file.open("a") as stream:
            stream.write(
                f'[[systems.nodes]]\nname = "db1"\nport = {mariadb.port}\nprometheus = {list(prometheus.instances)}\n'
                f'[systems.prometheus]\nurl = "{prometheus.url}"\nuser = "{USER}"\n'
                f'password_file = "prometheus-password"\nca = "{prometheus.ca}"\n'
            )
        server.jobs.append(a_job(warmup=0, duration=3))
        start_agent()
        eventually(ended(server), what="the job has ended")
    run = only_run(server)
    assert run.end is not None
    assert run.opened is not None
    assert [file.name for file in run.end.artifacts] == ["sysbench.txt", ARTIFACT], [
        event.label for event in run.decoded().events
    ]
    sent = payload.read(run.artifacts[ARTIFACT])
    (load,) = [event for event in run.decoded().events if event.kind == "load"]
    began = datetime.fromisoformat(run.opened.started_at).timestamp()
    at = sent.clocks[next(one.clock for one in sent.series if one.labels["__name__"] == "mysql_up")]
    assert at[0] - began < load.starts_at
    assert load.ends_at is not None
    assert at[-1] - began >= load.ends_at
    assert {one.node for one in sent.series} == {"db1"}
    assert PASSWORD.encode() not in b"".join(received.body for received in server.received)


def test_a_prometheus_that_cannot_be_reached_costs_its_series_and_not_the_run(
    server: FakeServer, single: ConfigFile, start_agent: StartAgent
) -> None:
    with single.file.open("a") as stream:
        stream.write('[systems.prometheus]\nurl = "http://127.0.0.1:1"\n')
    server.jobs.append(a_job(warmup=0, duration=1))
    start_agent()
    eventually(ended(server), what="the job has ended")
    run = only_run(server)
    assert run.end is not None
    assert run.end.outcome == "succeeded", run.end.reason
    assert [file.name for file in run.end.artifacts] == ["sysbench.txt"]
    (hidden,) = [one for one in run.decoded().events if one.detail.get("what") == "series of Prometheus"]
    assert hidden.node == "db1"
    assert "Connection refused" in hidden.detail["reason"]
    assert "splashboard attach" in hidden.detail["remedy"]
