"""Identity of the catalog's systems: their labels, their short names, and what is no longer the same system."""

import re
from collections.abc import Iterable, Sequence

from django.db import connection, transaction

from apps.catalog.models import System
from apps.catalog.short_names import LONGEST, Traits, short_name
from apps.core.audit.api import Action, record
from apps.core.problems import FieldProblem, Invalid
from workers.protocol.wire import SystemMessage

# Key of PostgreSQL's advisory lock, unique to this module: names are unique over all systems.
LOCK = 0x53484F5254
OF_SYSTEM = "system:"
NUMBER = re.compile(r"\d+(?:\.\d+)+")
# Behind MySQL's version.
AURORA = re.compile(r"Aurora (\d+(?:\.\d+)+)")


def labels_of(slug: str, further: Iterable[str] = ()) -> list[str]:
    """Labels required of an agent that serves the system: its own, never another system's, and `further` ones."""
    return [f"{OF_SYSTEM}{slug}", *(label for label in further if not label.startswith(OF_SYSTEM))]


def contradiction(system: System, message: SystemMessage) -> str:
    """Why runs of the described server would count as another release or other hardware than theirs; empty: they would
    not. Builds of one release number are one release."""
    release, hardware = system.release, system.hardware_class.slug
    platform = release.platform
    if message.platform.lower() not in (platform.slug, platform.name.lower()):
        differing = "platform", platform.slug, message.platform
    elif not _is_same_number(release.version, message.version):
        differing = "release", release.version, message.version
    elif message.hardware_class != hardware:
        differing = "hardware class", hardware, message.hardware_class
    else:
        return ""
    what, known, found = differing
    remedy = "give the changed system a slug of its own, in its agent's file and in plans (docs/howto/agent.md)"
    return f"its {what} is {found!r}, but runs under its slug count as {known!r}: {remedy}"


def _is_same_number(known: str, found: str) -> bool:
    """Of versions: one of them may leave out the last parts, or state no number."""
    pairs = zip(_numbers(known), _numbers(found), strict=True)
    return all(one[: len(other)] == other[: len(one)] for one, other in pairs)


def _numbers(version: str) -> tuple[list[str], list[str]]:
    """Parts of the release's number, and of Aurora's."""
    own, aurora = NUMBER.search(version), AURORA.search(version)
    return own[0].split(".") if own else [], aurora[1].split(".") if aurora else []


@transaction.atomic
def new_short_name(system: System, roles: Sequence[str]) -> str:
    """For a system that is stored in the same transaction, with nodes of these roles."""
    _lock()
    others = System.objects.filter(release__platform=system.release.platform)
    others = others.select_related("release__platform", "hardware_class").prefetch_related("nodes")
    return short_name(
        _traits(system, roles),
        others=[_traits(each, [node.role for node in each.nodes.all()]) for each in others],
        taken=list(System.objects.values_list("short_name", flat=True)),
    )


def _traits(system: System, roles: Sequence[str]) -> Traits:
    platform = system.release.platform
    return Traits(
        slug=system.slug,
        name=system.name,
        platform_slug=platform.slug,
        platform=platform.name,
        version=system.release.version,
        hardware=system.hardware_class.slug,
        settings=system.settings,
        roles=roles,
    )


@transaction.atomic
def set_short_name(*, slug: str, text: str) -> bool:
    """False for an unknown system. Raises Invalid for the field `short_name`."""
    _lock()
    text = " ".join(text.split())
    problem = None
    if not text:
        problem = FieldProblem("short_name", "is empty", f"use 1 to {LONGEST} characters")
    elif len(text) > LONGEST:
        problem = FieldProblem("short_name", f"has {len(text):,} characters", f"at most {LONGEST} are allowed")
    elif not text.isprintable():
        problem = FieldProblem("short_name", "has an unprintable character", "use plain text")
    elif other := System.objects.filter(short_name__iexact=text).exclude(slug=slug).first():
        problem = FieldProblem("short_name", f"is the short name of {other.name}", "choose another one")
    if problem:
        raise Invalid([problem])
    found = System.objects.filter(slug=slug).first()
    if found is None:
        return False
    record(Action.SHORT_NAME_SET, f"system {slug}", before=found.short_name, after=text)
    found.short_name = text
    found.save(update_fields=["short_name"])
    return True


def _lock() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [LOCK])
