"""The other programs of ours on a real MariaDB: a dump loaded, an index's cost, generators, the machine alone."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pymysql.cursors import Cursor

from apps.runs.tool_output import report_values, sysbench_values
from lab.mariadb import MariaDB
from tests.paths import ROOT
from tests.support.waiting import eventually
from tests.workers.agent.programs.started import Ran, run_program, run_step, secrets_for
from tests.workers.agents import AgentProcess, ConfigFile
from tests.workers.server import FakeServer, SeenRun, a_job
from workers.agent.programs.digests import GLOBALS, LOG_FILE, Digests
from workers.agent.programs.order import Order

pytestmark = pytest.mark.mariadb
SLOW_LOG = (
    "SHOW GLOBAL VARIABLES WHERE variable_name IN "
    "('slow_query_log', 'long_query_time', 'slow_query_log_file', 'log_slow_rate_limit', 'log_output')"
)


@pytest.fixture(scope="module")
def generated(mariadb: MariaDB, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Ran]:
    """The second and the third generator, side by side, and a load whose server's slow log is elsewhere."""
    folder = tmp_path_factory.mktemp("generators")
    small = {"tables": 2, "table_size": 1000}
    plans: dict[str, tuple[str, str, dict[str, Any], dict[str, Any]]] = {
        "open_insert": ("asyncload", "asyncload", {"mix": "insert", **small}, {"rate": 50, "warmup": 1}),
        "read_only": ("asyncload", "asyncload", {"mix": "read_only", **small}, {}),
        "slap_insert": ("slap", "slap", {"mix": "insert", "round": 0.5, **small}, {}),
        "slap_read": ("slap", "slap", {"mix": "point_select", "round": 0.5, **small}, {}),
        "far": ("index_cost", "index_cost", {"test": "oltp_insert", "tables": 1, "table_size": 100}, {}),
    }

    def run(name: str) -> Ran:
        module, tool, parameters, level = plans[name]
        return run_program(module, tool, mariadb, folder / name, parameters=parameters, more={"local": False}, **level)

    with ThreadPoolExecutor() as pool:
        return dict(zip(plans, pool.map(run, plans), strict=True))


@pytest.mark.parametrize("name", ["open_insert", "read_only", "slap_insert", "slap_read"])
def test_a_generator_s_report_is_complete_and_its_rows_are_there(generated: dict[str, Ran], name: str) -> None:
    ran = generated[name]
    assert (ran.code, ran.output.complete, ran.output.failures, ran.output.unparsed) == (0, True, (), ()), ran.said
    assert ran.headlines["client.throughput"] > 0
    assert ran.output.intervals
    assert any("rows exist" in label for label in ran.events("check"))


def test_an_open_loop_keeps_its_rate_and_counts_the_measured_phase_alone(generated: dict[str, Ran]) -> None:
    ran = generated["open_insert"]
    assert ran.output.measured == (1.0, 3.0)
    # 3 s at 50 a second. On a busy machine some of them end late, and so not in the measured phase.
    assert "150 inserts were acknowledged, 150 rows exist" in ran.events("check")
    assert 0 < ran.headlines["client.transactions"] <= 150
    assert ran.headlines["client.writes"] == ran.headlines["client.throughput"]
    (distribution,) = ran.output.distributions
    assert distribution.distribution.count == ran.headlines["client.transactions"]
    assert distribution.distribution.percentile(95).value == ran.headlines["client.latency.p95"]


def test_a_transaction_that_reads_is_made_of_fourteen_reads(generated: dict[str, Ran]) -> None:
    values = generated["read_only"].headlines
    # Each of both connections may be amid one at either end of the phase.
    astray = 2 * 2 * 14 / values["client.elapsed"]
    assert values["client.reads"] == pytest.approx(14 * values["client.throughput"], abs=astray)
    assert values["client.writes"] == 0


@pytest.mark.needs("pt-query-digest")
def test_the_cost_of_an_index_is_read_from_the_slow_log_which_is_closed_again(mariadb: MariaDB, tmp_path: Path) -> None:
    before = mariadb.sql(SLOW_LOG)
    ran = run_program(
        "index_cost",
        "index_cost",
        mariadb,
        tmp_path / "index",
        parameters={"tables": 2, "table_size": 2000, "column": "c"},
        more={"local": True},
    )
    assert (ran.code, ran.output.complete, ran.output.failures) == (0, True, ()), ran.said
    assert mariadb.sql(SLOW_LOG) == before
    assert ran.events("phase") == ["without the index", "with the index on c"]
    for name in ("throughput", "latency_p95", "statement_time"):
        for stage in ("with", "without"):
            assert ran.headlines[f"index_cost.{name}_{stage}"] > 0
    assert ran.headlines["index_cost.index_bytes"] > 2 * 2000 * 120
    assert "client.throughput" not in ran.headlines
    table = (tmp_path / "index" / "index_cost.digests.tsv").read_text().splitlines()
    assert {line.split("\t")[0] for line in table[1:]} == {"with", "without"}
    assert any("insert into sbtest" in line.lower() for line in table)


