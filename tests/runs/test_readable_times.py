"""Start and end of runs: PostgreSQL stores years that Python cannot read back."""

import pytest
from django.db import IntegrityError, connection, transaction

from apps.runs.models import Run
from tests.support.builders import START, a_run
from tests.support.stores import apply_again

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("field", ["started_at", "ended_at"])
@pytest.mark.parametrize("year", [1999, 2100])
def test_the_database_refuses_a_run_of_another_century(field: str, year: int) -> None:
    run = a_run()
    with pytest.raises(IntegrityError, match="run_times_readable"), transaction.atomic():
        Run.objects.filter(pk=run.pk).update(**{field: START.replace(year=year)})


def test_an_upgrade_makes_runs_readable_that_an_agent_stored_in_year_10000() -> None:
    bad, good = a_run(), a_run()
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute("ALTER TABLE runs_run DROP CONSTRAINT run_times_readable")
        cursor.execute(
            "UPDATE runs_run SET started_at = '10000-01-01 13:59:59+00', ended_at = '0001-12-31 10:00:00+00 BC'"
            " WHERE id = %s",
            [bad.pk],
        )
    apply_again("runs", "0022_readable_times", "0023_readable_times_of_all")
    found = {run.pk: run for run in Run.objects.all()}
    assert (found[bad.pk].started_at, found[bad.pk].ended_at) == (bad.created_at, bad.sealed_at)
    assert (found[good.pk].started_at, found[good.pk].ended_at) == (good.started_at, good.ended_at)
    with pytest.raises(IntegrityError, match="run_times_readable"), transaction.atomic():
        Run.objects.filter(pk=bad.pk).update(started_at=START.replace(year=2100))
