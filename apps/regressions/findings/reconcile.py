"""Detected changes are stored as findings: known changes are updated in place, changes no longer detected are gone,
related changes form one finding.

Runs under one lock, so that two workers with the same runs do not create duplicates.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from django.db import connection, transaction
from django.db.models import Q
from django.utils import timezone

from apps.catalog.models import HardwareClass, Metric, Platform, Release, Workload
from apps.comparison.pure import MARGIN
from apps.dispatch.models import Schedule
from apps.regressions.findings import effects, titles
from apps.regressions.models import Change, Finding, Note

# Key of PostgreSQL's advisory lock, unique to this module.
LOCK = 7_305_001
State, Verdict = Finding.State, Finding.Verdict
OPEN = (State.NEW, State.UNDER_REVIEW, State.CONFIRMED)
CLOSED = (State.FIXED, State.NOT_REPRODUCIBLE)
# States in which people have decided on a size: growth beyond it is reported.
DECIDED = (State.CONFIRMED, State.ACCEPTED, *CLOSED)
# Events after which a change holds that did not, or not to this extent.
CAME = ("found", "back", "changed", "grown")


@dataclass(frozen=True)
class FindingKey:
    """Identity of a finding. `schedule` for missing results, else the release and its `baseline`."""

    kind: str
    family: str
    platform: Platform | None = None
    hardware_class: HardwareClass | None = None
    release: Release | None = None
    baseline: Release | None = None
    schedule: Schedule | None = None

    @property
    def key(self) -> dict[str, Any]:
        names = ("kind", "family", "platform", "hardware_class", "release", "schedule")
        return {name: getattr(self, name) for name in names}


@dataclass(frozen=True)
class DetectedChange:
    """A change as detected by one analysis; the fields are those of models.Change, relations by id."""

    kind: str
    verdict: str
    system: int
    workload: int
    load_level: int | None = None
    metric: int | None = None
    baseline_system: int | None = None
    history: int | None = None
    first_run: int | None = None
    slot: int | None = None
    before: float | None = None
    after: float | None = None
    ratio: float | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    runs_before: tuple[int, ...] = ()
    runs_after: tuple[int, ...] = ()
    reason: str = ""

    @property
    def key(self) -> tuple[Any, ...]:
        """Identity of the change when it is detected again."""
        if self.kind == Change.Kind.HISTORY:
            return self.kind, self.history, self.first_run
        if self.kind == Change.Kind.MISSING:
            return self.kind, self.slot, self.system, self.workload
        return self.kind, self.system, self.baseline_system, self.workload, self.load_level, self.metric


@dataclass(frozen=True)
class ChangeEvent:
    """Event of a change (Note.what). `decided`: its ratio when people decided about it."""

    what: str
    change: Change
    decided: float | None = None


def key_of(change: Change) -> tuple[Any, ...]:
    return _detected(change).key


def verdict_of(ratio: float, direction: str) -> str:
    """Better or worse, by the metric's direction. Raises ValueError for a neutral metric."""
    if direction == Metric.Direction.NEUTRAL:
        raise ValueError("neither higher nor lower is better: no change of it is a deterioration")
    return Change.Verdict.BETTER if (ratio > 1) == (direction == Metric.Direction.HIGHER) else Change.Verdict.WORSE


@transaction.atomic
def settle(
    detected: Iterable[tuple[FindingKey, DetectedChange]], *, looked_at: Collection[Change] = (), refresh: bool = False
) -> list[Finding]:
    """Store detected changes; returns the findings with new activity. `looked_at`: known changes that this analysis
    would have detected if they still held; those not detected are gone. `refresh`: update the summary of findings even
    if their changes are unchanged."""
    lock()
    now = timezone.now()
    detected = list(detected)
    known = _known([each for _, each in detected])
    happened: dict[int, list[ChangeEvent]] = {}
    as_before: list[int] = []
    for place, each in detected:
        change = known.get(each.key)
        if change is None:
            finding = _finding(place, now)
            ratio = each.ratio if finding.state == State.CONFIRMED else None
            change = Change(finding=finding, judged_at=now, accepted_ratio=ratio, **_values(each))
            change.save()
            happened.setdefault(finding.pk, []).append(ChangeEvent("found", change))
            continue
        was_gone, was = change.gone_at is not None, change.verdict
        differs = [name for name, value in _values(each).items() if getattr(change, name) != value]
        if not differs and not was_gone:
            as_before.append(change.pk)
            if refresh:
                happened.setdefault(change.finding_id, [])
            continue
        for name, value in _values(each).items():
            setattr(change, name, value)
        change.judged_at, change.gone_at = now, None
        decided = change.accepted_ratio
        if has_grown := change.finding.state in DECIDED and is_beyond(decided, change):
            # Reported once.
            change.accepted_ratio = change.ratio
        change.save()
        happened.setdefault(change.finding_id, [])
        if was_gone or was != change.verdict or has_grown:
            event = "back" if was_gone else "changed" if was != change.verdict else "grown"
            happened[change.finding_id].append(ChangeEvent(event, change, decided))
    Change.objects.filter(pk__in=as_before).update(judged_at=now)
    still = {each.key for _, each in detected}
    for change in looked_at:
        if change.gone_at is None and key_of(change) not in still:
            change.gone_at = change.judged_at = now
            change.save(update_fields=["gone_at", "judged_at"])
            happened.setdefault(change.finding_id, []).append(ChangeEvent("gone", change))
    return [finding for finding in (_settled(pk, events) for pk, events in sorted(happened.items())) if finding]


