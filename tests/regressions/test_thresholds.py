"""Thresholds: the most particular counts, they are tried on history before they are kept, and then hold for it."""

from dataclasses import replace
from typing import Any

import pytest

from apps.core.problems import Invalid
from apps.regressions import thresholds
from apps.regressions.detection import DEFAULT_LIMITS
from apps.regressions.models import Finding, Threshold, Trend
from apps.regressions.releases import check as releases_check
from apps.regressions.releases import stored_checks
from apps.regressions.releases.values import CheckRow, RowVerdict
from apps.regressions.trends import follow, queries
from tests.regressions.releases.released import NEW, the_hardware, two_releases
from tests.regressions.releases.released import a_release as the_release
from tests.regressions.trends.made_series import a_release, followed, runs_of, values
from tests.support.builders import a_metric, a_user, a_workload

pytestmark = pytest.mark.django_db
SLOWER, FAINT = 0.85, 0.985


@pytest.fixture
def workload(db: None) -> int:
    """Two series: one falls by 15 %, of another workload one falls by 1.5 %. The first workload's id."""
    falls = runs_of(a_release("10.11.19"), values(runs=40, changes=[(24, SLOWER)]))
    faint = runs_of(
        a_release("10.11.19"), values(runs=80, changes=[(40, FAINT)], noise=0.003), workload=a_workload("oltp_insert")
    )
    followed([falls[-1], faint[-1]])
    return falls[0].workload_id


def keep(smallest: float = 0.03, significant: float = 1e-6, **fields: Any) -> thresholds.StoredThreshold:
    given = {"workload": None, "metric": None, **fields}
    return thresholds.keep(smallest=smallest, significant=significant, by=a_user(), **given)


def test_the_most_particular_threshold_counts(db: None) -> None:
    workload, metric = a_workload(), a_metric()
    assert thresholds.of(workload.pk, metric.pk) == DEFAULT_LIMITS
    for smallest, fields in (
        (0.01, {}),
        (0.02, {"metric": metric.key}),
        (0.03, {"workload": workload.pk}),
        (0.04, {"workload": workload.pk, "metric": metric.key}),
    ):
        keep(smallest, **fields)
        assert thresholds.of(workload.pk, metric.pk).smallest == smallest
    assert thresholds.of(workload.pk, metric.pk + 1).smallest == 0.03
    assert thresholds.of(workload.pk + 1, metric.pk).smallest == 0.02
    assert thresholds.of(workload.pk + 1, metric.pk + 1).smallest == 0.01


def test_a_threshold_is_set_once_and_then_changed(db: None) -> None:
    keep(0.02)
    keep(0.05)
    assert [each.smallest for each in thresholds.stored()] == [0.05]
    assert thresholds.drop(thresholds.stored()[0].id)
    assert not thresholds.drop(1)
    assert thresholds.stored() == []


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"smallest": 0}, "smallest"),
        ({"smallest": 1}, "smallest"),
        ({"smallest": float("nan")}, "smallest"),
        ({"significant": 0.01}, "significant"),
        ({"significant": 0}, "significant"),
        ({"workload": 999_999}, "workload"),
        ({"metric": "no.such"}, "metric"),
    ],
)
def test_what_is_no_threshold_is_refused_by_its_field(db: None, fields: dict[str, Any], named: str) -> None:
    with pytest.raises(Invalid) as refused:
        keep(**fields)
    assert [problem.field for problem in refused.value.errors] == [named]
    assert not Threshold.objects.exists()


def test_it_is_tried_on_history_before_it_is_kept(workload: int) -> None:
    assert Finding.objects.count() == 1
    tried = queries.preview(workload=None, metric=None, smallest=0.05, significant=1e-6)
    assert (tried.looked_at, tried.raised, tried.new, tried.withdrawn) == (2, 1, 0, 1)
    tried = queries.preview(workload=workload, metric=None, smallest=0.3, significant=1e-6)
    assert (tried.looked_at, tried.raised, tried.withdrawn) == (1, 0, 1)
    assert not Threshold.objects.exists()
    assert Finding.objects.get().changes.filter(gone_at=None).count() == 2


