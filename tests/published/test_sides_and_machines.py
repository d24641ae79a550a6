"""An article with several sides of one platform, or figures of one side on several machines."""

from pathlib import Path
from typing import Any

import pytest

from apps.comparison.agreement.published_evidence import stated_about
from apps.published import queries
from apps.published.frames import Frame, frames
from apps.published.side_by_side import TwoArticles, side_by_side
from apps.web.overview.scorecard import contrary
from apps.web.published import wording
from tests.published.files import load_figures, tps

pytestmark = pytest.mark.usefixtures("catalog")


def found() -> list[Frame]:
    return frames(queries.list_figures())


def marks(frame: Frame) -> list[tuple[str, str, str]]:
    return [(mark.side.name, mark.speed.text, mark.stated.partition("\xa0")[0]) for mark in frame.marks]


TWO_SIDES = (tps("aurora2", 100), tps("aurora3", 200), tps("rds", 150))
TWO_MACHINES = (
    *(tps("aurora", 100, hardware="small"), tps("aurora", 400, hardware="large")),
    *(tps("rds", 150, hardware="small"), tps("rds", 200, hardware="large")),
)


def test_each_side_of_a_platform_has_its_own_ratio_and_figure(tmp_path: Path) -> None:
    load_figures(tmp_path, *TWO_SIDES)
    (frame,) = found()
    assert marks(frame) == [("Aurora 3", "1", "200"), ("RDS MySQL", "0.75", "150"), ("Aurora 2", "0.5", "100")]
    assert wording.answer([frame]) == "Aurora 3 is fastest: RDS MySQL 0.75\xa0×, Aurora 2 0.5\xa0×."
    assert contrary(frame, [frame]) is None


def test_sides_of_one_platform_alone_are_no_frame(tmp_path: Path) -> None:
    load_figures(tmp_path, tps("aurora2", 100), tps("aurora3", 200))
    assert found() == []


def test_two_frames_led_by_sides_of_one_platform_name_each(tmp_path: Path) -> None:
    load_figures(tmp_path, tps("aurora2", 100), tps("rds", 90))
    older = {"title": "Another", "published": "2025-03-01"}
    load_figures(tmp_path, tps("aurora3", 100), tps("rds", 90), slug="other-2025", source=older)
    assert wording.answer(found()) == "Aurora 2 is fastest in 2026, Aurora 3 in 2025."


def test_figures_on_two_machines_are_two_frames(tmp_path: Path) -> None:
    load_figures(tmp_path, *TWO_MACHINES)
    small, large = found()
    assert (small.box, marks(small)) == ("small box", [("RDS MySQL", "1", "150"), ("Aurora", "0.67", "100")])
    assert (large.box, marks(large)) == ("large box", [("Aurora", "1", "400"), ("RDS MySQL", "0.5", "200")])
    assert wording.answer([small, large]) == "RDS MySQL is fastest on the small box, Aurora on the large box."


def test_a_figure_without_machine_is_in_no_frame_with_one_of_several(tmp_path: Path) -> None:
    load_figures(tmp_path, *TWO_MACHINES[:2], tps("rds", 150))
    assert found() == []


def test_figures_that_exclude_each_other_are_no_frame_and_two_bounds_are_a_range(tmp_path: Path) -> None:
    load_figures(tmp_path, tps("aurora", 400), tps("aurora", 100, qualifier="approx"), tps("rds", 200))
    assert found() == []
    load_figures(
        tmp_path, tps("aurora", 100, qualifier="at_least"), tps("aurora", 150, qualifier="at_most"), tps("rds", 300)
    )
    (frame,) = found()
    assert marks(frame) == [("RDS MySQL", "1", "300"), ("Aurora", "0.33–0.5", "")]


def test_bars_of_two_machines_stand_in_two_groups(tmp_path: Path) -> None:
    load_figures(tmp_path, *TWO_MACHINES)
    (chart,) = queries.list_charts(queries.list_figures())
    assert [(bar.group, bar.side, bar.value) for bar in chart.bars] == [
        ("on small box", "Aurora", 100),
        ("on small box", "RDS MySQL", 150),
        ("on large box", "Aurora", 400),
        ("on large box", "RDS MySQL", 200),
    ]


def test_agreement_pairs_no_small_machine_with_a_large_one(tmp_path: Path) -> None:
    load_figures(tmp_path, *TWO_MACHINES)
    (results,) = stated_about("aurora", "rds-mysql").values()
    assert [result.says for result in results] == ["worse", "better"]


def beside(folder: Path, *figures: dict[str, Any]) -> TwoArticles:
    load_figures(folder, *figures, slug="other-2025")
    two = side_by_side("example-2026", "other-2025")
    assert two is not None
    return two


def cells(two: TwoArticles) -> list[tuple[str, list[list[float | None]]]]:
    return [(row.sides[0].name, [[figure.value for figure in stated] for stated in row.stated]) for row in two.rows]


def test_sides_of_one_platform_have_rows_of_their_own_beside_another_article(tmp_path: Path) -> None:
    load_figures(tmp_path, *TWO_SIDES)
    same = beside(tmp_path, tps("aurora3", 220), tps("aurora2", 110))
    assert cells(same) == [("Aurora 2", [[100], [110]]), ("Aurora 3", [[200], [220]])]
    assert cells(beside(tmp_path, tps("aurora", 220))) == [], "nobody knows which of the two it is"


def test_machines_have_rows_of_their_own_beside_another_article(tmp_path: Path) -> None:
    load_figures(tmp_path, *TWO_MACHINES)
    two = beside(tmp_path, tps("aurora", 440, hardware="large"))
    assert cells(two) == [("Aurora", [[400], [440]])]
    assert [row.conditions_text for row in two.rows] == ["oltp; on large box"]
    assert two.alone == (3, 0)
