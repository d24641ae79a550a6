import re
from pathlib import Path
from typing import Any

import pytest

from tests.paths import RECORDINGS
from workers.agent.runtime.config import ServerAddress
from workers.agent.tools import InvalidToolParameters, Target
from workers.agent.tools.registry import UnknownTool, tool_named
from workers.agent.tools.sysbench import Sysbench
from workers.protocol.wire import LoadLevelMessage
from workers.protocol.workloads.sysbench import TESTS

TARGET = Target(
    address=ServerAddress(host="10.0.0.4", port=3307), user="bench", schema="sb", secrets=Path("/x/secrets")
)
PARAMETERS = {"test": "oltp_write_only", "tables": 3, "table_size": 1000}


def a_run(parameters: dict[str, Any] = PARAMETERS, *, rate: float | None = None, warmup: float = 0) -> list[str]:
    level = LoadLevelMessage(threads=4, rate=rate)
    return list(Sysbench().run(TARGET, parameters, load_level=level, warmup=warmup, duration=10).argv)


def test_the_command_is_what_the_plan_says() -> None:
    assert a_run(warmup=5, rate=200) == [
        "sysbench",
        "oltp_write_only",
        "--config-file=/x/secrets",
        "--db-driver=mysql",
        "--mysql-host=10.0.0.4",
        "--mysql-port=3307",
        "--mysql-user=bench",
        "--mysql-db=sb",
        "--tables=3",
        "--table-size=1000",
        "--threads=4",
        "--time=15",
        "--report-interval=1",
        "--histogram=on",
        "--percentile=95",
        "--rate=200",
        "--report-checkpoints=5",
        "run",
    ]


def test_without_a_warm_up_there_is_no_checkpoint() -> None:
    assert not any("checkpoint" in option for option in a_run())


def test_options_are_the_same_in_prepare_and_run() -> None:
    """On Galera a table prepared with auto_inc and run without it reads three times too high."""
    parameters = {**PARAMETERS, "auto_inc": "off", "skip_trx": True, "rand_type": "uniform", "range_size": "50"}
    prepare = Sysbench().prepare(TARGET, parameters).argv
    for option in ("--auto-inc=off", "--skip-trx=on", "--rand-type=uniform", "--range-size=50"):
        assert option in prepare
        assert option in a_run(parameters)


def test_a_duplicate_key_ends_a_run_only_where_there_are_transactions() -> None:
    assert "--mysql-ignore-errors=1213,1020,1205,1062" in a_run({**PARAMETERS, "skip_trx": "on"})
    assert not any(option.startswith("--mysql-ignore-errors") for option in a_run({**PARAMETERS, "skip_trx": "off"}))


def test_a_socket_takes_the_place_of_host_and_port() -> None:
    target = Target(address=ServerAddress(socket="/run/db.sock"), user="u", schema="s", secrets=Path("/x"))
    argv = Sysbench().clean_up(target, PARAMETERS).argv
    assert "--mysql-socket=/run/db.sock" in argv
    assert not any(option.startswith("--mysql-host") for option in argv)


def test_the_run_may_take_longer_than_its_time_but_not_for_ever() -> None:
    level = LoadLevelMessage(threads=1)
    invocation = Sysbench().run(TARGET, PARAMETERS, load_level=level, warmup=2.5, duration=9.5)
    assert (invocation.warmup, invocation.measured) == (3, 10)
    assert 13 < invocation.timeout <= 13 + 120


@pytest.mark.parametrize("test", TESTS)
def test_every_test_is_taken(test: str) -> None:
    data = Sysbench().data_set({"test": test, "tables": 2, "table_size": 7})
    assert (data.tables, data.rows) == (("sbtest1", "sbtest2"), 7)


def test_inserts_with_ids_of_their_own_start_with_empty_tables() -> None:
    parameters = {"test": "oltp_insert", "tables": 1, "table_size": 7}
    own, other = Sysbench().data_set({**parameters, "auto_inc": "off"}), Sysbench().data_set(parameters)
    assert (own.rows, own.is_emptied) == (0, True)
    assert (other.rows, other.is_emptied) == (7, False)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"test": None}, "parameter test is missing; it is one of oltp_read_write"),
        ({"test": "oltp_join"}, "parameter test is 'oltp_join'; it must be one of"),
        ({"tables": 0}, "parameter tables is 0; it must be a whole number from 1 to 10000"),
        ({"tables": True}, "parameter tables is True; it must be a whole number"),
        ({"table_size": "many"}, "parameter table_size is 'many'"),
        ({"table_size": 2**31}, "parameter table_size is 2147483648; it must be a whole number from 1 to 2147483647"),
        ({"skip_trx": "maybe"}, 'parameter skip_trx is \'maybe\'; it must be "on" or "off"'),
        ({"rand_type": "zipfian"}, "parameter rand_type is 'zipfian'; it must be one of uniform"),
        ({"mysql_password": "x"}, "parameter mysql_password is unknown; known are auto_inc"),
        ({"range_size": "1 --mysql-host=evil"}, "parameter range_size is"),
    ],
)
def test_a_parameter_that_sysbench_would_not_take_is_named(change: dict[str, Any], words: str) -> None:
    parameters = {key: value for key, value in {**PARAMETERS, **change}.items() if value is not None}
    with pytest.raises(InvalidToolParameters, match=words):
        Sysbench().data_set(parameters)


@pytest.mark.parametrize("rate", [0.0, 0.4, 1.5, -3.0])
def test_a_rate_that_sysbench_would_round_is_refused(rate: float) -> None:
    with pytest.raises(InvalidToolParameters, match=r"rate is .*; sysbench takes whole numbers from 1 only"):
        a_run(rate=rate)


@pytest.mark.parametrize(
    ("recording", "code", "words"),
    [
        ("fatal_missing_table_t4", 1, "sysbench: mysql_stmt_prepare\\(\\) failed; .*doesn't exist"),
        ("connect_refused", 1, "sysbench: unable to connect to MySQL server"),
        ("server_killed_fatal_t4", 1, "sysbench: .*(2013|Lost connection)"),
        ("server_killed_ignore_all_ps_SEGFAULT_t4", 139, "segmentation fault"),
    ],
)
def test_a_failure_speaks_in_sysbenchs_own_words(recording: str, code: int, words: str) -> None:
    output = (RECORDINGS / "sysbench_errors" / f"{recording}.txt").read_bytes()
    assert re.search(words, Sysbench().failure(code, output))


def test_a_crash_is_a_failure_and_success_is_none() -> None:
    assert "segmentation fault" in Sysbench().failure(-11, b"")
    assert "segmentation fault" in Sysbench().failure(139, b"[ 1s ] thds: 4")
    assert Sysbench().failure(0, b"") == ""
    assert Sysbench().failure(2, b"") == "sysbench ended with code 2"


def test_a_tool_that_the_agent_does_not_have_is_named_with_those_it_has() -> None:
    with pytest.raises(UnknownTool, match=r"this agent has no tool 'ycsb'; it has .*sysbench"):
        tool_named("ycsb")
