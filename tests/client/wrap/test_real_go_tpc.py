"""`splashboard run` with the real go-tpc, which Go builds, and a real MariaDB."""

import json
import os
import shutil
import urllib.request
from pathlib import Path

import pytest

from apps.runs.models import Artifact, Run, Series
from apps.runs.storage import artifacts
from lab.mariadb import ACCOUNT, MariaDB
from tests.client.conftest import Command
from tests.paths import ROOT

pytestmark = [pytest.mark.mariadb, pytest.mark.django_db(transaction=True)]


def built(name: str, source: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(shutil.which(name) is None, reason=f"{name} is not on PATH: build it from {source}")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("PYTHONPATH", str(ROOT))  # the samplers are a program of their own
    return tmp_path


def dsn(server: MariaDB, schema: str) -> str:
    return f"mysql://{ACCOUNT}:{server.password}@127.0.0.1:{server.port}/{schema}"


def has_no_password(server: MariaDB, run: Run) -> bool:
    texts = [artifacts.read_artifact(one).decode() for one in Artifact.objects.filter(run=run)]
    return bool(texts) and not any(server.password in text for text in [*texts, run.command])


@built("go-tpc", "github.com/pingcap/go-tpc/cmd/go-tpc")
def test_go_tpc_is_recognised_by_its_command_and_within_a_script(
    engineer: Command, here: Path, mariadb: MariaDB
) -> None:
    mariadb.sql("CREATE OR REPLACE DATABASE gotpc")
    options = ["-H", "127.0.0.1", "-P", mariadb.port, "-U", ACCOUNT, "-p", mariadb.password, "-D", "gotpc"]
    command = ["go-tpc", "tpcc", "run", "--warehouses", "1", "--time", "6s", "--interval", "2s", *options]
    script = here / "bench.sh"
    words = " ".join(map(str, command[:3]))
    rest = " ".join(f"'{word}'" for word in command[3:])
    script.write_text(
        "#!/bin/sh\nset -e\n"
        f"go-tpc tpcc prepare --no-check --warehouses 1 -T 2 {' '.join(map(str, options))} >prepared.txt 2>&1\n"
        f"{words} {rest} --threads $SPLASHBOARD_THREADS\n"
    )
    script.chmod(0o755)
    sampled = ("run", "--dsn", dsn(mariadb, "gotpc"))
    scripted = engineer(*sampled, "--threads", "2", "--", script)
    assert scripted.code == 0, scripted.err
    direct = engineer(*sampled, "--threads", "1,2", "--", *command)
    assert direct.code == 0, direct.err
    runs = list(Run.objects.order_by("pk"))
    assert [run.load_level.threads for run in runs] == [2, 1, 2]
    assert len({run.workload_id for run in runs}) == 1
    assert runs[0].workload.parameters["warehouses"] == 1
    for run in runs:
        assert (run.workload.tool, run.state, run.outcome) == ("go-tpc", "sealed", "succeeded")
        # Its driver's words on a statement that the end of the run cut off.
        assert [line for line in run.unparsed_lines if not line.endswith("invalid connection")] == []
        assert has_no_password(mariadb, run)
    assert Series.objects.filter(run=runs[1], metric__key="client.throughput").exists()
    with urllib.request.urlopen(f"{os.environ['SPLASHBOARD_URL']}/api/v1/runs/{runs[1].pk}/use/") as answer:
        judged = {each["indicator"] for each in json.load(answer)["readings"] if each["value"] is not None}
    assert {"cpu.busy", "row_locks.waiting"} <= judged
    mariadb.sql("DROP DATABASE gotpc")
