"""The Compare page: what an address shows, what it refuses and in which words."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection
from django.http import QueryDict
from django.test import Client
from django.test.utils import CaptureQueriesContext

from apps.catalog.models import Platform, Release, System, Workload
from apps.comparison import compare as comparison_compare
from apps.comparison.selection import runs
from apps.comparison.values import Comparison
from apps.runs.models import Measurement, Run
from apps.web.compare import wording
from apps.web.compare.exports import limits
from apps.web.compare.sections import runs as listed
from apps.web.compare.view import CompareAddress
from tests.support.builders import START, a_load_level, a_measured_run, a_system, a_workload
from tests.support.pages import data, element, elements, page_data, states, text
from tests.web.compare.compared import ERRORS, P95, TPS, B, address, page

pytestmark = pytest.mark.django_db


def chart_data(html: str) -> Any:
    return page_data(html, "compare-data")


def seconds_data(html: str) -> Any:
    return page_data(html, "seconds-data")["series"]


def said(html: str, side: str) -> list[tuple[str | None, str | None, str]]:
    """Metric, verdict and words of a side's sentence."""
    return [
        (each.attributes["data-metric"], each.attributes["data-verdict"], " ".join(each.text().split()))
        for each in elements(html, f"[data-answer={side}] [data-verdict]")
    ]


def test_the_answer_comes_first_in_a_sentence_at_the_chosen_load(
    client: Client, workload: Workload, sides: object
) -> None:
    html = page(client, address(workload, level="4"))
    assert said(html, "b") == [
        (TPS, "better", "1.30 × faster (95 % interval 1.27 to 1.33);"),
        (P95, "better", "p95 better, 0.769 × (0.744 to 0.794)."),
    ]
    assert "1,000 transactions/s" in " ".join(text(html, "[data-baseline=a]").split())
    assert html.index("data-answer") < html.index("data-tabs") < html.index("<table")
    # At 8 threads one run of Beta is no verdict, and no ratio is shown.
    (first, _) = said(page(client, address(workload, level="8")), "b")
    assert first == (TPS, "too few repetitions", "too few repetitions, needs at least 2 more runs of Beta;")


def test_a_slower_side_is_said_with_its_factor_and_its_ratio(client: Client, workload: Workload, sides: object) -> None:
    html = page(client, address(workload, sides=("b", "a"), level="4"))
    assert said(html, "a")[0] == (
        TPS,
        "worse",
        "1.30 × slower, 0.769 × the throughput (95 % interval 0.749 to 0.789);",
    )


def test_every_side_has_a_sentence_and_one_without_runs_says_so(
    client: Client, workload: Workload, sides: object
) -> None:
    a_measured_run({TPS: 900.0}, system=a_system("c", name="Gamma"), load_level=a_load_level(8))
    html = page(client, address(workload, sides=("a", "b", "c"), level="4"))
    assert data(html, "answer") == ["a", "b", "c"]
    assert data(html, "baseline") == ["a"]
    assert said(html, "c") == [(TPS, "no runs", "no runs at 4 threads.")]


def test_the_charts_numbers_are_those_of_the_comparison(client: Client, workload: Workload, sides: object) -> None:
    drawn = chart_data(page(client, address(workload)))
    comparison = comparison_compare.compare(sides=["a", "b"], workload_id=workload.pk)
    level = comparison.levels[0]
    cell = comparison.cell(side="b", level=level.id, metric=TPS)
    point = next(p for p in drawn["points"] if (p["metric"], p["side"], p["level"]) == (TPS, 1, "4"))
    assert cell.summary is not None
    assert cell.ratio is not None
    assert point["value"] == cell.summary.value
    assert (point["ratio"], point["low"], point["high"]) == (cell.ratio.value, cell.ratio.low, cell.ratio.high)
    assert [run["value"] for run in point["runs"]] == list(B)
    assert [run["run"] for run in point["runs"]] == [each.run for each in cell.replicates]
    assert drawn["threads"] == {"ticks": [4, 8], "scale": "linear", "range": [3.68, 8.32]}


