"""`splashboard run` with the real go-ycsb and go-tpc and a real MariaDB. Nobody packages them."""

import json
import os
import shutil
import urllib.request
from pathlib import Path

import pytest

from apps.runs.models import Artifact, Run, Series
from apps.runs.storage import artifacts
from lab.mariadb import ACCOUNT, MariaDB
from splashboard.wrap import pending
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


@built("go-ycsb", "github.com/pingcap/go-ycsb")
def test_go_ycsb_is_loaded_climbed_and_compared(engineer: Command, here: Path, mariadb: MariaDB) -> None:
    mariadb.sql("CREATE DATABASE goycsb")
    (here / "workload").write_text(
        "recordcount=500\noperationcount=2000\nworkload=core\nreadproportion=0.5\nupdateproportion=0.5\n"
        "insertproportion=0\nscanproportion=0\n"
    )
    properties = {
        "mysql.host": "127.0.0.1",
        "mysql.port": mariadb.port,
        "mysql.user": ACCOUNT,
        "mysql.password": mariadb.password,
        "mysql.db": "goycsb",
        "measurement.interval": 1,
    }
    options = [
        "mysql",
        "-P",
        "workload",
        *(word for name, value in properties.items() for word in ("-p", f"{name}={value}")),
    ]
    sampled = ("run", "--dsn", dsn(mariadb, "goycsb"))
    loaded = engineer(*sampled, "--", "go-ycsb", "load", *options)
    assert loaded.code == 0, loaded.err
    first = engineer(*sampled, "--variant", "a", "--threads", "1,2", "--repeat", "2", "--", "go-ycsb", "run", *options)
    assert first.code == 0, first.err
    second = engineer(
        *(*sampled, "--variant", "b", "--threads", "2", "--repeat", "2", "--baseline", "a", "--tolerance", "1"),
        *("--", "go-ycsb", "run", *options),
    )
    assert second.code in (0, 1, 2), second.err
    assert "Verdict: " in second.out
    assert "throughput at 2 threads" in second.out
    load, *runs = Run.objects.order_by("pk")
    assert (load.workload.tool, load.workload.parameters["phase"]) == ("go-ycsb", "load")
    assert [(run.load_level.threads, run.repetition) for run in runs[:4]] == [(1, 1), (2, 1), (2, 2), (1, 2)]
    for run in (load, *runs):
        assert (run.state, run.outcome, run.unparsed_lines) == ("sealed", "succeeded", [])
        assert run.data_bytes
        assert has_no_password(mariadb, run)
    assert Series.objects.filter(run=runs[0], metric__key="mysql.status.Com_update").exists()
    mariadb.sql("DROP DATABASE goycsb")
    assert pending.every() == []


@built("go-tpc", "github.com/pingcap/go-tpc/cmd/go-tpc")
def test_go_tpc_is_recognised_by_its_command_and_within_a_script(
    engineer: Command, here: Path, mariadb: MariaDB
) -> None:
    mariadb.sql("CREATE DATABASE gotpc")
    options = ["-H", "127.0.0.1", "-P", mariadb.port, "-U", ACCOUNT, "-p", mariadb.password, "-D", "gotpc"]
    command = ["go-tpc", "tpcc", "run", "--warehouses", "1", "--time", "6s", "--interval", "2s", *options]
    script = here / "bench.sh"
    words = " ".join(map(str, command[:3]))
    rest = " ".join(f"'{word}'" for word in command[3:])
    script.write_text(
        "#!/bin/sh\nset -e\n"
        f"go-tpc tpcc prepare --warehouses 1 -T 2 {' '.join(map(str, options))} >prepared.txt 2>&1\n"
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
        assert (run.workload.tool, run.state, run.outcome, run.unparsed_lines) == ("go-tpc", "sealed", "succeeded", [])
        assert has_no_password(mariadb, run)
    assert Series.objects.filter(run=runs[1], metric__key="client.throughput").exists()
    with urllib.request.urlopen(f"{os.environ['SPLASHBOARD_URL']}/api/v1/runs/{runs[1].pk}/use/") as answer:
        judged = {each["indicator"] for each in json.load(answer)["readings"] if each["value"] is not None}
    assert {"cpu.busy", "row_locks.waiting"} <= judged
    mariadb.sql("DROP DATABASE gotpc")
