"""Findings as frozen values for pages and API, read in a constant number of queries."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from django.db.models import Count, OuterRef, Prefetch, QuerySet, Subquery

from apps.accounts.models import User
from apps.core.problems import Invalid
from apps.dispatch.api import progress
from apps.dispatch.models import Campaign, Entry
from apps.regressions.findings import activity, effects, filters, titles
from apps.regressions.findings.filters import FindingFilter, FindingPlace
from apps.regressions.findings.reconcile import OPEN
from apps.regressions.findings.states import NEXT, may_accept, may_reopen
from apps.regressions.findings.values import (
    ChangeRow,
    FindingDetail,
    FindingRow,
    LinkRow,
    MetricShown,
    NamedSubject,
    NoteRow,
    RepetitionRow,
)
from apps.regressions.models import Change, Finding, Note, Repetition

__all__ = [
    "ChangeRow",
    "FindingDetail",
    "FindingFilter",
    "FindingPlace",
    "FindingRow",
    "count_by_state",
    "count_open",
    "list_findings",
    "load_finding",
    "load_rows",
    "neighbours",
    "place_of",
]
_RELATED = ("workload", "load_level", "metric", "system", "baseline_system")


def list_findings(
    wanted: FindingFilter, *, me: User | None = None, limit: int = 50, after: FindingPlace | None = None
) -> list[FindingRow]:
    """In the order of `wanted.sort`. `after`: of the last finding of the previous page. Raises Invalid if nothing
    matches because the filter names something that does not exist."""
    found = filters.with_key(filters.matching(wanted, me=me), wanted.sort)
    if after is not None:
        found = filters.behind(found, after)
    rows = _rows(found[:limit])
    if not rows and after is None and (problems := filters.unknown(wanted)):
        raise Invalid(problems)
    return rows


def place_of(row: FindingRow, sort: str) -> FindingPlace:
    """As the row was read: the finding may have another place by the time that the next page is."""
    if sort == "newest":
        return FindingPlace(row.id, row.id)
    if sort == "changed":
        return FindingPlace(row.changed_at, row.id)
    return FindingPlace(filters.RANKS.get(row.verdict, 0.0) + (row.largest or 0.0), row.id)


def neighbours(finding_id: int, wanted: FindingFilter, *, me: User | None = None) -> tuple[int | None, int | None]:
    """Ids of the findings before and after this one in a list, even if it no longer matches; None: none there."""
    own: Any = filters.with_key(Finding.objects.filter(pk=finding_id), wanted.sort).first()
    if own is None:
        return None, None
    here = FindingPlace(own.key, own.pk)
    found = filters.with_key(filters.matching(wanted, me=me), wanted.sort)
    before = filters.ahead(found, here).values_list("id", flat=True).first()
    return before, filters.behind(found, here).values_list("id", flat=True).first()


def count_by_state(wanted: FindingFilter, *, me: User | None = None) -> dict[str, int]:
    """Number of matching findings by state; the filter's own `state` is ignored."""
    found = filters.matching(filters.without_state(wanted), me=me)
    counted = dict(found.values_list("state").annotate(number=Count("pk")))
    return {state: counted.get(state, 0) for state in filters.STATES}


def count_open() -> int:
    return Finding.objects.filter(state__in=OPEN, merged_into=None).count()


def load_rows(finding_ids: Iterable[int]) -> dict[int, FindingRow]:
    """By id, including merged ones."""
    return {row.id: row for row in _rows(Finding.objects.filter(pk__in=list(finding_ids)))}


def load_finding(finding_id: int, *, now: datetime) -> FindingDetail | None:
    """None: there is no such finding. A merged one has no changes left: they belong to `row.merged_into`."""
    finding = _with_everything(Finding.objects.filter(pk=finding_id)).first()
    if finding is None:
        return None
    notes = finding.notes.select_related("by").prefetch_related("mentions")
    return FindingDetail(
        row=_row(finding),
        changes=_changes(finding.changes.all()),
        notes=tuple(note_row(note) for note in notes),
        links=tuple(
            LinkRow(link.pk, link.url, link.title, link.by.username, link.at)
            for link in finding.links.select_related("by")
        ),
        repetitions=_repetitions(finding, now=now),
        merged=tuple(
            NamedSubject(pk, "", title) for pk, title in finding.merged.order_by("id").values_list("id", "title")
        ),
        next_states=NEXT[finding.state] if finding.merged_into_id is None else (),
        may_accept=finding.merged_into_id is None and may_accept(finding.state),
        may_reopen=finding.merged_into_id is None and may_reopen(finding.state),
    )


def note_row(note: Note) -> NoteRow:
    by = note.by.username if note.by else ""
    return NoteRow(
        id=note.pk,
        what=note.what,
        by=by,
        at=note.at,
        text=note.text,
        detail=note.detail,
        mentions=tuple(sorted(user.username for user in note.mentions.all())),
        sentence=activity.sentence(what=note.what, by=by, text=note.text, detail=note.detail),
    )


