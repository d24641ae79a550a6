"""Merging and splitting findings: moves their changes, under the lock of reconcile."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.db.models import Max

from apps.accounts.models import User
from apps.core.problems import FieldProblem, Invalid
from apps.regressions.findings import effects, reconcile
from apps.regressions.findings.locking import changing, note
from apps.regressions.models import Change, Finding

State, Verdict = Finding.State, Finding.Verdict
_KEY = ("kind", "platform_id", "hardware_class_id", "release_id", "schedule_id", "family")
_COPIED = (*_KEY, "baseline_id", "state", "reason", "accepted_until", "owner_id", "due_on", "labels")


def merge(*, finding_id: int, into_id: int, by: User, seen: datetime | None = None) -> Finding:
    """Moves all changes of a finding into another and returns that; changes detected later for the first go there too.

    If the other is closed or accepted and this one is not, it becomes new: nobody has decided about these changes.
    Raises Invalid (`into`), and the errors of `changing` for either.
    """
    with changing(finding_id, seen) as finding, changing(into_id, None) as into:
        if into.pk == finding.pk:
            raise Invalid([FieldProblem("into", "is the finding itself", "choose another")])
        if (into.kind, into.platform_id) != (finding.kind, finding.platform_id):
            problem = f"finding {into.pk} is of another platform or kind"
            raise Invalid([FieldProblem("into", problem, "link them instead, or name it in a comment")])
        moved = list(finding.changes.order_by("id").values_list("id", flat=True))
        finding.changes.update(finding=into)
        finding.merged_into = into
        note(finding, by=by, what="merged", detail={"into": into.pk, "changes": moved})
        note(into, by=by, what="merged", detail={"from": finding.pk, "changes": moved})
        was_open = finding.state in reconcile.OPEN and finding.verdict != Verdict.GONE
        _summarise(finding)
        _summarise(into)
        if was_open and into.state not in reconcile.OPEN:
            note(into, by=by, what="reopened", detail={"from": into.state, "to": State.NEW.value})
            into.state, into.reason, into.accepted_until = State.NEW, "", None
    return into


def split(*, finding_id: int, change_ids: Sequence[int], by: User, seen: datetime | None = None) -> Finding:
    """Moves some changes, and those listed beneath them, into a new finding and returns it; state, owner, due date and
    labels are copied. Raises Invalid (`changes`)."""
    with changing(finding_id, seen) as finding:
        changes = _read(finding.changes)
        wanted = set(change_ids)
        if not wanted or wanted - {change.pk for change in changes}:
            raise Invalid([FieldProblem("changes", "are not all changes of this finding", "choose from its list")])
        wanted |= {pk for pk, speaker in effects.beneath(changes).items() if speaker in wanted}
        moved = [change for change in changes if change.pk in wanted]
        if len(moved) == len(changes):
            raise Invalid([FieldProblem("changes", "are all of them", "leave at least one in the finding")])
        made = Finding(**{name: getattr(finding, name) for name in _COPIED} | _place(moved))
        last = Finding.objects.filter(**_same(made)).aggregate(last=Max("part"))["last"]
        made.part = 0 if last is None else last + 1
        made.changed_at = finding.changed_at
        reconcile.summarise(made, moved)
        made.save()
        ids = [change.pk for change in moved]
        Change.objects.filter(pk__in=ids).update(finding=made)
        note(made, by=by, what="split", detail={"from": finding.pk, "changes": ids})
        note(finding, by=by, what="split", detail={"into": made.pk, "changes": ids})
        made.changed_at = made.notes.latest("id").at
        made.save(update_fields=["changed_at"])
        _summarise(finding)
        _ask_for_verification(finding)
    return made


def _read(changes: Any) -> list[Change]:
    related = ("metric", "workload", "load_level", "system__release", "baseline_system", "slot__schedule")
    return list(changes.select_related(*related).order_by("id"))


def _summarise(finding: Finding) -> None:
    """A finding without changes keeps its title."""
    changes = _read(finding.changes)
    if changes:
        reconcile.summarise(finding, changes)
    else:
        finding.verdict, finding.largest = Verdict.GONE, None


def _ask_for_verification(finding: Finding) -> None:
    """Ask for verification if all remaining changes are gone."""
    if finding.verdict == Verdict.GONE and finding.state in (*reconcile.OPEN, State.ACCEPTED):
        note(finding, by=None, what="state", detail={"from": finding.state, "to": State.VERIFY.value})
        finding.state = State.VERIFY


def _place(moved: Sequence[Change]) -> dict[str, Any]:
    """Key fields by the changes themselves, which may differ from those of the finding they were merged into."""
    systems = {(change.system.release, change.system.hardware_class_id, change.workload.tool) for change in moved}
    if len(systems) != 1 or any(change.kind == Change.Kind.MISSING for change in moved):
        return {}
    ((release, hardware_class, family),) = systems
    baselines = {change.baseline_system.release_id for change in moved if change.baseline_system}
    baseline = {"baseline_id": baselines.pop()} if len(baselines) == 1 else {}
    place = {"platform_id": release.platform_id, "hardware_class_id": hardware_class, "release_id": release.pk}
    return {**place, "family": family, **baseline}


def _same(finding: Finding) -> dict[str, Any]:
    """Filter for findings that differ only in `part`."""
    values = {name: getattr(finding, name) for name in _KEY}
    return {
        name if value is not None else f"{name}__isnull": value if value is not None else True
        for name, value in values.items()
    }
