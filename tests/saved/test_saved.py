"""Saved comparisons: what was seen stays, and what would be seen now is listed beside it in words."""

import math
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from apps.accounts.models import User
from apps.catalog.models import HardwareClass, System, Workload
from apps.comparison import compare
from apps.comparison.models import SavedComparison, Snapshot
from apps.comparison.sections import serialisation
from apps.comparison.selection import baselines
from apps.comparison.selection.sides import UnknownSide
from apps.comparison.stats.welch import Ratio, Verdict
from apps.comparison.values import Comparison
from apps.core.problems import Invalid
from apps.runs.models import Run
from apps.runs.quality.checklist import title_of
from apps.saved import services
from apps.saved.changes import changes
from tests.support.builders import START, a_load_level, a_measured_run, a_system, a_user, a_workload

pytestmark = pytest.mark.django_db

TPS, P95, ERRORS = "client.throughput", "client.latency.p95", "client.errors"
A = (1000.0, 1012.0, 991.0)
B = (1302.0, 1318.0, 1287.0)


def measure(system: System, values: tuple[float, ...], *, at: int = 0, threads: int = 4, **fields: Any) -> list[Run]:
    return [
        a_measured_run(
            {TPS: value, P95: 20_000 / value, ERRORS: 0.0},
            system=system,
            load_level=a_load_level(threads),
            repetition=number + 1,
            started_at=START + timedelta(hours=at, minutes=number),
            **fields,
        )
        for number, value in enumerate(values)
    ]


@pytest.fixture
def ann() -> User:
    return a_user(username="ann")


@pytest.fixture
def sides() -> tuple[System, System]:
    a, b = a_system("a", name="Alpha"), a_system("b", name="Beta")
    measure(a, A), measure(b, B)
    return a, b


@pytest.fixture
def kept(ann: User, sides: object) -> SavedComparison:
    return services.save(query=a_query(), title="Beta beats Alpha", note="seen today", by=ann)


def a_query(**changed: list[str]) -> dict[str, list[str]]:
    return {"side": ["a", "b"], "workload": [str(a_workload().pk)], **changed}


def now() -> Comparison:
    return compare.compare(sides=["a", "b"], workload_id=a_workload().pk)


def test_what_was_seen_comes_back_to_the_last_digit(kept: SavedComparison) -> None:
    found = services.load("beta-beats-alpha")
    assert found.comparison == now()
    assert (found.title, found.note, found.author, found.snapshot.number) == (
        "Beta beats Alpha",
        "seen today",
        "ann",
        1,
    )
    assert services.standing(found) == services.SnapshotState(False, ())


def test_endless_intervals_and_missing_numbers_are_kept() -> None:
    ratio = Ratio(Verdict.HIGHER, value=1.5, low=0.0, high=math.inf)
    assert serialisation.from_json(serialisation.to_json(ratio), Ratio) == ratio


def test_a_verdict_stored_under_its_earlier_name_is_the_same_verdict() -> None:
    ratio = Ratio(Verdict.INCONCLUSIVE, value=1.0)
    stored = serialisation.to_json(ratio) | {"verdict": "not told apart"}
    assert serialisation.from_json(stored, Ratio) == ratio
    assert serialisation.first_name(ratio.verdict) == "not told apart"


def test_a_run_added_later_changes_nothing_that_was_seen(kept: SavedComparison, sides: tuple[System, System]) -> None:
    seen = now()
    more = measure(sides[1], (1500.0, 1400.0), at=2)
    found = services.load("beta-beats-alpha")
    assert found.comparison == seen != now()
    standing = services.standing(found)
    assert standing.out_of_date
    assert standing.changes[0] == f"Runs {more[0].pk}, {more[1].pk} of Beta at 4 threads count now and did not then."
    assert any(text.startswith("Beta at 4 threads, throughput: better 1.30") for text in standing.changes)


def test_a_run_excluded_later_still_counts_in_what_was_seen(
    kept: SavedComparison, sides: tuple[System, System]
) -> None:
    run = Run.objects.filter(system=sides[0]).order_by("pk")[0]
    Run.objects.filter(pk=run.pk).update(is_excluded=True)
    found = services.load("beta-beats-alpha")
    assert found.comparison is not None
    assert run.pk in [each.id for each in found.comparison.counted]
    text = services.standing(found).changes[0]
    assert text.startswith(f"Run {run.pk} of Alpha at 4 threads no longer counts: excluded")


