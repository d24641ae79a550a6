"""What the tests of the campaigns' pages share."""

from typing import Any

from apps.dispatch.models import Job, JobRun
from tests.support.builders import a_load_level, a_run, a_workload

HTMX = {"HX-Request": "true"}


def a_form(**fields: Any) -> dict[str, Any]:
    return {
        "name": "flush 1 or 2",
        "systems": ["a", "b"],
        "workloads": [a_workload().pk],
        "test": "",
        "tables": "4",
        "table_size": "10000",
        "threads": "1, 4, 8",
        "repetitions": "3",
        "warmup": "1",
        "duration": "5",
        **fields,
    }


def measured(job: Job, *threads: int, outcome: str = "succeeded") -> None:
    for number in threads:
        reason = "" if outcome == "succeeded" else "a reason"
        level = a_load_level(number)
        run = a_run(system=job.system, workload=job.workload, load_level=level, outcome=outcome, reason=reason)
        JobRun.objects.create(run=run, job=job, attempt=job.attempt)
