"""A source and two replicas, watched by MHA's manager, behind an HAProxy that its failover script repoints."""

import json
import secrets
import shutil
import signal
import time
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path

from lab import haproxy, manager, mariadb, replication
from lab.daemons import send
from lab.haproxy import Backend, HAProxy
from lab.manager import Manager
from lab.mariadb import OBSERVED, MariaDB
from lab.packages import LabError, program
from lab.ports import kept_ports
from lab.sshd import Sshd
from lab.systems import NODE_CONTROLS, AgentEntry, Member, Progress, fault_command

NODES = ("node1", "node2", "node3")
FAILOVER_TIMEOUT = 180.0  # s
SETTINGS = {
    **OBSERVED,
    "log_bin": "binlog",
    "binlog_format": "ROW",
    "log_slave_updates": "ON",
    "sync_binlog": "1",
    "innodb_flush_log_at_trx_commit": "1",
}
# A commit waits until a replica has it; after the timeout, ms, the source goes on without. Acknowledged before other
# sessions see it, so that nothing is seen that a failover loses. On the source alone it is enabled, at its promotion: a
# replica without replicas would wait out the timeout.
SEMI_SYNC = {
    "rpl_semi_sync_slave_enabled": "ON",
    "rpl_semi_sync_master_timeout": "10000",
    "rpl_semi_sync_master_wait_point": "AFTER_SYNC",
}
SOURCE_WAITS = "rpl_semi_sync_master_enabled"
# Every server starts as a stopped, read-only replica: a killed source may have been replaced.
WAITING = {"relay_log": "relay", "relay_log_purge": "OFF", "skip_slave_start": "ON", "read_only": "ON"}