def test_a_run_that_fails_a_check_by_now_is_reported(kept: SavedComparison, sides: tuple[System, System]) -> None:
    run = Run.objects.filter(system=sides[0]).order_by("pk")[0]
    Run.objects.filter(pk=run.pk).update(failed_checks=["errors"])
    found = services.load("beta-beats-alpha")
    assert services.standing(found).changes == (
        f"Run {run.pk} fails a check now that it did not then: {title_of('errors')}.",
    )


def test_a_run_that_is_gone_is_named(kept: SavedComparison, sides: tuple[System, System]) -> None:
    run = Run.objects.filter(system=sides[0]).order_by("pk")[0]
    gone = run.pk
    run.measurements.all().delete()
    run.delete()
    assert (
        services.standing(services.load("beta-beats-alpha"))
        .changes[0]
        .startswith(f"Run {gone} of Alpha at 4 threads is")
    )


def test_a_verdict_that_turned_is_shown_with_both_its_ratios(sides: tuple[System, System]) -> None:
    before = now()
    measure(sides[1], (700.0, 710.0, 705.0, 690.0, 700.0, 702.0, 700.0), at=2)
    sentences = changes(before, now())
    assert any("throughput: better 1.30" in text and "now." in text for text in sentences), sentences


def test_new_names_do_not_make_it_out_of_date(kept: SavedComparison, sides: tuple[System, System]) -> None:
    System.objects.filter(pk=sides[0].pk).update(name="Alpha the second")
    found = services.load("beta-beats-alpha")
    assert not services.standing(found).out_of_date
    assert found.comparison is not None
    assert found.comparison.sides[0].name == "Alpha"


def test_a_question_without_an_answer_any_more_is_out_of_date(kept: SavedComparison) -> None:
    Run.objects.update(outcome="failed", reason="the server went away")
    standing = services.standing(services.load("beta-beats-alpha"))
    assert standing.out_of_date
    assert "has no result any more" in standing.changes[0]
    with pytest.raises(Invalid):
        services.refresh(slug="beta-beats-alpha", by=kept.author)


def test_a_refresh_makes_a_new_snapshot_and_keeps_the_old_one(
    kept: SavedComparison, sides: tuple[System, System], ann: User
) -> None:
    seen = now()
    assert services.refresh(slug=kept.slug, by=ann) == (1, False)
    measure(sides[1], (1500.0,), at=2)
    bob = a_user(username="bob")
    assert services.refresh(slug=kept.slug, by=bob) == (2, True)
    newest, first = services.load(kept.slug), services.load(kept.slug, 1)
    assert newest.comparison == now()
    assert first.comparison == seen
    assert [(each.number, each.made_by, each.runs) for each in newest.snapshots] == [(2, "bob", 7), (1, "ann", 6)]
    assert (newest.is_newest, first.is_newest) == (True, False)
    assert not services.standing(newest).out_of_date
    with pytest.raises(UnknownSide, match="no snapshot 3"):
        services.load(kept.slug, 3)


def test_a_snapshot_of_runs_that_are_still_being_judged_is_made_anew_until_it_is_whole(
    kept: SavedComparison, ann: User
) -> None:
    first = Snapshot.objects.get()
    first.content["parts"]["use"]["pending"] = 2
    first.save(update_fields=["content"])
    assert services.refresh(slug=kept.slug, by=ann) == (2, True)
    assert services.refresh(slug=kept.slug, by=ann) == (2, False)


def test_a_price_stated_later_makes_it_out_of_date_and_a_refresh_keeps_it(
    kept: SavedComparison, sides: tuple[System, System], ann: User
) -> None:
    HardwareClass.objects.filter(pk=sides[1].hardware_class_id).update(
        price_per_hour=Decimal("0.25"), price_source="the bill", price_date=START.date()
    )
    standing = services.standing(services.load(kept.slug))
    assert "Beta costs 0.25 USD/h now, and had no price then." in standing.changes
    assert services.refresh(slug=kept.slug, by=ann) == (2, True)
    newest = services.load(kept.slug)
    assert newest.parts["cost"]["sides"][1]["usd_per_hour"] == 0.25
    assert services.standing(newest) == services.SnapshotState(False, ())
    assert services.refresh(slug=kept.slug, by=ann) == (2, False)
    HardwareClass.objects.update(price_source="a list")
    assert "The machines of Beta, their vCPU or their prices have changed." in (services.standing(newest).changes)


