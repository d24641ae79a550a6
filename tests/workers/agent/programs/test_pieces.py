"""What the programs are made of, without a database: histogram, dump, statements, orders."""

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from apps.runs.samples.histograms import SYSBENCH, HistogramCounts
from tests.paths import DATA
from workers.agent.programs import grid
from workers.agent.programs.digests import Digest, mean_write_time, table_of
from workers.agent.programs.dump import CREATE, Dump, rows_of
from workers.agent.programs.order import Order, arguments, read
from workers.agent.programs.perf_profile import Profile, top_of
from workers.agent.programs.schema_changes import statement
from workers.agent.runtime.config import ServerAddress, SystemConfig
from workers.agent.tools import Finished, InvalidToolParameters, Target
from workers.agent.tools.generators import Slap
from workers.agent.tools.index_cost import IndexCost
from workers.agent.tools.machine import Cpu, FileIO, Machine
from workers.agent.tools.program import ProgramTool
from workers.agent.tools.schema_changes import SchemaChangesUnderLoad
from workers.protocol.wire import LoadLevelMessage

DUMP = {"rows": 1000, "row_bytes": 20, "batch": 300, "foreign_key_checks": False, "profile": True}
LOCAL = Target(address=ServerAddress(port=3307), user="u", schema="s", secrets=Path("/x/secrets"))


def test_latencies_are_counted_on_the_warehouse_s_own_grid() -> None:
    assert [grid.value(place) for place in range(grid.SIZE)] == [
        SYSBENCH.value(place) for place in range(SYSBENCH.size)
    ]
    latencies = [0.0001, 0.001, 0.7, 1.0, 3.3333, 99_999.0, 1e9]
    assert [grid.bucket(latency) for latency in latencies] == [SYSBENCH.bucket(latency) for latency in latencies]


def test_percentiles_of_the_client_are_those_of_the_warehouse() -> None:
    counts = {250: 7, 300: 80, 301: 9, 500: 3, 900: 1}
    held = HistogramCounts(SYSBENCH, tuple(counts), tuple(counts.values()))
    for percent in (50, 95, 99):
        assert grid.percentile(counts, percent) == held.percentile(percent).value
    printed = [value for value, _ in grid.printed(counts)]
    assert SYSBENCH.printed(printed) == tuple(counts)


def test_a_dump_is_the_same_each_time_and_holds_the_rows_that_it_says(tmp_path: Path) -> None:
    dump = Dump(DUMP)
    files = [tmp_path / "a", tmp_path / "b"]
    sizes = [dump.write(file) for file in files]
    assert files[0].read_bytes() == files[1].read_bytes()
    assert sizes[0] == files[0].stat().st_size
    lines = files[0].read_bytes().splitlines()
    assert lines[0] == b"SET SESSION foreign_key_checks=0;"
    assert sum(map(rows_of, lines)) == sum(dump.rows().values()) == 100 + 100 + 50 + 1000
    assert max(map(rows_of, lines)) == 300
    # Parents come before their children.
    assert list(dump.rows()) == list(CREATE)


def test_a_rebuild_in_place_is_forced_since_the_server_would_else_do_it_instantly() -> None:
    assert statement("add_column", "inplace", "none", 2) == (
        "ALTER TABLE sbtest1 ADD COLUMN splash_2 INT NULL, FORCE, ALGORITHM=INPLACE, LOCK=NONE"
    )
    assert statement("add_index", "inplace", "default", 1) == (
        "ALTER TABLE sbtest1 ADD INDEX splash_1 (pad), ALGORITHM=INPLACE"
    )
    assert statement("drop_column", "default", "default", 1) == "ALTER TABLE sbtest1 DROP COLUMN splash_1"


def test_a_program_reads_the_order_that_its_tool_wrote() -> None:
    order = Order(Path("/x/secrets"), {"mix": "insert", "rate": 3.5}, threads=4, rate=120.0, warmup=5, duration=60)
    assert read(list(arguments("run", order))) == ("run", order)
    assert order.work == Path("/x")


@pytest.mark.parametrize(
    ("tool", "parameters", "level", "words"),
    [
        (
            SchemaChangesUnderLoad(),
            {},
            {"threads": 4},
            "has no rate; a stall shows against a load at a fixed rate only",
        ),
        (SchemaChangesUnderLoad(), {}, {"threads": 4, "rate": 0.5}, "sysbench takes whole numbers"),
        (
            SchemaChangesUnderLoad(),
            {"count": 10},
            {"threads": 4, "rate": 50},
            "the last statement would come after 100 s",
        ),
        (Slap(), {"mix": "insert"}, {"threads": 4, "rate": 50}, "mysqlslap knows no fixed rate"),
    ],
)
def test_a_load_level_that_says_nothing_is_refused(
    tool: ProgramTool, parameters: dict[str, Any], level: dict[str, Any], words: str
) -> None:
    with pytest.raises(InvalidToolParameters, match=words):
        tool.run(LOCAL, parameters, load_level=LoadLevelMessage(**level), warmup=0, duration=60)


