"""Two articles of one author: one of them with one table, the other with eight."""

from pathlib import Path

import pytest

from apps.published import services
from apps.published.side_by_side import side_by_side
from tests.published.files import a_file

pytestmark = pytest.mark.usefixtures("catalog")


@pytest.fixture
def two(tmp_path: Path) -> None:
    for slug, tables, value in (("one-table", 1, 1.3), ("eight-tables", 8, 2.1)):
        workload = {"question": "oltp", "tool": "sysbench", "parameters": {"tables": tables, "rows_per_table": 1000}}
        changes = [("slug", slug), ("workloads.oltp", workload), ("figures.1.value", value)]
        changes += [("figures.0", ...)] if slug == "one-table" else []
        services.load_file(a_file(tmp_path, *changes, name=f"{slug}.yaml"))


def test_what_both_state_stands_in_one_row_with_each_ones_own_figure(two: None) -> None:
    found = side_by_side("one-table", "eight-tables")
    assert found is not None
    (row,) = found.rows
    assert [side.name for side in row.sides] == ["PXC", "Aurora"]
    assert [figure.text for stated in row.stated for figure in stated] == ["at least 1.3\xa0×", "at least 2.1\xa0×"]
    assert found.alone == (0, 1)


def test_only_what_differs_in_their_set_ups_is_listed(two: None) -> None:
    found = side_by_side("one-table", "eight-tables")
    assert found is not None
    assert [(each.what, each.stated) for each in found.differences] == [
        ("workloads: oltp: parameters: tables", ("1", "8"))
    ]


def test_an_article_that_is_not_there_is_not_compared(two: None) -> None:
    assert side_by_side("one-table", "two-tables") is None
