"""One row of the server's health. Pure."""

from dataclasses import dataclass
from enum import StrEnum

from apps.core.units import format_bytes, format_duration


class HealthVerdict(StrEnum):
    """The worst first."""

    WRONG = "wrong"
    UNKNOWN = "unknown"
    WARNING = "warning"
    OK = "ok"


@dataclass(frozen=True)
class HealthRow:
    """`unit`: "s", "bytes" or "count". `value` None: not known, or there is none. `advice`: what to do, in a sentence;
    empty: nothing."""

    key: str
    title: str
    verdict: HealthVerdict
    value: float | None
    unit: str
    advice: str

    @property
    def shown(self) -> str:
        """The value with its unit."""
        if self.value is None:
            return "unknown" if self.verdict is HealthVerdict.UNKNOWN else "none"
        if self.unit == "count":
            return f"{self.value:,.0f}"
        return format_bytes(self.value) if self.unit == "bytes" else format_duration(self.value)
