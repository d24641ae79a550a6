"""All numbers of SHOW GLOBAL STATUS, under the server's names."""

import re
from collections.abc import Iterable

from workers.agent.runtime.config import ServerAddress, SystemConfig
from workers.agent.samplers import SourceReading
from workers.agent.samplers.connection import Asking
from workers.protocol.wire import Number

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

    def read(self) -> SourceReading:
        rows = self._server.ask("SHOW GLOBAL STATUS")
        states = {name: str(value) for name, value in rows if name in STATES}
        return SourceReading(numbers(rows), states=states, statements=1)

    def close(self) -> None:
        self._server.close()


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
