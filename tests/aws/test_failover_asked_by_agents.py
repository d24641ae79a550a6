"""An agent asks for a failover during its job: over HTTP, by its command line, with AWS by moto."""

from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from apps.catalog.models import System
from apps.runs.models import Event, Run
from tests.rest.talk import SECRET, Talk, a_run_message, the_agent
from tests.support.builders import a_campaign, a_system
from tests.support.cloud import CLUSTER, REGION, a_cluster
from workers.agent import cli
from workers.protocol import wire

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("aws")]


def a_system_at_aws(slug: str = "aurora-1", **fields: Any) -> System:
    return a_system(slug, **{"aws_region": REGION, "aws_kind": "cluster", "aws_identifier": CLUSTER, **fields})


def a_run_under_way(client: Client) -> tuple[Talk, Run]:
    system = a_system_at_aws()
    the_agent(system)
    a_campaign(system)
    talk = Talk(client)
    job = talk.claim()
    uid = job.runs[0].uid
    assert talk.say("PUT", f"runs/{uid}", a_run_message(job)).status_code == 201
    return talk, Run.objects.get(uid=uid)


def test_a_failover_during_a_job_is_taken_on_and_remembered_by_the_run(client: Client) -> None:
    a_cluster("one", "two")
    talk, run = a_run_under_way(client)
    answer = talk.say("POST", "systems/aurora-1/failover", wire.FailoverMessage(target="two"))
    assert answer.status_code == 200, answer.content
    said = wire.from_json(wire.FailoverAnswer, answer.content)
    assert (said.place, said.writer, said.target) == ("cluster blast in eu-west-1", "one", "two")
    assert said.asked_at < said.answered_at
    event = Event.objects.get(run=run)
    assert event.label == "AWS accepted a failover of cluster blast in eu-west-1, from one to two"
    assert event.ends_at is not None
    assert event.ends_at > event.starts_at > 0


def test_without_a_job_on_the_system_no_agent_may_fail_it_over(client: Client) -> None:
    a_cluster("one", "two")
    the_agent(a_system_at_aws())
    answer = Talk(client).say("POST", "systems/aurora-1/failover", wire.FailoverMessage())
    assert answer.status_code == 409
    assert "runs no job on system 'aurora-1' now" in answer.json()["detail"]


def test_what_aws_cannot_do_is_said_in_a_sentence(client: Client) -> None:
    a_cluster("one")
    talk, run = a_run_under_way(client)
    answer = talk.say("POST", "systems/aurora-1/failover", wire.FailoverMessage())
    assert (answer.status_code, answer.json()["title"]) == (409, "AWS refused")
    assert "has no reader to fail over to: add one" in answer.json()["detail"]
    assert not Event.objects.filter(run=run).exists()


def test_an_aws_that_does_not_answer_is_not_the_agent_s_fault(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    talk, _ = a_run_under_way(client)
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    answer = talk.say("POST", "systems/aurora-1/failover", wire.FailoverMessage())
    assert answer.status_code == 502
    assert "cannot be reached" in answer.json()["detail"]


def test_the_agent_s_command_line_asks_for_it(
    client: Client, live_server: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    a_cluster("one", "two")
    config = tmp_path / "agent.toml"
    (tmp_path / "token").write_text(SECRET)
    config.write_text(f'[server]\nurl = "{live_server.url}"\ntoken_file = "token"\n')
    command = ["failover", "--config", str(config), "aurora-1", "--target", "two"]
    a_run_under_way(client)
    assert cli.main(command) == 0
    assert wire.from_json(wire.FailoverAnswer, capsys.readouterr().out.encode()).target == "two"
    assert cli.main(command) == 1, "it is the writer by now"
    assert "no failover of aurora-1: 409 AWS refused: 'two' is not a reader" in capsys.readouterr().err
