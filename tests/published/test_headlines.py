"""The articles' headline table says what their files say: every cell is made anew here from the YAML alone."""

import html
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.test import Client

from apps.catalog.models import Platform
from apps.published import queries, services
from apps.published.headlines import headlines

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("catalog", "articles")]

WORDS = {"exact": "", "approx": "about ", "at_least": "at least ", "at_most": "at most "}
Key = tuple[str, str, str, str]


@pytest.fixture
def articles(catalog: None) -> None:
    services.load_all(services.OWN_DATA)


def files() -> Iterator[dict[str, Any]]:
    for path in sorted(Path(services.OWN_DATA).glob("*.yaml")):
        yield yaml.safe_load(path.read_text())


def number(figure: dict[str, Any]) -> str:
    value = figure["value"]
    if figure["qualifier"] == "approx" and value < 1:
        value = float(f"{value:.2g}")  # "about a third" is no claim of three digits
    unit = figure["unit"]
    spoken = "\u00a0×" if unit == "ratio" else "" if unit == "count" else f"\u00a0{unit}"
    return f"{WORDS[figure['qualifier']]}{value:,}{spoken}"


def stated() -> dict[Key, dict[str, str]]:
    """(article, workload, conditions, metric) -> platform -> what is stated, where two platforms are named."""
    found: dict[Key, dict[str, str]] = {}
    named: dict[Key, set[str]] = {}
    for file in files():
        sides = file.get("sides", {})
        for figure in file.get("figures", []):
            key = (file["slug"], figure["workload"], repr(figure.get("conditions", {})), figure["metric"])
            of = {role: sides[figure[role]] for role in ("side", "numerator", "denominator") if role in figure}
            named.setdefault(key, set()).update(side["platform"] for side in of.values() if "platform" in side)
            cells = found.setdefault(key, {})
            if "platform" in of.get("numerator", {}):
                own, other = of["numerator"]["platform"], of["denominator"]
                said = f"{number(figure)} {other['name']}"
                cells[own] = f"{cells[own]}; {said}" if own in cells else said
                cells.setdefault(other["platform"], "reference")
            elif "platform" in of.get("side", {}):
                cells[of["side"]["platform"]] = number(figure) if "value" in figure else figure.get("note", "")
    return {key: cells for key, cells in found.items() if len(named[key]) > 1}


def platform_names() -> dict[str, str]:
    return {platform.slug: platform.name for platform in Platform.objects.all()}


def test_every_cell_is_what_the_file_states_and_every_comparison_of_platforms_is_there() -> None:
    figures = queries.list_figures()
    table = headlines(figures, queries.list_platforms(figures))
    columns = [platform.slug for platform in table.platforms]
    shown = [
        (
            row.comparison.article.slug,
            row.comparison.metric,
            sorted((slug, cell.text) for slug, cell in zip(columns, row.cells, strict=True) if cell.text),
        )
        for row in table.rows
    ]
    expected = [(slug, metric, sorted(cells.items())) for (slug, _, _, metric), cells in stated().items()]
    assert sorted(shown) == sorted(expected)
    assert len(shown) >= 10


def test_the_headlines_of_the_article_are_the_first_on_the_page(client: Client) -> None:
    page = client.get("/published/").content.decode()
    table = page[page.index("<table") : page.index("</table>")]
    rows = [
        " ".join(html.unescape(re.sub(r"<[^>]+>", " ", row)).replace("\xa0", " ").split())
        for row in table.split("<tr")[2:]
    ]
    head = " ".join(re.sub(r"<[^>]+>", " ", table.split("<tr")[1]).split())
    assert re.search(r"Aurora\s+PXC\s+MHA", head)
    interruption = next(row for row in rows if "reads and writes" in row)
    assert re.search(r"lower is better .*50 s.*15 s.*at least 120 s.*published", interruption)
    execution = next(row for row in rows if "4,039 s" in row)
    assert re.search(r"execution time lower is better iibench not stated 4,039 s 281 s", execution)
    saved = next(row for row in rows if "iibench" in row and "0.33" in row)
    assert "reference about 0.33 × Aurora" in saved


def test_no_cell_claims_an_interval_or_a_verdict(client: Client) -> None:
    page = client.get("/published/").content.decode()
    table = page[page.index("<table") : page.index("</table>")]
    assert "verdict" not in table
    assert not re.search(r"\[\d", table)
    assert table.count("mark--published") == table.count("data-headline")


def test_only_the_chosen_platforms_comparisons_are_in_the_table(client: Client) -> None:
    page = client.get("/published/?platform=mha").content.decode()
    table = page[page.index("<table") : page.index("</table>")]
    assert "281" in table
    assert "450,000" not in table


def test_names_of_platforms_head_the_columns() -> None:
    figures = queries.list_figures()
    named = platform_names()
    assert all(
        platform.name == named[platform.slug]
        for platform in headlines(figures, queries.list_platforms(figures)).platforms
    )
