"""Bars of HTML (styles/components/tracks.css). Pure."""

from dataclasses import dataclass

# Per cent of the track.
LONG = 66.0


@dataclass(frozen=True)
class TrackBar:
    """In per cent of the track. `low`, `high`: whisker; None: there is none. `is_open`: the value is a bound."""

    width: float
    low: float | None = None
    high: float | None = None
    is_open: bool = False

    @property
    def span(self) -> float:
        return 0.0 if self.low is None or self.high is None else self.high - self.low

    @property
    def is_long(self) -> bool:
        """Too long for words beside it."""
        return self.end > LONG

    @property
    def rest(self) -> float:
        return 100 - self.end

    @property
    def end(self) -> float:
        """Where bar and whisker end."""
        return max(self.width, self.high or 0.0)
