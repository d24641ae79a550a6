"""Steps of a run as reported by its tool: faults, promotions, statements, and checks.

Samplers' observations of nodes are only in the list of all events, since they would hide the steps.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from apps.runs.api import EventDetail

FAULT = "fault"
CHECK = "check"
# Shown elsewhere on the page: errors and warnings in the list of events, the load as the run's own span.
NO_STEPS = (CHECK, "error", "warning", "load", "node_state", "role")
# Not marked in charts: sampling gaps, where lines have gaps anyway, and events without a time.
UNMARKED = ("sampler_error", "sampler", "not_observable", "role", "neighbours", CHECK, "read_back", "stale_reads")


@dataclass(frozen=True)
class RunStep:
    """`at`: s on the run's clock; `after`: since the last fault, `lasted`: duration; as text in s, or empty."""

    label: str
    kind: str
    node: str
    at: str
    after: str
    lasted: str


@dataclass(frozen=True)
class StepCheck:
    """A check after the load."""

    label: str
    holds: bool


@dataclass(frozen=True)
class RunSteps:
    steps: Sequence[RunStep]
    claims: Sequence[StepCheck]
    has_fault: bool


def run_steps(events: Iterable[EventDetail]) -> RunSteps:
    ordered = sorted(events, key=lambda event: (event.starts_at, event.kind != FAULT, event.ends_at or event.starts_at))
    steps, fault = [], None
    for event in ordered:
        if not event.from_output or event.kind in NO_STEPS:
            continue
        if event.kind == FAULT:
            fault = event.starts_at
        lasted = None if event.ends_at is None else event.ends_at - event.starts_at
        steps.append(
            RunStep(
                label=str(event.detail.get("text") or event.label),
                kind=event.kind.replace("_", " "),
                node=event.node,
                at=_seconds(event.starts_at),
                after="" if fault is None else _seconds(event.starts_at - fault),
                lasted="" if lasted is None else _seconds(lasted),
            )
        )
    claims = [
        StepCheck(str(event.detail.get("text") or event.label), bool(event.detail.get("held")))
        for event in ordered
        if event.kind == CHECK
    ]
    return RunSteps(steps, claims, fault is not None)


def _seconds(value: float) -> str:
    """To 0.01 s, the precision of all steps."""
    return f"{value:,.2f}"


def writers(events: Iterable[EventDetail]) -> str:
    """Who wrote when, of a run with several servers: "db1 until 21 s, db2 from 28 s"; empty: not known."""
    spans = sorted(
        (event for event in events if event.kind == "role" and event.detail.get("role") == "writer"),
        key=lambda event: event.starts_at,
    )
    nodes = list(dict.fromkeys(event.node for event in spans))
    if len(nodes) < 2:
        return nodes[0] if nodes else ""
    last = max(event.ends_at or event.starts_at for event in spans)
    parts: list[str] = []
    for node in nodes:
        own = [event for event in spans if event.node == node]
        first, end = own[0].starts_at, max(event.ends_at or event.starts_at for event in own)
        since = f" from {first:.0f} s" if parts else ""
        parts.append(f"{node}{since}" + (f" until {end:.0f} s" if end < last else ""))
    return ", ".join(parts)
