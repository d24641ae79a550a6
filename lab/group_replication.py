"""Three MySQL servers with Group Replication, behind an HAProxy that sends all connections to the primary."""

import json
import signal
import sys
import time
import uuid
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path

from lab import clustercheck, haproxy
from lab.daemons import Daemon, send
from lab.galera_node import NODES
from lab.haproxy import Backend, HAProxy
from lab.mariadb import ACCOUNT
from lab.mysql import MySQL, fetch, programs
from lab.packages import LabError, program
from lab.ports import kept_ports
from lab.systems import AgentEntry, Member, Progress, fault_command

ONLINE, OFFLINE, PRIMARY = "ONLINE", "OFFLINE", "PRIMARY"
# s. A join takes two; on a busy machine, or until a dead member is expelled, far longer.
JOIN_TIMEOUT = 180.0
PROXY_TIMEOUT = 60.0
SETTINGS = {
    "gtid_mode": "ON",
    "enforce_gtid_consistency": "ON",
    "log_bin": "binlog",
    "innodb_flush_log_at_trx_commit": "1",
    "plugin_load_add": "group_replication.so",
    "group_replication_start_on_boot": "OFF",
    # Of three nodes on one machine; the default of a gibibyte each is for days of writes.
    "group_replication_message_cache_size": "134217728",
    # Its channel's password is sent encrypted by the donor's key.
    "group_replication_recovery_get_public_key": "ON",
    "group_replication_member_expel_timeout": "5",
}
# A suspected member is expelled at once, five seconds after its last message.
AT_ONCE = {"group_replication_member_expel_timeout": "0"}
# A primary is elected by a majority, so that one answer of it is enough.
CHECKS = {**haproxy.CHECKS, "rise": "1"}
# Of a majority, the primary that takes writes.
IS_WRITABLE = (
    "SELECT COALESCE(SUM(MEMBER_ID = @@server_uuid AND MEMBER_STATE = 'ONLINE' AND MEMBER_ROLE = 'PRIMARY'), 0)"
    " AND SUM(MEMBER_STATE = 'UNREACHABLE') * 2 < COUNT(*) AND NOT @@global.super_read_only"
    " FROM performance_schema.replication_group_members;\n"
)
MEMBERS = (
    "SELECT MEMBER_ID = @@server_uuid OR MEMBER_ID = '', MEMBER_PORT, MEMBER_STATE, MEMBER_ROLE"
    " FROM performance_schema.replication_group_members"
)
# Counts the time for which transactions were held back.
COMPONENT = "INSTALL COMPONENT 'file://component_group_replication_flow_control_stats'"