def test_what_was_tried_happens_once_it_is_kept(workload: int) -> None:
    keep(0.05)
    assert follow.follow_rest(most=10) == 2
    assert follow.follow_rest(most=10) == 0
    assert [change.workload_id for change in Finding.objects.get().changes.filter(gone_at=None)] == [workload]
    tried = queries.preview(workload=None, metric=None, smallest=0.005, significant=1e-6)
    assert (tried.raised, tried.new, tried.withdrawn) == (2, 1, 0)
    thresholds.drop(thresholds.stored()[0].id)
    follow.follow_rest(most=10)
    assert Finding.objects.get().changes.filter(gone_at=None).count() == 2


def test_a_trend_that_fails_keeps_no_other_waiting(workload: int, monkeypatch: pytest.MonkeyPatch) -> None:
    keep(0.05)
    broken = Trend.objects.earliest("pk").pk
    follow_trend = follow.follow_trend

    def failing(trend_id: int) -> list[Finding]:
        if trend_id == broken:
            raise RuntimeError("broken")
        return follow_trend(trend_id)

    with monkeypatch.context() as patched:
        patched.setattr(follow, "follow_trend", failing)
        assert [follow.follow_rest(most=1) for _ in range(2)] == [1, 0]
    assert list(Trend.objects.filter(past_hash="").values_list("pk", flat=True)) == [broken]
    assert follow.follow_rest(most=1) == 1


def test_a_more_particular_threshold_is_not_overridden(workload: int) -> None:
    keep(0.01, workload=workload)
    tried = queries.preview(workload=None, metric=None, smallest=0.5, significant=1e-6)
    assert (tried.concerned, tried.kept_apart, tried.withdrawn) == (1, 1, 1)


def test_a_preview_asks_the_same_number_of_queries_of_one_series_and_of_two(
    workload: int, django_assert_num_queries: Any
) -> None:
    for asked in (workload, None):
        with django_assert_num_queries(6 if asked is None else 7):
            queries.preview(workload=asked, metric=None, smallest=0.05, significant=1e-6)


def test_a_preview_says_how_many_series_are_too_short_to_tell(workload: int) -> None:
    followed(runs_of(a_release("10.11.19"), values(runs=9), workload=a_workload("oltp_delete"))[-1:])
    tried = queries.preview(workload=None, metric=None, smallest=0.05, significant=1e-6)
    assert (tried.looked_at, tried.too_short) == (3, 1)


def a_row(change: float, *, smallest: float = 0.005, verdict: str = "worse", **fields: Any) -> CheckRow:
    """Of throughput, with an interval of ±1 % around its ratio."""
    usual: dict[str, Any] = {
        **dict.fromkeys(("tool", "workload", "level", "metric", "metric_name", "unit", "baseline_system"), ""),
        **{"workload_id": a_workload().pk, "metric_id": a_metric().pk, "level_id": 1, "baseline_system_id": 1},
        **{"ratio": 1 + change, "low": 0.99 + change, "high": 1.01 + change, "p": 1e-4, "smallest": smallest},
        **{"threads": 1, "rate": None, "direction": "higher"},
    }
    return CheckRow(verdict=RowVerdict(verdict), **usual | fields)


def test_a_preview_says_what_a_threshold_does_to_releases(db: None) -> None:
    two_releases()
    check = releases_check.check(the_release(NEW), the_hardware())
    rows = (
        a_row(-0.12),
        a_row(-0.03),
        a_row(0.03, verdict="better"),
        a_row(-0.015, smallest=0.02, verdict="unchanged"),
        a_row(-0.005, smallest=0.02, verdict="inconclusive"),
        a_row(0.015, smallest=0.02, verdict="unchanged"),
    )
    stored_checks.keep(replace(check, rows=rows))

    def counts(smallest: float) -> tuple[int, int, int]:
        found = queries.preview(workload=None, metric=None, smallest=smallest, significant=1e-6).releases
        return found.rows, found.passed, found.worse

    assert counts(0.05) == (6, 1, 0)
    assert counts(0.2) == (6, 2, 0)
    assert counts(0.01) == (6, 0, 1)
    keep(0.02, workload=a_workload().pk)
    assert counts(0.2) == (0, 0, 0)


