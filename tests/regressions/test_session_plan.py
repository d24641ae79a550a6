"""How many sessions of how many repetitions, by the noise and the times of before."""

import math
import random
from datetime import timedelta

import pytest

from apps.catalog.models import System, Workload
from apps.comparison.selection.session_noise import session_noise
from apps.dispatch.api import alike, measured_durations
from apps.dispatch.models import Job
from apps.regressions.session_plan import SessionPlan, session_plan
from tests.support.builders import START, a_campaign, a_load_level, a_measured_run, a_system, a_workload, an_agent

pytestmark = pytest.mark.django_db


def history(sessions: int, repetitions: int, *, between: float, within: float) -> Workload:
    """Of the systems a and b under one workload at one and four threads."""
    rng, workload = random.Random(4), a_workload()
    for slug in ("a", "b"):
        system = a_system(slug)
        for session in range(sessions):
            begun = START + timedelta(days=session)
            level = rng.gauss(0, between)
            for number in range(repetitions):
                for threads in (1, 4):
                    a_measured_run(
                        {"client.throughput": 1000 * threads * math.exp(level + rng.gauss(0, within))},
                        system=system,
                        workload=workload,
                        load_level=a_load_level(threads),
                        started_at=begun + timedelta(minutes=number),
                        server_started_at=begun,
                    )
    return workload


def planned(workload: Workload, *, difference: float = 0.05, power: float = 0.9, repetitions: int = 3) -> SessionPlan:
    systems = [System.objects.get(slug=slug) for slug in ("a", "b")]
    entries = alike(workloads=[workload], load_levels=[1, 4], warmup=5, duration=30)
    found = session_plan(systems, entries, difference=difference, power=power, typed=(3, repetitions))
    assert found is not None
    return found


def test_noise_between_and_within_sessions_is_learned_from_the_runs_of_before() -> None:
    workload = history(12, 4, between=0.03, within=0.01)
    systems = list(System.objects.values_list("pk", flat=True))
    found = session_noise(systems, [workload.pk])
    assert len(found) == 4
    for noise in found.values():
        assert noise.between == pytest.approx(0.03, rel=0.5)
        assert noise.within == pytest.approx(0.01, rel=0.3)
        assert noise.sessions == 12


def test_one_session_tells_nothing_of_others_and_the_default_is_named_as_such() -> None:
    workload = history(1, 5, between=0.0, within=0.01)
    plan = planned(workload)
    assert (plan.sessions_seen, plan.between, plan.within) == (0, 0.02, 0.02)


def test_the_cheapest_split_is_chosen_and_its_sentence_says_what_it_finds_and_takes() -> None:
    workload = history(8, 3, between=0.01, within=0.01)
    plan = planned(workload)
    chosen = plan.chosen
    assert chosen is not None
    assert chosen.power >= 0.9
    enough = [split for split in plan.splits if split.power >= 0.9]
    assert chosen.seconds == min(split.seconds for split in enough)
    assert f"{chosen.sessions} sessions of {chosen.repetitions} repetition" in plan.sentence
    assert "a difference of 5\u00a0% is found in 9 of 10 cases; takes " in plan.sentence
    assert plan.splits == tuple(sorted(plan.splits, key=lambda split: (split.seconds, split.sessions)))
    easier = planned(workload, difference=0.2)
    assert easier.chosen is not None
    assert easier.chosen.seconds < chosen.seconds


def test_a_difference_too_small_is_said_to_be_so() -> None:
    plan = planned(history(8, 3, between=0.05, within=0.01), difference=0.005)
    assert plan.chosen is None
    assert plan.smallest > 0.005
    assert "30 sessions do not find a difference of 0.5\u00a0% in 9 of 10 cases" in plan.sentence


def test_times_are_those_of_jobs_and_restarts_before() -> None:
    able = a_system("a")
    an_agent(able, health={"restarts": ["a"]})
    campaign = a_campaign(able, sessions=2, threads=(1,), warmup=1.0, duration=5.0)
    for job in campaign.jobs.all():
        restart = 7.0 if job.session == 2 else None
        took = timedelta(seconds=20 + (restart or 0))
        Job.objects.filter(pk=job.pk).update(
            state="succeeded", attempt=1, started_at=START, finished_at=START + took, restart_seconds=restart
        )
    workload = campaign.entries.get().workload_id
    found = measured_durations([able], [workload])
    assert found.restarts == {able.pk: 7.0}
    assert found.overheads == {(able.pk, workload): 14.0}


def test_one_system_alone_has_nothing_to_find() -> None:
    entries = alike(workloads=[a_workload()], load_levels=[1], warmup=0, duration=1)
    assert session_plan([a_system()], entries, difference=0.05, power=0.8) is None
