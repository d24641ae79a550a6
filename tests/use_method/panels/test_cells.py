"""How a panel is laid out: what the whole shows of its nodes."""

from apps.use_method.panels import cells
from apps.use_method.values import Aspect, Panel, Reading, UseLevel


def of(**levels: UseLevel) -> Panel:
    """The CPU of nodes by name."""
    readings = [
        Reading("cpu.busy", node, level, float(10 + place), "words")
        for place, (node, level) in enumerate(levels.items())
    ]
    return Panel((0.0, 60.0), tuple((node, "reader") for node in levels), tuple(readings))


def test_the_whole_is_as_bad_as_its_worst_node_and_names_it() -> None:
    [row] = cells.rows(of(g1=UseLevel.OK, g2=UseLevel.SATURATED, g3=UseLevel.NOT_OBSERVABLE))
    whole = row.whole[Aspect.UTILIZATION]
    assert (whole.level, whole.nodes) == (UseLevel.SATURATED, ["g2"])
    assert row.nodes["g1"][Aspect.UTILIZATION].level is UseLevel.OK


def test_what_nobody_could_see_hides_no_node_that_was_seen() -> None:
    [row] = cells.rows(of(g1=UseLevel.NOT_OBSERVABLE, g2=UseLevel.OK))
    assert row.whole[Aspect.UTILIZATION].level is UseLevel.OK


def test_of_nodes_that_are_equally_bad_the_one_with_the_highest_value_is_shown() -> None:
    [row] = cells.rows(of(g1=UseLevel.WATCH, g2=UseLevel.WATCH))
    assert row.whole[Aspect.UTILIZATION].shown.reading.node == "g2"


def test_a_reading_of_an_indicator_that_is_gone_is_left_out() -> None:
    panel = Panel(None, (("g1", "reader"),), (Reading("gone.long_ago", "g1", UseLevel.OK, 1.0, ""),))
    assert cells.rows(panel) == []
