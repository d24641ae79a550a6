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
            "answer",
            "web/compare/part.html",
            lambda seen: {"html": f"{len(seen.comparison.counted)} runs"},
        ),
        ComparePart("silent", "Silent", "answer", "web/compare/part.html", lambda _: None),
        ComparePart("late", "Late", "seconds", "web/compare/part.html", _late, lazy=True),
    )
    monkeypatch.setattr(compare_parts, "PARTS", found)
    monkeypatch.setattr(compare, "PARTS", found)
    monkeypatch.setattr(saved, "PARTS", found)  # imported with the first request, else for good with these parts


def _late(seen: CompareView) -> dict[str, str]:
    return {"html": f"late, {seen.level.text if seen.level else 'no level'}"}


def test_a_part_stands_in_the_page_and_a_lazy_one_says_where_it_comes_from(
    client: Client, address: str, parts: None
) -> None:
    html = client.get(f"/compare/{address}").content.decode()
    assert "6 runs" in html
    assert 'id="silent"' not in html
    assert element(html, "#late").attributes["hx-get"] == f"/compare/part/late/{address}"
    assert "late, 4 threads" not in html


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
