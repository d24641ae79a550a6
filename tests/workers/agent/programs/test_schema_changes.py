"""Real ALTERs under a real load: a copy stalls it, an instant one does not, and one that waits makes all wait."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from apps.runs.tool_output import report_values
from apps.runs.tool_output.values import Output
from lab.mariadb import MariaDB
from tests.support.waiting import eventually
from tests.workers.agent.programs.started import Ran, run_program
from tests.workers.agents import AgentProcess, ConfigFile
from tests.workers.server import FakeServer, a_job
from workers.protocol import wire

pytestmark = pytest.mark.mariadb
SMALL = {"table_size": 20_000, "at": 4}
HOLD = 2.5  # s


@pytest.fixture(scope="module")
def altered(mariadb: MariaDB, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Ran]:
    """Four ways to alter a small table, each in a schema of its own, all at once to save time."""
    folder = tmp_path_factory.mktemp("ddl")
    ways: dict[str, dict[str, Any]] = {
        "instant": {"algorithm": "instant"},
        "inplace": {"algorithm": "inplace", "lock": "none"},
        "queued": {"algorithm": "instant", "hold": HOLD},
        "refused": {"algorithm": "instant", "operation": "add_index"},
    }

    def run(name: str) -> Ran:
        parameters = {**SMALL, **ways[name]}
        return run_program(
            "schema_changes",
            "ddl_under_load",
            mariadb,
            folder / name,
            parameters=parameters,
            more={},
            threads=4,
            rate=80,  # by chance alone no second falls to half of it
            duration=8,
        )

    with ThreadPoolExecutor() as pool:
        return dict(zip(ways, pool.map(run, ways), strict=True))


def failures(output: Output) -> list[str]:
    """What did not hold, but for the load's rate: a machine that is busy with other work may not serve it."""
    return [label for label in output.failures if not label.startswith("before the first statement the load ran at")]


def test_an_instant_alter_does_not_stall_the_load(altered: dict[str, Ran]) -> None:
    ran = altered["instant"]
    assert ran.output.complete, ran.said
    assert failures(ran.output) == []
    (event,) = [event for event in ran.output.events if event.kind == "ddl"]
    assert (event.detail["rebuilt"], event.detail["rows_copied"]) == (False, 0)
    # Beside it runs one that has to wait, on the same machine: that one stalls its load.
    for figure in ("ddl.duration", "ddl.gap", "ddl.stall.length"):
        assert ran.headlines[figure] < altered["queued"].headlines[figure]


def test_an_alter_in_place_rebuilds_the_table_and_copies_no_row(altered: dict[str, Ran]) -> None:
    ran = altered["inplace"]
    assert failures(ran.output) == [], ran.said
    (event,) = [event for event in ran.output.events if event.kind == "ddl"]
    assert (event.detail["rebuilt"], event.detail["rows_copied"]) == (True, 0)
    assert "FORCE, ALGORITHM=INPLACE, LOCK=NONE" in event.label


def test_all_wait_behind_an_alter_that_waits_for_a_transaction(altered: dict[str, Ran]) -> None:
    ran = altered["queued"]
    assert failures(ran.output) == [], ran.said
    # It waits for nothing else, and was sent LEAD after the transaction had begun.
    wait, took = ran.headlines["ddl.metadata_lock_wait"], ran.headlines["ddl.duration"]
    assert 0 < wait <= took
    assert ran.headlines["ddl.metadata_lock_queue"] >= 1
    assert ran.headlines["ddl.gap"] > ran.headlines["ddl.gap_before"]
    assert ran.events("phase") == ["a transaction holds sbtest1"]
    assert ran.headlines["ddl.holders_lost"] == 0


def test_writers_of_another_table_are_watched_before_and_during_the_statement(altered: dict[str, Ran]) -> None:
    for name in ("instant", "inplace", "queued"):
        values = altered[name].headlines
        assert 0.05 <= values["ddl.other_tables.gap_before"] < 8
        # It waits for nothing that the statement or the transaction in its way holds.
        assert values["ddl.other_tables.gap"] < HOLD
    assert "ddl.holders_lost" not in altered["instant"].headlines


def test_a_statement_that_the_server_refuses_fails_the_run_in_its_words(altered: dict[str, Ran]) -> None:
    ran = altered["refused"]
    assert any("ALGORITHM=INSTANT is not supported" in failure for failure in ran.output.failures), ran.said
    assert any("ALGORITHM=INSTANT is not supported" in label for label in ran.events("error"))


def test_a_copy_stalls_the_load_for_as_long_as_it_takes(
    server: FakeServer, single: ConfigFile, mariadb: MariaDB, start_agent: Callable[[], AgentProcess]
) -> None:
    job = a_job(tool="ddl_under_load", parameters={"table_size": 150_000, "at": 4}, warmup=0, duration=8)
    level = wire.LoadLevelMessage(threads=4, rate=60)
    server.jobs.append(
        wire.JobMessage(**{**_fields(job), "runs": [wire.PlannedRun(uid=job.runs[0].uid, load_level=level)]})
    )
    before = mariadb.sql("SHOW DATABASES")
    start_agent()
    eventually(server.job_ends, what="the job has ended")
    assert [(end["outcome"], end["reason"]) for end in server.job_ends()] == [("succeeded", "")]
    assert mariadb.sql("SHOW DATABASES") == before
    (run,) = server.runs.values()
    by_server = {event.detail["check"] for event in run.decoded().events if event.kind == "check"}
    assert by_server == {"writes", "reads", "matched"}
    output = report_values.read(run.artifacts["ddl_under_load.jsonl"])
    values = {headline.metric: headline.value for headline in output.headlines}
    assert (output.complete, failures(output), output.unparsed) == (True, [], ())
    assert values["ddl.duration"] > 0
    # The wait for the lock before it and what is queued after it belong to the stop as well.
    assert values["ddl.gap"] >= 0.8 * values["ddl.duration"] - 0.05
    assert values["ddl.gap"] > values["ddl.gap_before"]
    assert values["client.latency.max"] > 0.8 * 1000 * values["ddl.duration"] - 50
    assert values["ddl.metadata_lock_queue"] >= 1
    assert output.distributions
    assert mariadb.password not in (run.opened.command if run.opened else "")


def _fields(job: wire.JobMessage) -> dict[str, Any]:
    return {name: getattr(job, name) for name in job.__struct_fields__}
