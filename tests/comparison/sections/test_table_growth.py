"""Rows per second against rows inserted, and time to finish the same rows: on series and on whole runs."""

import json
from collections.abc import Callable

import numpy as np
import pytest
from django.test import Client

from apps.catalog.models import System, Workload
from apps.comparison import compare
from apps.comparison.sections.table_growth import growing_of
from apps.comparison.sections.time_to_finish import finishing_of
from apps.comparison.stats.measures import growth_rate
from apps.comparison.values import Comparison
from apps.runs import seal
from apps.runs.ingest import accept
from apps.runs.models import Run
from tests.runs.uploads import an_open_run, an_upload
from tests.support.builders import a_load_level, a_metric, a_system
from tests.support.pages import elements, page_data
from workers.protocol import wire

SECONDS = 30


def a_workload(rows_limit: int = 0) -> Workload:
    return Workload.objects.create(
        tool="iibench",
        name="iiBench",
        parameters={"secondary_indexes": 3, "batch": 100, "data_length": 10, "rows_limit": rows_limit},
        content_hash=f"{rows_limit:064x}",
        primary_metric=a_metric("client.rows", unit="rows/s", direction="higher"),
    )


def an_insert_run(system: System, workload: Workload, repetition: int, rate: Callable[[int], int]) -> Run:
    """Inserts `rate(rows so far)` rows a second, until the workload's limit or for SECONDS."""
    limit = workload.parameters["rows_limit"] or 10**12
    lines, total = ['{"kind":"begin","tool":"iibench"}'], 0
    while total < limit and len(lines) <= SECONDS:
        rows = min(rate(total) + repetition, limit - total)
        total += rows
        counts = {"transactions": 1, "rows": rows, "errors": 0}
        interval = {"kind": "interval", "t": float(len(lines)), "seconds": 1.0, "threads": 4, "counts": counts}
        lines.append(json.dumps(interval | {"values": {"rows_inserted": total}}))
    ended = float(len(lines) - 1)
    counts = {"transactions": len(lines) - 1, "rows": total, "errors": 0}
    lines.append(
        json.dumps({"kind": "total", "from": 0.0, "to": ended, "counts": counts, "values": {"rows_inserted": total}})
    )
    lines.append('{"kind":"end"}')
    output = ("\n".join(lines) + "\n").encode()
    run = an_open_run(
        system=system, workload=workload, repetition=repetition, command="iibench", duration=float(SECONDS)
    )
    upload = an_upload(run=run, output=None, lines=[(t + 0.25, line) for t, line in enumerate(lines)])
    artifact = wire.ArtifactMessage(name="iibench.jsonl", sha256=wire.checksum(output), size=len(output))
    accept.accept_artifact(run=run, name=artifact.name, sha256=artifact.sha256, content=output)
    upload.send(artifacts=[artifact])
    assert seal.seal(run_id=run.pk)
    run.refresh_from_db()
    assert (run.outcome, run.reason) == ("succeeded", "")
    return run


@pytest.fixture
def systems(db: None) -> tuple[System, System]:
    return a_system("steady"), a_system("slowing")


def steady(_rows: int) -> int:
    return 1000


def slowing(rows: int) -> int:
    return 2000 if rows < 10_000 else 500


def compared(workload: Workload) -> Comparison:
    return compare.compare(sides=["steady", "slowing"], workload_id=workload.pk)


def load_levels_part(client: Client, workload: Workload) -> str:
    response = client.get(f"/compare/part/ladder/?side=steady&side=slowing&workload={workload.pk}")
    return " ".join(response.content.decode().split())


def test_the_same_rows_are_timed_and_their_last_tenth_judged(systems: tuple[System, System], client: Client) -> None:
    workload = a_workload()
    for repetition in (1, 2, 3):
        an_insert_run(systems[0], workload, repetition, steady)
        an_insert_run(systems[1], workload, repetition, slowing)
    comparison = compared(workload)
    found = growing_of(comparison, comparison.levels[0])
    assert found is not None
    # 10,000 rows in 5 s, then 500 rows/s for 25 s.
    assert found.shared == pytest.approx(22_500, rel=0.01)
    cells = {(cell.side, cell.metric): cell for cell in found.cells}
    time, last = cells["slowing", "growth.time"], cells["slowing", "growth.last"]
    assert time.summary is not None
    assert time.summary.value == pytest.approx(30, rel=0.01)
    assert time.ratio is not None
    assert time.ratio.value == pytest.approx(30 / 22.5, rel=0.01)
    assert last.ratio is not None
    assert last.ratio.value == pytest.approx(0.5, rel=0.01)
    assert (time.words, last.words) == ("worse", "worse")
    stretches = next(run for run in found.runs if run.side == "slowing").stretches
    assert [round(each.rate, -1) for each in (stretches[0], stretches[-1])] == [2000, 500]
    assert all(each.slowest <= each.rate <= each.fastest for each in stretches)
    html = load_levels_part(client, workload)
    assert "22,500</span> rows, which every run inserted" in html
    drawn = page_data(html, "growth-data")
    query = f"side=steady&side=slowing&workload={workload.pk}&include=growth"
    (answer,) = client.get(f"/api/v1/comparisons/?{query}").json()["growth"]
    by_run = {run["run"]: run["stretches"] for run in answer["runs"]}
    assert {run["run"]: run["stretches"] for run in drawn["runs"]} == by_run
    assert [band["side"] for band in drawn["bands"]] == [0, 1]


