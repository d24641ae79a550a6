"""Three MariaDB servers replicating by Galera, behind an HAProxy that sends everything to one of them."""

import json
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from lab import clustercheck, haproxy
from lab.daemons import Daemon, end_all, send
from lab.haproxy import HAProxy, Server
from lab.mariadb import ACCOUNT, OBSERVED, MariaDB
from lab.packages import LabError, program
from lab.ports import kept_ports, replace_taken
from lab.systems import NODE_CONTROLS, Member, Registration, Say, fault_command

NODES = ("node1", "node2", "node3")
TRANSFER = ("ist", "sst")  # ports on which a node takes what it missed, or everything
SYNCED_TIMEOUT = 60.0  # s; a whole transfer of a small data set takes ten
SETTLED_TIMEOUT = 20.0  # s
SETTINGS = {
    **OBSERVED,
    "binlog_format": "ROW",
    "innodb_autoinc_lock_mode": "2",
    "innodb_flush_log_at_trx_commit": "1",
}
# Of the provider, for all nodes alike: with different timeouts the survivors of a killed node split.
PROVIDER = {"evs.suspect_timeout": "PT5S"}
# A dead node is noticed after one second; Galera wants the periods below a third of that.
QUICK = {
    "evs.suspect_timeout": "PT1S",
    "evs.keepalive_period": "PT0.3S",
    "evs.join_retrans_period": "PT0.3S",
    "evs.inactive_check_period": "PT0.3S",
}
RECOVERED = re.compile(r"WSREP: Recovered position: ([0-9a-f-]{36}:-?\d+)")


