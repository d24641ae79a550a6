"""Sparklines of the measured phase, drawn as inline SVG without a script. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from apps.core.units import NBSP, with_unit
from apps.runs.pure import thin

Floats = NDArray[np.float64]
Span = tuple[float, float]

WIDTH, HEIGHT = 100.0, 24.0
# Lowest and highest of each of 20 stretches: a sparkline is about 100 pixels wide.
POINTS = 42


@dataclass(frozen=True)
class Spark:
    """`path`: of an SVG of WIDTH × HEIGHT; unobserved values leave gaps. `bands`: x and width of highlighted stretches.

    `words`: text alternative. `start`, `end`: s on the clock.
    """

    path: str
    bands: tuple[tuple[str, str], ...]
    words: str
    start: float
    end: float


def draw(at: Floats, values: Floats, *, between: Span, unit: str, spans: Sequence[Span] = ()) -> Spark | None:
    """From zero (or the lowest value, if negative) to the highest; `between`: first and last time, s.

    None: nothing was observed.
    """
    seen = values[~np.isnan(values)]
    start, end = between
    if not len(seen) or end <= start:
        return None
    lowest, highest = float(seen.min()), float(seen.max())
    bottom, top = min(0.0, lowest), max(highest, 0.0)
    chosen = thin(values, POINTS)
    x = WIDTH * (np.clip(at[chosen], start, end) - start) / (end - start)
    y = HEIGHT - HEIGHT * (values[chosen] - bottom) / ((top - bottom) or 1.0)
    words = (
        f"{with_unit(lowest, unit)} all the time"
        if lowest == highest
        else f"from {with_unit(lowest, unit)} to {with_unit(highest, unit)}"
    )
    return Spark(_path(x, y), tuple(_bands(spans, between)), words.replace(NBSP, " "), start, end)


def _path(x: Iterable[float], y: Iterable[float]) -> str:
    parts, pen = [], "M"
    for across, down in zip(x, y, strict=True):
        if np.isnan(down):
            pen = "M"
            continue
        parts.append(f"{pen}{across:.1f} {down:.1f}".replace(".0", ""))
        pen = "L"
    # A single point would be invisible.
    return "".join(parts) + ("h0.8" if len(parts) == 1 else "")


def _bands(spans: Sequence[Span], between: Span) -> Iterable[tuple[str, str]]:
    start, end = between
    for first, last in spans:
        left, right = max(first, start), min(last, end)
        if right > left:
            scale = WIDTH / (end - start)
            yield f"{(left - start) * scale:.4g}", f"{max((right - left) * scale, 0.8):.4g}"
