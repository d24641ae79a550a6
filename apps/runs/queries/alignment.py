"""Zero of a run's time when several runs are on one timeline."""

from collections.abc import Sequence
from dataclasses import dataclass

from apps.runs.models import Event, Run


@dataclass(frozen=True)
class Alignment:
    """t = 0 is the start of the run (`to` is "run"), of its measured phase ("measured"), or of its first event of this
    `kind` and, if given, `label` ("event")."""

    to: str = "run"
    kind: str = ""
    label: str = ""

    def __post_init__(self) -> None:
        if self.to not in ("run", "measured", "event") or (self.to == "event") != bool(self.kind):
            raise ValueError("align to the run, to its measured phase, or to an event of some kind")


RUN_CLOCK, MEASURED_PHASE = Alignment(), Alignment("measured")


@dataclass(frozen=True)
class Zeros:
    """`at`: t = 0 of each run, s on its clock; `problems`: why a run has none."""

    at: dict[int, float]
    problems: dict[int, str]


def zeros(run_ids: Sequence[int], align: Alignment) -> Zeros:
    """Zeros of the runs. One query, none for RUN_CLOCK."""
    if align == RUN_CLOCK:
        return Zeros(dict.fromkeys(run_ids, 0.0), {})
    if align.to == "measured":
        rows = Run.objects.filter(pk__in=list(run_ids), measured_from__isnull=False)
        at = dict(rows.values_list("pk", "measured_from"))
        lacks = "has no measured phase yet"
    else:
        events = Event.objects.filter(run_id__in=list(run_ids), kind=align.kind)
        if align.label:
            events = events.filter(label=align.label)
        # Descending: the dict keeps the last entry, which is the first event in time.
        at = dict(events.order_by("-starts_at").values_list("run_id", "starts_at"))
        named = f"“{align.label}” of kind {align.kind}" if align.label else f"of kind {align.kind}"
        lacks = f"has no event {named}"
    found = {run_id: float(start) for run_id, start in at.items() if start is not None}
    return Zeros(found, {run_id: f"run {run_id} {lacks}" for run_id in run_ids if run_id not in found})
