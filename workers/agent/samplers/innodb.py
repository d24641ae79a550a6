"""The enabled counters of information_schema.INNODB_METRICS, under InnoDB's own names."""

from workers.agent.runtime.config import ServerAddress, SystemConfig
from workers.agent.samplers import HiddenFromSampler, NothingObserved, SourceFailed, SourceReading
from workers.agent.samplers.connection import Asking, Denied, NotSupported

WHAT = "InnoDB metrics"
FIRST = "SELECT * FROM information_schema.INNODB_METRICS"


class InnodbMetrics:
    name = "innodb"
    interval = 1
    prompt = False

    def __init__(self, system: SystemConfig, address: ServerAddress) -> None:
        self._server = Asking(system, address)
        self._user = system.user
        self._statement = ""

    def read(self) -> SourceReading:
        try:
            if not self._statement:
                return self._begin()
            return SourceReading(
                {f"mysql.innodb.{name}": count for name, count in self._server.ask(self._statement)}, statements=1
            )
        except Denied as error:
            remedy = f"GRANT PROCESS ON *.* to {self._user}"
            raise NothingObserved(HiddenFromSampler(WHAT, str(error), remedy)) from error
        except NotSupported as error:
            raise NothingObserved(HiddenFromSampler(WHAT, f"this server does not have them ({error})")) from error

    def close(self) -> None:
        self._server.close()

    def _begin(self) -> SourceReading:
        """Reads all metrics once, to find those that exist and how this server marks the enabled ones."""
        columns, rows = self._server.table(FIRST)
        places = {name.upper(): place for place, name in enumerate(columns)}
        enabled = "ENABLED" if "ENABLED" in places else "STATUS"
        if not {"NAME", "COUNT", enabled} <= places.keys():
            raise SourceFailed(f"INNODB_METRICS has no columns NAME, COUNT and {enabled}")
        on = [row for row in rows if row[places[enabled]] in (1, "enabled")]
        condition = "ENABLED = 1" if enabled == "ENABLED" else "STATUS = 'enabled'"
        self._statement = f"SELECT NAME, COUNT FROM information_schema.INNODB_METRICS WHERE {condition}"  # noqa: S608
        off = len(rows) - len(on)
        hidden = HiddenFromSampler(
            f"{off} of {len(rows)} {WHAT}",
            "they are disabled",
            "name the modules in innodb_monitor_enable, for example 'module_log'",
        )
        values = {f"mysql.innodb.{row[places['NAME']]}": row[places["COUNT"]] for row in on}
        return SourceReading(values, hidden=[hidden] if off else [], statements=1)
