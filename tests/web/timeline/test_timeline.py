"""The Timeline page: series of any runs on one clock, as the address says."""

from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from django.http import QueryDict
from django.test import Client
from pytest_django.fixtures import DjangoAssertNumQueries

from apps.comparison.pure import COLORS
from apps.core.problems import Invalid
from apps.runs.api import described, rows_of
from apps.runs.models import Event, Run
from apps.web.timeline import series as timeline_series
from apps.web.timeline.series import Key, TimelineAddress
from tests.support.builders import a_system
from tests.support.pages import data, element, elements, page_data, text
from tests.web.runs.recorded_runs import a_sealed_run

pytestmark = pytest.mark.django_db
QUESTIONS = "mysql.status.Questions"


def _data(page: str) -> Any:
    return page_data(page, "timeline-data")


def _address(*series: tuple[Run, str, str], **view: str) -> str:
    asked = [f"series={run.pk}:{metric}:{node}" for run, metric, node in series]
    return "/timeline/?" + "&".join([*asked, *(f"{name}={value}" for name, value in view.items())])


def test_series_are_called_by_what_tells_them_apart(client: Client) -> None:
    galera, mha = (a_sealed_run(system=a_system(slug, name=slug.title())) for slug in ("galera", "mha"))
    page = client.get(_address((galera, QUESTIONS, "db1"), (mha, QUESTIONS, "db1"))).content.decode()
    labels = [one["label"] for one in _data(page)["series"]]
    assert labels == [f"run {galera.pk} · Galera", f"run {mha.pk} · Mha"]
    rows = {row.id: row for row in rows_of(Run.objects.all())}
    keys = [Key(run.pk, QUESTIONS, "db1") for run in (galera, mha)]
    assert data(page, "common") == [
        timeline_series.common(keys, rows, {QUESTIONS: described({QUESTIONS})[QUESTIONS].name})
    ]
    one_run = client.get(_address((galera, QUESTIONS, "db1"), (galera, "client.throughput", "client"))).content.decode()
    assert [one["label"] for one in _data(one_run)["series"]][1] == "client.throughput · client"


def test_an_address_without_series_says_where_they_come_from(client: Client) -> None:
    page = client.get("/timeline/").content.decode()
    assert elements(page, "[aria-labelledby=add-heading] a[href='/runs/']")
    assert not elements(page, "[aria-labelledby=charts-heading]")


def test_parts_that_all_series_share_are_named_once() -> None:
    keys = [Key(1, "a", "sum"), Key(2, "a", "sum")]
    assert timeline_series.common(keys, {}, {"a": "Statements"}) == "Statements · sum of the nodes"
    assert [one.label for one in timeline_series.named(keys, {}, {})] == ["run 1", "run 2"]


def test_series_of_a_platform_are_tones_of_its_colour_and_no_two_lines_are_alike() -> None:
    lines = timeline_series.lines([1, 2, 1, *[1] * 20])
    assert lines[:3] == [(1, 0), (2, 0), (1 + COLORS, 1)]
    assert {tone % COLORS for tone, _ in lines} == {1, 2}
    assert len(set(lines)) == len(lines)


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ("series=x:y:z", "series: 'x:y:z' is not a series (write RUN:METRIC:NODE)"),
        (
            "series=1:client.throughput",
            "series: '1:client.throughput' is not a series (write RUN:METRIC:NODE)",
        ),
        ("colour=blue", "colour: unknown parameter; known here: series, align, totals, from, to, add"),
        ("totals=2", "totals: '2' is not known; choose from: 1"),
        ("align=" + "x" * 99, "align: is not a kind of event (choose from the list)"),
        (
            "&".join(f"series=1:m{number}:db1" for number in range(25)),
            "series: 25 are too many (choose at most 24)",
        ),
    ],
)
def test_a_wrong_address_is_refused_with_what_is_wrong(client: Client, query: str, sentence: str) -> None:
    with pytest.raises(Invalid) as refused:
        TimelineAddress.read(QueryDict(query))
    assert str(refused.value) == sentence
    answer = client.get(f"/timeline/?{query}")
    assert answer.status_code == 400
    assert data(answer.content.decode(), "field") == [sentence.partition(":")[0]]


