"""Drift, weekdays, machines, the host's speed, sessions and bursts of a series in words."""

from collections.abc import Sequence

from apps.core.units import NBSP
from apps.regressions.api import TrendBurst, TrendDrift, TrendEffect, TrendPatterns, TrendSeason, TrendSessions

# Load generators named in a sentence: those farthest from the mean of all.
MOST_NAMED = 4
# What an effect of the host's measures is for.
STEPS = {
    "canary": f"for 10{NBSP}% more CPU time of a fixed piece of work",
    "stolen": "for each percentage point of CPU time stolen",
}


def marks(found: TrendPatterns) -> list[tuple[str, str]]:
    """A word for each pattern, and its sentence."""
    own = [
        ("drifts", drift(found.drift) if found.drift else ""),
        ("weekdays", season(found.season) if found.season else ""),
        ("machines", machines(found.machines) if found.machines else ""),
        ("host", host(found.host) if found.host else ""),
        ("bursts", bursts(found.bursts) if found.bursts else ""),
        ("sessions", sessions(found.sessions) if found.sessions else ""),
    ]
    return [(word, f"{text[:1].upper()}{text[1:]}.") for word, text in own if text]


def drift(found: TrendDrift) -> str:
    """For example "drifts by −0.4 % a week [−0.6, −0.2], −4 % in all, worse"."""
    per = "a week" if found.per == "week" else f"in {found.per}"
    size = _size(found.change, found.low, found.high, per)
    return f"drifts by {size}, {_number(found.total)}{NBSP}% in all, {found.verdict}"


def season(found: TrendSeason) -> str:
    """For example "weekdays differ: Sundays +3.1 % [2.5, 3.7], Mondays −1.2 % [−1.8, −0.6]; taken out"."""
    ends = [max(found.weekdays, key=_effect), min(found.weekdays, key=_effect)]
    return f"weekdays differ: {', '.join(f'{each.name}s {_sized(each)}' for each in ends)}; taken out"


def machines(found: Sequence[TrendEffect]) -> str:
    """For example "load generators differ: gen-a +1.2 % [0.9, 1.5], gen-b −1.2 % [−1.5, −0.9]; taken out"."""
    named = sorted(found, key=lambda each: -abs(each.effect))[:MOST_NAMED]
    rest = f" and {len(found) - len(named)} more" if len(found) > len(named) else ""
    parts = [f"{each.name} {_sized(each)}" for each in sorted(named, key=_effect, reverse=True)]
    return f"load generators differ: {', '.join(parts)}{rest}; taken out"


def host(found: Sequence[TrendEffect]) -> str:
    """For example "follows the host: −1.2 % [−1.5, −0.9] for each percentage point of CPU time stolen; taken out"."""
    return f"follows the host: {', '.join(f'{_sized(each)} {STEPS[each.name]}' for each in found)}; taken out"


def sessions(found: TrendSessions) -> str:
    """For example "sessions differ: standard deviation 1.8 % [1.3, 2.4] between 40 sessions, 0.5 % within them; changes
    are judged by it"."""
    between, low, high, within = (_number(each)[1:] for each in (found.between, found.low, found.high, found.within))
    spread = f"{between}{NBSP}% [{low}, {high}] between {found.sessions} sessions, {within}{NBSP}% within them"
    return f"sessions differ: standard deviation {spread}; changes are judged by it"


def bursts(found: Sequence[TrendBurst]) -> str:
    """For example "bursts: 3 of 3 to 6 runs, the last of 5 runs by −8.1 % [−9.5, −6.7]; no change of level"."""
    sizes = sorted({each.runs for each in found})
    length = f"{sizes[0]} to {sizes[-1]}" if len(sizes) > 1 else f"{sizes[0]}"
    last = found[-1]
    before = f"{len(found)} of {length} runs, the last" if len(found) > 1 else "1"
    size = _size(last.effect, last.low, last.high)
    return f"bursts: {before} of {last.runs} runs by {size}; no change of level"


def _effect(found: TrendEffect) -> float:
    return found.effect


def _sized(found: TrendEffect) -> str:
    return _size(found.effect, found.low, found.high)


def _size(change: float, low: float, high: float, per: str = "") -> str:
    return f"{_number(change)}{NBSP}%{f' {per}' * bool(per)} [{_number(low)}, {_number(high)}]"


def _number(share: float) -> str:
    size = abs(share) * 100
    digits = 0 if size >= 9.95 else 1 if size >= 0.95 else 2
    return f"{'−' if share < 0 else '+'}{size:.{digits}f}"
