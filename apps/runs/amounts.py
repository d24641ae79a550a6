"""Numbers of runs that may be larger than was counted. Pure."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Amount:
    """How many runs: `runs` of them, or `more` than that, since nobody counted further."""

    runs: int = 0
    more: bool = False

    def __add__(self, other: "Amount") -> "Amount":
        return Amount(self.runs + other.runs, self.more or other.more)

    def __str__(self) -> str:
        return f"more than {self.runs:,}" if self.more else f"{self.runs:,}"
