"""One card a question: published frames, what was measured beside them, one sentence."""

from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from playwright.sync_api import Page
from selectolax.lexbor import LexborNode

from apps.catalog import services as catalog
from apps.catalog.models import Platform
from apps.comparison.pure import Ratio, Verdict, inverse
from apps.published import queries, services
from apps.published.matrix import load_matrix, spreads
from apps.web.published.cards import QuestionCard, cards
from apps.web.published.spreads import spread_cards
from tests.published.files import downtime, load_figures, times, tps
from tests.support.builders import a_load_level, a_measured_run, a_system, a_workload
from tests.support.pages import data, element, elements

pytestmark = pytest.mark.django_db


@pytest.fixture
def articles(db: None) -> None:
    catalog.seed()
    services.load_all(services.OWN_DATA)


@pytest.fixture
def found(articles: None) -> dict[str, QuestionCard]:
    return {card.key: card for card in cards(queries.list_figures())}


def plain(node: LexborNode) -> str:
    return " ".join(node.text().split())


def speeds(card: QuestionCard) -> list[list[tuple[str, str]]]:
    return [[(bar.name, bar.text.replace("\u00a0", " ")) for bar in frame.bars] for frame in card.stated]


def test_a_frame_has_the_fastest_at_one_and_says_what_is_chained(found: dict[str, QuestionCard]) -> None:
    assert speeds(found["ingest"])[0] == [("MHA", "1 ×"), ("PXC", "≈ 0.33 ×"), ("Aurora", "≈ 0.11 × chained")]
    chain = found["ingest"].stated[0].chain
    assert chain is not None
    assert [(link.name, link.text.replace("\u00a0", " ")) for link in chain.links] == [
        ("MHA", "≈ 3 ×"),
        ("PXC", "≈ 3 ×"),
        ("Aurora", ""),
    ]
    assert "9" in chain.product


def test_a_bound_stays_one_beside_its_seconds(found: dict[str, QuestionCard]) -> None:
    (frame,) = speeds(found["failover"])
    assert frame == [("PXC", "1 × · 15 s"), ("Aurora", "0.3 × · 50 s"), ("MHA", "≤ 0.13 × · ≥ 120 s")]


def test_what_costs_least_is_cheapest_and_no_speed(tmp_path: Path, client: Client) -> None:
    catalog.seed()
    workloads = {name: {"question": name} for name in ("oltp", "cost", "steadiness")}
    cost = {"workload": "cost", "metric": "cost_total", "unit": "USD/month"}
    drop = {"workload": "steadiness", "metric": "qps_drop", "unit": "fraction"}
    speed = [tps("aurora", 100), tps("rds", 200)]
    dear = [tps("aurora", 100) | cost, tps("rds", 400) | cost, tps("aurora", 0.1) | drop, tps("rds", 0.2) | drop]
    load_figures(tmp_path, *speed, *dear, workloads=workloads)
    answers = {card.key: card.answer.replace("\u00a0", " ") for card in cards(queries.list_figures())}
    assert answers == {
        "oltp": "RDS MySQL is fastest: Aurora 0.5 ×.",
        "cost": "Aurora is cheapest: RDS MySQL 0.25 ×.",
        "steadiness": "Aurora is steadiest: RDS MySQL 0.5 ×.",
    }
    page = client.get("/published/").content.decode()
    assert "RDS MySQL is fastest in every question." in element(page, ".page-head").text()


def test_where_bounds_leave_the_order_open_nobody_is_back_first(tmp_path: Path, client: Client) -> None:
    catalog.seed()
    load_figures(tmp_path, downtime("aurora", 50), downtime("mha", 30, "at_least"))
    (card,) = cards(queries.list_figures())
    assert speeds(card) == [[("MHA", "≥ 30 s"), ("Aurora", "50 s")]]
    assert card.answer.replace("\u00a0", " ") == "Inconclusive: MHA ≥ 30 s, Aurora 50 s."
    assert "Failover: inconclusive" in client.get("/published/").content.decode()
    assert "fastest" not in element(client.get("/").content.decode(), "tr[data-kind=failover]").text()


def test_an_answer_counts_the_frames_that_have_a_fastest(tmp_path: Path) -> None:
    catalog.seed()
    idle = [downtime("aurora", 20, conditions={"load": "none"}), downtime("mha", 60, conditions={"load": "none"})]
    load_figures(tmp_path, *idle, downtime("aurora", 50), downtime("mha", 30, "at_least"))
    (card,) = cards(queries.list_figures())
    assert card.fastest == ("Aurora",)
    assert card.answer.replace("\u00a0", " ") == (
        "Aurora is back first in 1 of 2: MHA 0.33 ×. Inconclusive in 1 of 2: MHA ≥ 30 s, Aurora 50 s."
    )


def test_two_machines_that_disagree_are_two_frames_and_the_answer_names_both(found: dict[str, QuestionCard]) -> None:
    oltp = found["oltp"]
    assert {frame[0][0] for frame in speeds(oltp)} == {"PXC", "Aurora"}
    assert set(oltp.fastest) == {"PXC", "Aurora"}
    assert "on the small box" in oltp.answer
    assert "on the large box" in oltp.answer


def test_what_was_measured_here_stands_in_a_frame_of_its_own_with_intervals(articles: None) -> None:
    for slug, values in (("pxc", (100.0, 102.0, 101.0)), ("mha", (200.0, 202.0, 201.0))):
        system = a_system(f"my-{slug}", platform=Platform.objects.get(slug=slug))
        for value in values:
            a_measured_run(
                {"client.throughput": value},
                system=system,
                load_level=a_load_level(8),
                workload=a_workload("oltp_read_write"),
            )
    card = next(card for card in cards(queries.list_figures()) if card.key == "oltp")
    assert card.measured is not None
    best, other = card.measured.bars
    assert (best.name, best.text, best.verdict) == ("MHA", "1\u00a0×", "")
    assert (other.name, other.verdict) == ("PXC/Galera", "worse")
    assert other.bar.width == pytest.approx(best.bar.width / 2, rel=0.02)
    assert other.bar.low is not None
    assert other.bar.high is not None
    assert other.bar.low < other.bar.width < other.bar.high
    assert card.action is not None
    assert card.action[0].startswith("/compare/?side=my-mha&side=my-pxc")


