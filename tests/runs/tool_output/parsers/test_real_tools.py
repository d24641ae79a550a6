"""What the tools installed here print is read: mysqlslap and pt-query-digest against a real server."""

import os
import subprocess
from pathlib import Path

import pytest

from apps.runs.tool_output.parsers import mysqlslap
from apps.runs.tool_output.parsers.attachments import pt_query_digest
from lab.mariadb import ACCOUNT
from tests.support.databases import StartMariaDB

pytestmark = pytest.mark.mariadb


@pytest.mark.needs("mysqlslap", "pt-query-digest")
def test_mysqlslap_and_a_digest_of_the_statements_that_it_ran(start_mariadb: StartMariaDB, tmp_path: Path) -> None:
    server = start_mariadb(long_query_time="0", slow_query_log="ON", slow_query_log_file="slow.log")
    file = tmp_path / "result.csv"
    command = ["mysqlslap", "--no-defaults", "--host=127.0.0.1", f"--port={server.port}", f"--user={ACCOUNT}"]
    subprocess.run(
        [
            *command,
            "--auto-generate-sql",
            "--concurrency=4",
            "--iterations=2",
            "--number-of-queries=200",
            f"--csv={file}",
        ],
        env={**os.environ, "MYSQL_PWD": server.password},
        check=True,
        capture_output=True,
        timeout=600,
    )
    found = mysqlslap.parse(file.read_bytes())
    values = {value.metric: value.value for value in found.values}
    assert (found.threads, values["client.statements"], found.reason) == (4, 200, "")
    assert 0 <= values["client.execution_time.min"] <= values["client.execution_time.avg"] < 60

    digest = subprocess.run(
        ["pt-query-digest", "--no-version-check", "--output", "json", server.directory / "data" / "slow.log"],
        check=True,
        capture_output=True,
        timeout=600,
    ).stdout
    table = pt_query_digest.parse(digest)
    inserted = next(row for row in table.rows if str(row[8]).startswith("insert into t? values"))
    assert float(inserted[1] or 0) >= 200
    assert 0 < float(inserted[2] or 0) < 60
