"""Interface of this app for other apps. pure has what needs no database, models the tables; the rest is internal."""

from apps.dispatch import queries
from apps.dispatch.campaigns import early_stop, plan, progress
from apps.dispatch.campaigns import file as campaign_file
from apps.dispatch.campaigns import text as campaign_text
from apps.dispatch.campaigns.cancel import Cancellation, cancel_campaign, cancel_job
from apps.dispatch.campaigns.durations import measured as measured_durations
from apps.dispatch.campaigns.file import LEAST_GAIN
from apps.dispatch.campaigns.plan import (
    MAX_REPETITIONS,
    UNTIMED,
    PlannedWorkload,
    PlanSize,
    alike,
    create_campaign,
    loads_itself,
    plainly,
    problems_of,
    size_of,
)
from apps.dispatch.jobs.agents import (
    AGENT_ALIVE_FOR,
    agent_of_secret,
    never_restarted,
    register_agent,
    rotate_agent,
)
from apps.dispatch.jobs.bindings import decide, enrol, make_enrolment
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
from apps.dispatch.jobs.reports import hello, withdraw
from apps.dispatch.jobs.samplers import sampled_runs, stream_of
from apps.dispatch.jobs.uploads import (
    NoSuchRun,
    close_abandoned_runs,
    end_run,
    open_run,
    run_of,
    store_batch,
)
from apps.dispatch.queries import refusals, unreachable
from apps.dispatch.schedules import queries as schedule_queries
from apps.dispatch.schedules import scheduled_runs
from apps.dispatch.schedules import services as schedules
from apps.dispatch.schedules.queries import ScheduleDetail, ScheduledRunRow, ScheduleRow
from apps.dispatch.schedules.scheduled_runs import MissingResult, Settled
from apps.dispatch.schedules.services import ScheduleFields, in_utc
from apps.dispatch.values import AgentRow, CampaignDetail, CampaignRow, JobCell, JobGrid, Progress, RunCell

__all__ = [
    "AGENT_ALIVE_FOR",
    "LEAST_GAIN",
    "MAX_REPETITIONS",
    "UNTIMED",
    "AgentRow",
    "CampaignDetail",
    "CampaignRow",
    "Cancellation",
    "JobCell",
    "JobGrid",
    "LeaseLost",
    "MissingResult",
    "NoSuchJob",
    "NoSuchRun",
    "PlanSize",
    "PlannedWorkload",
    "Progress",
    "RunCell",
    "ScheduleDetail",
    "ScheduleFields",
    "ScheduleRow",
    "ScheduledRunRow",
    "Settled",
    "agent_of_secret",
    "alike",
    "campaign_file",
    "campaign_text",
    "cancel_campaign",
    "cancel_job",
    "claim",
    "close_abandoned_runs",
    "create_campaign",
    "decide",
    "early_stop",
    "end_job",
    "end_run",
    "enrol",
    "expire_leases",
    "hello",
    "in_utc",
    "job_on",
    "loads_itself",
    "make_enrolment",
    "match_jobs",
    "measured_durations",
    "never_restarted",
    "open_run",
    "open_run_of",
    "plainly",
    "plan",
    "problems_of",
    "progress",
    "queries",
    "refusals",
    "register_agent",
    "renew",
    "rotate_agent",
    "run_of",
    "sampled_runs",
    "schedule_queries",
    "scheduled_runs",
    "schedules",
    "size_of",
    "store_batch",
    "stream_of",
    "unreachable",
    "withdraw",
]
