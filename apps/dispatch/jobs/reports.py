"""What an agent reports at its start and every minute."""

from collections.abc import Sequence
from datetime import datetime

from apps.catalog.api import services as catalog
from apps.dispatch.jobs import bindings
from apps.dispatch.models import Agent
from workers.protocol import wire

SYSTEM = "system:"


def hello(*, agent: Agent, message: wire.HelloMessage, now: datetime) -> wire.HelloAnswer:
    """Record the agent's reachable systems and health; systems new to the catalog are registered.

    A system that the agent may not measure, or that cannot be registered, gets no jobs, and a warning is returned; the
    others are not affected.
    """
    admitted, warnings = bindings.admitted(agent, [described.slug for described in message.systems])
    reachable: list[str] = []
    for number, described in enumerate(message.systems):
        if described.slug not in admitted:
            continue
        try:
            registered = catalog.register_system(message=described, hardware=message.hardware)
        except catalog.InvalidField as error:
            warnings.append(f"systems[{number}].{error.field} {error.message}; {described.slug!r} gets no jobs")
        else:
            reachable.append(registered.system.slug)
            warnings += [*registered.notes, *registered.differences]
    Agent.objects.filter(pk=agent.pk).update(
        labels=_labels(message.labels, reachable),
        version=message.version[:40],
        health=message.health,
        last_seen_at=now,
    )
    return wire.HelloAnswer(agent=agent.name, warnings=warnings)


def withdraw(*, agent: Agent, version: str, now: datetime) -> None:
    """Match no job to an agent that could not claim it: without labels it reaches no system, until its next hello."""
    Agent.objects.filter(pk=agent.pk).update(labels=[], version=version[:40], last_seen_at=now)


def _labels(declared: Sequence[str], slugs: Sequence[str]) -> list[str]:
    """Declared labels, plus one for every reachable system; an agent cannot declare these itself."""
    own = {label for label in declared if not label.startswith(SYSTEM)}
    return sorted({*own, *(f"{SYSTEM}{slug}" for slug in slugs)})
