"""`splashboard run` with the real pgbench and a real PostgreSQL: its report, its log, and who it loaded."""

import os
import re
from pathlib import Path
from urllib.parse import urlencode

import numpy as np
import pytest
from django.db import connection
from django.test import Client

from apps.runs.api import queries
from apps.runs.models import Artifact, Run, RunCheck, Series
from splashboard.wrap import measure, pending
from tests.client.conftest import Command
from tests.paths import ROOT

pytestmark = [pytest.mark.needs("pgbench", "psql"), pytest.mark.django_db(transaction=True)]

COMMITTED, HITS = "postgresql.database.xact_commit", "postgresql.database.blks_hit"
SERVER = ("--platform", "postgresql", "--server-version", "15.18")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An own folder, and the server of the tests in the variables that pgbench and psql read."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("PYTHONPATH", str(ROOT))  # the samplers are a program of their own
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


def test_its_server_is_sampled_beside_it(engineer: Command, here: Path) -> None:
    (here / "pages.sql").write_text("SELECT count(*) FROM pg_class;\n")
    done = engineer("run", "--", "pgbench", "-n", "-f", "pages.sql", "-c", "2", "-j", "2", "-T", "8", "-P", "1")
    assert done.code == 0, done.err
    run = Run.objects.get()
    assert run.samplers == ["agent: agent, every 1 s", "writer: agent, host, postgresql, process, every 1 s"]
    assert run.server_started_at is not None
    by_key = {
        one.metric: one
        for one in queries.load_series(run_ids=[run.pk], metrics=[COMMITTED, HITS, "host.cpu.user", "process.rss"])
    }
    committed = by_key[COMMITTED]
    total = float(np.nansum(committed.values[1:] * np.diff(committed.at)))
    printed = int(re.findall(r"transactions actually processed: (\d+)", done.out)[0])
    # What the sampler and this test's own server did in the same database are some tens.
    assert printed <= total <= 1.03 * printed + 100
    assert np.nanmax(by_key[HITS].values) > 0
    assert np.nanmin(by_key["process.rss"].values) > 1_000_000
    found = {one.check_key: one for one in RunCheck.objects.filter(run=run)}
    assert found["happened"].status == "passed", found["happened"].evidence
    judged = Client(headers={"authorization": f"Bearer {os.environ['SPLASHBOARD_TOKEN']}"}).get(
        f"/api/v1/runs/{run.pk}/use/"
    )
    readings = {(one["indicator"], one["level"] != "not_observable") for one in judged.json()["readings"]}
    assert {
        ("cpu.busy", True),
        ("memory.used", True),
        ("postgresql.connections", True),
        ("postgresql.lock_waits", True),
        ("service.restarts", True),
    } <= readings
    assert not {
        indicator for indicator, _ in readings if indicator.startswith(("row_locks", "buffer_pool", "redo_log"))
    }


def test_a_dsn_names_the_server_of_another_tool_and_its_password_stays_here(engineer: Command, here: Path) -> None:
    """A script that prints what pgbench prints, so that no command line of pgbench is seen."""
    stated = connection.settings_dict
    user, password = stated["USER"], stated["PASSWORD"] or "correct-horse-battery"
    where = urlencode({"host": stated["HOST"], "port": stated["PORT"] or 5432})
    script = here / "bench.sh"
    script.write_text("#!/bin/sh\npgbench -n -f one.sql -T 2\n")
    script.chmod(0o755)
    dsn = f"postgresql://{user}:{password}@/{stated['NAME']}?{where}"
    done = engineer("run", "--dsn", dsn, "--", script)
    assert done.code == 0, done.err
    run = Run.objects.get()
    assert "writer: agent, host, postgresql, process, every 1 s" in run.samplers
    assert run.system.release.platform.slug == "postgresql"
    assert run.data_bytes
    assert password not in done.out + done.err + run.command
    refused = engineer("run", "--dsn", "postgresql://me:correct-horse-battery@127.0.0.1:1/x", "--", script)
    assert refused.code == 3
    assert "127.0.0.1" in refused.err
    assert "correct-horse-battery" not in refused.err


def test_without_samples_only_the_settings_are_recorded(engineer: Command, here: Path) -> None:
    done = engineer("run", "--no-samples", "--", "pgbench", "-n", "-f", "one.sql", "-T", "1")
    assert done.code == 0, done.err
    run = Run.objects.get()
    assert run.samplers == []
    assert run.nodes.exclude(configuration=None).exists()
