"""Three MariaDB servers with Galera replication, behind an HAProxy that sends all connections to one of them."""

import json
import re
import shutil
import signal
import sys
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path

from lab import clustercheck, haproxy
from lab.daemons import Daemon, end_all, send
from lab.galera_node import NODES, NodePlace, position, settings, synced, view
from lab.haproxy import Backend, HAProxy
from lab.mariadb import ACCOUNT, OBSERVED, MariaDB
from lab.packages import LabError, program
from lab.ports import kept_ports, replace_taken
from lab.systems import NODE_CONTROLS, AgentEntry, Member, Progress, fault_command

TRANSFER = ("ist", "sst")  # ports for incremental and full state transfer
# s. A full transfer of a small data set takes ten, on a busy machine far longer; an ended node is detected at once.
SYNCED_TIMEOUT = 300.0
LOST_TIMEOUT = 30.0  # s that a running node may be outside the primary component before it is restarted
SETTLED_TIMEOUT = 180.0  # s
STARTS = 5  # of a node that does not reach the primary component
SETTINGS = {
    **OBSERVED,
    "binlog_format": "ROW",
    "innodb_autoinc_lock_mode": "2",
    "innodb_flush_log_at_trx_commit": "1",
}
# Provider options common to all nodes: with different timeouts the survivors of a killed node split.
PROVIDER = {"evs.suspect_timeout": "PT5S"}
# A dead node is detected after one second; Galera requires the periods to be below a third of that.
QUICK = {
    "evs.suspect_timeout": "PT1S",
    "evs.keepalive_period": "PT0.3S",
    "evs.join_retrans_period": "PT0.3S",
    "evs.inactive_check_period": "PT0.3S",
}


