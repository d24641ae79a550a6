"""Releases measured in turns, each on servers of its own, share their sessions in a trend as in Compare."""

from datetime import timedelta

import pytest

from apps.regressions import thresholds
from apps.regressions.models import Trend
from apps.regressions.releases.values import RowVerdict
from apps.regressions.trends import series as trends_series
from apps.regressions.trends.board import BoardFilter, load_board
from tests.regressions.trends.made_series import a_release, followed, runs_of
from tests.support.builders import START


def measured_in_turns(*, nights: int) -> Trend:
    """Three runs a night of each of two releases, in turns; both servers start before the first."""
    runs = []
    for night in range(nights):
        for place, (version, level) in enumerate({"11.4.1": 1000.0, "11.4.2": 950.0}.items()):
            started = START + timedelta(days=night, minutes=20 * place - 60)
            of_night = level * (1 + 0.01 * night + 0.001 * place * (night % 2))
            numbers = [of_night * factor for factor in (0.998, 1.0, 1.002)]
            runs += runs_of(a_release(version), numbers, day=night, server_started_at=started)
    followed(runs[-1:])
    return Trend.objects.get()


@pytest.mark.django_db
def test_two_releases_in_turns_within_one_night_are_one_session_of_each() -> None:
    measured_in_turns(nights=1)
    (row,) = load_board(BoardFilter(by="release")).groups[0].rows
    assert [cell.verdict for cell in row.cells] == [None, RowVerdict.ONE_SESSION]


@pytest.mark.django_db
def test_over_several_nights_in_turns_the_nights_are_the_replicates() -> None:
    measured_in_turns(nights=4)
    (row,) = load_board(BoardFilter(by="release")).groups[0].rows
    ratio = row.cells[1].ratio
    assert ratio is not None
    assert ratio.counts == (4, 4)
    assert row.cells[1].verdict is RowVerdict.WORSE


@pytest.mark.django_db
@pytest.mark.parametrize("nights", [1, 2])
def test_change_detection_takes_a_night_of_two_releases_as_a_part_of_each(nights: int) -> None:
    """Runs of a series are ordered by release, so that a night's two parts are neighbours, or far apart."""
    trend = measured_in_turns(nights=nights)
    (found,) = trends_series.read([trend], thresholds.every())
    assert [point.session for point in found.points] == [night for night in range(nights) for _ in range(3)] * 2
    assert list(found.results.sessions) == [part for part in range(2 * nights) for _ in range(3)]
