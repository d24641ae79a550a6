"""What an agent reports at its start and every minute."""

from collections.abc import Iterable, Sequence
from datetime import datetime

from django.db import DataError, IntegrityError

from apps.catalog.api import contradiction
from apps.catalog.api import services as catalog
from apps.core import limits
from apps.dispatch.jobs import bindings
from apps.dispatch.models import Agent
from workers.protocol import wire

SYSTEM = "system:"
LABEL_LIMIT = 100  # characters
# Systems without jobs that are kept with their reasons, and characters of a reason.
MOST_REFUSED, LONGEST_REASON = 50, 500


def hello(*, agent: Agent, message: wire.HelloMessage, now: datetime) -> wire.HelloAnswer:
    """Record the agent's reachable systems and health; systems new to the catalog are registered.

    A system that the agent may not measure, that cannot be registered, or that is another release or on other hardware
    than the catalog has under its slug, gets no jobs, and a warning is returned; the others are not affected.
    """
    admitted, warnings = bindings.admitted(agent, [described.slug for described in message.systems])
    reachable: list[str] = []
    refused: dict[str, str] = {}
    for number, described in enumerate(message.systems):
        if described.slug not in admitted:
            continue
        try:
            registered = catalog.register_system(message=described, hardware=message.hardware)
        except catalog.InvalidField as error:
            refused[described.slug] = f"systems[{number}].{error.field} {error.message}"
        except (DataError, IntegrityError) as error:  # a name that is too long, a number that is too large
            reason = str(error).partition("\n")[0]
            refused[described.slug] = f"systems[{number}] cannot be stored ({reason})"
        else:
            warnings += [*registered.notes, *registered.differences]
            if why := contradiction(registered.system, described):
                refused[described.slug] = why
            else:
                reachable.append(registered.system.slug)
    warnings += [f"{reason}; {slug!r} gets no jobs" for slug, reason in refused.items()]
    long = [label for label in message.labels if len(label) > LABEL_LIMIT]
    warnings += [f"the label {label[:40]!r}… has more than {LABEL_LIMIT} characters: it is left out" for label in long]
    health = message.health
    if len(wire.to_json(health)) > limits.HEALTH:
        health = {}
        warnings.append(f"health has more than {limits.HEALTH:,} bytes: it is left out")
    Agent.objects.filter(pk=agent.pk).update(
        labels=_labels(set(message.labels).difference(long), reachable),
        version=message.version[:40],
        refused_systems={slug[:80]: refused[slug][:LONGEST_REASON] for slug in list(refused)[:MOST_REFUSED]},
        health=health,
        last_seen_at=now,
    )
    return wire.HelloAnswer(agent=agent.name, warnings=warnings)


def withdraw(*, agent: Agent, version: str, now: datetime) -> None:
    """Match no job to an agent that could not claim it: without labels it reaches no system, until its next hello."""
    Agent.objects.filter(pk=agent.pk).update(labels=[], version=version[:40], last_seen_at=now)


def _labels(declared: Iterable[str], slugs: Sequence[str]) -> list[str]:
    """Declared labels, plus one for every reachable system; an agent cannot declare these itself."""
    own = {label for label in declared if not label.startswith(SYSTEM)}
    return sorted({*own, *(f"{SYSTEM}{slug}" for slug in slugs)})
