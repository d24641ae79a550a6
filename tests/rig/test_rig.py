"""The scale rig: a warehouse of made-up runs that the product reads as its own."""

from collections import Counter
from typing import Any

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from django.db.models import Count

from apps.catalog.models import Platform, System
from apps.dispatch.models import Agent, Campaign, Job, JobRun
from apps.regressions.models import Finding, Looked
from apps.rig import recordings, world
from apps.rig.plan import campaigns
from apps.runs.models import Artifact, Measurement, Run, RunCheck, RunNode, Series
from apps.runs.samples import rates
from apps.runs.storage import artifacts, blocks
from apps.use_method.models import UsePanel
from apps.use_method.panels import panels
from tests.regressions.a_finding import a_finding, a_pair
from tests.support.builders import START, a_campaign, a_run, a_system, an_agent

pytestmark = pytest.mark.django_db


def _seed(runs: int = 24, **options: Any) -> None:
    call_command("seed_rig", runs=runs, processes=1, **{"series": 40, "seconds": 30, **options})


def test_every_run_has_the_series_and_samples_asked_for() -> None:
    _seed(24, series=40, seconds=30)
    per_run = Series.objects.values("run").annotate(series=Count("metric")).values_list("series", flat=True)
    assert Counter(per_run) == {40: 24}
    assert set(RunNode.objects.values_list("samples", flat=True)) == {30}


def test_stored_statistics_are_those_of_the_samples() -> None:
    _seed(6)
    run = Run.objects.all()[0]
    phases = {"": rates.Phase(run.measured_from or 0, run.measured_to or 0), "whole_": rates.WHOLE_RUN}
    for number, node in enumerate(blocks.read([run.pk])[run.pk]):
        assert not node.damaged
        for key, column in node.changing.items():
            row = Series.objects.get(run=run, node=number, metric__key=key)
            for prefix, phase in phases.items():
                found = rates.of_series(row.metric, node.clock, column, phase)
                stored = [getattr(row, prefix + name) for name in blocks.STATISTICS]
                statistics = [getattr(found, name) for name in blocks.STATISTICS]
                near = pytest.approx([value or 0.0 for value in statistics], rel=1e-9, abs=1e-9)
                assert [value or 0.0 for value in stored] == near, key
                assert [value is None for value in stored] == [value is None for value in statistics], key


def test_a_runs_series_go_with_its_throughput() -> None:
    _seed(40)
    questions = {row.run_id: row.mean for row in Series.objects.filter(metric__key="mysql.status.Questions", node=1)}
    queries = dict(Measurement.objects.filter(metric__key="client.queries").values_list("run", "value"))
    throughput = dict(Measurement.objects.filter(metric__key="client.throughput").values_list("run", "value"))
    printed = {row.run_id: row.mean for row in Series.objects.filter(metric__key="client.throughput")}
    assert len(throughput) > 30
    for run, value in throughput.items():
        assert value == pytest.approx(printed[run], abs=0.01)
        assert questions[run] == pytest.approx(queries[run], rel=0.15)


def test_series_that_were_equal_stay_equal() -> None:
    twins = ("mysql.status.Innodb_lsn_current", "mysql.status.Innodb_os_log_written")
    recording = recordings.load()["single"]
    first, second = (np.diff(recording.whole[list(recording.whole_keys).index(key)]) for key in twins)
    assert np.array_equal(first, second)
    assert len(set(first.tolist())) > 50
    _seed(20, series=200)
    places = {
        key: Series.objects.filter(metric__key=key, node=1).order_by("run").values_list("run", "offset", "mean")
        for key in twins
    }
    assert list(places[twins[0]]) == list(places[twins[1]])
    assert len(places[twins[0]]) == 20


def test_the_same_seed_makes_the_same_warehouse() -> None:
    def made() -> tuple[Any, ...]:
        uids = tuple(Run.objects.order_by("uid").values_list("uid", flat=True))
        return uids, tuple(Measurement.objects.order_by("value").values_list("value", flat=True))

    warehouses = []
    for seed in (1, 1, 2):
        _seed(24, seed=seed)
        warehouses.append(made())
        call_command("seed_rig", remove=True)
    assert warehouses[0] == warehouses[1] != warehouses[2]


def test_the_plan_is_exact_and_has_sides_of_very_many_runs() -> None:
    systems = world.systems()
    plan = campaigns(runs=100_000, seed=1, systems=systems)
    assert sum(planned.runs for planned in plan) == 100_000
    assert sum(len(levels) for planned in plan for *_, levels in planned.jobs()) == 100_000
    nightly = [planned for planned in plan if "nightly" in planned.tags]
    sides = {spec.slug for planned in nightly for spec in planned.systems}
    assert sides == {spec.slug for spec in systems[:2]}
    assert sum(planned.runs for planned in nightly) == 40_000
    assert len({spec.platform.slug for planned in plan for spec in planned.systems}) == len(world.PLATFORMS)


