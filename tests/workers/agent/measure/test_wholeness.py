"""A system of which a part is missing gets no jobs, and says what is missing."""

from pathlib import Path

import pytest

from lab.galera import Galera
from lab.mha import MHA
from tests.support.waiting import eventually
from tests.workers.agent.faults.probing import answer_as_percona, is_whole
from tests.workers.agents import ConfigFile
from workers.agent.measure.wholeness import NotWhole, require_whole
from workers.agent.runtime import config as configuration
from workers.agent.runtime.config import SystemConfig


def the_system(config: ConfigFile, lab_directory: Path, slug: str) -> SystemConfig:
    config.include(lab_directory)
    return configuration.load(config.file).systems[slug]


@pytest.mark.galera
def test_a_cluster_without_one_of_its_nodes_is_not_whole_until_it_is_back(
    galera: Galera, lab_directory: Path, config: ConfigFile
) -> None:
    system = the_system(config, lab_directory, "galera")
    require_whole(system)
    galera.stop("node3")
    try:
        with pytest.raises(NotWhole, match="system galera is not whole: node node3 does not answer"):
            require_whole(system)
    finally:
        galera.start("node3")
    eventually(lambda: is_whole(system), what="the cluster is whole again")


@pytest.mark.galera
def test_a_node_that_left_step_is_named_also_where_wsrep_on_is_no_global_variable(
    galera: Galera, lab_directory: Path, config: ConfigFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer_as_percona(monkeypatch)
    system = the_system(config, lab_directory, "galera")
    require_whole(system)
    galera.servers["node2"].sql("SET GLOBAL wsrep_desync = ON")
    try:
        with pytest.raises(NotWhole, match="node node2 is not in sync: Galera's state is Donor/Desynced"):
            require_whole(system)
    finally:
        galera.servers["node2"].sql("SET GLOBAL wsrep_desync = OFF")
    eventually(lambda: is_whole(system), what="the cluster is whole again")


@pytest.mark.mha
def test_a_replica_that_stopped_and_a_second_writer_are_named(
    mha: MHA, lab_directory: Path, config: ConfigFile
) -> None:
    system = the_system(config, lab_directory, "mha")
    eventually(lambda: is_whole(system), what="the replicas follow")
    replica = next(node for node in mha.servers if node != mha.source)
    server = mha.servers[replica]
    server.sql("STOP SLAVE SQL_THREAD")
    try:
        with pytest.raises(NotWhole, match=f"node {replica} does not replicate: Slave_SQL_Running is not Yes"):
            require_whole(system)
    finally:
        server.sql("START SLAVE")
    server.sql("CHANGE MASTER 'east' TO MASTER_HOST='127.0.0.1', MASTER_PORT=1, MASTER_USER='x'")
    try:
        with pytest.raises(NotWhole, match=f"node {replica} does not replicate: Slave_IO_Running of east and"):
            require_whole(system)
    finally:
        server.sql("RESET SLAVE 'east' ALL")
    eventually(lambda: is_whole(system), what="the replica follows again")
