"""Dispatch's front door: everything that changes campaigns, jobs and agents."""

from apps.dispatch.campaigns.cancel import Cancellation, cancel_campaign, cancel_job
from apps.dispatch.campaigns.plan import (
    PlannedWorkload,
    PlanSize,
    alike,
    create_campaign,
    plainly,
    problems_of,
    size_of,
)
from apps.dispatch.jobs.agents import agent_of_secret, hello, register_agent, revoke_agent, rotate_agent
from apps.dispatch.jobs.leases import (
    LeaseLost,
    NoSuchJob,
    claim,
    end_job,
    expire_leases,
    job_on,
    match_jobs,
    open_run_of,
    renew,
)
from apps.dispatch.jobs.samplers import sampled_runs, stream_of
from apps.dispatch.jobs.uploads import NoSuchRun, close_abandoned_runs, end_run, open_run, run_of

__all__ = [
    "Cancellation",
    "LeaseLost",
    "NoSuchJob",
    "NoSuchRun",
    "PlanSize",
    "PlannedWorkload",
    "agent_of_secret",
    "alike",
    "cancel_campaign",
    "cancel_job",
    "claim",
    "close_abandoned_runs",
    "create_campaign",
    "end_job",
    "end_run",
    "expire_leases",
    "hello",
    "job_on",
    "match_jobs",
    "open_run",
    "open_run_of",
    "plainly",
    "problems_of",
    "register_agent",
    "renew",
    "revoke_agent",
    "rotate_agent",
    "run_of",
    "sampled_runs",
    "size_of",
    "stream_of",
]
