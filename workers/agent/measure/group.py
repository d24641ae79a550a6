"""MySQL Group Replication: the group as one of its members sees it, and whether that member serves."""

from dataclasses import dataclass

import pymysql
from pymysql.cursors import Cursor

UNKNOWN_VARIABLE = 1193
# As numbers, the further from service the lower.
STATES = {"OFFLINE": 0, "ERROR": 1, "UNREACHABLE": 2, "RECOVERING": 3, "ONLINE": 4}
ONLINE, UNREACHABLE, PRIMARY = "ONLINE", "UNREACHABLE", "PRIMARY"
# The plugin may be loaded on a server that belongs to no group.
NAME = "SELECT @@global.group_replication_group_name"
# A member that left its group has no id in its own view.
MEMBERS = (
    "SELECT MEMBER_ID = @@global.server_uuid OR MEMBER_ID = '', CONCAT(MEMBER_HOST, ':', MEMBER_PORT),"
    " MEMBER_STATE, MEMBER_ROLE, @@global.read_only FROM performance_schema.replication_group_members ORDER BY 2"
)


@dataclass(frozen=True)
class GroupMember:
    address: str
    state: str
    role: str


@dataclass(frozen=True)
class GroupView:
    """`own`: the member that was queried, also one of `members`."""

    own: GroupMember
    members: tuple[GroupMember, ...]
    read_only: bool

    @property
    def online(self) -> int:
        return sum(member.state == ONLINE for member in self.members)

    @property
    def serves(self) -> bool:
        """Whether it takes part in a majority; one in a minority still reports ONLINE."""
        unreachable = sum(member.state == UNREACHABLE for member in self.members)
        return self.own.state == ONLINE and 2 * unreachable < len(self.members)

    @property
    def takes_writes(self) -> bool:
        return self.serves and self.own.role == PRIMARY and not self.read_only

    def words(self) -> str:
        """For example "ONLINE SECONDARY, 2 of 3 members ONLINE, db1:3306 UNREACHABLE, primary db2:3306"."""
        others = [f"{each.address} {each.state}" for each in self.members if each not in (self.own,)]
        away = [text for text in others if not text.endswith(f" {ONLINE}")]
        primaries = [f"primary {each.address}" for each in self.members if each.role == PRIMARY]
        own = f"{self.own.state} {self.own.role}".strip()
        return ", ".join([own, f"{self.online} of {len(self.members)} members ONLINE", *away, *primaries])

    def problem(self, nodes: int) -> str:
        """Why it is not all of a group of `nodes` members; empty: it is."""
        if self.own.state != ONLINE:
            return f"is not in its group: its state is {self.own.state}"
        away = [f"{each.address} is {each.state}" for each in self.members if each.state != ONLINE]
        if away:
            return f"reports of its group: {', '.join(away)}"
        if len(self.members) < nodes:
            return f"is in a group of {len(self.members)}, the system has {nodes} nodes"
        return ""


def view(rows: tuple[tuple[object, ...], ...]) -> GroupView | None:
    """Of the rows of MEMBERS. None: it is not in one, or reports none."""
    found = [(bool(own), GroupMember(*map(str, rest)), bool(read_only)) for own, *rest, read_only in rows]
    return next(
        (GroupView(member, tuple(each for _, each, _ in found), read_only) for own, member, read_only in found if own),
        None,
    )


def has_group(cursor: Cursor) -> bool:
    """Whether the server is configured as a member. Raises pymysql.MySQLError or OSError."""
    try:
        cursor.execute(NAME)
    except pymysql.MySQLError as error:
        if error.args and error.args[0] == UNKNOWN_VARIABLE:
            return False
        raise
    return bool((cursor.fetchone() or ("",))[0])


def look(cursor: Cursor) -> GroupView | None:
    """None: it is a member of none, or this account may not see it. Raises pymysql.MySQLError or OSError."""
    if not has_group(cursor):
        return None
    try:
        cursor.execute(MEMBERS)
    except pymysql.OperationalError as error:
        if error.args and error.args[0] in (1142, 1143):
            return None
        raise
    return view(cursor.fetchall())
