"""What sources beside SHOW GLOBAL STATUS see: on recordings, and on real servers and a real HAProxy."""

import json
import re
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from lab import packages
from lab.mariadb import MariaDB
from tests.paths import DATA
from tests.support.databases import StartMariaDB
from tests.support.ports import ReservedPort
from tests.support.waiting import eventually
from workers.agent.runtime.config import NodeConfig, ServerAddress, SystemConfig
from workers.agent.samplers import NothingObserved, SampleSource, SourceFailed, SourceReading, haproxy, replication
from workers.agent.samplers.agent import AgentItself
from workers.agent.samplers.group import GroupMembership
from workers.agent.samplers.innodb import InnodbMetrics
from workers.agent.samplers.replication import Replication
from workers.agent.samplers.waits import Waits

# ---------------------------------------------------------------- recordings


@pytest.fixture(scope="module")
def replicas() -> dict[str, dict[str, Any]]:
    """Rows of SHOW SLAVE STATUS of real failovers."""
    found: dict[str, dict[str, Any]] = json.loads((DATA / "replication" / "mha.json").read_text())
    return found


def test_a_replica_that_lags_says_by_how_much(replicas: dict[str, dict[str, Any]]) -> None:
    values = replication.numbers(replicas["behind"])
    assert values["mysql.replication.seconds_behind"] == 1
    assert values["mysql.replication.unapplied_bytes"] == 2142
    assert (values["mysql.replication.io_running"], values["mysql.replication.sql_running"]) == (1, 1)
    assert "mysql.replication.unapplied_transactions" not in values


def test_a_replica_whose_source_is_gone_has_no_delay_and_an_error(replicas: dict[str, dict[str, Any]]) -> None:
    values = replication.numbers(replicas["source_gone"])
    assert values["mysql.replication.seconds_behind"] is None
    assert (values["mysql.replication.io_running"], values["mysql.replication.sql_running"]) == (0, 1)
    assert values["mysql.replication.io_error"] == 2013
    states = replication.states_of(replicas["source_gone"])
    assert states["replication source"] == "127.0.0.1:13321"
    assert states["replication IO thread"] == "Connecting"
    assert states["replication IO error"] == "error reconnecting to master 'repl@127.0.0.1:13321'"


def test_transactions_that_wait_are_counted_by_gtid_in_both_forms(replicas: dict[str, dict[str, Any]]) -> None:
    def waiting(row: dict[str, Any], applied: str = "") -> object:
        return replication.numbers(row, applied=applied)["mysql.replication.unapplied_transactions"]

    mysql = replicas["mysql56_gtid"]
    assert waiting(mysql) == 0
    # 5 to 9 of 1-21 were not applied, and the other source's are not waited for.
    assert waiting(mysql | {"Executed_Gtid_Set": "782d0a3f-e501-11f1-a2d4-02fc00000001:1-4:10-21,\nother:1-9"}) == 5
    mariadb = replicas["behind"] | {"Gtid_IO_Pos": "0-21-1720,1-22-7"}
    assert waiting(mariadb, "0-21-1710,1-22-7") == 10
    assert waiting(mariadb, "0-21-1720") == 7


def test_a_gtid_position_is_a_number_of_transactions() -> None:
    assert replication.transactions("0-21-1710,1-22-5") == 1715
    assert replication.transactions("782d0a3f-e501:1-21:30,782d3537-e501:1-117") == 139


def test_a_replica_of_several_sources_has_keys_for_each(replicas: dict[str, dict[str, Any]]) -> None:
    row = replicas["behind"] | {"Connection_name": "east 1"}
    assert replication.numbers(row)["mysql.replication.east_1.seconds_behind"] == 1
    assert replication.states_of(row)["replication IO thread of east 1"] == "Yes"


