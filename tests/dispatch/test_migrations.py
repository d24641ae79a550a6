"""Campaigns of earlier releases survive: they had one list of load levels and one pair of times for all workloads."""

from typing import Any

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from apps.dispatch.jobs import leases
from apps.dispatch.models import Campaign
from tests.support.builders import START

BEFORE, AFTER = [("dispatch", "0003_job_transitions")], [("dispatch", "0004_entries")]


def migrated_to(targets: list[tuple[str, str]]) -> Any:
    MigrationExecutor(connection).migrate(targets)
    return MigrationExecutor(connection).loader.project_state(targets).apps


@pytest.mark.django_db(transaction=True)
def test_a_campaign_of_an_earlier_release_keeps_its_order_levels_and_times() -> None:
    latest = MigrationExecutor(connection).loader.graph.leaf_nodes()
    # The way back is not possible, so the tables begin anew; the database is this test's own to leave as it was.
    with connection.cursor() as cursor:
        cursor.execute("CREATE SCHEMA before; SET search_path TO before")
    try:
        campaign_id = stored_as_before(migrated_to(BEFORE))
        migrated_to(AFTER)
        campaign = Campaign.objects.get(pk=campaign_id)
        entries = list(campaign.entries.all())
        assert [entry.workload.name for entry in entries] == ["second", "first"]
        assert {(entry.warmup, entry.duration, entry.least_gain) for entry in entries} == {(2.0, 7.0, None)}
        assert [[level.threads for level in entry.load_levels.all()] for entry in entries] == [[1, 8], [1, 8]]
        jobs = list(campaign.jobs.order_by("position"))
        assert [(job.entry.workload_id, job.state) for job in jobs] == [
            (job.workload_id, state) for job, state in zip(jobs, ("succeeded", "queued", "queued"), strict=True)
        ]
        assert [level.threads for level in leases.missing_levels(jobs[1])] == [1, 8]
    finally:
        with connection.cursor() as cursor:
            cursor.execute("DROP SCHEMA before CASCADE; SET search_path TO DEFAULT")
        migrated_to(latest)


def stored_as_before(apps: Any) -> int:
    get = apps.get_model
    platform = get("catalog", "Platform").objects.create(slug="p", name="P")
    release = get("catalog", "Release").objects.create(platform=platform, version="1", version_key=[1])
    hardware = get("catalog", "HardwareClass").objects.create(slug="h", name="h", vcpu=1, memory_bytes=1)
    system = get("catalog", "System").objects.create(
        slug="s", name="s", release=release, hardware_class=hardware, settings={}, settings_hash="0" * 64, labels=[]
    )
    metric = get("catalog", "Metric").objects.create(key="m", name="m", unit="", kind="gauge", direction="neutral")
    first, second = (
        get("catalog", "Workload").objects.create(
            tool="sysbench", name=name, parameters={}, content_hash=digit * 64, primary_metric=metric
        )
        for name, digit in (("first", "1"), ("second", "2"))
    )
    levels = [get("catalog", "LoadLevel").objects.create(threads=threads) for threads in (8, 1)]
    campaign = get("dispatch", "Campaign").objects.create(name="flush", repetitions=2, warmup=2.0, duration=7.0)
    campaign.systems.set([system])
    campaign.workloads.set([first, second])
    campaign.load_levels.set(levels)
    planned = [(1, second, "succeeded"), (1, first, "queued"), (2, second, "queued")]
    for position, (repetition, workload, state) in enumerate(planned):
        get("dispatch", "Job").objects.create(
            campaign=campaign,
            system=system,
            workload=workload,
            repetition=repetition,
            position=position,
            state=state,
            finished_at=START if state == "succeeded" else None,
        )
    return int(campaign.pk)