class MHA:
    needs: Sequence[str] = (
        *("mariadbd", "mariadb-install-db", "mariadb", "mysqlbinlog", "mariabackup"),
        *("haproxy", "sshd", "ssh-keygen", "masterha_manager", "apply_diff_relay_logs"),
    )
    size = len(NODES)

    def __init__(self, var: Path, slug: str = "mha", *, semi_sync: bool = False) -> None:
        self.slug = slug
        self.semi_sync = semi_sync
        how = "semi-synchronous source" if semi_sync else "source"
        self.name = f"MariaDB, {how} and two replicas, MHA behind HAProxy"
        self.settings = {**SETTINGS, **(SEMI_SYNC if semi_sync else {})}
        self.var = var.absolute()
        self.directory = self.var / "lab" / slug
        self.events = self.directory / "failover.jsonl"

    # ------------------------------------------------------------ parts

    @cached_property
    def ports(self) -> dict[str, int]:
        return kept_ports(self.directory / "ports.json", ["writer", "ssh", *NODES])

    @cached_property
    def servers(self) -> dict[str, MariaDB]:
        return {
            node: MariaDB(
                self.directory / node,
                port=self.ports[node],
                settings={
                    **self.settings,
                    **WAITING,
                    "server_id": str(number),
                    "report_host": "127.0.0.1",
                    "report_port": str(self.ports[node]),
                },
            )
            for number, node in enumerate(NODES, start=1)
        }

    @property
    def source(self) -> str:
        """The current source, written by the failover script."""
        file = self.directory / "source"
        return file.read_text() if file.exists() else NODES[0]

    @property
    def proxy(self) -> HAProxy:
        server = Backend("master", f"127.0.0.1:{self.ports[self.source]}")
        return HAProxy(self.directory, port=self.ports["writer"], servers=[server])

    @cached_property
    def sshd(self) -> Sshd:
        return Sshd(self.directory, port=self.ports["ssh"], environment={"PERL5LIB": str(self.directory / "perl")})

    @cached_property
    def manager(self) -> Manager:
        return Manager(self.directory, sshd=self.sshd, servers=self.servers, password=self._password)

    @property
    def _password(self) -> str:
        """Password of MHA's account."""
        file = self.directory / "mha_password"
        if not file.exists():
            file.touch(mode=0o600)
            file.write_text(secrets.token_hex(12))
        return file.read_text()

    # ------------------------------------------------------------ up, down, state

    def up(self, progress: Progress) -> None:
        self.directory.mkdir(parents=True, exist_ok=True)
        self._make(progress)
        if not self.servers[self.source].is_ready():
            self.manager.stop()  # it would fail over from a source that is about to return
        progress("source and replicas")
        self._start_servers(NODES)
        self._lead(self.source)
        for node in self._others(self.source):
            self._follow(node)
        progress("sshd, HAProxy")
        self._write_files()
        self.sshd.start()
        self.proxy.start()
        self._point()
        progress("MHA's manager, which checks everything before it monitors")
        self.manager.start()

    def down(self) -> None:
        self.manager.stop()
        self.proxy.stop()
        for node in [*self._others(self.source), self.source]:
            self.servers[node].stop()
        self.sshd.stop()

    def is_up(self) -> bool:
        return self.proxy.pid is not None and any(server.is_ready() for server in self.servers.values())

    def state(self) -> str:
        if self.proxy.pid is None and not any(server.pid for server in self.servers.values()):
            return "is stopped"
        nodes = ", ".join(f"{node} {self.status(node)}" for node in NODES)
        watches = "watches" if self.manager.is_watching() else "does not watch"
        proxy = f"runs on 127.0.0.1:{self.ports['writer']}" if self.proxy.pid else "has no HAProxy"
        return f"{proxy}; {nodes}; the manager {watches}"

    def status(self, node: str) -> str:
        """`is the source`, `replicates`, or the problem."""
        server = self.servers[node]
        if server.pid is None:
            return "is stopped"
        try:
            if node == self.source:
                return (
                    "is the source"
                    if server.sql("SELECT @@read_only", timeout=5).strip() in ("0", "OFF")
                    else "is read-only"
                )
            return "replicates" if replication.is_replica(server, self.servers[self.source]) else "does not replicate"
        except LabError:
            return "does not answer"

    def registration(self) -> AgentEntry:
        members = [
            Member(node, "reader" if number else "writer", {"host": "127.0.0.1", "port": self.ports[node]})
            for number, node in enumerate(NODES)
        ]
        # The manager's log and the failover script's events.
        watch = [program("tail"), "-q", "-n0", "-F", str(self.manager.log), str(self.events)]
        return AgentEntry(
            name=self.name,
            platform="mha",
            address={"host": "127.0.0.1", "port": self.ports["writer"]},
            password_file=self.servers[NODES[0]].password_file,
            settings={**mariadb.SETTINGS, **self.settings, **self._waits("ON"), **manager.SETTINGS},
            members=members,
            node_controls=(*NODE_CONTROLS, "start_alone"),
            system_controls={
                **{name: fault_command(self.var, self.slug, "", name) for name in ("switch", "check")},
                "watch": watch,
            },
            proxy_socket=self.proxy.socket,
        )

    # ------------------------------------------------------------ controls

    def start(self, node: str) -> None:
        """Returns when the node is a caught-up replica (the source, if none took over) and the manager watches."""
        self._start_alone(node)
        if node == self.source:
            self._lead(node)
            self._point()
        else:
            self._follow(node)
        if all(server.is_ready() for server in self.servers.values()):
            self.manager.start()

    def stop(self, node: str) -> None:
        self.servers[node].stop()

    def do(self, control: str, node: str, /) -> None:
        if control == "start_alone" and node in NODES:
            self._start_alone(node)
            return
        if control == "check":
            if not self.manager.is_watching():
                raise LabError(f"{self.slug}: MHA's manager does not watch; see {self.manager.log}")
            return
        if control != "switch":
            raise LabError(f"{self.slug} has no {control}")
        number = NODES.index(self.source)
        ring = [*NODES[number + 1 :], *NODES[:number]]
        target = next((node for node in ring if self.status(node) == "replicates"), None)
        if not target:
            raise LabError(f"{self.slug}: there is no replica that could be the source")
        self.manager.switch(self.servers[target])
        self.manager.start()

    def _start_alone(self, node: str) -> None:
        """Its server runs, read-only and following nobody unless it was a replica: what it wrote can be looked at."""
        self._thaw(node)
        self._await_failover(node)
        self._start_servers([node])

    def _thaw(self, node: str) -> None:
        pid = self.servers[node].pid
        if pid is not None:
            send(pid, signal.SIGCONT)

    def _await_failover(self, node: str) -> None:
        """Waits for a failover in progress, or about to start: a node that returns before its end would interfere."""
        deadline = time.monotonic() + FAILOVER_TIMEOUT
        dead = node == self.source and not self.servers[node].is_ready()
        while self.manager.is_failing_over() or (dead and self.manager.pid is not None):
            if time.monotonic() > deadline:
                raise LabError(f"{self.slug}: MHA is not done after {FAILOVER_TIMEOUT:.0f} s; see {self.manager.log}")
            time.sleep(0.1)

    # ------------------------------------------------------------ making

    def _make(self, progress: Progress) -> None:
        """One installation, copied, with MHA's account; the binary logs start empty."""
        made = self.directory / "made"
        if made.exists():
            return
        progress("data directories")
        first = self.servers[NODES[0]]
        shutil.rmtree(first.directory, ignore_errors=True)  # an incomplete installation
        plain = MariaDB(first.directory)
        plain.start()
        for host in ("127.0.0.1", "localhost"):
            plain.sql(
                f"CREATE USER {manager.ACCOUNT}@'{host}' IDENTIFIED BY '{self._password}';"
                f"GRANT ALL ON *.* TO {manager.ACCOUNT}@'{host}'"
            )
        plain.stop()
        for node in self._others(NODES[0]):
            self.servers[node].copy_from(plain)
        made.touch()

    def _write_files(self) -> None:
        first = self.servers[NODES[0]]
        found = {
            "haproxy": str(self.proxy.socket),
            "mariadb": program("mariadb"),
            "user": mariadb.ACCOUNT,
            "password_file": str(first.password_file),
            "source": self._waits("ON"),
            "replica": self._waits("OFF"),
            "nodes": {str(server.port): [node, str(server.socket)] for node, server in self.servers.items()},
        }
        (self.directory / "repoint.json").write_text(json.dumps(found))
        for log in (self.events, self.manager.log):
            log.touch()
        self.manager.write_files()

    def _start_servers(self, nodes: Iterable[str]) -> None:
        stopped = [self.servers[node] for node in nodes if not self.servers[node].is_ready()]
        for server in stopped:
            server.kill()  # a server hanging in its start would hold its files
        for server, process in [(server, server.launch()) for server in stopped]:
            server.await_ready(process)

    def _lead(self, node: str) -> None:
        self._set(node, self._waits("ON"))
        self.servers[node].sql("STOP SLAVE; RESET SLAVE ALL; SET GLOBAL read_only = 0")

    def _point(self) -> None:
        """Points HAProxy to the source and opens it; an aborted failover leaves it closed."""
        server = f"{haproxy.BACKEND}/master"
        haproxy.command(self.proxy.socket, f"set server {server} addr 127.0.0.1 port {self.ports[self.source]}")
        haproxy.command(self.proxy.socket, f"set server {server} state ready")

    def _follow(self, node: str) -> None:
        replica, source = self.servers[node], self.servers[self.source]
        self._set(node, self._waits("OFF"))
        # A restarted replica continues by itself, even with writes of its own.
        if replication.knows_more(replica, source) or not replication.is_replica(replica, source):
            replication.join(replica, source, user=manager.ACCOUNT, password=self._password)

    def _waits(self, value: str) -> dict[str, str]:
        """Settings by which a source and a replica differ."""
        return {SOURCE_WAITS: value} if self.semi_sync else {}

    def _set(self, node: str, settings: Mapping[str, str]) -> None:
        for name, value in settings.items():
            self.servers[node].sql(f"SET GLOBAL {name} = {value}")

    def _others(self, node: str) -> list[str]:
        return [other for other in NODES if other != node]
