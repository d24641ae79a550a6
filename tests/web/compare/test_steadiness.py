"""Steadiness, work and seconds on Compare: what is shown, in which words, and the same numbers in JSON."""

import re
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from apps.catalog.models import System
from apps.runs.models import Event, Run
from apps.web.compare.view import OPTIONS, CompareAddress
from tests.comparison.sections.test_steadiness import noisy, runs_of
from tests.comparison.sections.test_work import a_redo_run
from tests.support.builders import a_system, a_workload
from tests.support.pages import data, elements, page_data, states, text

pytestmark = pytest.mark.django_db


@pytest.fixture
def sides() -> tuple[System, System]:
    a, b = a_system("a", name="Alpha"), a_system("b", name="Beta")
    runs_of(a, [noisy(20, seed) for seed in range(4)])
    runs_of(b, [noisy(100, seed, low=seed - 8) for seed in range(10, 14)])
    return a, b


def address(**changes: Any) -> CompareAddress:
    return CompareAddress(**{"sides": ("a", "b"), "workload": a_workload().pk, **changes})


def page(client: Client, url: str, status: int = 200) -> str:
    response = client.get(url)
    assert response.status_code == status, response.content[:500]
    return response.content.decode()


def verdicts_of(html: str, metric: str = "") -> list[tuple[str | None, str]]:
    """Of the sentence about Beta: each verdict with its words."""
    place = f"[data-answer=b][data-metric='{metric}']" if metric else "[data-answer=b]"
    found = elements(html, f"{place} [data-verdict]")
    return [(each.attributes["data-verdict"], " ".join(each.text().split())) for each in found]


def test_runs_that_failed_a_check_are_marked_in_both_parts(client: Client, sides: tuple[System, System]) -> None:
    Run.objects.filter(system=sides[1]).update(failed_checks=["generator"])
    html = page(client, address().part_url("steadiness"))
    assert states(html, "[data-side] [data-doubted]", "doubted") == [("4",)]
    assert len(elements(html, "tr[data-run] .mark--doubt")) == 4
    assert page_data(html, "steadiness-data")["boxes"][-1]["label"].endswith(" (failed load generator)")
    for number in (0, 1):
        for system in sides:
            a_redo_run(system, 100.0, number)
    Run.objects.filter(system=sides[1]).update(failed_checks=["generator"])
    assert data(page(client, address().part_url("work")), "doubted") == ["6"]


def test_a_sentence_says_who_is_steadier_before_the_table(client: Client, sides: object) -> None:
    html = page(client, address().part_url("steadiness"))
    ((verdict, words),) = verdicts_of(html, "steadiness.variation")
    assert verdict == "worse"
    assert re.fullmatch(r"worse at 4 threads [\d.]+ × \[[\d.]+, [\d.]+\]", words)
    ((verdict, words),) = verdicts_of(html, "steadiness.hiccups")
    assert verdict == "worse"
    assert "rank test" in words
    assert html.index("data-answer") < html.index("<table")


def test_there_is_a_box_for_every_run_and_one_for_each_side(client: Client, sides: tuple[System, System]) -> None:
    boxes = page_data(page(client, address().part_url("steadiness")), "steadiness-data")["boxes"]
    assert [(box["side"], box["run"] is None) for box in boxes] == [(side, k == 0) for side in (0, 1) for k in range(5)]
    assert [box["run"] for box in boxes[1:5]] == list(sides[0].runs.order_by("started_at").values_list("pk", flat=True))
    together, *own = [box["box"] for box in boxes[5:]]
    assert together["least"] == min(box["least"] for box in own)
    assert together["greatest"] == max(box["greatest"] for box in own)


def test_the_worst_second_and_the_longest_hiccup_of_each_run_are_placed_in_time(client: Client, sides: object) -> None:
    html = page(client, address().part_url("steadiness"))
    longest = [" ".join(each.text().split()) for each in elements(html, "tr[data-run] [data-longest]")]
    assert len(longest) == 8
    assert longest[0] == "none"
    assert longest[4] == "2.00 s from 20.0 s on"


def test_json_has_the_numbers_of_the_page(client: Client, sides: object) -> None:
    html = page(client, address().part_url("steadiness"))
    cells_of_b = elements(html, "tr[data-side=b] [data-value]")
    shown = {cell.attributes["data-metric"]: cell.attributes["data-value"] for cell in cells_of_b}
    answer = client.get(f"/api/v1/comparisons/?{address().query()}&include=steadiness").json()["steadiness"]
    cells = {cell["metric"]: cell for cell in answer["cells"] if cell["side"] == "b"}
    for metric in ("steadiness.variation", "steadiness.worst"):
        assert float(shown[metric] or "") == pytest.approx(cells[metric]["summary"]["value"])
    drawn = page_data(html, "steadiness-data")["boxes"]
    assert {box["run"]: box["box"] for box in drawn if box["run"] is not None} == {
        run["run"]: run["steadiness"]["box"] for run in answer["runs"]
    }
    assert [box["box"] for box in drawn if box["run"] is None] == [side["box"] for side in answer["boxes"]]


