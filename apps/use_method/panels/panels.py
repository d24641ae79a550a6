"""Panels of runs: judged and stored when a run is sealed, judged on display while it is live."""

import logging
from collections.abc import Collection, Mapping
from typing import Any

import msgspec
import orjson
from django.db import IntegrityError
from django.db.models import F, Q

from apps.runs.models import Run
from apps.use_method import engine
from apps.use_method.engine import VERSION
from apps.use_method.models import UsePanel
from apps.use_method.panels import baselines, inputs
from apps.use_method.values import Panel

log = logging.getLogger(__name__)

# Runs per round of the sweep.
AT_ONCE = 60
CURRENT = Q(use_panel__version=VERSION, use_panel__sealed_at=F("sealed_at"))


def judge(*, run_id: int) -> Panel | None:
    """Judge a sealed run and replace its stored panel; None: no such sealed run. The returned panel is compared with
    its baseline, the stored one is not."""
    run = inputs.RELATED.filter(pk=run_id, state=Run.State.SEALED).first()
    if run is None:
        return None
    found = engine.panel(inputs.facts(run))
    try:
        UsePanel.objects.update_or_create(
            run_id=run_id,
            defaults={"version": VERSION, "sealed_at": run.sealed_at, "content": to_json(found)},
        )
    except IntegrityError:
        log.info("run %s was deleted while it was judged", run_id)
    return baselines.compared({run_id: found})[run_id]


def due(*, limit: int = AT_ONCE) -> list[int]:
    """Sealed runs whose panel is missing or older than the rules or the run's series, the latest first. Synthetic runs
    are judged when displayed."""
    sealed = Run.objects.filter(state=Run.State.SEALED).exclude(provenance=Run.Provenance.RIG).exclude(CURRENT)
    return list(sealed.order_by("-started_at", "-id").values_list("id", flat=True)[:limit])


def panel_of(run_id: int) -> Panel:
    """Panel of one run, live or sealed: the stored one, else judged now. Raises Run.DoesNotExist."""
    kept = kept_of([run_id])
    if run_id in kept:
        return kept[run_id]
    judged = engine.panel(inputs.facts(inputs.RELATED.get(pk=run_id)))
    return baselines.compared({run_id: judged})[run_id]


def kept_of(run_ids: Collection[int]) -> dict[int, Panel]:
    """Stored current panels by run, each compared with its baseline. Two queries."""
    rows = UsePanel.objects.filter(run_id__in=run_ids, version=VERSION, sealed_at=F("run__sealed_at"))
    kept = {run_id: from_json(content) for run_id, content in rows.order_by().values_list("run_id", "content")}
    return baselines.compared(kept)


def to_json(panel: Panel) -> Any:
    """NaN and infinity become null, since JSON lacks them."""
    return orjson.loads(orjson.dumps(msgspec.to_builtins(panel)))


def from_json(content: Mapping[str, Any]) -> Panel:
    return msgspec.convert(content, Panel)
