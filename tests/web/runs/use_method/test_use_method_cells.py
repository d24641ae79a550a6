"""Cells of a USE panel as pages show them."""

import numpy as np
from django.template import Context, Template

from apps.use_method.panels import cells
from apps.use_method.values import Aspect, Panel, Reading, UseLevel
from apps.web.components import sparklines
from apps.web.runs.use_method import cells as use_method_cells
from tests.support.pages import element, elements, text


def of(*readings: Reading, names: tuple[str, ...] = ("g1", "g2", "g3")) -> cells.ResourceCells:
    [row] = cells.rows(Panel((0.0, 60.0), tuple((name, "reader") for name in names), readings))
    return row


def busy(node: str, level: UseLevel, value: float | None = 98.0, **more: object) -> Reading:
    return Reading("cpu.busy", node, level, value, "at least 95 % for 12 s", "derived.cpu.busy", **more)  # type: ignore[arg-type]


def html(row: cells.ResourceCells) -> str:
    shown = use_method_cells.shown(row.whole, run="/runs/7/", measured=(0.0, 60.0), several=True)
    cells_html = Template('{% include "web/runs/use_method/cells.html" %}').render(Context({"cells": shown}))
    return f"<table><tr>{cells_html}</tr></table>"


def test_a_cell_tells_value_unit_level_and_where_and_opens_the_series_at_that_time() -> None:
    page = html(of(busy("g1", UseLevel.OK, 12.0), busy("g2", UseLevel.SATURATED, spans=((30.0, 42.0),))))
    link = element(page, "[data-use-level=saturated] .use-cell__value")
    assert link.text().startswith("98.0\xa0%")
    assert element(page, ".level--saturated").text() == UseLevel.SATURATED.word
    assert text(page, "[data-use-level=saturated] [data-where]") == "busy, g2"
    assert link.attributes["href"] == "/runs/7/?use=cpu.busy@g2&from=25&to=47#use"


def test_what_is_not_monitored_is_shown_with_its_reason_and_no_number() -> None:
    reading = Reading("cpu.busy", "g1", UseLevel.NOT_OBSERVABLE, None, "AWS shows its guests no counters")
    page = html(of(reading))
    assert element(page, ".level--not_observable").text() == UseLevel.NOT_OBSERVABLE.word
    assert text(page, "[data-use-level=not_observable] [data-reason]") == f"busy: {reading.words}"
    assert not elements(page, ".use-cell__value")


def test_an_aspect_that_no_indicator_looks_at_is_said_so() -> None:
    row = cells.ResourceCells(of(busy("g1", UseLevel.OK)).resource, {}, {})
    assert len(elements(html(row), "[data-state=no-indicator]")) == 3


def test_nodes_that_are_equally_bad_are_named_together() -> None:
    def named(*levels: UseLevel) -> str:
        row = of(*(busy(f"g{place}", level) for place, level in enumerate(levels, start=1)))
        return use_method_cells.where(row.whole[Aspect.UTILIZATION])

    assert named(UseLevel.SATURATED, UseLevel.OK, UseLevel.SATURATED) == "g1 and g3"
    assert named(UseLevel.WATCH, UseLevel.WATCH, UseLevel.WATCH) == "all 3 nodes"
    assert named(UseLevel.WATCH, UseLevel.WATCH) == "g1 and g2"


def test_of_nodes_whose_values_differ_the_one_that_is_shown_is_named() -> None:
    def named(level: UseLevel) -> str:
        return use_method_cells.where(of(busy("g1", level, 71.0), busy("g2", level, 93.0)).whole[Aspect.UTILIZATION])

    assert named(UseLevel.WATCH) == "g1 and g2, most on g2"
    assert named(UseLevel.OK) == "most on g2"


def test_a_stretch_that_is_most_of_the_phase_opens_the_whole_clock() -> None:
    assert use_method_cells.stretch(((0.0, 59.0),), (0.0, 60.0)) is None
    assert use_method_cells.stretch(((30.0, 70.0),), (0.0, 120.0)) == (20.0, 80.0)


def test_a_small_line_keeps_its_extremes_breaks_where_nothing_was_observed_and_marks_what_stands_out() -> None:
    values = np.full(600, 10.0)
    values[317] = 98.0
    values[400:410] = np.nan
    spark = sparklines.draw(np.arange(600.0), values, between=(0.0, 600.0), unit="%", spans=[(300.0, 330.0)])
    assert spark is not None
    assert spark.words == "from 10.0 % to 98.0 %"
    assert "L52.8 0" in spark.path
    assert spark.path.count("M") == 2
    assert spark.bands == (("50", "5"),)
    assert len(spark.path) < 1000


def test_nothing_observed_draws_no_line() -> None:
    nothing = np.full(5, np.nan)
    assert sparklines.draw(np.arange(5.0), nothing, between=(0.0, 5.0), unit="%") is None
