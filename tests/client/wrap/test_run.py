"""`splashboard run` against a real server, with scripts that print what real tools printed."""

import json
import os
import stat
from pathlib import Path

import pytest

from apps.runs.models import Run
from splashboard.wrap import flow, pending
from tests.client.answers import a_stored_run
from tests.client.conftest import Command, FakeServer
from tests.rest.submissions import NO_TABLE, POINT_SELECT

LIVE = pytest.mark.django_db(transaction=True)
SERVER = ("--platform", "mariadb", "--server-version", "10.11.19-MariaDB")
OPTIONS = "oltp_point_select --tables=4 --table-size=100000 --mysql-password=swordfish --threads=16"


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state" / "splashboard" / "pending"


@pytest.fixture
def sysbench(tmp_path: Path) -> Path:
    """Prints a recorded output, which $OUTPUT names, with a throughput that differs a little from run to run."""
    count = tmp_path / "count"
    varied = f'n=$(cat {count} 2>/dev/null || echo 1); echo $((n + 1)) >{count}; sed "s/0\\.11 per sec/$n.11 per sec/"'
    return a_script(tmp_path / "bin" / "sysbench", f'{varied} "$OUTPUT"; [ -z "$FAIL" ]')


def a_script(path: Path, text: str) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


@LIVE
def test_a_command_is_run_as_it_is_and_what_it_measured_is_compared(
    engineer: Command, sysbench: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, state: Path
) -> None:
    monkeypatch.setenv("OUTPUT", str(POINT_SELECT))
    wrapped = ("--", sysbench, *OPTIONS.split(), "run")
    before = engineer("run", *SERVER, "--variant", "before", "--repeat", 3, "--tag", "mine", *wrapped)
    assert before.code == 0, before.err
    assert before.err.count(": throughput 4498") == 3
    runs = list(Run.objects.order_by("id"))
    assert [run.repetition for run in runs] == [1, 2, 3]
    assert {run.outcome for run in runs} == {"succeeded"}
    run = runs[0]
    assert run.workload.parameters == {"test": "oltp_point_select", "tables": 4, "table_size": 100000}
    assert "--mysql-password=*" in run.command
    assert "swordfish" not in json.dumps([run.command, run.host])
    assert run.host["name"] == os.uname().nodename
    assert run.tags == ["before", "mine"]
    assert run.system.settings == {"variant": "before"}

    slower = POINT_SELECT.read_text().replace("(44980.11 per sec.)", "(30000.11 per sec.)")
    assert slower != POINT_SELECT.read_text()
    (tmp_path / "slower").write_text(slower)
    monkeypatch.setenv("OUTPUT", str(tmp_path / "slower"))
    after = engineer("run", *SERVER, "--variant", "after", "--baseline", "before", "--repeat", 3, *wrapped)
    assert after.code == 1, (after.err, after.out)
    assert "Verdict: worse: " in after.out
    assert "/compare/?side=" in after.out
    assert pending.every() == []
    same = engineer("run", *SERVER, "--variant", "before", "--baseline", "before", *wrapped)
    assert (same.code, Run.objects.count()) == (3, 6)
    assert "--variant NAME" in same.err


@LIVE
def test_a_script_gets_the_load_levels_and_each_of_its_runs_is_one(
    engineer: Command, sysbench: Path, tmp_path: Path
) -> None:
    a_script(sysbench, 'head -n 1 "$OUTPUT"; sleep 0.5; tail -n +2 "$OUTPUT"')
    lines = f"echo preparing; export OUTPUT={POINT_SELECT}; {sysbench} {OPTIONS} run; echo done"
    script = a_script(tmp_path / "bench.sh", lines)
    said = engineer("run", *SERVER, "--", script)
    assert said.code == 0, said.err
    run = Run.objects.get()
    assert run.workload.parameters["table_size"] == 100000
    assert run.load_level.threads == 16
    assert "done" in run.unparsed_lines
    wrong = engineer("run", *SERVER, "--threads", "16,32", "--", script)
    assert wrong.code == 3
    assert "$SPLASHBOARD_THREADS" in wrong.err


