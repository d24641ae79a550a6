"""Agents: registration, authentication, and the state that they report."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from django.db import IntegrityError, connection, transaction

from apps.accounts.credentials import digest_of, new_secret
from apps.catalog.models import System
from apps.core import binary_cursor
from apps.core.audit.api import Action, record
from apps.core.problems import FieldProblem, Invalid
from apps.dispatch.models import Agent

# Agents ask for work every few seconds; after this long without a request an agent gets no new job.
AGENT_ALIVE_FOR = timedelta(seconds=30)
# During uploads an agent sends several requests a second; not each should cost a write.
SEEN_WRITTEN_EVERY = timedelta(seconds=10)

# Executed on every request of an agent.
_AGENT = """
WITH agent AS (
  SELECT id, name, last_seen_at FROM dispatch_agent WHERE digest = %(digest)s AND revoked_at IS NULL
),
seen AS (
  UPDATE dispatch_agent SET last_seen_at = %(now)s FROM agent
  WHERE dispatch_agent.id = agent.id
    -- Later than now: the clock was set back.
    AND coalesce(agent.last_seen_at < %(written_before)s OR agent.last_seen_at > %(now)s, true)
)
SELECT id, name FROM agent
"""


def register_agent(*, name: str, is_trusted: bool = False) -> tuple[Agent, str]:
    """The agent and its secret, which is shown only once. Raises Invalid when the name is taken or not a slug."""
    agent, secret = Agent(name=name, is_trusted=is_trusted), new_secret()
    agent.digest = digest_of(secret)
    if not name or any(not (c.isascii() and c.isalnum()) and c not in "-_" for c in name):
        raise _refused_name(f"{name!r} is not an agent's name", "use letters, digits, '-' and '_'")
    try:
        with transaction.atomic():
            agent.save(force_insert=True)
            record(Action.AGENT_REGISTER, f"agent {name}", after="trusted" if is_trusted else "")
    except IntegrityError as error:
        raise _refused_name(f"agent {name!r} already exists", "choose another name, or --rotate its secret") from error
    return agent, secret


@transaction.atomic
def rotate_agent(*, name: str) -> tuple[Agent, str]:
    """Replace an agent's secret; the old one stops working, and a revoked agent is re-admitted.

    Raises Invalid when there is no such agent.
    """
    secret = new_secret()
    if not Agent.objects.filter(name=name).update(digest=digest_of(secret), revoked_at=None):
        raise _refused_name(f"there is no agent {name!r}", "register it without --rotate")
    record(Action.AGENT_ROTATE, f"agent {name}")
    return Agent.objects.get(name=name), secret


@transaction.atomic
def revoke_agent(*, name: str, now: datetime) -> bool:
    """Revoke an agent's access; its job returns to the queue when the lease expires.

    False: it was already revoked. Raises Invalid when there is no such agent.
    """
    if Agent.objects.filter(name=name, revoked_at=None).update(revoked_at=now):
        record(Action.AGENT_REVOKE, f"agent {name}")
        return True
    if not Agent.objects.filter(name=name).exists():
        raise _refused_name(f"there is no agent {name!r}", "names are on the Agents page")
    return False


def _refused_name(message: str, remedy: str) -> Invalid:
    return Invalid([FieldProblem(field="name", message=message, remedy=remedy)])


def restarts(agent: Agent) -> frozenset[str]:
    """Slugs of the systems whose servers the agent can start anew, by its last hello."""
    stated = agent.health.get("restarts")
    listed = stated if isinstance(stated, list) else []
    return frozenset(slug for slug in listed if isinstance(slug, str) and f"system:{slug}" in agent.labels)


def never_restarted(systems: Sequence[System]) -> list[System]:
    """Those that agents reach, none of which can start them anew; of one that no agent reached yet, nothing is known.
    One query."""
    agents = list(Agent.objects.filter(revoked_at=None).only("labels", "health"))
    able = frozenset[str]().union(*map(restarts, agents))
    reached = {label for agent in agents for label in agent.labels}
    return [system for system in systems if f"system:{system.slug}" in reached and system.slug not in able]


def agent_of_secret(*, secret: str, now: datetime) -> Agent | None:
    """The agent with this secret, recorded as seen; None if there is none or it was revoked.

    Only `id` and `name` are loaded; Django fetches other fields on access.
    """
    asked = {"digest": digest_of(secret), "now": now, "written_before": now - SEEN_WRITTEN_EVERY}
    found = binary_cursor.fetch(_AGENT, asked, prepare=True)
    return Agent.from_db(connection.alias, ("id", "name"), found[0]) if found else None
