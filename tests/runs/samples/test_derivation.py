"""Derived metrics on sampled nodes, made up ones and recorded ones."""

import numpy as np
import pytest

from apps.catalog.metrics import derived_metrics, formula
from apps.catalog.metrics.derived_metrics import DerivedSpec
from apps.catalog.metrics.formula import Formula
from apps.runs.samples import derivation
from apps.runs.samples.columns import SampledNode
from apps.runs.samples.derivation import Inputs
from apps.runs.samples.rates import WHOLE_RUN, Phase
from apps.runs.storage import codec
from apps.runs.storage.codec import Number
from tests.support import recorded

STATUS = "mysql.status."
MISS_RATIO, PER_TRANSACTION, WAITING = (
    "derived.buffer_pool.miss_ratio",
    "derived.statements.per_transaction",
    "derived.row_locks.waiting",
)
READS, REQUESTS = STATUS + "Innodb_buffer_pool_reads", STATUS + "Innodb_buffer_pool_read_requests"
# What no machine and no server exceeds in these recordings; percentages have their own limits.
GREATEST = {
    "tasks": 100,
    "CPUs": 2.1,
    "ms": 1_000,
    "switches": 50_000,
    "threads": 100,
    "pages/s": 0.1,
    "requests": 100,
    "requests/s": 20_000,
    "bytes/s": 5e9,
    "bytes": 1e7,
    "packets/s": 0.1,
    "statements": 50,
    "rows": 10_000,
    "transactions": 50,
    "fsyncs": 5,
    "reads": 50,
    "tables": 10,
    "transactions/s": 10_000,
    "blocks": 100,
    "sessions": 8,
}

# Those servers had no swap, no proxy and not MySQL's redo log; TCP's counters and Galera's latency were not sampled.
UNRECORDED = {
    "derived.memory.swap_used",
    "derived.net.sent_again",
    "derived.proxy.busy",
    "derived.proxy.connections",
    "derived.redo.in_use",
    "derived.galera.latency",
    "derived.group.conflict_ratio",
    "derived.group.latency",
    "derived.group.throttled",
    "derived.group.traffic",
}


def a_node(clock: list[float], name: str = "db1", **series: list[Number]) -> SampledNode:
    """Series of SHOW GLOBAL STATUS; one that never changes is constant."""
    changing = {STATUS + key: values for key, values in series.items() if len(set(values)) > 1}
    return SampledNode(
        name=name,
        role="writer",
        clock=np.array(clock),
        changing={key: codec.column(values) for key, values in changing.items()},
        constants={STATUS + key: values[0] for key, values in series.items() if len(set(values)) == 1},
    )


def shown(key: str, *nodes: SampledNode, how: str = "sum") -> str:
    spec = derived_metrics.find(key)
    assert spec is not None
    line = derivation.evaluate(spec, [Inputs(node) for node in nodes], how)
    assert line is not None
    return repr(line.values.round(6).tolist())


def test_a_counter_in_a_formula_means_its_rate_over_the_measured_interval() -> None:
    node = a_node([0, 1, 3], Innodb_row_lock_time=[0, 2000, 3000])
    assert shown(WAITING, node) == "[2.0, 0.5]"


def test_a_ratio_is_not_observed_where_nothing_was_asked_for() -> None:
    node = a_node([0, 1, 2], Questions=[0, 20, 30], Com_commit=[0, 4, 4])
    assert shown(PER_TRANSACTION, node) == "[5.0, nan]"


def test_a_constant_counter_has_rate_zero_in_a_formula() -> None:
    node = a_node([0, 1, 2], Innodb_buffer_pool_reads=[7, 7, 7], Innodb_buffer_pool_read_requests=[0, 10, 20])
    assert shown(MISS_RATIO, node) == "[0.0, 0.0]"


def test_gaps_and_resets_of_an_input_are_those_of_the_result() -> None:
    node = a_node([0, 1, 2, 3, 4], Questions=[0, 20, None, 60, 80], Com_commit=[4, 8, None, 10, 1])
    assert shown(PER_TRANSACTION, node) == "[5.0, nan, 20.0, nan]"
    spec = derived_metrics.find(PER_TRANSACTION)
    assert spec is not None
    line = derivation.evaluate(spec, [Inputs(node)])
    assert line is not None
    assert line.resets == (4.0,)


def test_rates_over_different_intervals_are_not_put_together() -> None:
    node = a_node([0, 1, 2, 3], Questions=[0, 20, 40, 60], Com_commit=[0, None, 10, 20])
    # From 0 to 2 on one side, from 1 to 2 on the other.
    assert shown(PER_TRANSACTION, node) == "[nan, nan, 2.0]"


def test_gauges_alone_are_values_of_moments() -> None:
    node = a_node([0, 1], Innodb_checkpoint_age=[5, 10], Innodb_checkpoint_max_age=[20, 20])
    assert shown("derived.redo.checkpoint_age", node) == "[25.0, 50.0]"


def test_no_share_is_above_all_of_it() -> None:
    """As a checkpoint age that writers took beyond its limit, and pages that ALTER TABLE read unasked."""
    node = a_node([0, 1], Innodb_checkpoint_age=[53_672_177, 0], Innodb_checkpoint_max_age=[53_640_439, 53_640_439])
    assert shown("derived.redo.checkpoint_age", node) == "[100.0, 0.0]"
    node = a_node(
        [0, 1], Innodb_buffer_pool_reads=[6400, 7232], Innodb_buffer_pool_read_requests=[1_342_843, 1_343_660]
    )
    assert shown(MISS_RATIO, node) == "[100.0]"


