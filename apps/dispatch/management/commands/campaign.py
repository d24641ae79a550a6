"""Start campaigns from files, follow them, or only check a file."""

import time
from argparse import ArgumentParser
from datetime import datetime
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from apps.core.problems import Invalid
from apps.core.text import counted
from apps.core.units import format_estimate
from apps.dispatch import api as dispatch
from apps.dispatch import queries
from apps.dispatch.campaigns import file as campaigns_file
from apps.dispatch.values import CampaignDetail

LOOK_EVERY = 2.0  # s


class Command(BaseCommand):
    help = "Start a campaign from a file (docs/howto/campaigns.md), follow it, or check the file."

    def add_arguments(self, parser: ArgumentParser) -> None:
        commands = parser.add_subparsers(dest="command", required=True, metavar="start|check|status")
        for name, words in (
            ("start", "plan the file's campaign; each start plans another one"),
            ("check", "report errors in the file, or what it would start; nothing is stored"),
        ):
            command = commands.add_parser(name, help=words)
            command.add_argument("file", type=Path)
            command.add_argument(
                "--system",
                action="append",
                default=[],
                metavar="NAMED=INSTEAD",
                help="measure the system INSTEAD in place of NAMED in the file; may be repeated",
            )
            command.add_argument("--repetitions", type=int, help="replaces the number in the file")
            if name == "start":
                command.add_argument(
                    "--wait", action="store_true", help="wait until all jobs have ended; fails if one failed"
                )
        status = commands.add_parser("status", help="print a campaign's progress")
        status.add_argument("campaign", type=int)
        status.add_argument("--wait", action="store_true", help="wait until all jobs have ended; fails if one failed")

    def handle(self, *_args: Any, command: str, **options: Any) -> None:
        if command == "status":
            self._status(options["campaign"], wait=options["wait"])
            return
        file: Path = options["file"]
        wanted = {"instead": _instead(options["system"]), "repetitions": options["repetitions"]}
        try:
            content = file.read_bytes()
            if command == "check":
                size = campaigns_file.check(content, **wanted).size
                about = format_estimate(size.seconds)
                self.stdout.write(
                    f"{file}: valid; {counted(size.jobs, 'job')}, {counted(size.runs, 'run')}, at most about {about}."
                )
                return
            campaign = campaigns_file.start(content, by=None, **wanted)
        except OSError as error:
            raise CommandError(f"{file} cannot be read: {error.strerror}") from error
        except Invalid as refused:
            printed = "\n".join(f"{file}: {problem.sentence()}" for problem in refused.errors)
            raise CommandError(f"{printed}\nNothing was started.") from refused
        dispatch.match_jobs(now=timezone.now())
        jobs = campaign.jobs.count()
        self.stdout.write(
            f"Campaign {campaign.pk}, {campaign.name!r}: {counted(jobs, 'job')} planned; page /campaigns/{campaign.pk}/"
        )
        self.stdout.write("Starting the file again plans another campaign.")
        if options["wait"]:
            self._status(campaign.pk, wait=True)

    def _status(self, campaign_id: int, *, wait: bool) -> None:
        printed = ""
        while True:
            now = timezone.now()
            detail = queries.load_campaign(campaign_id, now=now)
            if detail is None:
                raise CommandError(f"there is no campaign {campaign_id}: see the Campaigns page")
            words = _progress(detail)
            if words != printed:
                self.stdout.write(_stamped(words, now) if wait else words)
                self.stdout.flush()
                printed = words
            if not wait or detail.row.progress.is_finished:
                break
            time.sleep(LOOK_EVERY)
        for job in detail.jobs:
            if job.state == "failed" or (job.reason and not wait):
                self.stdout.write(
                    f"  job {job.id}, {job.workload.name} on {job.system.slug}: {job.state}: {job.reason}"
                )
        if wait and detail.row.progress.state != "done":
            raise CommandError(f"campaign {campaign_id} ended as {detail.row.progress.state}")
        if wait and detail.row.progress.jobs_cancelled:
            raise CommandError(f"campaign {campaign_id} is done, but {_cancelled(detail)}")


def _cancelled(detail: CampaignDetail) -> str:
    jobs = detail.row.progress.jobs_cancelled
    return f"{jobs} {'job was' if jobs == 1 else 'jobs were'} cancelled"


def _progress(detail: CampaignDetail) -> str:
    progress = detail.row.progress
    words = (
        f"{progress.state}: {progress.jobs_done} of {progress.jobs} jobs, {progress.runs_done} of {progress.runs} runs"
    )
    if progress.jobs_cancelled and progress.state != "cancelled":
        words += f", {_cancelled(detail)}"
    if progress.jobs_failed:
        words += f", {progress.jobs_failed} jobs failed"
    if progress.runs_skipped:
        words += f", {progress.runs_skipped} refused or not run"
    if progress.runs_excluded:
        words += f", {progress.runs_excluded} excluded by a user"
    if progress.runs_doubted:
        words += f", {progress.runs_doubted} failed a quality check"
    now = "; ".join(f"{job.workload.name} on {job.system.slug}: {job.doing or job.state}" for job in detail.current)
    return "; ".join(filter(None, [words, now, *detail.obstacles]))


def _stamped(words: str, now: datetime) -> str:
    return f"{timezone.localtime(now):%H:%M:%S} {words}"


def _instead(pairs: list[str]) -> dict[str, str]:
    found = {}
    for pair in pairs:
        named, equals, instead = pair.partition("=")
        if not (named and equals and instead):
            raise CommandError(f"--system {pair!r}: write it as NAMED=INSTEAD, for example galera=galera-test")
        found[named] = instead
    return found
