"""Words of runs in the grid of a campaign."""

from dataclasses import replace

import pytest

from apps.dispatch.api import JobCell, RunCell
from apps.dispatch.values import NamedObject, SkipCell
from apps.web.campaigns.wording import run_mark, run_title, skipped, troubles

DONE = RunCell(id=7, threads=4, load_level="4 threads", state="sealed", outcome="succeeded", attempt=1)
FAILED = replace(DONE, outcome="failed", reason="connection lost")
JOB = JobCell(
    id=3,
    entry_id=1,
    system=NamedObject(1, "a", "A"),
    workload=NamedObject(1, "", "oltp_read_only"),
    repetition=1,
    session=1,
    restart_seconds=None,
    position=1,
    state="succeeded",
    attempt=1,
    agent="",
    reason="",
    doing="",
    ready_at=None,
    started_at=None,
    finished_at=None,
    runs=(),
    skips=(),
)


def test_title_tells_what_became_of_a_run_and_why() -> None:
    assert run_title(replace(DONE, outcome="")) == "run 7, attempt 1: running"
    assert run_title(FAILED) == "run 7, attempt 1: failed, connection lost"
    assert run_title(replace(DONE, is_excluded=True)) == "run 7, attempt 1: succeeded, excluded by a user"
    assert run_title(replace(DONE, failed_checks=("a", "b"))) == "run 7, attempt 1: succeeded, failed: a, b"


def test_skipped_levels_have_their_reason() -> None:
    refused = SkipCell("8 threads", "connections refused: error 1040")
    after = SkipCell("64 threads", "not run: connections were refused at 8 threads")
    stopped = replace(FAILED, load_level="8 threads")
    job = replace(JOB, runs=(stopped,), skips=(refused, after))
    assert skipped(job) == "connections refused: error 1040 (64 threads)"
    assert skipped(replace(job, runs=())) == "connections refused: error 1040 (8 threads, 64 threads)"
    assert skipped(replace(job, skips=(refused,))) == "connections refused: error 1040"
    decided = (SkipCell("1 thread", "decided after 3"), SkipCell("4 threads", "decided after 4"))
    assert skipped(replace(job, runs=(), skips=decided)) == "decided after 3 (1 thread); decided after 4 (4 threads)"


def test_jobs_of_a_system_that_failed_for_one_reason_are_one_problem() -> None:
    denied = replace(JOB, state="failed", reason="attempt 1: access denied")
    elsewhere = replace(denied, id=6, system=NamedObject(2, "b", "B"))
    jobs = [denied, replace(denied, id=4, repetition=2), replace(denied, id=5, workload=NamedObject(2, "", "tpcc"))]
    found = troubles([*jobs, elsewhere, replace(JOB, id=7), replace(denied, id=8, state="cancelled")])
    assert [(each.job.id, each.subject) for each in found] == [
        (3, "Jobs 3, 4 and 5, oltp_read_only and tpcc on A, rounds 1 and 2"),
        (6, "Job 6, oltp_read_only on B, round 1"),
    ]


@pytest.mark.parametrize(
    ("run", "mark"),
    [
        (DONE, "✓"),
        (replace(DONE, failed_checks=("a",)), "✓!"),
        (replace(DONE, failed_checks=("a",), is_excluded=True), "excluded"),
        (FAILED, "✗"),
        (replace(DONE, outcome=""), "…"),
        (replace(DONE, outcome="cancelled"), "– cancelled"),
        (replace(DONE, outcome="cancelled", reason="a" * 40), f"– {'a' * 29}…"),
    ],
)
def test_mark_of_a_run(run: RunCell, mark: str) -> None:
    assert run_mark(run, refused=None) == mark
    assert run_mark(run, refused=run) == "refused"
