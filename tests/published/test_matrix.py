"""The matrix of an article's ratios has every one of them, in a row that says what it is of."""

from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from apps.published.matrix import StatedMatrix, load_matrix, spreads
from tests.published.files import load_figures, times

pytestmark = pytest.mark.usefixtures("catalog")
WORKLOADS = {"in_memory": {"question": "oltp"}, "io_bound": {"question": "oltp"}, "oltp": {"question": "oltp"}}
TESTS = ("point-query", "read-only", "update-index", "insert-only")


def matrix(folder: Path, *figures: dict[str, Any]) -> StatedMatrix:
    load_figures(folder, *figures, workloads=WORKLOADS)
    found = load_matrix("example-2026")
    assert found is not None
    return found


def rows(found: StatedMatrix) -> list[tuple[str, list[float | None]]]:
    return [(row.test, [cell.value if cell else None for cell in row.cells]) for row in found.rows]


def of_test(test: str, value: float, workload: str = "oltp", *, side: str = "aurora", **fields: Any) -> dict[str, Any]:
    conditions = {"test": test, "threads": 8}
    return {**times(side, "rds", value, conditions=conditions), "workload": workload, **fields}


def test_two_workloads_with_the_same_tests_have_rows_of_their_own(tmp_path: Path, client: Client) -> None:
    memory = [of_test(test, 2 + place, "in_memory") for place, test in enumerate(TESTS)]
    found = matrix(tmp_path, *memory, *[of_test(test, 0.5, "io_bound") for test in TESTS])
    assert rows(found) == [
        *((f"{test}; in memory", [2 + place]) for place, test in enumerate(TESTS)),
        *((f"{test}; io bound", [0.5]) for test in TESTS),
    ]
    assert [(spread.tests, spread.faster, spread.slower) for spread in spreads(found)] == [(8, 4, 4)]
    assert client.get("/matrix/matrix.csv?article=example-2026").content.decode().count("point-query; in memory") == 1


def test_a_workload_is_named_only_where_a_test_has_several(tmp_path: Path) -> None:
    found = matrix(tmp_path, of_test("a", 1, "in_memory"), of_test("a", 2, "io_bound"), of_test("b", 3, "in_memory"))
    assert [test for test, _ in rows(found)] == ["a; in memory", "a; io bound", "b"]


def test_sides_of_two_workloads_do_not_share_a_row(tmp_path: Path) -> None:
    found = matrix(tmp_path, of_test("a", 1, "in_memory"), of_test("a", 2, "io_bound", side="mha"))
    assert rows(found) == [("a; in memory", [1, None]), ("a; io bound", [None, 2])]


def test_ratios_on_two_machines_have_rows_of_their_own(tmp_path: Path) -> None:
    found = matrix(tmp_path, of_test("a", 2, hardware="small"), of_test("a", 3, hardware="large"), of_test("b", 4))
    assert rows(found) == [("a; on small box", [2]), ("a; on large box", [3]), ("b", [4])]


def test_both_bounds_of_a_ratio_are_shown(tmp_path: Path) -> None:
    found = matrix(tmp_path, of_test("a", 2, qualifier="at_least"), of_test("a", 7, qualifier="at_most"))
    assert rows(found) == [("a; at least", [2]), ("a; at most", [7])]


def test_ratios_that_only_the_article_distinguishes_are_numbered(tmp_path: Path) -> None:
    machines = {"one": {"label": "one"}, "two": {"label": "two"}}
    own = [of_test("a", 2, hardware="one"), of_test("a", 3, hardware="two"), of_test("a", 4, side="mha")]
    load_figures(tmp_path, *own, workloads=WORKLOADS, hardware=machines)
    found = load_matrix("example-2026")
    assert found is not None
    assert rows(found) == [("a", [2, 4]), ("a; figure 2", [3, None])]
