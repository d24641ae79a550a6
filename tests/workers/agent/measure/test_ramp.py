"""A ladder of load levels ends where more threads gain nothing or the server takes no more connections."""

from typing import Any
from uuid import UUID

import pytest

from lab.mariadb import MariaDB
from tests.support.databases import StartMariaDB
from tests.support.waiting import eventually
from tests.workers.agent.jobs import StartAgent, ended, left_as_found
from tests.workers.agents import ConfigFile
from tests.workers.server import FakeServer, a_job
from workers.agent.measure import ramp
from workers.agent.measure.ramp import LevelOutcome, Ramp
from workers.agent.runtime.stop import CANCELLED, Stopped, failed
from workers.protocol import wire

SYSBENCH = (
    b"    transactions:                        2994   (994.36 per sec.)\n    queries:  62513  (20761.63 per sec.)\n"
)
REPORT = (
    b'{"kind":"total","from":0.0,"to":5.0,"counts":{"transactions":10},"values":{}}\n'
    b'{"kind":"total","from":5.0,"to":9.0,"counts":{"transactions":100},"values":{}}\nThreads fairness:\n'
)


@pytest.mark.parametrize(
    ("throughputs", "ends"),
    [
        ([], False),
        ([100], False),
        ([100, 190, 350], False),
        ([100, 190, 195], False),  # one flat level may be a checkpoint
        ([100, 190, 195, 193], True),
        ([100, 190, 195, 260], False),
        ([100, 101, 104], True),  # two levels within 5 % of the best before each
        ([100, 190, 181], False),  # a fall within 5 % is noise
        ([100, 190, 179], True),
        ([0, 0, 0], True),
        ([0, 10, 20], False),
    ],
)
def test_saturation_is_two_flat_rungs_or_a_fall(throughputs: list[float], ends: bool) -> None:
    for before_last in range(len(throughputs)):
        assert not ramp.is_saturated(throughputs[:before_last], least_gain=0.05)
    assert ramp.is_saturated(throughputs, least_gain=0.05) is ends


def test_the_words_name_the_best_rung_and_what_came_after() -> None:
    threads = [1, 2, 4, 8]
    flat = ramp.saturation(threads, [100, 190, 195, 193], least_gain=0.05)
    assert flat == "saturated at 2 threads (190/s); 4 and 8 threads gained less than 5 %"
    fallen = ramp.saturation(threads[:3], [100, 190, 120], least_gain=0.05)
    assert fallen == "saturated at 2 threads (190/s); 4 threads fell to 120/s"


@pytest.mark.parametrize(
    ("output", "outcome"),
    [
        (SYSBENCH, LevelOutcome(994.36)),
        (REPORT, LevelOutcome(25.0)),
        (SYSBENCH + REPORT, LevelOutcome(25.0)),
        (
            REPORT.replace(b"{}}\nThreads", b'{"client.connections.refused":12}}\nThreads'),
            LevelOutcome(25.0, refused=12),
        ),
        (b"no total", LevelOutcome(None)),
        (b'{"kind":"total"}\n', LevelOutcome(None)),
    ],
)
def test_a_level_is_read_from_the_last_total(output: bytes, outcome: LevelOutcome) -> None:
    assert ramp.read_outcome(output) == outcome


def test_connections_refused_end_a_ladder_also_when_the_run_went_on_with_the_others() -> None:
    job = a_job(threads=(1, 2, 4), ladder=wire.RampMessage())
    tried = Ramp(job)
    tried.measured(job.runs[0], LevelOutcome(100.0))
    assert tried.skipped == []
    tried.measured(job.runs[1], LevelOutcome(100.0, refused=3))
    assert [(str(skip.uid), skip.reason) for skip in tried.skipped] == [
        (job.runs[2].uid, "not run: 3 connections were refused at 2 threads")
    ]
    without = Ramp(a_job(threads=(1, 2)))
    without.measured(job.runs[0], LevelOutcome(100.0, refused=3))
    assert without.skipped == []


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        (
            "sysbench: unable to connect to MySQL server on host '127.0.0.1', port 1040, aborting...; "
            "error 1040: Too many connections; `thread_init' function failed",
            "error 1040: Too many connections",
        ),
        ("(1203, 'User has already more than max_user_connections')", "(1203, 'User has already more"),
        (
            "verification: 0 transactions over 0 connections; 9 connections were refused (2013: Lost connection to "
            "server at 'handshake: reading initial communication packet', system error: 11)",
            "(2013: Lost connection",
        ),
        ("sysbench: error 2013: Lost connection to MySQL server during query", ""),
        ("unable to connect to MySQL server on host '127.0.0.1', port 1040, aborting...", ""),
        ("error 2013: Lost connection", ""),
    ],
)
def test_a_refusal_is_distinguished_from_other_failures(reason: str, words: str) -> None:
    assert ramp.refusal(reason).startswith(words)
    assert bool(ramp.refusal(reason)) is bool(words)


