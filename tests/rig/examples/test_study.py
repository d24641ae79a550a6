"""The example study: what it measures, how it comes into an installation and leaves it."""

import json
from datetime import timedelta
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.conf import settings
from django.test import Client
from django.test.utils import override_settings
from django.utils import timezone

from apps.catalog import services as catalog
from apps.catalog.models import Platform, Release, System, Workload
from apps.catalog.services import release_for
from apps.comparison.models import PinnedBaseline
from apps.core.stores import store_at
from apps.dispatch import api as dispatch
from apps.dispatch.api import campaign_file
from apps.dispatch.models import Campaign, Job, JobRun, Schedule, ScheduledRun
from apps.regressions import api as regressions
from apps.regressions.models import Finding, Threshold, Trend
from apps.rig.examples import load, record, remove, study
from apps.rig.examples.data import archive_of
from apps.rig.examples.study import PARTS, StudyPart
from apps.rig.models import StudyState
from apps.runs.api import artifacts
from apps.runs.models import ArchivedRun, Artifact, Block, Run, RunCheck
from tests.regressions.a_finding import a_finding, a_pair
from tests.runs.archive.archived import a_full_run, archived
from tests.support.builders import START, a_load_level, a_measured_run, a_system, a_user, a_workload, an_agent
from tests.support.pages import data, elements

pytestmark = pytest.mark.django_db
TPS, OUTPUT = "client.throughput", b"what the load tool printed"
OLD, NEW = (102.0, 101.0, 103.0, 102.5, 101.5, 102.2), (81.0, 80.5, 82.0, 81.2, 80.8, 81.7)


def _never(_: str) -> None:
    """A session that is told as failed would be a failure of the test."""


@pytest.fixture(autouse=True)
def _no_lab(monkeypatch: pytest.MonkeyPatch, var_folder: object) -> None:
    """The lab and its agent: campaigns end at once, each job with a run."""
    monkeypatch.setattr(record, "_lab", lambda *_: None)
    monkeypatch.setattr(record, "_await_agent", lambda _: None)
    monkeypatch.setattr(record, "_await_end", _measure)


def _measure(campaign: Campaign, **_: object) -> None:
    session = Campaign.objects.count()
    for job in list(campaign.jobs.select_related("system", "workload")):
        copied = {name: getattr(job, name) for name in ("campaign", "entry", "system", "workload", "position")}
        job.delete()
        done = Job.objects.create(**copied, repetition=1, state=Job.State.SUCCEEDED, finished_at=timezone.now())
        values = NEW if job.system.slug == "release-new" else OLD
        for level in done.entry.load_levels.all():
            run = a_measured_run(
                {TPS: values[session % len(values)]},
                system=job.system,
                workload=job.workload,
                load_level=level,
                provenance=Run.Provenance.AGENT,
                started_at=START + timedelta(minutes=session),
            )
            Artifact.objects.filter(run=run).update(sha256=artifacts.keep(OUTPUT), size=len(OUTPUT))
            JobRun.objects.create(run=run, job=done, attempt=1)


def _releases() -> None:
    """The lab's two releases, as the agent announces them."""
    for slug, version in (("release-old", "10.11.19"), ("release-new", "11.8.9")):
        platform = a_system().release.platform
        release = release_for(platform=platform, version=version)
        a_system(slug, release=release)


def _small() -> StudyPart:
    part = study.part_named("nightly")
    return StudyPart(**{**vars(part), "sessions": 12, "turns": (("release-old", 6), ("release-new", 6))})


def _recorded(folder: Path) -> int:
    a_user(role="administrator", username="admin")
    _releases()
    return record.record(_small(), sessions=None, folder=folder, say=_never)


def _elsewhere(folder: Path) -> None:
    """Removes all that the recording left, as on another machine."""
    remove.remove()
    Campaign.objects.all().delete()
    Schedule.objects.all().delete()
    System.objects.all().delete()


