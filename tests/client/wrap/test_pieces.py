"""Parts of `splashboard run` that need no server."""

import os
import pty
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from splashboard.wrap import outputs, postgresql, redact, tools
from splashboard.wrap.target import LoadedServer, of_dsn, of_file
from splashboard.wrap.tools import Asked, adapted, blocks, find, takes_threads
from tests.paths import DATA, ROOT
from tests.rest.submissions import POINT_SELECT
from tests.runs.tool_output.parsers.outputs import RUNS
from tests.support.waiting import LIMIT
from workers.protocol import secrets
from workers.protocol.workloads import sysbench

SYSBENCH = ["sysbench", "oltp_read_only", "--time=60", "--threads=2", "run"]


def test_client_and_server_hide_the_same_secrets() -> None:
    def plain(pattern: "re.Pattern[str]") -> tuple[str, int]:
        """Without possessive quantifiers, which Python 3.9 does not know."""
        return re.sub(r"(?<!\\)([*+?])\+", r"\1", pattern.pattern), pattern.flags

    assert plain(secrets.NAME) == (redact.NAME.pattern, redact.NAME.flags)
    assert [plain(each) for each in secrets.IN_COMMANDS] == [(each.pattern, each.flags) for each in redact.IN_COMMANDS]
    assert plain(secrets.ITS_PASSWORD) == (redact.ITS_PASSWORD.pattern, redact.ITS_PASSWORD.flags)
    assert [plain(each) for each in secrets.ANYWHERE] == [(each.pattern, each.flags) for each in redact.ANYWHERE]
    for text in (
        "sysbench --mysql-password=swordfish --threads=4 run",
        "mysql -uroot -pswordfish -P3306",
        "mysql://root:swordfish@db1/sbtest",
        "MYSQL_PWD=swordfish mysqldump --all-databases",
        'password = "swordfish"',
        "CREATE USER a IDENTIFIED BY 'swordfish'",
        "bin/ycsb.sh run jdbc -P workloads/workloada -p db.passwd=swordfish -p 'db.passwd=the swordfish' -s",
        "go-ycsb run mysql -p mysql.password=swordfish --threads 8",
        "go-tpc tpcc run -H db1 -p swordfish -T 8",
        "go-tpc tpcc run -p=swordfish --password swordfish -pswordfish",
        '"mysql.password"="swordfish"',
        "Changed tpcc:mysql_pass from old to swordfish for MySQL",
    ):
        assert redact.command(text) == secrets.without_secret_options(text)
        hidden = redact.output(text.encode())
        assert hidden == secrets.without_secrets_in(text.encode())
        assert b"swordfish" not in hidden or "-P3306" in text
        assert secrets.first_secret(redact.output(redact.command(text).encode())) is None
    open_quote = "pgbench 'host=db1 password=\\'the swordfish"
    assert redact.command(open_quote) == secrets.without_secret_options(open_quote) == "pgbench 'host=db1 password=*"
    assert redact.output(b"+ PING swordfish99", ["swordfish99"]) == b"+ PING *"
    variables = {"primary_conninfo": "password=swordfish", "work_mem": "4096 kB", "x": "postgres://a:swordfish@b/c"}
    assert (
        redact.variables(variables)
        == secrets.without_secrets(variables)
        == {
            "work_mem": "4096 kB",
            "x": "postgres://a:*@b/c",
        }
    )
    assert redact.output(b"total: 12345", ["1234"]) == b"total: 12345"


def test_the_clients_list_of_sysbenchs_tests_is_the_servers() -> None:
    assert tools.SYSBENCH_TESTS == sysbench.TESTS


@pytest.mark.parametrize(
    ("command", "tool", "parameters", "threads", "host"),
    [
        (
            "go-tpc tpcc run --warehouses 4 -T 8 -H db1 -P 3306 -U b -p x -D tpcc --time 60s --wait",
            *("go-tpc", {"benchmark": "tpcc", "warehouses": 4, "wait": True}, 8, "db1"),
        ),
        ("go-tpc tpch run --sf=2", "go-tpc", {"benchmark": "tpch", "sf": 2}, 1, "127.0.0.1"),
        (
            "bin/ycsb.sh run jdbc -P workloads/workloadb -threads 16 -p db.url=jdbc:mysql://db2:3306/y -p db.passwd=x"
            " -p recordcount=1000 -p operationcount=5 -s",
            *("ycsb", {"workload": "workloadb", "recordcount": 1000, "phase": "run"}, 16, "db2"),
        ),
        (
            "java -cp x site.ycsb.Client -load -db site.ycsb.db.JdbcDBClient -P workloads/workloada",
            *("ycsb", {"workload": "workloada", "phase": "load"}, None, ""),
        ),
        (
            "go-ycsb run mysql -P workloads/workloada -p mysql.host=db3 -p mysql.password=x -p threadcount=4",
            *("go-ycsb", {"workload": "workloada", "phase": "run"}, 4, "db3"),
        ),
    ],
)
def test_go_tpc_and_ycsb_are_known_by_their_command_lines(
    command: str, tool: str, parameters: dict[str, object], threads: int | None, host: str
) -> None:
    found = find(command.split())
    assert found is not None
    assert (found.tool, dict(found.parameters), found.threads, found.host) == (tool, parameters, threads, host)
    assert found.format == tool


