"""Which kind of load a workload is, and which program makes it."""

import pytest

from workers.protocol.workloads import WORKLOADS
from workers.protocol.workloads.foreign import FOREIGN
from workers.protocol.workloads.kinds import KINDS, TOOLS, generator_of, kind_of, kind_of_test
from workers.protocol.workloads.sysbench_oltp import TESTS


def test_every_tool_has_a_kind_and_a_program() -> None:
    assert set(TOOLS) == {*WORKLOADS, *FOREIGN}


def test_every_workload_that_an_installation_starts_with_is_of_a_known_kind() -> None:
    for spec in WORKLOADS.values():
        for seed in spec.seeds:
            kind = kind_of(spec.tool, {each.name: each.default for each in spec.parameters} | dict(seed))
            assert kind in KINDS
            assert kind != "other", (spec.tool, seed)


@pytest.mark.parametrize("test", TESTS)
def test_every_test_of_sysbench_has_a_kind(test: str) -> None:
    assert kind_of("sysbench_oltp", {"test": test}) in {"reads", "writes", "mixed", "connections"}


@pytest.mark.parametrize(
    ("tool", "parameters", "kind"),
    [
        ("sysbench", {"test": "oltp_read_write"}, "mixed"),
        ("sysbench", {"test": "oltp_read_only"}, "reads"),
        ("sysbench", {"test": "oltp_update_non_index"}, "writes"),
        ("asyncload", {"mix": "point_select"}, "reads"),
        ("slap", {"mix": "insert"}, "writes"),
        ("mysqlslap", {"auto_generate_sql_load_type": "key"}, "reads"),
        ("mysqlslap", {}, "other"),
        ("app_oltp", {"reads": 70, "updates": 10, "creates": 10, "deletes": 10}, "mixed"),
        ("app_oltp", {"reads": 100, "updates": 0, "creates": 0, "deletes": 0}, "reads"),
        ("app_oltp", {"reads": 0, "updates": 1, "creates": 0, "deletes": 0}, "writes"),
        ("benchbase", {"benchmark": "tpcc"}, "tpcc"),
        ("benchbase", {"benchmark": "ycsb"}, "other"),
        ("a tool of tomorrow", {}, "other"),
    ],
)
def test_parameters_tell_the_kind(tool: str, parameters: dict[str, object], kind: str) -> None:
    assert kind_of(tool, parameters) == kind


def test_tests_that_articles_name_have_the_same_kinds() -> None:
    names = {"update-index": "writes", "read-write.range100": "mixed", "hot-points": "reads", "insert-only": "writes"}
    assert {name: kind_of_test(name) for name in names} == names


def test_our_scripts_for_sysbench_are_no_second_program() -> None:
    assert {generator_of(tool) for tool in ("sysbench", "sysbench_oltp", "tpcc_like", "iibench")} == {"sysbench"}
    assert generator_of("asyncload") != generator_of("slap") != generator_of("sysbench")
