"""docs/reference/archive-tables.md has every column; DuckDB runs the statements of docs/howto/archive.md."""

import re
from pathlib import Path

import duckdb
import pyarrow.parquet as pq
import pytest
from django.conf import settings
from django.test.utils import override_settings
from django.utils import timezone

from apps.core.stores import store_at
from apps.runs import archive, queries
from apps.runs.archive.tables import SCHEMAS
from apps.runs.models import Series
from tests.paths import DOCS
from tests.runs.archive.archived import LARGE, a_full_run

DOCUMENT = (DOCS / "howto" / "archive.md").read_text()
TABLES = (DOCS / "reference" / "archive-tables.md").read_text()


@pytest.mark.parametrize("table", SCHEMAS)
def test_every_column_is_documented_and_every_documented_one_is_there(table: str) -> None:
    section = TABLES.split(f"\n### {table}\n")[1].split("\n#")[0]
    names = [
        name for row in re.findall(r"^\| (`.*?) \|", section, re.MULTILINE) for name in re.findall(r"`(\w+)`", row)
    ]
    assert sorted(names) == sorted(SCHEMAS[table].names)


def test_no_column_has_the_name_of_a_partition() -> None:
    names = {name for schema in SCHEMAS.values() for name in schema.names}
    assert not names & {"platform", "workload", "month"}


def test_duckdb_runs_each_statement_and_reads_the_rates_that_the_charts_show(db: None, tmp_path: Path) -> None:
    with override_settings(STORAGES=settings.STORAGES | {"archive": store_at(str(tmp_path / "archive"))}):
        runs = [a_full_run(), a_full_run(repetition=2)]
        for run in runs:
            assert archive.archive(run_id=run.pk, now=timezone.now())
    statements = dict(re.findall(r"### ([^\n]+)\n[^#]*?```sql\n(.*?)```", DOCUMENT, re.DOTALL))
    assert len(statements) == DOCUMENT.count("```sql") == 4
    with duckdb.connect() as database:
        answers = {
            name: database.execute(statement.replace("/var/lib/archive", str(tmp_path / "archive"))).fetchall()
            for name, statement in statements.items()
        }
    (first, *_) = series = queries.load_series(run_ids=[run.pk for run in runs], metrics=["mysql.status.Com_commit"])
    assert len(series) == 2
    rates = [(t, rate) for run, _, t, rate in answers["Samples as rows"] if run == str(runs[0].uid)]
    assert [t for t, _ in rates[1:]] == first.at.tolist()
    assert [rate for _, rate in rates[1:]] == pytest.approx(first.values.tolist(), rel=1e-12)
    over = answers["One statistic over many runs"]
    assert [row[:2] for row in over] == [("mariadb", "2026-01")] * 2
    assert over[0][5] == Series.objects.get(run=runs[0], metric__key="mysql.status.Com_commit").mean
    copied = pq.read_table(tmp_path / "measurements-2026-01.parquet")
    assert copied.num_rows == sum(run.measurements.count() for run in runs) > 0


def test_duckdb_reads_integers_beyond_2_to_the_53_and_2_to_the_63_exactly(db: None, tmp_path: Path) -> None:
    with override_settings(STORAGES=settings.STORAGES | {"archive": store_at(str(tmp_path))}):
        assert archive.archive(run_id=a_full_run().pk, now=timezone.now())
    with duckdb.connect() as database:
        rows = database.sql(
            f"SELECT metric, samples_integer[2], samples_large[2], samples_large[5], len(samples_integer) "
            f"FROM read_parquet('{tmp_path}/series/**/*.parquet') "
            "WHERE metric IN ('mysql.status.Questions', 'mysql.status.Bytes_sent') ORDER BY metric"
        ).fetchall()
        constants = database.sql(
            f"SELECT constants FROM read_parquet('{tmp_path}/nodes/**/*.parquet') WHERE node_name = 'db1'"
        ).fetchall()
    assert rows == [
        (LARGE, None, 2**63 + 5, None, None),
        ("mysql.status.Questions", 2**60 + 7, None, None, 20),
    ]
    assert str(2**62 + 1) in constants[0][0]
