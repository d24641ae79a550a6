"""MySQL Group Replication: state and role of a member, its queues and counts of transactions."""

from workers.agent.measure import group
from workers.agent.runtime.config import ServerAddress, SystemConfig
from workers.agent.samplers import HiddenFromSampler, NothingObserved, SourceReading
from workers.agent.samplers.connection import Asking, Denied, NotSupported
from workers.protocol.wire import Number

PREFIX = "mysql.group."
COUNTS = {
    "COUNT_TRANSACTIONS_IN_QUEUE": "certification_queue",
    "COUNT_TRANSACTIONS_CHECKED": "certified",
    "COUNT_CONFLICTS_DETECTED": "conflicts",
    "COUNT_TRANSACTIONS_ROWS_VALIDATING": "certification_rows",
    "COUNT_TRANSACTIONS_REMOTE_IN_APPLIER_QUEUE": "applier_queue",
    "COUNT_TRANSACTIONS_REMOTE_APPLIED": "applied",
    "COUNT_TRANSACTIONS_LOCAL_PROPOSED": "proposed",
    "COUNT_TRANSACTIONS_LOCAL_ROLLBACK": "rolled_back",
}
STATS = (
    f"SELECT {', '.join(COUNTS)} FROM performance_schema.replication_group_member_stats"  # noqa: S608
    " WHERE MEMBER_ID = @@global.server_uuid"
)


class GroupMembership:
    """On a server without a group it asks once, and is not read again."""

    name = "group"
    interval = 1
    prompt = False

    def __init__(self, system: SystemConfig, address: ServerAddress) -> None:
        self._server = Asking(system, address)
        self._user = system.user
        self._has_group: bool | None = None

    def read(self) -> SourceReading:
        before = self._server.statements
        if self._has_group is None:
            self._has_group = self._asked()
        if not self._has_group:
            raise NothingObserved
        try:
            found = group.view(self._server.ask(group.MEMBERS))
            counts = self._server.ask(STATS)
        except Denied as error:
            remedy = f"GRANT SELECT ON performance_schema.* to {self._user}"
            raise NothingObserved(HiddenFromSampler("state of the group", str(error), remedy)) from error
        values: dict[str, Number] = {}
        states: dict[str, str] = {}
        if found:
            values = numbers(found)
            states = {
                "group state": found.own.state,
                "group role": found.own.role or "none",
                "group members": f"{found.online} of {len(found.members)} ONLINE",
            }
        for row in counts:
            values |= {f"{PREFIX}{key}": int(value) for key, value in zip(COUNTS.values(), row, strict=True)}
        return SourceReading(values, states=states, statements=self._server.statements - before)

    def close(self) -> None:
        self._server.close()

    def _asked(self) -> bool:
        try:
            return bool(self._server.ask(group.NAME)[0][0])
        except NotSupported:
            return False


def numbers(found: group.GroupView) -> dict[str, Number]:
    values: dict[str, Number] = {
        f"{PREFIX}primary": int(found.own.role == group.PRIMARY),
        f"{PREFIX}members": len(found.members),
        f"{PREFIX}online": found.online,
    }
    if found.own.state in group.STATES:
        values[f"{PREFIX}state"] = group.STATES[found.own.state]
    return values