@pytest.mark.parametrize(
    ("server", "unmatched", "broken"),
    [
        ({"Com_update": 1000, "Com_select": 500}, 0, []),
        ({"Com_update": 1040, "Com_select": 900}, 0, []),  # others' statements beside the load
        ({"Com_update": 900, "Com_select": 500}, 0, ["writes"]),
        ({"Com_update": 1200, "Com_select": 500}, 0, []),  # others wrote
        ({"Com_update": 1000, "Com_select": 100}, 0, ["reads"]),
        ({"Com_update": 1030, "Com_select": 500}, 30, ["matched"]),
    ],
)
def test_what_a_program_executed_must_be_what_the_server_counted_and_have_changed_rows(
    server: dict[str, int], unmatched: int, broken: list[str], tmp_path: Path
) -> None:
    output = tmp_path / "output"
    output.write_text(
        '{"kind":"total","from":0,"to":1,"counts":{"writes":7},"values":{}}\n'
        f'{{"kind":"note","executed":{{"reads":500,"writes":1000,"errors":0,"unmatched":{unmatched}}},'
        '"setup":{"writes":0},"text":""}\n'
    )
    system = SystemConfig("s", "s", "mariadb", "box", ServerAddress(), "u", "", "s", (), {})
    before = {"Uptime": 1, "Com_update": 5, "Com_select": 7}
    after = {name: before[name] + server.get(name, 1) for name in before}
    finished = Finished(system, "s", {}, output, before=before, after=after)
    assert [check.name for check in IndexCost().verify(finished) if not check.held] == broken
    assert not any(check.name == "writes" for check in IndexCost().verify(replace(finished, before={})))


@pytest.mark.parametrize("tool", [FileIO(), Cpu()])
def test_the_machine_of_a_remote_database_is_not_measured_from_afar(tool: Machine) -> None:
    far = Target(address=ServerAddress(host="10.0.0.4"), user="u", schema="", secrets=Path("/x/secrets"))
    with pytest.raises(
        InvalidToolParameters, match=f"{tool.name} measures the machine that the agent runs on, and 10.0.0.4"
    ):
        tool.prepare(far, {})
    assert tool.data_set({}).tables == ()


@pytest.mark.parametrize("printed", ["fileio", "fileio_1_1"])
def test_requests_of_the_requested_kind_are_counted_as_sysbench_1_0_and_1_1_print_them(printed: str) -> None:
    system = SystemConfig("s", "s", "mariadb", "box", ServerAddress(), "u", "", "s", (), {})
    output = DATA / "outputs" / "sysbench" / f"{printed}.txt"
    for mode, rate in (("rndrd", "39659.5"), ("seqwr", "26439.7")):
        (check,) = FileIO().verify(Finished(system, "s", {"mode": mode}, output, before={}, after={}))
        assert (check.held, rate in check.label) == (True, True)


def test_the_mean_time_of_writes_leaves_reads_and_commits_out() -> None:
    found = [
        Digest("UPDATE `t` SET `k` = ?", 10, 20.0, 10),
        Digest("delete from t where id=?", 10, 10.0, 10),
        Digest("COMMIT", 1000, 9000.0, 0),
        Digest("SELECT 1", 5, 1.0, 0),
    ]
    assert mean_write_time(found) == 1.5
    assert mean_write_time(found[2:]) is None
    assert table_of({"with": found}).splitlines()[1] == "with\t10\t20.000\t2.0000\t10\tUPDATE `t` SET `k` = ?"


def test_the_top_of_perf_s_table_is_read() -> None:
    table = DATA / "outputs" / "perf" / "report_flat.txt"
    top = top_of(table.read_text())
    assert top[0] == [19.71, "[kernel.kallsyms]", "finish_task_switch.isra.0"]
    assert [2.35, "mariadbd", "MYSQLparse"] in top


def test_a_profile_without_a_sample_is_said_to_be_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # A stand-in for perf, whose server got no processor: it records until it is interrupted, and has headings alone.
    perf = tmp_path / "perf"
    perf.write_text(
        "#!/bin/sh\n"
        'if [ "$1" = report ]; then echo "# To display the perf.data header info"; exit; fi\n'
        'trap "exit 0" INT\n'
        "while [ $# -gt 0 ]; do [ $1 = -o ] && touch $2; shift; done\n"
        "while :; do sleep 0.05; done\n"
    )
    perf.chmod(0o700)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    with Profile(os.getpid(), tmp_path / "found.txt") as profile:
        assert profile.refusal == ""
    assert profile.refusal == "perf took no sample of the server"
    assert not profile.file.exists()
