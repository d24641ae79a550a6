from pathlib import Path
from typing import Any

import msgspec
import pytest

from bench import results
from bench.results import Figure, Results
from bench.rounds import Compared


def a_figure(ratio: float = 0.5, **fields: Any) -> Figure:
    found = Compared(ours=ratio * 10, theirs=10.0, ratio=ratio, low=ratio / 2, high=ratio * 2, rounds=7)
    defaults = {"key": "q1", "part": "q1", "title": "Q1", "peer": "Peer", "unit": "ms", "better": "lower"}
    return results.figure(**{**defaults, "measured_on": "2026-11-21", "found": found, "limit": 0.5, **fields})


@pytest.mark.parametrize(
    ("ratio", "better", "passed"),
    [(0.5, "lower", True), (0.51, "lower", False), (0.5, "higher", True), (0.4, "higher", False)],
)
def test_a_bar_is_met_at_its_value_and_on_its_better_side(ratio: float, better: str, passed: bool) -> None:
    assert a_figure(ratio, better=better).passed is passed


def test_both_bars_have_to_be_met() -> None:
    assert a_figure(0.5, limit_ours=5.0).passed is True
    assert a_figure(0.5, limit_ours=4.9).passed is False


def test_a_figure_without_a_bar_is_not_judged() -> None:
    assert a_figure(9.0, limit=None).passed is None


def test_an_absent_peer_stands_in_the_table_with_the_reason() -> None:
    absent = msgspec.structs.replace(a_figure(), ours=None, theirs=None, passed=None, skipped="not installed")
    assert "not measured: not installed" in results.table(Results(figures=[absent]))
    assert "NOT MEASURED" in results.sentence(absent)


def test_a_missed_bar_stands_out() -> None:
    assert "**no**" in results.table(Results(figures=[a_figure(0.9)]))


def test_a_part_measured_again_replaces_what_it_had_in_its_place() -> None:
    before = Results(figures=[a_figure(part="q1", key="q1.a"), a_figure(part="live", key="live.a")])
    after = results.merged(before, Results(figures=[a_figure(0.1, part="q1", key="q1.b")]))
    assert [figure.key for figure in after.figures] == ["q1.b", "live.a"]


def test_each_row_has_the_day_on_which_it_was_measured() -> None:
    now = results.merged(
        Results(figures=[a_figure()]), Results(measured_on="2026-11-30", figures=[a_figure(part="q2")])
    )
    assert [line.count("2026-11-21") for line in results.table(now).splitlines() if "Peer" in line] == [1, 1]


def test_a_part_measured_later_leaves_the_others_their_version() -> None:
    first = results.of_version(Results(versions={"Splashboard": "aaaa"}, figures=[a_figure(part="q1")]))
    second = results.of_version(Results(versions={"Splashboard": "bbbb"}, figures=[a_figure(part="q2")]))
    rows = results.table(results.merged(first, second)).splitlines()
    assert [row.split()[-2] for row in rows[-2:]] == ["aaaa", "bbbb"]


def test_results_are_read_back_as_they_were_saved_and_the_page_has_their_table(tmp_path: Path) -> None:
    file, page = tmp_path / "results.json", tmp_path / "performance.md"
    page.write_text("before\n<!-- from bench/results.json -->\nold\n<!-- to here -->\nafter\n")
    saved = Results(measured_on="2026-11-21", machine={"cpu": "a processor", "cores": 2}, figures=[a_figure()])
    results.save(saved, file=file, page=page)
    assert results.load(file) == saved
    text = page.read_text()
    assert results.table_in(text) == results.table(saved)
    assert text.startswith("before\n")
    assert text.endswith("after\n")
    assert "old" not in text


def test_the_page_has_the_table_of_the_results() -> None:
    assert results.table_in(results.PAGE.read_text()) == results.table(results.load())


def test_every_bar_that_was_promised_is_judged() -> None:
    judged = {figure.part for figure in results.load().figures if figure.passed is not None}
    # Histories have none (docs/why/benchmark.md), and duet answers a question.
    assert judged == {*results.PARTS, *results.LONG_PARTS} - {"histories", "duet"}


def test_power_has_both_bars_where_cells_differ_little_and_where_they_differ_much() -> None:
    figures = {figure.key: figure for figure in results.load().figures}
    for ground in ("alike", "unlike"):
        found, behind = (figures[f"verdicts.{each}_{ground}"] for each in ("power", "behind"))
        assert (found.limit_ours, behind.limit_ours) == (0.85, 0.05)
        assert found.ours is not None
        assert behind.ours is not None
        assert (found.passed, behind.passed) == (found.ours >= 0.85, behind.ours <= 0.05)