@pytest.mark.parametrize("part", PARTS, ids=[part.name for part in PARTS])
def test_the_campaign_of_every_session_is_a_valid_plan(part: StudyPart) -> None:
    for slug in part.systems():
        a_system(slug)
    for session in (1, 2, part.sessions):
        checked = campaign_file.check(json.dumps(part.campaign(session)).encode())
        assert checked.repetitions == part.plan["repetitions"]
        assert {system.slug for system in checked.systems} <= set(part.systems())


def test_sessions_reverse_the_order_of_the_one_before() -> None:
    ladders = study.part_named("ladders")
    first, second, third = (ladders.campaign(number) for number in (1, 2, 3))
    assert second["systems"] == first["systems"][::-1] == third["systems"][::-1]
    assert second["workloads"] == first["workloads"][::-1]


def test_every_cell_of_the_ladders_is_measured_five_times_at_six_levels() -> None:
    ladders = study.part_named("ladders")
    assert ladders.sessions >= 5
    assert len(ladders.plan["load_levels"]) >= 6
    assert len(ladders.plan["workloads"]) == 4


def test_recorded_runs_are_examples_of_systems_of_their_own(tmp_path: Path) -> None:
    assert _recorded(tmp_path) == 12
    runs = Run.objects.select_related("system")
    assert {run.provenance for run in runs} == {"example"}
    assert {run.system.slug for run in runs} == {"example-release-old", "example-release-new"}
    assert System.objects.get(slug="example-release-old").nodes.count() == 1
    assert archive_of("nightly", tmp_path).exists()


def test_another_installation_gets_runs_history_and_a_finding_under_review(tmp_path: Path) -> None:
    _recorded(tmp_path)
    _elsewhere(tmp_path)
    loaded = load.load(folder=tmp_path)
    assert (loaded.runs, loaded.restored, loaded.problems) == (12, 12, ())

    schedule = Schedule.objects.get()
    assert schedule.next_at is None, "an example starts nothing"
    slots = ScheduledRun.objects.filter(schedule=schedule).order_by("due_at")
    assert [slot.state for slot in slots] == ["complete"] * 12
    last = slots.last()
    assert last is not None
    assert last.campaign is not None
    assert {job.system.slug for job in last.campaign.jobs.all()} == {"example-release-new"}

    worst = Finding.objects.filter(verdict="worse").order_by("-largest").first()
    assert worst is not None
    assert (worst.state, worst.labels) == ("under review", ["example"])
    assert worst.largest == pytest.approx(0.2, abs=0.03)
    assert Trend.objects.filter(runs__gte=12).exists()


def test_an_agent_of_the_measured_systems_does_not_reach_the_examples(tmp_path: Path) -> None:
    _recorded(tmp_path)
    recorded = System.objects.filter(slug__startswith="example-")
    an_agent(*System.objects.exclude(pk__in=recorded), last_seen_at=timezone.now())
    slugs = {"example-release-old", "example-release-new"}
    assert dispatch.unreachable(System.objects.all(), now=timezone.now()) == slugs
    _elsewhere(tmp_path)
    load.load(folder=tmp_path)
    assert dispatch.unreachable(System.objects.all(), now=timezone.now()) == slugs


def test_examples_restored_with_the_labels_of_the_measured_systems_are_mended() -> None:
    measured, example = a_system("galera"), a_system("example-galera", labels=["system:galera", "rack:a"])
    an_agent(measured, last_seen_at=timezone.now(), labels=["system:galera", "rack:a"])
    import_module("apps.catalog.migrations.0002_own_labels").mend(apps, None)
    assert dispatch.unreachable(System.objects.all(), now=timezone.now()) == {"example-galera"}
    example.refresh_from_db()
    assert example.labels == ["system:example-galera", "rack:a"]


