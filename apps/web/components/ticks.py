"""Round axis ticks, computed in the server so that all charts use the same ones. Pure."""

import math

# Maximum number of ticks on an axis; the finest step within it is used.
MOST_TICKS = 7
LOG_TICKS = ((1, 1.5, 2, 3, 4, 5, 7), (1, 2, 3, 5), (1, 2, 5), (1, 3), (1,))
LINEAR_STEPS = (1, 2, 5, 10)


def log_ticks(low: float, high: float) -> list[float]:
    """1 and round numbers around it. Plotly's own labels would be bare digits: "9 8 7" for 0.9, 0.8, 0.7."""
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for mantissas in LOG_TICKS:
        ticks = [
            tick for decade in decades for mantissa in mantissas if low <= (tick := mantissa * 10.0**decade) <= high
        ]
        if len(ticks) <= MOST_TICKS:
            return [float(f"{tick:.3g}") for tick in ticks]
    every = math.ceil(len(decades) / MOST_TICKS)
    return [10.0**decade for decade in decades if decade % every == 0 and low <= 10.0**decade <= high]


def linear_ticks(low: float, high: float) -> list[float]:
    """Multiples of a round step; an axis around 1 that spans less than a factor of 4 includes 1."""
    decade = 10.0 ** math.floor(math.log10((high - low) / MOST_TICKS))
    for step in (decade * multiple for multiple in LINEAR_STEPS):
        first, last = math.ceil(low / step), math.floor(high / step)
        if last - first < MOST_TICKS:
            return [round(place * step, 10) for place in range(first, last + 1)]
    raise AssertionError(f"no step gives {low} to {high} at most {MOST_TICKS} ticks")
