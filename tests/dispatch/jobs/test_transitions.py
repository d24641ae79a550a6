"""The table in docs/reference/jobs.md is what the database allows, pair by pair."""

from datetime import timedelta
from itertools import product

import pytest
from django.db import IntegrityError, transaction

from apps.dispatch.models import Job
from tests.paths import DOCS
from tests.support.builders import START, a_job, an_agent

PAGE = DOCS / "reference" / "jobs.md"
STATES = [str(state) for state in Job.State.values]


def drawn() -> dict[str, set[str]]:
    lines = PAGE.read_text().split("## Leases")[0].splitlines()
    rows = [line.strip("|").split("|") for line in lines if line.startswith("| ") and not line.startswith("| from")]
    return {row[0].strip(): {state.strip() for state in row[1].split(",") if state.strip()} for row in rows}


def diagram() -> dict[str, set[str]]:
    arrows: dict[str, set[str]] = {state: set() for state in STATES}
    for line in PAGE.read_text().split("```mermaid")[1].split("```")[0].splitlines():
        before, arrow, after = line.strip().partition(" --> ")
        if arrow and before in arrows and not after.startswith("[*]"):
            arrows[before].add(after.partition(":")[0])
    return arrows


def test_table_and_diagram_agree_and_know_every_state() -> None:
    assert drawn() == diagram()
    assert set(drawn()) == set(STATES)


@pytest.mark.parametrize(("before", "after"), [pair for pair in product(STATES, STATES) if pair[0] != pair[1]])
def test_database_allows_exactly_the_drawn_transitions(db: None, before: str, after: str) -> None:
    job = a_job(state=before)
    active, final = after in ("matched", "running", "cancelling"), after in ("succeeded", "failed", "cancelled")
    change = {
        "state": after,
        "agent": job.agent or (an_agent(job.system) if active else None),
        "lease_expires_at": START + timedelta(minutes=1) if active else None,
        "finished_at": START if final else None,
        "reason": "a reason",
    }

    def apply() -> None:
        with transaction.atomic():
            Job.objects.filter(pk=job.pk).update(**change)

    if after in drawn()[before]:
        apply()
        assert Job.objects.get(pk=job.pk).state == after
    else:
        with pytest.raises(IntegrityError, match=f"cannot go from {before} to {after}"):
            apply()


def test_attempt_never_falls(db: None) -> None:
    job = a_job(state="running", attempt=2)
    with pytest.raises(IntegrityError, match="from attempt 2 back to 1"):
        Job.objects.filter(pk=job.pk).update(attempt=1)


@pytest.mark.parametrize("state", ["matched", "running", "cancelling"])
def test_active_job_needs_agent_and_lease(db: None, state: str) -> None:
    job = a_job(state=state)
    for missing in ("agent", "lease_expires_at"):
        with pytest.raises(IntegrityError, match="job_state_holds_together"), transaction.atomic():
            Job.objects.filter(pk=job.pk).update(**{missing: None})


def test_failed_job_needs_a_reason(db: None) -> None:
    job = a_job(state="running")
    with pytest.raises(IntegrityError, match="job_failure_has_reason"):
        Job.objects.filter(pk=job.pk).update(state="failed", lease_expires_at=None, finished_at=START)


def test_system_never_has_two_active_jobs(db: None) -> None:
    job = a_job(state="running")
    with pytest.raises(IntegrityError, match="one_job_per_system"):
        a_job(state="matched", systems=[job.system])


def test_agent_never_has_two_active_jobs(db: None) -> None:
    job = a_job(state="running")
    with pytest.raises(IntegrityError, match="one_job_per_agent"):
        a_job(state="matched", agent=job.agent)
