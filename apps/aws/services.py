"""Actions at AWS."""

import logging

from apps.aws import failover
from apps.aws.clients import AwsTrouble
from apps.aws.places import place_of
from apps.catalog.models import System
from apps.core.audit.api import Action, record
from apps.runs.models import Event, Run
from workers.protocol import wire

log = logging.getLogger(__name__)


def fail_over(*, system: System, run: Run | None, target: str) -> wire.FailoverAnswer:
    """Request a failover from AWS; returns once AWS has accepted it. `run`: the current run, which gets an event.

    Raises AwsTrouble.
    """
    place = place_of(system)
    if place is None:
        raise AwsTrouble(
            f"the catalog has no AWS location of system {system.slug}: name region and cluster under "
            "[systems.aws] in the agent's configuration"
        )
    accepted = failover.ask(place, target=target)
    chosen = target or "a node of its choice"
    log.info("AWS accepted a failover of %s, from %s to %s", place, accepted.writer, chosen)
    record(Action.AGENT_FAILOVER, f"system {system.slug}", before=accepted.writer, after=chosen)
    if run is not None:
        Event.objects.create(
            run=run,
            kind="aws_event",
            label=f"AWS accepted a failover of {place}, from {accepted.writer} to {chosen}"[:200],
            starts_at=(accepted.asked_at - run.started_at).total_seconds(),
            ends_at=(accepted.answered_at - run.started_at).total_seconds(),
            detail={"writer": accepted.writer, "target": target, "status": accepted.status, "clock": "the server's"},
        )
    return wire.FailoverAnswer(
        place=str(place),
        asked_at=accepted.asked_at.isoformat(),
        answered_at=accepted.answered_at.isoformat(),
        writer=accepted.writer,
        target=target,
        status=accepted.status,
    )
