"""Campaigns started and followed through a real server; time passes by what happens between two looks."""

import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from django.utils import timezone
from pytest_django.live_server_helper import LiveServer

from apps.catalog.models import Workload
from apps.dispatch.models import Campaign, Job
from apps.runs.models import Run
from splashboard import campaigns
from splashboard.progress import LINE_EVERY, ProgressLine
from splashboard.server import Server
from tests.client.conftest import Command
from tests.dispatch.steps import a_measured_run
from tests.support.builders import START, a_campaign, a_system, an_agent

LIVE = pytest.mark.django_db(transaction=True)
FILE = """
name: from the command line
systems: [single]
repetitions: 2
duration: 5
load_levels: [1, 8]
workloads:
  - tool: {tool}
    parameters: {{test: oltp_read_write}}
"""


class Terminal(io.StringIO):
    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


def end(jobs: int, state: str = "succeeded") -> None:
    """Ends the next `jobs` of the only campaign, each with its two runs if it succeeds."""
    for job in Job.objects.filter(state="queued")[:jobs]:
        if state == "succeeded":
            for level in job.entry.load_levels.all():
                a_measured_run(job, threads=level.threads)
        ended = Job.objects.filter(pk=job.pk)
        lease = {"agent": an_agent(job.system), "lease_expires_at": START}
        ended.update(state="matched", **lease)
        ended.update(state="running", attempt=1, started_at=START)
        reason = "" if state == "succeeded" else "sysbench ended with 1"
        ended.update(state=state, finished_at=START, reason=reason, lease_expires_at=None)


@LIVE
def test_a_file_is_started_and_its_faults_are_shown_by_line(engineer: Command, tmp_path: Path) -> None:
    a_system("single")
    file = tmp_path / "plan.yaml"
    file.write_text(FILE.format(tool="sysbench_oltp").replace("[1, 8]", "[0]"))
    wrong = engineer("campaign", file)
    assert wrong.code == 4
    assert f"nothing was started\n{file}: load_levels.0: line 6: " in wrong.err
    assert not Campaign.objects.exists()

    file.write_text(FILE.format(tool="sysbench_oltp"))
    said = engineer("campaign", file)
    campaign = Campaign.objects.get()
    assert said.code == 0, said.err
    assert f"Campaign {campaign.pk}, 'from the command line': waiting: 0 of 4 runs, 0 of 2 jobs" in said.out
    assert Workload.objects.exists()

    late = engineer("wait", campaign.pk, "--timeout", 0.01)
    assert (late.code, late.out) == (2, "")
    assert "has not ended after 0.01 s: waiting" in late.err
    assert engineer("wait", 999_999).code == 4


@LIVE
def test_a_campaign_with_a_cancelled_job_is_not_a_whole_measurement(engineer: Command) -> None:
    campaign = a_campaign(repetitions=2)
    end(1)
    left = Job.objects.get(state="queued")
    Job.objects.filter(pk=left.pk).update(state="cancelled", finished_at=START, reason="cancelled by ann")
    Run.objects.update(state="sealed")
    said = engineer("wait", campaign.pk)
    assert said.code == 1, said.err
    assert f"job {left.pk}, " in said.out
    assert "cancelled: cancelled by ann" in said.out


@LIVE
def test_a_wait_ends_when_the_last_run_is_stored_and_fails_with_a_job(engineer: Command) -> None:
    campaign = a_campaign(repetitions=2)
    end(1)
    end(1, "failed")
    said = engineer("wait", campaign.pk, "--json")
    assert said.code == 1
    assert json.loads(said.out)["progress"]["jobs_failed"] == 1
    assert "failed: 2 of " in said.err
    printed = engineer("wait", campaign.pk).out
    assert f"on {campaign.jobs.all()[0].system.slug}: failed: sysbench ended with 1" in printed


@LIVE
def test_a_terminal_gets_a_bar_and_a_log_gets_news(live_server: LiveServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")

    def follow(stream: io.StringIO, campaign: Campaign, *events: Callable[[], object]) -> str:
        pending, now = list(events), [0.0]

        def sleep(_seconds: float) -> None:
            now[0] += LINE_EVERY / 2
            pending.pop(0)()

        def clock() -> float:
            return now[0]

        campaigns.wait(
            Server(url=live_server.url),
            campaign=campaign.pk,
            shown=ProgressLine(stream, clock=clock),
            clock=clock,
            sleep=sleep,
        )
        assert not pending
        return stream.getvalue()

    def unseal() -> None:
        end(1)
        Run.objects.filter(job_run__job__campaign=campaign).update(state="ended")

    def seal() -> None:
        Run.objects.filter(job_run__job__campaign=campaign).update(state="sealed")

    def connect() -> None:
        an_agent(campaign.systems.get(), last_seen_at=timezone.now())
        end(1)

    campaign = a_campaign(repetitions=2)
    drawn = follow(Terminal(), campaign, connect, unseal, seal)
    assert "  0% waiting: 0 of 4 runs" in drawn
    assert " 50% running: 2 of 4 runs, 1 of 2 jobs" in drawn
    assert "100% done: 4 of 4 runs" in drawn
    assert drawn.endswith("\n")

    campaign = a_campaign(repetitions=3)
    obstacle, *lines = follow(io.StringIO(), campaign, connect, *[lambda: end(1)] * 2).splitlines()
    assert obstacle.startswith("No agent is connected to")
    assert [line.partition(",")[0] for line in lines] == [
        "waiting: 0 of 6 runs",
        "running: 2 of 6 runs",
        "done: 6 of 6 runs",
    ]