def test_runs_of_another_workload_make_it_out_of_date_and_a_refresh_keeps_them(
    kept: SavedComparison, sides: tuple[System, System], ann: User
) -> None:
    other = a_workload("oltp_read_only")
    for values, system in ((A, sides[0]), (B, sides[1])):
        measure(system, values, workload=other)
    standing = services.standing(services.load(kept.slug))
    assert any("better now" in text for text in standing.changes), standing
    assert services.refresh(slug=kept.slug, by=ann) == (2, True)
    newest = services.load(kept.slug)
    assert services.standing(newest) == services.SnapshotState(False, ())
    measure(sides[1], (900.0,), at=3, workload=other)
    sentences = services.standing(newest).changes
    assert any(text.startswith("Agreement across tools, Beta,") and "oltp_read_only" in text for text in sentences), (
        sentences
    )


def test_whether_it_is_out_of_date_takes_as_many_queries_with_many_workloads(
    kept: SavedComparison, sides: tuple[System, System]
) -> None:
    def asked() -> int:
        found = services.load(kept.slug)
        with CaptureQueriesContext(connection) as captured:
            services.standing(found)
        return len(captured)

    def another(name: str) -> None:
        for system in sides:
            measure(system, A, workload=a_workload(name))

    another("first")
    before = asked()
    for name in ("second", "third", "fourth"):
        another(name)
    assert asked() == before


def test_a_snapshot_of_an_older_form_says_so_instead_of_breaking(kept: SavedComparison) -> None:
    content = Snapshot.objects.get().content
    del content["comparison"]["cells"]
    Snapshot.objects.update(content=content)
    found = services.load(kept.slug)
    assert found.comparison is None
    assert "cells" in found.problem
    assert found.content["comparison"]["sides"]


def test_equal_titles_get_addresses_of_their_own(kept: SavedComparison, ann: User) -> None:
    again = services.save(query=a_query(), title="Beta beats Alpha", note="", by=ann)
    third = services.save(query=a_query(), title="Beta beats Alpha!", note="", by=ann)
    nameless = services.save(query=a_query(), title="???", note="", by=ann)
    assert [again.slug, third.slug, nameless.slug] == ["beta-beats-alpha-2", "beta-beats-alpha-3", "comparison"]


@pytest.mark.parametrize(
    ("title", "query", "said"),
    [
        (" ", {}, "title: is empty"),
        ("x" * 201, {}, "title: has 201 characters"),
        ("x", {"side": ["a"]}, "2 to 4 sides"),
        ("x", {"side": ["a", "nobody"]}, "no system 'nobody'"),
        ("x", {"workload": []}, "workload: is missing"),
        ("x", {"level": ["77"]}, "no side ran at '77'"),
        ("x\0", {}, "title: contains NUL"),
    ],
)
def test_what_cannot_be_kept_is_refused(
    sides: object, ann: User, title: str, query: dict[str, list[str]], said: str
) -> None:
    with pytest.raises(Invalid, match=said):
        services.save(query=a_query(**query), title=title, note="", by=ann)
    assert not SavedComparison.objects.exists()


def test_a_list_is_read_in_two_queries_however_long(kept: SavedComparison, ann: User) -> None:
    for _ in range(3):
        services.save(query=a_query(), title="again", note="", by=ann)
    with CaptureQueriesContext(
        connection,
    ) as asked:
        rows = services.rows(limit=10)
    assert len(asked) == 2
    assert [row.slug for _, row in rows] == ["again-3", "again-2", "again", "beta-beats-alpha"]
    assert [row.slug for _, row in services.rows(words=["beats", "ann"], limit=10)] == ["beta-beats-alpha"]


def test_a_pinned_baseline_comes_first_and_can_be_replaced(sides: tuple[System, System], ann: User) -> None:
    workload = a_workload()
    assert baselines.pins() == {}
    baselines.pin(workload=workload, system=sides[1], note="our release", by=ann)
    baselines.pin(workload=workload, system=sides[0], note="our release", by=ann)
    found = baselines.pins([workload.pk])[workload.pk]
    assert (found.system, found.note, found.by) == ("a", "our release", "ann")
    assert baselines.first(["c", "b", "a"], found) == ("a", "c", "b")
    assert baselines.first(["c", "b"], found) == ("c", "b")
    assert baselines.unpin(workload=workload)
    assert not baselines.unpin(workload=workload)


def test_an_archived_system_is_no_baseline(sides: tuple[System, System], ann: User) -> None:
    System.objects.filter(pk=sides[0].pk).update(archived_at=START)
    sides[0].refresh_from_db()
    with pytest.raises(Invalid, match="archived"):
        baselines.pin(workload=Workload.objects.get(), system=sides[0], note="", by=ann)