def _with_everything(found: "QuerySet[Finding]") -> "QuerySet[Finding]":
    return (
        found.select_related(
            "platform", "hardware_class", "release__platform", "baseline__platform", "schedule", "owner"
        )
        .annotate(last_note=Subquery(Note.objects.filter(finding=OuterRef("pk")).order_by("-id").values("at")[:1]))
        .prefetch_related(Prefetch("changes", Change.objects.select_related(*_RELATED).order_by("id")))
    )


def _rows(found: "QuerySet[Finding]") -> list[FindingRow]:
    findings = list(_with_everything(found))
    notes = Note.objects.filter(finding__in=findings, what="comment").order_by()
    comments = dict(notes.values_list("finding").annotate(number=Count("pk")))
    return [_row(finding, comments) for finding in findings]


def _row(finding: Finding, comments: Mapping[int, int] | None = None) -> FindingRow:
    changes = effects.counted(finding.changes.all())
    holding = [change for change in changes if change.gone_at is None]
    return FindingRow(
        id=finding.pk,
        kind=finding.kind,
        title=finding.title,
        platform=_named(finding.platform, "slug"),
        hardware_class=_named(finding.hardware_class, "slug"),
        release=_named(finding.release, "version"),
        baseline=_named(finding.baseline, "version"),
        schedule=_named(finding.schedule),
        family=finding.family,
        part=finding.part,
        verdict=finding.verdict,
        state=finding.state,
        largest=finding.largest,
        shown=_shown(holding or changes),
        changes=len(changes),
        holding=len(holding),
        reason=finding.reason,
        accepted_until=finding.accepted_until,
        owner=finding.owner.username if finding.owner else "",
        due_on=finding.due_on,
        labels=tuple(finding.labels),
        comments=(finding.notes.filter(what="comment").count() if comments is None else comments.get(finding.pk, 0)),
        merged_into=finding.merged_into_id,
        seen=(getattr(finding, "last_note", None) or finding.changed_at).isoformat(),
        found_at=finding.found_at,
        changed_at=finding.changed_at,
    )


def _shown(changes: Sequence[Change]) -> ChangeRow | None:
    return _change(max(changes, key=_rank)) if changes else None


def _rank(change: Change) -> tuple[bool, bool, tuple[bool, float]]:
    """Current before gone, worse before better, then as in the title."""
    return change.gone_at is None, change.verdict != Change.Verdict.BETTER, titles.prominence(change)


def _changes(changes: Iterable[Change]) -> tuple[ChangeRow, ...]:
    """Ranked, each followed by the changes listed beneath it."""
    ranked = sorted(changes, key=_rank, reverse=True)
    beneath = effects.beneath(ranked)
    speaking = {change.pk: place for place, change in enumerate(ranked)}

    def place(change: Change) -> tuple[int, bool]:
        return speaking[beneath.get(change.pk, change.pk)], change.pk in beneath

    return tuple(_change(change, beneath.get(change.pk)) for change in sorted(ranked, key=place))


def _change(change: Change, beneath: int | None = None) -> ChangeRow:
    metric, level, baseline = change.metric, change.load_level, change.baseline_system
    return ChangeRow(
        id=change.pk,
        kind=change.kind,
        verdict=change.verdict,
        workload=NamedSubject(change.workload_id, "", change.workload.name),
        tool=change.workload.tool,
        load_level=str(level) if level else "all load levels",
        load_level_id=change.load_level_id,
        metric=MetricShown(metric.key, metric.name, metric.unit, metric.direction) if metric else None,
        system=NamedSubject(change.system_id, change.system.slug, change.system.short_name),
        baseline=NamedSubject(baseline.pk, baseline.slug, baseline.short_name) if baseline else None,
        history=change.history_id,
        first_run=change.first_run_id,
        slot=change.slot_id,
        before=change.before,
        after=change.after,
        ratio=change.ratio,
        low=change.low,
        high=change.high,
        p=change.p,
        runs_before=tuple(change.runs_before),
        runs_after=tuple(change.runs_after),
        reason=change.reason,
        found_at=change.found_at,
        judged_at=change.judged_at,
        gone_at=change.gone_at,
        beneath=beneath,
    )


def _named(thing: Any, slug: str = "") -> NamedSubject | None:
    """For a release, the version is the slug."""
    return NamedSubject(thing.pk, str(getattr(thing, slug)) if slug else "", str(thing)) if thing else None


def _repetitions(finding: Finding, *, now: datetime) -> tuple[RepetitionRow, ...]:
    asked = list(Repetition.objects.filter(finding=finding).select_related("asked_by"))
    campaigns = Campaign.objects.prefetch_related(
        Prefetch("entries", Entry.objects.prefetch_related("load_levels"))
    ).in_bulk([each.campaign_id for each in asked])
    counted = progress.count(list(campaigns), unreachable={}) if campaigns else progress.Counts()
    return tuple(
        RepetitionRow(
            campaign=each.campaign_id,
            name=campaigns[each.campaign_id].name,
            asked_by=each.asked_by.username,
            asked_at=each.asked_at,
            progress=progress.of(
                campaigns[each.campaign_id], list(campaigns[each.campaign_id].entries.all()), counted, now=now
            ),
        )
        for each in asked
    )
