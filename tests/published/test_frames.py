"""Published figures of several platforms in one frame."""

from pathlib import Path

import pytest

from apps.catalog import services as catalog
from apps.published import queries, services
from apps.published.frames import Frame, Span, frames
from tests.published.files import downtime, load_figures, times, tps


@pytest.fixture
def found(db: None) -> list[Frame]:
    catalog.seed()
    services.load_all(services.OWN_DATA)
    return frames(queries.list_figures())


def _frame(found: list[Frame], article: str, workload: str, box: str = "") -> Frame:
    (frame,) = (each for each in found if (each.article.slug, each.workload, each.box) == (article, workload, box))
    return frame


def test_ratios_of_one_workload_are_chained_and_say_so(found: list[Frame]) -> None:
    ingest = _frame(found, "aurora-galera-mha-2015", "stresstool ingest")
    marks = [(mark.side.platform, mark.speed.text, mark.is_chained) for mark in ingest.marks]
    assert marks == [("mha", "1", False), ("pxc", "≈ 0.33", False), ("aurora", "≈ 0.11", True)]
    assert ingest.sentence == "MHA about 3\u00a0× PXC, PXC about 3\u00a0× Aurora"


def test_seconds_without_conditions_do_not_enter_the_frame_of_a_ratio_with_conditions(found: list[Frame]) -> None:
    iibench = [frame for frame in found if frame.workload == "iibench" and frame.article.slug.endswith("2015")]
    assert sorted([mark.side.platform for mark in frame.marks] for frame in iibench) == [
        ["mha", "pxc"],
        ["pxc", "aurora"],
    ]


def test_a_shorter_time_is_a_higher_speed_and_a_bound_stays_one(found: list[Frame]) -> None:
    failover = _frame(found, "aurora-galera-mha-2015", "ha failover")
    marks = [(mark.side.platform, mark.speed.text, mark.stated) for mark in failover.marks]
    assert marks == [
        ("pxc", "1", "15\u00a0s"),
        ("aurora", "0.3", "50\u00a0s"),
        ("mha", "≤ 0.13", "≥ 120\u00a0s"),
    ]


def test_two_machines_are_two_frames_and_two_bounds_one_range(found: list[Frame]) -> None:
    small, large = (_frame(found, "aurora-pxc-2016", "stresstool oltp", f"{size} box") for size in ("small", "large"))
    assert [(mark.side.platform, mark.speed.text) for mark in small.marks] == [("pxc", "1"), ("aurora", "≈ 0.33")]
    assert [(mark.side.platform, mark.speed.text) for mark in large.marks] == [("aurora", "1"), ("pxc", "0.14–0.5")]


def test_bounds_on_both_platforms_leave_a_bound_on_their_ratio(found: list[Frame]) -> None:
    (pxc,) = [
        mark
        for mark in _frame(found, "aurora-pxc-2016", "tpcc mysql", "large box").marks
        if mark.side.platform == "pxc"
    ]
    assert (pxc.speed.text, pxc.stated) == ("≤ 0.78", "≤ 350,000")


@pytest.mark.parametrize(
    ("span", "text", "inverse"),
    [
        (Span(3.0, 3.0, is_about=True), "≈ 3", "≈ 0.33"),
        (Span(2.0, 7.0, is_about=False), "2–7", "0.14–0.5"),
        (Span(2.0, float("inf"), is_about=False), "≥ 2", "≤ 0.5"),
        (Span(0.0, 4.0, is_about=False), "≤ 4", "≥ 0.25"),
    ],
)
def test_the_inverse_of_a_speed_turns_its_bounds(span: Span, text: str, inverse: str) -> None:
    assert (span.text, span.inverse.text) == (text, inverse)
    assert span.inverse.inverse.text == text


@pytest.mark.usefixtures("catalog")
def test_a_bound_that_another_figure_lies_beyond_leaves_no_fastest(tmp_path: Path) -> None:
    load_figures(tmp_path, downtime("aurora", 50), downtime("mha", 30, "at_least"))
    (frame,) = frames(queries.list_figures())
    assert not frame.is_ranked
    assert not any(mark.is_fastest for mark in frame.marks)
    assert frame.sentence == "MHA ≥ 30\xa0s, Aurora 50\xa0s"
    assert {mark.side.name: mark.is_open for mark in frame.marks} == {"MHA": True, "Aurora": False}
    assert max(mark.length for mark in frame.marks) == 1


@pytest.mark.usefixtures("catalog")
def test_the_fastest_is_the_one_that_is_ahead_wherever_the_others_are(tmp_path: Path) -> None:
    load_figures(tmp_path, tps("rds", 10, "at_most"), tps("aurora", 100), tps("mha", 90, "at_most"))
    (frame,) = frames(queries.list_figures())
    assert [mark.is_fastest for mark in frame.marks] == [True, False, False]
    assert [mark.side.name for mark in frame.marks] == ["Aurora", "MHA", "RDS MySQL"]


@pytest.mark.usefixtures("catalog")
def test_two_bounds_that_say_nothing_of_each_other_are_no_frame(tmp_path: Path) -> None:
    load_figures(tmp_path, downtime("aurora", 50, "at_least"), downtime("mha", 30, "at_least"))
    assert frames(queries.list_figures()) == []


@pytest.mark.usefixtures("catalog")
def test_ratios_that_leave_the_order_open_are_stated_against_what_they_share(tmp_path: Path) -> None:
    load_figures(tmp_path, times("aurora", "rds", 2, "at_least"), times("mha", "rds", 3, "at_least"))
    (frame,) = frames(queries.list_figures())
    assert not frame.is_ranked
    assert frame.sentence == "MHA at least 3\xa0× RDS MySQL, Aurora at least 2\xa0× RDS MySQL"
