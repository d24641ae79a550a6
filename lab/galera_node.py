"""One node of a Galera cluster: its settings, its view of the cluster, its position."""

import re
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from lab.mariadb import MariaDB
from lab.packages import LabError, program

NODES = ("node1", "node2", "node3")
# The lab chooses the bootstrap node. A killed node must not look for the members of its last view.
NO_RECOVERY = "pc.recovery=false"
# LIKE, because WHERE would make the server compute all of its counters.
VIEW = ";".join(
    f"SHOW GLOBAL STATUS LIKE '{name}'"
    for name in ("wsrep_cluster_%", "wsrep_local_state_comment", "wsrep_last_committed")
)
RECOVERED = re.compile(r"WSREP: Recovered position: ([0-9a-f-]{36}:-?\d+)")


@dataclass(frozen=True)
class NodePlace:
    """Network place of a node; by default this machine's loopback. `provider`: its own options."""

    address: str = "127.0.0.1"
    zone: str = ""
    within: tuple[str, ...] = ()
    provider: tuple[str, ...] = ()


def settings(
    node: str,
    *,
    cluster: str,
    ports: Mapping[str, int],
    place: Callable[[str], NodePlace],
    provider: Mapping[str, str],
) -> dict[str, str]:
    """Its part of my.cnf."""
    own = place(node)
    everybody = ",".join(f"{place(name).address}:{ports[f'{name}.group']}" for name in NODES)
    group, transfer = f"{own.address}:{ports[f'{node}.group']}", f"{own.address}:{ports[f'{node}.ist']}"
    options = [f"gmcast.listen_addr=tcp://{group}", f"ist.recv_addr={transfer}", f"ist.recv_bind={transfer}"]
    options += [NO_RECOVERY, *(f"{key}={value}" for key, value in provider.items())]
    return {
        "wsrep_on": "ON",
        "wsrep_provider": program("libgalera_smm.so"),
        "wsrep_cluster_name": cluster,
        "wsrep_cluster_address": f"gcomm://{everybody}",
        "wsrep_node_name": node,
        "wsrep_node_address": group,
        "wsrep_node_incoming_address": f"{own.address}:{ports[f'{node}.sql']}",
        "wsrep_sst_receive_address": f"{own.address}:{ports[f'{node}.sst']}",
        "wsrep_sst_method": "rsync",
        # The donor accepts no writes meanwhile, so the writer comes last. The comma at the end allows any other
        # node.
        "wsrep_sst_donor": ",".join([name for name in reversed(NODES) if name != node]) + ",",
        "wsrep_slave_threads": "2",
        "wsrep_provider_options": f'"{";".join([*options, *own.provider])}"',
    }


def view(server: MariaDB) -> Mapping[str, str]:
    """Its view of the cluster and itself; empty: it does not answer."""
    try:
        answer = server.sql(VIEW, timeout=5) if server.is_ready() else ""
    except LabError:
        answer = ""
    return dict(line.split("\t", 1) for line in answer.splitlines())


def synced(servers: Mapping[str, MariaDB]) -> set[str]:
    """The synced nodes of the common view: a thawed node still has its old view, in which it was synced."""
    views = {node: view(server) for node, server in servers.items()}
    members = {node: seen for node, seen in views.items() if seen.get("wsrep_cluster_status") == "Primary"}
    if len({seen["wsrep_cluster_conf_id"] for seen in members.values()}) != 1:
        return set()
    return {node for node, seen in members.items() if seen["wsrep_local_state_comment"] == "Synced"}


def position(server: MariaDB) -> str:
    """UUID:number of the last transaction it holds; empty: unknown, so that it takes a full transfer."""
    state = server.data / "grastate.dat"
    if not state.exists() or not server.is_made:
        return ""
    fields = dict(line.split(":", 1) for line in state.read_text().splitlines() if ":" in line)
    cluster, number = fields["uuid"].strip(), fields["seqno"].strip()
    if int(number) >= 0:
        return f"{cluster}:{number}"
    # After a kill InnoDB has the committed position.
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