def test_a_finding_of_other_systems_that_comes_meanwhile_is_no_example(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _recorded(tmp_path)
    _elsewhere(tmp_path)
    compare, measured = regressions.look.compare, list[Finding]()

    def meanwhile(*args: Any, **options: Any) -> Any:
        if not measured:
            pair = a_pair(Platform.objects.create(slug="other", name="other"))
            measured.append(a_finding(pair=pair, ratio=0.1, labels=["mine"]))
        return compare(*args, **options)

    monkeypatch.setattr(regressions.look, "compare", meanwhile)
    loaded = load.load(folder=tmp_path)
    assert loaded.findings == Finding.objects.count() - 1 > 0
    (finding,) = measured
    finding.refresh_from_db()
    assert (finding.labels, finding.state) == (["mine"], "new")
    assert [each.labels for each in Finding.objects.filter(state="under review")] == [["example"]]


def test_examples_loaded_twice_are_there_once(tmp_path: Path) -> None:
    _recorded(tmp_path)
    _elsewhere(tmp_path)
    load.load(folder=tmp_path)
    again = load.load(folder=tmp_path)
    assert (again.runs, again.restored) == (12, 0)
    assert (Run.objects.count(), ScheduledRun.objects.count()) == (12, 12)


def test_runs_of_an_interrupted_load_are_compared_and_analysed_by_the_next(tmp_path: Path) -> None:
    _recorded(tmp_path)
    _elsewhere(tmp_path)

    def interrupt(done: int, of: int) -> None:
        if done == of:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        load.load(folder=tmp_path, progress=interrupt)
    assert Run.objects.count() == 12
    assert not RunCheck.objects.filter(check_key="reproducible").exists(), "nothing is said of what was not looked at"
    again = load.load(folder=tmp_path, at_start=True)
    assert (again.restored, again.findings > 0) == (0, True)
    checks = RunCheck.objects.filter(check_key="reproducible")
    assert [check.detail["runs"] for check in checks] == [5] * 12
    assert Schedule.objects.exists()


def test_archives_that_are_known_are_looked_at_again_by_newer_rules(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _recorded(tmp_path)
    _elsewhere(tmp_path)
    first = load.load(folder=tmp_path)
    assert load.load(folder=tmp_path, at_start=True).unchanged
    Finding.objects.update(labels=[])
    monkeypatch.setattr(load, "RULES", load.RULES + 1)
    RunCheck.objects.filter(check_key="reproducible").delete()
    again = load.load(folder=tmp_path, at_start=True)
    assert (again.unchanged, again.restored) == (False, 0)
    assert Finding.objects.count() == first.findings
    assert RunCheck.objects.filter(check_key="reproducible").count() == 12
    assert load.load(folder=tmp_path, at_start=True).unchanged


def test_runs_restored_before_get_their_servers_start_unless_their_samples_are_elsewhere(tmp_path: Path) -> None:
    with override_settings(STORAGES=settings.STORAGES | {"archive": store_at(str(tmp_path / "archive"))}):
        here, moved = a_full_run(), a_full_run()
        archived(moved)
        ArchivedRun.objects.filter(run=moved).update(moved_at=timezone.now())
        Block.objects.filter(run=moved).update(data=None)
        known = here.server_started_at
        assert known is not None
        Run.objects.update(server_started_at=None)
        load._derive_server_starts([here.pk, moved.pk])
    here.refresh_from_db()
    moved.refresh_from_db()
    assert (here.server_started_at, moved.server_started_at) == (known, None)


def test_removed_examples_leave_nothing_and_no_start_brings_them_back(tmp_path: Path) -> None:
    _recorded(tmp_path)
    _elsewhere(tmp_path)
    load.load(folder=tmp_path)
    measured = a_measured_run({TPS: 5.0}, system=a_system("mine"), workload=a_workload(), load_level=a_load_level(4))
    assert remove.remove() == 12
    assert list(Run.objects.all()) == [measured]
    assert list(System.objects.values_list("slug", flat=True)) == ["mine"]
    assert [model for model in (Finding, Schedule, Campaign) if model.objects.exists()] == []
    assert not Release.objects.filter(version="11.8.9").exists()

    assert load.load(folder=tmp_path, at_start=True).removed
    assert Run.objects.count() == 1
    assert load.load(folder=tmp_path).restored == 12


def test_removing_keeps_workloads_that_a_person_set_something_for() -> None:
    by = a_user(role="administrator")
    limited, pinned, unset, pinned_to_example = (a_workload(f"own_{number}") for number in range(4))
    example, mine = a_system("example"), a_system("mine")
    for workload in (limited, pinned, unset, pinned_to_example):
        a_measured_run({TPS: 5.0}, system=example, workload=workload, provenance=Run.Provenance.EXAMPLE)
    Threshold.objects.create(workload=limited, smallest=0.05, significant=1e-6, by=by)
    for workload, system in ((pinned, mine), (pinned_to_example, example)):
        PinnedBaseline.objects.create(workload=workload, system=system, pinned_by=by)
    remove.remove()
    assert Threshold.objects.get().workload == limited
    assert PinnedBaseline.objects.get().workload == pinned
    assert not Workload.objects.filter(pk__in=(unset.pk, pinned_to_example.pk)).exists()


def test_removing_keeps_the_workloads_that_the_catalog_offers() -> None:
    catalog.seed()
    offered = Workload.objects.filter(tool="sysbench")[0]
    Threshold.objects.create(workload=offered, smallest=0.05, significant=1e-6, by=a_user(role="administrator"))
    before = set(Workload.objects.values_list("pk", flat=True))
    for workload in Workload.objects.filter(tool="sysbench")[:2]:
        a_measured_run({TPS: 5.0}, workload=workload, provenance=Run.Provenance.EXAMPLE)
    remove.remove()
    assert set(Workload.objects.values_list("pk", flat=True)) == before


def test_an_administrator_removes_the_examples_on_the_home_page(client: Client) -> None:
    a_measured_run({TPS: 5.0}, provenance=Run.Provenance.EXAMPLE)
    form = "form[action='/examples/remove/']"
    client.force_login(a_user(role="engineer"))
    assert elements(client.get("/").content.decode(), form) == []
    assert client.post("/examples/remove/").status_code == 403
    assert Run.objects.exists()
    client.force_login(a_user(role="administrator"))
    assert len(elements(client.get("/").content.decode(), form)) == 1
    page = client.post("/examples/remove/", follow=True).content.decode()
    assert "1 example run removed" in page
    assert data(page, "run") == []


def test_examples_that_are_still_being_restored_are_not_removed(client: Client) -> None:
    a_measured_run({TPS: 5.0}, provenance=Run.Provenance.EXAMPLE)
    state = StudyState.objects.create(wanted=10, restored=4, changed_at=timezone.now())
    client.force_login(a_user(role="administrator"))
    assert elements(client.get("/").content.decode(), "form[action='/examples/remove/']") == []
    page = client.post("/examples/remove/", follow=True).content.decode()
    assert "they are still being restored" in page
    assert Run.objects.exists()
    StudyState.objects.filter(pk=state.pk).update(changed_at=timezone.now() - load.ENDED_AFTER)
    assert remove.remove() == 1


def test_the_progress_of_a_load_is_noted_until_it_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _recorded(tmp_path)
    _elsewhere(tmp_path)
    monkeypatch.setattr(load, "NOTED_EVERY", 1)
    seen = []

    def look(done: int, of: int) -> None:
        seen.append((load.restoring(timezone.now()), done, of))

    load.load(folder=tmp_path, progress=look)
    assert seen == [(load.Restoring(done - 1, 12), done, 12) for done in range(1, 13)]
    assert load.restoring(timezone.now()) is None


def test_a_start_goes_on_with_a_load_that_was_cut_off(tmp_path: Path) -> None:
    _recorded(tmp_path)
    _elsewhere(tmp_path)
    load.load(folder=tmp_path)
    assert load.load(folder=tmp_path, at_start=True).unchanged
    StudyState.objects.update(loaded_at=None)
    assert not load.load(folder=tmp_path, at_start=True).unchanged
    assert load.load(folder=tmp_path, at_start=True).unchanged
