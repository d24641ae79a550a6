"""Two at once: the database says who was first."""

from collections.abc import Callable
from datetime import timedelta
from functools import partial
from threading import Barrier, Thread

import pytest
from django.db import connection

from apps.dispatch.campaigns.cancel import cancel_job
from apps.dispatch.jobs import leases
from apps.dispatch.jobs.leases import LeaseLost
from apps.dispatch.models import ACTIVE, Job
from tests.support.builders import START, a_campaign, a_job, a_load_level, a_run, a_system, an_agent
from tests.support.waiting import LIMIT
from workers.protocol.wire import JobEndMessage

ROUNDS = 5


def at_once(*calls: Callable[[], object]) -> list[object]:
    """What each call returned or raised, in their order."""
    barrier = Barrier(len(calls))
    results: list[object] = [RuntimeError("never ran")] * len(calls)

    def run(number: int, call: Callable[[], object]) -> None:
        try:
            barrier.wait(timeout=LIMIT)
            results[number] = call()
        except Exception as error:
            results[number] = error
        finally:
            connection.close()

    threads = [Thread(target=run, args=(number, call)) for number, call in enumerate(calls)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=LIMIT)
    return results


@pytest.mark.django_db(transaction=True)
def test_claims_at_once_begin_one_attempt() -> None:
    for _ in range(ROUNDS):
        job = a_job(state="matched")
        agent = job.agent
        assert agent is not None
        results = at_once(*[partial(leases.claim, agent=agent, now=START)] * 4)
        assert not [result for result in results if isinstance(result, Exception)]
        assert all(result == results[0] for result in results)
        job.refresh_from_db()
        assert job.attempt == 1


@pytest.mark.django_db(transaction=True)
def test_one_system_never_has_two_jobs_however_many_match_at_once() -> None:
    for _ in range(ROUNDS):
        system = a_system()
        a_campaign(system, repetitions=4)
        for _ in range(3):
            an_agent(system)
        results = at_once(*[partial(leases.match_jobs, now=START)] * 4)
        assert not [result for result in results if isinstance(result, Exception)]
        assert sum(result for result in results if isinstance(result, int)) == 1
        assert Job.objects.filter(system=system, state__in=ACTIVE).count() == 1


@pytest.mark.django_db(transaction=True)
def test_one_agent_never_has_two_jobs_however_many_match_at_once() -> None:
    for _ in range(ROUNDS):
        a, b = a_system(), a_system()
        a_campaign(a, b)
        agent = an_agent(a, b)
        results = at_once(*[partial(leases.match_jobs, now=START)] * 4)
        assert not [result for result in results if isinstance(result, Exception)]
        assert Job.objects.filter(agent=agent, state__in=ACTIVE).count() == 1


@pytest.mark.django_db(transaction=True)
def test_renewal_and_expiry_leave_a_job_that_its_agent_holds() -> None:
    """Whichever is first, a renewal that was answered holds: the expiry comes before it, or finds nothing."""
    late = START + timedelta(seconds=61)
    for _ in range(ROUNDS):
        job = a_job(state="running")
        agent = job.agent
        assert agent is not None
        renewed, expired = at_once(
            partial(leases.renew, agent=agent, job_id=job.pk, attempt=1, progress="", now=late),
            partial(leases.expire_leases, now=late),
        )
        assert not isinstance(renewed, Exception)
        assert isinstance(expired, int)
        job.refresh_from_db()
        assert (job.state, job.attempt) == ("running", 1)


@pytest.mark.django_db(transaction=True)
def test_renewal_against_another_agents_match_has_one_winner() -> None:
    now = START + timedelta(seconds=90)
    for _ in range(ROUNDS):
        job = a_job(state="running")
        first = job.agent
        assert first is not None
        leases.expire_leases(now=START + timedelta(seconds=61))
        second = an_agent(job.system, last_seen_at=now)
        renewed, matched = at_once(
            partial(leases.renew, agent=first, job_id=job.pk, attempt=1, progress="", now=now),
            partial(leases.match_jobs, now=now),
        )
        job.refresh_from_db()
        if isinstance(renewed, Exception):
            assert isinstance(renewed, LeaseLost)
            assert (matched, job.state, job.agent) == (1, "matched", second)
        else:
            assert (matched, job.state, job.agent) == (0, "running", first)


@pytest.mark.django_db(transaction=True)
def test_cancel_and_end_at_once_leave_a_final_job() -> None:
    for _ in range(ROUNDS):
        job = a_job(state="running")
        agent = job.agent
        assert agent is not None
        for threads in (1, 4):
            run = a_run(system=job.system, load_level=a_load_level(threads))
            job.job_runs.create(run=run, attempt=1)
        message = JobEndMessage(attempt=1, outcome="succeeded")
        results = at_once(
            partial(cancel_job, job=job, by=None, now=START),
            partial(leases.end_job, agent=agent, job_id=job.pk, message=message, now=START),
        )
        assert not [result for result in results if isinstance(result, Exception)]
        job.refresh_from_db()
        assert job.state == "succeeded"