def test_a_wide_ladder_is_drawn_on_a_logarithmic_axis(client: Client, workload: Workload, sides: object) -> None:
    a_measured_run({TPS: 1.0}, system=System.objects.get(slug="a"), load_level=a_load_level(64))
    assert chart_data(page(client, address(workload)))["threads"]["scale"] == "log"


def test_the_level_of_the_seconds_is_in_the_address(client: Client, workload: Workload, sides: object) -> None:
    assert seconds_data(page(client, address(workload, tab="steadiness")))["level"] == "8"
    chosen = seconds_data(page(client, address(workload, level="4", apart=True, tab="steadiness")))
    assert (chosen["level"], chosen["apart"], len(chosen["runs"])) == ("4", True, 6)


def test_the_newest_run_of_each_side_can_be_laid_over_any_series(
    client: Client, workload: Workload, sides: object
) -> None:
    html = page(client, address(workload, level="4", tab="steadiness"))
    newest = {run["side"]: run["run"] for run in seconds_data(html)["runs"]}
    series = "&".join(f"series={run}:{TPS}:client" for run in newest.values())
    assert elements(html, f"a[href='/timeline/?{series}&align=measured']")


def test_every_run_is_listed_with_its_link_and_why_it_is_left_out(
    client: Client, workload: Workload, sides: tuple[System, System]
) -> None:
    failed = a_measured_run(
        {TPS: 1.0}, system=sides[0], load_level=a_load_level(4), outcome="failed", reason="out of disk"
    )
    html = page(client, address(workload, tab="runs"))
    assert text(html, ".lede [data-reason=failed]") == "1 failed"
    assert states(html, "tr[data-left-out]", "run", "left-out") == [(str(failed.pk), "failed: out of disk")]
    assert "failed: out of disk" in text(html, f"tr[data-run='{failed.pk}']")
    assert elements(html, f"tr[data-run='{failed.pk}'] a[href='/runs/{failed.pk}/']")
    assert len(data(html, "run")) == 11


@pytest.mark.parametrize("provenance", ["example", "submitted"])
def test_a_side_shows_where_its_runs_come_from_unless_agents_measured_them_all(
    client: Client, workload: Workload, sides: tuple[System, System], provenance: str
) -> None:
    def cards() -> list[str]:
        """The classes of the marks in each side's sentence."""
        found = elements(page(client, address(workload)), "[data-answer]")
        return [" ".join(mark.attributes["class"] or "" for mark in card.css(".mark")) for card in found]

    assert cards() == ["", ""]
    Run.objects.filter(pk=sides[1].runs.filter(load_level__threads=4).earliest("started_at").pk).update(
        provenance=provenance
    )
    first, second = cards()
    assert "mark--" not in first
    assert f"mark--{provenance}" in second
    assert "mark--agent" in second


def test_a_median_is_called_a_median(client: Client, workload: Workload, sides: tuple[System, System]) -> None:

    def compared() -> Comparison:
        return comparison_compare.compare(sides=["a", "b"], workload_id=workload.pk)

    def note() -> str:
        return wording.value_note(compared(), [each for each in compared().metrics if each.kind != "errors"])

    html = page(client, address(workload))
    assert text(html, "[data-value-note]") == note()
    assert not elements(html, "[data-summary]")
    assert "median" not in html
    Measurement.objects.filter(run__system=sides[0], run__load_level__threads=8, metric__key=TPS).update(value=0)
    html = page(client, address(workload))
    assert text(html, "[data-value-note]") == note()
    words = wording.value_words(compared(), next(each for each in compared().metrics if each.key == TPS))
    titles = [each.attributes.get("title") or "" for each in elements(html, "th.compare-table__metric")]
    assert [title for title in titles if title.startswith(f"{words}; ")]
    assert states(html, "[data-level='8'][data-side=a] [data-summary]", "summary") == [("median",)]
    Measurement.objects.update(value=0)
    assert text(page(client, address(workload)), "[data-value-note]") == note()


