"""`splashboard run` with the real pgbench and a real PostgreSQL: its report, its log, and who it loaded."""

from pathlib import Path

import pytest
from django.db import connection

from apps.runs.models import Artifact, Run, Series
from splashboard.wrap import measure, pending
from tests.client.conftest import Command

pytestmark = [pytest.mark.needs("pgbench", "psql"), pytest.mark.django_db(transaction=True)]

SERVER = ("--platform", "postgresql", "--server-version", "15.18")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An own folder, and the server of the tests in the variables that pgbench and psql read."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    stated = connection.settings_dict
    for name, key in (("HOST", "HOST"), ("PORT", "PORT"), ("USER", "USER"), ("PASSWORD", "PASSWORD")):
        if stated[key]:
            monkeypatch.setenv(f"PG{name}", str(stated[key]))
    monkeypatch.setenv("PGDATABASE", str(stated["NAME"]))
    (tmp_path / "one.sql").write_text("SELECT 1;\n")
    return tmp_path


def test_a_pgbench_command_is_measured_with_its_log_as_series(engineer: Command, here: Path) -> None:
    wrapped = ("pgbench", "-n", "-f", "one.sql", "-c", "2", "-j", "2", "-T", "3", "-P", "1", "-l", "--log-prefix=own")
    done = engineer("run", "--", *wrapped)
    assert done.code == 0, done.err
    run = Run.objects.get()
    assert (run.state, run.outcome, run.load_level.threads, run.unparsed_lines) == ("sealed", "succeeded", 2, [])
    assert run.workload.parameters["script"] == "one.sql"
    assert run.system.slug.rpartition("-")[0].endswith("-postgresql")
    (node,) = run.nodes.exclude(configuration=None)
    assert node.configuration is not None
    with connection.cursor() as cursor:
        cursor.execute("SELECT setting || ' ' || unit FROM pg_settings WHERE name = 'shared_buffers'")
        assert node.configuration.variables["shared_buffers"] == cursor.fetchone()[0]
        cursor.execute("SHOW server_version")
        assert run.server_version == cursor.fetchone()[0]
    assert not {"application_name", "archive_command"} & set(node.configuration.variables)
    assert run.data_bytes
    assert set(Artifact.objects.values_list("name", flat=True)) == {"pgbench.txt", "pgbench-log.txt"}
    log = Artifact.objects.get(name="pgbench-log.txt")
    assert log.size == sum(path.stat().st_size for path in here.glob("own.*"))
    # Only the log has percentiles.
    assert Series.objects.filter(run=run, metric__key="client.latency.p99").exists()
    assert pending.every() == []


def test_a_script_has_the_log_of_each_of_its_pgbench_runs(engineer: Command, here: Path) -> None:
    script = here / "bench.sh"
    each = "pgbench -n -f one.sql -c {} -T 2 -l --aggregate-interval=1"
    script.write_text(f"#!/bin/sh\nmkdir -p logs\ncd logs\ncp ../one.sql .\n{each.format(1)}\n{each.format(2)}\n")
    script.chmod(0o755)
    done = engineer("run", *SERVER, "--", script)
    assert done.code == 0, done.err
    first, second = Run.objects.order_by("pk")
    assert [run.load_level.threads for run in (first, second)] == [1, 2]
    logs = {Artifact.objects.get(run=run, name="pgbench-log.txt").sha256 for run in (first, second)}
    assert len(logs) == 2
    assert len(list(here.glob("logs/pgbench_log.*"))) == 2


def test_a_log_of_sampled_transactions_is_not_sent_and_a_missing_one_is_named(engineer: Command, here: Path) -> None:
    wrapped = ("pgbench", "-n", "-f", "one.sql", "-T", "1", "-l")
    sampled = engineer("run", "--", *wrapped, "--sampling-rate=0.5")
    assert (sampled.code, Artifact.objects.count()) == (0, 1), sampled.err
    script = here / "bench.sh"
    script.write_text(f"#!/bin/sh\n{' '.join(wrapped)}\nrm pgbench_log.*\n")
    script.chmod(0o755)
    missing = engineer("run", *SERVER, "--variant", "script", "--", script)
    assert (missing.code, Artifact.objects.count()) == (0, 2), missing.err
    assert "without pgbench's log" in missing.err


def test_a_log_longer_than_the_server_takes_is_not_read(
    engineer: Command, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(measure, "LONGEST_SERIES", 100)
    done = engineer("run", "--", "pgbench", "-n", "-f", "one.sql", "-T", "1", "-l")
    assert (done.code, Artifact.objects.count()) == (0, 1), done.err
    assert next(here.glob("pgbench_log.*")).stat().st_size > 100
    assert "has more than 64 MiB" in done.err