@pytest.fixture
def judged_beside(db: None) -> None:
    """A compared release with rows of errors, work per transaction and latency beside throughput."""
    two_releases()
    errors, fsyncs, p95 = (
        dict[str, Any]({"metric": key, "metric_id": a_metric(key).pk, "direction": "lower", "primary": False})
        for key in ("client.errors", "work.fsyncs", "client.latency.p95")
    )
    none: dict[str, Any] = dict.fromkeys(("ratio", "low", "high"))
    rows = (
        a_row(0.0, verdict="worse", **errors, **none),
        a_row(0.07, smallest=0.1, verdict="unchanged", **fsyncs, worst=0.08),
        a_row(0.15, smallest=0.1, verdict="worse", **fsyncs),
        a_row(0.02, verdict="inconclusive", **p95, p=0.4, worst=0.3),
        a_row(0.0, verdict="unchanged", p=0.4, worst=0.04),
    )
    stored_checks.keep(replace(releases_check.check(the_release(NEW), the_hardware()), rows=rows))


def test_a_preview_leaves_what_has_no_ratio_and_judges_work_as_the_gate_does(judged_beside: None) -> None:
    def counts(smallest: float, metric: str | None = None) -> tuple[int, int, int]:
        found = queries.preview(workload=None, metric=metric, smallest=smallest, significant=1e-6).releases
        return found.rows, found.passed, found.worse

    assert counts(0.05) == (5, 0, 0), "errors stay worse, and work counts from a tenth on"
    assert counts(0.2) == (5, 1, 0)
    assert counts(0.05, "work.fsyncs") == (2, 0, 1), "a threshold of the metric decides"


def test_a_previewed_margin_is_of_the_primary_metric_unless_it_names_another(judged_beside: None) -> None:
    def beyond(margin: float, metric: str | None = None) -> int:
        found = queries.preview(workload=None, metric=metric, smallest=0.005, significant=1e-6, margin=margin)
        return found.releases.beyond

    assert [beyond(0.03), beyond(0.05)] == [1, 0]
    assert [beyond(0.1, "client.latency.p95"), beyond(0.4, "client.latency.p95")] == [1, 0]


def test_a_history_tells_its_runs_levels_and_changes(workload: int) -> None:
    own = Trend.objects.get(workload=workload)
    found = queries.detail(own.pk)
    assert found is not None
    assert (len(found.points), found.row.changes, found.source) == (40, 1, "the default")
    assert [round(level.value, -1) for level in found.levels] == [
        pytest.approx(1000, rel=0.02),
        pytest.approx(850, rel=0.02),
    ]
    assert found.changes[0].place == 24
    assert queries.detail(own.pk + 1000) is None


@pytest.mark.parametrize(("sight", "count"), [("fit", 2), ("changed", 2), ("short", 0), ("noisy", 0), ("", 2)])
def test_histories_are_found_by_what_can_be_seen_in_them(workload: int, sight: str, count: int) -> None:
    assert len(queries.listed(list(queries.rows_of(queries.TrendFilter(sight=sight))))) == count


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"smallest": 1.0}, "smallest: is a share above 0 and below 1 (0.02 ignores changes below 2 %)"),
        ({"significant": 0.5}, "significant: is a p from 1e-30 to 0.0001 (the default is 1e-05)"),
    ],
)
def test_a_threshold_out_of_bounds_is_refused_with_its_bounds(given: dict[str, Any], sentence: str) -> None:
    with pytest.raises(Invalid) as refused:
        thresholds.limits(**{"smallest": 0.02, "significant": 1e-6, **given})
    assert str(refused.value) == sentence