def test_runs_that_end_with_the_same_rows_are_compared_by_their_time(
    systems: tuple[System, System], client: Client
) -> None:
    workload = a_workload(rows_limit=15_000)
    for repetition in (1, 2, 3):
        an_insert_run(systems[0], workload, repetition, steady)
        an_insert_run(systems[1], workload, repetition, lambda rows: 1500 + rows // 1000)
    # This one did not get there in its time.
    an_insert_run(systems[0], workload, 4, lambda _: 100)
    found = finishing_of(compared(workload))
    assert found is not None
    assert (found.amount, found.unfinished) == (15_000, 1)
    (cell,) = [cell for cell in found.cells if cell.side == "slowing"]
    assert (cell.words, [each.value for each in cell.replicates]) == ("too few repetitions", [10.0, 10.0, 10.0])
    html = load_levels_part(client, workload)
    assert "Time to finish the same work: 15,000 rows" in html
    assert "1 run ended before the work was done" in html
    # At another load one side did not finish, and the other was not measured.
    an_insert_run(systems[0], workload, 5, lambda _: 100)
    Run.objects.filter(repetition=5).update(load_level=a_load_level(16))
    rows = elements(load_levels_part(client, workload), "tr[data-level='16']:has([data-metric='finish.time'])")
    shown = {row.attributes["data-side"]: row.css("[data-metric='finish.time']")[0].text(strip=True) for row in rows}
    assert shown == {"steady": "not finished", "slowing": "no runs"}


def test_runs_for_a_time_have_no_time_to_finish(systems: tuple[System, System]) -> None:
    workload = a_workload()
    for system in systems:
        an_insert_run(system, workload, 1, steady)
    assert finishing_of(compared(workload)) is None


def test_a_gap_in_the_seconds_counts_the_rows_around_it() -> None:
    at = np.arange(1.0, 11.0)
    rates = np.full(10, 100.0)
    rates[4] = np.nan
    found = growth_rate.inserted(at, rates)
    assert found is not None
    assert found.total == pytest.approx(1000)
    assert found.time_to(450) == pytest.approx(4.5)


def test_the_time_to_insert_rows_ends_when_they_are_reached() -> None:
    """A stall within them counts, what follows the last row does not."""
    found = growth_rate.inserted(np.arange(1.0, 9.0), np.array([100.0, 100.0, 0.0, 0.0, 100.0, 0.0, 0.0, 0.0]))
    assert found is not None
    assert [found.time_to(rows) for rows in (0, 50, 200, 250, 300, 301)] == pytest.approx([0, 0.5, 2, 4.5, 5, 5])
    assert growth_rate.last_rate(found, 300) == pytest.approx(100)
    assert growth_rate.stretches(found, 150)[-1].rate == pytest.approx(150 / 3.5)


def test_an_interval_counts_for_as_long_as_it_was() -> None:
    found = growth_rate.inserted(np.array([1.0, 2.0, 4.0, 5.0]), np.array([100.0, 100.0, 50.0, 100.0]))
    assert found is not None
    assert found.total == pytest.approx(400)
    assert growth_rate.last_rate(found, 400) == pytest.approx(100)


@pytest.mark.parametrize("rates", [[np.nan, np.nan], [0.0, 0.0], [5.0]])
def test_where_nothing_was_inserted_nothing_grows(rates: list[float]) -> None:
    assert growth_rate.inserted(np.arange(1.0, len(rates) + 1), np.array(rates)) is None


def test_a_stretch_keeps_the_slowest_and_fastest_interval_that_touch_it() -> None:
    found = growth_rate.inserted(np.arange(1.0, 7.0), np.array([100.0, 20.0, 300.0, 100.0, 100.0, 180.0]))
    assert found is not None
    first, second = growth_rate.stretches(found, 400)
    assert (first.slowest, first.fastest) == (20, 300)
    assert (second.slowest, second.fastest) == (100, 300)
    assert first.rate == pytest.approx(400 / (2 + 280 / 300))


def test_of_several_load_levels_the_chosen_one_is_shown(systems: tuple[System, System], client: Client) -> None:
    workload = a_workload()
    for threads in (4, 8):
        for system in systems:
            run = an_insert_run(system, workload, 1, steady)
            Run.objects.filter(pk=run.pk).update(load_level=a_load_level(threads))
    for threads in (4, 8):
        address = f"/compare/part/ladder/?side=steady&side=slowing&workload={workload.pk}&level={threads}"
        response = client.get(address)
        assert response.status_code == 200
        assert "rows, which every run inserted" in " ".join(response.content.decode().split())