def test_only_a_refusal_on_a_ladder_is_a_result() -> None:
    refused = Stopped(failed("sysbench: error 1040: Too many connections"))
    job = a_job(threads=(1, 2), ladder=wire.RampMessage())
    for tried, stopped in (
        (Ramp(job), Stopped(failed("sysbench: error 2013: Lost connection"))),
        (Ramp(job), Stopped(CANCELLED)),
        (Ramp(a_job(threads=(1, 2))), refused),
    ):
        with pytest.raises(Stopped):
            tried.stopped(job.runs[0], stopped)
        assert tried.skipped == []
    tried = Ramp(job)
    tried.stopped(job.runs[0], refused)
    assert [skip.uid for skip in tried.skipped] == [UUID(run.uid) for run in job.runs]


def test_a_storm_measures_every_level_however_little_it_gains() -> None:
    job = a_job(threads=(1, 2, 4), ladder=wire.RampMessage(least_gain=None))
    tried = Ramp(job)
    for run, throughput in zip(job.runs, (100.0, 50.0, 10.0), strict=True):
        tried.measured(run, LevelOutcome(throughput))
    assert tried.skipped == []


@pytest.fixture(scope="module")
def narrow(start_mariadb: StartMariaDB) -> MariaDB:
    """A server with room for a dozen connections."""
    return start_mariadb(max_connections="12", innodb_flush_log_at_trx_commit="2")


@pytest.mark.mariadb
@pytest.mark.parametrize(("tool", "own"), [("sysbench", {"auto_inc": "off"}), ("sysbench_oltp", {"auto_inc": False})])
def test_inserts_with_ids_of_their_own_find_empty_tables_at_each_level(
    server: FakeServer, single: ConfigFile, start_agent: StartAgent, tool: str, own: dict[str, Any]
) -> None:
    parameters = {"test": "oltp_insert", "tables": 2, "table_size": 100, **own}
    server.jobs.append(a_job(tool=tool, parameters=parameters, threads=(1, 2)))
    start_agent()
    eventually(ended(server), what="the job has ended")
    runs = list(server.runs.values())
    assert [run.end and (run.end.outcome, run.end.reason) for run in runs] == [("succeeded", "")] * 2
    first, second = [run.opened.data_bytes if run.opened else None for run in runs]
    assert first == second
    (end,) = server.job_ends()
    assert (end["outcome"], end["reason"]) == ("succeeded", "")


@pytest.mark.mariadb
def test_a_server_that_is_full_ends_the_ladder_with_success_and_an_event(
    server: FakeServer, config: ConfigFile, narrow: MariaDB, start_agent: StartAgent
) -> None:
    config.add_system("narrow", port=narrow.port, password=narrow.password)
    job = a_job(system="narrow", threads=(2, 30, 60), ladder=wire.RampMessage())
    server.jobs.append(job)
    with left_as_found(narrow):
        start_agent()
        eventually(ended(server), what="the job has ended")
    (end,) = server.job_ends()
    assert (end["outcome"], end["reason"]) == ("succeeded", "")
    assert [(skip["uid"], skip["reason"]) for skip in end["skipped"]] == [
        (job.runs[1].uid, "connections refused: error 1040: Too many connections"),
        (job.runs[2].uid, "not run: connections were refused at 30 threads"),
    ]
    measured, refused = server.runs.values()
    assert measured.end is not None
    assert refused.end is not None
    assert (measured.end.outcome, refused.end.outcome) == ("succeeded", "failed")
    (event,) = [event for event in refused.decoded().events if event.kind == "refusal"]
    assert event.label == "connections refused: error 1040: Too many connections"


@pytest.mark.mariadb
def test_a_job_without_a_ladder_fails_when_it_is_refused(
    server: FakeServer, config: ConfigFile, narrow: MariaDB, start_agent: StartAgent
) -> None:
    config.add_system("narrow", port=narrow.port, password=narrow.password)
    server.jobs.append(a_job(system="narrow", threads=(30,)))
    start_agent()
    eventually(ended(server), what="the job has ended")
    (end,) = server.job_ends()
    assert end["outcome"] == "failed"
    assert "Too many connections" in end["reason"]


@pytest.mark.mariadb
def test_a_saturated_server_ends_the_ladder_with_success(
    server: FakeServer, single: ConfigFile, start_agent: StartAgent
) -> None:
    # No thread more doubles the throughput, but for a neighbour's burst: two such levels in a row end the ramp.
    job = a_job(threads=(2, 3, 4, 5, 6, 7, 8), ladder=wire.RampMessage(least_gain=0.99))
    server.jobs.append(job)
    start_agent()
    eventually(ended(server), what="the job has ended")
    (end,) = server.job_ends()
    assert end["outcome"] == "succeeded"
    assert len(server.runs) + len(end["skipped"]) == len(job.runs)
    assert end["skipped"][0]["reason"].startswith("not run: saturated at ")
