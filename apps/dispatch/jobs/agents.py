"""Agents: how they are registered, recognised, and what they say of themselves."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from django.db import IntegrityError, connection, transaction

from apps.accounts.credentials import digest_of, new_secret
from apps.catalog.api import services as catalog
from apps.core.problems import FieldProblem, Invalid
from apps.dispatch.models import Agent
from apps.runs.api import binary_cursor
from workers.protocol import wire

# Agents ask for work every few seconds; whoever was silent this long gets no new job.
AGENT_ALIVE_FOR = timedelta(seconds=30)
# An agent speaks several times a second while it uploads: that must not cost a write each.
SEEN_WRITTEN_EVERY = timedelta(seconds=10)

# Every request of an agent asks for it.
_AGENT = """
WITH agent AS (
  SELECT id, name, last_seen_at FROM dispatch_agent WHERE digest = %(digest)s AND revoked_at IS NULL
),
seen AS (
  UPDATE dispatch_agent SET last_seen_at = %(now)s FROM agent
  WHERE dispatch_agent.id = agent.id AND coalesce(agent.last_seen_at < %(written_before)s, true)
)
SELECT id, name FROM agent
"""


def register_agent(*, name: str) -> tuple[Agent, str]:
    """The agent and its secret, which cannot be read again. Raises Invalid when the name is taken or no slug."""
    agent, secret = Agent(name=name), new_secret()
    agent.digest = digest_of(secret)
    if not name or any(not (c.isascii() and c.isalnum()) and c not in "-_" for c in name):
        raise _refused_name(f"{name!r} is no name for an agent", "use letters, digits, '-' and '_'")
    try:
        with transaction.atomic():
            agent.save(force_insert=True)
    except IntegrityError as error:
        raise _refused_name(
            f"there is an agent {name!r} already", "choose another name, or --rotate its secret"
        ) from error
    return agent, secret


def rotate_agent(*, name: str) -> tuple[Agent, str]:
    """A new secret for a known agent; the old one stops working and a revoked agent is let in again.

    Raises Invalid when there is no such agent.
    """
    secret = new_secret()
    if not Agent.objects.filter(name=name).update(digest=digest_of(secret), revoked_at=None):
        raise _refused_name(f"there is no agent {name!r}", "register it without --rotate")
    return Agent.objects.get(name=name), secret


def revoke_agent(*, name: str, now: datetime) -> bool:
    """Lets the agent in no more; what it was doing goes back to the queue when its lease runs out.

    False: it was revoked before. Raises Invalid when there is no such agent.
    """
    if Agent.objects.filter(name=name, revoked_at=None).update(revoked_at=now):
        return True
    if not Agent.objects.filter(name=name).exists():
        raise _refused_name(f"there is no agent {name!r}", "see its name on the page of the agents")
    return False


def _refused_name(message: str, remedy: str) -> Invalid:
    return Invalid([FieldProblem(field="name", message=message, remedy=remedy)])


def agent_of_secret(*, secret: str, now: datetime) -> Agent | None:
    """Who has this secret, noted as seen; None when nobody has it or it was revoked.

    Of the agent, `name` is read; Django fetches more when it is asked for.
    """
    asked = {"digest": digest_of(secret), "now": now, "written_before": now - SEEN_WRITTEN_EVERY}
    found = binary_cursor.fetch(_AGENT, asked, prepare=True)
    return Agent.from_db(connection.alias, ("id", "name"), found[0]) if found else None


def hello(*, agent: Agent, message: wire.HelloMessage, now: datetime) -> wire.HelloAnswer:
    """Notes what the agent can reach and how it fares; the catalog learns systems it did not know.

    A system that cannot be registered is told in a warning and gets no jobs; the others are not held up by it.
    """
    warnings: list[str] = []
    reachable: list[str] = []
    for number, described in enumerate(message.systems):
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


def _labels(declared: Sequence[str], slugs: Sequence[str]) -> list[str]:
    """An agent may serve every system that it can reach."""
    return sorted({*declared, *(f"system:{slug}" for slug in slugs)})
