"""Panels of runs: judged when a run is sealed and kept, judged as it is shown while a run is live."""

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

# Of one round of the sweep.
AT_ONCE = 20
CURRENT = Q(use_panel__version=VERSION, use_panel__sealed_at=F("sealed_at"))


def judge(*, run_id: int) -> Panel | None:
    """Judges a sealed run and keeps what was found in place of what was; None: there is no such sealed run. As it is
    returned it is compared with its baseline, as it is kept it is not."""
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
        log.info("run %s went away while it was judged", run_id)
    return baselines.compared({run_id: found})[run_id]


def due(*, limit: int = AT_ONCE) -> list[int]:
    """Sealed runs whose panel is missing or older than the rules or the run's series, the latest first. A made-up run
    is judged when somebody looks at it."""
    sealed = Run.objects.filter(state=Run.State.SEALED).exclude(provenance=Run.Provenance.RIG).exclude(CURRENT)
    return list(sealed.order_by("-started_at", "-id").values_list("id", flat=True)[:limit])


def panel_of(run_id: int) -> Panel:
    """Of one run, live or sealed: as it is kept, else judged now. Raises Run.DoesNotExist."""
    kept = kept_of([run_id])
    if run_id in kept:
        return kept[run_id]
    judged = engine.panel(inputs.facts(inputs.RELATED.get(pk=run_id)))
    return baselines.compared({run_id: judged})[run_id]


def kept_of(run_ids: Collection[int]) -> dict[int, Panel]:
    """Those that are kept and up to date, by run, each compared with its baseline. Two queries."""
    rows = UsePanel.objects.filter(run_id__in=run_ids, version=VERSION, sealed_at=F("run__sealed_at"))
    kept = {run_id: from_json(content) for run_id, content in rows.order_by().values_list("run_id", "content")}
    return baselines.compared(kept)


def to_json(panel: Panel) -> Any:
    """Values that are no numbers become null: JSON has none."""
    return orjson.loads(orjson.dumps(msgspec.to_builtins(panel)))


def from_json(content: Mapping[str, Any]) -> Panel:
    return msgspec.convert(content, Panel)
