"""All numbers of SHOW GLOBAL STATUS, under the server's names."""

import re
from collections.abc import Iterable, Sequence

from workers.agent.runtime.config import ServerAddress, SystemConfig
from workers.agent.samplers import SourceFailed, SourceReading
from workers.agent.samplers.connection import Asking, Denied, NotSupported
from workers.protocol.wire import Number

ALL = "SHOW GLOBAL STATUS"
# The same of MariaDB in one row: six hundred cost the client twice as much. MySQL's table leaves out what it counts of
# statements.
SEPARATOR = "\x1f"
TOGETHER = (
    f"SELECT GROUP_CONCAT(VARIABLE_NAME, '=', VARIABLE_VALUE SEPARATOR '{SEPARATOR}') "  # noqa: S608  nothing of a user's
    "FROM information_schema.GLOBAL_STATUS"
)
DECIMAL = re.compile(r"-?[0-9]+\.[0-9]+(?:[eE][+-]?[0-9]+)?")
WORDS = {"ON": 1, "YES": 1, "TRUE": 1, "OFF": 0, "NO": 0, "FALSE": 0}
# Words valid for one variable only.
WORDS_OF = {"wsrep_cluster_status": {"PRIMARY": 1, "NON-PRIMARY": 0, "DISCONNECTED": 0}}
# Values with several numbers separated by slashes: the meaning of each.
PARTS = {"wsrep_evs_repl_latency": ("min", "avg", "max", "stddev", "samples")}
# Changes of these are reported as events.
STATES = frozenset(
    {
        "wsrep_local_state_comment",
        "wsrep_cluster_status",
        "wsrep_cluster_size",
        "wsrep_connected",
        "wsrep_ready",
        "Rpl_semi_sync_master_status",
        "Rpl_semi_sync_slave_status",
        "Rpl_semi_sync_source_status",
        "Rpl_semi_sync_replica_status",
    }
)


class GlobalStatus:
    name = "mysql"
    interval = 1
    prompt = False

    def __init__(self, system: SystemConfig, address: ServerAddress) -> None:
        self._server = Asking(system, address)
        # As ALL prints them, by how TOGETHER does: in capitals only.
        self._names: dict[str, str] = {}
        self._has_fitted, self._is_together = False, True

    def read(self) -> SourceReading:
        before = self._server.statements
        rows = self._rows()
        states = {name: str(value) for name, value in rows if name in STATES}
        return SourceReading(numbers(rows), states=states, statements=self._server.statements - before)

    def close(self) -> None:
        self._server.close()

    def _rows(self) -> Sequence[tuple[str, object]]:
        """Raises SourceFailed."""
        if self._names and self._is_together:
            try:
                ((text,),) = self._server.ask(TOGETHER)
            except SourceFailed as failure:
                self._is_together, self._names = self._has_fitted, {}
                if not isinstance(failure, (NotSupported, Denied)):
                    raise
            else:
                parts = (each.partition("=") for each in str(text).split(SEPARATOR))
                found = {name.upper(): value for name, _, value in parts}
                if found.keys() == self._names.keys():
                    self._has_fitted = True
                    return [(name, found[capitals]) for capitals, name in self._names.items()]
                # Once it fitted, a plugin has come or gone; else the server prints less, or cuts it short.
                self._is_together, self._has_fitted = self._has_fitted, False
        rows = [(str(name), value) for name, value in self._server.ask(ALL)]
        self._names = {name.upper(): name for name, _ in rows}
        return rows


def numbers(rows: Iterable[tuple[object, ...]]) -> dict[str, Number]:
    """`mysql.status.<Name>` -> number; text values are left out, those in PARTS get one key per part."""
    found: dict[str, Number] = {}
    for name, value in rows:
        text = str(value)
        number = number_of(text)
        if number is None and name in WORDS_OF:
            number = WORDS_OF[str(name)].get(text.upper())
        if number is not None:
            found[f"mysql.status.{name}"] = number
        elif name in PARTS:
            found |= {f"mysql.status.{name}_{part}": value for part, value in _parts(str(name), text)}
    return found


def _parts(name: str, text: str) -> Iterable[tuple[str, float]]:
    """Empty for a text of another form."""
    try:
        return list(zip(PARTS[name], map(float, text.split("/")), strict=True))
    except ValueError:
        return []


def number_of(text: str) -> Number:
    """None for other texts."""
    if text.isascii() and text.removeprefix("-").isdigit():
        number = int(text)
        # Some signed values are printed unsigned: just below zero appears as just below 2^64.
        return number - 2**64 if 2**63 <= number < 2**64 else number
    if DECIMAL.fullmatch(text):
        return float(text)
    return WORDS.get(text.upper())