def test_what_is_not_a_run_cannot_be_added(client: Client) -> None:
    answer = client.get("/timeline/?series=1:a:b&add=many")
    assert answer.status_code == 400
    assert "'many'" in text(answer.content.decode(), "[data-field=add]")


def test_a_run_that_is_not_there_is_named_and_the_others_stay(client: Client) -> None:
    run = a_sealed_run()
    answer = client.get(f"/timeline/?series={run.pk}:{QUESTIONS}:db1&series=999999:{QUESTIONS}:db1")
    assert answer.status_code == 200
    assert "999999" in text(answer.content.decode(), "[data-field=series]")
    assert len(_data(answer.content.decode())["series"]) == 1
    assert client.get("/timeline/?series=999999:a:b").status_code == 404


def test_the_clock_may_begin_at_what_happened_in_every_run(client: Client) -> None:
    runs = [a_sealed_run(), a_sealed_run(repetition=2)]
    for run in runs:
        Event.objects.create(run=run, kind="fault", label="kill -9", starts_at=8.0)
    Event.objects.create(run=runs[0], kind="ddl", label="ALTER TABLE", starts_at=9.0)
    series = [(run, QUESTIONS, "db1") for run in runs]
    page = client.get(_address(*series, align="fault", **{"from": "-2"})).content.decode()
    offered = [parse_qs(urlsplit(link.attributes["href"] or "").query) for link in elements(page, ".clock-zero a")]
    assert [query.get("align") for query in offered] == [None, ["measured"], ["fault"]]
    chosen = element(page, ".clock-zero a[aria-current=true]")
    assert "align=fault" in (chosen.attributes["href"] or "")
    assert _data(page)["align"] == "fault"


def test_another_run_is_laid_over_with_the_same_series_on_its_node_of_that_role(client: Client) -> None:
    run, other = a_sealed_run(), a_sealed_run(repetition=2)
    other.nodes.filter(name="db1").update(name="g1")
    answer = client.get(_address((run, QUESTIONS, "db1"), (run, "client.throughput", "client"), add=str(other.pk)))
    assert answer.status_code == 302
    assert answer["Location"].endswith(f"series={other.pk}:{QUESTIONS}:g1&series={other.pk}:client.throughput:client")
    assert client.get(f"/timeline/?series={run.pk}:{QUESTIONS}:db1&add=999999").status_code == 404


def test_the_newest_runs_of_the_same_work_are_offered(client: Client) -> None:
    run, other = a_sealed_run(), a_sealed_run(repetition=2)
    page = client.get(_address((run, QUESTIONS, "db1"))).content.decode()
    assert elements(page, f"a[href$='&add={other.pk}']")
    assert not elements(page, f"a[href$='&add={run.pk}']")


def test_its_queries_do_not_grow_with_the_runs(
    client: Client, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    runs = [a_sealed_run(repetition=number) for number in (1, 2, 3, 4)]
    for some in (runs[:1], runs[:3]):
        with django_assert_num_queries(6):
            client.get(_address(*((run, QUESTIONS, "db1") for run in some)))


def test_an_address_keeps_all_but_what_is_taken_away() -> None:
    keys = (Key(1, "a", "db1"), Key(2, "b", "10.0.0.7:3306"))
    address = TimelineAddress(keys, align="fault", totals=True, zoom=(("from", "-2"), ("to", "9")))
    assert address.url().endswith("?series=1:a:db1&series=2:b:10.0.0.7:3306&align=fault&totals=1&from=-2&to=9")
    assert address.without(keys[0]).series == keys[1:]
    assert address.aligned("run").zoom == ()
    assert timeline_series.shared_kinds([(1, "fault"), (2, "fault"), (1, "ddl")], [1, 2], ["ddl", "fault"]) == ["fault"]
