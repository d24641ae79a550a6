"""Old runs go with all that is theirs; what people decided about, and the newest of each place, stays."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta
from io import StringIO
from pathlib import Path
from threading import Barrier

import pytest
from django.conf import settings
from django.core.files.storage import default_storage
from django.core.management import CommandError, call_command
from django.db import close_old_connections, connection, transaction
from django.test.utils import override_settings

from apps.accounts import shared_links
from apps.catalog.models import HardwareClass, Release, System
from apps.comparison.api import baselines
from apps.core.audit.models import AuditEntry
from apps.core.stores import store_at
from apps.operations.retention import carry_out, plan
from apps.regressions.models import Change, Finding, SignOff, Trend
from apps.runs.api import accept, artifacts, deletion
from apps.runs.models import Artifact, Run
from apps.saved import services as saved
from tests.regressions.a_finding import a_finding
from tests.runs.archive.archived import a_full_run, archived, forget_everything, held
from tests.runs.uploads import OUTPUT, an_upload
from tests.support.builders import START, a_load_level, a_measured_run, a_metric, a_run, a_system, a_user, a_workload

pytestmark = pytest.mark.django_db
NOW = START + timedelta(days=400)


def runs_of(system: System, *days: int, **fields: object) -> list[int]:
    """Runs that began so many days after START."""
    return [
        a_run(system=system, started_at=START + timedelta(days=day), ended_at=START + timedelta(days=day), **fields).pk
        for day in days
    ]


def a_later_run(run: Run) -> Run:
    """At the same place."""
    return a_run(system=run.system, workload=run.workload, load_level=run.load_level, started_at=NOW, ended_at=NOW)


def going(**fields: object) -> tuple[int, ...]:
    return plan(**{"now": NOW, "days": 300, "newest": 1, **fields}).runs  # type: ignore[arg-type]


def test_the_newest_that_count_stay_of_each_system_workload_and_load_level() -> None:
    a, b = a_system(), a_system()
    old = runs_of(a, 0, 1, 2)
    alone = runs_of(b, 0)
    other_level = runs_of(a, 0, load_level=a_load_level(64))
    failed = runs_of(a, 3, outcome="failed", reason="the server stopped")
    found = plan(now=NOW, days=300, newest=1)
    assert found.runs == (*old[:2], *failed)
    assert found.kept == (("the 1 newest of their system, workload and load level", 3),)
    assert found.systems == ((a.slug, 3),)
    assert going(newest=2) == (old[0], *failed)
    assert not {*alone, *other_level}.intersection(found.runs)


def test_young_unfinished_and_example_runs_are_not_old() -> None:
    system = a_system()
    runs_of(system, 200, 201)
    runs_of(system, 0, 1, provenance="example")
    a_run(system=system, state="open", outcome="", ended_at=None, started_at=START)
    assert plan(now=NOW, days=300, newest=1).old == 0


def test_what_findings_saved_comparisons_and_baselines_rest_on_stays() -> None:
    finding = a_finding()
    (change,) = Change.objects.all()
    for system in filter(None, (change.system, change.baseline_system)):
        runs_of(system, 30, workload=change.workload, load_level=change.load_level)
    sides = [a_system("a", name="Alpha"), a_system("b", name="Beta")]
    for side in sides:
        for value in (100.0, 101.0, 99.0):
            a_measured_run({"client.throughput": value}, system=side, workload=a_workload("oltp_insert"))
    query = {"side": ["a", "b"], "workload": [str(a_workload("oltp_insert").pk)]}
    kept = saved.save(query=query, title="Kept", note="", by=a_user())
    pinned = a_system("pinned")
    runs_of(pinned, 0, 1)
    baselines.pin(workload=a_workload(), system=pinned, note="", by=a_user())
    reasons = dict(plan(now=NOW, days=300, newest=1).kept)
    assert reasons["named by a finding"] == 4
    assert reasons["in a saved comparison"] == 4, "two of its six are the newest"
    assert reasons["of a pinned baseline"] == 1
    assert going() == ()
    kept.delete()
    Finding.objects.filter(pk=finding.pk).update(state="fixed", reason="reverted")
    assert len(going()) == 8


def test_runs_of_a_signed_off_release_and_of_what_it_was_compared_with_stay_until_it_is_withdrawn() -> None:
    system, old = a_system("new"), a_system("old")
    earlier = Release.objects.create(platform=old.release.platform, version="10.6.1", version_key=[10, 6, 1])
    System.objects.filter(pk=old.pk).update(release=earlier)
    of_both = {*runs_of(system, 0, 1), *runs_of(old, 0, 1)}
    failed = runs_of(system, 0, outcome="failed", reason="the server stopped")
    elsewhere = HardwareClass.objects.create(slug="large", name="Large")
    on_other = runs_of(a_system("other", hardware_class=elsewhere), 0, 1)
    signed = SignOff.objects.create(
        release=system.release, hardware_class=system.hardware_class, by=a_user(), seen={"baseline": "10.6.1"}
    )
    found = plan(now=NOW, days=300, newest=1)
    assert dict(found.kept)["of a signed-off release"] == 2, "two of the four are the newest"
    assert set(found.runs) == {*failed, on_other[0]}
    SignOff.objects.filter(pk=signed.pk).update(withdrawn_by=signed.by, withdrawn_at=NOW)
    assert len(of_both.intersection(going())) == 2


def test_runs_of_a_shared_release_or_finding_stay_while_the_link_opens_it() -> None:
    system, by = a_system(), a_user()
    of_release = runs_of(system, 0, 1)
    finding = a_finding("oltp_insert", state="fixed", reason="reverted")
    of_finding = runs_of(a_system("found"), 0, 1)
    Change.objects.update(runs_before=of_finding[:1], runs_after=[])
    assert {of_release[0], of_finding[0]} <= set(going())
    for view, page in (("release", "/releases/mariadb/10.11.19/"), ("finding", f"/findings/{finding.pk}/")):
        pinned = {"hardware": system.hardware_class.slug} if view == "release" else {}
        link, _ = shared_links.create(by=by, view=view, path=page, query=pinned, title=page, days=30, now=NOW)
        kept = of_release[0] if view == "release" else of_finding[0]
        assert kept not in going()
        assert kept in going(now=NOW + timedelta(days=31)), "it has expired"
        shared_links.withdraw(link_id=link.pk, by=by, now=NOW)
        assert kept in going()


def test_the_run_at_which_a_closed_finding_began_stays_and_a_trend_forgets_a_deleted_one() -> None:
    system = a_system()
    first, last, _ = runs_of(system, 0, 1, 2)
    place = {"platform": system.release.platform, "hardware_class": system.hardware_class, "workload": a_workload()}
    trend = Trend.objects.create(
        **place, settings_hash=system.settings_hash, load_level=a_load_level(), metric=a_metric(), last_run_id=last
    )
    finding = a_finding("oltp_insert", state="fixed", reason="reverted")
    Change.objects.update(kind="history", history=trend, first_run=first, runs_before=[], runs_after=[])
    assert first not in going()
    assert last in going()
    list(carry_out(plan(now=NOW, days=300, newest=1)))
    trend.refresh_from_db()
    assert trend.last_run is None
    assert Finding.objects.filter(pk=finding.pk).exists()
    assert Run.objects.filter(pk=first).exists()


def test_without_apply_nothing_is_changed_and_with_it_the_log_says_who_and_what() -> None:
    system = a_system("old-one")
    old = runs_of(system, -400, -399, -398)
    said = StringIO()
    call_command("delete_runs", "--older-than", "30", "--newest", "1", stdout=said)
    assert "2  to be deleted (0\N{NO-BREAK SPACE}B of raw files)" in said.getvalue()
    assert "2  old-one" in said.getvalue()
    assert "Nothing was changed. To delete them, add --apply." in said.getvalue()
    assert Run.objects.count() == 3
    call_command("delete_runs", "--older-than", "30", "--newest", "1", "--apply", stdout=said)
    assert list(Run.objects.values_list("pk", flat=True)) == old[2:]
    entry = AuditEntry.objects.get(action="run.delete")
    assert entry.subject.startswith("2 runs that ended before ")
    assert entry.before == "old-one: 2"


@pytest.mark.parametrize("options", [("--older-than", "0"), ("--older-than", "9", "--newest", "0")])
def test_a_limit_of_nothing_is_refused_by_its_name(options: tuple[str, ...]) -> None:
    with pytest.raises(CommandError, match=f"{options[-2]} must be at least 1, not 0"):
        call_command("delete_runs", *options)


@contextmanager
def an_archive(folder: Path) -> Iterator[None]:
    with override_settings(STORAGES=settings.STORAGES | {"archive": store_at(str(folder))}):
        yield


def test_with_an_archive_only_what_it_has_goes_and_comes_back_as_it_was(tmp_path: Path) -> None:
    with an_archive(tmp_path / "archive"):
        run = a_full_run()
        later = a_later_run(run)
        found = plan(now=NOW, days=300, newest=1)
        assert (found.runs, found.kept) == ((), (("not in the archive", 1),))
        assert going(unarchived=True) == (run.pk,)
        archived(run)
        before = held(run)
        found = plan(now=NOW, days=300, newest=1)
        assert (found.runs, found.archived) == ((run.pk,), 1)
        list(carry_out(found))
        assert not default_storage.exists(artifacts.path_of(before["artifacts"][0]["sha256"]))
        later.delete()
        forget_everything()
        call_command("restore_runs", stdout=StringIO())
        assert held(Run.objects.get(uid=run.uid)) == before


def test_where_the_archive_is_not_named_no_run_goes_that_it_may_lack(tmp_path: Path) -> None:
    system = a_system()
    first, *_ = runs_of(system, -400, -399)
    with an_archive(tmp_path / "archive"):
        archived(a_full_run())
    for options in ((), ("--apply",)):
        with pytest.raises(CommandError, match="SPLASHBOARD_ARCHIVE: it is not set here"):
            call_command("delete_runs", "--older-than", "30", "--newest", "1", *options, stdout=StringIO())
    assert Run.objects.filter(pk=first).exists()
    call_command("delete_runs", "--older-than", "30", "--newest", "1", "--unarchived", "--apply", stdout=StringIO())
    assert not Run.objects.filter(pk=first).exists()


def test_files_go_with_the_last_run_that_has_them() -> None:
    one, other = (an_upload(output=OUTPUT).send() for _ in range(2))
    path = artifacts.path_of(one.artifacts.get().sha256)
    for run in (one, other):
        assert default_storage.exists(path)
        list(deletion.delete_runs(Run.objects.filter(pk=run.pk)))
    assert not default_storage.exists(path)


def in_threads(*acts: Callable[[], object]) -> list[object]:
    def done(act: Callable[[], object]) -> object:
        try:
            return act()
        finally:
            connection.close()

    with ThreadPoolExecutor(len(acts)) as pool:
        return [each.result() for each in [pool.submit(done, act) for act in acts]]


@pytest.mark.django_db(transaction=True)
def test_a_file_that_arrives_again_while_its_last_run_goes_is_there_afterwards() -> None:
    for number in range(10):
        content = OUTPUT + str(number).encode()
        old, new = an_upload(output=content).send(), an_upload(output=content)
        start = Barrier(2)

        def delete(old: Run = old, start: Barrier = start) -> None:
            start.wait()
            list(deletion.delete_runs(Run.objects.filter(pk=old.pk)))

        def arrive(new: object = new, start: Barrier = start) -> None:
            start.wait()
            new.send()  # type: ignore[attr-defined]

        in_threads(delete, arrive)
        assert artifacts.read_artifact(Artifact.objects.get(run=new.run)) == content


@pytest.mark.django_db(transaction=True)
def test_a_backup_keeps_all_files_until_it_is_done() -> None:
    run = an_upload().send()
    assert accept.seal(run_id=run.pk)
    a_later_run(run)
    arguments = ("delete_runs", "--older-than", "30", "--newest", "1", "--apply")

    def delete() -> None:
        with pytest.raises(CommandError, match=r"after 0 runs: .*backup.* it is being made"):
            call_command(*arguments, stdout=StringIO())

    with deletion.no_deletion():
        in_threads(delete)
    assert Run.objects.count() == 2
    close_old_connections()
    call_command(*arguments, stdout=StringIO())
    assert not Run.objects.filter(pk=run.pk).exists()


@pytest.mark.django_db(transaction=True)
def test_a_file_is_never_stored_where_nothing_would_hold_it() -> None:
    with pytest.raises(transaction.TransactionManagementError, match="belong to one transaction"):
        artifacts.keep(b"alone")