@pytest.fixture
def reader_of_slow_logs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Something that is called pt-query-digest; what it reads does not matter."""
    folder = tmp_path / "programs"
    folder.mkdir()
    (folder / "pt-query-digest").write_text("#!/bin/sh\nexit 1\n")
    (folder / "pt-query-digest").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")


def test_a_slow_log_out_of_reach_leaves_statement_times_out_and_the_run_whole(
    mariadb: MariaDB, tmp_path: Path, reader_of_slow_logs: None
) -> None:
    before = mariadb.sql(SLOW_LOG)
    in_the_way = Path(mariadb.sql("SELECT @@datadir").strip()) / LOG_FILE  # as little to be removed as a foreign file
    in_the_way.mkdir()
    try:
        secrets = secrets_for(mariadb, tmp_path)
        with closing(secrets.connect(schema=False)) as connection, connection.cursor() as cursor:
            digests = Digests(cursor, secrets, work=tmp_path, is_local=True)
            with digests.taken():
                assert mariadb.sql(SLOW_LOG) == before
    finally:
        in_the_way.rmdir()
    assert digests.found == []
    assert digests.refusal.startswith(f"the slow log {in_the_way} is out of the agent's reach")


def test_statements_and_not_sessions_are_sampled_where_the_server_has_the_choice(
    mariadb: MariaDB, tmp_path: Path, reader_of_slow_logs: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Only Percona's servers have it: a text that is of use to replicas alone stands for it.
    choice, stand_in, execute = "log_slow_rate_type", "init_slave", Cursor.execute

    def executed(cursor: Cursor, query: str, args: Any = None) -> int:
        return execute(cursor, query.replace(choice, stand_in), (stand_in,) if args == (choice,) else args)

    monkeypatch.setattr(Cursor, "execute", executed)
    mariadb.sql(f"SET GLOBAL {stand_in} = 'session'")
    try:
        secrets = secrets_for(mariadb, tmp_path)
        with closing(secrets.connect(schema=False)) as connection, connection.cursor() as cursor:
            with Digests(cursor, secrets, work=tmp_path, is_local=True).taken():
                assert mariadb.sql(f"SELECT @@global.{stand_in}").strip() == "query"
            assert mariadb.sql(f"SELECT @@global.{stand_in}").strip() == "session"
    finally:
        mariadb.sql(f"SET GLOBAL {stand_in} = ''")


def test_the_slow_log_is_closed_though_the_connection_that_opened_it_was_ended(
    mariadb: MariaDB, tmp_path: Path, reader_of_slow_logs: None
) -> None:
    before, secrets = mariadb.sql(SLOW_LOG), secrets_for(mariadb, tmp_path)
    with closing(secrets.connect(schema=False)) as connection, connection.cursor() as cursor:
        cursor.execute("SELECT CONNECTION_ID()")
        ((own,),) = cursor.fetchall()
        with Digests(cursor, secrets, work=tmp_path, is_local=True).taken():
            assert mariadb.sql(SLOW_LOG) != before
            mariadb.sql(f"KILL {own}")  # as the server does with one idle for wait_timeout
        assert mariadb.sql(SLOW_LOG) == before
    assert not (tmp_path / GLOBALS).exists()


# Dies while the slow log is open.
DYING = """
import os, shutil, sys
from pathlib import Path
from workers.agent.programs.digests import Digests
from workers.agent.programs.report import read_secrets

shutil.which = str
secrets = read_secrets(Path(sys.argv[1], "secrets"))
digests = Digests(secrets.connect(schema=False).cursor(), secrets, work=Path(sys.argv[1]), is_local=True)
with digests.taken():
    os.kill(os.getpid(), 9)
