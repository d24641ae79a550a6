"""What the fio and pgbench installed here print is read."""

import os
import subprocess
from pathlib import Path

import pytest
from django.db import connection

from apps.runs.tool_output.parsers.fio import report as fio
from apps.runs.tool_output.parsers.pgbench import log as pgbench_log
from apps.runs.tool_output.parsers.pgbench import report as pgbench


@pytest.mark.needs("fio")
def test_jobs_of_fio_have_the_percentiles_of_their_merged_bins(tmp_path: Path) -> None:
    command = ["fio", f"--directory={tmp_path}", "--size=1M", "--name=a", "--numjobs=2", "--rw=randrw", "--bs=4k"]
    done = subprocess.run([*command, "--output-format=json+"], capture_output=True, timeout=300, check=True)
    found = fio.parse(done.stderr + done.stdout)
    values = {value.metric: value.value for value in found.values}
    assert (found.reason, found.threads, found.parameters["rw"]) == ("", 2, "randrw")
    assert sum(each.counts.count for each in found.distributions) == 2 * 2**20 / 4096
    for latency in ("client.file_read.latency", "client.file_write.latency"):
        assert 0 < values[f"{latency}.min"] <= values[f"{latency}.p50"] <= values[f"{latency}.p99"]


@pytest.mark.needs("pgbench")
@pytest.mark.django_db
def test_pgbenchs_report_and_its_log_count_the_same_transactions(tmp_path: Path) -> None:
    (tmp_path / "one.sql").write_text("SELECT 1;\n")
    stated = connection.settings_dict
    server = {"PGHOST": stated["HOST"], "PGPORT": str(stated["PORT"]), "PGUSER": stated["USER"]}
    server |= {"PGPASSWORD": stated["PASSWORD"], "PGDATABASE": stated["NAME"]}
    done = subprocess.run(
        ["pgbench", "-n", "-f", "one.sql", "-c", "2", "-T", "4", "-P", "1", "-l", "--log-prefix=log"],
        cwd=tmp_path,
        env={**os.environ, **{name: value for name, value in server.items() if value}},
        capture_output=True,
        timeout=300,
        check=True,
    )
    found = pgbench.parse(done.stderr + done.stdout)
    values = {value.metric: value.value for value in found.values}
    assert (found.reason, found.threads, found.parameters["script"], found.unparsed) == ("", 2, "one.sql", ())
    assert len(found.series["client.throughput"]) >= 1
    log = pgbench_log.parse(b"".join(path.read_bytes() for path in sorted(tmp_path.glob("log.*"))))
    counted = next(value.value for value in log.values if value.metric == "client.transactions")
    assert counted == values["client.transactions"]
