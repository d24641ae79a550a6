"""Sessions of a campaign: their order, who begins one, and what a retry may not do."""

from datetime import timedelta
from uuid import UUID

import msgspec
import pytest

from apps.catalog.models import System
from apps.core.problems import Invalid
from apps.dispatch import queries
from apps.dispatch.campaigns import file
from apps.dispatch.campaigns import text as campaigns_text
from apps.dispatch.jobs import leases, uploads
from apps.dispatch.models import Agent, Campaign, Job
from tests.dispatch.steps import SECOND, claimed, end, measure_all, states
from tests.rest.talk import a_run_message
from tests.support.builders import START, a_campaign, a_system, an_agent
from workers.protocol import wire

pytestmark = pytest.mark.django_db


def an_able_agent(*slugs: str) -> Agent:
    """That can start the systems with these slugs anew."""
    return an_agent(*(a_system(slug) for slug in slugs), health={"restarts": list(slugs)})


def planned(agent: Agent, *, sessions: int = 2, repetitions: int = 1) -> Campaign:
    systems = [a_system_of(label) for label in agent.labels]
    return a_campaign(*systems, threads=(1,), sessions=sessions, repetitions=repetitions)


def a_system_of(label: str) -> System:
    return System.objects.get(slug=label.removeprefix("system:"))


def job_at(campaign: Campaign, position: int) -> Job:
    return campaign.jobs.select_related("system").get(position=position)


def begin(job: Job, agent: Agent) -> wire.JobMessage:
    Agent.objects.filter(pk=agent.pk).update(last_seen_at=START)
    leases.match_jobs(now=START)
    message = leases.claim(agent=agent, now=START)
    assert message is not None
    assert message.id == job.pk
    job.refresh_from_db()
    return message


def done(job: Job, agent: Agent) -> wire.JobMessage:
    message = begin(job, agent)
    measure_all(job)
    end(job, agent, "succeeded")
    return message


def test_the_order_of_the_sides_alternates_in_a_session_and_from_one_to_the_next() -> None:
    campaign = planned(an_able_agent("a", "b"), sessions=3, repetitions=2)
    order = list(campaign.jobs.order_by("position").values_list("session", "repetition", "system__slug"))
    assert [slug for _, _, slug in order] == ["a", "b", "b", "a", "b", "a", "a", "b", "a", "b", "b", "a"]
    assert [number for number, _, _ in order] == [1] * 4 + [2] * 4 + [3] * 4
    assert [number for _, number, _ in order] == [1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6]


def test_the_first_job_of_a_later_session_starts_its_server_anew_once_for_each_system() -> None:
    agent = an_able_agent("a", "b")
    campaign = planned(agent, repetitions=2)
    asked = []
    for position in range(8):
        job = job_at(campaign, position)
        message = begin(job, agent)
        asked.append(message.restart)
        run = msgspec.structs.replace(a_run_message(message), restart_seconds=3.5 if message.restart else None)
        uploads.open_run(agent=agent, uid=UUID(message.runs[0].uid), message=run, now=START)
        job.job_runs.get().run.delete()
        measure_all(job)
        end(job, agent, "succeeded")
    assert asked == [False] * 4 + [True, True, False, False]
    assert list(campaign.jobs.filter(restart_seconds=3.5).values_list("position", flat=True)) == [4, 5]


def test_a_retry_starts_the_server_anew_only_if_nothing_was_measured_since() -> None:
    agent = an_able_agent("a")
    campaign = planned(agent)
    done(job_at(campaign, 0), agent)
    job = job_at(campaign, 1)
    assert begin(job, agent).restart
    end(job, agent, "failed", reason="restart: no")
    Job.objects.filter(pk=job.pk).update(ready_at=None)
    assert begin(job, agent).restart
    Job.objects.filter(pk=job.pk).update(restart_seconds=2.0)
    end(job, agent, "failed", reason="sysbench ended with 1")
    Job.objects.filter(pk=job.pk).update(ready_at=None)
    assert not begin(job, agent).restart