@dataclass(frozen=True)
class Place:
    """Where a node lives; this machine's loopback if nothing else is said. `provider`: options of its own."""

    address: str = "127.0.0.1"
    zone: str = ""
    within: tuple[str, ...] = ()
    provider: tuple[str, ...] = ()


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
        servers = [Server(node, self.sql_address(node), self.ports[f"{node}.check"]) for node in NODES]
        return HAProxy(self.directory, port=self.ports["writer"], servers=servers)

    def place(self, _node: str, /) -> Place:
        return Place()

    def sql_address(self, node: str) -> str:
        """As HAProxy reaches it."""
        return f"127.0.0.1:{self.ports[f'{node}.sql']}"

    # ------------------------------------------------------------ up, down, state

    def up(self, say: Say) -> None:
        self.directory.mkdir(parents=True, exist_ok=True)
        self._make(say)
        self._write_files()
        self._thaw()
        if not any(self._is_primary(node) for node in NODES):
            self._bootstrap(say)
        joiners = [node for node in NODES if self.status(node) != "Synced"]
        if joiners:
            say(f"{', '.join(joiners)} join{'s' if len(joiners) == 1 else ''}")
            self._join(joiners)
        say("HAProxy")
        self._start_proxy()

    def down(self) -> None:
        self.proxy.stop()
        self._check.stop()
        # In this order node1 is the last of the cluster and the one to begin with the next time.
        for node in reversed(NODES):
            self.servers[node].stop()
        end_all(rb"wsrep_sst_|rsync", str(self.directory))

    def is_up(self) -> bool:
        return self.proxy.pid is not None and any(server.is_ready() for server in self.servers.values())

    def state(self) -> str:
        if self.proxy.pid is None and not any(server.pid for server in self.servers.values()):
            return "is stopped"
        nodes = ", ".join(f"{node} {self.status(node)}" for node in NODES)
        try:
            writer = haproxy.current(self.proxy.socket) or "nobody"
        except OSError:
            return f"has no HAProxy; {nodes}"
        return f"runs on 127.0.0.1:{self.ports['writer']}, writer {writer}; {nodes}"

    def status(self, node: str) -> str:
        """In Galera's words, for example `Synced`."""
        if self.servers[node].pid is None:
            return "is stopped"
        return self._counter(node, "wsrep_local_state_comment") or "does not answer"

    def registration(self) -> Registration:
        members = [
            Member(node, "reader" if number else "writer", self._seen_at(node), self.place(node).zone)
            for number, node in enumerate(NODES)
        ]
        return Registration(
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

    def _seen_at(self, node: str) -> Mapping[str, str | int]:
        """As the agent reaches it."""
        return {"host": "127.0.0.1", "port": self.ports[f"{node}.sql"]}

    # ------------------------------------------------------------ controls

    def start(self, node: str) -> None:
        """Until it is synced again: by what it missed if that is still known, else by a whole copy."""
        self._thaw(node)
        others = [other for other in NODES if other != node]
        if not any(self._is_primary(other) for other in others):
            self.up(lambda _: None)
            return
        self._join([node])

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

    def _make(self, say: Say) -> None:
        """One installation, copied: nodes that begin with the same data need no transfer."""
        made = self.directory / "made"
        if made.exists():
            return
        say("data directories")
        first = self.servers[NODES[0]]
        shutil.rmtree(first.directory, ignore_errors=True)  # an installation that did not get to its end
        plain = MariaDB(first.directory)
        plain.start()
        plain.stop()
        self._write_files()
        # Alone for a moment: its data then name the cluster and the place in its history.
        first.await_ready(self._launch(NODES[0], "", "--wsrep-new-cluster"))
        self._await_synced(NODES[0], SYNCED_TIMEOUT)
        first.stop()
        for node in NODES[1:]:
            self.servers[node].copy_from(first)
            self._mark_safe(node, 0)
        made.touch()

    def _mark_safe(self, node: str, value: int) -> None:
        """Whether Galera lets the node begin a cluster."""
        state = self.servers[node].data / "grastate.dat"
        state.write_text(re.sub(r"safe_to_bootstrap: \d", f"safe_to_bootstrap: {value}", state.read_text()))

    def _write_files(self) -> None:
        for node in NODES:
            file = self.servers[node].directory / "my.cnf"
            file.parent.mkdir(exist_ok=True)
            file.write_text("[mysqld]\n" + "".join(f"{key}={value}\n" for key, value in self._wsrep(node).items()))
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

    def _wsrep(self, node: str) -> dict[str, str]:
        ports, place = self.ports, self.place(node)
        everybody = ",".join(f"{self.place(name).address}:{ports[f'{name}.group']}" for name in NODES)
        group, transfer = f"{place.address}:{ports[f'{node}.group']}", f"{place.address}:{ports[f'{node}.ist']}"
        options = [f"gmcast.listen_addr=tcp://{group}", f"ist.recv_addr={transfer}", f"ist.recv_bind={transfer}"]
        options += [f"{key}={value}" for key, value in self.provider.items()]
        return {
            "wsrep_on": "ON",
            "wsrep_provider": program("libgalera_smm.so"),
            "wsrep_cluster_name": self.slug,
            "wsrep_cluster_address": f"gcomm://{everybody}",
            "wsrep_node_name": node,
            "wsrep_node_address": group,
            "wsrep_node_incoming_address": f"{place.address}:{ports[f'{node}.sql']}",
            "wsrep_sst_receive_address": f"{place.address}:{ports[f'{node}.sst']}",
            "wsrep_sst_method": "rsync",
            # A donor takes no writes meanwhile: rather not the writer. The comma at the end lets anybody else.
            "wsrep_sst_donor": ",".join([name for name in reversed(NODES) if name != node]) + ",",
            "wsrep_slave_threads": "2",
            "wsrep_provider_options": f'"{";".join([*options, *place.provider])}"',
        }

    # ------------------------------------------------------------ starting

    def _bootstrap(self, say: Say) -> None:
        """The first node of a cluster of which none runs, or those that run have lost their majority."""
        running = [node for node in NODES if self.servers[node].is_ready()]
        if running:
            say(f"{running[0]} goes on without the lost nodes")
            self.servers[running[0]].sql("SET GLOBAL wsrep_provider_options = 'pc.bootstrap=YES'")
            return
        for node in NODES:
            self.servers[node].kill()  # one that hangs in a start would hold its files
        positions = {node: self._position(node) for node in NODES}
        # With equal positions the first; one that stopped as the last of all has the highest.
        first = max(NODES, key=lambda node: int(positions[node].rpartition(":")[2] or -1))
        self._mark_safe(first, 1)
        say(f"{first} begins the cluster")
        process = self._launch(first, positions[first], "--wsrep-new-cluster")
        self.servers[first].await_ready(process, timeout=SYNCED_TIMEOUT)
        if not self._await_synced(first, SYNCED_TIMEOUT):
            raise LabError(f"{self.slug}: {first} could not begin a cluster; see {self.servers[first].log}")

    def _join(self, nodes: Sequence[str]) -> None:
        for node in nodes:
            # A node that was thawed finds its way back by itself, or has given up for good.
            if self.servers[node].pid is not None and not self._await_synced(node, SETTLED_TIMEOUT):
                self.servers[node].kill()
        joiners = [node for node in nodes if self.servers[node].pid is None]
        if joiners:
            self._await_settled()
        started = {node: self._launch(node, self._position(node)) for node in joiners}
        for node, process in started.items():
            self.servers[node].await_ready(process, timeout=SYNCED_TIMEOUT)
        for node in nodes:
            if not self._await_synced(node, SYNCED_TIMEOUT):
                raise LabError(
                    f"{self.slug}: {node} {self.status(node)} after {SYNCED_TIMEOUT:.0f} s; see its error.log"
                )

    def _launch(self, node: str, position: str, *options: str) -> "subprocess.Popen[bytes]":
        end_all(rb"wsrep_sst_|rsync", str(self.servers[node].directory))  # of a start that was killed
        self._evade(node)
        at = (f"--wsrep-start-position={position}",) if position else ()
        return self.servers[node].launch(*at, *options)

    def _evade(self, node: str) -> None:
        """Nobody listens on the ports for transfers but during one: somebody else may have taken them."""
        names = [f"{node}.{kind}" for kind in TRANSFER]
        before = [self.ports[name] for name in names]
        replace_taken(self._ports_file, self.ports, names)
        file = self.servers[node].directory / "my.cnf"
        text = file.read_text()
        for old, name in zip(before, names, strict=True):
            text = text.replace(f":{old}", f":{self.ports[name]}")
        file.write_text(text)

    def _position(self, node: str) -> str:
        """UUID:number of the last transaction that it holds; empty: unknown, so that it takes everything anew."""
        server = self.servers[node]
        state = server.data / "grastate.dat"
        if not state.exists() or not server.is_made:
            return ""
        fields = dict(line.split(":", 1) for line in state.read_text().splitlines() if ":" in line)
        cluster, number = fields["uuid"].strip(), fields["seqno"].strip()
        if int(number) >= 0:
            return f"{cluster}:{number}"
        # It was killed: InnoDB knows what it had committed.
        log = server.directory / "recover.log"
        log.unlink(missing_ok=True)
        argv = [
            *server.command(),
            "--wsrep-recover",
            f"--log-error={log}",
            f"--pid-file={server.directory}/recover.pid",
        ]
        subprocess.run(argv, cwd=server.directory, capture_output=True, check=False)
        found = RECOVERED.search(log.read_text(errors="replace")) if log.exists() else None
        return found[1] if found and not found[1].endswith(":-1") else ""

    def _start_proxy(self) -> None:
        if self._check.pid is None:
            file = str(self.directory / "clustercheck.json")
            self._check.start([sys.executable, "-I", "-S", clustercheck.__file__, file])
        self.proxy.start()
        deadline = time.monotonic() + SYNCED_TIMEOUT
        while haproxy.servers_up(self.proxy.socket) != list(NODES):
            if time.monotonic() > deadline:
                raise LabError(f"{self.slug}: HAProxy sees {self.state()}; see {self.directory}/haproxy.log")
            time.sleep(0.1)

    def _await_settled(self) -> None:
        """Until the others have given up the dead ones: who comes back before that can tear the cluster apart."""
        deadline = time.monotonic() + SETTLED_TIMEOUT
        while time.monotonic() < deadline:
            members = [node for node in NODES if self._is_primary(node)]
            if all(self._counter(node, "wsrep_cluster_size") == str(len(members)) for node in members):
                return
            time.sleep(0.1)

    def _await_synced(self, node: str, timeout: float) -> bool:
        deadline = time.monotonic() + timeout
        while self.status(node) != "Synced":
            if time.monotonic() > deadline or self.servers[node].pid is None:
                return False
            time.sleep(0.1)
        return True

    def _is_primary(self, node: str) -> bool:
        return self._counter(node, "wsrep_cluster_status") == "Primary"

    def _counter(self, node: str, name: str) -> str:
        """Empty: the node does not answer."""
        server = self.servers[node]
        try:
            answer = server.sql(f"SHOW GLOBAL STATUS LIKE '{name}'", timeout=2) if server.is_ready() else ""
        except LabError:
            answer = ""
        return answer.partition("\t")[2].strip()
