"""A campaign ends the load levels that are decided, and says why."""

import random
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from apps.comparison.compare import compare
from apps.comparison.stats import sequential
from apps.core.problems import Invalid
from apps.dispatch.campaigns import early_stop as dispatch_stop
from apps.dispatch.models import Campaign, Job, JobRun, Skip
from apps.regressions import early_stop
from apps.runs.models import Run
from tests.support.builders import START, a_campaign, a_load_level, a_measured_run, a_system, an_entry

pytestmark = pytest.mark.django_db


def planned(until: str = "verdict", *, threads: tuple[int, ...] = (1, 4)) -> Campaign:
    return a_campaign(a_system("a"), a_system("b"), threads=threads, repetitions=8, until=until)


def measured(campaign: Campaign, repetitions: int, value: Callable[[str, int], float]) -> None:
    """`value` of a system (slug) at a number of threads; each session has its own start of the servers."""
    for job in campaign.jobs.filter(repetition__lte=repetitions, state="queued").select_related("system"):
        for level in job.entry.load_levels.all():
            run = a_measured_run(
                {"client.throughput": value(job.system.slug, level.threads)},
                system=job.system,
                workload=job.workload,
                load_level=level,
                repetition=job.repetition,
                started_at=START + timedelta(minutes=job.position),
                server_started_at=START + timedelta(minutes=job.position // 4 * 4 if job.session > 1 else -5),
            )
            JobRun.objects.create(run=run, job=job, attempt=1)
        Job.objects.filter(pk=job.pk).update(state="succeeded", finished_at=START)


def better(rng: random.Random, factor: float = 1.3, spread: float = 0.01) -> Callable[[str, int], float]:
    """b by `factor` at all load levels."""

    def value(system: str, threads: int) -> float:
        return threads * 1000.0 * (factor if system == "b" else 1) * rng.uniform(1 - spread, 1 + spread)

    return value


def states(campaign: Campaign) -> dict[str, int]:
    found = list(campaign.jobs.values_list("state", flat=True))
    return {state: found.count(state) for state in set(found)}


def test_what_is_decided_is_not_repeated() -> None:
    rng, campaign = random.Random(1), planned()
    measured(campaign, 3, better(rng))
    assert early_stop.look(now=timezone.now()) == 10
    assert states(campaign) == {"succeeded": 16}
    reason = Skip.objects.filter(job=campaign.jobs.get(position=15))[0].reason
    assert reason.startswith("decided after 3 of 8 repetitions: b better, 1.3")
    assert Skip.objects.filter(job__campaign=campaign).count() == 20
    assert early_stop.look(now=timezone.now()) == 0


def test_a_level_that_is_not_decided_is_repeated_alone() -> None:
    rng, campaign = random.Random(2), planned()
    measured(
        campaign,
        3,
        lambda system, threads: 1000.0 * (1.5 if system == "b" and threads == 4 else 1) * rng.uniform(0.9, 1.1),
    )
    assert early_stop.look(now=timezone.now()) == 0
    assert states(campaign) == {"succeeded": 6, "queued": 10}
    assert set(Skip.objects.values_list("load_level__threads", flat=True)) == {4}


def test_nothing_is_decided_before_a_repetition_is_complete_and_sealed() -> None:
    rng, campaign = random.Random(1), planned()
    measured(campaign, 3, better(rng))
    run = Run.objects.order_by("-pk").first()
    assert run is not None
    Run.objects.filter(pk=run.pk).update(state="ended")
    assert early_stop.look(now=timezone.now()) == 0
    Run.objects.filter(pk=run.pk).update(state="sealed")
    assert early_stop.look(now=timezone.now()) == 10


def test_at_a_fixed_rate_latency_decides() -> None:
    """Throughput there is the rate, and never differs."""
    campaign = a_campaign(
        *(a_system("a"), a_system("b")), load_levels=[a_load_level(4, 100.0)], repetitions=8, until="verdict"
    )
    value = better(random.Random(1))
    for job in campaign.jobs.filter(repetition__lte=3).select_related("system"):
        run = a_measured_run(
            {"client.throughput": 101.0, "client.latency.p95": value(job.system.slug, 1)},
            system=job.system,
            workload=job.workload,
            load_level=a_load_level(4, 100.0),
            repetition=job.repetition,
            started_at=START + timedelta(minutes=job.position),
        )
        JobRun.objects.create(run=run, job=job, attempt=1)
        Job.objects.filter(pk=job.pk).update(state="succeeded", finished_at=START)
    assert early_stop.look(now=timezone.now()) == 10
    reason = Skip.objects.filter(job__campaign=campaign)[0].reason
    assert reason.startswith("decided after 3 of 8 repetitions: b worse in p95, 1.3")


@pytest.mark.parametrize(("spread", "ended"), [(0.03, 0), (0.003, 10)])
def test_a_width_is_waited_for_although_the_sides_differ(spread: float, ended: int) -> None:
    campaign = planned("0.05")
    measured(campaign, 3, better(random.Random(3), spread=spread))
    assert early_stop.look(now=timezone.now()) == ended


def test_a_campaign_without_it_is_measured_to_its_end() -> None:
    rng, campaign = random.Random(1), planned("")
    measured(campaign, 3, better(rng))
    assert early_stop.look(now=timezone.now()) == 0
    assert states(campaign) == {"succeeded": 6, "queued": 10}


def test_a_comparison_says_that_its_runs_were_repeated_until_decided() -> None:
    rng, campaign = random.Random(1), planned()
    measured(campaign, 3, better(rng))
    found = compare(sides=["a", "b"], workload_id=campaign.entries.get().workload_id, campaign=campaign.pk)
    assert "early-stop" in [each.key for each in found.cautions]


def test_three_repetitions_leave_nothing_to_save() -> None:
    with pytest.raises(Invalid) as refused:
        a_campaign(a_system("a"), a_system("b"), repetitions=3, until="verdict")
    assert [problem.field for problem in refused.value.errors] == ["until"]


def test_a_ramp_keeps_its_load_levels() -> None:
    ramp = an_entry(ends_when_refused=True, least_gain=0.05)
    with pytest.raises(Invalid) as refused:
        a_campaign(a_system("a"), a_system("b"), repetitions=8, until="verdict", entries=[ramp])
    assert [(problem.field, problem.remedy) for problem in refused.value.errors] == [
        ("until", "give load_levels instead, or leave it out")
    ]


def test_what_is_decided_makes_the_rest_no_easier_to_decide() -> None:
    """Each of two load levels has half of the error, also when the other one is left out."""
    rng, campaign = random.Random(2), planned()
    measured(campaign, 3, lambda system, threads: better(rng, 1.5 if threads == 4 else 1.0, 0.1)(system, threads))
    assert [each.comparisons for each in dispatch_stop.due()] == [2]
    early_stop.look(now=timezone.now())
    measured(campaign, 4, better(rng, 1.0, 0.1))
    (rest,) = dispatch_stop.due()
    assert (len(rest.levels), rest.comparisons) == (1, 2)


def in_sessions(sessions: int) -> Campaign:
    """Of two repetitions each."""
    return a_campaign(a_system("a"), a_system("b"), threads=(1, 4), sessions=sessions, repetitions=2, until="verdict")


def test_sessions_are_looked_at_when_they_are_complete() -> None:
    rng, campaign = random.Random(1), in_sessions(6)
    measured(campaign, 5, better(rng))
    assert early_stop.look(now=timezone.now()) == 0
    assert campaign.entries.get().looked == 2
    measured(campaign, 6, better(rng))
    assert early_stop.look(now=timezone.now()) == 12
    reason = Skip.objects.filter(job=campaign.jobs.get(position=20))[0].reason
    assert reason.startswith("decided after 3 of 6 sessions: b better, 1.3")


def test_sessions_that_the_runs_do_not_show_decide_nothing() -> None:
    rng, campaign = random.Random(1), in_sessions(6)
    measured(campaign, 6, better(rng))
    Run.objects.update(server_started_at=None)
    assert early_stop.look(now=timezone.now()) == 0


def test_of_three_sessions_none_is_left_out() -> None:
    with pytest.raises(Invalid) as refused:
        in_sessions(3)
    assert [(problem.field, "4 sessions" in problem.message) for problem in refused.value.errors] == [("until", True)]


def test_as_many_systems_as_a_campaign_has_are_decided() -> None:
    """More than a page compares; each is compared with the first."""
    rng = random.Random(1)
    systems = [a_system(slug) for slug in ("a", "b", "c", "d", "e", "f")]
    campaign = a_campaign(*systems, threads=(1,), repetitions=8, until="verdict")
    factors = {"a": 1.0, "b": 1.3, "c": 0.7, "d": 1.5, "e": 0.6, "f": 2.0}
    measured(campaign, 3, lambda system, threads: threads * 1000.0 * factors[system] * rng.uniform(0.999, 1.001))
    assert early_stop.look(now=timezone.now()) == 5 * 6
    reason = Skip.objects.filter(job__campaign=campaign)[0].reason
    assert [each.split()[0] for each in reason.partition(": ")[2].split("; ")] == ["b", "c", "d", "e", "f"]


def lost(campaign: Campaign, system: str, *repetitions: int) -> None:
    """Runs of these repetitions that failed."""
    runs = Run.objects.filter(job_run__job__campaign=campaign, system__slug=system, repetition__in=repetitions)
    runs.update(outcome="failed", reason="the server was killed")


@pytest.mark.parametrize("system", ["a", "b"])
def test_a_run_that_is_missing_delays_a_decision_and_does_not_prevent_it(system: str) -> None:
    rng, campaign = random.Random(1), planned()
    measured(campaign, 3, better(rng))
    lost(campaign, system, 2)
    assert early_stop.look(now=timezone.now()) == 0, "an interval needs three runs of each side"
    measured(campaign, 4, better(rng))
    assert early_stop.look(now=timezone.now()) == 8
    assert Skip.objects.filter(job__campaign=campaign)[0].reason.startswith(
        "decided after 4 of 8 repetitions: b better"
    )


@pytest.mark.parametrize("system", ["a", "b"])
def test_nobody_looks_after_a_repetition_of_which_a_run_is_missing(system: str) -> None:
    """What is known of the pair was looked at before."""
    rng, campaign = random.Random(1), planned()
    measured(campaign, 4, better(rng))
    lost(campaign, system, 4)
    assert early_stop.look(now=timezone.now()) == 0


def test_a_side_of_which_runs_are_missing_has_seen_less_of_the_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    level_at = sequential.level_at

    def noted(looked: int, most: int, **options: Any) -> float:
        asked.append(looked)
        return level_at(looked, most, **options)

    monkeypatch.setattr(sequential, "level_at", noted)
    rng, campaign = random.Random(1), planned(threads=(1,))
    measured(campaign, 5, better(rng, 1.0, 0.2))
    lost(campaign, "a", 2)
    early_stop.look(now=timezone.now())
    assert asked == [4]


def test_a_run_that_is_never_stored_does_not_keep_the_others_waiting() -> None:
    rng, campaign = random.Random(1), planned()
    measured(campaign, 3, better(rng))
    Run.objects.filter(repetition=1, system__slug="b").update(state="ended")
    measured(campaign, 4, better(rng))
    assert early_stop.look(now=timezone.now()) == 8


def test_a_session_without_runs_of_a_side_delays_a_decision_and_does_not_prevent_it() -> None:
    rng, campaign = random.Random(1), in_sessions(6)
    measured(campaign, 8, better(rng))
    lost(campaign, "b", 3, 4)
    assert early_stop.look(now=timezone.now()) == 8
