"""The stored last comparison of each release, read with the current state of findings, without statistics."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any

from django.db.models import QuerySet
from django.utils import timezone

from apps.comparison.pure import serialisation
from apps.core.answers import Hidden, Inline, Shown, component
from apps.core.canonical import canonical_hash
from apps.regressions.findings import reconcile
from apps.regressions.models import Change, CheckedRelease, Finding, Pending
from apps.regressions.releases.values import CheckRow, ReleaseCheck, Result, RowVerdict, answer

# Identity of a row and of a finding's change: both systems, workload, load level, metric.
Key = tuple[int | None, int, int, int, int]
IN_LISTS = ("platform", "release", "hardware", "baseline", "result", "summary", "why", "counts", "checked_at")
NOT_ACCEPTED: Mapping[str, Any] = {"accepted_until": None, "accepted_why": ""}


@component("CheckedRelease", "`result` and `counts` reflect current acceptances; the rows are in /release-checks/.")
@dataclass(frozen=True)
class StoredCheck:
    """`check` with the current states of findings, and its `result` by these. `platform_color`: place in the palette.
    `is_pending`: newer runs are not included yet."""

    id: Hidden[int]
    check: Annotated[ReleaseCheck, Inline(*IN_LISTS)]
    platform_color: Hidden[int | None]
    is_pending: Annotated[bool, "runs came that it does not know yet"]

    @property
    def fingerprint(self) -> Annotated[Shown[str], "another one: verdicts, or what is accepted, have changed"]:
        return fingerprint(self.check)


@dataclass(frozen=True)
class TrendStep:
    """A finding whose change in a trend has this verdict."""

    finding: int
    state: str
    verdict: str


def keep(check: ReleaseCheck) -> CheckedRelease:
    """Store in place of the previous one. Only for comparisons with the default baseline, not with one chosen by a
    person."""
    values = {
        "baseline_id": check.baseline_id,
        "result": check.result.value,
        "counts": check.counts,
        "told": serialisation.to_json(check),
        "checked_at": check.checked_at,
    }
    kept, _ = CheckedRelease.objects.update_or_create(
        release_id=check.release_id, hardware_class_id=check.hardware_id, defaults=values
    )
    return kept


def load(rows: "QuerySet[CheckedRelease]") -> list[StoredCheck]:
    """In the order of `rows`, in three queries. Rows in an older format are left out: they are compared again (see
    outdated)."""
    read = [(row, check) for row in rows.select_related("release__platform") if (check := _check(row)) is not None]
    checks = current([check for _, check in read])
    pending = set(
        Pending.objects.filter(release__in={row.release_id for row, _ in read}).values_list(
            "release_id", "hardware_class_id"
        )
    )
    return [
        StoredCheck(
            id=row.pk,
            check=check,
            platform_color=row.release.platform.color,
            is_pending=(row.release_id, row.hardware_class_id) in pending,
        )
        for (row, _), check in zip(read, checks, strict=True)
    ]


def current(checks: Sequence[ReleaseCheck]) -> list[ReleaseCheck]:
    """With the current states of findings, and the gate's result by these."""
    known = _changes(checks)
    updated = []
    for check in checks:
        rows = tuple(_current(row, known) for row in check.rows)
        result, why = answer(rows, baseline=check.baseline, tolerance=check.tolerance)
        updated.append(replace(check, rows=rows, result=result, why=why))
    return updated


def rows_of(changes: Iterable[Change]) -> dict[int, CheckRow]:
    """Change -> the row of its system, workload, load level and metric in the last comparison of its release. Three
    queries."""
    keys = {each: (each.system_id, each.workload_id, each.load_level_id, each.metric_id) for each in changes}
    systems = [each.system for each in keys]
    stored = CheckedRelease.objects.filter(
        release__in={each.release_id for each in systems},
        hardware_class__in={each.hardware_class_id for each in systems},
    )
    rows = [row for found in load(stored) for row in found.check.rows]
    known = {(row.system_id, row.workload_id, row.level_id, row.metric_id): row for row in rows}
    return {each.pk: known[key] for each, key in keys.items() if key in known}


