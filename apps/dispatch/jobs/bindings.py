"""Which systems an agent may measure: an administrator decides, unless the agent is trusted."""

import logging
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from django.db import transaction

from apps.accounts.credentials import digest_of, new_secret
from apps.accounts.models import User
from apps.catalog.api import services as catalog
from apps.core.audit.api import Action, record
from apps.core.problems import FieldProblem, Invalid
from apps.core.server.repeated_warnings import RepeatedWarnings
from apps.core.text import counted
from apps.dispatch.jobs.agents import register_agent
from apps.dispatch.models import Agent, AgentSystem, Enrolment

log = logging.getLogger(__name__)
warnings = RepeatedWarnings(log)

CODE_LASTS = timedelta(hours=1)
# Undecided requests of one agent: more are not noted.
MOST_ASKED = 50
LONGEST_SLUG = 80
DECIDED = {None: "undecided", True: "allowed", False: "refused"}
NO_SLUG = "use letters, digits, '-', '_' and '.'"


def admitted(agent: Agent, slugs: Sequence[str]) -> tuple[set[str], list[str]]:
    """Those of `slugs` that the agent may measure, and a sentence for each other one, which is noted as asked for."""
    if agent.is_trusted:
        return set(slugs), []
    known = dict(AgentSystem.objects.filter(agent=agent).values_list("slug", "is_allowed"))
    allowed = {slug for slug in slugs if known.get(slug)}
    room = MOST_ASKED - sum(decided is None for decided in known.values())
    unknown = [slug for slug in dict.fromkeys(slugs) if slug not in known]
    new = [slug for slug in unknown if _is_slug(slug)][: max(room, 0)]
    AgentSystem.objects.bulk_create([AgentSystem(agent=agent, slug=slug) for slug in new], ignore_conflicts=True)
    if new:
        log.warning("agent %s asks for %s: an administrator decides on the Agents page", agent.name, ", ".join(new))
    if refused := [slug for slug in dict.fromkeys(slugs) if known.get(slug) is False]:
        warn = "agent %s asks again for %s, which an administrator refused"
        warnings.warn((agent.pk, "refused"), warn, agent.name, ", ".join(refused))
    if beyond := len(unknown) - len(new):
        warn = "agent %s asks for %s beyond the %d that may be undecided, or without a slug: not noted"
        warnings.warn((agent.pk, "beyond"), warn, agent.name, counted(beyond, "system"), MOST_ASKED)
    return allowed, [_refusal(agent, slug, known.get(slug)) for slug in dict.fromkeys(slugs) if slug not in allowed]


def _is_slug(text: str) -> bool:
    return len(text) <= LONGEST_SLUG and bool(catalog.SLUG.match(text))


def _refusal(agent: Agent, slug: str, decided: bool | None) -> str:
    if decided is False:
        return f"{slug!r} gets no jobs: an administrator refused it to this agent"
    return (
        f"{slug!r} gets no jobs until an administrator allows it to this agent: on the page Agents, or with "
        f"manage.py allow_system {agent.name} {slug}"
    )


@transaction.atomic
def decide(*, agent: str, slug: str, is_allowed: bool, by: User | None, now: datetime) -> None:
    """Allows or refuses a system to an agent, also before it asks; `by` None: on the command line. Raises Invalid."""
    found = Agent.objects.select_for_update().filter(name=agent).first()
    if found is None:
        raise Invalid([FieldProblem("agent", f"there is no agent {agent[:80]!r}", "names are on the page Agents")])
    if not _is_slug(slug):
        raise Invalid([FieldProblem("system", f"{slug[:80]!r} is no slug", NO_SLUG)])
    decision = {"is_allowed": is_allowed, "decided_by": by, "decided_at": now}
    known = AgentSystem.objects.filter(agent=found, slug=slug).values_list("is_allowed", flat=True).first()
    AgentSystem.objects.update_or_create(agent=found, slug=slug, defaults=decision)
    subject = f"agent {agent}, system {slug}"
    record(Action.AGENT_SYSTEM, subject, before=DECIDED[known], after=DECIDED[is_allowed])
    if not is_allowed and f"system:{slug}" in found.labels:
        # It gets no further job; one that it holds goes on, and can be cancelled.
        found.labels = [label for label in found.labels if label != f"system:{slug}"]
        found.save(update_fields=["labels"])
    who = by.username if by else "the command line"
    log.info("%s %s agent %s the system %s", who, "allows" if is_allowed else "refuses", agent, slug)


# ---------------------------------------------------------------- enrolment


def make_enrolment(*, systems: Iterable[str], by: User, now: datetime) -> str:
    """The one-time code of a new agent that may measure `systems` (slugs, which need not exist). Raises Invalid."""
    slugs = list(dict.fromkeys(systems))
    wrong = [slug for slug in slugs if not _is_slug(slug)]
    if wrong:
        raise Invalid([FieldProblem("systems", f"{wrong[0][:80]!r} is no slug", NO_SLUG)])
    if len(slugs) > MOST_ASKED:
        raise Invalid([FieldProblem("systems", f"names {counted(len(slugs), 'system')}", f"name at most {MOST_ASKED}")])
    code = new_secret()
    with transaction.atomic():
        made = Enrolment.objects.create(digest=digest_of(code), systems=slugs, made_by=by, expires_at=now + CODE_LASTS)
        record(Action.ENROLMENT_MAKE, f"enrolment {made.pk}", after=", ".join(slugs))
    return code


@transaction.atomic
def enrol(*, code: str, name: str, now: datetime) -> tuple[Agent, str] | None:
    """The new agent and its secret. None: the code is unknown, used or expired. Raises Invalid for the name; the code
    can then be used again."""
    open_codes = Enrolment.objects.select_for_update().filter(digest=digest_of(code), used_at=None, expires_at__gt=now)
    enrolment = open_codes.first()
    if enrolment is None:
        return None
    agent, secret = register_agent(name=name)
    enrolment.used_at, enrolment.agent = now, agent
    enrolment.save(update_fields=["used_at", "agent"])
    decision = {"is_allowed": True, "decided_by": enrolment.made_by, "decided_at": now}
    AgentSystem.objects.bulk_create([AgentSystem(agent=agent, slug=slug, **decision) for slug in enrolment.systems])
    record(Action.AGENT_ENROL, f"agent {agent.name}", after=f"enrolment {enrolment.pk} of {enrolment.made_by.username}")
    log.info("agent %s enrolled with a code of %s", agent.name, enrolment.made_by.username)
    return agent, secret