def test_ycsbs_threads_may_stand_in_its_file_of_properties(tmp_path: Path) -> None:
    plain, heavy = tmp_path / "plain", tmp_path / "heavy"
    plain.write_text("recordcount=1000\n#threadcount=5\n")
    heavy.write_text("recordcount=1000\nthreadcount = 16\n")
    command = f"bin/ycsb.sh run jdbc -P {plain}"
    for words, threads in (
        (command, 1),
        (f"{command} -P {heavy}", 16),
        (f"{command} -P {heavy} -threads 4", 4),
        (f"{command} -P {tmp_path}/nowhere", None),
    ):
        found = find(words.split())
        assert found is not None
        assert found.threads == threads


def test_of_go_tpc_only_a_run_in_plain_style_is_measured() -> None:
    assert find(["go-tpc", "tpcc", "prepare", "--warehouses", "4"]) is None
    table = find(["go-tpc", "tpcc", "run", "--output", "table"])
    assert table is not None
    assert "leave --output out" in table.problem
    assert adapted(["go-tpc", "tpcc", "run", "-T", "4"], Asked(16))[-1] == "--threads=16"


@pytest.mark.parametrize(
    ("name", "before"),
    [
        ("go_tpc/tpcc.txt", b"2026/11/27 15:00:00 maxprocs: Leaving GOMAXPROCS=2\ncreating table\nFinished\n"),
        ("go_ycsb/run.txt", b"preparing\n"),
        ("ycsb/workloada.txt", b""),
    ],
)
def test_their_runs_are_found_in_what_a_script_prints(name: str, before: bytes) -> None:
    text = (ROOT / "tests" / "data" / "outputs" / name).read_bytes()
    reader = outputs.OutputReader()
    for second, line in enumerate((before + text + text).splitlines(keepends=True)):
        reader.add(line, float(second))
    found = reader.runs()
    assert [each.kind for each in found] == [name.partition("/")[0].replace("_", "-")] * 2
    whole = {value.metric: value.value for value in RUNS[name](text).values}
    for each in found:
        assert {value.metric: value.value for value in RUNS[name](each.content).values} == whole


def test_levels_come_in_blocks_of_alternating_order() -> None:
    assert blocks([1, 4, 16], 2) == [(1, 1), (1, 4), (1, 16), (2, 16), (2, 4), (2, 1)]
    assert blocks([None], 2) == [(1, None), (2, None)]


def test_threads_and_warmup_reach_the_command() -> None:
    assert adapted(SYSBENCH, Asked(16)) == ["sysbench", "oltp_read_only", "--time=60", "--threads=16", "run"]
    assert adapted(SYSBENCH, Asked(None, 30.0)) == [
        *("sysbench", "oltp_read_only", "--time=90", "--threads=2", "--report-checkpoints=30", "run")
    ]
    assert adapted(["nice", "/usr/bin/mysqlslap", "--csv"], Asked(4))[-1] == "--concurrency=4"
    assert adapted(["./bench.sh", "-t", "{threads}", "{warmup}"], Asked(4, 2.5)) == ["./bench.sh", "-t", "4", "2.5"]
    assert Asked(4, 30.0).environment() == {"SPLASHBOARD_THREADS": "4", "SPLASHBOARD_WARMUP": "30"}
    assert adapted(SYSBENCH, Asked()) == SYSBENCH


