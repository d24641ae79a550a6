"""SHOW GLOBAL STATUS, read in one row where the server tells all of it there."""

from collections.abc import Callable

import pytest

from workers.agent.runtime.config import ServerAddress, SystemConfig
from workers.agent.samplers import SourceFailed, SourceReading, mysql
from workers.agent.samplers.connection import NotSupported
from workers.agent.samplers.mysql import ALL, SEPARATOR, TOGETHER, GlobalStatus

Rows = tuple[tuple[object, ...], ...]


class Answers:
    """A server: `status` is what it has, `together` what its table says; or the reason why that cannot be had."""

    def __init__(self, status: dict[str, str], together: Callable[[dict[str, str]], dict[str, str]]) -> None:
        self.status, self.together = status, together
        self.asked: list[str] = []

    @property
    def statements(self) -> int:
        return len(self.asked)

    def ask(self, statement: str) -> Rows:
        self.asked.append(statement)
        if statement == ALL:
            return tuple(self.status.items())
        return ((SEPARATOR.join(f"{name.upper()}={value}" for name, value in self.together(self.status).items()),),)


SYSTEM = SystemConfig("s", "s", "mariadb", "box", ServerAddress(), "u", "", "s", (), {})
STATUS = {"Questions": "7", "Com_commit": "3", "wsrep_cluster_status": "Primary", "Rsa_public_key": "a=b\nc d"}
NUMBERS = {"mysql.status.Questions": 7, "mysql.status.Com_commit": 3, "mysql.status.wsrep_cluster_status": 1}


@pytest.fixture
def reading(monkeypatch: pytest.MonkeyPatch) -> Callable[[Answers], Callable[[], SourceReading]]:
    def of(server: Answers) -> Callable[[], SourceReading]:
        monkeypatch.setattr(mysql, "Asking", lambda *_: server)
        return GlobalStatus(SYSTEM, ServerAddress()).read

    return of


Reading = Callable[[Answers], Callable[[], SourceReading]]


def test_what_one_row_tells_is_what_all_rows_tell(reading: Reading) -> None:
    server = Answers(dict(STATUS), lambda status: status)
    read = reading(server)
    assert [read().values, read().values] == [NUMBERS, NUMBERS]
    assert server.asked == [ALL, TOGETHER]
    assert read().states == {"wsrep_cluster_status": "Primary"}


def test_a_server_whose_table_leaves_counters_out_is_asked_for_all(reading: Reading) -> None:
    server = Answers(dict(STATUS), lambda status: {"Questions": status["Questions"]})
    read = reading(server)
    found = [read() for _ in range(4)]
    assert all(each.values == NUMBERS for each in found)
    assert [each.statements for each in found] == [1, 2, 1, 1]
    assert server.asked == [ALL, TOGETHER, ALL, ALL, ALL]


def test_a_plugin_that_comes_is_seen_at_once_and_read_in_one_row_from_then_on(reading: Reading) -> None:
    server = Answers(dict(STATUS), lambda status: status)
    read = reading(server)
    read(), read()
    server.status["Plugin_calls"] = "5"
    assert read().values["mysql.status.Plugin_calls"] == 5
    assert read().values["mysql.status.Plugin_calls"] == 5
    assert server.asked == [ALL, TOGETHER, TOGETHER, ALL, TOGETHER]


def test_a_server_without_the_table_loses_no_sample(reading: Reading) -> None:
    def absent(_: dict[str, str]) -> dict[str, str]:
        raise NotSupported("Unknown table 'GLOBAL_STATUS'")

    read = reading(server := Answers(dict(STATUS), absent))
    assert [read().values for _ in range(3)] == [NUMBERS] * 3
    assert server.asked == [ALL, TOGETHER, ALL, ALL]


def test_a_server_that_fails_at_the_table_loses_one_sample(reading: Reading) -> None:
    def fails(_: dict[str, str]) -> dict[str, str]:
        raise SourceFailed("3500 something else")

    read = reading(Answers(dict(STATUS), fails))
    assert read().values == NUMBERS
    with pytest.raises(SourceFailed):
        read()
    assert [read().values for _ in range(3)] == [NUMBERS] * 3


def test_a_connection_that_was_lost_is_read_in_one_row_again(reading: Reading) -> None:
    down = [False]

    def lost(status: dict[str, str]) -> dict[str, str]:
        if down[0]:
            raise SourceFailed("Lost connection")
        return status

    read = reading(server := Answers(dict(STATUS), lost))
    read(), read()
    down[0] = True
    with pytest.raises(SourceFailed):
        read()
    down[0] = False
    read(), read()
    assert server.asked[-2:] == [ALL, TOGETHER]