def test_channels_of_mysql_are_apart_and_those_of_a_group_are_no_sources(replicas: dict[str, dict[str, Any]]) -> None:
    row = replicas["mysql56_gtid"]
    named = [
        row | {"Channel_Name": name, "Slave_IO_Running": "No"} for name in ("", "east", "group_replication_applier")
    ]
    own = replication.from_sources(named)
    assert [key for each in own for key in replication.numbers(each) if key.endswith(".io_running")] == [
        "mysql.replication.io_running",
        "mysql.replication.east.io_running",
    ]
    assert replication.states_of(own[1])["replication IO thread of east"] == "No"


def test_statistics_that_are_none_are_a_failure() -> None:
    with pytest.raises(SourceFailed, match="returned no statistics: 'Permission denied"):
        haproxy.parse("Permission denied\n")


def test_haproxy_says_why_a_server_is_down_and_where_it_is() -> None:
    columns = "# pxname,svname,qcur,status,check_status,addr,\n"
    rising = haproxy.parse(columns + "w,db1,0,UP 1/3,* L7OK,10.0.0.1:3306,\nw,db2,3,DOWN,L7STS,10.0.0.2:3306,\n")
    assert rising.states == {
        "w/db1": "UP",
        "w/db1 address": "10.0.0.1:3306",
        "w/db2": "DOWN (L7STS)",
        "w/db2 address": "10.0.0.2:3306",
    }
    assert (rising.values["haproxy.w.db1.up"], rising.values["haproxy.w.db2.up"]) == (1, 0)
    assert rising.values["haproxy.w.db2.qcur"] == 3


# ---------------------------------------------------------------- real servers


def a_system(server: MariaDB, *, user: str = "splashboard", password: str = "") -> SystemConfig:
    address = ServerAddress(port=server.port)
    return SystemConfig(
        slug="single",
        name="single",
        platform="mariadb",
        hardware_class="box",
        address=address,
        user=user,
        password=password or server.password,
        database="sb_test",
        nodes=(NodeConfig(name="db1", role="writer", zone="", address=address, local=True),),
        settings={},
    )


@pytest.fixture(scope="module")
def source(start_mariadb: StartMariaDB) -> MariaDB:
    """With performance_schema, and with an account that may see nothing but its own."""
    server = start_mariadb(performance_schema="ON", log_bin="binlog", server_id="71")
    server.sql(
        "CREATE USER blind@'%' IDENTIFIED BY 'blind'; CREATE DATABASE work; CREATE TABLE work.t (id INT PRIMARY KEY)"
    )
    return server


@pytest.fixture(scope="module")
def replica(start_mariadb: StartMariaDB, source: MariaDB) -> MariaDB:
    server = start_mariadb(log_bin="binlog", server_id="72", read_only="ON", gtid_domain_id="0")
    server.sql(
        f"CHANGE MASTER TO MASTER_HOST='127.0.0.1', MASTER_PORT={source.port}, MASTER_USER='splashboard', "
        f"MASTER_PASSWORD='{source.password}', MASTER_USE_GTID=slave_pos"
    )
    # What the source has made so far: its accounts, which both have, and the table.
    server.sql("SET sql_log_bin = 0; CREATE DATABASE work; CREATE TABLE work.t (id INT PRIMARY KEY)")
    server.sql(f"SET GLOBAL gtid_slave_pos = '{source.sql('SELECT @@global.gtid_binlog_pos').strip()}'; START SLAVE")
    return server


@pytest.fixture
def closing_later() -> Iterator[Callable[[SampleSource], SampleSource]]:
    opened: list[SampleSource] = []

    def later(each: SampleSource) -> SampleSource:
        opened.append(each)
        return each

    yield later
    for each in opened:
        each.close()


Keep = Callable[[SampleSource], SampleSource]


@pytest.mark.mariadb
def test_innodb_metrics_are_those_that_are_enabled_and_the_others_are_reported(
    source: MariaDB, closing_later: Keep
) -> None:
    asked = closing_later(InnodbMetrics(a_system(source), ServerAddress(port=source.port)))
    first, second = asked.read(), asked.read()
    assert "mysql.innodb.buffer_pool_pages_dirty" in second.values
    assert "mysql.innodb.log_lsn_checkpoint_age" not in second.values
    assert first.values.keys() == second.values.keys()
    assert (first.statements, second.statements) == (1, 1)
    (hidden,) = first.hidden
    assert hidden.what.endswith("InnoDB metrics")
    assert (hidden.reason, "innodb_monitor_enable" in hidden.remedy) == ("they are disabled", True)


