"""Stores the quality checks of a run when it is sealed, and updates its siblings' after changes."""

from collections.abc import Collection, Mapping

from django.db import connection, transaction

from apps.runs.models import Run, RunCheck
from apps.runs.quality import checklist, evidence
from apps.runs.quality.checklist import REPRODUCIBLE
from apps.runs.quality.rules import reproducibility
from apps.runs.quality.values import RuleFinding

# Copies the failed checks to the run, in display order.
_NOTE_FAILED = """
UPDATE runs_run r SET failed_checks = found.keys
FROM (
    SELECT id, ARRAY(
        SELECT check_key FROM runs_runcheck c WHERE c.run_id = r.id AND c.status = 'failed'
        ORDER BY array_position(%s::varchar[], c.check_key)
    )::varchar(40)[] AS keys
    FROM runs_run r WHERE id = ANY(%s)
) found
WHERE r.id = found.id AND r.failed_checks IS DISTINCT FROM found.keys
"""
# With the related rows that the rules need.
RELATED = Run.objects.select_related("workload__primary_metric", "load_level")


def check(run: Run, *, siblings: bool = True) -> None:
    """All checks of a sealed run; runs of the scale rig have none. `check_siblings` updates its siblings; without
    `siblings` it is called for this run, too, whose reproducibility is not checked until then.

    Raises blocks.Moved.
    """
    if run.provenance == Run.Provenance.RIG:
        return
    RunCheck.objects.filter(run=run).exclude(check_key__in=checklist.CHECKS).delete()
    found = checklist.evaluate(evidence.facts(run, siblings=siblings))
    _store({run.pk: {key: one for key, one in found.items() if siblings or key != REPRODUCIBLE}})
    run.refresh_from_db(fields=["failed_checks"])


def check_siblings(*, run_id: int) -> None:
    """Updates the reproducibility of a run and of its neighbours after it was sealed, excluded or counted again; in a
    separate transaction, because it locks other runs. Raises Run.DoesNotExist."""
    run = RELATED.get(pk=run_id)
    if run.state != Run.State.SEALED or run.provenance == Run.Provenance.RIG:
        return
    with transaction.atomic():
        place = evidence.place_of(run)
        ids = sorted({one.id for one in place.runs} | {run_id})
        # Ordered, so that two seals at one place cannot deadlock.
        list(Run.objects.select_for_update(no_key=True).filter(pk__in=ids).order_by("pk").values_list("pk"))
        place = evidence.place_of(run)
        near = sorted({one.id for one in place.runs} & set(ids) | {run_id})
        known = {
            row.run_id: (row.status, row.evidence)
            for row in RunCheck.objects.filter(run_id__in=near, check_key=REPRODUCIBLE)
        }
        found = {pk: reproducibility.judge(place.siblings(pk)) for pk in near}
        changed = {
            pk: {REPRODUCIBLE: finding}
            for pk, finding in found.items()
            if known.get(pk) != (finding.status, finding.evidence)
        }
        _store(changed)


def _store(found: Mapping[int, Mapping[str, RuleFinding]]) -> None:
    rows = [
        RunCheck(run_id=pk, check_key=key, status=one.status, evidence=one.evidence, detail=dict(one.detail))
        for pk, findings in found.items()
        for key, one in findings.items()
    ]
    RunCheck.objects.bulk_create(
        rows,
        update_conflicts=True,
        unique_fields=["run", "check_key"],
        update_fields=["status", "evidence", "detail"],
    )
    _note_failed(found.keys())


def _note_failed(run_ids: Collection[int]) -> None:
    if run_ids:
        with connection.cursor() as cursor:
            cursor.execute(_NOTE_FAILED, [list(checklist.CHECKS), list(run_ids)])
