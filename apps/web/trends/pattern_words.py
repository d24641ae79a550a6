"""Drift, weekdays and machines of a series in words."""

from apps.core.units import NBSP
from apps.regressions.api import TrendDrift, TrendMachine, TrendPatterns, TrendSeason

DAYS = ("Mondays", "Tuesdays", "Wednesdays", "Thursdays", "Fridays", "Saturdays", "Sundays")


def drift(found: TrendDrift) -> str:
    """For example "drifts by −0.4 % a week [−0.6, −0.2], −4 % in all, worse"."""
    per = "a week" if found.per == "week" else f"in {found.per}"
    bounds = f"[{_number(found.low)}, {_number(found.high)}]"
    change, total = _number(found.change), _number(found.total)
    return f"drifts by {change}{NBSP}% {per} {bounds}, {total}{NBSP}% in all, {found.verdict}"


def season(found: TrendSeason) -> str:
    """For example "season: weekday, Sundays +3.1 %, Mondays −1.2 %; taken out"."""
    known = [(effect, day) for effect, day in zip(found.weekdays, DAYS, strict=True) if effect is not None]
    ends = [max(known), min(known)]
    parts = [f"{day} {_number(effect)}{NBSP}%" for effect, day in ends]
    return f"season: weekday, {', '.join(parts)}; taken out"


def machines(found: tuple[TrendMachine, ...]) -> str:
    """For example "machines: db-a +1.2 %, db-b −1.2 %; taken out"."""
    parts = [f"{each.name} {_number(each.effect)}{NBSP}%" for each in found]
    return f"machines: {', '.join(parts)}; taken out"


def sentences(found: TrendPatterns) -> list[str]:
    own = [
        drift(found.drift) if found.drift else "",
        season(found.season) if found.season else "",
        machines(found.machines) if found.machines else "",
    ]
    return [f"{text[:1].upper()}{text[1:]}." for text in own if text]


def _number(share: float) -> str:
    size = abs(share) * 100
    digits = 0 if size >= 9.95 else 1 if size >= 0.95 else 2
    return f"{'−' if share < 0 else '+'}{size:.{digits}f}"