class GroupReplication:
    needs: Sequence[str] = ("mariadb", "haproxy")
    size = len(NODES)
    name = "MySQL Group Replication, three nodes, one primary behind HAProxy"

    def __init__(self, var: Path, slug: str = "group-replication", settings: Mapping[str, str] | None = None) -> None:
        self.slug = slug
        self.var = var.absolute()
        self.directory = self.var / "lab" / slug
        self.settings = {**SETTINGS, **(settings or {})}
        self._check = Daemon(self.directory, "clustercheck")

    # ------------------------------------------------------------ parts

    @cached_property
    def ports(self) -> dict[str, int]:
        names = [f"{node}.{kind}" for node in NODES for kind in ("sql", "group", "check")]
        return kept_ports(self.directory / "ports.json", ["writer", *names])

    @cached_property
    def servers(self) -> dict[str, MySQL]:
        return {
            node: MySQL(
                self.directory / node,
                programs(self.var),
                port=self.ports[f"{node}.sql"],
                settings=self.settings,
                defaults=self.directory / node / "my.cnf",
            )
            for node in NODES
        }

    @property
    def proxy(self) -> HAProxy:
        servers = [
            Backend(node, f"127.0.0.1:{self.ports[f'{node}.sql']}", self.ports[f"{node}.check"]) for node in NODES
        ]
        return HAProxy(self.directory, port=self.ports["writer"], servers=servers, checks=CHECKS)

    # ------------------------------------------------------------ up, down, state

    def up(self, progress: Progress) -> None:
        if not programs(self.var).exists():
            progress("MySQL of Debian's unstable release")
        fetch(self.var)
        self.directory.mkdir(parents=True, exist_ok=True)
        self._make(progress)
        self._write_files()
        self._thaw(*NODES)
        self._join(NODES, progress)
        progress("HAProxy")
        self._start_proxy()

    def down(self) -> None:
        self.proxy.stop()
        self._check.stop()
        for node in reversed(NODES):
            self.servers[node].stop()

    def is_up(self) -> bool:
        return self.proxy.pid is not None and any(server.is_ready() for server in self.servers.values())

    def state(self) -> str:
        if self.proxy.pid is None and not any(server.pid for server in self.servers.values()):
            return "is stopped"
        nodes = ", ".join(f"{node} {self.status(node)}" for node in NODES)
        return f"runs on 127.0.0.1:{self.ports['writer']}, primary {self.primary() or 'none'}; {nodes}"

    def status(self, node: str) -> str:
        """The member's own state, for example `ONLINE`."""
        if self.servers[node].pid is None:
            return "is stopped"
        return self._members(node).get(node, ("does not answer", ""))[0]

    def primary(self) -> str:
        """As a member in a majority sees it; empty: there is none."""
        for node in NODES:
            members = self._members(node)
            if members.get(node, ("", ""))[0] == ONLINE and _is_majority(members):
                return next((name for name, (_, role) in members.items() if role == PRIMARY), "")
        return ""

    def registration(self) -> AgentEntry:
        members = [
            Member(
                node,
                "reader" if number else "writer",
                {"host": "127.0.0.1", "port": self.ports[f"{node}.sql"]},
            )
            for number, node in enumerate(NODES)
        ]
        return AgentEntry(
            name=self.name,
            platform="group-replication",
            address={"host": "127.0.0.1", "port": self.ports["writer"]},
            password_file=self.servers[NODES[0]].password_file,
            settings=self.servers[NODES[0]].settings,
            members=members,
            system_controls={"switch": fault_command(self.var, self.slug, "", "switch")},
            proxy_socket=self.proxy.socket,
            proxy_checks=CHECKS,
        )

    # ------------------------------------------------------------ controls

    def start(self, node: str) -> None:
        """Returns when the member is ONLINE; it takes what it missed from another one's binary log."""
        self._thaw(node)
        if self.primary():
            self._join([node], lambda _: None)
        else:
            self.up(lambda _: None)

    def stop(self, node: str) -> None:
        self.servers[node].stop()

    def do(self, control: str, _node: str, /) -> None:
        if control != "switch":
            raise LabError(f"{self.slug} has no {control}")
        primary = self.primary()
        members = self._members(primary) if primary else {}
        ring = [*NODES[NODES.index(primary) + 1 :], *NODES] if primary else []
        target = next((node for node in ring if node != primary and members.get(node, ("", ""))[0] == ONLINE), None)
        if not target:
            raise LabError(f"{self.slug}: there is no other member that could be the primary")
        identity = self.servers[target].sql("SELECT @@server_uuid").strip()
        self.servers[primary].sql(f"SELECT group_replication_set_as_primary('{identity}')")

    def _thaw(self, *nodes: str) -> None:
        for node in nodes:
            pid = self.servers[node].pid
            if pid is not None:
                send(pid, signal.SIGCONT)

    # ------------------------------------------------------------ making

    def _make(self, progress: Progress) -> None:
        """One installation, copied: members with equal data need no transfer."""
        made = self.directory / "made"
        if made.exists():
            return
        progress("data directories")
        self._write_files()
        first = self.servers[NODES[0]]
        first.start()
        # Without a history of its own: the group's begins with its first write.
        first.sql(f"{COMPONENT}; RESET BINARY LOGS AND GTIDS")
        first.stop()
        for node in NODES[1:]:
            self.servers[node].copy_from(first)
        (first.data / "auto.cnf").unlink()
        made.touch()

    def _write_files(self) -> None:
        addresses = {node: f"127.0.0.1:{self.ports[f'{node}.group']}" for node in NODES}
        for number, node in enumerate(NODES):
            own = {
                "server_id": str(number + 1),
                "report_host": "127.0.0.1",
                # One of its own, but the same after each start.
                "loose_group_replication_group_name": str(uuid.uuid5(uuid.NAMESPACE_URL, str(self.directory))),
                "loose_group_replication_local_address": addresses[node],
                "loose_group_replication_group_seeds": ",".join(addresses.values()),
            }
            file = self.servers[node].directory / "my.cnf"
            file.parent.mkdir(exist_ok=True)
            file.write_text("[mysqld]\n" + "".join(f"{key}={value}\n" for key, value in own.items()))
        (self.directory / "clustercheck.json").write_text(
            json.dumps(
                {
                    "mariadb": program("mariadb"),
                    "user": ACCOUNT,
                    "password_file": str(self.servers[NODES[0]].password_file),
                    "nodes": [[str(self.servers[node].socket), self.ports[f"{node}.check"]] for node in NODES],
                    "question": IS_WRITABLE,
                    "yes": "1\n",
                }
            )
        )

    # ------------------------------------------------------------ starting

    def _join(self, nodes: Sequence[str], progress: Progress) -> None:
        """Returns when all of `nodes` are ONLINE. Raises LabError, with the member's own reason."""
        if not self._await_view():
            nodes = NODES
            # What lost its majority, or never had one, waits for the others for ever.
            for node in NODES:
                self.servers[node].kill()
        self._launch(nodes)
        if not self.primary():
            first = max(nodes, key=self._transactions)
            progress(f"{first} bootstraps the group")
            self._begin(first, bootstrap=True)
        for node in nodes:
            if self.status(node) != ONLINE:
                progress(f"{node} joins")
                self._begin(node)

    def _await_view(self) -> bool:
        """Whether a majority agrees on a primary; waits until dead members are noticed, suspected and then expelled."""
        deadline = time.monotonic() + JOIN_TIMEOUT
        while time.monotonic() < deadline:
            views = {node: self._members(node) for node in NODES if self.servers[node].is_ready()}
            inside = {node: view for node, view in views.items() if view.get(node, ("", ""))[0] == ONLINE}
            if not any(_is_majority(view) for view in inside.values()):
                return False
            seen = {(node, state) for view in inside.values() for node, (state, _) in view.items()}
            if self.primary() and all(state != "UNREACHABLE" and self._runs(node) for node, state in seen):
                return True
            time.sleep(0.2)
        raise LabError(f"{self.slug}: the members do not agree; it {self.state()}")

    def _runs(self, node: str) -> bool:
        return node in self.servers and self.servers[node].pid is not None

    def _launch(self, nodes: Sequence[str]) -> None:
        started = {node: self.servers[node].launch() for node in nodes if self.servers[node].pid is None}
        for node, process in started.items():
            self.servers[node].await_ready(process)

    def _begin(self, node: str, *, bootstrap: bool = False) -> None:
        server = self.servers[node]
        deadline = time.monotonic() + JOIN_TIMEOUT
        problem = ""
        while (state := self.status(node)) != ONLINE:
            if time.monotonic() > deadline:
                raise LabError(f"{self.slug}: {node} is {state}: {problem or server.last_error()}")
            if state not in (OFFLINE, "ERROR"):  # it recovers
                time.sleep(0.1)
                continue
            try:
                if state == "ERROR":
                    server.sql("STOP GROUP_REPLICATION", timeout=JOIN_TIMEOUT)
                server.sql(
                    f"SET GLOBAL group_replication_bootstrap_group = {'ON' if bootstrap else 'OFF'};"
                    f" START GROUP_REPLICATION USER = '{ACCOUNT}', PASSWORD = '{server.password}';"
                    " SET GLOBAL group_replication_bootstrap_group = OFF",
                    timeout=JOIN_TIMEOUT,
                )
            except LabError as error:  # the group has not expelled the killed one that it was
                problem = str(error).splitlines()[-1]  # the others quote the statement, with the password
                time.sleep(0.5)

    def _transactions(self, node: str) -> int:
        """Number of those that it has."""
        spans = self.servers[node].sql("SELECT @@global.gtid_executed").replace("\\n", "").replace(",", ":").split(":")
        ends = [span.strip().partition("-") for span in spans if span.strip().replace("-", "").isdigit()]
        return sum(int(last or first) - int(first) + 1 for first, _, last in ends)

    def _start_proxy(self) -> None:
        if self._check.pid is None:
            file = str(self.directory / "clustercheck.json")
            self._check.start([sys.executable, "-I", "-S", clustercheck.__file__, file])
        self.proxy.start()
        deadline = time.monotonic() + PROXY_TIMEOUT
        while haproxy.servers_up(self.proxy.socket) != [self.primary()]:
            if self.proxy.pid is None or self._check.pid is None or time.monotonic() > deadline:
                raise LabError(f"{self.slug}: HAProxy does not see the primary, it {self.state()}")
            time.sleep(0.1)

    def _members(self, node: str) -> Mapping[str, tuple[str, str]]:
        """Node -> state and role, as `node` sees them; empty: it does not answer."""
        names = {str(self.ports[f"{each}.sql"]): each for each in NODES}
        try:
            answer = self.servers[node].sql(MEMBERS, timeout=5) if self.servers[node].is_ready() else ""
        except LabError:
            return {}
        rows = [line.split("\t") for line in answer.splitlines()]
        return {node if own == "1" else names.get(port, port): (state, role) for own, port, state, role in rows}


def _is_majority(members: Mapping[str, tuple[str, str]]) -> bool:
    return sum(state == "UNREACHABLE" for state, _ in members.values()) * 2 < len(members)
