"""Analysis of runs once they are complete, and again when one is excluded or counts again: affected releases are
queued, then compared one after another."""

import logging
from datetime import date, timedelta

from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone

from apps.catalog.models import HardwareClass, Release, System
from apps.regressions.findings import reconcile
from apps.regressions.findings.reconcile import DetectedChange, FindingKey
from apps.regressions.models import Change, Finding, Looked, Pending
from apps.regressions.releases import check, recheck_queue, stored_checks
from apps.regressions.releases.pairs import MEASURED
from apps.regressions.releases.values import CheckRow, ReleaseCheck
from apps.regressions.trends import follow
from apps.runs.models import Run

log = logging.getLogger(__name__)

# Limit of runs per sweep.
AT_ONCE = 200
# Releases are compared again for this long after a difference between their sides was accepted.
REMEMBERED = timedelta(days=1)


def look(*, run_id: int) -> bool:
    """Analyse a complete run: its trend, and queue its release. Idempotent. False: the run is not complete, or is
    synthetic or an example. Failed runs change nothing, unless they may have counted when they were looked at before
    (sealed again)."""
    runs = Run.objects.select_related("system__release", "system__hardware_class")
    run = runs.filter(pk=run_id, state=Run.State.SEALED, provenance__in=MEASURED).first()
    if run is None:
        return False
    if run.outcome == Run.Outcome.SUCCEEDED or Looked.objects.filter(run=run).exists():
        follow.follow_run(run_id)
        # After the trend: one that fails is tried again and again, the release would be compared each time.
        recheck_queue.add([run.system])
    # Last, so that the sweep repeats an analysis that failed.
    state = {"sealed_at": run.sealed_at, "is_excluded": run.is_excluded}
    Looked.objects.update_or_create(run=run, defaults=state)
    return True


def due(*, limit: int = AT_ONCE) -> list[int]:
    """Complete runs whose current state is not analysed yet, the newest first, so that a failing run blocks no newer
    one."""
    as_it_was = Q(sealed_at=F("looked__sealed_at"), is_excluded=F("looked__is_excluded"))
    waiting = Run.objects.filter(state=Run.State.SEALED, provenance__in=MEASURED, sealed_at__isnull=False)
    found = waiting.filter(Q(looked=None) | ~as_it_was).order_by("-sealed_at", "-pk")
    return list(found.values_list("pk", flat=True)[:limit])


def check_pending() -> int:
    """Compares the queued releases, the oldest entry first; returns their number. One that another worker compares at
    the moment is skipped."""
    recheck_queue.add_acknowledged(since=timezone.now() - REMEMBERED)
    done = 0
    for pk in list(Pending.objects.order_by("since", "pk").values_list("pk", flat=True)):
        try:
            done += _check(pk)
        except Exception:
            # It stays queued; the others are still compared.
            log.exception("queued release %s could not be compared", pk)
    return done


@transaction.atomic
def _check(pk: int) -> bool:
    queued = Pending.objects.select_for_update(skip_locked=True, of=["self"])
    pending = queued.select_related("release__platform", "hardware_class").filter(pk=pk).first()
    if pending is None:
        return False
    compare(pending.release, pending.hardware_class)
    pending.delete()
    return True


@transaction.atomic
def compare(release: Release, hardware_class: HardwareClass, *, synthetic: bool = False) -> ReleaseCheck:
    """Compare a release with its predecessor and store the changes as findings. `synthetic`: include synthetic and
    example runs."""
    found = check.check(release, hardware_class)
    baseline = Release.objects.get(pk=found.baseline_id) if found.baseline_id else None
    differs = {(line.baseline_system, line.system): line.differs for line in found.lines}
    detected = [
        (
            FindingKey(Finding.Kind.CHANGE, row.tool, release.platform, hardware_class, release, baseline),
            _detected(row, differs.get((row.baseline_system, row.system), "")),
        )
        for row in check.changed_rows(found, synthetic=synthetic)
    ]
    # All current changes of this release: those not detected now are gone.
    known = Change.objects.filter(
        kind=Change.Kind.RELEASE,
        gone_at=None,
        system__in=System.objects.filter(release=release, hardware_class=hardware_class),
    )
    reconcile.settle(detected, looked_at=list(known))
    found = stored_checks.current([found])[0]
    stored_checks.keep(found)
    return found


def look_again(*, today: date) -> int:
    """Time-dependent updates: ended acceptances, and stored comparisons in an outdated format; returns their number."""
    old = [(each.release_id, each.hardware_class_id) for each in stored_checks.outdated()]
    return reconcile.expire_acceptances(today=today) + recheck_queue.add_releases(old)


def _detected(row: CheckRow, differs: str) -> DetectedChange:
    return DetectedChange(
        kind=Change.Kind.RELEASE,
        verdict=row.verdict.value,
        system=row.system_id or 0,
        workload=row.workload_id,
        load_level=row.level_id,
        metric=row.metric_id,
        baseline_system=row.baseline_system_id,
        before=row.before,
        after=row.after,
        ratio=row.ratio,
        low=row.low,
        high=row.high,
        p=row.p,
        runs_before=row.runs_before,
        runs_after=row.runs_after,
        reason=f"the systems differ besides: {differs}" if differs else "",
    )