def lock() -> None:
    """Until the end of the transaction, no other transaction moves changes between findings."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [LOCK])


def summarise(finding: Finding, changes: Sequence[Change]) -> None:
    """Set verdict, size, title and baseline from the current changes of a finding, each effect counted once; does not
    save."""
    changes = effects.counted(changes)
    holding = [change for change in changes if change.gone_at is None]
    verdicts = {change.verdict for change in holding}
    if not holding:
        finding.verdict = Verdict.GONE
    elif len(verdicts) > 1:
        finding.verdict = Verdict.MIXED
    else:
        finding.verdict = next(iter(verdicts))
    worst = [change for change in holding if change.verdict == Change.Verdict.WORSE] or holding
    sizes = [abs(change.ratio - 1) for change in worst if change.ratio is not None]
    finding.largest = max(sizes, default=None)
    finding.title = titles.title(finding, holding or changes)
    finding.baseline_id = _baseline(finding, holding)


def _baseline(finding: Finding, holding: Sequence[Change]) -> int | None:
    """Id of the release that the finding's own release is compared with now; as it was if no comparison holds."""
    own = finding.release_id, finding.hardware_class_id
    found = {
        change.baseline_system.release_id
        for change in holding
        if change.kind == Change.Kind.RELEASE
        and change.baseline_system
        and (change.system.release_id, change.system.hardware_class_id) == own
    }
    return found.pop() if len(found) == 1 else finding.baseline_id


class Sized(Protocol):
    """A change, or the row of a comparison: its verdict and interval."""

    @property
    def verdict(self) -> str: ...

    @property
    def low(self) -> float | None: ...

    @property
    def high(self) -> float | None: ...


def is_beyond(decided: float | None, now: Sized) -> bool:
    """Whether `now` is significantly worse, by more than MARGIN, than the ratio that people decided about."""
    if decided is None or now.verdict != Change.Verdict.WORSE or now.low is None or now.high is None:
        return False
    if decided < 1:
        return now.high < decided / (1 + MARGIN)
    return now.low > decided * (1 + MARGIN)


def merge_target(finding: Finding) -> Finding:
    """The finding that holds the changes after merges."""
    while finding.merged_into is not None:
        finding = finding.merged_into
    return finding


def _known(detected: Sequence[DetectedChange]) -> dict[tuple[Any, ...], Change]:
    """The stored changes among `detected`, by key. One in a trend is known by its run, whose place another system of
    the release may have taken since."""
    kinds = {each.kind for each in detected}
    placed = Q(
        kind__in=kinds - {Change.Kind.HISTORY},
        system__in={each.system for each in detected},
        workload__in={each.workload for each in detected},
    )
    in_trends = Q(
        kind=Change.Kind.HISTORY,
        history__in={each.history for each in detected},
        first_run__in={each.first_run for each in detected},
    )
    found = Change.objects.select_related("finding").filter(placed | in_trends)
    return {key_of(change): change for change in found}


def _detected(change: Change) -> DetectedChange:
    return DetectedChange(
        kind=change.kind,
        verdict=change.verdict,
        system=change.system_id,
        workload=change.workload_id,
        load_level=change.load_level_id,
        metric=change.metric_id,
        baseline_system=change.baseline_system_id,
        history=change.history_id,
        first_run=change.first_run_id,
        slot=change.slot_id,
    )


_RELATED = ("system", "workload", "load_level", "metric", "baseline_system", "history", "first_run", "slot")


