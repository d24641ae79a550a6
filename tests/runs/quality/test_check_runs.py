"""`manage.py check_runs`, for runs that were sealed before there were checks."""

from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from apps.runs.models import Run, RunCheck
from tests.support.builders import a_run
from tests.web.runs.recorded_runs import a_sealed_run

pytestmark = pytest.mark.django_db


def said(*arguments: object) -> str:
    out = StringIO()
    call_command("check_runs", *map(str, arguments), stdout=out)
    return out.getvalue().strip()


def test_it_checks_what_has_no_checks_yet_and_finds_what_the_seal_found() -> None:
    run = a_sealed_run()
    sealed = list(RunCheck.objects.values_list("check_key", "status", "evidence"))
    assert said() == "0 runs checked, 0 of them failed a check"
    RunCheck.objects.all().delete()
    Run.objects.update(failed_checks=["of-before"])
    assert said() == "1 run checked, 1 of them failed a check"
    assert list(RunCheck.objects.values_list("check_key", "status", "evidence")) == sealed
    run.refresh_from_db()
    assert run.failed_checks == [key for key, status, _ in sealed if status == "failed"]


def test_a_check_that_is_no_more_is_forgotten() -> None:
    run = a_sealed_run()
    RunCheck.objects.create(run=run, check_key="of-before", status="failed", evidence="It was otherwise.")
    said(run.pk)
    assert not RunCheck.objects.filter(check_key="of-before").exists()


def test_it_names_runs_that_it_cannot_check_and_does_nothing() -> None:
    a_run(state="ended")
    with pytest.raises(CommandError, match="no complete run 999: nothing was done"):
        said(999)
    assert said("--all") == "0 runs checked, 0 of them failed a check"
