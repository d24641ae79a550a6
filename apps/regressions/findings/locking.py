"""How a person's action changes a finding: under a lock, if nothing changed since the person saw it, and noted."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone

from apps.accounts.models import User
from apps.core.audit.api import Action, record
from apps.core.problems import FieldProblem, Invalid
from apps.regressions.findings import activity, reconcile
from apps.regressions.models import Finding, Note

LONGEST_REASON = 2000
CLOCKS_APART = timedelta(minutes=5)
# Actions of others that do not affect a decision.
HARMLESS = ("comment", "link", "unlink")


class NoSuchFinding(LookupError):
    """There is no such finding, or no such change or link in it."""


class FindingChanged(Exception):
    """Another user was faster: `since` lists the activity since the caller saw the finding, as sentences."""

    def __init__(self, *, finding: Finding, since: Sequence[str]) -> None:
        self.finding = finding
        self.since = tuple(since)
        text = "; ".join(self.since) or "it was changed"
        super().__init__(f"Finding {finding.pk} has changed since you saw it: {text}. Look at it and decide again.")


@contextmanager
def changing(finding_id: int, seen: datetime | None) -> Iterator[Finding]:
    """Locks the finding; an action's notes are saved with it.

    Raises NoSuchFinding, FindingChanged, and Invalid (`finding`) for one that was merged into another.
    """
    with transaction.atomic():
        reconcile.lock()
        finding = Finding.objects.select_related("owner").filter(pk=finding_id).first()
        if finding is None:
            raise NoSuchFinding(f"There is no finding {finding_id}.")
        check_seen(finding, seen)
        if finding.merged_into_id is not None:
            remedy = f"go to finding {reconcile.merge_target(finding).pk}"
            raise Invalid([FieldProblem("finding", f"it was merged into finding {finding.merged_into_id}", remedy)])
        noted = last_note(finding)
        yield finding
        if last_note(finding) != noted:
            finding.changed_at = timezone.now()
            finding.save()


def check_seen(finding: Finding, seen: datetime | None) -> None:
    """Raises FindingChanged if there was activity since `seen` that affects a decision, Invalid (`seen`) for a time in
    the future."""
    if seen is None:
        return
    if seen > timezone.now() + CLOCKS_APART:
        raise Invalid([FieldProblem("seen", "is in the future", "send it unchanged from the finding's response")])
    since = finding.notes.filter(at__gt=seen).exclude(what__in=HARMLESS).select_related("by")
    sentences = [
        activity.sentence(what=each.what, by=each.by.username if each.by else "", text=each.text, detail=each.detail)
        for each in since
    ]
    if sentences:
        raise FindingChanged(finding=finding, since=sentences)


def last_note(finding: Finding) -> int | None:
    return finding.notes.order_by("-id").values_list("id", flat=True).first()


def note(finding: Finding, *, by: User | None, what: str, detail: Mapping[str, Any], text: str = "") -> Note:
    """`by` None: the server's own, which the audit log does not have."""
    if by is not None:
        before, after = detail.get("from", ""), detail.get("to", detail.get("into", ""))
        record(
            Action(f"finding.{what}"),
            f"finding {finding.pk}",
            before=_words(before),
            after=_words(after) or text or detail.get("url"),
        )
    return Note.objects.create(finding=finding, what=what, by=by, text=text, detail=detail)


def _words(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def text_of(field: str, given: str, *, longest: int, needed: bool, problems: list[FieldProblem] | None = None) -> str:
    text = given.strip()
    found = None
    if needed and not text:
        found = FieldProblem(field, "is empty", "use a few words")
    elif len(text) > longest or "\0" in text:
        found = FieldProblem(field, "is too long or has NUL", f"use at most {longest:,} characters")
    if found is not None:
        if problems is None:
            raise Invalid([found])
        problems.append(found)
    return text
