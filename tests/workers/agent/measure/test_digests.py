"""Statements by digest of a real server: over the measured phase, and over connections that it does not keep."""

import json
from dataclasses import replace

import pytest

from lab.mariadb import MariaDB
from tests.support.databases import StartMariaDB
from tests.support.waiting import eventually
from tests.workers.agent.programs.started import system_of
from workers.agent.measure.clock import RunClock
from workers.agent.measure.digests import DigestReader
from workers.agent.runtime.config import SystemConfig

pytestmark = pytest.mark.mariadb


@pytest.fixture(scope="module")
def counting(start_mariadb: StartMariaDB) -> MariaDB:
    """With performance_schema."""
    server = start_mariadb(performance_schema="ON", performance_schema_digests_size="200")
    server.sql("CREATE DATABASE work; CREATE TABLE work.t (id INT PRIMARY KEY)")
    return server


class Later(RunClock):
    """A run's clock that can be advanced. `asked`: the times that it gave."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[float] = []
        self.ahead = 0.0

    def now(self) -> float:
        self.asked.append(super().now() + self.ahead)
        return self.asked[-1]


def begun(system: SystemConfig, *, begins_at: float = 0.0, clock: Later | None = None) -> DigestReader:
    """Of the one node, which was read at the beginning of the measured phase."""
    clock = clock or Later()
    executed = DigestReader(system, now=clock.now, begins_at=lambda: begins_at)
    executed.start()
    # The time is asked for until the phase begins, and once more when the counts have come.
    eventually(lambda: sum(t >= begins_at for t in clock.asked) >= 2, what="the statements are read")
    return executed


def sampled_elsewhere(system: SystemConfig) -> SystemConfig:
    return replace(system, nodes=tuple(replace(node, sampled=False) for node in system.nodes))


def counted(server: MariaDB) -> int:
    """Inserts, as its digests have them."""
    of = "performance_schema.events_statements_summary_by_digest WHERE DIGEST_TEXT LIKE 'INSERT INTO `work`%'"
    return int(server.sql(f"SELECT COALESCE(SUM(COUNT_STAR), 0) FROM {of}"))


def insert(server: MariaDB, *numbers: int) -> None:
    """Returns once they are counted: a server counts a statement after it has answered it."""
    before = counted(server)
    for number in numbers:
        server.sql(f"INSERT INTO work.t VALUES ({number})")
    eventually(lambda: counted(server) == before + len(numbers), what="the inserts are counted")


def test_the_statements_of_the_measured_phase_are_kept_with_their_counts(counting: MariaDB) -> None:
    counting.sql("DELETE FROM work.t WHERE id >= 500")
    executed = begun(system_of(counting, "sb"), begins_at=0.2)
    insert(counting, 501, 502, 503)
    content = executed.finish()
    assert executed.finish() == content
    line = json.loads(content)
    assert (line["kind"], line["node"]) == ("digests", "db1")
    assert 0.2 <= line["from"] < line["to"]
    texts = {statement["text"]: statement for statement in line["statements"]}
    inserts = texts["INSERT INTO `work` . `t` VALUES (?) "]
    assert (inserts["count"], inserts["rows_affected"]) == (3, 3)
    assert 0 < inserts["seconds"] <= line["total"]["seconds"] < 60
    assert not any(text.startswith("DELETE") for text in texts)


def test_statements_of_a_node_that_another_agent_samples_are_kept_too(counting: MariaDB) -> None:
    executed = begun(sampled_elsewhere(system_of(counting, "sb")))
    counting.sql("DELETE FROM work.t WHERE id = 600")
    assert json.loads(executed.finish())["node"] == "db1"
    assert executed.hidden() == {}


def test_without_performance_schema_no_statements_are_kept(mariadb: MariaDB) -> None:
    system = system_of(mariadb, "sb")
    for asked, said in ((system, {}), (sampled_elsewhere(system), {"db1": "performance_schema is OFF"})):
        executed = begun(asked)
        assert executed.finish() == b""
        assert {node: hidden.reason for node, hidden in executed.hidden().items()} == said


def end_connections(server: MariaDB) -> None:
    """As the server itself does with those that are idle for wait_timeout."""
    idle = "command = 'Sleep' AND id != CONNECTION_ID()"
    numbers = server.sql(f"SELECT id FROM information_schema.processlist WHERE {idle}").split()
    assert numbers
    for number in numbers:
        server.sql(f"KILL {number}")


def test_statements_are_counted_to_the_end_though_the_server_ended_the_idle_connection(counting: MariaDB) -> None:
    executed = begun(system_of(counting, "sb"))
    insert(counting, 1, 2)
    end_connections(counting)
    texts = {each["text"]: each["count"] for each in json.loads(executed.finish())["statements"]}
    assert texts["INSERT INTO `work` . `t` VALUES (?) "] == 2
    assert executed.hidden() == {}


def test_a_server_that_started_anew_has_no_counts_of_the_whole_phase_which_is_reported(counting: MariaDB) -> None:
    clock = Later()
    executed = begun(system_of(counting, "sb"), clock=clock)
    counting.kill()
    counting.start()
    clock.ahead = 60.0  # it took that long
    assert executed.finish() == b""
    assert {node: hidden.reason for node, hidden in executed.hidden().items()} == {
        "db1": "the server was started anew in the measured phase"
    }
