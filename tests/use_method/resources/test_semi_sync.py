"""What a commit waits for its replica: on made-up series, and on a real source whose replica stops receiving."""

import time
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pytest

from apps.use_method import engine
from apps.use_method.resources import semi_sync
from apps.use_method.values import MetricSamples, NodeFacts, Panel, UseLevel
from lab.mariadb import ACCOUNT, MariaDB
from lab.replication import join
from tests.support.databases import StartMariaDB
from tests.support.waiting import eventually
from tests.use_method.builders import a_node, facts, reading, samples, steady
from workers.agent.runtime.config import ServerAddress, SystemConfig
from workers.agent.samplers.mysql import GlobalStatus

PREFIX = "mysql.status.Rpl_semi_sync_master_"
READ_ONLY = "mysql.replication.read_only"
COUNTERS = ("tx_waits", "tx_wait_time", "no_tx")


def a_source(**series: MetricSamples) -> NodeFacts:
    known = {"status": steady(1), "tx_waits": steady(100), "tx_wait_time": steady(100_000), "no_tx": steady(0)}
    return a_node(series={PREFIX + key: value for key, value in (known | series).items()})


def judged(node: NodeFacts) -> Panel:
    return engine.panel(facts(node), [semi_sync.RESOURCE])


def level(indicator: str, node: NodeFacts) -> UseLevel:
    return reading(judged(node), f"semi_sync.{indicator}", node.name).level


def test_a_commit_that_waits_milliseconds_for_its_replica_is_watched_and_many_of_them_saturate() -> None:
    assert level("wait", a_source()) is UseLevel.OK
    assert level("wait", a_source(tx_wait_time=steady(100 * 6_000))) is UseLevel.WATCH
    assert level("wait", a_source(tx_wait_time=steady(100 * 60_000))) is UseLevel.SATURATED
    idle = reading(judged(a_source(tx_waits=steady(0), tx_wait_time=steady(0))), "semi_sync.wait", "db1")
    assert (idle.level, idle.value, idle.words) == (UseLevel.OK, None, "no commit waited")


def test_a_source_that_fell_back_to_asynchronous_is_an_error_for_as_long_as_it_lasts() -> None:
    fallen = a_source(status=samples([1.0] * 20 + [0.0] * 40), no_tx=samples([0.0] * 20 + [50.0] * 40))
    panel = judged(fallen)
    off = reading(panel, "semi_sync.off", "db1")
    assert (off.level, off.value) == (UseLevel.ERROR, 40.0)
    late = reading(panel, "semi_sync.unacknowledged", "db1")
    assert (late.level, late.value) == (UseLevel.ERROR, 2000.0)


def test_only_a_source_that_has_it_enabled_is_judged() -> None:
    assert judged(a_source(status=steady(0))).readings == ()
    enabled = a_node(series=a_source(status=steady(0)).series, variables={"rpl_semi_sync_master_enabled": "ON"})
    assert level("off", enabled) is UseLevel.ERROR
    replica = a_node(series={**enabled.series, READ_ONLY: steady(1)}, variables=enabled.variables)
    assert judged(replica).readings == ()


@pytest.fixture(scope="module")
def pair(start_mariadb: StartMariaDB) -> Iterator[tuple[MariaDB, MariaDB]]:
    """A semi-synchronous source, which waits a second for its replica at most."""
    common = {"log_bin": "binlog", "log_slave_updates": "ON", "rpl_semi_sync_slave_enabled": "ON"}
    source = start_mariadb(**common, server_id="1", rpl_semi_sync_master_timeout="1000")
    replica = start_mariadb(**common, server_id="2")
    for server in (source, replica):
        server.sql("RESET MASTER")  # neither has transactions that the other lacks
    join(replica, source, user=ACCOUNT, password=source.password)
    source.sql("SET GLOBAL rpl_semi_sync_master_enabled = ON")
    yield source, replica
    replica.sql("STOP SLAVE")


@pytest.mark.mariadb
def test_a_real_source_whose_replica_stops_receiving_waits_out_the_timeout_and_goes_on_unacknowledged(
    pair: tuple[MariaDB, MariaDB],
) -> None:
    source, replica = pair
    source.sql("CREATE OR REPLACE DATABASE claims; CREATE TABLE claims.s (id INT PRIMARY KEY)")
    system = SystemConfig(
        slug="s",
        name="s",
        platform="mariadb",
        hardware_class="h",
        address=ServerAddress(port=source.port),
        user=ACCOUNT,
        password=source.password,
        database="",
        nodes=(),
    )
    status = GlobalStatus(system, system.address)
    seen, states = [], []

    def sampled(numbers: range) -> None:
        for number in numbers:
            source.sql(f"INSERT INTO claims.s VALUES ({number})")
            found = status.read()
            seen.append((time.monotonic(), found.values))
            states.append(found.states["Rpl_semi_sync_master_status"])

    eventually(lambda: source.sql("SHOW STATUS LIKE 'Rpl_semi_sync_master_clients'").endswith("\t1\n"), what="joined")
    sampled(range(10))
    acknowledged = _facts_of(seen)
    assert set(states) == {"ON"}
    assert [one.level for one in judged(acknowledged).readings if one.indicator != "semi_sync.wait"] == [
        UseLevel.OK
    ] * 2
    assert (reading(judged(acknowledged), "semi_sync.wait", "db1").value or 0.0) > 0

    replica.sql("STOP SLAVE IO_THREAD")
    before = time.monotonic()
    sampled(range(10, 11))
    assert time.monotonic() - before > 0.9  # the timeout
    sampled(range(11, 30))
    assert states[-1] == "OFF"
    fallen = judged(_facts_of(seen))
    assert reading(fallen, "semi_sync.off", "db1").level is UseLevel.ERROR
    late = reading(fallen, "semi_sync.unacknowledged", "db1")
    assert (late.level, seen[-1][1][PREFIX + "no_tx"]) == (UseLevel.ERROR, 20)
    status.close()


def _facts_of(seen: Sequence[tuple[float, Mapping[str, object]]]) -> NodeFacts:
    """Rates of the counters between samples."""
    at = np.array([t for t, _ in seen])
    series = {}
    for name in ("status", *COUNTERS):
        values = np.array([float(str(values[PREFIX + name])) for _, values in seen])
        rates = np.diff(values) / np.diff(at) if name in COUNTERS else values[1:]
        series[PREFIX + name] = MetricSamples(at[1:] - at[0], rates)
    return a_node(series=series)
