"""At a fixed rate throughput is the rate: it is held or not, and neither better nor worse."""

import pytest
from django.test import Client

from apps.catalog.models import System, Workload
from apps.comparison.agreement.claims import tool_agreement
from apps.comparison.tables.matrix import compare_systems
from apps.comparison.values import Cell
from apps.runs.models import Run
from apps.web.matrix.sheet import measured_sheet
from tests.comparison.compared import P95, TPS, A, B, compare, measure
from tests.support.builders import START, a_load_level, a_measured_run
from tests.support.pages import elements, text

pytestmark = pytest.mark.django_db
RATE = 100.0
# Arrivals of a minute at 100/s vary by 1.3 %: these differ by more than their own spread.
HELD, LESS = (101.0, 101.2, 101.1, 101.3, 100.9), (98.9, 99.1, 99.0, 98.8, 99.2)


def at_rate(system: System, values: tuple[float, ...], latency: float = 5.0, **fields: object) -> list[Run]:
    return [
        a_measured_run(
            {TPS: value, P95: latency + number / 100},
            system=system,
            load_level=a_load_level(8, RATE),
            repetition=number + 1,
            started_at=START.replace(minute=number),
            **fields,
        )
        for number, value in enumerate(values)
    ]


def cell(workload: Workload, metric: str = TPS) -> Cell:
    comparison = compare(workload)
    return comparison.cell(side="b", level=comparison.levels[-1].id, metric=metric)


def test_arrivals_that_differ_by_chance_are_no_verdict(workload: Workload, a: System, b: System) -> None:
    at_rate(a, HELD), at_rate(b, LESS, latency=9.0)
    found = cell(workload)
    assert found.ratio is not None
    assert (found.words, found.ratio.value, found.more) == ("rate held", None, ())
    assert found.ratio.reason == "99\u00a0% of 100/s (baseline 101\u00a0%)"
    assert cell(workload, P95).words == "worse"


def test_a_rate_that_a_run_does_not_reach_is_not_held(workload: Workload, a: System, b: System) -> None:
    at_rate(a, HELD), at_rate(b, (100.0, 70.0, 100.0))
    found = cell(workload)
    assert found.ratio is not None
    assert found.words == "rate not held"
    assert found.ratio.reason == "90\u00a0% of 100/s in 1 of 3 runs (baseline 101\u00a0%)"


def test_a_rate_is_not_held_by_runs_of_unknown_length_that_did_half(workload: Workload, a: System, b: System) -> None:
    at_rate(a, HELD, duration=None), at_rate(b, (50.0, 51.0, 50.5), duration=None)
    assert cell(workload).words == "rate not held"


def test_a_baseline_that_does_not_hold_the_rate_is_named(workload: Workload, a: System, b: System) -> None:
    at_rate(a, (70.0, 71.0, 72.0)), at_rate(b, HELD)
    found = cell(workload)
    assert found.ratio is not None
    assert (found.words, found.ratio.reason) == ("rate held", "101\u00a0% of 100/s (baseline not held: 71\u00a0%)")


def test_one_run_each_says_whether_the_rate_was_held(workload: Workload, a: System, b: System) -> None:
    at_rate(a, HELD[:1]), at_rate(b, LESS[:1])
    assert (cell(workload).words, cell(workload).more) == ("rate held", ())


def test_the_matrix_counts_a_rate_held_as_no_verdict(workload: Workload, a: System, b: System) -> None:
    at_rate(a, HELD), at_rate(b, LESS), measure(a, A), measure(b, B)
    sheet = measured_sheet(compare_systems(sides=["a", "b"], metrics=[TPS]), address=lambda *_: "")
    assert sheet.heads[1].counts == (("better", "▲", 1),)
    ((_, answer),) = sheet.answers
    assert answer.startswith("better in 1 of 2")
    assert answer.endswith("rate held in 1")


def test_levels_at_a_rate_do_not_speak_about_agreement(workload: Workload, a: System, b: System) -> None:
    at_rate(a, HELD), at_rate(b, LESS), measure(a, A), measure(b, B)
    found = tool_agreement(["a", "b"])
    assert found is not None
    assert [claim.says for claim in found.claims] == ["better"]


def test_compare_says_the_rate_was_held(client: Client, workload: Workload, a: System, b: System) -> None:
    at_rate(a, HELD), at_rate(b, LESS)
    page = client.get(f"/compare/?side=a&side=b&workload={workload.pk}").content.decode()
    said = f"[data-answer=b] [data-metric='{TPS}']"
    assert text(page, said) == "throughput rate held, 99 % of 100/s (baseline 101 %)."
    assert elements(page, f"{said} .verdict--plain")