def test_made_up_runs_say_so() -> None:
    _seed(6)
    assert set(Run.objects.values_list("provenance", flat=True)) == {"rig"}
    assert all("rig" in run.tags for run in Run.objects.all())
    measurement = Measurement.objects.all()[0]
    said = artifacts.read_artifact(measurement.artifact)[measurement.byte_start : measurement.byte_end]
    assert b"nothing was measured" in said
    assert all(name.endswith("(rig)") for name in System.objects.values_list("name", flat=True))


def test_a_warehouse_with_other_runs_is_left_alone_unless_forced() -> None:
    a_run()
    with pytest.raises(CommandError, match="--add"):
        _seed(6)
    _seed(6, add=True)
    assert Run.objects.count() == 7
    with pytest.raises(CommandError, match="--remove"):
        _seed(6, add=True)


def test_removing_takes_all_that_was_made_and_nothing_else() -> None:
    own = a_run()
    _seed(24, add=True)
    call_command("seed_rig", remove=True)
    assert list(Run.objects.all()) == [own]
    left = [Series, RunNode, Measurement, Artifact, JobRun, Campaign]
    assert [model._default_manager.count() for model in left] == [0] * len(left)
    assert not Agent.objects.exists()
    assert list(System.objects.all()) == [own.system]
    assert Platform.objects.exists()


def test_an_agent_in_use_of_the_rigs_name_is_left_alone() -> None:
    agent = an_agent(name="rig")
    with pytest.raises(CommandError, match="an agent is named 'rig'"):
        _seed(6)
    call_command("seed_rig", remove=True)
    agent.refresh_from_db()
    assert agent.revoked_at is None
    assert not System.objects.exists()


def test_removing_leaves_what_users_gave_names_like_the_rigs() -> None:
    agent = an_agent(name="rig", revoked_at=START)
    before, after = a_pair()
    System.objects.filter(pk=before.pk).update(slug="rig-old")
    System.objects.filter(pk=after.pk).update(slug="rig-new")
    finding, unused = a_finding(pair=(before, after)), a_system("rig-unused")
    _seed(24, add=True)
    campaign = a_campaign(after, threads=[4])
    failed = a_campaign(unused, threads=[4])
    for job in Job.objects.filter(campaign__in=(campaign, failed)):
        Job.objects.filter(pk=job.pk).update(agent=agent)
    JobRun.objects.create(run=Run.objects.filter(system=after)[0], job=campaign.jobs.all()[0], attempt=1)
    call_command("seed_rig", remove=True)
    assert set(Campaign.objects.all()) == {campaign, failed}
    assert set(System.objects.all()) == {before, after, unused}
    assert list(Finding.objects.all()) == [finding]
    agent.refresh_from_db()
    assert agent.revoked_at == START


def test_removing_leaves_a_users_campaign_on_a_system_of_the_rig() -> None:
    _seed(24)
    system = System.objects.filter(runs__isnull=False)[0]
    campaign = a_campaign(system, threads=[4])
    job = campaign.jobs.all()[0]
    Job.objects.filter(pk=job.pk).update(agent=Agent.objects.get(name="rig"))
    JobRun.objects.create(run=a_run(system=system), job=job, attempt=1)
    call_command("seed_rig", remove=True)
    assert list(Campaign.objects.all()) == [campaign]


def test_removing_takes_what_pages_and_tasks_have_stored_of_the_runs() -> None:
    _seed(6)
    run = Run.objects.order_by("pk")[0]
    panels.judge(run_id=run.pk)
    Looked.objects.create(run=run, sealed_at=run.started_at, is_excluded=False)
    RunCheck.objects.create(run=run, check_key="duration", status="passed", evidence="60 s")
    call_command("seed_rig", remove=True)
    assert not Run.objects.exists()
    assert not UsePanel.objects.exists()


def test_made_up_runs_are_not_sealed_again() -> None:
    _seed(6)
    Run.objects.update(derivation=0)
    call_command("reseal")
    assert set(Run.objects.values_list("derivation", flat=True)) == {0}
    assert Measurement.objects.exists()


def test_a_system_of_the_rig_in_use_by_others_stays() -> None:
    _seed(24)
    system = System.objects.filter(runs__isnull=False)[0]
    own = a_run(system=system)
    call_command("seed_rig", remove=True)
    assert list(Run.objects.all()) == [own]
    assert list(System.objects.all()) == [system]


def test_recorded_numbers_hold_no_name_path_or_address() -> None:
    for recording in recordings.load().values():
        text = " ".join(f"{name}={value}" for name, value in recording.variables.items())
        assert not any(word in text for word in ("/", "127.0.0.1", "node1", "passw"))
