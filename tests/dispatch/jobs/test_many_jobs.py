"""Many jobs, agents of which some are killed, and two workers: all at once, in step with one clock."""

import random
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import count, pairwise
from threading import Barrier, BrokenBarrierError, Thread
from uuid import UUID

import pytest
from django.db import connection

from apps.dispatch.jobs import leases, uploads
from apps.dispatch.jobs.agents import agent_of_secret
from apps.dispatch.models import FINAL, Agent, Job, JobRun
from tests import examples
from tests.support.builders import START, a_campaign, a_system, an_agent
from tests.support.waiting import LIMIT
from workers.protocol import wire

JOBS = 1000 if examples.PROFILE == examples.DEEP else 60
SYSTEMS, AGENTS, REACHED, WORKERS = 10, 12, 3, 2  # REACHED: systems of each agent
KILLED = 0.05  # of attempts
STEP = timedelta(seconds=5)
MOST_RENEWALS = 3  # of an attempt, one a step
ABSENT = (0, 4, 20)  # steps until a killed agent is back; the last is longer than its lease
MOST_STEPS = 10 * JOBS


@dataclass(frozen=True)
class MadeAttempt:
    """What its agent did: from `began` to `ended` (s, monotonic) it put load on the system."""

    system: str
    job: int
    attempt: int
    began: float
    ended: float
    was_killed: bool


@dataclass
class Crowd:
    """Each member does one thing in a step, all at the same time; then the clock goes on for all of them."""

    members: list[Callable[["Crowd"], Iterator[None]]]
    now: datetime = START
    steps: int = 0
    is_over: bool = False
    made: list[MadeAttempt] = field(default_factory=list)
    errors: list[Exception] = field(default_factory=list)
    numbers: Iterator[int] = field(default_factory=count)  # of attempts, whoever makes them

    def run(self) -> None:
        barrier = Barrier(len(self.members), action=self._go_on)
        threads = [Thread(target=self._take_part, args=[barrier, member]) for member in self.members]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def _go_on(self) -> None:
        self.steps += 1
        self.now += STEP
        self.is_over = self.steps == MOST_STEPS or not Job.objects.exclude(state__in=FINAL).exists()

    def _take_part(self, barrier: Barrier, member: Callable[["Crowd"], Iterator[None]]) -> None:
        doing = member(self)
        try:
            while not self.is_over:
                next(doing)
                barrier.wait(timeout=LIMIT)
        except BrokenBarrierError:  # another one failed
            pass
        except Exception as error:
            self.errors.append(error)
            barrier.abort()
        finally:
            connection.close()


def work(crowd: Crowd) -> Iterator[None]:
    """A worker's share: what the beat asks for."""
    while True:
        leases.expire_leases(now=crowd.now)
        leases.match_jobs(now=crowd.now)
        yield


def measure(secret: str, chance: random.Random) -> Callable[[Crowd], Iterator[None]]:
    """An agent, which is killed now and then."""

    def member(crowd: Crowd) -> Iterator[None]:
        while True:
            agent = agent_of_secret(secret=secret, now=crowd.now)
            assert agent is not None
            message = leases.claim(agent=agent, now=crowd.now)
            if message is None:
                yield
                continue
            # The first of all is killed, however the jobs are shared out.
            began, is_killed = time.monotonic(), chance.random() < KILLED or next(crowd.numbers) == 0
            for _ in range(chance.randrange(MOST_RENEWALS + 1)):
                yield
                leases.renew(agent=agent, job_id=message.id, attempt=message.attempt, progress="", now=crowd.now)
            if not is_killed:
                upload(message, agent, crowd.now)
            attempt = message.system, message.id, message.attempt
            crowd.made.append(MadeAttempt(*attempt, began, time.monotonic(), is_killed))
            if is_killed:
                for _ in range(chance.choice(ABSENT)):
                    yield
            outcome = "failed" if is_killed else "succeeded"
            reason = "the agent stopped without notice" if is_killed else ""
            end = wire.JobEndMessage(attempt=message.attempt, outcome=outcome, reason=reason)
            with suppress(*[leases.LeaseLost] if is_killed else []):
                leases.end_job(agent=agent, job_id=message.id, message=end, now=crowd.now)
            yield

    return member


def upload(message: wire.JobMessage, agent: Agent, now: datetime) -> None:
    """The runs of an attempt, measured."""
    for planned in message.runs:
        opened = wire.RunMessage(
            job=message.id,
            attempt=message.attempt,
            load_level=planned.load_level,
            started_at=now.isoformat(),
            warmup=0,
            duration=5,
        )
        run = uploads.open_run(agent=agent, uid=UUID(planned.uid), message=opened, now=now)
        end = wire.RunEndMessage(outcome="succeeded", ended_at=now.isoformat(), batches=0)
        uploads.end_run(agent=agent, run=run, message=end, now=now)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("seed", range(2))  # of the deep form each takes minutes
def test_no_system_ever_has_two_jobs_and_all_end_though_agents_are_killed(seed: int) -> None:
    chance = random.Random(seed)
    systems = [a_system() for _ in range(SYSTEMS)]
    a_campaign(*systems, threads=[1], repetitions=JOBS // SYSTEMS)
    names = [f"agent-{seed}-{number}" for number in range(AGENTS)]
    for number, name in enumerate(names):  # each system is reached by several
        an_agent(*(systems[(number + more) % SYSTEMS] for more in range(REACHED)), name=name, secret=name)
    crowd = Crowd([*(measure(name, random.Random(chance.random())) for name in names), *[work] * WORKERS])
    crowd.run()
    assert crowd.errors == []
    states = list(Job.objects.values_list("state", flat=True))
    assert (len(states), set(states) - set(FINAL)) == (JOBS, set()), crowd.steps
    given = [(each.job, each.attempt) for each in crowd.made]
    assert len(set(given)) == len(given)
    assert list(at_once(crowd.made)) == []
    assert any(each.was_killed for each in crowd.made)
    counted = JobRun.objects.filter(run__outcome="succeeded").values_list("job_id", flat=True)
    assert sorted(counted) == sorted(Job.objects.filter(state="succeeded").values_list("pk", flat=True))


def at_once(made: list[MadeAttempt]) -> Iterator[tuple[MadeAttempt, MadeAttempt]]:
    """Attempts on one system of which the second began before the first had ended."""
    of_system = defaultdict(list)
    for each in sorted(made, key=lambda each: each.began):
        of_system[each.system].append(each)
    for attempts in of_system.values():
        yield from ((first, second) for first, second in pairwise(attempts) if second.began < first.ended)