def test_tools_are_recognised_by_their_command_lines() -> None:
    lua = ["taskset", "-c", "1", "/usr/bin/sysbench", "/usr/share/sysbench/oltp_insert.lua", "--table_size=5", "run"]
    found = find(lua)
    assert found is not None
    assert (found.format, found.parameters) == ("sysbench", {"test": "oltp_insert", "tables": 1, "table_size": 5})
    remote = find(["ssh", "load1", "sysbench oltp_insert --mysql-host=db1 --rand-type=uniform --rate=5 run"])
    assert remote is not None
    assert (remote.host, remote.parameters["rand_type"], "rate" in remote.parameters) == ("db1", "uniform", False)
    for argv, tool, parameters in (
        (["sysbench", "cpu", "--cpu-max-prime=20000", "run"], "cpu", {"max_prime": 20000}),
        (["./tpcc_start", "-h127.0.0.1", "-w", "10", "-c8"], "tpcc-mysql", {"warehouses": 10}),
        (["mysqlslap", "--csv=a", "--concurrency=8", "--engine=innodb"], "mysqlslap", {"engine": "innodb"}),
        (["java", "-jar", "benchbase.jar", "-b", "tpcc"], "benchbase", {"benchmark": "tpcc"}),
        (["hammerdbcli", "auto", "run.tcl"], "hammerdb", {}),
    ):
        known = find(argv)
        assert known is not None
        assert (known.tool, known.parameters) == (tool, parameters)
    for other in (["sysbench", "oltp_insert", "prepare"], ["sh", "-c", "sysbench oltp_insert run"], ["./bench.sh"]):
        assert find(other) is None


def test_pgbench_is_recognised_with_its_load_and_server() -> None:
    found = find(["nice", "pgbench", "-Sc", "8", "-R", "250", "-h", "db1", "-p5433", "-U", "me", "bench"])
    assert found is not None
    assert (found.tool, found.parameters, found.threads, found.rate) == ("pgbench", {}, 8, 250.0)
    assert (found.host, found.port, found.connection) == (
        "db1",
        5433,
        ["-h", "db1", "-p", "5433", "-U", "me", "-d", "bench"],
    )
    for database in ("postgresql://me:x@db2:99/b", "host=db2 port=99 dbname=b"):
        by_text = find(["pgbench", "-N", database])
        assert by_text is not None
        assert (by_text.host, by_text.port) == ("db2", 99)
    for connecting in ("-SC", "--connect"):
        anew = find(["pgbench", connecting, "bench"])
        assert anew is not None
        assert anew.parameters == {"connect": True}
    assert find(["pgbench", "-i", "-s", "10"]) is None
    assert find(["pgbench", "--no-such-option"]) is None


def test_threads_become_pgbenchs_clients_and_worker_threads() -> None:
    assert adapted(["pgbench", "-S", "-c", "4", "-j4", "b"], Asked(16)) == [
        "pgbench",
        "--client=16",
        "--jobs=16",
        "-S",
        "b",
    ]
    assert adapted(["pgbench", "--client=8", "--jobs", "2"], Asked(1)) == ["pgbench", "--client=1", "--jobs=1"]
    assert adapted(["pgbench", "-c8", "-j", "2"], Asked(64)) == ["pgbench", "--client=64", "--jobs=2"]


def test_fio_is_recognised_if_it_prints_json_and_its_jobs_are_set_where_it_has_one() -> None:
    command = ["fio", "--name=a", "--rw=read", "--numjobs=2", "--output-format", "json+", "--output=r.json"]
    found = find(command)
    assert found is not None
    assert (found.format, found.threads, found.file, found.problem) == ("fio", 2, "r.json", "")
    assert "--numjobs=8" in adapted(command, Asked(8))
    assert (takes_threads(command), takes_threads(["fio", "jobs.fio"])) == (True, False)
    plain = find(["fio", "jobs.fio"])
    assert plain is not None
    assert "add --output-format=json" in plain.problem


def test_outputs_of_pgbench_and_fio_are_divided_into_their_runs() -> None:
    names = ("pgbench/select.txt", "pgbench/version_13.txt", "pgbench/killed.txt", "pgbench/limit.txt", "fio/noise.txt")
    texts = [(DATA / "outputs" / name).read_bytes() for name in names]
    reader = outputs.OutputReader()
    for t, line in enumerate(b"".join(texts).splitlines(keepends=True)):
        reader.add(line, float(t))
    found = reader.runs()
    assert [(each.format, each.threads) for each in found] == [
        *(("pgbench", 4), ("pgbench", 8), ("pgbench", None), ("pgbench", 2), ("fio", None))
    ]
    assert [each.content for each in found[:3]] == texts[:3]
    assert found[4].content.startswith(b'{\n  "fio version"')


def test_an_output_is_divided_into_its_runs() -> None:
    lines = POINT_SELECT.read_bytes().splitlines(keepends=True)
    prepare = [b"sysbench 1.0.20 (using bundled LuaJIT)\n", b"Creating table 'sbtest1'...\n"]
    reader = outputs.OutputReader()
    for t, line in enumerate([b"my own words\n", *prepare, *lines, *prepare[:1], *lines]):
        reader.add(line, float(t))
    assert [each.content for each in reader.runs()] == [b"".join(lines), b"".join(lines)]
    first = reader.runs()[0]
    assert (first.kind, first.threads, first.began) == ("sysbench", 16, 3.0)


