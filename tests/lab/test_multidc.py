"""Galera over a network with delays, where this machine can have one."""

import time
from collections.abc import Iterator
from pathlib import Path

import pymysql
import pytest

from lab import systems
from lab.multidc import MultiDC, why_not
from tests.lab.talk import controls, run
from tests.support.databases import discard
from tests.support.waiting import eventually

pytestmark = [pytest.mark.galera, pytest.mark.skipif(bool(why_not()), reason=why_not())]


@pytest.fixture(scope="module")
def far(lab_directory: Path) -> Iterator[MultiDC]:
    system = MultiDC(lab_directory)
    try:
        system.up(lambda _: None)
        systems.register(lab_directory, system)
        yield system
    finally:
        discard(system)


def commit_times(system: MultiDC, count: int) -> list[float]:
    """Seconds of each insert through HAProxy, sorted."""
    password = system.servers["node1"].password
    port = system.ports["writer"]
    with pymysql.connect(
        host="127.0.0.1", port=port, user="splashboard", password=password, autocommit=True
    ) as connection:
        cursor = connection.cursor()
        cursor.execute("CREATE DATABASE IF NOT EXISTS claims")
        cursor.execute("CREATE OR REPLACE TABLE claims.far (id INT PRIMARY KEY)")
        taken = []
        for number in range(count):
            began = time.monotonic()
            cursor.execute(f"INSERT INTO claims.far VALUES ({number})")
            taken.append(time.monotonic() - began)
    return sorted(taken)


def test_a_commit_waits_for_the_way_to_the_farthest_datacentre_and_back(far: MultiDC) -> None:
    whole = commit_times(far, 9)
    assert whole[4] >= 0.1  # 50 ms there, 50 back
    run(controls(far)["node3"]["cut"])
    near = commit_times(far, 9)  # once the cluster has given up node3
    assert near[4] >= 0.05  # 25 ms there, 25 back
    eventually(lambda: commit_times(far, 9)[0] < whole[0], what="a commit does not wait for node3")
    eventually(lambda: far.status("node3") == "Initialized", what="node3 is alone", seen=far.state)
    run(controls(far)["node3"]["heal"])
    run(controls(far)["node3"]["start"])
    assert far.status("node3") == "Synced"
