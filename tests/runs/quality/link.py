"""A server in a network namespace behind a pair of virtual interfaces of known rate, which can lose packets. For root.

Its registration calls it local, so that the agent counts what goes through this end of the pair.
"""

import subprocess
from collections.abc import Callable
from contextlib import suppress

from lab.mariadb import ACCOUNT, OBSERVED, MariaDB
from lab.packages import program
from tests.paths import ROOT
from tests.runs.quality import agents

SLUG, HARDWARE = "link", "link-50mbit"
RATE = 50_000_000  # bits/s, either way
LOST = 30  # of a thousand packets, either way
NAMESPACE, HERE, THERE = "splash-link", "splash0", "splash1"
TABLE = "splash_link"
NETWORK = "10.78.0"
VAR = ROOT / "var"
REGISTRATION = VAR / "agent.d" / "link.toml"
WITHIN = (program("nsenter"), f"--net=/run/netns/{NAMESPACE}")


def server() -> MariaDB:
    settings = {**OBSERVED, "bind_address": f"{NETWORK}.2"}
    return MariaDB(VAR / "lab" / SLUG, settings=settings, within=WITHIN)


def up() -> None:
    """Raises CalledProcessError, LabError."""
    down()
    _run("ip", "netns", "add", NAMESPACE)
    _run("ip", "link", "add", HERE, "type", "veth", "peer", "name", THERE, "netns", NAMESPACE)
    for within, interface, number in (((), HERE, 1), (WITHIN, THERE, 2)):
        # Packets of the size of a real network's are counted.
        _run(*within, "ip", "link", "set", interface, "up", "gso_max_segs", "1")
        _run(*within, "ip", "address", "add", f"{NETWORK}.{number}/24", "dev", interface)
        shape = ("tbf", "rate", str(RATE), "burst", "64kb", "latency", "50ms")
        _run(*within, "tc", "qdisc", "add", "dev", interface, "root", *shape)
    made = server()
    made.start()
    agents.go_before_others(agents.GROUPS / "splashboard-link", made.pid)
    REGISTRATION.write_text(
        f"""[[hardware]]
slug = "{HARDWARE}"
name = "behind a link of 50 Mbit/s"
vcpu = 2
memory_mb = 4096
[[systems]]
slug = "{SLUG}"
name = "MariaDB behind a link of 50 Mbit/s"
platform = "mariadb"
hardware_class = "{HARDWARE}"
host = "{NETWORK}.2"
port = {made.port}
user = "{ACCOUNT}"
password_file = "{made.password_file}"
[[systems.nodes]]
name = "db1"
role = "writer"
host = "{NETWORK}.2"
port = {made.port}
local = true
"""
    )


def down() -> None:
    REGISTRATION.unlink(missing_ok=True)
    server().kill()
    lose(is_losing=False)
    with suppress(subprocess.CalledProcessError):
        _run("ip", "netns", "delete", NAMESPACE)


def lose(*, is_losing: bool) -> None:
    """Drops packets at random where they arrive, at either end."""
    for within, interface in (((), HERE), (WITHIN, THERE)):
        with suppress(subprocess.CalledProcessError):
            _run(*within, "nft", "delete", "table", "inet", TABLE)
        if is_losing:
            hook = "type filter hook input priority 0;"
            rule = f"iifname {interface} numgen random mod 1000 < {LOST} drop"
            _run(*within, "nft", f"table inet {TABLE} {{\nchain loss {{\n{hook}\n{rule}\n}}\n}}")


def is_losing() -> bool:
    listed = subprocess.run(["nft", "list", "tables", "inet"], capture_output=True, text=True, check=True)
    return TABLE in listed.stdout.split()


def _run(*argv: str) -> None:
    subprocess.run(argv, check=True, capture_output=True)


def held_up(act: Callable[[bool], None] = lambda _: None) -> Callable[[], Callable[[bool], None]]:
    """For a condition: the link is there while it lasts; `act` is called as its `beside`."""

    def begin() -> Callable[[bool], None]:
        up()

        def beside(is_over: bool) -> None:
            act(is_over)
            if is_over:
                down()

        return beside

    return begin