def test_only_the_newest_runs_are_shown_and_that_is_said(
    client: Client, workload: Workload, sides: tuple[System, System], monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(30):
        a_measured_run({TPS: 1.0}, system=sides[0], load_level=a_load_level(4), outcome="failed", reason="out of disk")
        a_measured_run(
            {TPS: 1000.0 + number, P95: 20.0, ERRORS: 0.0},
            system=sides[0],
            load_level=a_load_level(4),
            started_at=START + timedelta(hours=number + 1),
        )
    monkeypatch.setattr(runs, "MOST_RUNS", 25)
    html = page(client, address(workload, level="4", tab="all"))
    notes = comparison_compare.compare(sides=["a", "b"], workload_id=workload.pk).notes
    assert [note for note in notes if "25 of 33 runs of Alpha at 4 threads" in note]
    assert [each.text() for each in elements(html, "[data-note]")] == list(notes)
    assert text(html, ".lede [data-reason=failed]") == "30 failed"
    assert states(html, "#runs", "state", "listed", "left-out") == [("newest", "52", "20")]
    assert len(data(html, "run")) == 25 + 20 + 3 + 3 + 1
    assert text(html, "[data-newest]") == "20"
    drawn = chart_data(html)
    assert [len(p["runs"]) for p in drawn["points"] if (p["metric"], p["side"], p["level"]) == (TPS, 0, "4")] == [25]
    newest = [run.pk for run in sides[0].runs.order_by("-started_at")[:20]]
    assert [run["run"] for run in seconds_data(html)["runs"] if run["side"] == 0] == newest[::-1]


def test_of_very_many_runs_the_newest_are_listed_and_a_link_leads_to_all(
    client: Client, workload: Workload, sides: tuple[System, System], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listed, "LISTED_RUNS", 4)
    html = page(client, address(workload, tab="runs"))
    assert len(data(html, "run")) == 4
    assert states(html, "#runs", "state", "listed") == [("newest", "4")]
    assert " ".join(text(html, "#runs-title").split()) == "The newest 4 of 10 runs, by load and side"
    assert elements(html, f"a[href='/runs/?system={sides[0].slug}&system={sides[1].slug}&workload={workload.pk}']")
    named = ",".join(str(run.pk) for side in sides for run in side.runs.all())
    chosen = page(client, f"{address(workload, tab='runs')}&runs={named}")
    assert len(data(chosen, "run")) == len(named.split(","))


def test_only_few_runs_are_marked_few(client: Client, workload: Workload, sides: tuple[System, System]) -> None:
    def marked() -> list[str | None]:
        html = page(client, address(workload, tab="results"))
        return [row for (row,) in states(html, "#results tr[data-level='4']:has(.tag)", "side")]

    for number in range(20):
        level = {"load_level": a_load_level(4), "started_at": START + timedelta(hours=1 + number)}
        a_measured_run({TPS: 1000.0 + number % 4}, system=sides[0], **level)
    assert marked() == ["b"]
    for number in range(20):
        level = {"load_level": a_load_level(4), "started_at": START + timedelta(hours=1 + number)}
        a_measured_run({TPS: 1300.0 + number % 4}, system=sides[1], **level)
    assert marked() == []


def test_another_baseline_gives_the_reciprocal(client: Client, workload: Workload, sides: object) -> None:
    html = page(client, address(workload, tab="differences"))
    link = element(html, ".compare-sides__side a.small").attributes["href"] or ""
    there = {p["level"]: p["ratio"] for p in chart_data(html)["points"] if p["metric"] == TPS and p["side"] == 1}
    swapped = page(client, link)
    back = {p["level"]: p["ratio"] for p in chart_data(swapped)["points"] if p["metric"] == TPS and p["side"] == 1}
    assert back == {level: pytest.approx(1 / ratio) for level, ratio in there.items()}


def test_without_sides_the_page_lists_what_can_be_opened(client: Client, workload: Workload, sides: object) -> None:
    html = page(client, "/compare/")
    assert elements(html, f"a[href='/compare/?side=a&side=b&workload={workload.pk}']")
    one = page(client, "/compare/?side=a&side=&side=")
    assert elements(one, "option[value=a][selected]")


def test_an_empty_warehouse_says_what_would_fill_it(client: Client) -> None:
    assert elements(page(client, "/compare/"), "[data-state=empty] #ready")


def test_a_missing_workload_is_the_one_that_the_sides_share(client: Client, workload: Workload, sides: object) -> None:
    response = client.get("/compare/?side=a&side=b&side=&side=&workload=&campaign=")
    assert response.status_code == 302
    assert response["Location"] == address(workload)


def test_chosen_runs_say_their_sides_themselves(
    client: Client, workload: Workload, sides: tuple[System, System]
) -> None:
    chosen = [run.pk for system in sides for run in system.runs.filter(load_level__threads=4).order_by("id")]
    response = client.get(f"/compare/?runs={','.join(map(str, chosen))}")
    assert response.status_code == 302
    html = page(client, response["Location"])
    assert text(html, "[data-counted][data-state=chosen]") == "6"
    assert {point["level"] for point in chart_data(html)["points"]} == {"4"}


@pytest.mark.parametrize(
    ("query", "status", "field", "named"),
    [
        ("side=a&side=nobody&workload={workload}", 404, "side", "nobody"),
        ("side=a&side=b&workload=999999", 404, "workload", "999999"),
        ("side=a&side=b&workload=x", 400, "workload", "workload"),
        ("side=a&side=b&workload=99999999999999999999", 400, "workload", "workload"),
        ("side=a&side=b&workload={workload}&level=77", 404, "level", "77"),
        ("side=a&side=b&workload={workload}&series=diagonal", 400, "series", "series"),
        ("side=a&side=b&workload={workload}&clock=foo", 400, "clock", "clock"),
        ("side=a&side=b&workload={workload}&variables=foo", 400, "variables", "variables"),
        ("side=a&side=b&workload={workload}&tab=everything", 400, "tab", "scalability"),
        ("side=a&side=b&workload={workload}&from=9&to=1", 400, "from", "to"),
        ("side=a&side=b&workload={workload}&to=9", 400, "from", "seconds"),
        ("side=a&side=b&workload={workload}&campaign=999", 404, "campaign", "999"),
        ("side=a&side=b&workload={workload}&runs=999999", 404, "", "oltp_write_only"),
        ("side=a&side=b&side=c&side=d&side=e&workload={workload}", 400, "side", "2 to 4"),
        ("side=a&side=a&workload={workload}", 400, "side", "once"),
        ("side=a%00&side=b&workload={workload}", 400, "side", "characters"),
        ("side=nope", 404, "side", "side: there is no system 'nope' (choose one of the catalog's systems)"),
        ("side=nope&side=a", 404, "side", "there is no system 'nope'"),
        ("colour=blue", 400, "colour", "colour: unknown parameter; known here: side"),
        ("side=a&side=idle", 404, "side", "same workload"),
        ("runs=999999", 400, "runs", "0 systems"),
    ],
)
def test_an_address_that_shows_nothing_says_why(
    client: Client, workload: Workload, sides: object, query: str, status: int, field: str, named: str
) -> None:
    a_system("idle")
    html = page(client, f"/compare/?{query.format(workload=workload.pk)}", status)
    assert states(html, ".problem [data-field]", "field") == [(field,)]
    assert named in text(html, ".problem [data-field]")
    assert elements(html, "[name=side]")


def test_a_workload_that_neither_side_ran_is_not_an_error_page(client: Client, sides: object) -> None:
    other = a_workload("oltp_read_only")
    assert other.name in text(page(client, address(other), 404), ".problem [data-field='']")


def test_an_address_survives_being_read_and_written() -> None:
    full = CompareAddress(("a", "b"), 3, 4, (5, 6), "4@100", True, ("hardware",), tab="limits")
    full = replace(full, see=("cpu.busy", "disk.busy"), zoom=("1.5", "9"))
    assert CompareAddress.read(QueryDict(full.url().partition("?")[2])) == full


def test_more_levels_and_runs_cost_no_more_queries(
    client: Client, workload: Workload, sides: tuple[System, System]
) -> None:
    def count() -> int:
        with CaptureQueriesContext(connection) as context:
            page(client, address(workload))
        return len(context)

    few = count()
    for threads in (1, 2, 16, 32):
        for system in sides:
            for _ in range(3):
                a_measured_run({TPS: 5.0, P95: 1.0}, system=system, load_level=a_load_level(threads))
    assert count() == few


def test_the_api_gives_the_same_numbers(client: Client, workload: Workload, sides: object) -> None:
    points = chart_data(page(client, address(workload)))["points"]
    response = client.get(f"/api/v1/comparisons/{address(workload).removeprefix('/compare/')}")
    assert response.status_code == 200
    body = response.json()
    levels = {level["id"]: str(level["threads"]) for level in body["levels"]}
    cells = {(cell["metric"], cell["side"], levels[cell["level"]]): cell for cell in body["cells"]}
    assert len(points) == 8
    for point in points:
        cell = cells[point["metric"], "ab"[point["side"]], point["level"]]
        assert cell["summary"]["value"] == point["value"]
        assert cell["replicates"] == point["runs"]
        if point["side"]:
            assert [cell["ratio"][name] for name in ("value", "low", "high")] == [
                point["ratio"],
                point["low"],
                point["high"],
            ]
            assert cell["words"] == point["words"]


def test_the_api_takes_any_slug_that_a_system_may_have(client: Client, workload: Workload) -> None:
    for slug in ("mariadb-10.11", "mariadb-11.4"):
        a_measured_run({TPS: 1.0}, system=a_system(slug), workload=workload)
    response = client.get(f"/api/v1/comparisons/?side=mariadb-10.11&side=mariadb-11.4&workload={workload.pk}")
    assert [side["slug"] for side in response.json()["sides"]] == ["mariadb-10.11", "mariadb-11.4"]


@pytest.mark.parametrize(
    ("query", "field"),
    [("side=a&workload=1", "side"), ("side=a&side=b", "workload"), ("side=a&side=nobody&workload={workload}", "side")],
)
def test_the_api_names_the_parameter_at_fault(
    client: Client, workload: Workload, sides: object, query: str, field: str
) -> None:
    response = client.get(f"/api/v1/comparisons/?{query.format(workload=workload.pk)}")
    assert response.status_code in (400, 422)
    assert response["Content-Type"] == "application/problem+json"
    assert [error["field"] for error in response.json()["errors"]] == [field]


def test_an_export_says_what_failed_checks_make_of_the_verdicts(
    workload: Workload, sides: tuple[System, System]
) -> None:
    def compared() -> Comparison:
        return comparison_compare.compare(sides=["a", "b"], workload_id=workload.pk)

    assert limits(compared()) == ""
    Run.objects.filter(system=sides[1], load_level=a_load_level(4)).update(failed_checks=["generator"])
    (line,) = limits(compared()).split("\n")[:-2]
    assert line.startswith("- Beta at 4 threads: Lower bound: ")
    assert line.endswith("(3 of 6 runs)")


def test_articles_never_become_part_of_the_numbers(
    client: Client, workload: Workload, sides: tuple[System, System]
) -> None:
    call_command("seed_catalog")
    before = chart_data(page(client, address(workload)))["points"]
    call_command("load_published")
    for system, platform in zip(sides, ("aurora", "pxc"), strict=True):
        release = Release.objects.create(platform=Platform.objects.get(slug=platform), version="1", version_key=[1])
        System.objects.filter(pk=system.pk).update(release=release)
    assert chart_data(page(client, address(workload)))["points"] == before