def test_runs_without_seconds_leave_the_part_empty_in_words(client: Client) -> None:
    for slug in ("a", "b"):
        a_redo_run(a_system(slug), 1000.0, 0)
    html = page(client, address().part_url("steadiness"))
    assert elements(html, "#steadiness [data-state=empty]")
    assert client.get(f"/api/v1/comparisons/?{address().query()}&include=steadiness").json()["steadiness"] is None


@pytest.fixture
def working() -> None:
    for slug, typical in (("a", 2000.0), ("b", 1000.0)):
        system = a_system(slug, name={"a": "Alpha", "b": "Beta"}[slug])
        for number in range(4):
            a_redo_run(system, typical * (1 + 0.01 * number), number)


def test_a_sentence_says_what_a_side_needs_less_of(client: Client, working: object) -> None:
    html = page(client, address().part_url("work"))
    ((verdict, words),) = verdicts_of(html)
    assert verdict == "better"
    assert re.fullmatch(r"better less redo log 0\.500 × \[0\.4\d+, 0\.5\d+\]", words)
    assert "1.98 KiB" in [" ".join(each.text().split()) for each in elements(html, "[data-quantity='work.redo'] td")]
    assert "buffer pool misses" in text(html, "[data-state=none]")
    assert "server CPU" in elements(html, "[data-state=not-observed]")[0].text()
    (point,) = page_data(html, "work-data")["points"]
    assert (point["metric"], point["words"]) == ("work.redo", "better")


def undecided_of(client: Client, **changes: Any) -> str:
    html = page(client, address(**changes).part_url("work"))
    assert verdicts_of(html) == []
    return text(html, "[data-answer=b] [data-undecided]")


def test_without_less_or_more_the_sentence_counts_the_verdicts_that_there_are(client: Client) -> None:
    a, b = a_system("a"), a_system("b")
    for system in (a, b):
        a_redo_run(system, 2000.0, 0, written=50.0)
    assert undecided_of(client) == "2 quantities: too few repetitions at 4 threads"
    for number in range(1, 8):
        a_redo_run(a, 2000.0 + number, number, written=(25.0, 50.0, 100.0)[number % 3])
        a_redo_run(b, 2000.0 + number, number, written=50.0)
    assert undecided_of(client) == "2 quantities: 1 inconclusive, 1 equivalent at 4 threads"
    for number in range(3):
        a_redo_run(a, 2000.0, number, threads=8)
    assert undecided_of(client, level="8") == "2 quantities: no runs at 8 threads"


def test_work_in_json_says_by_what_it_was_divided_and_how(client: Client, working: object) -> None:
    (work,) = client.get(f"/api/v1/comparisons/?{address().query()}&include=work").json()["work"]
    assert work["per"] == "transaction"
    assert work["formulas"]["work.redo"] == "mysql.status.Innodb_os_log_written"
    cell = next(each for each in work["cells"] if (each["side"], each["metric"]) == ("b", "work.redo"))
    assert cell["ratio"]["value"] == pytest.approx(0.5)
    assert {each["reason"] for each in work["not_observed"] if each["metric"] == "work.cpu.server"} == {
        "not counted by any node, or not readable by the agent"
    }


@pytest.mark.parametrize("option", [each for each in OPTIONS if each not in ("objective", "percentile")])
def test_the_api_takes_every_word_of_the_page_s_address(client: Client, working: object, option: str) -> None:
    """The page's link to its JSON has them all."""
    assert client.get(f"/api/v1/comparisons/?{address().query()}&{option}=all").status_code == 200


def test_an_unknown_divisor_is_refused_in_words(client: Client, working: object) -> None:
    odd = address().with_option("per", "fortnight")
    html = page(client, odd.part_url("work"), status=400)
    assert data(html, "field") == ["per"]
    assert "transaction, query, row" in text(html, "[data-field=per]")


def test_the_seconds_lie_on_the_clock_of_the_measured_phase_with_their_events(
    client: Client, sides: tuple[System, System]
) -> None:
    run = sides[1].runs.earliest("started_at")
    sides[1].runs.update(measured_from=5.0)
    Event.objects.create(run=run, kind="fault", label="writer killed", starts_at=25.0, node="db1")
    Event.objects.create(run=run, kind="sampler_error", label="too late", starts_at=26.0)

    def series(**changes: Any) -> tuple[Any, Any]:
        found = page_data(page(client, address(**changes, tab="steadiness").url()), "seconds-data")["series"]
        return found["clock"], next(each for each in found["runs"] if each["run"] == run.pk)

    clock, own = series()
    assert (clock, own["measured"]) == ("measured", [0.0, 55.0])
    assert [(each["label"], each["starts_at"]) for each in own["events"]] == [("writer killed", 20.0)]
    clock, own = series(options=(("clock", "run"),))
    assert (clock, own["measured"], own["events"][0]["starts_at"]) == ("run", [5.0, 60.0], 25.0)


def test_queries_do_not_grow_with_the_runs(client: Client, sides: tuple[System, System]) -> None:
    asked = []
    for _ in range(2):
        with CaptureQueriesContext(connection) as found:
            for name in ("steadiness", "work"):
                page(client, address(level="4").part_url(name))
        asked.append(len(found))
        for system in sides:
            runs_of(system, [noisy(20, seed) for seed in range(20, 24)], hours=2)
    assert asked[0] == asked[1]
