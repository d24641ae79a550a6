"""Search."""

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django.fixtures import DjangoAssertNumQueries

from apps.catalog.models import Release
from apps.catalog.services import seed
from apps.dispatch.models import Campaign
from apps.published import services as published
from apps.published.models import Article
from apps.regressions.models import Finding
from apps.web.search import EACH, find
from tests.dispatch.schedules.scheduled import a_schedule
from tests.support.builders import a_measured_run, a_metric, a_run, a_system, a_workload
from tests.support.pages import data, elements

pytestmark = pytest.mark.django_db


def _found(*words: str) -> dict[str, list[str]]:
    return {group.name: [hit.label for hit in group.hits] for group in find(words)}


def test_a_run_is_found_by_its_number_before_all_others() -> None:
    system = a_system("box")
    runs = [a_run(system=system, tags=["1"]) for _ in range(3)]
    wanted = runs[0].pk
    for words in ([str(wanted)], [f"#{wanted}"], ["run", str(wanted)]):
        assert _found(*words)["Runs"][0] == f"Run {wanted}"


def test_every_word_must_be_there() -> None:
    a_run(system=a_system("galera-large", name="Galera large"), workload=a_workload("oltp_insert"))
    assert "Runs" in _found("galera", "INSERT")
    assert "Runs" not in _found("galera", "point_select")


def test_each_kind_of_thing_is_found() -> None:
    a_run(system=a_system("splash-box"), workload=a_workload("oltp_insert", splash=1))
    Campaign.objects.create(name="Splash night", repetitions=1)
    Article.objects.create(slug="splash", title="Blast or splash", published="2015", content_hash="a" * 64)
    a_metric("mysql.status.Splash")
    Finding.objects.create(kind="change", title="splash: throughput −12 %", verdict="worse", changed_at=timezone.now())
    a_schedule(name="splash every night")
    Release.objects.create(platform=a_system("other").release.platform, version="splash-1", version_key=[1])
    assert list(_found("splash")) == [
        "Runs",
        "Systems",
        "Releases",
        "Workloads",
        "Findings",
        "Campaigns",
        "Schedules",
        "Published articles",
        "Metrics",
        "Help",
    ]


@pytest.mark.parametrize(
    ("words", "page"),
    [
        (["galera", "failover"], "Failovers"),
        (["ALTER"], "Schema changes"),
        (["regression"], "Findings"),
        (["aurora"], "Home"),
    ],
)
def test_a_question_leads_to_the_page_that_answers_it(words: list[str], page: str) -> None:
    groups = _found(*words)
    assert (next(iter(groups)), groups["Pages"][0]) == ("Pages", page)


def test_words_are_sought_in_the_help_too() -> None:
    (group,) = [group for group in find(["deadlocks"]) if group.name == "Help"]
    assert 0 < len(group.hits) <= 5
    assert all(hit.address.startswith("/help/") for hit in group.hits)


def test_more_than_can_be_read_are_cut_and_said_so(client: Client) -> None:
    system = a_system("box")
    for _ in range(EACH + 1):
        a_run(system=system)
    page = client.get("/search/?q=box").content.decode()
    assert data(page, "first") == [str(EACH)]
    assert len(elements(page, "section:has([data-first]) .hits li")) == EACH


def test_a_match_shows_its_value_or_verdict() -> None:
    run = a_measured_run({"client.throughput": 1234.567}, system=a_system("box"))
    Finding.objects.create(kind="change", title="box: throughput −12 %", verdict="worse", changed_at=timezone.now())
    values = {group.name: [hit.value for hit in group.hits] for group in find(["box"])}
    assert values["Runs"] == [f"1,230 {run.measurements.get().metric.unit}"]
    assert values["Findings"] == ["worse"]


def test_an_article_is_found_by_the_platforms_of_its_figures() -> None:
    seed()
    published.load_all(published.OWN_DATA)
    stated = Article.objects.filter(figures__platform__name__icontains="pxc").distinct()
    assert set(_found("pxc")["Published articles"]) >= {article.title for article in stated} != set()


def test_search_takes_eighteen_queries_at_most(
    client: Client, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    system = a_system("box")
    for _ in range(12):
        a_run(system=system)
    with django_assert_max_num_queries(18):
        client.get("/search/?q=box")


@pytest.mark.parametrize("words", ["%", "_", "'; drop table", "99999999999999999999999", "½", "\\"])
def test_odd_words_find_nothing_and_break_nothing(client: Client, words: str) -> None:
    a_run()
    answer = client.get("/search/", {"q": words})
    assert answer.status_code == 200


def test_nothing_found_is_said_once_something_was_asked_for(client: Client) -> None:
    for address, count in (("/search/?q=zzz", 1), ("/search/", 0)):
        assert len(elements(client.get(address).content.decode(), "[data-state=no-matches]")) == count
