"""What a cell of the trend board holds: one build, and at a fixed rate whether it was held."""

import pytest
from django.test import Client

from apps.catalog.models import System
from apps.regressions.models import Trend
from apps.regressions.trends.board import BoardFilter, load_board
from apps.runs.models import Configuration, Run, RunNode
from tests.regressions.trends.made_series import a_release, followed, runs_of, values
from tests.support.builders import a_load_level, a_metric, a_workload
from tests.support.pages import element, elements
from tests.web.trends.test_board import day, nightly, page, verdicts

pytestmark = pytest.mark.django_db


def a_build(system: System, night: int, factor: float, *, version: str = "", commit: str = "") -> None:
    """Three runs of it."""
    numbers = [value * factor for value in values(runs=3, seed=night, noise=0.003)]
    own = Configuration.objects.get_or_create(
        content_hash=(commit[:1] or "f") * 64, defaults={"variables": {"version_source_revision": commit}}
    )[0]
    for run in runs_of(system, numbers, day=night, server_version=version or "12.0.1"):
        RunNode.objects.create(run=run, number=1, name="db", configuration=own if commit else None)


@pytest.mark.parametrize("kind", ["version", "commit"])
@pytest.mark.parametrize("by", ["night", "campaign"])
def test_builds_of_one_release_in_one_night_have_a_column_each(client: Client, db: None, by: str, kind: str) -> None:
    system = a_release("12.0.1")
    a_build(system, 0, 1.0, **{kind: "1" * 12})
    for factor, name in ((1.0, "1" * 12), (0.9, "2" * 12)):
        a_build(system, 1, factor, **{kind: name})
    followed([Run.objects.latest("pk")])
    (group,) = load_board(BoardFilter(by=by)).groups
    assert [(column.key, getattr(column, kind.replace("version", "build"))) for column in group.columns if column] == [
        (day(0), "1" * 12),
        (day(1), "1" * 12),
        (day(1), "2" * 12),
    ]
    (row,) = group.rows
    assert [len(cell.runs) for cell in row.cells] == [3, 3, 3]
    assert row.cells[2].value / row.cells[1].value == pytest.approx(0.9)
    tips = [str(node.attributes["title"]) for node in elements(page(client, f"?by={by}"), "a[data-value]")]
    assert ["1" * 12 in tips[1], "2" * 12 in tips[2]] == [True, True]


def test_a_cell_of_a_release_says_of_how_many_builds_it_is(client: Client, db: None) -> None:
    a_build(a_release("12.0.0"), 0, 1.0)
    for commit in ("1" * 12, "2" * 12):
        a_build(a_release("12.0.1"), 1, 1.0, commit=commit)
    followed([Run.objects.latest("pk")])
    runs = [str(node.attributes["data-runs"]) for node in elements(page(client, "?by=release"), "a[data-value]")]
    assert runs[0].startswith("3 runs, ")
    assert runs[1].startswith("6 runs of 2 builds, ")


@pytest.fixture
def rated(db: None) -> Trend:
    """Four nights at 1,000 transactions/s asked; in the last one 820 were done."""
    level = a_load_level(4, rate=1000.0)
    workload = a_workload()
    workload.primary_metric = a_metric("client.throughput")
    workload.save()
    runs = nightly(a_release("10.11.19"), [1.0, 1.0, 0.99, 0.82], load_level=level, workload=workload)
    followed(runs[-1:])
    return Trend.objects.get()


def test_at_a_fixed_rate_a_cell_says_whether_the_rate_was_held(client: Client, rated: Trend) -> None:
    html = page(client)
    assert verdicts(html, rated) == ["base", "held", "held", "unheld"]
    row = element(html, f"tr[data-trend='{rated.pk}']").text()
    assert "? rate not held" in row.replace("\xa0", " ")
    assert element(html, "[data-answer]").text() == "No row is shown to be worse than the baseline: 1 rate not held."
    answer = " ".join(element(html, ".board-answer").text().replace("\xa0", " ").split())
    assert "Rate not held: " in answer
    assert "% of 1000/s (baseline " in answer
    assert elements(html, "[data-rated]")
    counts = " ".join(element(html, "[data-counts]").text().split())
    assert counts == "▼ 0 ▲ 0 ≈ 0 not held 1 ? 0"


def test_the_page_of_a_series_at_a_fixed_rate_has_no_threshold(client: Client, rated: Trend) -> None:
    html = client.get(f"/trends/{rated.pk}/").content.decode()
    assert "the number of arrivals" in element(html, "[data-answer]").text()
    assert "Shaded" not in html
