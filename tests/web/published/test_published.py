"""The published results: what articles state, always marked as published, never with an interval."""

import html
import re

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from playwright.sync_api import Page, expect

from apps.catalog import services as catalog
from apps.published import queries, services
from apps.published.models import Article

pytestmark = pytest.mark.django_db


@pytest.fixture
def articles(db: None) -> None:
    catalog.seed()
    services.load_all(services.OWN_DATA)


def text_of(client: Client, address: str) -> str:
    """The page's words, without tags and with single blanks."""
    response = client.get(address)
    assert response.status_code == 200
    page = re.sub(r"<script.*?</script>", "", response.content.decode(), flags=re.DOTALL)
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", page)).split())


def test_without_articles_the_page_says_how_to_load_them(client: Client) -> None:
    assert "manage.py load_published" in text_of(client, "/published/")


@pytest.mark.usefixtures("articles")
def test_the_comparisons_of_aurora_pxc_and_mha_are_there_with_their_words(client: Client) -> None:
    page = text_of(client, "/published/")
    assert "PXC 15 s Aurora 50 s MHA at least 120 s" in page
    assert "PXC 8 s of which 6 s proxy detection" in page
    assert "PXC took about 0.33 × the time of Aurora (execution time, lower is better) no interval stated" in page
    assert "Aurora was at least 2 × as fast as PXC (speed-up, higher is better) no interval stated" in page
    assert "Aurora at least 450,000 PXC at most 350,000" in page
    assert "published, not measured here" in page


@pytest.mark.usefixtures("articles")
def test_every_row_names_source_and_date_and_is_marked(client: Client) -> None:
    page = client.get("/published/").content.decode().split('aria-label="Published figures by question"')[1]
    table = page[page.index("<table") : page.index("</table>")]
    rows = [row for row in table.split("<tr>")[1:] if "<td" in row]
    assert len(rows) > 40
    for row in rows:
        assert "mark--published" in row
        assert re.search(r"/published/[a-z0-9-]+/\"[^>]*>[^<]+,\s+\d{4}", row)


@pytest.mark.usefixtures("articles")
def test_every_figure_is_on_the_page_or_in_a_table_that_it_links_to(client: Client) -> None:
    page = text_of(client, "/published/")
    listed = 0
    for group in queries.list_questions(queries.list_figures()):
        for comparison in group.comparisons:
            for figure in comparison.figures:
                said = figure.sentence if figure.is_ratio else figure.stated or figure.note
                assert " ".join(said.split()) in page, figure
                listed += 1
        for table in group.tables:
            assert f"{table.title} Table of {table.figures} figures" in page
            listed += table.figures
    assert listed == len(queries.list_figures())


@pytest.mark.usefixtures("articles")
def test_the_address_filters_and_can_be_shared(client: Client) -> None:
    page = text_of(client, "/published/?platform=mha&question=failover")
    # With MHA come the figures that it stands beside, and nothing else.
    assert "PXC 15 s Aurora 50 s MHA at least 120 s" in page
    assert "3 of 225 figures" in page
    assert "Which storage engine? " not in page.split("Source")[2].split("Articles")[0]
    one = client.get("/published/?article=iibench-ec2-2012").content.decode()
    assert one.count('href="/published/iibench-ec2-2012/"') == 3


@pytest.mark.usefixtures("articles")
def test_a_filter_without_figures_says_so(client: Client) -> None:
    assert "No figure fits these filters" in text_of(client, "/published/?platform=galera")


@pytest.mark.usefixtures("articles")
def test_a_filter_is_turned_off_by_its_own_link(client: Client) -> None:
    page = client.get("/published/?platform=mha&question=failover").content.decode()
    assert re.search(r'href="/published/\?question=failover" class="toggle"\s+aria-current="true"', page)


@pytest.mark.usefixtures("articles")
def test_an_article_is_shown_whole(client: Client) -> None:
    page = text_of(client, "/published/aurora-galera-mha-2015/")
    assert "Marco Tusa" in page
    assert "published 2015-11-01; tested 2015-09; 15 figures, no interval stated" in page
    assert "HAProxy, one writer, two backups, check interval 3000 ms, fall 2" in page
    assert "Aurora was limited by cpu, replication lag" in page
    assert "PXC ÷ Aurora about 2.6 ×" in page
    assert "full before each run" in page
    matrix = text_of(client, "/published/sysbench-engines-large-server-2017/")
    assert "update-nonindex 1.103 1.210 0.482" in matrix
    assert "answered with error 188" in text_of(client, "/published/aurora-pxc-2016/")


@pytest.mark.usefixtures("articles")
def test_every_article_opens(client: Client) -> None:
    for slug in Article.objects.values_list("slug", flat=True):
        page = text_of(client, f"/published/{slug}/")
        assert "published, not measured here" in page


@pytest.mark.usefixtures("articles")
def test_an_unknown_article_is_not_found(client: Client) -> None:
    assert client.get("/published/nothing/").status_code == 404


@pytest.mark.usefixtures("articles")
def test_words_of_an_article_cannot_become_markup(client: Client) -> None:
    Article.objects.filter(slug="iibench-ec2-2012").update(title="<script>alert(1)</script>")
    assert "<script>alert(1)" not in client.get("/published/").content.decode()


@pytest.mark.usefixtures("articles")
def test_the_page_asks_the_database_a_fixed_number_of_times(client: Client) -> None:
    with CaptureQueriesContext(connection) as asked:
        client.get("/published/?platform=pxc")
    assert len(asked) <= 7


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_charts_are_hatched_and_plot_what_is_stated(browser_page: Page) -> None:
    catalog.seed()
    services.load_all(services.OWN_DATA)
    browser_page.goto("/published/?question=failover")
    plot = browser_page.locator(".chart__plot[data-drawn]").first
    plot.scroll_into_view_if_needed()
    expect(plot.locator("text", has_text="at least 120")).to_be_visible()
    bars = plot.evaluate("plot => plot.data.map(trace => [Array.from(trace.x), trace.marker.pattern.shape])")
    assert bars == [[[15, 50, 120], "/"]]
    browser_page.set_viewport_size({"width": 390, "height": 844})
    browser_page.goto("/published/")
    assert browser_page.evaluate("document.documentElement.scrollWidth") == 390
