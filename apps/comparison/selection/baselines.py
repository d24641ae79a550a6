"""Pinned baselines: the default baseline of each workload's comparisons."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from django.db import transaction

from apps.accounts.models import User
from apps.catalog.models import System, Workload
from apps.comparison.models import PinnedBaseline
from apps.core.answers import Hidden
from apps.core.audit.api import Action, record
from apps.core.problems import FieldProblem, Invalid

LONGEST_NOTE = 2000


@dataclass(frozen=True)
class Pin:
    """`system`: slug; `by`: user who pinned it."""

    workload: Annotated[int, "id"]
    system: Annotated[str, "slug"]
    system_id: Hidden[int]
    system_name: str
    note: str
    by: str
    at: datetime


def pins(workloads: Iterable[int] | None = None) -> dict[int, Pin]:
    """Workload -> pinned baseline, if any; None: of all workloads. One query."""
    rows = PinnedBaseline.objects.select_related("system", "pinned_by")
    if workloads is not None:
        rows = rows.filter(workload__in=list(workloads))
    return {row.workload_id: _pin(row) for row in rows}


def first(sides: Sequence[str], pin: Pin | None) -> tuple[str, ...]:
    """`sides` with the pinned one first, as the baseline, if it is among them."""
    if pin is None or pin.system not in sides:
        return tuple(sides)
    return (pin.system, *(side for side in sides if side != pin.system))


def pin(*, workload: Workload, system: System, note: str, by: User) -> Pin:
    """Pin a baseline, replacing the previous one. Raises Invalid for an archived system."""
    errors = []
    if system.archived_at is not None:
        errors.append(FieldProblem("system", f"{system.name} is archived", "pin a system that is not archived"))
    if len(note) > LONGEST_NOTE:
        errors.append(FieldProblem("note", f"has {len(note):,} characters; at most {LONGEST_NOTE:,} are allowed"))
    if errors:
        raise Invalid(errors)
    with transaction.atomic():
        before = _pinned(workload)
        row, _ = PinnedBaseline.objects.update_or_create(
            workload=workload, defaults={"system": system, "note": note.strip(), "pinned_by": by}
        )
        record(Action.BASELINE_PIN, f"workload {workload.pk}", before=before, after=system.slug)
    return _pin(row)


@transaction.atomic
def unpin(*, workload: Workload) -> bool:
    """False: none was pinned."""
    before = _pinned(workload)
    deleted, _ = PinnedBaseline.objects.filter(workload=workload).delete()
    if deleted:
        record(Action.BASELINE_UNPIN, f"workload {workload.pk}", before=before)
    return deleted > 0


def _pinned(workload: Workload) -> str | None:
    return PinnedBaseline.objects.filter(workload=workload).values_list("system__slug", flat=True).first()


def _pin(row: PinnedBaseline) -> Pin:
    return Pin(
        workload=row.workload_id,
        system=row.system.slug,
        system_id=row.system_id,
        system_name=row.system.short_name,
        note=row.note,
        by=row.pinned_by.get_username(),
        at=row.pinned_at,
    )
