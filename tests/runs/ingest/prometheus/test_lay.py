"""Series of Prometheus on a run's clock."""

from collections.abc import Mapping, Sequence

import numpy as np
import pytest

from apps.runs.ingest.prometheus import payload
from apps.runs.ingest.prometheus.lay import Laid, Misplaced, RunPart, lay
from apps.runs.samples.columns import SampledNode
from apps.runs.storage.codec import Column
from tests.runs.ingest.prometheus.sent import a_file

BEGAN = 1_767_225_600.0
TEN = [BEGAN + second for second in range(11)]


def laid(content: bytes, *, nodes: Mapping[str, str] | None = None, sampled: Sequence[SampledNode] = ()) -> Laid:
    run = RunPart("run 1", BEGAN, 10.0, {"db1": "writer"} if nodes is None else nodes, sampled)
    return lay(payload.read(content), run)


def values(node: SampledNode, key: str) -> list[float]:
    column = node.column(key)
    assert column is not None
    found: list[float] = column.as_float().tolist()
    return found


def test_samples_get_the_time_since_the_start_of_the_run() -> None:
    (one,) = laid(a_file(("node_load1", {}, [at + 0.25 for at in TEN], [0.1 * place for place in range(11)]))).nodes
    assert one.node.name == "db1"
    assert one.node.role == "writer"
    assert one.node.clock == pytest.approx([second + 0.25 for second in range(11)])
    assert one.mapped == ("host.load.1m",)
    assert one.interval == pytest.approx(1.0)


def test_one_sample_before_the_run_and_one_after_it_are_kept_since_rates_need_them() -> None:
    around = [BEGAN + second for second in (-50, -20, 4, 7, 12, 30)]
    (one,) = laid(a_file(("node_load1", {}, around, 1.0))).nodes
    assert one.node.clock.tolist() == [-20, 4, 7, 12]
    assert one.node.constants == {"host.load.1m": 1}


def test_two_exporters_of_a_node_share_a_clock() -> None:
    later = [at + 0.3 + 0.002 * (place % 3) for place, at in enumerate(TEN)]
    (one,) = laid(
        a_file(
            ("node_cpu_seconds_total", {"cpu": "0", "mode": "user"}, TEN, [0.1 * place for place in range(11)]),
            ("mysql_global_status_questions", {}, later, list(range(11))),
        )
    ).nodes
    assert one.node.clock.tolist() == list(range(11))
    assert values(one.node, "mysql.status.Questions") == list(range(11))
    assert one.moved == pytest.approx(0.302, abs=0.001)


def test_an_exporter_that_pmm_scrapes_at_three_intervals_keeps_the_finest_clock() -> None:
    high, medium, low = ({"job": f"mysqld_exporter_agent_id_7_{name}"} for name in ("hr", "mr", "lr"))
    seldom = [BEGAN + second for second in (-7.7, 2.3, 12.3)]
    (one,) = laid(
        a_file(
            ("mysql_global_status_questions", high, [BEGAN, BEGAN + 5, BEGAN + 10], [0, 50, 100]),
            ("mysql_up", high, [BEGAN, BEGAN + 5, BEGAN + 10], 1.0),
            ("mysql_up", medium, seldom, 1.0),
            ("mysql_slave_status_seconds_behind_master", medium, seldom, [1, 2, 3]),
            ("mysql_global_variables_max_connections", low, [BEGAN - 31], 151.0),
        )
    ).nodes
    assert one.interval == 5
    assert one.node.clock.tolist() == pytest.approx([-30, -10, 0, 5, 10])
    assert values(one.node, "mysql.status.Questions")[2:] == [0, 50, 100]
    assert values(one.node, "mysql.replication.seconds_behind")[1:] == pytest.approx([1, 2, np.nan, 3], nan_ok=True)
    assert one.node.constants == {"mysql.variables.max_connections": 151}
    assert set(one.own) == {f'prometheus.mysql_up{{job="{each["job"]}"}}' for each in (high, medium)}


def test_a_scrape_that_is_missing_is_a_gap() -> None:
    without = [at for at in TEN if at != BEGAN + 4]
    (one,) = laid(
        a_file(
            ("node_load1", {}, TEN, list(range(11))),
            ("mysql_global_status_questions", {}, without, list(range(10))),
            ("mysql_global_status_threads_running", {}, TEN, [None, *range(10)]),
        )
    ).nodes
    assert np.isnan(values(one.node, "mysql.status.Questions")[4])
    assert np.isnan(values(one.node, "mysql.status.Threads_running")[0])


def test_scrapes_near_the_middle_between_two_times_do_not_flip() -> None:
    """Half of them are nearer to the time before, half to that after; moved together they keep their distances."""
    middle = [at + 0.5 + (0.01 if place % 2 else -0.01) for place, at in enumerate(TEN[:-1])]
    (one,) = laid(
        a_file(("node_load1", {}, TEN, 1.0), ("mysql_global_status_questions", {}, middle, list(range(10))))
    ).nodes
    seen = [value for value in values(one.node, "mysql.status.Questions") if not np.isnan(value)]
    assert seen == list(range(10))


def test_cpus_are_added_up() -> None:
    (one,) = laid(
        a_file(
            *(
                ("node_cpu_seconds_total", {"cpu": cpu, "mode": "idle"}, TEN, [0.1 * place for place in range(11)])
                for cpu in ("0", "1")
            )
        )
    ).nodes
    assert one.node.constants == {"host.cpus": 2}
    assert values(one.node, "host.cpu.idle") == pytest.approx([0.2 * place for place in range(11)])


