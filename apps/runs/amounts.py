"""Numbers of runs, counted only up to a limit. Pure."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Amount:
    """A number of runs: exactly `runs`, or, with `more`, above the limit `runs` of counting."""

    runs: int = 0
    more: bool = False

    def __add__(self, other: "Amount") -> "Amount":
        return Amount(self.runs + other.runs, self.more or other.more)

    def __str__(self) -> str:
        return f"more than {self.runs:,}" if self.more else f"{self.runs:,}"
