"""Lists of findings: what is asked for, in which order, in how many queries."""

from datetime import UTC, datetime
from typing import Any

import pytest
from django.http import QueryDict
from pytest_django import DjangoAssertNumQueries

from apps.core.problems import Invalid
from apps.regressions.findings import filters, queries, review
from apps.regressions.findings.filters import FindingFilter
from apps.regressions.models import Finding
from tests.regressions.a_finding import a_finding, a_pair, gone
from tests.support.builders import a_user

pytestmark = pytest.mark.django_db


def _three() -> tuple[Finding, Finding, Finding]:
    """Small and worse; large and worse; larger but better."""
    releases = [a_pair(version=f"10.11.{number}") for number in (21, 22, 23)]
    return (
        a_finding("oltp_insert", pair=releases[0], ratio=0.95, labels=["redo"]),
        a_finding("oltp_delete", pair=releases[1], ratio=0.6, owner=a_user(username="alice"), state="confirmed"),
        a_finding("oltp_read_only", pair=releases[2], ratio=2.0),
    )


def _ids(**wanted: Any) -> list[int]:
    return [row.id for row in queries.list_findings(FindingFilter(**wanted), me=None)]


def test_the_furthest_for_the_worse_comes_first_and_pages_follow_each_other() -> None:
    small, large, better = (finding.pk for finding in _three())
    assert _ids() == [large, small, better]
    assert _ids(sort="newest") == [better, large, small]
    for sort in filters.SORTS:
        wanted, seen, after = FindingFilter(sort=sort), [], None
        while page := queries.list_findings(wanted, limit=1, after=after):
            after = filters.read_place(str(queries.place_of(page[0], sort)), sort)
            seen.append(page[0].id)
        assert seen == _ids(sort=sort)
        assert queries.neighbours(seen[1], wanted) == (seen[0], seen[2])
        assert queries.neighbours(seen[2], wanted) == (seen[1], None)


@pytest.mark.parametrize(
    ("sort", "change"),
    [
        ("size", {"verdict": "gone", "largest": None}),
        ("size", {"verdict": "worse", "largest": 9.0}),
        ("changed", {"changed_at": datetime(2099, 1, 1, tzinfo=UTC)}),
        ("changed", {"changed_at": datetime(2000, 1, 1, tzinfo=UTC)}),
    ],
)
def test_a_page_begins_where_the_one_before_ended_whatever_became_of_its_last_finding(
    sort: str, change: dict[str, Any]
) -> None:
    _three()
    _, second, third = _ids(sort=sort)
    wanted = FindingFilter(sort=sort)
    last = queries.list_findings(wanted, limit=2)[-1]
    assert last.id == second
    Finding.objects.filter(pk=second).update(**change)
    following = queries.list_findings(wanted, after=queries.place_of(last, sort))
    assert [row.id for row in following if row.id != second] == [third]


@pytest.mark.parametrize("sort", filters.SORTS)
@pytest.mark.parametrize(
    "text",
    ["12", "x_12", "_12", "nan_12", "2026-01-01T00:00:00_12", "0001-01-01T00:00:00+23:00_12", "1.5_"],
)
def test_what_no_page_gave_is_no_place_in_a_list(sort: str, text: str) -> None:
    assert filters.read_place(text, sort) is None


def test_every_filter_narrows_the_list() -> None:
    small, large, better = _three()
    ids = [small.pk, large.pk, better.pk]
    assert _ids(state=("open",)) == [ids[1], ids[0], ids[2]]
    assert _ids(state=("confirmed",)) == [ids[1]]
    assert _ids(verdict=("better",)) == [ids[2]]
    assert _ids(release="10.11.21") == [ids[0]]
    assert _ids(platform="mariadb", hardware="small", family="sysbench", kind="change") == [ids[1], ids[0], ids[2]]
    assert _ids(owner="alice") == [ids[1]]
    assert _ids(owner="nobody") == [ids[0], ids[2]]
    assert _ids(owner="me") == []
    assert [row.id for row in queries.list_findings(FindingFilter(owner="me"), me=large.owner)] == [ids[1]]
    assert _ids(label=("redo",)) == [ids[0]]
    assert _ids(smallest=0.2) == [ids[1], ids[2]]
    assert _ids(text="throughput OLTP_delete") == [ids[1]]
    assert _ids(text="redo") == [ids[0]]
    counted = queries.count_by_state(FindingFilter(state=("confirmed",)))
    assert (counted["new"], counted["confirmed"], counted["fixed"]) == (2, 1, 0)
    assert queries.count_open() == 3


def test_a_filter_reads_back_from_an_address_and_from_json() -> None:
    wanted = FindingFilter(state=("open", "verify"), owner="me", label=("redo",), smallest=0.05, sort="newest")
    address = QueryDict(mutable=True)
    for name, value in wanted.as_query():
        address.appendlist(name, value)
    assert filters.read(address) == wanted
    assert filters.read(wanted.as_json()) == wanted
    assert FindingFilter().as_json() == {}
    assert FindingFilter(sort="newest").is_empty


def test_a_misspelt_filter_does_not_widen_the_list() -> None:
    with pytest.raises(Invalid) as refused:
        filters.read(
            {"stat": "new", "state": ["opne"], "smallest": "5 %", "sort": "date", "kind": ["change", "missing"]}
        )
    assert [error.field for error in refused.value.errors] == ["stat", "state", "smallest", "sort", "kind"]


def test_a_list_costs_the_same_whatever_its_length(django_assert_num_queries: DjangoAssertNumQueries) -> None:
    _three()
    review.comment(finding_id=Finding.objects.earliest("id").pk, by=a_user(), text="hm")
    with django_assert_num_queries(3):
        rows = queries.list_findings(FindingFilter())
    assert [row.comments for row in rows] == [0, 1, 0]


def test_the_size_is_said_with_its_interval_and_values() -> None:
    finding = a_finding()
    row = queries.load_rows([finding.pk])[finding.pk]
    assert row.shown is not None
    assert (row.shown.size, row.shown.interval) == ("−12\u00a0%", "[−14\u00a0%, −9.0\u00a0%]")
    assert row.shown.words.endswith("100\u00a0transactions/s → 88.0\u00a0transactions/s")
    gone(finding)
    row = queries.load_rows([finding.pk])[finding.pk]
    assert (row.verdict_words, row.holding, row.changes) == ("gone", 0, 1)