@pytest.mark.mariadb
def test_waits_are_counted_by_class_where_performance_schema_is_on(source: MariaDB, closing_later: Keep) -> None:
    asked = closing_later(Waits(a_system(source), ServerAddress(port=source.port)))
    before = asked.read().values
    source.sql("INSERT INTO work.t VALUES (10)")
    after = asked.read()
    key = "mysql.waits.io.file.sql.binlog"
    assert (after.values[f"{key}.count"] or 0) > (before[f"{key}.count"] or 0)
    assert 0 < (after.values[f"{key}.seconds"] or 0) < 60
    assert [each.reason for each in after.hidden] == ["they are not instrumented"]


@pytest.mark.mariadb
def test_waits_are_not_observable_where_performance_schema_is_off(replica: MariaDB, closing_later: Keep) -> None:
    asked = closing_later(Waits(a_system(replica), ServerAddress(port=replica.port)))
    with pytest.raises(
        NothingObserved,
        match="waits and statements by digest: performance_schema is OFF; start the server with performance_schema",
    ):
        asked.read()


@pytest.mark.mariadb
def test_a_server_that_knows_no_groups_is_asked_for_one_once(source: MariaDB, closing_later: Keep) -> None:
    with pytest.raises(NothingObserved) as found:
        closing_later(GroupMembership(a_system(source), ServerAddress(port=source.port))).read()
    assert found.value.hidden is None


@pytest.mark.mariadb
def test_the_privileges_that_an_account_lacks_are_reported(source: MariaDB, closing_later: Keep) -> None:
    system, address = a_system(source, user="blind", password="blind"), ServerAddress(port=source.port)
    with pytest.raises(
        NothingObserved, match=r"InnoDB metrics: .*PROCESS privilege.*; GRANT PROCESS ON \*\.\* to blind"
    ):
        closing_later(InnodbMetrics(system, address)).read()
    with pytest.raises(
        NothingObserved,
        match=r"waits and statements by digest: .*denied.*; GRANT SELECT ON performance_schema\.\* to blind",
    ):
        closing_later(Waits(system, address)).read()
    seen = closing_later(Replication(system, address)).read()
    assert seen.values["mysql.replication.read_only"] == 0
    assert "GRANT REPLICA MONITOR" in seen.hidden[0].remedy


@pytest.mark.mariadb
def test_a_replica_is_followed_through_a_stop_of_its_threads(
    source: MariaDB, replica: MariaDB, closing_later: Keep
) -> None:
    asked = closing_later(Replication(a_system(replica), ServerAddress(port=replica.port)))
    eventually(lambda: asked.read().values["mysql.replication.io_running"], what="the replica receives")
    running = asked.read()
    assert running.values["mysql.replication.read_only"] == 1
    assert running.states["replication source"] == f"127.0.0.1:{source.port}"
    replica.sql("STOP SLAVE SQL_THREAD")
    source.sql("CREATE DATABASE lag; CREATE TABLE lag.t (id INT); INSERT INTO lag.t VALUES (1)")

    def waiting() -> object:
        return asked.read().values["mysql.replication.unapplied_transactions"]

    eventually(lambda: waiting() == 3, what="three transactions wait")
    stopped = asked.read()
    assert stopped.values["mysql.replication.seconds_behind"] is None
    assert (stopped.values["mysql.replication.unapplied_bytes"] or 0) > 0
    assert stopped.states["replication SQL thread"] == "No"
    replica.sql("START SLAVE SQL_THREAD")
    eventually(lambda: waiting() == 0, what="all is applied")
    of_source = closing_later(Replication(a_system(source), ServerAddress(port=source.port))).read()
    assert of_source.states["replication source"] == "none"
    position = "mysql.replication.gtid_position"
    assert (of_source.values[position] or 0) == asked.read().values[position]


