"""Filters for changes.

{{ change.low|signed }}    a ratio as a change: −12 %
{{ row.effect|share }}     a share as percent: 1.2 %
{{ row.state|state_mark }} class of a mark for a finding's state
{{ change.p|p_value }}     0.003, 2e-9, or "below 1e-30"
"""

from django import template

from apps.core.units import NBSP
from apps.regressions.api import percent

register = template.Library()
LEAST = 1e-30
STATE_MARKS = {
    "new": "mark--waiting",
    "confirmed": "mark--bad",
    "fixed": "mark--good",
    "accepted": "mark--good",
    "under review": "mark--submitted",
    "verify": "mark--submitted",
}


@register.filter
def signed(ratio: float | None) -> str:
    return "not known" if ratio is None else percent(ratio)


@register.filter
def share(value: float | None) -> str:
    if value is None:
        return "not known"
    return f"{value * 100:.{0 if value >= 0.1 else 1 if value >= 0.01 else 2}f}{NBSP}%"


@register.filter
def p_value(p: float | None) -> str:
    if p is None:
        return "not known"
    return (f"below {LEAST:g}" if p < LEAST else f"{p:.1g}").replace("e-0", "e-")


@register.filter
def state_mark(state: str) -> str:
    return STATE_MARKS.get(state, "")