def test_of_times_the_interval_of_the_speed_is_the_inverse() -> None:
    found = inverse(Ratio(Verdict.HIGHER, value=2.0, low=1.6, high=2.5))
    assert (found.value, found.low, found.high) == (0.5, 0.4, 0.625)
    without = inverse(Ratio(Verdict.TOO_FEW, value=4.0))
    assert (without.value, without.low, without.high) == (0.25, None, None)


def test_frames_that_are_not_drawn_are_said(found: dict[str, QuestionCard]) -> None:
    (seconds,) = [remark for remark in found["ingest"].remarks if "4,039" in remark]
    assert "281" in seconds
    assert "iibench" in seconds


def test_the_statements_of_a_table_stand_on_one_card(found: dict[str, QuestionCard]) -> None:
    changes = found["ddl"]
    assert changes.fastest == ("Aurora",)
    assert {bars[1] for bars in speeds(changes)} == {
        ("RDS MySQL", "0.6 × · 657.37 s"),
        ("RDS MySQL", "0.6 × · 908.73 s"),
        ("RDS MySQL", "0.59 × · 901.76 s"),
        ("RDS MySQL", "0.47 × · 3,332.44 s"),
    }


def test_the_page_has_every_card_with_its_sources_and_leads_to_the_figures(
    client: Client, found: dict[str, QuestionCard]
) -> None:
    page = client.get("/published/").content.decode()
    assert data(page, "question") == list(found)
    for key, card in found.items():
        node = element(page, f"[data-question={key}]")
        links = [link.attributes["href"] for link in node.css("a")]
        assert f"/published/figures/?question={key}" in links
        assert {f"/published/{article.slug}/" for article in card.articles} <= set(links)
        assert len(node.css("[data-speed]")) == sum(len(frame.bars) for frame in card.stated)
    assert len(elements(page, "li:has(a[href^='/published/figures/?article='])")) == len(queries.list_articles())


def test_no_bar_is_longer_than_its_fastest_and_none_claims_an_interval(
    client: Client, found: dict[str, QuestionCard]
) -> None:
    for card in found.values():
        for frame in card.stated:
            widths = [bar.bar.width for bar in frame.bars]
            assert max(widths) == widths[0]
            assert all(bar.bar.low is None for bar in frame.bars)


def test_a_spread_counts_tests_that_are_faster_and_slower(articles: None) -> None:
    matrix = load_matrix("sysbench-engines-large-server-2017")
    assert matrix is not None
    strips = {(each.side.name, each.load): each for each in spreads(matrix)}
    toku = strips["TokuDB", "1 connection"]
    assert (toku.tests, toku.faster, toku.slower) == (12, 3, 9)
    # The 12 ratios of the article multiplied, and the twelfth root.
    assert toku.mean == pytest.approx(0.4867, abs=5e-4)


def test_a_spread_names_its_metric_and_the_tests_of_each_side(tmp_path: Path) -> None:
    catalog.seed()
    at: list[dict[str, Any]] = [{"conditions": {"test": f"test {number}", "threads": 8}} for number in range(6)]
    latency = times("aurora", "rds", 0.5, **at[0]) | {"metric": "latency_p95"}
    aurora = [times("aurora", "rds", 2, **each) for each in at]
    load_figures(tmp_path, latency, *aurora, *[times("mha", "rds", 3, **each) for each in at[:4]])
    (card,) = spread_cards()
    assert card.metric_name == "transaction rate"
    assert card.answer == "8 threads: MHA 3.00 × (4 tests), Aurora 2.00 × (6 tests) of RDS MySQL, geometric means."


def test_the_page_draws_each_strip_of_a_spread(client: Client, articles: None) -> None:
    page = client.get("/published/").content.decode()
    assert len(elements(page, "[data-spread] tr[data-load]")) == 9
    assert all(len(row.css(".spread__point")) == 12 for row in elements(page, "[data-spread] tr[data-load]"))


def test_former_addresses_with_filters_lead_to_the_figures(client: Client, articles: None) -> None:
    assert client.get("/published/?platform=mha").headers["Location"] == "/published/figures/?platform=mha"


def test_without_articles_the_page_says_how_to_load_them(client: Client) -> None:
    page = client.get("/published/").content.decode()
    assert next(plain(code) for code in elements(page, "[data-state=empty] code")) == "manage.py load_published"


def test_the_page_asks_the_database_a_bounded_number_of_times(client: Client, articles: None) -> None:
    with CaptureQueriesContext(connection) as asked:
        client.get("/published/")
    assert len(asked) <= 25


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("width", [1440, 390])
def test_no_words_of_a_bar_leave_their_card(browser_page: Page, width: int) -> None:
    catalog.seed()
    services.load_all(services.OWN_DATA)
    browser_page.set_viewport_size({"width": width, "height": 900})
    browser_page.goto("/published/")
    over = browser_page.evaluate(
        """() => [...document.querySelectorAll(".answers__card")].flatMap(card =>
          [...card.querySelectorAll(".track__words, .spread__point")]
            .filter(words => words.getBoundingClientRect().right > card.getBoundingClientRect().right)
            .map(words => words.textContent.trim()))"""
    )
    assert over == []
    assert browser_page.evaluate("document.documentElement.scrollWidth") == width