@pytest.mark.parametrize(("value", "refuses"), [("OFF", 0), ("ON", 1), ("NO_LOCK", 1), ("NO_LOCK_NO_ADMIN", 1)])
@pytest.mark.mariadb
def test_a_server_that_names_its_read_only_mode_is_followed(
    value: str, refuses: int, replica: MariaDB, closing_later: Keep, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As MariaDB since 12.0.1, instead of by 0 or 1."""
    named = replication.MARIADB_STATE.replace("@@global.read_only", f"'{value}'")
    monkeypatch.setattr(replication, "MARIADB_STATE", named)
    seen = closing_later(Replication(a_system(replica), ServerAddress(port=replica.port))).read()
    assert seen.values["mysql.replication.read_only"] == refuses
    assert seen.states["read_only"] == ("ON" if refuses else "OFF")
    assert "mysql.replication.io_running" in seen.values


@pytest.mark.mariadb
def test_a_server_that_comes_back_is_asked_on_a_new_connection(source: MariaDB, closing_later: Keep) -> None:
    asked = closing_later(InnodbMetrics(a_system(source), ServerAddress(port=source.port)))
    asked.read()
    mine = source.sql("SELECT id FROM information_schema.processlist WHERE info IS NULL AND command = 'Sleep'").split()
    for number in mine:
        source.sql(f"KILL {number}")
    with pytest.raises(SourceFailed):
        asked.read()
    assert asked.read().values


def test_the_agents_own_cpu_time_grows() -> None:
    before = AgentItself().read().values
    while time.process_time() - (before["agent.cpu.seconds"] or 0) < 0.01:
        pass
    after = AgentItself().read().values
    assert (before["agent.cpu.seconds"] or 0) + 0.01 <= (after["agent.cpu.seconds"] or 0) <= time.process_time()
    (resident,) = re.findall(r"VmRSS:\s+(\d+) kB", Path("/proc/self/status").read_text())
    assert after["agent.memory.rss"] == pytest.approx(int(resident) * 1024, rel=0.5)


@pytest.mark.needs("haproxy")
def test_a_real_haproxy_tells_its_servers_and_that_one_went_down(tmp_path: Path) -> None:
    held = [ReservedPort(), ReservedPort()]
    entry, gone = [port.number for port in held]
    stats = tmp_path / "stats"
    (tmp_path / "haproxy.cfg").write_text(
        f"global\n  stats socket {stats} level operator\n"
        "defaults\n  mode tcp\n  timeout connect 1s\n  timeout client 1m\n  timeout server 1m\n"
        f"frontend entry\n  bind 127.0.0.1:{entry}\n  default_backend writer\n"
        f"backend writer\n  server db1 127.0.0.1:{gone} check inter 100ms fall 1\n"
        f"  server db2 127.0.0.1:{gone} backup\n"
    )
    process = subprocess.Popen(
        [packages.program("haproxy"), "-f", str(tmp_path / "haproxy.cfg"), "-db"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        eventually(stats.exists, what="haproxy listens")
        asked = haproxy.HAProxySource(ServerAddress(socket=str(stats)))

        def reading() -> SourceReading:
            return asked.read()

        eventually(lambda: reading().values["haproxy.writer.db1.up"] == 0, what="db1 is down")
        found = reading()
        assert found.states["writer/db1"].startswith("DOWN (L4CON)")
        assert found.states["writer/db2 address"] == f"127.0.0.1:{gone}"
        assert found.values["haproxy.writer.db1.chkdown"] == 1
        assert found.values["haproxy.entry.FRONTEND.up"] == 1
        assert (found.values["haproxy.process.Maxconn"] or 0) > 0
        assert asked.process_id() == process.pid
    finally:
        process.terminate()
        process.wait()
        for port in held:
            port.release()
    with pytest.raises(SourceFailed, match="HAProxy's stats socket"):
        asked.read()
