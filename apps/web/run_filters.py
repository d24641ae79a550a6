"""The filters of the list of runs: from an address to a RunFilter, and as the choices that the form shows."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

from django.http import QueryDict

from apps.catalog.models import HardwareClass, Platform, Release, System, Workload
from apps.runs.models import Run
from apps.runs.queries import RunFilter


@dataclass(frozen=True)
class Choice:
    value: str
    label: str
    chosen: bool


@dataclass(frozen=True)
class Facet:
    """One filter with its choices; only what some run has is offered."""

    name: str
    label: str
    choices: tuple[Choice, ...]

    @property
    def chosen(self) -> int:
        return sum(choice.chosen for choice in self.choices)

    @property
    def words(self) -> str:
        """What is chosen, as short as the form shows it."""
        labels = [choice.label for choice in self.choices if choice.chosen]
        if not labels:
            return "any"
        return labels[0] if len(labels) == 1 else f"{len(labels)} of {len(self.choices)}"


@dataclass(frozen=True)
class Filters:
    """What the address asks for, and `problems` for what in it makes no sense (which is then left out)."""

    run_filter: RunFilter
    facets: tuple[Facet, ...]
    text: str
    since: str
    until: str
    problems: tuple[str, ...]

    @property
    def set(self) -> bool:
        return bool(self.text or self.since or self.until or any(facet.chosen for facet in self.facets))


def read(query: QueryDict) -> Filters:
    """A constant number of queries: one for each kind of thing that can be chosen."""
    problems: list[str] = []
    offered = _offered()
    chosen: dict[str, tuple[str, ...]] = {}
    for name, _, options in offered:
        known = {value for value, _ in options}
        asked = [value for value in query.getlist(name) if value]
        chosen[name] = tuple(value for value in asked if value in known)
        problems += [f"No run has {name} “{value}”; this filter was left out." for value in asked if value not in known]
    since = _day(query.get("since", ""), "since", problems)
    until = _day(query.get("until", ""), "until", problems)
    text = query.get("text", "").replace("\0", " ").strip()  # no column holds NUL
    run_filter = RunFilter(
        platforms=chosen["platform"],
        releases=_numbers(chosen["release"]),
        hardware=chosen["hardware"],
        workloads=_numbers(chosen["workload"]),
        systems=chosen["system"],
        states=chosen["state"],
        outcomes=chosen["outcome"],
        provenances=chosen["provenance"],
        tags=chosen["tag"],
        since=_midnight(since),
        until=_midnight(until, after=1),
        text=text,
    )
    facets = tuple(
        Facet(name, label, tuple(Choice(value, words, value in chosen[name]) for value, words in options))
        for name, label, options in offered
    )
    return Filters(
        run_filter=run_filter,
        facets=facets,
        text=text,
        since=since.isoformat() if since else "",
        until=until.isoformat() if until else "",
        problems=tuple(problems),
    )


Options = list[tuple[str, str]]


def _offered() -> list[tuple[str, str, Options]]:
    systems = System.objects.filter(runs__isnull=False)
    platforms = Platform.objects.filter(releases__systems__in=systems).distinct()
    releases = Release.objects.filter(systems__in=systems).select_related("platform").distinct()
    hardware = HardwareClass.objects.filter(systems__in=systems).distinct()
    workloads = Workload.objects.filter(runs__isnull=False).distinct()
    tags = sorted({tag for row in Run.objects.exclude(tags=[]).values_list("tags").distinct() for tag in row[0]})
    return [
        ("platform", "Platform", [(platform.slug, platform.name) for platform in platforms]),
        ("release", "Release", [(str(release.pk), str(release)) for release in releases]),
        ("hardware", "Hardware", [(one.slug, one.name) for one in hardware]),
        ("system", "System", [(system.slug, system.name) for system in systems.distinct()]),
        ("workload", "Workload", [(str(workload.pk), str(workload)) for workload in workloads]),
        ("state", "State", [(str(value), str(label)) for value, label in Run.State.choices]),
        ("outcome", "Outcome", [(str(value), str(label).lower()) for value, label in Run.Outcome.choices]),
        ("provenance", "Origin", [(str(value), str(label)) for value, label in Run.Provenance.choices]),
        ("tag", "Tag", [(tag, tag) for tag in tags]),
    ]


def _numbers(values: Iterable[str]) -> tuple[int, ...]:
    convert: Callable[[str], int] = int
    return tuple(map(convert, values))


def _day(value: str, name: str, problems: list[str]) -> date | None:
    if not value:
        return None
    try:
        return date.fromisoformat(value)
    except ValueError:
        problems.append(f"{name} “{value}” is not a date; write it as 2026-01-31. This filter was left out.")
        return None


def _midnight(day: date | None, *, after: int = 0) -> datetime | None:
    """Start of `day`, or of the day so many days after it, UTC; None after the calendar's last day."""
    if day is None or (date.max - day).days < after:
        return None
    return datetime.combine(day + timedelta(days=after), time(), UTC)
