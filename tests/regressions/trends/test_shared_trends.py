"""Two systems of one release with the same hardware and settings share a trend."""

import pytest

from apps.catalog.models import System
from apps.regressions import look
from apps.regressions.models import Change, Trend
from apps.runs.models import Run
from apps.runs.quality import exclusion
from tests.regressions.trends.made_series import a_release, runs_of, values
from tests.support.builders import a_system, a_user

pytestmark = pytest.mark.django_db
NUMBERS = values(runs=24, changes=[(12, 0.85)])


@pytest.fixture
def shared() -> tuple[list[Run], System]:
    """The slower release is measured on two systems in turns; its runs, and the system of the second."""
    runs_of(a_release("10.11.19"), NUMBERS[:12])
    first = a_release("10.11.20")
    second = a_system("mariadb-10.11.20-again", release=first.release)
    runs = [
        run for day, value in enumerate(NUMBERS[12:]) for run in runs_of((first, second)[day % 2], [value], day=day + 2)
    ]
    return runs, second


def _look_at_all() -> None:
    for run in look.due():
        look.look(run_id=run)


def test_a_change_stays_the_same_when_the_run_it_began_with_is_left_out_and_another_systems_is_next(
    shared: tuple[list[Run], System],
) -> None:
    runs, second = shared
    _look_at_all()
    change = Change.objects.get(kind="history")
    assert (change.first_run, change.system) == (runs[0], runs[0].system)
    exclusion.exclude(run=runs[0], reason="the disk was full", by=a_user())
    _look_at_all()
    again = Change.objects.get(kind="history")
    assert (again.pk, again.first_run, again.system, again.gone_at) == (change.pk, runs[0], second, None)
    assert again.runs_after == [run.pk for run in runs[1:]]
    assert (Trend.objects.get().runs, look.due()) == (23, [])