@LIVE
def test_a_server_on_another_machine_is_described_by_the_same_command(
    engineer: Command, sysbench: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OUTPUT", str(POINT_SELECT))
    wrapped = ("--", sysbench, *OPTIONS.split(), "--mysql-host=db9", "run")
    unknown = engineer("run", *SERVER, "--hardware", "db9-box", *wrapped)
    assert unknown.code == 3
    assert "'db9-box' is not in the catalog" in unknown.err
    assert "by --cpus N and --memory GIB" in unknown.err
    said = engineer("run", *SERVER, "--hardware", "db9-box", "--cpus", 16, "--memory", 64, *wrapped)
    assert said.code == 0, said.err
    kept = Run.objects.get().system.hardware_class
    assert (kept.slug, kept.name) == ("db9-box", "db9-box, 16 CPUs, 64 GiB")
    assert (kept.vcpu, kept.memory_bytes) == (16, 64 * 2**30)
    again = engineer("run", *SERVER, "--hardware", "db9-box", *wrapped)
    assert again.code == 0, again.err


@LIVE
def test_a_failed_command_has_a_code_of_its_own_and_its_run_is_stored(
    engineer: Command, sysbench: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OUTPUT", str(NO_TABLE))
    monkeypatch.setenv("FAIL", "yes")
    said = engineer("run", *SERVER, "--repeat", 3, "--", sysbench, *OPTIONS.split(), "run")
    assert said.code == 7
    assert "2 of 3 runs were not started" in said.err
    run = Run.objects.get()
    assert run.outcome == "failed"
    assert run.reason.startswith("exit code 1; ")


@LIVE
def test_what_the_network_kept_back_is_sent_later_once(
    engineer: Command, sysbench: Path, monkeypatch: pytest.MonkeyPatch, state: Path, fake: FakeServer
) -> None:
    monkeypatch.setenv("OUTPUT", str(POINT_SELECT))
    fake.answers = [(503, {"Retry-After": "99"}, b"")]
    wrapped = ("--", sysbench, *OPTIONS.split(), "run")
    said = engineer("run", "--url", fake.url, "--timeout", "0.1", *SERVER, "--repeat", 2, *wrapped)
    assert said.code == 5, said.err
    kept = pending.every()
    assert len(kept) == 2
    for path in (*state.rglob("*"), state):
        wanted = 0o700 if path.is_dir() else 0o600
        assert stat.S_IMODE(path.stat().st_mode) == wanted
        assert path.is_dir() or b"swordfish" not in path.read_bytes()

    assert "not http" in engineer("submit", "--pending").out
    for each in kept:
        (each.place / "state.json").write_text(json.dumps({**each.state, "url": os.environ["SPLASHBOARD_URL"]}))
    assert engineer("submit", "--pending").code == 0
    assert Run.objects.count() == 2
    assert pending.every() == []


@pytest.mark.parametrize(
    ("options", "away"),
    [
        (["--timeout", "30"], 1),  # also while it measures
        ([], 2),  # at the end
    ],
)
def test_an_upload_is_tried_again_for_the_time_that_was_given_and_at_the_end_for_the_usual_time(
    command: Command,
    sysbench: Path,
    monkeypatch: pytest.MonkeyPatch,
    fake: FakeServer,
    options: list[str],
    away: int,
) -> None:
    monkeypatch.setenv("OUTPUT", str(POINT_SELECT))
    monkeypatch.setattr(flow, "SENT_WITHIN", 0.1)
    run = json.dumps(a_stored_run()).encode()
    fake.answers = [(201, {}, b'{"slug": "mine"}'), *[(503, {}, b"")] * away, (201, {}, run)]
    wrapped = ("--", sysbench, *OPTIONS.split(), "run")
    said = command("run", "--url", fake.url, *options, *SERVER, *wrapped)
    assert said.code == 0, said.err
    assert ("the run is kept in" in said.err) == (not options)
    assert pending.every() == []


def test_while_the_servers_disk_is_full_measuring_goes_on_and_the_runs_are_kept(
    command: Command, sysbench: Path, monkeypatch: pytest.MonkeyPatch, fake: FakeServer
) -> None:
    monkeypatch.setenv("OUTPUT", str(POINT_SELECT))
    problem = b'{"detail": "var/ has 12 MB free and needs 625 MB"}'
    fake.answers = [(507, {"Retry-After": "30", "Content-Type": "application/problem+json"}, problem)]
    wrapped = ("--", sysbench, *OPTIONS.split(), "run")
    monkeypatch.setenv("SPLASHBOARD_TOKEN", "t0p")
    said = command("run", "--url", fake.url, *SERVER, "--repeat", 2, *wrapped)
    assert said.code == 5, said.err
    assert "var/ has 12 MB free and needs 625 MB" in said.err
    assert len(pending.every()) == 2


def test_wrong_options_name_the_field_and_the_remedy(command: Command, tmp_path: Path) -> None:
    (tmp_path / "my.cnf").write_text("[mysqld]\nport=1\n")
    url = ("run", "--url", "http://127.0.0.1:9", "--timeout", "0.1")
    for typed, words in (
        ([], "Write it after --"),
        (["--threads", "4,4", "--", "true"], "--threads: '4,4'"),
        (["--repeat", "0", "--", "true"], "--repeat: "),
        (["--warmup", "-1", "--", "true"], "--warmup: write seconds"),
        (["--dsn", "oracle://me:hunter22@a/b", "--", "true"], "--dsn: does not begin with mysql:// or postgresql://"),
        (["--dsn", "postgres://me:hunter22@a:b/b", "--", "true"], "--dsn: its port"),
        (["--dsn", "mysql://me:hunter22@a:b/b", "--", "true"], "--dsn: its port"),
        (["--defaults-file", str(tmp_path / "my.cnf"), "--", "true"], "no group [client]"),
        (["--parameter", "warehouses", "--", "true"], "--parameter: 'warehouses'"),
        (["--", "true"], "--platform and --server-version"),
        ([*SERVER, "--", "tpcc_start", "-c", "4"], "--parameter warehouses="),
        ([*SERVER, "--", "sysbench", "my_own.lua", "run"], "workload.parameters.test is 'my_own'"),
        ([*SERVER, "--", "mysqlslap", "--concurrency=4"], "add --csv"),
        ([*SERVER, "--", "sysbench", "oltp_insert", "--mysql-host=db9", "run"], "--hardware: db9"),
        (
            [*SERVER, "--hardware", "db9", "--cpus", "4", "--", "true"],
            "--hardware KEY, --cpus N and --memory GIB together",
        ),
        ([*SERVER, "--cpus", "4", "--memory", "8", "--", "true"], "--hardware KEY, --cpus N and --memory GIB together"),
        ([*SERVER, "--hardware", "db9", "--cpus", "0", "--memory", "8", "--", "true"], "--cpus: write 1 to"),
        ([*SERVER, "--hardware", "db9", "--cpus", "4", "--memory", "nan", "--", "true"], "--memory: write GiB"),
        ([*SERVER, "--", str(tmp_path / "nothing")], "cannot be started"),
    ):
        said = command(*url, *typed)
        assert said.code == 3, (typed, said)
        assert words in said.err
        assert "hunter22" not in said.err
