"""Published figures over HTTP: with qualifier and source, filtered, at a constant cost."""

from pathlib import Path

import pytest
from rest_framework.test import APIClient

from apps.catalog import services as catalog
from apps.published import services as published

ADDRESS = "/api/v1/published/"
DATA = Path(published.__file__).parent / "data"


@pytest.fixture(autouse=True)
def articles(db: None) -> None:
    catalog.seed()
    published.load_all(DATA)


def test_every_figure_carries_its_source_and_none_an_interval(anyone: APIClient) -> None:
    page = anyone.get(ADDRESS).json()
    assert page["next"] is None
    assert page["results"]
    for figure in page["results"]:
        assert figure["article"]["title"]
        assert figure["text"]
        numbers = [figure[key] for key in ("value", "low", "high") if figure[key] is not None]
        assert bool(numbers) == bool(figure["qualifier"])
        assert "interval" not in figure
        assert (figure["numerator"] is not None) == (figure["unit"] == "ratio")


def test_a_platform_keeps_the_figures_about_it_on_either_side_of_a_ratio(anyone: APIClient) -> None:
    results = anyone.get(f"{ADDRESS}?platform=pxc").json()["results"]
    assert results
    for figure in results:
        sides = [figure[key] for key in ("side", "numerator", "denominator") if figure[key]]
        assert "pxc" in {side["platform"] for side in sides}


def test_filters_narrow_together(anyone: APIClient) -> None:
    everything = anyone.get(ADDRESS).json()["results"]
    article = everything[0]["article"]["slug"]
    question = everything[0]["question"]
    results = anyone.get(f"{ADDRESS}?article={article}&question={question}").json()["results"]
    expected = [f["id"] for f in everything if (f["article"]["slug"], f["question"]) == (article, question)]
    assert [figure["id"] for figure in results] == expected


@pytest.mark.parametrize("query", ["?platform=a%00", "?platfrom=pxc", "?article=%ff"])
def test_a_wrong_filter_is_400(anyone: APIClient, query: str) -> None:
    answer = anyone.get(f"{ADDRESS}{query}")
    assert (answer.status_code, answer["Content-Type"]) == (400, "application/problem+json")
