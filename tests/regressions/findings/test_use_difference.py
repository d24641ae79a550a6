"""What two sides' servers did differently is listed, the most telling first."""

import pytest

from apps.regressions.findings.evidence import use_difference
from apps.use_method.values import Panel, Reading, UseLevel

BEFORE, AFTER = (11, 12, 13), (21, 22, 23)


def panel(*readings: Reading, node: str = "db1", role: str = "writer") -> Panel:
    return Panel((0.0, 60.0), ((node, role),), readings)


def reading(indicator: str, value: float | None, level: UseLevel = UseLevel.OK, node: str = "db1") -> Reading:
    return Reading(indicator, node, level, value, "")


def panels(
    runs: tuple[int, ...], indicator: str, values: tuple[float, ...], level: UseLevel = UseLevel.OK
) -> dict[int, Panel]:
    return {run: panel(reading(indicator, value, level)) for run, value in zip(runs, values, strict=True)}


def test_waits_that_came_are_shown_per_second_whatever_the_runs_took() -> None:
    before = panels(BEFORE, "redo_log.waits", (0.0, 0.0, 0.0))
    after = panels(AFTER, "redo_log.waits", (20_400.0, 20_100.0, 21_000.0), UseLevel.SATURATED)
    found = use_difference.compare(before, after)
    (difference,) = found.differences
    assert difference.span == "0 → 340\u00a0waits/s"
    assert difference.level_words == "ok → saturated"
    assert difference.after.run == 21
    assert found.pressed == {"redo_log"}


def test_values_that_overlap_are_no_difference() -> None:
    found = use_difference.compare(
        panels(BEFORE, "cpu.busy", (40.0, 45.0, 50.0)), panels(AFTER, "cpu.busy", (49.0, 60.0, 70.0))
    )
    assert found.differences == ()
    assert found.nothing == "no resource stands out among 1 common indicator"


def test_values_are_distinguished_by_how_much_the_repetitions_scatter() -> None:
    found = use_difference.compare(
        panels(BEFORE, "cpu.busy", (40.0, 45.0, 50.0)), panels(AFTER, "cpu.busy", (55.0, 60.0, 65.0))
    )
    assert found.differences == ()
    found = use_difference.compare(
        panels(BEFORE, "cpu.busy", (40.0, 41.0, 42.0)), panels(AFTER, "cpu.busy", (55.0, 56.0, 57.0))
    )
    assert [each.span for each in found.differences] == ["41.0 → 56.0\u00a0%"]


def test_next_to_nothing_against_nothing_is_no_difference() -> None:
    found = use_difference.compare(
        panels(BEFORE, "redo_log.waits", (0.0, 0.0, 0.0)), panels(AFTER, "redo_log.waits", (1.0, 1.0, 1.0))
    )
    assert found.differences == ()


def test_what_grew_comes_before_what_fell_and_levels_before_values() -> None:
    def side(runs: tuple[int, ...], *levels: UseLevel, queue: float) -> dict[int, Panel]:
        keys = ("disk.pressure", "memory.pressure")
        own = [reading(key, 10.0, level) for key, level in zip(keys, levels, strict=True)]
        return {run: panel(*own, reading("disk.queue", queue)) for run in runs}

    found = use_difference.compare(
        side(BEFORE, UseLevel.OK, UseLevel.SATURATED, queue=1.0),
        side(AFTER, UseLevel.SATURATED, UseLevel.OK, queue=9.0),
    )
    assert [each.indicator.key for each in found.differences] == ["disk.pressure", "disk.queue", "memory.pressure"]


@pytest.mark.parametrize("key", ["disk.await_read", "disk.await_write"])
def test_a_mean_is_shown_as_it_is_however_long_it_was_measured(key: str) -> None:
    found = use_difference.compare(panels(BEFORE, key, (1.0, 1.1, 0.9)), panels(AFTER, key, (6.0, 6.1, 5.9)))
    (difference,) = found.differences
    assert difference.span == "1.00 → 6.00\u00a0ms"


def test_a_level_that_one_run_more_reaches_is_no_difference() -> None:
    def side(first: int, saturated: int) -> dict[int, Panel]:
        levels = [UseLevel.SATURATED] * saturated + [UseLevel.OK] * (5 - saturated)
        return {first + place: panel(reading("disk.pressure", 50.0, level)) for place, level in enumerate(levels)}

    assert use_difference.compare(side(1, 2), side(11, 3)).differences == ()
    (difference,) = use_difference.compare(side(1, 0), side(11, 4)).differences
    assert difference.level_words == "ok → saturated"


def test_nodes_of_other_names_are_matched_by_their_role() -> None:
    before = {1: panel(reading("cpu.busy", 20.0, node="old"), node="old")}
    after = {2: panel(reading("cpu.busy", 80.0, UseLevel.WATCH, node="new"), node="new")}
    (difference,) = use_difference.compare(before, after).differences
    assert (difference.where, difference.span) == ("writer", "20.0 → 80.0\u00a0%")


def test_nodes_that_one_side_lacks_are_named() -> None:
    before = {1: panel(reading("cpu.busy", 20.0))}
    after = {2: Panel((0.0, 60.0), (("db1", "writer"), ("px", "proxy")), (reading("cpu.busy", 20.0),))}
    assert use_difference.compare(before, after).one_sided == ("px",)


def test_what_one_side_could_not_see_is_no_difference() -> None:
    found = use_difference.compare(
        {1: panel(reading("cpu.busy", None, UseLevel.NOT_OBSERVABLE))},
        {2: panel(reading("cpu.busy", 99.0, UseLevel.SATURATED))},
    )
    assert found.differences == ()
    assert "no common indicator" in found.nothing


def test_runs_without_a_panel_are_said() -> None:
    assert "neither side's runs have a USE panel" in use_difference.compare({}, {}).nothing
    assert "the later runs have no USE panel" in use_difference.compare({1: panel()}, {}).nothing


def test_counted_errors_are_followed_by_their_numbers() -> None:
    before = {run: panel(Reading("errors.conflict", "db1", UseLevel.OK, 0.0, "none reported")) for run in BEFORE}
    words = "1,380 × error 1020, first at 0.1 s: the row changed since it was read"
    after = {run: panel(Reading("errors.conflict", "db1", UseLevel.ERROR, 1380.0, words)) for run in AFTER}
    (difference,) = use_difference.compare(before, after).differences
    assert f"{difference.span}{difference.numbers}" == "0 → 23.0\u00a0errors/s, error 1020"