"""


def test_the_slow_log_of_a_program_that_died_is_closed_by_another(mariadb: MariaDB, tmp_path: Path) -> None:
    before = mariadb.sql(SLOW_LOG)
    secrets_for(mariadb, tmp_path)
    died = subprocess.run([sys.executable, "-c", DYING, str(tmp_path)], cwd=ROOT, check=False)
    assert died.returncode == -signal.SIGKILL
    assert mariadb.sql(SLOW_LOG) != before
    order = Order(tmp_path / "secrets", parameters={}, threads=1, rate=None, warmup=0, duration=0)
    for _ in range(2):  # the second time it has nothing to do
        assert run_step("index_cost", "restore", order).returncode == 0
        assert mariadb.sql(SLOW_LOG) == before


def test_an_account_that_may_not_open_the_slow_log_leaves_statement_times_out(
    mariadb: MariaDB, tmp_path: Path, reader_of_slow_logs: None
) -> None:
    before = mariadb.sql(SLOW_LOG)
    mariadb.sql("CREATE OR REPLACE USER modest@'%' IDENTIFIED BY 'modest'")
    try:
        secrets = replace(secrets_for(mariadb, tmp_path), user="modest", password="modest")
        with closing(secrets.connect(schema=False)) as connection, connection.cursor() as cursor:
            digests = Digests(cursor, secrets, work=tmp_path, is_local=True)
            with digests.taken():
                assert mariadb.sql(SLOW_LOG) == before
    finally:
        mariadb.sql("DROP USER modest@'%'")
    assert digests.refusal.startswith("the slow log cannot be opened: Access denied")


def test_inserts_pay_for_an_index_on_tables_that_hold_rows(
    server: FakeServer, single: ConfigFile, start_agent: Callable[[], AgentProcess]
) -> None:
    server.jobs.append(
        a_job(tool="index_cost", parameters={"test": "oltp_insert", "tables": 1, "table_size": 20_000}, duration=2)
    )
    start_agent()
    eventually(server.job_ends, what="the job has ended")
    assert [(end["outcome"], end["reason"]) for end in server.job_ends()] == [("succeeded", "")]
    (run,) = server.runs.values()
    values = {each.metric: each.value for each in report_values.read(run.artifacts["index_cost.jsonl"]).headlines}
    assert values["index_cost.throughput_with"] > 0 < values["index_cost.throughput_without"]
    assert values["index_cost.index_bytes"] > 20_000 * 4


def test_statement_times_that_cannot_be_seen_are_said_to_be_so(generated: dict[str, Ran]) -> None:
    ran = generated["far"]
    assert (ran.code, ran.output.failures) == (0, ()), ran.said
    assert ran.events("not_observable") == [
        "statement times: performance_schema shows no digests, and the server's slow log is on another machine"
    ]
    assert "index_cost.statement_time_with" not in ran.headlines


def test_three_jobs_of_one_agent_load_a_dump_and_measure_the_machine(
    server: FakeServer, single: ConfigFile, mariadb: MariaDB, start_agent: Callable[[], AgentProcess]
) -> None:
    server.jobs += [
        a_job(tool="data_load", parameters={"rows": 3000}),
        a_job(tool="fileio", parameters={"size_mb": 8, "files": 2, "direct": False}, warmup=1, duration=2),
        a_job(tool="cpu", parameters={}),
    ]
    before = mariadb.sql("SHOW DATABASES")
    agent = start_agent()
    eventually(lambda: len(server.job_ends()) >= 3, what="the jobs have ended")
    assert agent.terminate() == 0
    assert [end["reason"] for end in server.job_ends()] == ["", "", ""]
    assert mariadb.sql("SHOW DATABASES") == before
    assert list((single.spool / "work").iterdir()) == []
    loaded, files, cpu = server.runs.values()
    _check_loaded(loaded)
    _check_files(files)
    _check_cpu(cpu)


def _check_loaded(run: SeenRun) -> None:
    """Its profile came with it, or why there is none."""
    report = run.artifacts["data_load.jsonl"].decode()
    assert "load_order 3000 of 3000" in report
    assert '"data_load.duration":' in report
    if "data_load.perf.txt" in run.artifacts:
        assert b"# Overhead" in run.artifacts["data_load.perf.txt"]
    else:
        assert '"event":"not_observable","label":"profile of the server: ' in report
    assert run.end is not None
    # The work decides how long it takes: the report tells what was measured.
    assert (run.end.measured_from, run.end.measured_to) == (None, None)


def _check_files(run: SeenRun) -> None:
    output = sysbench_values.read(run.artifacts["fileio.txt"])
    values = {headline.metric: headline.value for headline in output.headlines}
    assert (output.complete, output.unparsed) == (True, ())
    assert values["client.file_writes"] > 0
    assert values["client.file_read_mib"] == pytest.approx(values["client.file_reads"] / 64, rel=0.01)
    assert values["client.elapsed"] > 0
    # A second that a checkpoint cut tells nothing, and a busy machine decides which: the others do.
    assert any(row["client.file_read_mib"] for row in output.intervals.values())


def _check_cpu(run: SeenRun) -> None:
    output = sysbench_values.read(run.artifacts["cpu.txt"])
    values = {headline.metric: headline.value for headline in output.headlines}
    assert output.complete
    assert values["client.events"] > 0
    assert "client.throughput" not in values
    assert run.opened is not None
    assert run.opened.command.startswith("sysbench cpu ")
