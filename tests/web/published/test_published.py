"""The published figures: what articles state, always marked as published, never with an interval."""

import re

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from playwright.sync_api import Page, expect
from selectolax.lexbor import LexborNode

from apps.catalog import services as catalog
from apps.published import queries, services
from apps.published.models import Article
from apps.published.values import FigureValue
from apps.published.wording import NO_INTERVAL
from tests.support.pages import data, element, elements, states

pytestmark = pytest.mark.django_db


@pytest.fixture
def articles(db: None) -> None:
    catalog.seed()
    services.load_all(services.OWN_DATA)


def page_of(client: Client, query: str = "figures/") -> str:
    response = client.get(f"/published/{query}")
    assert response.status_code == 200
    return response.content.decode()


def plain(node: LexborNode) -> str:
    return " ".join(node.text().split())


def figures_of(page: str) -> dict[int, str]:
    """What the table by question shows of each figure."""
    return {int(each.attributes["data-figure"] or 0): plain(each) for each in elements(page, "[data-figure]")}


def figure_of(**wanted: object) -> FigureValue:
    (figure,) = [f for f in queries.list_figures() if all(getattr(f, k) == v for k, v in wanted.items())]
    return figure


def test_without_articles_the_page_says_how_to_load_them(client: Client) -> None:
    page = page_of(client)
    assert elements(page, "[data-state=empty] a[href='/help/reference/published-format/']")
    assert next(plain(code) for code in elements(page, "[data-state=empty] code")) == "manage.py load_published"
    assert data(page, "figure") == []


@pytest.mark.usefixtures("articles")
def test_a_figure_is_shown_with_its_side_qualifier_unit_and_parts(client: Client) -> None:
    shown = figures_of(page_of(client, "figures/?question=failover"))
    loaded = [figure_of(metric="service_interruption", value=value).id for value in (15, 50, 120)]
    assert [shown[each] for each in loaded] == ["PXC 15 s", "Aurora 50 s", "MHA at least 120 s"]
    idle = [f for f in queries.list_figures() if f.of_which == {"proxy_detection": 6}]
    assert len(idle) == 2
    for figure in idle:
        assert shown[figure.id] == f"PXC 8 s {' '.join(figure.of_which_text.split())}"


@pytest.mark.usefixtures("articles")
def test_a_ratio_is_shown_as_its_sentence_and_never_with_an_interval(client: Client) -> None:
    shown = figures_of(page_of(client))
    ratios = [f for f in queries.list_figures() if f.is_ratio and f.id in shown]
    assert len(ratios) > 10
    for ratio in ratios:
        assert shown[ratio.id].startswith(" ".join(f"{ratio.sentence} {NO_INTERVAL}".split()))


@pytest.mark.usefixtures("articles")
def test_every_row_names_source_and_date_and_is_marked(client: Client) -> None:
    rows = elements(page_of(client), "[aria-label='Published figures by question'] tr:has(td)")
    assert len(rows) > 40
    for row in rows:
        assert row.css(".mark--published")
        (source,) = row.css("td:last-child a")
        assert re.fullmatch(r"/published/[a-z0-9-]+/", source.attributes["href"] or "")
        assert re.search(r", \d{4}", plain(source))


@pytest.mark.usefixtures("articles")
def test_every_figure_is_on_the_page_or_in_a_table_that_it_links_to(client: Client) -> None:
    page = page_of(client)
    shown = figures_of(page)
    noted = [table for group in queries.list_questions(queries.list_figures()) for table in group.tables]
    assert data(page, "figures") == [str(table.figures) for table in noted]
    rows = elements(page, "tr:has([data-figures])")
    assert [plain(row.css("th")[0]) for row in rows] == [table.title for table in noted]
    assert [row.css("[data-figures] a")[0].attributes["href"] for row in rows] == [
        f"/published/{table.article.slug}/#table-{table.index}" for table in noted
    ]
    assert len(data(page, "figure")) + sum(table.figures for table in noted) == len(queries.list_figures())
    for figure in queries.list_figures():
        if figure.id in shown:
            said = figure.sentence if figure.is_ratio else figure.stated or figure.note
            assert " ".join(said.split()) in shown[figure.id], figure


@pytest.mark.usefixtures("articles")
def test_the_address_filters_and_can_be_shared(client: Client) -> None:
    page = page_of(client, "figures/?platform=mha&question=failover")
    # With MHA come the figures that it stands beside, and nothing else.
    assert [*figures_of(page).values()] == ["PXC 15 s", "Aurora 50 s", "MHA at least 120 s"]
    assert states(page, "[data-shown]", "shown", "total") == [("3", str(len(queries.list_figures())))]
    assert [each.attributes["id"] for each in elements(page, ".published__question th")] == ["failover"]
    one = page_of(client, "figures/?article=iibench-ec2-2012")
    assert len(elements(one, "a[href='/published/iibench-ec2-2012/']")) == 2


