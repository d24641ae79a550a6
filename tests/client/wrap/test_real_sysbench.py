"""From `pip install` to a verdict on one's own script: the client and its extra in an environment of their own, the
real sysbench, a real MariaDB, a real server."""

import json
import os
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest
from pytest_django.live_server_helper import LiveServer

from apps.runs.models import Run, Series
from lab.mariadb import ACCOUNT, MariaDB
from tests.paths import ROOT
from tests.support.builders import a_token, a_user

pytestmark = [pytest.mark.mariadb, pytest.mark.django_db(transaction=True)]

SCRIPT = """#!/bin/sh
set -e
echo "my own benchmark"
sysbench oltp_point_select $SERVER --tables=1 --table-size=1000 prepare
sysbench oltp_point_select $SERVER --tables=1 --table-size=1000 --threads=$SPLASHBOARD_THREADS \\
    --time=2 --report-interval=1 run
sysbench oltp_point_select $SERVER --tables=1 cleanup
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`pip install "./client[sampling]" ./workers/agent`, as docs/howto/wrap-a-command.md has it; what these need
    in turn is taken from the environment of the tests."""
    folder = tmp_path_factory.mktemp("installed")
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    (site,) = folder.glob("lib/python*/site-packages")
    built = tmp_path_factory.mktemp("wheels")
    for source in (ROOT / "client", ROOT / "workers" / "agent"):
        argv = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(built)]
        subprocess.run(argv, cwd=source, check=True, capture_output=True)
    pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", "--no-deps", "--no-index"]
    subprocess.run([*pip, *map(str, built.glob("*.whl"))], check=True, capture_output=True)
    own = next(Path(path) for path in sys.path if path.endswith("site-packages"))
    (site / "tests.pth").write_text(f"{own}\n")
    return folder / "bin" / "python"


def test_ones_own_script_gets_a_verdict_with_samples_of_the_server(
    installed: Path, mariadb: MariaDB, live_server: LiveServer, tmp_path: Path
) -> None:
    script = tmp_path / "bench.sh"
    script.write_text(SCRIPT)
    script.chmod(0o755)
    mariadb.sql("CREATE DATABASE IF NOT EXISTS sbtest")
    server = f"--mysql-host=127.0.0.1 --mysql-port={mariadb.port} --mysql-user={ACCOUNT}"
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "SERVER": f"{server} --mysql-password={mariadb.password}",
        "SPLASHBOARD_URL": live_server.url,
        "SPLASHBOARD_TOKEN": a_token(a_user(), "laptop")[1],
    }
    options = tmp_path / "my.cnf"
    options.write_text(
        f"[client]\nuser={ACCOUNT}\npassword={mariadb.password}\nhost=127.0.0.1\nport={mariadb.port}\ndatabase=sbtest\n"
    )

    def run(*more: str) -> "subprocess.CompletedProcess[str]":
        argv = [str(installed), "-m", "splashboard", "run", "--defaults-file", str(options), "--repeat", "2", *more]
        return subprocess.run(
            [*argv, "--", str(script)], env=environment, cwd=tmp_path, capture_output=True, text=True, check=False
        )

    before = run("--variant", "before", "--threads", "1,2")
    assert before.returncode == 0, before.stderr
    after = run("--variant", "after", "--threads", "2", "--baseline", "before", "--tolerance", "1")
    assert after.returncode in (0, 1, 2), after.stderr
    assert "Verdict: " in after.stdout
    assert "throughput at 2 threads" in after.stdout

    runs = list(Run.objects.order_by("id"))
    assert [(run.load_level.threads, run.repetition) for run in runs[:4]] == [(1, 1), (2, 1), (2, 2), (1, 2)]
    run_ = runs[0]
    assert run_.unparsed_lines == []
    assert run_.server_version == mariadb.sql("SELECT VERSION()").strip()
    assert run_.server_started_at is not None
    assert run_.data_bytes
    assert run_.samplers
    keys = set(Series.objects.filter(run=run_).values_list("metric__key", flat=True))
    assert {"mysql.status.Com_select", "host.cpu.user", "agent.tool.cpu.seconds"} <= keys
    with urllib.request.urlopen(f"{live_server.url}/api/v1/runs/{run_.pk}/use/") as answer:
        seen = {each["resource"] for each in json.load(answer)["readings"] if each["value"] is not None}
    assert {"cpu", "memory"} <= seen
    (node,) = [each for each in run_.nodes.all() if each.configuration]
    assert node.configuration is not None
    assert node.configuration.variables["innodb_flush_log_at_trx_commit"] == "2"
    assert mariadb.password not in after.stdout + after.stderr + run_.command
