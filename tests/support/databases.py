"""Real database servers for tests, on free loopback ports, gone at the end of the session."""

import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from lab import systems
from lab.galera import QUICK, Galera
from lab.group_replication import AT_ONCE, GroupReplication
from lab.mariadb import MariaDB
from lab.mha import MHA
from lab.mysql import fetch
from lab.packages import LabError

StartMariaDB = Callable[..., MariaDB]


@pytest.fixture(scope="session")
def installation() -> Iterator[None]:
    """Made once and copied for each server: that takes a tenth of the time."""
    with tempfile.TemporaryDirectory(prefix="splashboard-installation-") as folder:
        Path(folder).chmod(0o755)
        made = MariaDB(Path(folder) / "server")
        made.make()
        MariaDB.installation = made.data
        yield
        MariaDB.installation = None


@pytest.fixture(scope="session")
def start_mariadb(installation: None) -> Iterator[StartMariaDB]:
    """`start_mariadb(**settings)`: a running server of the test's own."""
    # Not below pytest's own directory: that one is closed to the user that the server runs as.
    directory = Path(tempfile.mkdtemp(prefix="splashboard-mariadb-"))
    directory.chmod(0o755)
    servers: list[MariaDB] = []

    def start(**settings: str) -> MariaDB:
        server = MariaDB(directory / f"server{len(servers) + 1}", settings=settings)
        servers.append(server)
        server.start()
        return server

    try:
        yield start
    finally:
        for server in servers:
            server.kill()  # its data are deleted anyway
        shutil.rmtree(directory)


@pytest.fixture(scope="session")
def mariadb(start_mariadb: StartMariaDB) -> MariaDB:
    """One server that all tests share: leave it as it was."""
    return start_mariadb(innodb_flush_log_at_trx_commit="2")


@pytest.fixture(scope="session")
def lab_directory(installation: None) -> Iterator[Path]:
    """What `var` is to the product, for the lab's systems; the user that their servers run as can reach it."""
    directory = Path(tempfile.mkdtemp(prefix="splashboard-lab-"))
    directory.chmod(0o755)
    yield directory
    shutil.rmtree(directory)


def discard(system: Galera | MHA | GroupReplication) -> None:
    """Without the servers' orderly end: their data are deleted anyway."""
    for server in system.servers.values():
        server.kill()
    system.down()


@pytest.fixture(scope="session")
def running_galera(lab_directory: Path) -> Iterator[Galera]:
    """Three nodes behind HAProxy; a dead one is noticed after a second. Described in `lab_directory`/agent.d."""
    system = Galera(lab_directory, "galera", QUICK)
    try:
        system.up(lambda _: None)
        systems.register(lab_directory, system)
        yield system
    finally:
        discard(system)


@pytest.fixture
def galera(running_galera: Galera) -> Galera:
    """The one cluster of all tests: kill and freeze what you want, it is whole again for the next test."""
    running_galera.up(lambda _: None)
    return running_galera


@pytest.fixture(scope="session")
def running_mha(lab_directory: Path) -> Iterator[MHA]:
    """A source, two replicas, MHA's manager, HAProxy. Described in `lab_directory`/agent.d."""
    system = MHA(lab_directory)
    try:
        system.up(lambda _: None)
        systems.register(lab_directory, system)
        yield system
    finally:
        discard(system)


@pytest.fixture
def mha(running_mha: MHA) -> MHA:
    """The one of all tests: kill what you want, it is whole again for the next test, maybe with another source."""
    running_mha.up(lambda _: None)
    return running_mha


@pytest.fixture(scope="session")
def running_semisync(lab_directory: Path) -> Iterator[MHA]:
    """As `running_mha`; a commit waits until a replica has it. Described in `lab_directory`/agent.d."""
    system = MHA(lab_directory, "mha-semisync", semi_sync=True)
    try:
        system.up(lambda _: None)
        systems.register(lab_directory, system)
        yield system
    finally:
        discard(system)


@pytest.fixture
def semisync(running_semisync: MHA) -> MHA:
    """The one of all tests: it is whole again for the next test, maybe with another source."""
    running_semisync.up(lambda _: None)
    return running_semisync


@pytest.fixture(scope="session")
def running_group(lab_directory: Path) -> Iterator[GroupReplication]:
    """Three MySQL servers behind HAProxy; a dead one is expelled after five seconds."""
    try:
        fetch(lab_directory)
    except LabError as problem:
        pytest.skip(str(problem))
    system = GroupReplication(lab_directory, "group-expel0", AT_ONCE)
    try:
        system.up(lambda _: None)
        systems.register(lab_directory, system)
        yield system
    finally:
        discard(system)


@pytest.fixture
def group(running_group: GroupReplication) -> GroupReplication:
    """The one of all tests: it is whole again for the next test, maybe with another primary."""
    running_group.up(lambda _: None)
    return running_group