def _values(detected: DetectedChange) -> dict[str, Any]:
    related = {f"{name}_id": getattr(detected, name) for name in _RELATED}
    plain = ("kind", "verdict", "before", "after", "ratio", "low", "high", "p", "reason")
    runs = {"runs_before": list(detected.runs_before), "runs_after": list(detected.runs_after)}
    return related | {name: getattr(detected, name) for name in plain} | runs


def _finding(place: FindingKey, now: datetime) -> Finding:
    """The existing finding, or a new one. The caller holds the lock."""
    found = Finding.objects.select_related("merged_into").filter(**_lookup(place), part=0).first()
    if found is None:
        verdict = Verdict.MISSING if place.kind == Finding.Kind.MISSING else Verdict.GONE
        return Finding.objects.create(**place.key, baseline=place.baseline, title="", verdict=verdict, changed_at=now)
    return merge_target(found)


def _lookup(place: FindingKey) -> dict[str, Any]:
    return {
        (f"{name}__isnull" if value is None else name): (True if value is None else value)
        for name, value in place.key.items()
    }


def _settled(pk: int, events: Sequence[ChangeEvent]) -> Finding | None:
    """Save the updated finding; None: no activity to report."""
    finding = Finding.objects.get(pk=pk)
    related = ("metric", "workload", "load_level", "system", "baseline_system", "slot")
    changes = list(finding.changes.select_related(*related))
    is_new = not finding.title
    summarise(finding, changes)
    # One effect is notified once, while the change that it is counted by holds.
    beneath = effects.beneath(changes)
    holding = {change.pk for change in changes if change.gone_at is None}
    events = [event for event in events if beneath.get(event.change.pk) not in holding]
    if not events:
        finding.save(update_fields=["verdict", "largest", "title", "baseline"])
        return None
    for what in (*CAME, "gone"):
        if own := [event for event in events if event.what == what]:
            detail = {"changes": [event.change.pk for event in own]} | (
                _growth(finding, own) if what == "grown" else {}
            )
            Note.objects.create(finding=finding, what=what, detail=detail)
    if not is_new:
        _move(finding, events)
    # After the notes, so that a reader with this timestamp has seen them.
    finding.changed_at = timezone.now()
    finding.save()
    return finding


def _growth(finding: Finding, events: Sequence[ChangeEvent]) -> dict[str, Any]:
    """For the change that grew most: its size when people decided, its size now, and that decision."""
    sizes = [(event.decided or 1.0, event.change.ratio or 1.0) for event in events]
    decided, now = max(sizes, key=lambda both: abs(both[1] / both[0] - 1))
    return {"from": titles.percent(decided), "to": titles.percent(now), "state": str(finding.state)}


def _move(finding: Finding, events: Sequence[ChangeEvent]) -> None:
    """State transitions made by the system."""
    left = [event for event in events if event.what == "gone"]
    came_at_all = any(event.what in CAME for event in events)
    came = any(event.what in CAME and event.change.verdict != "better" for event in events)
    holds = finding.verdict in (Verdict.WORSE, Verdict.MIXED, Verdict.MISSING)
    # Of several improvements, others may hold.
    is_over = finding.verdict == Verdict.GONE or (not holds and any(each.change.verdict != "better" for each in left))
    was = finding.state
    if came_at_all and finding.verdict != Verdict.GONE and was == State.VERIFY:
        finding.state = _before_verify(finding)
    elif came and holds and was in (*CLOSED, State.ACCEPTED):
        finding.state = State.NEW
    elif left and is_over and was in (*OPEN, State.ACCEPTED):
        finding.state = State.VERIFY
    if finding.state != was:
        what = "reopened" if finding.state == State.NEW else "state"
        Note.objects.create(finding=finding, what=what, detail={"from": was, "to": finding.state})


def _before_verify(finding: Finding) -> str:
    last = finding.notes.filter(what="state", detail__to=State.VERIFY).order_by("-id").first()
    was = str(last.detail["from"]) if last else State.NEW.value
    # An acceptance covered the earlier size only.
    return was if was in OPEN else State.NEW


def expire_acceptances(*, today: Any) -> int:
    """Reset findings whose acceptance has ended to new; returns their number."""
    with transaction.atomic():
        lock()
        ended = list(Finding.objects.filter(state=State.ACCEPTED, accepted_until__lt=today))
        for finding in ended:
            detail = {"from": State.ACCEPTED.value, "to": State.NEW.value, "until": str(finding.accepted_until)}
            Note.objects.create(finding=finding, what="reopened", text="the acceptance has ended", detail=detail)
            finding.state, finding.changed_at = State.NEW, timezone.now()
            finding.save(update_fields=["state", "changed_at"])
    return len(ended)


def family_of(workload: Workload) -> str:
    return workload.tool
