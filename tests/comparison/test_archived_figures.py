"""A comparison's table from the archive's files alone, by DuckDB, is the one that the pages show."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import duckdb
import pytest
from django.conf import settings
from django.test.utils import override_settings
from django.utils import timezone

from apps.catalog.models import System
from apps.comparison import compare
from apps.comparison.stats import welch
from apps.comparison.stats.replicates import Sample
from apps.core.stores import store_at
from apps.runs import archive
from apps.runs.models import Artifact
from apps.runs.storage import artifacts
from tests.paths import DOCS
from tests.support.builders import START, a_load_level, a_measured_run, a_system, a_workload

pytestmark = pytest.mark.django_db

TPS, P95 = "client.throughput", "client.latency.p95"
VALUES = {
    ("a", 4): (1000.0, 1012.5, 991.25),
    ("a", 16): (3100.0, 3044.0, 3187.0),
    ("b", 4): (1302.0, 1318.0, 1287.0),
    ("b", 16): (3090.0, 3122.0, 3101.0),
}
DOCUMENT = DOCS / "howto" / "archive.md"


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    with override_settings(STORAGES=settings.STORAGES | {"archive": store_at(str(tmp_path / "archive"))}):
        yield tmp_path / "archive"


def measure(system: System, threads: int, values: tuple[float, ...], **fields: Any) -> None:
    for number, value in enumerate(values):
        run = a_measured_run(
            {TPS: value, P95: 20_000 / value},
            system=system,
            load_level=a_load_level(threads),
            repetition=number + 1,
            started_at=START + timedelta(minutes=number),
            **fields,
        )
        output = f"{system.slug} {threads} {number}".encode()
        Artifact.objects.filter(run=run).update(sha256=artifacts.keep(output), size=len(output))
        assert archive.archive(run_id=run.pk, now=timezone.now())


def snippet(name: str, folder: Path) -> str:
    """The SQL of docs/howto/archive.md under the heading `name`, for an archive in `folder`."""
    text = DOCUMENT.read_text().split(f"### {name}\n")[1]
    return text.split("```sql\n")[1].split("```")[0].replace("/var/lib/archive", str(folder))


def test_duckdb_reproduces_the_table_of_a_comparison_from_the_files_alone(folder: Path) -> None:
    systems = {slug: a_system(slug) for slug in ("a", "b")}
    for (slug, threads), values in VALUES.items():
        measure(systems[slug], threads, values)
    # What does not count there does not count here.
    measure(systems["a"], 4, (5000.0,), outcome="failed", reason="server lost")
    comparison = compare.compare(sides=["a", "b"], workload_id=a_workload().pk)

    with duckdb.connect() as database:
        rows = database.sql(snippet("A comparison's table", folder)).fetchall()
    found = {(metric, threads, side): figures for metric, threads, side, *figures in rows}
    assert len(found) == 8
    levels = {level.id: level.threads for level in comparison.levels}
    shown = [cell for cell in comparison.cells if cell.summary is not None]
    assert len(shown) == 8
    for cell in shown:
        count, mean, ratio, values = found[cell.metric, levels[cell.level], cell.side]
        assert cell.summary is not None
        assert count == cell.summary.count == 3
        assert mean == pytest.approx(cell.summary.value, rel=1e-12)
        if cell.ratio is None:
            assert cell.side == "a"
            continue
        assert ratio == pytest.approx(cell.ratio.value, rel=1e-12)
        # The interval needs Student's distribution: from the archive's values through the same statistics.
        *_, baseline = found[cell.metric, levels[cell.level], "a"]
        step = next(metric.resolution for metric in comparison.metrics if metric.key == cell.metric)
        again = welch.compare(Sample(tuple(baseline), (), step), Sample(tuple(values), (), step))
        assert (again.low, again.high, again.p) == (cell.ratio.low, cell.ratio.high, cell.ratio.p)
        assert again.low is not None