def test_a_second_exporter_of_the_same_is_not_added_up() -> None:
    series = ("node_cpu_seconds_total", {"cpu": "0", "mode": "user"}, TEN, list(range(11)))
    again = (series[0], {**series[1], "job": "other"}, *series[2:])
    (one,) = laid(a_file(series, again)).nodes
    assert values(one.node, "host.cpu.user") == list(range(11))
    assert one.own == ('prometheus.node_cpu_seconds_total{cpu="0",mode="user"}',)


def test_own_names_that_differ_by_their_origin_alone_have_it_in_them() -> None:
    (one,) = laid(a_file(*(("up", {"job": job, "instance": "a:1"}, TEN, 1.0) for job in ("mysql", "node")))).nodes
    assert one.own == (
        'prometheus.up{job="mysql"}',
        'prometheus.up{job="node"}',
    )


def test_what_a_node_has_stays_and_its_clock_too() -> None:
    clock = np.arange(11.0)
    load = Column(np.arange(11), np.ones(11, np.bool_))
    agent = SampledNode("db1", "writer", clock, {"host.load.1m": load}, {"host.cpus": 8})
    theirs = [at + 0.2 for at in TEN]
    (one,) = laid(
        a_file(
            ("node_load1", {}, theirs, 99.0),
            ("node_procs_blocked", {}, theirs, list(range(11))),
            ("node_vmstat_oom_kill", {}, [BEGAN - 3, *theirs, BEGAN + 13.2], 7.0),
        ),
        sampled=[agent],
    ).nodes
    assert one.known == ("host.load.1m",)
    assert one.node.clock is clock
    assert values(one.node, "host.load.1m") == list(range(11))
    assert values(one.node, "host.procs_blocked") == list(range(11))
    assert one.node.constants == {"host.cpus": 8, "host.vmstat.oom_kill": 7}


def test_samples_where_the_agent_has_none_extend_the_clock_and_change_no_series() -> None:
    clock = np.array([0.0, 1.0, 2.0, 6.0, 7.0, 8.0])
    agent = SampledNode("db1", "writer", clock, {"host.load.1m": Column(np.arange(6), np.ones(6, np.bool_))})
    (one,) = laid(a_file(("node_procs_blocked", {}, TEN, list(range(11)))), sampled=[agent]).nodes
    assert one.node.clock.tolist() == [0, 1, 2, 3, 4, 5, 6, 7, 8]
    kept = values(one.node, "host.load.1m")
    assert [value for value in kept if not np.isnan(value)] == [0, 1, 2, 3, 4, 5]


def test_prometheus_own_type_counts_more_than_the_name() -> None:
    content = a_file(("mysql_x_opened", {}, TEN, list(range(11))), types={"mysql_x_opened": "counter"})
    assert laid(content).kinds == {"prometheus.mysql_x_opened": "counter"}


def test_a_setting_is_known_also_where_a_scrape_is_missing() -> None:
    without = [at for at in TEN if at != BEGAN + 4]
    (one,) = laid(
        a_file(
            ("node_load1", {}, TEN, list(range(11))),
            ("mysql_global_variables_max_connections", {}, without, 151.0),
            ("mysql_global_status_max_used_connections", {}, without, 7.0),
        )
    ).nodes
    assert one.node.constants == {"mysql.variables.max_connections": 151}
    assert list(one.node.changing) == ["host.load.1m", "mysql.status.Max_used_connections"]


def test_a_constant_beyond_the_exact_numbers_of_json_is_whole() -> None:
    (one,) = laid(a_file(("mysql_global_variables_max_binlog_cache_size", {}, TEN, 2.0**64))).nodes
    assert one.node.constants == {"mysql.variables.max_binlog_cache_size": 2**64}


def test_no_sample_in_the_time_of_the_run_is_refused_with_the_distance() -> None:
    with pytest.raises(Misplaced) as refused:
        laid(a_file(("node_load1", {}, [at + 3600 for at in TEN], 1.0)))
    assert refused.value.field == "file"
    assert "3590 s after its end" in refused.value.remedy


def test_a_node_must_be_one_of_the_run_and_be_stated_where_there_are_several() -> None:
    load: tuple[str, dict[str, str], list[float], float] = ("node_load1", {}, TEN, 1.0)
    two = {"db1": "writer", "db2": "replica"}
    with pytest.raises(Misplaced, match="2 nodes"):
        laid(a_file(load), nodes=two)
    with pytest.raises(Misplaced, match="no node 'db3'") as refused:
        laid(a_file(load, node="db3"), nodes=two)
    assert refused.value.remedy == "its nodes are db1, db2, client"
    assert [one.node.name for one in laid(a_file(load, node="db2"), nodes=two).nodes] == ["db2"]


def test_series_at_ever_other_times_are_refused_before_each_gets_a_row_of_all_of_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("apps.runs.ingest.prometheus.lay.MOST_VALUES", 24)
    no_labels: dict[str, str] = {}
    several = [(f"a{second}", no_labels, [BEGAN + second], 1.0) for second in range(5)]
    with pytest.raises(Misplaced, match="5 series of db1 at 5 times are more than 24 values"):
        laid(a_file(*several))
    assert len(laid(a_file(*several[:4])).nodes[0].own) == 4


def test_a_sum_beyond_all_numbers_is_missing() -> None:
    parts = [("node_cpu_seconds_total", {"mode": "user", "cpu": cpu}, TEN, [1e308] * 10 + [1.0]) for cpu in "01"]
    (one,) = laid(a_file(*parts)).nodes
    assert values(one.node, "host.cpu.user")[-1] == 2.0
    column = one.node.column("host.cpu.user")
    assert column is not None
    assert column.observed.tolist() == [False] * 10 + [True]
