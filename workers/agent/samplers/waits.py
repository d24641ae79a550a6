"""The server's waits by event class, from performance_schema."""

from workers.agent.runtime.config import ServerAddress, SystemConfig
from workers.agent.samplers import HiddenFromSampler, NothingObserved, SourceReading
from workers.agent.samplers.connection import Asking, Denied, NotSupported
from workers.protocol.wire import Number

WHAT = "waits and statements by digest"
PICOSECONDS = 10**12
SWITCH = "SELECT @@global.performance_schema"
INSTRUMENTS = "SELECT COUNT(*), COALESCE(SUM(ENABLED = 'YES' AND TIMED = 'YES'), 0) FROM performance_schema.setup_instruments WHERE NAME LIKE 'wait/%'"  # noqa: E501
WAITS = (
    "SELECT EVENT_NAME, COUNT_STAR, SUM_TIMER_WAIT FROM performance_schema.events_waits_summary_global_by_event_name "
    "WHERE COUNT_STAR > 0 AND EVENT_NAME LIKE 'wait/%'"
)


class Waits:
    name = "waits"
    interval = 5  # the server sums over all threads for each answer
    prompt = False

    def __init__(self, system: SystemConfig, address: ServerAddress) -> None:
        self._server = Asking(system, address)
        self._user = system.user
        self._hidden: list[HiddenFromSampler] | None = None

    def read(self) -> SourceReading:
        before = self._server.statements
        try:
            if self._hidden is None:
                self._hidden = self._look()
            rows = self._server.ask(WAITS)
        except Denied as error:
            remedy = f"GRANT SELECT ON performance_schema.* to {self._user}"
            raise NothingObserved(HiddenFromSampler(WHAT, str(error), remedy)) from error
        except NotSupported as error:
            raise NothingObserved(HiddenFromSampler(WHAT, f"this server does not count them ({error})")) from error
        values: dict[str, Number] = {}
        for event, count, picoseconds in rows:
            key = "mysql.waits." + str(event).removeprefix("wait/").replace("/", ".")
            values[f"{key}.count"] = int(count)
            values[f"{key}.seconds"] = int(picoseconds) / PICOSECONDS
        return SourceReading(values, hidden=self._hidden, statements=self._server.statements - before)

    def close(self) -> None:
        self._server.close()

    def _look(self) -> list[HiddenFromSampler]:
        if self._server.ask(SWITCH) != ((1,),):
            raise NothingObserved(
                HiddenFromSampler(WHAT, "performance_schema is OFF", "start the server with performance_schema = ON")
            )
        ((known, on),) = self._server.ask(INSTRUMENTS)
        if on == known:
            return []
        remedy = "enable more with performance_schema_instrument = 'wait/…=ON', which costs the server time"
        return [HiddenFromSampler(f"{known - on} of {known} kinds of waits", "they are not instrumented", remedy)]
