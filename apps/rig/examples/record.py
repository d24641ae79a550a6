"""Measures a part of the study on the lab of this machine and writes its archive. Needs a running server and agent."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from functools import partial
from pathlib import Path

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from apps.accounts import services as accounts
from apps.catalog.api import labels_of, new_short_name
from apps.catalog.models import Node, System
from apps.dispatch import api as dispatch
from apps.dispatch.models import Campaign, Schedule, ScheduledRun
from apps.rig.examples.data import HISTORY, archive_of
from apps.rig.examples.study import StudyPart
from apps.runs.api import archive
from apps.runs.models import Run

PREFIX = "example-"
LOOK_EVERY = 1.0  # s
# s until the agent has announced a system that the lab started.
ANNOUNCED = 60.0
# A session that takes this many times as long as planned is given up.
PATIENCE = 4.0
DAILY = "0 3 * * *"

Say = Callable[[str], None]


class CannotRecord(Exception):
    """The text has the problem and the remedy."""


def servers_cpus() -> str:
    """The CPUs for the servers: the first half of the machine; `all` where there is only one."""
    count = os.cpu_count() or 1
    return "all" if count < 2 else "0" if count < 4 else f"0-{count // 2 - 1}"


def record(part: StudyPart, *, sessions: int | None, folder: Path, say: Say) -> int:
    """Measures the part's sessions and writes its archive into `folder`; returns the number of runs. A session that
    fails is told and left out. Raises CannotRecord."""
    campaigns = list(_measured(part, sessions or part.sessions, say))
    runs = Run.objects.filter(job_run__job__campaign__in=campaigns, state=Run.State.SEALED)
    chosen = list(runs.order_by("pk").values_list("pk", flat=True))
    if not chosen:
        raise CannotRecord(f"{part.name}: no run is complete; the campaigns' pages have the reasons")
    _label(chosen)
    folder.mkdir(parents=True, exist_ok=True)
    archive.export(run_ids=chosen, path=archive_of(part.name, folder))
    if part.nightly:
        (folder / HISTORY).write_text(json.dumps(_history(part, campaigns), indent=1) + "\n")
    return len(chosen)


def _measured(part: StudyPart, sessions: int, say: Say) -> Iterator[Campaign]:
    for session in range(1, sessions + 1):
        said = f"{part.name}, session {session} of {sessions}"
        if session == 1 or not part.nightly:
            say(f"{said}: starting {', '.join(part.systems())}")
            _lab("down", *part.systems())
            _lab("up", "--cpus", servers_cpus(), *part.systems())
            _await_agent(part.systems())
        say(f"{said}: measuring")
        campaign = _start(part, session)
        _await_end(campaign, limit=PATIENCE * part.seconds, say=say)
        yield campaign
    _lab("down", *part.systems())


def _start(part: StudyPart, session: int) -> Campaign:
    now, text = timezone.now(), json.dumps(part.campaign(session))
    if part.nightly:
        by = accounts.first_administrator()
        stated = dispatch.ScheduleFields(name=part.nightly, plan=text, cron=DAILY)
        known = Schedule.objects.filter(name=part.nightly).first()
        schedule = (
            dispatch.schedules.edit(schedule_id=known.pk, stated=stated, now=now)
            if known
            else dispatch.schedules.create(stated=stated, by=by, now=now)
        )
        dispatch.schedules.pause(schedule_id=schedule.pk)
        started = dispatch.schedules.run_now(schedule_id=schedule.pk, by=by, now=now).campaign
        assert started is not None  # noqa: S101 - run_now starts one or raises
        campaign = started
    else:
        campaign = dispatch.campaign_file.start(text.encode(), by=None)
    dispatch.match_jobs(now=now)
    return campaign


def _await_end(campaign: Campaign, *, limit: float, say: Say) -> None:
    """Returns when its jobs have ended; after `limit` s, cancels those that have not."""
    deadline = time.monotonic() + limit
    while True:
        detail = dispatch.queries.load_campaign(campaign.pk, now=timezone.now())
        if detail is None or detail.row.progress.is_finished:
            break
        if time.monotonic() > deadline:
            with transaction.atomic():
                dispatch.cancel_campaign(campaign=campaign, by=None, now=timezone.now())
            say(f"{campaign.name}: given up after {limit:.0f} s")
            break
        time.sleep(LOOK_EVERY)
    for job in detail.jobs if detail else ():
        if job.state != "succeeded":
            say(f"{campaign.name}: {job.workload.name} on {job.system.slug} {job.state}: {job.reason}")


def _await_agent(slugs: Sequence[str]) -> None:
    deadline = time.monotonic() + ANNOUNCED
    while True:
        known = list(System.objects.filter(slug__in=slugs))
        if len(known) == len(slugs) and not dispatch.unreachable(known, now=timezone.now()):
            return
        if time.monotonic() > deadline:
            raise CannotRecord(f"no agent measures {', '.join(slugs)}: start `make run`, which has one")
        time.sleep(LOOK_EVERY)


def _lab(*arguments: str) -> None:
    environment = {**os.environ, "SPLASHBOARD_VAR": str(settings.VAR_DIR)}
    argv = [sys.executable, "-m", "lab", *arguments]
    answer = subprocess.run(argv, cwd=settings.BASE_DIR, env=environment, capture_output=True, text=True, check=False)
    if answer.returncode:
        raise CannotRecord(f"`{' '.join(argv[1:])}`: {answer.stderr.strip() or answer.stdout.strip()}")


@transaction.atomic
def _label(run_ids: Sequence[int]) -> None:
    """Makes runs examples, on copies of their systems, so that the systems themselves can be measured further."""
    systems = System.objects.filter(runs__in=run_ids).distinct().prefetch_related("nodes")
    for system in systems:
        copy, is_new = System.objects.get_or_create(
            slug=f"{PREFIX}{system.slug}",
            defaults={
                name: getattr(system, name)
                for name in ("name", "release", "hardware_class", "settings", "settings_hash")
            }
            | {"labels": labels_of(f"{PREFIX}{system.slug}", system.labels)}
            | {"short_name": partial(new_short_name, system, [node.role for node in system.nodes.all()])},
        )
        if is_new:
            Node.objects.bulk_create(
                Node(system=copy, name=each.name, role=each.role, zone=each.zone, hardware_class=each.hardware_class)
                for each in system.nodes.all()
            )
        runs = Run.objects.filter(pk__in=run_ids, system=system)
        runs.update(system=copy, provenance=Run.Provenance.EXAMPLE)


def _history(part: StudyPart, campaigns: Sequence[Campaign]) -> dict[str, object]:
    """The schedule and its runs, of which archives know nothing."""
    slots = ScheduledRun.objects.filter(campaign__in=campaigns).order_by("due_at")
    return {
        "name": part.nightly,
        "cron": DAILY,
        "plan": part.campaign(part.sessions),
        "runs": [
            {
                "due_at": slot.due_at.isoformat(),
                "runs": [
                    str(uid)
                    for uid in Run.objects.filter(job_run__job__campaign=slot.campaign)
                    .order_by("pk")
                    .values_list("uid", flat=True)
                ],
            }
            for slot in slots
        ],
    }


def planned_time(parts: Sequence[StudyPart], sessions: int | None) -> timedelta:
    return timedelta(seconds=sum(part.seconds * (sessions or part.sessions) for part in parts))
