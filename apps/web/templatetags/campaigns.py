"""Words of apps/web/campaigns/wording.py.

{{ run|run_title }}        run 7, attempt 1: failed, connection lost
{% run_mark run refused %} ✓, ✗, refused …
{{ slot.state|slot_mark }} class of a mark for a scheduled run; {{ slot.state|slot_sign }}: its sign
{{ job|skipped }}          not run: connections were refused at 8 threads (64)
"""

from django import template

from apps.web.campaigns import wording

register = template.Library()
register.filter(wording.run_title)
register.filter(wording.skipped)
register.simple_tag(wording.run_mark)
SLOTS = {"complete": ("mark--good", "✓"), "missing": ("mark--bad", "✗"), "started": ("mark--live", "…")}


@register.filter
def slot_mark(state: str) -> str:
    return SLOTS.get(state, ("mark--waiting", "–"))[0]


@register.filter
def slot_sign(state: str) -> str:
    return SLOTS.get(state, ("mark--waiting", "–"))[1]
