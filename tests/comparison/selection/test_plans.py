"""What a campaign planned decides what repeats: runs opened for its jobs, and the comparison of their sides."""

from collections.abc import Callable
from datetime import timedelta

import pytest

from apps.catalog.models import System, Workload
from apps.comparison.stats.replicates import Replicates
from apps.dispatch.jobs import leases, uploads
from apps.dispatch.models import Campaign, Job, JobRun
from apps.runs.models import Artifact, Measurement, Run
from tests.comparison.compared import TPS, compare, level_of
from tests.dispatch.steps import claimed, end
from tests.support.builders import START, a_campaign, a_metric, an_agent
from workers.protocol import wire

pytestmark = pytest.mark.django_db


def measure(campaign: Campaign, throughput: Callable[[Job], float]) -> None:
    """All of its jobs, in their order, two minutes apart. No Uptime is sampled."""
    systems = list(campaign.systems.all())
    agent = an_agent(*systems, health={"restarts": [system.slug for system in systems]})
    for job in campaign.jobs.order_by("position"):
        now = START + timedelta(minutes=2 * job.position)
        claimed(job, agent, now=now)
        ((uid, level),) = leases.planned_runs(job, attempt=job.attempt, agent_id=agent.pk).items()
        message = wire.RunMessage(
            job=job.pk,
            attempt=job.attempt,
            load_level=wire.LoadLevelMessage(threads=level.threads),
            started_at=now.isoformat(),
            warmup=0,
            duration=60,
            nodes=[],
        )
        run = uploads.open_run(agent=agent, uid=uid, message=message, now=now)
        ended = now + timedelta(seconds=60)
        Run.objects.filter(pk=run.pk).update(state="sealed", outcome="succeeded", ended_at=ended, sealed_at=ended)
        artifact = Artifact.objects.create(run=run, name="sysbench.txt", sha256=f"{run.pk:064x}", size=10)
        birth = {"artifact": artifact, "byte_start": 0, "byte_end": 10, "parser": "sysbench", "parser_version": "1"}
        Measurement.objects.create(run=run, metric=a_metric(TPS), value=throughput(job), **birth)
        end(job, agent, "succeeded", now=now)


def test_repetitions_that_a_plan_interleaved_are_compared_in_blocks_which_removes_a_drift(
    workload: Workload, a: System, b: System
) -> None:
    """Throughput falls by 3.4 % a repetition, and 5 % lie between the sides."""
    jitter = {a: (1.0, 1.002, 0.998, 1.001, 0.999, 1.0), b: (1.001, 1.0, 1.0, 0.998, 1.002, 0.999)}

    def throughput(job: Job) -> float:
        share = 0.95 if job.system == b else 1.0
        return 1000.0 * 0.966**job.repetition * share * jitter[job.system][job.repetition - 1]

    campaign = a_campaign(a, b, workloads=[workload], threads=(4,), repetitions=6)
    measure(campaign, throughput)
    comparison = compare(workload, campaign=campaign.pk)
    cell = comparison.cell(side="b", level=level_of(comparison), metric=TPS)
    assert cell.ratio is not None
    assert (cell.ratio.replicates, cell.ratio.counts, cell.words) == (Replicates.BLOCKS, (6, 6), "worse")
    assert cell.ratio.value == pytest.approx(0.95, abs=0.002)
    JobRun.objects.all().delete()  # the same runs, of no plan
    comparison = compare(workload)
    cell = comparison.cell(side="b", level=level_of(comparison), metric=TPS)
    assert cell.ratio is not None
    assert (cell.ratio.replicates, cell.words) == (Replicates.ONE_SESSION, "inconclusive")


def test_sessions_of_a_plan_are_what_repeats_where_no_start_of_a_server_was_sampled(
    workload: Workload, a: System, b: System
) -> None:
    def throughput(job: Job) -> float:
        return 1000.0 + 10 * job.session + job.repetition

    campaign = a_campaign(a, b, workloads=[workload], threads=(4,), sessions=3, repetitions=2)
    measure(campaign, throughput)
    kept = set(Run.objects.values_list("job_run__job__session", "session"))
    assert kept == {(number, f"campaign {campaign.pk}, session {number}") for number in (1, 2, 3)}
    comparison = compare(workload, campaign=campaign.pk)
    cell = comparison.cell(side="b", level=level_of(comparison), metric=TPS)
    assert cell.ratio is not None
    assert (cell.ratio.replicates, cell.ratio.counts) == (Replicates.SESSIONS, (3, 3))
