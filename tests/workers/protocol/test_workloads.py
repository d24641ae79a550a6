"""A workload's parameters have one spelling, and what cannot be is said by name."""

import pytest

from workers.protocol.workloads import WORKLOADS
from workers.protocol.workloads.declaration import InvalidParameters, Parameter, WorkloadSpec, check, renamed, title_of
from workers.protocol.workloads.foreign import FOREIGN

SPEC = WorkloadSpec(
    tool="filler",
    title="Filler",
    description="Fills tables.",
    parameters=(
        Parameter("rows", "whole", "rows", default=100, low=1),
        Parameter("share", "number", "share of reads", default=0.5, high=1),
        Parameter("indexed", "switch", "with an index", default=False),
        Parameter("key", "choice", "primary key", default="simple", choices=("simple", "composite")),
    ),
)


def test_defaults_are_filled_in_so_that_equal_work_has_equal_parameters() -> None:
    spelled = check(SPEC, {"rows": 100.0, "indexed": "off"})
    assert spelled == check(SPEC, {}) == {"rows": 100, "share": 0.5, "indexed": False, "key": "simple"}
    assert type(spelled["rows"]) is int


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"rows": 0}, "rows is 0; it must be a whole number from 1"),
        ({"rows": 1.5}, "rows is 1.5; it must be a whole number"),
        ({"rows": True}, "rows is True"),
        ({"share": float("nan")}, "share is nan"),
        ({"indexed": 2}, "indexed is 2; it must be true or false"),
        ({"key": "wide"}, "key is 'wide'; it must be one of simple, composite"),
        ({"rws": 5}, "rws is unknown to filler; its parameters are: indexed, key, rows, share"),
        ({"in-dexed": 1, "in_dexed": 2}, "in_dexed is given twice"),
    ],
)
def test_a_wrong_parameter_is_named_with_what_it_may_be(parameters: dict[str, object], words: str) -> None:
    with pytest.raises(InvalidParameters, match=words):
        check(SPEC, parameters)


def test_a_name_tells_what_differs_from_the_defaults() -> None:
    assert title_of(SPEC, check(SPEC, {})) == "Filler"
    assert title_of(SPEC, check(SPEC, {"rows": 5, "key": "composite"})) == "Filler, rows=5, key=composite"


def test_what_a_workload_is_named_by_stands_in_every_name_first() -> None:
    spec = WORKLOADS["failover"]
    assert title_of(spec, check(spec, {})) == "Failover, kill_writer"
    assert title_of(spec, check(spec, {"fault": "switch", "fault_at": 5})) == "Failover, switch, fault_at=5"


@pytest.mark.parametrize(
    ("tool", "name", "parameters", "now"),
    [
        (
            "failover",
            "Failover, fault=switch, fault_at=5",
            {"fault": "switch", "fault_at": 5},
            "Failover, switch, fault_at=5",
        ),
        ("failover", "Failover", {}, "Failover, kill_writer"),
        ("failover", "Failover of ours", {}, "Failover of ours"),
        ("ddl_under_load", "Schema changes under load, at=5", {"at": 5}, "Schema change, copy, at=5"),
        ("ddl_under_load", "Schema change, copy, at=5", {"at": 5}, "Schema change, copy, at=5"),
        ("iibench", "iiBench, secondary_indexes=0", {"secondary_indexes": 0}, "iiBench, secondary_indexes=0"),
    ],
)
def test_default_names_of_earlier_releases_are_renewed_and_ones_own_stay(
    tool: str, name: str, parameters: dict[str, object], now: str
) -> None:
    spec = WORKLOADS[tool]
    assert renamed(spec, name, check(spec, parameters)) == now


@pytest.mark.parametrize("spec", WORKLOADS.values(), ids=list(WORKLOADS))
def test_every_workload_is_described_and_its_seeds_hold(spec: WorkloadSpec) -> None:
    assert spec.description.endswith(".")
    assert all(parameter.description for parameter in spec.parameters)
    assert all(check(spec, parameters) for parameters in spec.seeds)
    for parameter in spec.parameters:
        assert parameter.default is not None, f"{parameter.name} has no default and is not required either"


@pytest.mark.parametrize("spec", [*WORKLOADS.values(), *FOREIGN.values()], ids=lambda spec: spec.tool)
def test_a_data_set_is_described_by_parameters_that_there_are(spec: WorkloadSpec) -> None:
    own = {parameter.name for parameter in spec.parameters}
    assert spec.free or set(spec.data_set) <= own
    # A parameter whose name says that it is of the data must not count as a matter of what is done.
    telling = own & {"tables", "table_size", "rows", "warehouses", "items", "customers", "scale_factor", "row_bytes"}
    assert telling <= set(spec.data_set)


def test_a_parameter_says_what_it_may_be_and_its_default() -> None:
    def words(tool: str, name: str) -> tuple[str, str]:
        parameter = WORKLOADS[tool].parameter(name)
        assert parameter is not None
        return parameter.usual(), parameter.allowed()

    assert words("iibench", "secondary_indexes") == ("3", "one of 0, 3")
    assert words("app_ingest", "foreign_keys") == ("false", "true or false")
    usual, allowed = words("sysbench", "test")
    assert usual == "must be given"
    assert allowed.startswith("one of oltp_read_write, ")