def test_a_machine_that_is_busy_all_the_time_is_so_to_the_last_digit() -> None:
    spec = derived_metrics.find("derived.cpu.busy")
    assert spec is not None
    states = ("user", "nice", "system", "irq", "softirq", "idle", "iowait", "steal")
    shares = np.random.default_rng(1).random((5, 1000))
    values = {f"host.cpu.{name}": np.zeros(1000) for name in states}
    values |= {f"host.cpu.{name}": of_state for name, of_state in zip(states, shares, strict=False)}
    values["host.cpu.*"] = shares[::-1].sum(axis=0)
    assert spec.formula.evaluate(values).max() == 100


def test_a_gauge_beside_a_counter_counts_as_it_was_at_the_end_of_the_interval() -> None:
    text = f"{STATUS}Questions / {STATUS}Threads_running"
    spec = DerivedSpec(key="derived.x", name="x", unit="x", kind="gauge", direction="neutral", formula=Formula(text))
    line = derivation.evaluate(spec, [Inputs(a_node([0, 1, 2], Questions=[0, 10, 30], Threads_running=[1, 2, 4]))])
    assert line is not None
    assert (line.at.tolist(), line.values.tolist()) == ([1, 2], [5, 5])


def test_a_star_means_the_sum_of_all_that_fit() -> None:
    node = a_node([0, 1, 2], Questions=[0, 10, 30], Handler_read_key=[0, 10, 10], Handler_read_next=[0, 10, 50])
    assert shown("derived.rows.read_per_statement", node) == "[2.0, 2.0]"


def test_a_ratio_over_nodes_is_that_of_the_totals() -> None:
    busy = a_node([0, 1], Innodb_buffer_pool_reads=[0, 1], Innodb_buffer_pool_read_requests=[0, 1000])
    idle = a_node([0, 1], "db2", Innodb_buffer_pool_reads=[0, 1], Innodb_buffer_pool_read_requests=[0, 1])
    without = a_node([0, 1], "db3", Questions=[0, 1])
    for how in ("sum", "mean"):
        assert shown(MISS_RATIO, busy, idle, without, how=how) == "[0.1998]"


def test_a_node_without_an_input_does_not_have_the_metric() -> None:
    node = a_node([0, 1], Questions=[0, 1])
    spec = derived_metrics.find(PER_TRANSACTION)
    assert spec is not None
    assert derivation.evaluate(spec, [Inputs(node)]) is None
    assert PER_TRANSACTION not in derivation.columns(derivation.Inputs(node))


def test_one_sample_gives_no_rate() -> None:
    assert derivation.columns(derivation.Inputs(a_node([0], Questions=[5], Com_commit=[1]))) == {}


def test_statistics_weigh_intervals_by_their_length_and_keep_to_the_phase() -> None:
    node = a_node([0, 1, 4], Innodb_row_lock_time=[0, 4000, 4000])
    whole, late = derivation.statistics(derivation.columns(derivation.Inputs(node))[WAITING], [WHOLE_RUN, Phase(1, 4)])
    assert (whole.count, whole.mean, whole.maximum) == (2, 1.0, 4.0)
    assert (late.count, late.mean) == (1, 0.0)


@pytest.mark.parametrize("name", ["single", "g1", "g2", "g3", "postgresql"])
def test_every_formula_gives_plausible_values_of_recorded_servers(name: str) -> None:
    node = recorded.nodes()[name]
    found = derivation.columns(derivation.Inputs(node))
    assert len(found) > (20 if name == "postgresql" else 35)
    for key, line in found.items():
        spec = derived_metrics.find(key)
        assert spec is not None
        values = line.values[~np.isnan(line.values)]
        assert values.min() >= 0, key
        assert values.max() <= (100.01 if spec.unit == "%" else GREATEST[spec.unit]), key


def test_the_recorded_servers_have_every_derived_metric_between_them() -> None:
    found = {key for node in recorded.nodes().values() for key in derivation.columns(derivation.Inputs(node))}
    assert {spec.key for spec in derived_metrics.DERIVED.values()} - found == UNRECORDED
    for family in derived_metrics.FAMILIES:
        assert any(formula.placeholders(family.key, key) for key in found), family.key


def test_what_the_formulas_say_agrees_with_what_the_server_says() -> None:
    """Over a whole recording: from totals, by hand."""
    node = recorded.nodes()["g1"]

    def rise(key: str) -> float:
        column = node.column(key)
        assert column is not None
        return float(column.values[-1] - column.values[0])

    busy = derivation.statistics(derivation.columns(derivation.Inputs(node))["derived.cpu.busy"], [WHOLE_RUN])[0]
    states = {key: rise(key) for key in (*node.changing, *node.constants) if key.startswith("host.cpu.")}
    away = sum(states[f"host.cpu.{state}"] for state in ("idle", "iowait", "steal"))
    assert busy.mean == pytest.approx(100 * (1 - away / sum(states.values())), abs=1)
    waiting = derivation.statistics(derivation.columns(derivation.Inputs(node))[WAITING], [WHOLE_RUN])[0]
    elapsed = float(node.clock[-1] - node.clock[0])
    assert waiting.mean == pytest.approx(rise(STATUS + "Innodb_row_lock_time") / 1000 / elapsed)
