"""Parts of the Compare page: in the page, fetched into it, and by themselves."""

import pytest
from django.test import Client

from apps.comparison import compare as comparison_compare
from apps.web import saved
from apps.web.compare import compare
from apps.web.compare import parts as compare_parts
from apps.web.compare.view import ComparePart, CompareView
from tests.support.builders import a_measured_run, a_system, a_workload
from tests.support.pages import data, element, elements, text

pytestmark = pytest.mark.django_db


@pytest.fixture
def address() -> str:
    for slug in ("a", "b"):
        system = a_system(slug)
        for repetition in (1, 2, 3):
            a_measured_run({"client.throughput": 1000 + repetition}, system=system, repetition=repetition)
    return f"?side=a&side=b&workload={a_workload().pk}"


@pytest.fixture
def parts(monkeypatch: pytest.MonkeyPatch) -> None:
    found = (
        ComparePart(
            "told",
            "Told",
            "results",
            "web/compare/part.html",
            lambda seen: {"html": f"{len(seen.comparison.counted)} runs"},
        ),
        ComparePart("silent", "Silent", "results", "web/compare/part.html", lambda _: None, nothing="Nothing here."),
        ComparePart("late", "Late", "results", "web/compare/part.html", _late, deferred=True),
        ComparePart("other", "Other", "cost", "web/compare/part.html", lambda _: {"html": "a price"}),
    )
    monkeypatch.setattr(compare_parts, "PARTS", found)
    monkeypatch.setattr(compare, "PARTS", found)
    monkeypatch.setattr(saved, "PARTS", found)  # imported with the first request, else for good with these parts


def _late(seen: CompareView) -> dict[str, str]:
    return {"html": f"late, {seen.level.text if seen.level else 'no level'}"}


def test_the_opened_tab_stands_in_the_page_and_its_deferred_part_follows(
    client: Client, address: str, parts: None
) -> None:
    html = client.get(f"/compare/{address}").content.decode()
    assert "6 runs" in text(html, "[data-panel=results]")
    assert "Nothing here." in text(html, "[data-panel=results] #silent")
    late = element(html, "[data-panel=results] #late").attributes
    assert (late["hx-get"], late["hx-trigger"]) == (f"/compare/part/late/{address}", "load")
    assert "late, 4 threads" not in html


def test_a_tab_has_an_address_and_is_fetched_before_it_is_opened(client: Client, address: str, parts: None) -> None:
    html = client.get(f"/compare/{address}").content.decode()
    place = element(html, "[data-panel=cost]").attributes
    assert "data-closed" in place
    assert (place["hx-get"], place["hx-trigger"]) == (f"/compare/{address}&tab=cost", "prefetch")
    assert element(html, "a[data-tab=cost]").attributes["href"] == place["hx-get"]
    fetched = client.get(place["hx-get"] or "", headers={"HX-Request": "true"})
    assert "a price" in fetched.content.decode()
    assert "<html" not in fetched.content.decode()
    assert "HX-Request" in fetched["Vary"]
    opened = client.get(place["hx-get"] or "").content.decode()
    assert "a price" in text(opened, "[data-panel=cost]")
    assert element(opened, "a[data-tab=cost]").attributes["aria-current"] == "page"
    assert not elements(opened, "#late")


def test_all_tabs_stand_on_one_page_for_print(client: Client, address: str, parts: None) -> None:
    html = client.get(f"/compare/{address}&tab=all").content.decode()
    assert all(words in html for words in ("6 runs", "a price", "late, 4 threads"))
    assert not elements(html, "[data-closed]")
    assert not elements(html, "[data-panel] [hx-get]")


def test_a_part_comes_alone_for_htmx_and_as_a_page_of_its_own(client: Client, address: str, parts: None) -> None:
    alone = client.get(f"/compare/part/late/{address}", headers={"HX-Request": "true"}).content.decode()
    assert "late, 4 threads" in alone
    assert "<html" not in alone
    page = client.get(f"/compare/part/late/{address}").content.decode()
    assert "late, 4 threads" in page
    assert elements(page, f"a[href='/compare/{address}']")


def test_what_is_wrong_with_a_parts_address_is_said_in_its_place(client: Client, address: str, parts: None) -> None:
    wrong = address.replace("side=b", "side=zz")
    assert client.get(f"/compare/part/late/{wrong}").status_code == 404
    part = client.get(f"/compare/part/late/{wrong}", headers={"HX-Request": "true"})
    assert (part.status_code, data(part.content.decode(), "field")) == (200, ["side"])
    assert "zz" in text(part.content.decode(), "[data-field=side]")
    assert client.get(f"/compare/part/none/{address}").status_code == 404


def test_the_picker_gives_a_side_a_workload_of_its_own(client: Client, address: str) -> None:
    other = a_workload(table_size=20_000)
    chosen = f"side=a&under=&side=b&under={other.pk}&side=&under=&side=&under=&workload={a_workload().pk}"
    html = client.get(f"/compare/?{chosen}").content.decode()
    side = comparison_compare.compare(sides=["a", f"b:{other.pk}"], workload_id=a_workload().pk).sides[1]
    assert "20000" in side.name
    assert side.name in text(html, "h1")


def test_the_api_refuses_to_include_what_it_does_not_know(client: Client, address: str) -> None:
    answer = client.get(f"/api/v1/comparisons/{address}&include=nonsense")
    assert (answer.status_code, "nonsense" in answer.content.decode()) == (400, True)