def outdated() -> list[CheckedRelease]:
    """Rows stored in an older format."""
    return [row for row in CheckedRelease.objects.all() if _check(row) is None]


def steps(check: ReleaseCheck) -> dict[tuple[int | None, int, int, int], TrendStep]:
    """System, workload, load level and metric -> the finding of a step in the trend that begins with this system. It
    counts for no row: the rows compare releases. One query."""
    systems = {row.system_id for row in check.rows if row.system_id is not None}
    found = Change.objects.filter(kind=Change.Kind.HISTORY, system__in=systems, gone_at=None).select_related("finding")
    return {
        (each.system_id, each.workload_id, each.load_level_id or 0, each.metric_id or 0): TrendStep(
            each.finding_id, each.finding.state, each.verdict
        )
        for each in found.order_by("pk")
    }


def fingerprint(check: ReleaseCheck) -> str:
    """Changes with the verdicts, the margins and the acceptances, not with further runs alone."""
    rows = sorted(
        [
            row.baseline_system,
            row.system,
            str(row.workload_id),
            str(row.level_id),
            row.metric,
            serialisation.first_name(row.verdict.value),
            str(row.is_accepted),
            # Older ones had none.
            *([] if row.margin is None else [f"{row.margin:g}"]),
        ]
        for row in check.rows
    )
    return canonical_hash({"baseline": check.baseline, "rows": rows})[:16]


def seen(check: ReleaseCheck) -> dict[str, Any]:
    """What a person who signs the release off is shown; stored with the sign-off."""
    states = {row.finding: row.finding_state for row in check.rows if row.finding is not None}
    return {
        "fingerprint": fingerprint(check),
        "answer": f"{check.title}: {check.summary}",
        "result": check.result.value,
        "baseline": check.baseline,
        "counts": check.counts,
        "findings": [{"finding": finding, "state": state} for finding, state in sorted(states.items())],
        "checked_at": check.checked_at.isoformat(),
    }


def worst(results: Iterable[Result]) -> Result | None:
    """Worst result over several hardware classes; None: no results."""
    order = (Result.REGRESSION, Result.CANNOT_TELL, Result.FINE)
    return min(results, key=order.index, default=None)


def _check(row: CheckedRelease) -> ReleaseCheck | None:
    try:
        return serialisation.from_json(row.told, ReleaseCheck)
    except serialisation.Outdated:
        return None


def _changes(checks: Sequence[ReleaseCheck]) -> Mapping[Key, Change]:
    """The changes that hold, with their findings."""
    systems = {row.system_id for check in checks for row in check.rows if row.system_id is not None}
    changes = Change.objects.filter(kind=Change.Kind.RELEASE, system__in=systems, gone_at=None).select_related(
        "finding"
    )
    return {
        (
            each.system_id,
            each.baseline_system_id or 0,
            each.workload_id,
            each.load_level_id or 0,
            each.metric_id or 0,
        ): each
        for each in changes
    }


def _current(row: CheckRow, known: Mapping[Key, Change]) -> CheckRow:
    key = row.system_id, row.baseline_system_id, row.workload_id, row.level_id, row.metric_id
    change = known.get(key)
    if change is None:
        found: dict[str, Any] = {"finding": None, "finding_state": "", "is_accepted": False, **NOT_ACCEPTED}
    else:
        finding = change.finding
        until = finding.accepted_until if _covers(change, row) else None
        accepted = until is not None and until >= timezone.localdate()
        found = {"finding": finding.pk, "finding_state": finding.state, "is_accepted": accepted}
        found |= {"accepted_until": until, "accepted_why": finding.reason} if accepted else NOT_ACCEPTED
    return row if all(getattr(row, name) == value for name, value in found.items()) else replace(row, **found)


def _covers(change: Change, row: CheckRow) -> bool:
    """Whether the finding is accepted, and the row no worse than what was: the row may be newer than the change."""
    if change.finding.state != Finding.State.ACCEPTED:
        return False
    is_other = row.verdict is RowVerdict.WORSE and change.verdict != Change.Verdict.WORSE
    return not is_other and not reconcile.is_beyond(change.accepted_ratio, row)