@pytest.mark.usefixtures("articles")
def test_a_filter_without_figures_says_so(client: Client) -> None:
    page = page_of(client, "figures/?platform=galera")
    assert element(page, "[data-state=no-matches] a").attributes["href"] == "/published/figures/"
    assert data(page, "figure") == []


@pytest.mark.usefixtures("articles")
def test_a_filter_is_turned_off_by_its_own_link(client: Client) -> None:
    page = page_of(client, "figures/?platform=mha&question=failover")
    chosen = [each.attributes["href"] for each in elements(page, "a.toggle[aria-current=true]")]
    assert chosen == ["/published/figures/?question=failover", "/published/figures/?platform=mha"]


@pytest.mark.usefixtures("articles")
def test_an_article_is_shown_whole(client: Client) -> None:
    page = page_of(client, "aurora-galera-mha-2015/")
    article = Article.objects.get(slug="aurora-galera-mha-2015")
    assert article.author == "Marco Tusa"
    assert article.author in element(page, ".page-head").text()
    assert states(page, "[data-published]", "published", "tested") == [("2015-11-01", "2015-09")]
    assert len(elements(page, ".published tbody tr")) == article.figures.count() == 15
    facts = [plain(fact) for fact in elements(page, ".facts dd")]
    assert article.setup["sides"]["pxc"]["endpoint"] in facts
    assert article.setup["conditions"]["buffer_pool"] in facts
    assert ("Aurora", "cpu, replication lag") in states(page, "[data-limit]", "side", "limit")
    ratio = figure_of(workload="tpcc_mysql", unit="ratio", value=2.6)
    row = elements(page, f"tr[id='{ratio.entry}'] > *")
    assert [plain(cell) for cell in row[:2]] == ["PXC ÷ Aurora", " ".join(ratio.text.split())]


@pytest.mark.usefixtures("articles")
def test_an_articles_table_has_its_cells_and_its_errors_are_listed(client: Client) -> None:
    rows = elements(page_of(client, "sysbench-engines-large-server-2017/"), ".published tbody tr")
    assert ["update-nonindex", "1.103", "1.210", "0.482"] in [
        [plain(cell) for cell in row.css("th, td")] for row in rows
    ]
    assert states(page_of(client, "aurora-pxc-2016/"), "[data-error]", "side", "error") == [("Aurora", "188")]


@pytest.mark.usefixtures("articles")
def test_every_article_opens_and_is_marked_as_published(client: Client) -> None:
    for slug in Article.objects.values_list("slug", flat=True):
        assert elements(page_of(client, f"{slug}/"), ".page-head .mark--published")


@pytest.mark.usefixtures("articles")
def test_an_unknown_article_is_not_found(client: Client) -> None:
    assert client.get("/published/nothing/").status_code == 404


@pytest.mark.usefixtures("articles")
@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ("platform=oracle", "platform: 'oracle' is not known; choose from: aurora"),
        ("question=why", "question: 'why' is not known; choose from: "),
        ("article=none&platform=pxc", "article: 'none' is not known; choose from: "),
        ("colour=blue", "colour: unknown parameter; known here: platform, question, article"),
    ],
)
def test_an_unknown_filter_is_refused_with_a_word(client: Client, query: str, sentence: str) -> None:
    response = client.get(f"/published/figures/?{query}")
    page = response.content.decode()
    assert response.status_code == 400
    assert plain(element(page, ".problem [data-field]")).startswith(sentence)
    assert figures_of(page) == {}
    assert elements(page, ".toggle[href='/published/figures/?question=failover']")  # the way back keeps nothing unknown


@pytest.mark.usefixtures("articles")
def test_words_of_an_article_cannot_become_markup(client: Client) -> None:
    Article.objects.filter(slug="iibench-ec2-2012").update(title="<script>alert(1)</script>")
    for address in ("/published/", "/published/figures/"):
        assert "<script>alert(1)" not in client.get(address).content.decode()


@pytest.mark.usefixtures("articles")
def test_the_page_asks_the_database_a_fixed_number_of_times(client: Client) -> None:
    with CaptureQueriesContext(connection) as asked:
        client.get("/published/figures/?platform=pxc")
    assert len(asked) <= 6


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_charts_are_hatched_and_plot_what_is_stated(browser_page: Page) -> None:
    catalog.seed()
    services.load_all(services.OWN_DATA)
    browser_page.goto("/published/figures/?question=failover")
    plot = browser_page.locator(".chart__plot[data-drawn]").first
    plot.scroll_into_view_if_needed()
    expect(plot.locator("text", has_text="at least 120")).to_be_visible()
    bars = plot.evaluate("plot => plot.data.map(trace => [Array.from(trace.x), trace.marker.pattern.shape])")
    assert bars == [[[15, 50, 120], "/"]]
    browser_page.set_viewport_size({"width": 390, "height": 844})
    browser_page.goto("/published/figures/")
    assert browser_page.evaluate("document.documentElement.scrollWidth") == 390
