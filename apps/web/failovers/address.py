"""The address of the Failovers page: systems and campaign restrict it, fault and load choose the race."""

from collections import Counter
from dataclasses import dataclass, replace
from urllib.parse import urlencode

from django.http import QueryDict
from django.urls import reverse

from apps.comparison.api import FAULTS, FailoverFilter, FailoverResults, TrialGroup
from apps.core.problems import FieldProblem
from apps.core.query import Address, unknown_choice

USUAL_FAULT = next(iter(FAULTS))


@dataclass(frozen=True)
class FailoverAddress:
    """The parsed query string. Without `fault` and `rate` (inserts/s) the page chooses them."""

    systems: tuple[str, ...] = ()
    fault: str = ""
    campaign: int | None = None
    rate: float | None = None

    @classmethod
    def read(cls, query: QueryDict) -> "FailoverAddress":
        """Raises Invalid."""
        address = Address(query, "system", "fault", "campaign", "rate")
        found = cls(
            systems=tuple(address.texts("system")),
            fault=address.choice("fault", FAULTS),
            campaign=address.number("campaign"),
            rate=_rate(address),
        )
        address.check()
        return found

    def unknown(self, found: FailoverResults) -> list[FieldProblem]:
        """Systems and loads that no trial has."""
        systems = [slug for slug, _ in found.choices.systems]
        rates = [f"{rate:g}" for rate in found.choices.rates]
        problems = [
            FieldProblem("system", unknown_choice(slug, systems)) for slug in self.systems if slug not in systems
        ]
        if self.rate is not None and self.rate not in found.choices.rates:
            problems.append(FieldProblem("rate", unknown_choice(f"{self.rate:g}", rates)))
        return problems

    def chosen(self, found: FailoverResults) -> "FailoverAddress":
        """With fault and load: of the first fault that was measured the load with most trials."""
        fault = self.fault or next((group.fault for group in found.groups), USUAL_FAULT)
        trials: Counter[float] = Counter()
        for group in found.groups:
            if group.fault == fault:
                trials[rate_of(group)] += len(group.trials)
        usual = trials.most_common(1)
        rate = self.rate if self.rate is not None else usual[0][0] if usual else None
        return replace(self, fault=fault, rate=rate)

    def without_race(self) -> "FailoverAddress":
        return replace(self, fault="", rate=None)

    def query(self) -> str:
        pairs = [("system", system) for system in self.systems]
        pairs += [("fault", self.fault)] if self.fault else []
        pairs += [("campaign", str(self.campaign))] if self.campaign is not None else []
        pairs += [("rate", f"{self.rate:g}")] if self.rate is not None else []
        return urlencode(pairs)

    def url(self) -> str:
        query = self.query()
        return f"{reverse('web:failovers')}?{query}" if query else reverse("web:failovers")

    def filter(self) -> FailoverFilter:
        return FailoverFilter(self.systems, (self.fault,) if self.fault else (), self.campaign, self.rate)


def rate_of(group: TrialGroup) -> float:
    return float(group.parameters.get("rate") or 0)


def _rate(address: Address) -> float | None:
    text = address.text("rate")
    try:
        rate = float(text or "nan")
    except ValueError:
        rate = 0.0
    if text and not 0 < rate < 1e6:
        address.refuse("rate", "is not a rate above 0", "choose one from the list")
    return rate if text else None
