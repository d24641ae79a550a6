"""`make bench`: environment, peers, PostgreSQL and Valkey as in `make run`, then bench/ with these."""

from collections.abc import Sequence

from config.launch import environment, frontend, suite
from config.launch.console import Screen
from config.launch.places import PYTHON, Places, make_folders

# Peer's program -> its Debian package.
PEERS = {"victoria-metrics": "victoria-metrics", "prometheus": "prometheus"}
# What `cost` loads, and with what.
LOADED = {"mariadbd": "mariadb-server", "sysbench": "sysbench"}


def run(places: Places, screen: Screen, arguments: Sequence[str]) -> int:
    """The bench's exit code. Raises Problem when the set-up fails."""
    make_folders(places)
    environment.ensure(places=places, screen=screen)
    programs = {**PEERS, **LOADED} if "cost" in arguments else PEERS
    suite.install_programs(places, screen, programs, "Their figures are left out")
    frontend.ensure(places=places, screen=screen)
    with suite.own_stores(places, screen) as env:
        return suite.in_front([PYTHON, "-m", "bench", *arguments], env)
