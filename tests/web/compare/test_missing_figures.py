"""Sides whose runs lack a figure, beside sides without runs."""

import pytest
from django.test import Client

from apps.catalog.models import System, Workload
from apps.comparison import compare as comparison_compare
from tests.support.builders import a_load_level, a_measured_run, a_system
from tests.support.pages import element, states, text
from tests.web.compare.compared import ERRORS, P95, TPS, address, page

pytestmark = pytest.mark.django_db


@pytest.fixture
def silent(sides: object) -> System:
    """Its runs at 4 threads print a latency and no throughput."""
    system = a_system("c", name="Gamma")
    for value in (10.0, 10.1, 10.2):
        a_measured_run({P95: value}, system=system, load_level=a_load_level(4))
    return system


def test_a_figure_that_no_run_of_a_side_has_is_not_measured(workload: Workload, silent: System) -> None:
    comparison = comparison_compare.compare(sides=["a", "c"], workload_id=workload.pk)
    words = {level.threads: comparison.cell(side="c", level=level.id, metric=TPS).words for level in comparison.levels}
    assert words == {4: "not measured", 8: "no runs"}


def test_the_answer_names_the_figure_that_is_not_measured_and_goes_on_with_others(
    client: Client, workload: Workload, silent: System
) -> None:
    html = page(client, address(workload, sides=("a", "c"), level="4"))
    assert states(html, "[data-answer=c] [data-verdict]", "metric", "verdict") == [
        (TPS, "not measured"),
        (P95, "better"),
    ]
    assert "throughput not measured at 4 threads; p95 better" in text(html, "[data-answer=c] .compare-verdicts__text")
    for level, words in (("4", "not measured"), ("8", "no runs")):
        row = f"#results tr[data-side=c][data-level='{level}']"
        assert text(html, f"{row} td[data-metric='{TPS}']") == words


def test_a_baseline_without_any_figure_shown_is_not_said_to_have_no_runs(
    client: Client, workload: Workload, sides: object
) -> None:
    a_measured_run({ERRORS: 0.0}, system=a_system("d", name="Delta"), load_level=a_load_level(4))
    html = page(client, address(workload, sides=("d", "a"), level="4"))
    assert "baseline: not measured at 4 threads." in text(html, "[data-baseline=d]")
    html = page(client, address(workload, sides=("d", "a"), level="8"))
    assert element(html, "[data-baseline=d]").text().endswith("no runs at 8 threads.")
