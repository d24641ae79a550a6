"""An agent measures what an administrator allowed, and nothing else; a one-time code makes an agent once."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from apps.catalog.models import System
from apps.core.problems import Invalid
from apps.core.server.repeated_warnings import RepeatedWarnings
from apps.dispatch import api as dispatch
from apps.dispatch.jobs import bindings, samplers
from apps.dispatch.models import Agent, AgentSystem, Job, JobRun
from apps.runs.models import Stream
from tests.runs.uploads import an_open_run
from tests.support.builders import a_job, a_system, a_user, an_agent
from workers.protocol import wire

pytestmark = pytest.mark.django_db

HARDWARE = [wire.HardwareMessage(slug="box", name="box", vcpu=2, memory_bytes=2**30)]


def hello(agent: Agent, *slugs: str, labels: Any = ()) -> list[str]:
    """The warnings."""
    shared: dict[str, Any] = {"platform": "mariadb", "version": "10.11.19", "hardware_class": "box"}
    systems = [wire.SystemMessage(slug=slug, name=slug, **shared) for slug in slugs]
    message = wire.HelloMessage(version="1", labels=list(labels), systems=systems, hardware=HARDWARE)
    answer = dispatch.hello(agent=agent, message=message, now=timezone.now())
    agent.refresh_from_db()
    return [warning for warning in answer.warnings if "gets no jobs" in warning]


def allow(agent: Agent, slug: str, *, is_allowed: bool = True) -> None:
    bindings.decide(agent=agent.name, slug=slug, is_allowed=is_allowed, by=a_user(), now=timezone.now())


def test_a_system_that_nobody_allowed_is_asked_for_and_neither_registered_nor_served() -> None:
    agent = an_agent(is_trusted=False)
    (warning,) = hello(agent, "theirs")
    assert f"manage.py allow_system {agent.name} theirs" in warning
    assert (agent.labels, System.objects.count()) == ([], 0)
    asked = AgentSystem.objects.get()
    assert (asked.slug, asked.is_allowed) == ("theirs", None)


def test_an_allowed_system_is_registered_at_the_next_report() -> None:
    agent = an_agent(is_trusted=False)
    hello(agent, "mine")
    allow(agent, "mine")
    assert hello(agent, "mine") == []
    assert (agent.labels, System.objects.get().slug) == (["system:mine"], "mine")


def test_every_slug_that_a_system_may_have_can_be_asked_for_and_allowed() -> None:
    agent = an_agent(is_trusted=False)
    hello(agent, "mariadb-10.11_a")
    allow(agent, "mariadb-10.11_a")
    assert hello(agent, "mariadb-10.11_a") == []


def test_a_refused_system_gets_no_further_job() -> None:
    agent = an_agent(is_trusted=False)
    allow(agent, "mine")
    hello(agent, "mine")
    allow(agent, "mine", is_allowed=False)
    agent.refresh_from_db()
    assert agent.labels == []
    assert "refused" in hello(agent, "mine")[0]
    assert agent.labels == []


def test_an_agent_cannot_declare_a_systems_label_itself() -> None:
    agent = an_agent(is_trusted=False)
    hello(agent, labels=["region:eu", "system:theirs"])
    assert agent.labels == ["region:eu"]


def test_requests_of_one_agent_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bindings, "MOST_ASKED", 5)
    agent = an_agent(is_trusted=False)
    for number in range(4):
        hello(agent, *(f"s{number}-{each}" for each in range(3)))
    assert AgentSystem.objects.count() == 5


def test_what_is_refused_to_an_agent_is_logged_once_in_a_while(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(bindings, "MOST_ASKED", 2)
    monkeypatch.setattr(bindings, "warnings", RepeatedWarnings(bindings.log))
    agent = an_agent(is_trusted=False, name="intruder")
    allow(agent, "theirs", is_allowed=False)
    for _ in range(3):
        hello(agent, "theirs", "a", "b", "c", "no slug\n")
    assert [record.getMessage() for record in caplog.records if record.levelname == "WARNING"] == [
        "agent intruder asks for a, b: an administrator decides on the Agents page",
        "agent intruder asks again for theirs, which an administrator refused",
        "agent intruder asks for 2 systems beyond the 2 that may be undecided, or without a slug: not noted",
    ]


def test_a_trusted_agent_needs_no_permission() -> None:
    agent = an_agent(is_trusted=True)
    assert hello(agent, "any") == []
    assert (agent.labels, AgentSystem.objects.count()) == (["system:any"], 0)


def test_an_agent_joins_only_runs_of_allowed_systems() -> None:
    system = a_system("shared")
    job = a_job(systems=[system], state="running")
    sampler = an_agent(is_trusted=False, name="sampler")
    message = wire.SamplingMessage(systems={"shared": ["db1"]})
    _open_run(job)
    assert samplers.sampled_runs(agent=sampler, message=message).runs == []
    assert not Stream.objects.exists()
    assert AgentSystem.objects.get().slug == "shared"
    allow(sampler, "shared")
    assert [run.system for run in samplers.sampled_runs(agent=sampler, message=message).runs] == ["shared"]


# ---------------------------------------------------------------- enrolment


def test_a_code_makes_one_agent_for_its_systems() -> None:
    now, administrator = timezone.now(), a_user(role="administrator")
    code = bindings.make_enrolment(systems=["a", "b", "a"], by=administrator, now=now)
    enrolled = bindings.enrol(code=code, name="box", now=now)
    assert enrolled is not None
    agent, secret = enrolled
    assert dispatch.agent_of_secret(secret=secret, now=now) == agent
    assert [each.slug for each in agent.asked.filter(is_allowed=True, decided_by=administrator)] == ["a", "b"]
    assert not agent.is_trusted
    assert bindings.enrol(code=code, name="another", now=now) is None


def test_a_code_ends_after_an_hour() -> None:
    now = timezone.now()
    code = bindings.make_enrolment(systems=[], by=a_user(), now=now)
    assert bindings.enrol(code=code, name="box", now=now + timedelta(hours=1, seconds=1)) is None
    assert bindings.enrol(code="guessed", name="box", now=now) is None


def test_a_taken_name_does_not_use_up_the_code() -> None:
    now = timezone.now()
    an_agent(name="box")
    code = bindings.make_enrolment(systems=[], by=a_user(), now=now)
    with pytest.raises(Invalid, match="already exists"):
        bindings.enrol(code=code, name="box", now=now)
    assert bindings.enrol(code=code, name="box-2", now=now) is not None


@pytest.mark.parametrize("systems", [["a b"], ["../x"], ["x" * 81], [f"s{number}" for number in range(51)]])
def test_a_code_names_slugs_and_not_too_many(systems: list[str]) -> None:
    with pytest.raises(Invalid, match="systems"):
        bindings.make_enrolment(systems=systems, by=a_user(), now=timezone.now())


def _open_run(job: Job) -> None:
    run = an_open_run(system=job.system, workload=job.workload)
    JobRun.objects.create(run=run, job=job, attempt=job.attempt)
