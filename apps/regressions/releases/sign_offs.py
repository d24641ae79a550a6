"""Sign-offs: approval of a release on a hardware class by a person who saw its comparison."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils import timezone

from apps.accounts.models import User
from apps.catalog.models import HardwareClass, Release
from apps.core.audit.api import Action, record
from apps.core.problems import FieldProblem, Invalid
from apps.regressions.models import CheckedRelease, SignOff

LONGEST_NOTE = 2000


class ComparisonChanged(Invalid):
    """The comparison changed after it was read."""


@dataclass(frozen=True)
class SignedOff:
    """`answer`: the summary shown at that time. `is_current`: verdicts and findings are unchanged since."""

    id: int
    by: str
    at: datetime
    note: str
    answer: str
    seen: dict[str, Any]
    is_current: bool
    withdrawn_by: str
    withdrawn_at: datetime | None

    @property
    def stands(self) -> bool:
        return self.withdrawn_at is None


@transaction.atomic
def sign_off(
    *, release: Release, hardware_class: HardwareClass, by: User, note: str, seen: dict[str, Any], looked_at: str = ""
) -> SignOff:
    """`seen`: the content to be stored (stored_checks.seen). `looked_at`: fingerprint of what the person saw; empty:
    the current one. Raises ComparisonChanged if it is not current, Invalid if nothing was compared or it is signed off
    already.
    """
    kept = CheckedRelease.objects.select_for_update().filter(release=release, hardware_class=hardware_class).first()
    if kept is None:
        problem = f"{release} has not been compared on {hardware_class.name}"
        raise Invalid([FieldProblem("release", problem, "it is once runs of it are sealed")])
    if looked_at and looked_at != seen["fingerprint"]:
        problem = "the comparison has changed since you opened it"
        raise ComparisonChanged(
            [FieldProblem("fingerprint", problem, "reload the page, then sign off its current content")]
        )
    if len(note) > LONGEST_NOTE:
        raise Invalid([FieldProblem("note", f"has {len(note):,} characters", f"use at most {LONGEST_NOTE:,}")])
    standing = SignOff.objects.filter(release=release, hardware_class=hardware_class, by=by, withdrawn_at=None)
    if any(each.seen.get("fingerprint") == seen["fingerprint"] for each in standing):
        raise Invalid([FieldProblem("", "you have signed this off already", "withdraw the earlier sign-off first")])
    made = SignOff.objects.create(
        release=release, hardware_class=hardware_class, by=by, note=note.replace("\r\n", "\n").strip(), seen=seen
    )
    record(Action.SIGN_OFF_MAKE, f"{release} on {hardware_class.slug}", after=made.note)
    return made


@transaction.atomic
def withdraw(*, sign_off: int, by: User) -> bool:
    """False: it is withdrawn already, or does not exist."""
    found = SignOff.objects.filter(pk=sign_off, withdrawn_at=None)
    won = found.update(withdrawn_by=by, withdrawn_at=timezone.now()) == 1
    if won:
        record(Action.SIGN_OFF_WITHDRAW, f"sign-off {sign_off}")
    return won


def of_releases(places: Iterable[tuple[int, int, str]]) -> dict[tuple[int, int], list[SignedOff]]:
    """By release and hardware class (ids), the newest first. `places`: these ids, with the current fingerprint."""
    now = {(release, hardware): fingerprint for release, hardware, fingerprint in places}
    rows = SignOff.objects.filter(release__in={release for release, _ in now}).select_related("by", "withdrawn_by")
    found: dict[tuple[int, int], list[SignedOff]] = defaultdict(list)
    for row in rows:
        where = row.release_id, row.hardware_class_id
        if where in now:
            found[where].append(value_of(row, now[where]))
    return found


def value_of(row: SignOff, fingerprint: str) -> SignedOff:
    return SignedOff(
        id=row.pk,
        by=row.by.get_username(),
        at=row.at,
        note=row.note,
        answer=row.seen.get("answer", ""),
        seen=row.seen,
        is_current=row.seen.get("fingerprint") == fingerprint,
        withdrawn_by=row.withdrawn_by.get_username() if row.withdrawn_by else "",
        withdrawn_at=row.withdrawn_at,
    )