def test_a_target_is_read_from_a_dsn_or_an_option_file(tmp_path: Path) -> None:
    wanted = LoadedServer(user="me", password="p@ss", host="db1", port=3307, schema="sbtest")
    assert of_dsn("mysql://me:p%40ss@db1:3307/sbtest") == wanted
    assert of_dsn("mysql://me@/sbtest?socket=/run/s").endpoint == "/run/s"
    assert "p@ss" not in repr(wanted)
    file = tmp_path / "my.cnf"
    file.write_text("[client]\nuser=me\npassword='p@ss'\nhost=db1\nport=3307\ndatabase=sbtest\nquick\n")
    assert of_file(str(file)) == wanted


def test_a_dsn_of_postgresql_is_psqls_argument_without_its_password() -> None:
    found = of_dsn("postgresql://me:p%40ss@db1:5433/bench?sslmode=require")
    assert (found.kind, found.password, found.host, found.port) == ("postgresql", "p@ss", "db1", 5433)
    assert found.connection == ("-d", "postgresql://me@db1:5433/bench?sslmode=require")
    assert "p@ss" not in repr(found)
    socket = of_dsn("postgres://me@/bench?host=/run/postgresql&port=5434")
    assert (socket.is_local, socket.port, socket.endpoint) == (True, 5434, "localhost:5434")


@pytest.mark.parametrize(
    ("typed", "left", "password"),
    [
        ("bench", "bench", ""),
        ("postgresql://me:x%20y@db/b", "postgresql://me@db/b", "x y"),
        ("postgres://db/b?password=x&user=me", "postgres://db/b?user=me", "x"),
        ("postgres://db/b?user=me&password=x", "postgres://db/b?user=me", "x"),
        ("host=db password=hunter2 dbname=b", "host=db dbname=b", "hunter2"),
        (r"host=db password = 'it\'s' dbname=b", "host=db dbname=b", "it's"),
        ("host=db sslpassword=x dbname=b", "host=db sslpassword=x dbname=b", ""),
    ],
)
def test_a_password_in_a_connection_string_is_taken_out_of_it(typed: str, left: str, password: str) -> None:
    assert postgresql.without_password(typed) == (left, password)
    found = find(["pgbench", "-S", typed])
    assert found is not None
    assert (list(found.connection), found.password) == (["-d", left], password)
    assert not password or password not in repr(found)


def test_a_command_on_another_machine_or_in_a_container_is_carried() -> None:
    assert tools.is_carried(["ssh", "db1", "pgbench", "-S"])
    assert tools.is_carried(["docker", "exec", "pg", "pgbench", "-S"])
    assert not tools.is_carried(["nice", "pgbench", "-S", "ssh"])


WRAPPED = "import sys; from splashboard.cli import main; sys.exit(main())"


@pytest.fixture
def wrapped(tmp_path: Path) -> "list[str]":
    script = tmp_path / "bench.sh"
    script.write_text(f"#!/bin/sh\n[ -t 1 ] && echo on a terminal\ncat $1; exec sleep {2 * LIMIT:.0f}\n")
    script.chmod(0o755)
    options = ["--platform", "mariadb", "--server-version", "11.4.2", "--url", "http://127.0.0.1:9", "--timeout", "0.1"]
    return [sys.executable, "-c", WRAPPED, "run", *options, "--", str(script), str(POINT_SELECT)]


def test_an_interrupt_stops_the_command_and_keeps_what_was_measured(wrapped: "list[str]", tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "client"), "XDG_STATE_HOME": str(tmp_path)}
    process = subprocess.Popen(wrapped, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    while b"execution time (avg/stddev)" not in process.stdout.readline():
        pass
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=LIMIT)  # by itself the command goes on for longer
    assert process.returncode == 130, err
    (kept,) = (tmp_path / "splashboard" / "pending").iterdir()
    assert (kept / "output").read_bytes() == POINT_SELECT.read_bytes()


def test_on_a_terminal_the_command_has_one_and_its_output_is_live(wrapped: "list[str]", tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "client"), "XDG_STATE_HOME": str(tmp_path)}
    own, other = pty.openpty()
    process = subprocess.Popen(wrapped, env=environment, stdout=other, stderr=other, start_new_session=True)
    os.close(other)
    seen = b""
    while b"execution time (avg/stddev)" not in seen:
        seen += os.read(own, 65536)
    assert b"on a terminal" in seen
    assert b"run 1 of 1" in seen
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=LIMIT) == 130
    os.close(own)
