"""Records good and bad runs on the lab, for the rates at which the quality checks are right.

With `make run` and `make lab ARGS="up single galera rds-like mariadb-flush1 mariadb-flush2"` on a machine that does
nothing else, with nftables and iproute2, as root:

    eval "$(make env)"; .venv/bin/python -m tests.runs.quality.record [CONDITION …]

takes some 80 minutes and writes tests/data/quality/runs.json.gz; `tests/runs/quality/test_rates.py` reads it.
"""

import gzip
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import django
from django.utils import timezone

from tests.paths import ROOT
from tests.runs.quality import agents, facts_file, link
from tests.runs.quality.conditions import CONDITIONS, Condition
from tests.runs.quality.facts_file import FILE

LONGEST = 1500.0  # s of a condition
ALWAYS_CHANGING = ("mysql.status.Questions", "host.cpu.user", "agent.cpu.seconds")


def main(names: Sequence[str]) -> int:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    for name in names or CONDITIONS:
        runs = measured(name, CONDITIONS[name])
        found = {**(facts_file.plain() if FILE.exists() else {}), name: runs}
        FILE.parent.mkdir(parents=True, exist_ok=True)
        FILE.write_bytes(gzip.compress(facts_file.packed(found), mtime=0))
        sys.stdout.write(f"{name}: {len(found[name])} runs\n")
        sys.stdout.flush()
    return 0


def measured(name: str, condition: Condition) -> list[Any]:
    """The facts of the condition's runs, as plain values."""
    from apps.catalog.models import HardwareClass  # noqa: PLC0415  (Django is set up by main)
    from apps.dispatch.api import campaign_file, cancel_campaign  # noqa: PLC0415
    from apps.dispatch.models import Campaign  # noqa: PLC0415
    from apps.runs.models import Run  # noqa: PLC0415
    from workers import tasks  # noqa: PLC0415

    deadline = time.monotonic() + LONGEST
    act = condition.beside() if condition.beside else lambda _: None
    over = threading.Event()
    thread = threading.Thread(target=_beside, args=(act, over))
    several = agents.one_for_each(condition.systems, _address()) if condition.at_once else nullcontext()
    try:
        thread.start()
        with several:
            _await_agents(condition.systems, deadline)
            campaign = campaign_file.start(_campaign(name, condition), by=None)
            tasks.enqueue(tasks.match_jobs)
            _await(
                lambda: not campaign.jobs.exclude(state__in=("succeeded", "failed", "cancelled")).exists(),
                deadline,
                name,
            )
    except BaseException:
        for unfinished in Campaign.objects.filter(name=name):
            cancel_campaign(campaign=unfinished, by=None, now=timezone.now())
        raise
    finally:
        over.set()
        thread.join()
        act(True)
    runs = Run.objects.filter(job_run__job__campaign=campaign)
    _await(lambda: not runs.exclude(state=Run.State.SEALED).exists(), deadline, name)
    # The agent does not report what its network can do.
    HardwareClass.objects.filter(slug=link.HARDWARE).update(network_bits_per_second=link.RATE)
    return _facts(runs, condition)


def _campaign(name: str, condition: Condition) -> bytes:
    text = f"name: {name}\nsystems: [{', '.join(condition.systems)}]\nrepetitions: {condition.repetitions}\n"
    return f"{text}warmup: {condition.warmup}\nduration: {condition.duration}\nworkloads:{condition.workloads}".encode()


def _facts(runs: Any, condition: Condition) -> list[Any]:
    from apps.runs.models import Run  # noqa: PLC0415
    from apps.runs.quality import check, evidence  # noqa: PLC0415

    latest = Run.objects.filter(job_run__job__campaign__name=condition.siblings).order_by("-pk").first()
    among = set()
    if latest:
        among = set(Run.objects.filter(job_run__job__campaign=latest.job_run.job.campaign).values_list("pk", flat=True))
    found = []
    for run in check.RELATED.filter(pk__in=runs.values("pk"), state=Run.State.SEALED).order_by("pk"):
        place = evidence.place_of(run)
        place = replace(place, runs=tuple(one for one in place.runs if one.id == run.pk or one.id in among))
        facts = evidence.facts(run, siblings=False)
        plain = facts_file.plainly(replace(facts, siblings=place.siblings(run.pk) if among else None))
        found.append(plain | {"unobserved": _unobserved(run)})
    return found


def _unobserved(run: Any) -> int:
    """Intervals between samples that lack what a source reads each second: statement, host's or agent's counters."""
    from apps.runs.models import RunNode, Series  # noqa: PLC0415

    samples = dict(RunNode.objects.filter(run=run).values_list("number", "samples"))
    held = Series.objects.filter(run=run, metric__key__in=ALWAYS_CHANGING).values_list("node", "whole_count")
    return sum(samples[node] - 1 - count for node, count in held)


def _await_agents(systems: Sequence[str], deadline: float) -> None:
    """Until some agent reaches each."""
    from apps.dispatch.models import Agent  # noqa: PLC0415

    wanted = {f"system:{slug}" for slug in systems}
    _await(lambda: wanted <= {label for agent in Agent.objects.all() for label in agent.labels}, deadline, str(systems))


def _await(holds: Callable[[], bool], deadline: float, what: str) -> None:
    while not holds():
        if time.monotonic() > deadline:
            raise TimeoutError(what)
        time.sleep(1)


def _address() -> str:
    text = (ROOT / "var" / "agent.toml").read_text()
    return next(line.split('"')[1] for line in text.splitlines() if line.startswith("url"))


def _beside(act: Callable[[bool], None], over: threading.Event) -> None:
    while not over.wait(0.1):
        act(False)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
