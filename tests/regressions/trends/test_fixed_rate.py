"""Throughput at a fixed rate is the number of arrivals: in a trend its value is no change for the worse or better."""

import pytest

from apps.comparison.pure import Direction
from apps.regressions.models import Change, Finding, Trend
from apps.regressions.releases.values import RowVerdict
from apps.regressions.trends import queries
from apps.regressions.trends.board_cells import ColumnSeries, badness, board_cells
from tests.regressions.trends.made_series import a_release, followed, runs_of, values
from tests.support.builders import START, a_load_level, a_metric, a_workload

RATE = 1000.0


def cells(*nights: float, length: float = 60.0) -> list[tuple[RowVerdict | None, str]]:
    """Three runs a night."""
    numbers = [level for level in nights for _ in range(3)]
    columns = [place // 3 for place in range(len(numbers))]
    lengths = [length] * len(numbers)
    (found,) = board_cells([ColumnSeries(numbers, columns, Direction.HIGHER, 0.005, rate=RATE, lengths=lengths)])
    return [(cell.verdict, cell.reason.replace("\xa0", " ")) for cell in found]


def test_a_night_that_held_the_rate_is_neither_better_nor_worse_whatever_arrived() -> None:
    assert cells(1000, 985, 1014)[1:] == [
        (RowVerdict.RATE_HELD, "98.5 % of 1000/s (baseline 100 %)"),
        (RowVerdict.RATE_HELD, "101 % of 1000/s (baseline 100 %)"),
    ]


def test_a_night_that_fell_short_of_the_rate_did_not_hold_it() -> None:
    assert cells(1000, 820)[1] == (RowVerdict.RATE_NOT_HELD, "82 % of 1000/s (baseline 100 %)")
    assert cells(820, 1000)[1] == (RowVerdict.RATE_HELD, "100 % of 1000/s (baseline not held: 82 %)")


def test_a_night_of_unknown_length_that_fell_short_did_not_hold_the_rate() -> None:
    assert cells(1000, 500, length=0.0)[1][0] is RowVerdict.RATE_NOT_HELD
    assert cells(1000, 970, length=0.0)[1][0] is RowVerdict.RATE_HELD


def test_a_row_whose_rate_was_not_held_comes_before_inconclusive_ones_and_behind_worse_ones() -> None:
    plain = [ColumnSeries([1000.0, level], [0, 1], Direction.HIGHER, 0.005) for level in (990.0,)]
    rated = ColumnSeries([1000.0, 820.0], [0, 1], Direction.HIGHER, 0.005, rate=RATE, lengths=[60.0, 60.0])
    inconclusive, short = (badness(found) for found in board_cells([*plain, rated]))
    assert (0, -9.0) < short < inconclusive


@pytest.fixture
def rated(db: None) -> Trend:
    """Twelve runs of each of two releases at a fixed rate, which the second falls short of by 15 %."""
    metric = a_metric("client.throughput")
    workload = a_workload()
    workload.primary_metric = metric
    workload.save()
    numbers = values(runs=24, changes=[(12, 0.85)])
    level = a_load_level(4, rate=RATE)
    runs = runs_of(a_release("11.4.1"), numbers[:12], load_level=level, workload=workload)
    runs += runs_of(a_release("11.4.2"), numbers[12:], day=2, load_level=level, workload=workload)
    assert followed(runs[-1:]) == []
    return Trend.objects.get(load_level=level)


def test_no_finding_says_that_throughput_at_a_fixed_rate_got_worse(rated: Trend) -> None:
    assert not Change.objects.exists()
    assert rated.reason.startswith("at a fixed rate")
    assert rated.effect is None


def test_a_finding_of_earlier_rules_is_gone(rated: Trend) -> None:
    finding = Finding.objects.create(
        **{"kind": "change", "title": "", "verdict": "worse", "changed_at": START},
        **{"platform": rated.platform, "hardware_class": rated.hardware_class},
    )
    first = rated.last_run
    assert first is not None
    change = Change.objects.create(
        **{"finding": finding, "kind": "history", "verdict": "worse", "system": first.system, "history": rated},
        **{"workload": rated.workload, "load_level": rated.load_level, "metric": rated.metric},
        **{"first_run": first.system.runs.order_by("started_at")[0], "ratio": 0.85, "low": 0.84, "high": 0.86, "p": 0},
        **{"before": 1000.0, "after": 850.0, "runs_before": [], "runs_after": [], "judged_at": START},
    )
    Trend.objects.update(rules=0)
    followed([first])
    change.refresh_from_db()
    assert change.gone_at is not None


def test_the_list_of_series_has_those_at_a_fixed_rate_apart(rated: Trend) -> None:
    found = [queries.rows_of(queries.TrendFilter(sight=sight)).count() for sight in ("fit", "rate")]
    assert found == [0, 1]
