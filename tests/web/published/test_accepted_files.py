"""Every file that is accepted, and every article that was accepted once, has its pages."""

from typing import Any

import pytest
import yaml
from django.test import Client

from apps.catalog import services as catalog
from apps.published import services
from apps.published.bottlenecks import stated_limits
from apps.published.models import Article
from tests.published.files import VALID
from tests.support.pages import elements

pytestmark = pytest.mark.django_db
ARTICLE = f"/published/{VALID['slug']}/"
HEADS = "section[aria-labelledby=table-0] tbody th"
PAGES = ("/", "/published/", "/published/figures/", "/failovers/", "/schema-changes/", "/matrix/", "/api/v1/published/")


@pytest.fixture(autouse=True)
def article(db: None) -> Article:
    catalog.seed()
    return services.load_upload(content(VALID))


def content(document: dict[str, Any]) -> bytes:
    return yaml.safe_dump(document, sort_keys=False).encode()


@pytest.mark.parametrize(
    "stored",
    [
        {"tables": [{"workload": "oltp", "columns": [{"axis": "threads"}], "rows": [[16]]}]},
        {"tables": [{"title": "Nothing", "workload": "oltp"}]},
        {"tables": [{"title": "No rows", "workload": "oltp", "columns": [{"metric": "latency_p95"}]}]},
        {"bottlenecks": [{"workload": "oltp", "side": "pxc"}]},
    ],
    ids=["no title", "no columns", "no rows", "no resources"],
)
def test_an_article_stored_with_empty_parts_breaks_no_page(
    client: Client, article: Article, stored: dict[str, Any]
) -> None:
    Article.objects.update(setup=article.setup | stored)
    assert [address for address in (*PAGES, ARTICLE) if client.get(address).status_code != 200] == []
    assert stated_limits(["pxc"]) == ()


def test_a_side_whose_key_is_a_number_heads_its_row(client: Client) -> None:
    table = {
        "title": "By release",
        "workload": "oltp",
        "columns": [{"axis": "side"}, {"metric": "latency_p95", "unit": "ms"}, {"metric": "latency_max"}],
        "rows": [[8.0, 12, None], [80, 13, None]],
    }
    sides = VALID["sides"] | {"8.0": {"name": "MySQL 8.0"}, "80": {"name": "MySQL 80"}}
    services.load_upload(content(VALID | {"sides": sides, "tables": [table]}))
    page = client.get(ARTICLE).content.decode()
    assert [each.text() for each in elements(page, HEADS)] == ["MySQL 8.0", "MySQL 80"]
    services.load_upload(content(VALID | {"slug": "other-2026"}))
    assert client.get(f"/published/side-by-side/?one={VALID['slug']}&other=other-2026").status_code == 200


@pytest.mark.parametrize(("side", "shown"), [("no key", "no key"), (8.0, "8"), (None, "not stated"), ("pxc", "PXC")])
def test_a_row_stored_with_an_unknown_side_is_shown_as_it_was_given(
    client: Client, article: Article, side: object, shown: str
) -> None:
    table = {"title": "T", "workload": "oltp", "columns": [{"axis": "side"}], "rows": [[side]]}
    Article.objects.update(setup=article.setup | {"tables": [table]})
    page = client.get(ARTICLE).content.decode()
    assert [head.text() for head in elements(page, HEADS)] == [shown]


def test_a_table_stored_without_a_title_is_called_so(client: Client, article: Article) -> None:
    table = {"workload": "oltp", "columns": [{"axis": "threads"}], "rows": [[16]]}
    Article.objects.update(setup=article.setup | {"tables": [table]})
    heads = [each.text().strip() for each in elements(client.get(ARTICLE).content.decode(), "h2")]
    assert "table without a title" in heads