def test_a_later_session_waits_for_the_one_before_on_its_system_and_no_other() -> None:
    agent, other = an_able_agent("a"), an_able_agent("b")
    campaign = a_campaign(
        *(a_system_of(each.labels[0]) for each in (agent, other)), threads=(1,), sessions=2, repetitions=1
    )
    first = job_at(campaign, 0)
    claimed_at = leases.match_jobs(now=START)
    assert claimed_at == 2
    leases.claim(agent=agent, now=START)
    first.refresh_from_db()
    end(first, agent, "failed", reason="the database is gone")
    assert first.state == "queued"
    assert leases.match_jobs(now=START + SECOND) == 0
    assert states(campaign) == ["queued", "matched", "queued", "queued"]
    second = job_at(campaign, 1)
    leases.claim(agent=other, now=START + SECOND)
    second.refresh_from_db()
    measure_all(second)
    end(second, other, "succeeded")
    assert leases.match_jobs(now=START + SECOND) == 1
    assert job_at(campaign, 2).state == "matched"
    # A session that failed for good has ended too.
    Job.objects.filter(pk=first.pk).update(attempt=2, ready_at=None)
    claimed(first, agent, now=START + SECOND)
    end(first, agent, "failed", reason="the database is gone")
    assert first.state == "failed"
    assert leases.match_jobs(now=START + timedelta(seconds=2)) == 1


def test_a_later_session_is_left_to_an_agent_that_can_begin_it() -> None:
    able = an_able_agent("a")
    campaign = planned(able)
    done(job_at(campaign, 0), able)
    Agent.objects.filter(pk=able.pk).update(last_seen_at=None)
    an_agent(a_system_of("a"))
    assert leases.match_jobs(now=START) == 0


def test_a_plan_of_sessions_is_refused_where_no_agent_can_start_the_system_anew() -> None:
    an_able_agent("a")
    b = a_system("b")
    an_agent(b, health={"restarts": ["a", 7]})
    with pytest.raises(Invalid) as refused:
        a_campaign(a_system_of("a"), b, sessions=2)
    (problem,) = refused.value.errors
    assert (problem.field, "b" in problem.message, "[systems.controls]" in problem.remedy) == ("sessions", True, True)
    assert not Campaign.objects.exists()
    a_campaign(a_system_of("a"), b, sessions=1)
    # Of one that no agent reached, nothing is known: its jobs wait.
    a_campaign(a_system("c"), sessions=2)


def test_jobs_that_wait_for_a_restart_nobody_can_do_say_so() -> None:
    agent = an_able_agent("a")
    campaign = planned(agent)
    Agent.objects.filter(pk=agent.pk).update(health={})
    detail = queries.load_campaign(campaign.pk, now=START)
    assert detail is not None
    assert ["`restart`" in sentence for sentence in detail.obstacles] == [True]


@pytest.mark.parametrize("sessions", [0, 101])
def test_a_number_of_sessions_out_of_range_is_refused(sessions: int) -> None:
    with pytest.raises(Invalid) as refused:
        a_campaign(a_system(), sessions=sessions)
    assert [problem.field for problem in refused.value.errors] == ["sessions"]


def test_a_file_states_sessions_and_gives_them_back() -> None:
    a_system("a")
    workloads = "duration: 1, load_levels: [1], workloads: [{tool: iibench}]"
    plan = f"{{name: x, systems: [a], sessions: 3, repetitions: 2, {workloads}}}"
    campaign = file.start(plan.encode(), by=None)
    assert (campaign.sessions, campaign.repetitions, campaign.jobs.count()) == (3, 2, 6)
    again = file.start(campaigns_text.of(campaign).encode(), by=None)
    assert (again.sessions, again.repetitions) == (3, 2)
    with pytest.raises(Invalid, match="sessions: line 1"):
        file.start(plan.replace("sessions: 3", "sessions: many").encode(), by=None)
