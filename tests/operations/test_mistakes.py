"""What was submitted below a misspelt name can be taken back, and nothing else goes with it."""

from collections.abc import Callable
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone
from rest_framework.test import APIClient

from apps.catalog.models import HardwareClass, Platform, Release, System, Workload
from apps.comparison.api import baselines
from apps.core.audit.models import AuditEntry
from apps.regressions.models import CheckedRelease, Finding, SignOff
from apps.runs.models import Run
from apps.saved import services as saved
from tests.regressions.a_finding import a_finding, a_pair
from tests.rest.submissions import a_description, send
from tests.support.builders import a_job, a_measured_run, a_system, a_user, a_workload

pytestmark = pytest.mark.django_db


def said_by(*arguments: str) -> str:
    out = StringIO()
    call_command("delete_systems", *arguments, stdout=out)
    return out.getvalue()


def submit(**system: str) -> System:
    client = APIClient()
    client.force_authenticate(a_user())
    described = a_description()
    answer = send(client, {**described, "system": {**described["system"], **system}})
    assert answer.status_code == 201, answer.content
    return Run.objects.get(pk=answer.json()["id"]).system


def test_a_misspelt_platform_goes_with_its_only_system_and_the_right_one_can_be_sent() -> None:
    right = submit(slug="right")
    submit(slug="wrong", platform="mariabd", hardware_class="my-box", version="10.11.18")
    assert "1 run" in said_by("wrong")
    assert System.objects.filter(slug="wrong").exists(), "without --apply nothing is changed"
    said = said_by("wrong", "--apply")
    assert "deleted: release mariabd 10.11.18" in said
    assert "deleted: platform mariabd" in said
    assert "hardware class" not in said, "the other system needs it"
    assert list(Run.objects.values_list("system", flat=True)) == [right.pk]
    assert not Platform.objects.filter(slug="mariabd").exists()
    assert Platform.objects.filter(slug="mariadb").exists()
    assert Workload.objects.filter(pk=Run.objects.get().workload_id).exists()
    entry = AuditEntry.objects.get(action="system.delete")
    assert (entry.subject, entry.before) == ("system wrong", "1 run, 0 findings")
    assert submit(slug="wrong", version="10.11.18").release.platform.slug == "mariadb"


def test_what_the_catalog_comes_with_stays_and_what_only_it_used_goes() -> None:
    call_command("seed_catalog", stdout=StringIO())
    submit()
    said = said_by("my-server", "--apply")
    assert "deleted: hardware class my box" in said
    assert "platform" not in said
    assert not HardwareClass.objects.filter(slug="my-box").exists()
    assert not Release.objects.filter(systems=None, platform__slug="mariadb").exists()
    assert Platform.objects.get(slug="mariadb").description


def test_its_findings_and_checks_go_too_and_those_of_others_stay() -> None:
    kept = a_finding("oltp_insert", pair=a_pair(version="10.11.20"))
    before, after = a_pair(Platform.objects.create(slug="typo", name="typo"), version="11.4.1")
    gone = a_finding(pair=(before, after))
    CheckedRelease.objects.create(
        release=after.release, hardware_class=after.hardware_class, result="fine", checked_at=timezone.now()
    )
    said_by(before.slug, after.slug, "--apply")
    assert list(Finding.objects.values_list("pk", flat=True)) == [kept.pk]
    assert not Finding.objects.filter(pk=gone.pk).exists()
    assert not CheckedRelease.objects.exists()
    assert not Platform.objects.filter(slug="typo").exists()


def _saved(system: System) -> None:
    other = a_system("other")
    for side in (system, other):
        for value in (100.0, 101.0, 99.0):
            a_measured_run({"client.throughput": value}, system=side, workload=a_workload())
    query = {"side": [system.slug, "other"], "workload": [str(a_workload().pk)]}
    saved.save(query=query, title="Kept", note="", by=a_user())


def _signed_off(system: System) -> None:
    SignOff.objects.create(release=system.release, hardware_class=system.hardware_class, by=a_user())


@pytest.mark.parametrize(
    ("use", "reason"),
    [
        (lambda system: a_job(systems=[system]), "an agent measured it, in 1 job"),
        (_saved, "the saved comparison 'Kept' rests on its runs: delete that first, on its page"),
        (lambda system: baselines.pin(workload=a_workload(), system=system, note="", by=a_user()), "pinned baseline"),
        (_signed_off, "is signed off: withdraw that first"),
        (lambda system: a_measured_run({}, system=system, provenance="example"), "a removal of its own"),
    ],
)
def test_what_others_rest_on_stays_with_all_that_was_named_and_says_why(
    use: Callable[[System], object], reason: str
) -> None:
    system, mistake = a_system("used"), a_system("mistake")
    use(system)
    out = StringIO()
    with pytest.raises(CommandError, match="Nothing was changed"):
        call_command("delete_systems", "mistake", "used", "--apply", stdout=out)
    assert reason in out.getvalue()
    assert System.objects.filter(pk=mistake.pk).exists()


def test_an_unknown_slug_is_named() -> None:
    with pytest.raises(CommandError, match="system: 'nope' is not in the catalog"):
        call_command("delete_systems", "nope")
