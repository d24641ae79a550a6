"""A release that is slower is reported between releases and in the trend: one effect, of which the former speaks."""

from dataclasses import replace

import pytest
from django.test import Client
from django.utils import timezone

from apps.catalog.models import Release
from apps.core.problems import Invalid
from apps.regressions.findings import queries, reconcile, review
from apps.regressions.findings.reconcile import DetectedChange, FindingKey
from apps.regressions.findings.values import FindingDetail
from apps.regressions.models import Change, Finding, Trend
from tests.regressions.a_finding import a_detected_change, a_pair
from tests.support.builders import a_system, a_user
from tests.support.pages import squeezed, states

Pair = tuple[tuple[FindingKey, DetectedChange], tuple[FindingKey, DetectedChange]]
pytestmark = pytest.mark.django_db


@pytest.fixture
def pair(db: None) -> Pair:
    """A fall by 80 % by the comparison of the releases, by 90 % in the trend."""
    place, between = a_detected_change(*a_pair(), ratio=0.2)
    assert place.platform is not None
    assert place.hardware_class is not None
    history = Trend.objects.create(
        platform=place.platform,
        hardware_class=place.hardware_class,
        settings_hash="0" * 64,
        workload_id=between.workload,
        load_level_id=between.load_level or 0,
        metric_id=between.metric or 0,
    )
    first = between.runs_after[0]
    along = replace(between, kind="history", history=history.pk, first_run=first, ratio=0.1, low=0.09, high=0.11)
    return (place, between), (place, along)


def the_finding() -> FindingDetail:
    found = queries.load_finding(Finding.objects.get().pk, now=timezone.now())
    assert found is not None
    return found


@pytest.mark.parametrize("history_first", [True, False])
def test_one_effect_is_counted_once_and_has_the_size_of_the_comparison(pair: Pair, history_first: bool) -> None:
    for each in reversed(pair) if history_first else pair:
        reconcile.settle([each])
    found = the_finding()
    assert (found.row.holding, found.row.changes) == (1, 1)
    assert found.row.largest == pytest.approx(0.8)
    assert "−80" in found.row.title
    assert "other" not in found.row.title
    assert found.row.shown is not None
    assert found.row.shown.kind == "release"
    assert [(each.kind, each.beneath) for each in found.changes] == [
        ("release", None),
        ("history", found.row.shown.id),
    ]


def test_what_the_trend_adds_to_an_effect_that_was_reported_opens_nothing_again(
    pair: Pair,
) -> None:
    between, along = pair
    (finding,) = reconcile.settle([between])
    review.set_state(finding_id=finding.pk, by=a_user(), state="not reproducible")
    assert reconcile.settle([along]) == []
    finding.refresh_from_db()
    assert finding.state == "not reproducible"
    assert list(finding.notes.values_list("what", flat=True)) == ["found", "state"]


def test_history_speaks_for_itself_where_the_comparison_has_gone(
    pair: Pair,
) -> None:
    reconcile.settle(pair)
    reconcile.settle([], looked_at=list(Change.objects.filter(kind="release")))
    found = the_finding()
    assert (found.row.holding, found.row.changes, found.row.verdict) == (1, 2, "worse")
    assert found.row.largest == pytest.approx(0.9)
    reconcile.settle([], looked_at=list(Change.objects.all()))
    found = the_finding()
    assert (found.row.holding, found.row.changes, found.row.verdict, found.row.state) == (0, 1, "gone", "verify")


@pytest.mark.parametrize("first", ["old", "late"])
def test_an_effect_is_counted_once_after_its_release_was_compared_with_two_baselines(pair: Pair, first: str) -> None:
    """The release between was measured late, or its runs were excluded since."""
    (place, between), along = pair
    assert place.platform is not None
    baseline = Release.objects.create(platform=place.platform, version="10.11.19a", version_key=[10, 11, 19])
    late = a_system("late", release=baseline).pk
    of = {
        "old": (place, between),
        "late": (replace(place, baseline=baseline), replace(between, baseline_system=late, ratio=0.21)),
    }
    reconcile.settle([of.pop(first), along])
    (last,) = of.values()
    reconcile.settle([last, along], looked_at=list(Change.objects.all()))
    found = the_finding()
    assert found.row.holding == 1
    assert found.row.largest == pytest.approx(1 - (last[1].ratio or 0))
    assert "other" not in found.row.title
    assert found.row.baseline is not None
    assert found.row.baseline.slug == ("10.11.19a" if first == "old" else "10.11.19")


def test_a_step_within_a_release_names_the_baseline_once_a_comparison_finds_it_too(pair: Pair, client: Client) -> None:
    (place, between), (_, along) = pair
    reconcile.settle([(replace(place, baseline=place.release), along)])
    assert "10.11.20 against" not in client.get(f"/findings/{Finding.objects.get().pk}/").content.decode()
    reconcile.settle([(place, between)])
    html = client.get(f"/findings/{Finding.objects.get().pk}/").content.decode()
    assert "10.11.20 against 10.11.19 on small" in squeezed(html)


def test_what_history_says_of_another_workload_is_counted(
    pair: Pair,
) -> None:
    between, along = pair
    reconcile.settle([a_detected_change(*a_pair(), test="oltp_insert"), along])
    assert the_finding().row.holding == 2
    reconcile.settle([between])
    assert the_finding().row.holding == 2


def test_pages_lists_and_the_api_count_alike(pair: Pair, client: Client) -> None:
    (finding,) = reconcile.settle(pair)
    html = client.get(f"/findings/{finding.pk}/").content.decode()
    page = squeezed(html)
    assert "1 of 1 hold" in page
    between, along = the_finding().changes
    assert states(html, "tr[data-change]", "change") == [(str(between.id),)]
    assert states(html, "tr[data-change] [data-also]", "also") == [(str(along.id),)]
    other = client.get(f"/findings/{finding.pk}/?change={along.id}").content.decode()
    assert states(other, "tr[aria-current]", "change") == [(str(between.id),)]
    assert "other change" not in page
    assert "changes hold" not in client.get("/findings/").content.decode()
    told_by_api = client.get(f"/api/v1/findings/{finding.pk}/").json()
    assert (told_by_api["changes_count"], told_by_api["changes_holding"]) == (1, 1)
    first, second = told_by_api["changes"]
    assert (first["beneath"], second["beneath"]) == (None, first["id"])


def test_what_is_reported_beneath_goes_along_with_what_is_split_off(
    pair: Pair,
) -> None:
    (finding,) = reconcile.settle(pair)
    between = Change.objects.get(kind="release")
    with pytest.raises(Invalid, match="all of them"):
        review.split(finding_id=finding.pk, change_ids=[between.pk], by=a_user())
    reconcile.settle([a_detected_change(*a_pair(), test="oltp_insert")])
    made = review.split(finding_id=finding.pk, change_ids=[between.pk], by=a_user())
    assert set(made.changes.values_list("kind", flat=True)) == {"release", "history"}


def test_findings_that_counted_it_twice_are_summed_up_anew(
    pair: Pair,
) -> None:
    (finding,) = reconcile.settle(pair)
    Finding.objects.update(title="−90 % and 1 other", largest=0.9)
    assert reconcile.settle(pair, refresh=True) == []
    finding.refresh_from_db()
    assert "−80" in finding.title
    assert finding.largest == pytest.approx(0.8)