class Galera:
    needs: Sequence[str] = ("mariadbd", "mariadb-install-db", "mariadb", "libgalera_smm.so", "rsync", "haproxy")
    size = len(NODES)
    name = "MariaDB Galera, three nodes, one writer behind HAProxy"
    node_controls: Sequence[str] = NODE_CONTROLS

    def __init__(self, var: Path, slug: str = "galera", provider: Mapping[str, str] | None = None) -> None:
        self.slug = slug
        self.var = var.absolute()
        self.directory = self.var / "lab" / slug
        self.provider = {**PROVIDER, **(provider or {})}
        self._check = Daemon(self.directory, "clustercheck")

    # ------------------------------------------------------------ parts

    @property
    def _ports_file(self) -> Path:
        return self.directory / "ports.json"

    @cached_property
    def ports(self) -> dict[str, int]:
        names = [f"{node}.{kind}" for node in NODES for kind in ("sql", "group", *TRANSFER, "check")]
        return kept_ports(self._ports_file, ["writer", *names])

    @cached_property
    def servers(self) -> dict[str, MariaDB]:
        return {
            node: MariaDB(
                self.directory / node,
                port=self.ports[f"{node}.sql"],
                settings=SETTINGS,
                defaults=self.directory / node / "my.cnf",
                within=self.place(node).within,
            )
            for node in NODES
        }

    @property
    def proxy(self) -> HAProxy:
        servers = [Backend(node, self.sql_address(node), self.ports[f"{node}.check"]) for node in NODES]
        return HAProxy(self.directory, port=self.ports["writer"], servers=servers)

    def place(self, _node: str, /) -> NodePlace:
        return NodePlace()

    def sql_address(self, node: str) -> str:
        """The address used by HAProxy."""
        return f"127.0.0.1:{self.ports[f'{node}.sql']}"

    # ------------------------------------------------------------ up, down, state

    def up(self, progress: Progress) -> None:
        self.directory.mkdir(parents=True, exist_ok=True)
        self._make(progress)
        self._write_files()
        self._thaw()
        self._join(NODES, progress)
        progress("HAProxy")
        self._start_proxy()

    def down(self) -> None:
        self.proxy.stop()
        self._check.stop()
        # In this order node1 is the last of the cluster, and bootstraps it the next time.
        for node in reversed(NODES):
            self.servers[node].stop()
        end_all(rb"wsrep_sst_|rsync", f"{self.directory}/")

    def is_up(self) -> bool:
        return self.proxy.pid is not None and any(server.is_ready() for server in self.servers.values())

    def state(self) -> str:
        if self.proxy.pid is None and not any(server.pid for server in self.servers.values()):
            return "is stopped"
        nodes = ", ".join(f"{node} {self.status(node)}" for node in NODES)
        try:
            writer = haproxy.current(self.proxy.socket) or "none"
        except OSError:
            return f"has no HAProxy; {nodes}"
        return f"runs on 127.0.0.1:{self.ports['writer']}, writer {writer}; {nodes}"

    def status(self, node: str) -> str:
        """Galera's state, for example `Synced`."""
        if self.servers[node].pid is None:
            return "is stopped"
        return view(self.servers[node]).get("wsrep_local_state_comment", "does not answer")

    def registration(self) -> AgentEntry:
        members = [
            Member(node, "reader" if number else "writer", self._agent_address(node), self.place(node).zone)
            for number, node in enumerate(NODES)
        ]
        return AgentEntry(
            name=self.name,
            platform="galera",
            address={"host": "127.0.0.1", "port": self.ports["writer"]},
            password_file=self.servers[NODES[0]].password_file,
            settings={**self.servers[NODES[0]].settings, **self.provider},
            members=members,
            node_controls=self.node_controls,
            system_controls={"switch": fault_command(self.var, self.slug, "", "switch")},
            proxy_socket=self.proxy.socket,
            proxy_checks=haproxy.CHECKS,
        )

    def _agent_address(self, node: str) -> Mapping[str, str | int]:
        """The address used by the agent."""
        return {"host": "127.0.0.1", "port": self.ports[f"{node}.sql"]}

    # ------------------------------------------------------------ controls

    def start(self, node: str) -> None:
        """Returns when the node is synced: by an incremental transfer where possible, else by a full one."""
        self._thaw(node)
        if self._has_majority():
            self._join([node], lambda _: None)
        else:
            self.up(lambda _: None)

    def stop(self, node: str) -> None:
        self.servers[node].stop()

    def do(self, control: str, _node: str, /) -> None:
        if control != "switch":
            raise LabError(f"{self.slug} has no {control}")
        try:
            up, writer = haproxy.servers_up(self.proxy.socket), haproxy.current(self.proxy.socket)
            ring = [*NODES[NODES.index(writer) + 1 :], *NODES] if writer else list(NODES)
            target = next((name for name in ring if name in up and name != writer), None)
            if not target:
                raise LabError(f"{self.slug}: there is no other node that could be the writer")
            haproxy.move(self.proxy.socket, target)
        except OSError as error:
            raise LabError(f"{self.slug}: HAProxy does not answer: {error}") from error

    def _thaw(self, *nodes: str) -> None:
        for node in nodes or NODES:
            pid = self.servers[node].pid
            if pid is not None:
                send(pid, signal.SIGCONT)

    # ------------------------------------------------------------ making

    def _make(self, progress: Progress) -> None:
        """One installation, copied: nodes with the same initial data need no transfer."""
        made = self.directory / "made"
        if made.exists():
            return
        progress("data directories")
        first = self.servers[NODES[0]]
        shutil.rmtree(first.directory, ignore_errors=True)  # an incomplete installation
        plain = MariaDB(first.directory)
        plain.start()
        plain.stop()
        self._write_files()
        # Run alone once: its data then hold the cluster's UUID and position.
        self._bootstrap_stopped(NODES[0], "")
        first.stop()
        for node in NODES[1:]:
            self.servers[node].copy_from(first)
            self._mark_safe(node, 0)
        made.touch()

    def _mark_safe(self, node: str, value: int) -> None:
        """Sets whether Galera lets the node bootstrap a cluster."""
        state = self.servers[node].data / "grastate.dat"
        state.write_text(re.sub(r"safe_to_bootstrap: \d", f"safe_to_bootstrap: {value}", state.read_text()))

    def _write_files(self) -> None:
        for node in NODES:
            file = self.servers[node].directory / "my.cnf"
            file.parent.mkdir(exist_ok=True)
            file.write_text("[mysqld]\n" + "".join(f"{key}={value}\n" for key, value in self._settings(node).items()))
        (self.directory / "clustercheck.json").write_text(
            json.dumps(
                {
                    "mariadb": program("mariadb"),
                    "user": ACCOUNT,
                    "password_file": str(self.servers[NODES[0]].password_file),
                    "nodes": [[str(self.servers[node].socket), self.ports[f"{node}.check"]] for node in NODES],
                }
            )
        )

    def _settings(self, node: str) -> dict[str, str]:
        return settings(node, cluster=self.slug, ports=self.ports, place=self.place, provider=self.provider)

    # ------------------------------------------------------------ starting

    def _bootstrap(self, progress: Progress) -> dict[str, str]:
        """Bootstraps a cluster when no node runs or the running ones have lost their majority.

        Returns the positions of the stopped nodes, as far as they were read.
        """
        running = [node for node in NODES if view(self.servers[node])]
        if running:
            first = max(running, key=lambda node: int(view(self.servers[node]).get("wsrep_last_committed", -1)))
            progress(f"{first} continues without the lost nodes")
            self._bootstrap_running(first)
            return {}
        for node in NODES:
            self.servers[node].kill()  # a node hanging in its start would hold its files
        positions = self._positions(NODES)
        # With equal positions the first; the node stopped last has the highest.
        first = max(NODES, key=lambda node: int(positions[node].rpartition(":")[2] or -1))
        self._mark_safe(first, 1)
        progress(f"{first} bootstraps the cluster")
        self._bootstrap_stopped(first, positions[first])
        return positions

    def _bootstrap_running(self, node: str) -> None:
        deadline = time.monotonic() + SETTLED_TIMEOUT
        while not self._is_primary(node):
            try:
                self.servers[node].sql("SET GLOBAL wsrep_provider_options = 'pc.bootstrap=YES'")
            except LabError:  # refused while its view of the others changes
                if time.monotonic() > deadline:
                    raise
            time.sleep(0.1)

    def _bootstrap_stopped(self, node: str, position: str) -> None:
        self._launch(node, position, "--wsrep-new-cluster")
        failed = self._await_synced([node], time.monotonic() + SYNCED_TIMEOUT)
        if failed:
            raise LabError(f"{self.slug}: {node} could not bootstrap a cluster: {failed[node]}")

    def _join(self, nodes: Sequence[str], progress: Progress) -> None:
        """Returns when all nodes are synced. Restarts a node that ends or stays outside; LabError with the reason."""
        deadline = time.monotonic() + SYNCED_TIMEOUT
        failed: Mapping[str, str] = {}
        for _ in range(STARTS):
            for node, reason in failed.items():
                progress(f"{node} restarts: {reason}")
                self.servers[node].kill()
            known: dict[str, str] = {}
            if not self._has_majority():
                nodes, known = NODES, self._bootstrap(progress)
            # A running node, such as a thawed one, rejoins by itself or has permanently failed.
            joiners = [node for node in nodes if self.servers[node].pid is None]
            if joiners:
                progress(f"{', '.join(joiners)} join{'s' if len(joiners) == 1 else ''}")
            known |= self._positions([node for node in joiners if node not in known])
            for node in joiners:
                self._launch(node, known[node])
            failed = self._await_synced(nodes, deadline)
            if not failed:
                return
        raise LabError(f"{self.slug}: {'; '.join(f'{node} {reason}' for node, reason in failed.items())}")

    def _launch(self, node: str, position: str, *options: str) -> None:
        end_all(rb"wsrep_sst_|rsync", str(self.servers[node].directory))  # of a killed start
        self._replace_taken_ports(node)
        at = (f"--wsrep-start-position={position}",) if position else ()
        self.servers[node].launch(*at, *options)

    def _replace_taken_ports(self, node: str) -> None:
        """Replaces taken transfer ports: they are bound only during a transfer, so another program may have them."""
        names = [f"{node}.{kind}" for kind in TRANSFER]
        before = [self.ports[name] for name in names]
        replace_taken(self._ports_file, self.ports, names)
        file = self.servers[node].directory / "my.cnf"
        text = file.read_text()
        for old, name in zip(before, names, strict=True):
            text = text.replace(f":{old}", f":{self.ports[name]}")
        file.write_text(text)

    def _positions(self, nodes: Sequence[str]) -> dict[str, str]:
        """Positions of the nodes, read in parallel: for a killed node its data are opened."""
        with ThreadPoolExecutor(len(NODES)) as pool:
            return dict(zip(nodes, pool.map(position, (self.servers[node] for node in nodes)), strict=True))

    def _start_proxy(self) -> None:
        if self._check.pid is None:
            file = str(self.directory / "clustercheck.json")
            self._check.start([sys.executable, "-I", "-S", clustercheck.__file__, file])
        self.proxy.start()
        deadline = time.monotonic() + SYNCED_TIMEOUT
        while haproxy.servers_up(self.proxy.socket) != list(NODES):
            ended = [name for name, pid in (("HAProxy", self.proxy.pid), ("the check", self._check.pid)) if pid is None]
            if ended:
                raise LabError(f"{self.slug}: {ended[0]} ended; see the logs in {self.directory}")
            if time.monotonic() > deadline:
                raise LabError(
                    f"{self.slug}: HAProxy does not see all nodes, it {self.state()}; see {self.directory}/haproxy.log"
                )
            time.sleep(0.1)

    def _has_majority(self) -> bool:
        """Whether the running nodes form a settled majority. False: there is no primary component, or none runs.

        A node that rejoins before dead nodes are given up can split the cluster.
        """
        began = inside = time.monotonic()
        while True:
            ready = [node for node in NODES if self.servers[node].is_ready()]
            starting = [node for node in NODES if node not in ready and self.servers[node].pid]
            views = {node: view(self.servers[node]) for node in ready}
            members = [view for view in views.values() if view.get("wsrep_cluster_status") == "Primary"]
            seen = {(view["wsrep_cluster_conf_id"], int(view["wsrep_cluster_size"])) for view in members}
            now = time.monotonic()
            if members:
                inside = now
                if len(seen) == 1 and 0 <= max(seen)[1] - len(members) <= len(starting):
                    return True
            # Several nodes that see each other again agree by themselves; a single one cannot.
            elif (len(ready) < 2 and all(views.values())) or now - inside > LOST_TIMEOUT:
                return False
            if now - began > SETTLED_TIMEOUT:
                raise LabError(f"{self.slug}: the nodes do not agree on the members; it {self.state()}")
            time.sleep(0.1)

    def _await_synced(self, nodes: Sequence[str], deadline: float) -> dict[str, str]:
        """The nodes that failed to sync, with the reason."""
        waiting, failed = set(nodes), dict[str, str]()
        began = time.monotonic()
        inside = dict.fromkeys(nodes, began)  # last time in the primary component, or still starting
        while True:
            waiting -= synced(self.servers)
            now = time.monotonic()
            for node in waiting:
                server = self.servers[node]
                if not server.is_ready() or self._is_primary(node):
                    inside[node] = now
                if server.pid is None:
                    failed[node] = f"ended: {server.last_error()}"
                elif now - inside[node] > LOST_TIMEOUT or now > deadline:
                    failed[node] = f"{self.status(node)} after {now - began:.0f} s: {server.last_error()}"
            waiting -= failed.keys()
            if not waiting:
                return failed
            time.sleep(0.1)

    def _is_primary(self, node: str) -> bool:
        return view(self.servers[node]).get("wsrep_cluster_status") == "Primary"
