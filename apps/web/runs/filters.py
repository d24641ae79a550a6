"""Filters of the list of runs: parsing the query string to a RunFilter, and the choices of the form."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

from django.db.models import Exists, OuterRef
from django.http import QueryDict

from apps.catalog.models import HardwareClass, Platform, Release, System, Workload
from apps.runs.api import EXCLUDED, FAILED_CHECK, RunFilter
from apps.runs.models import Run

# Tags have no table of their own: those of this many newest runs are offered.
TAGGED_RUNS = 2000
OLDER_TAGS = f"Tags of the latest {TAGGED_RUNS:,} runs; search for older ones under Words."


@dataclass(frozen=True)
class Choice:
    value: str
    label: str
    chosen: bool


@dataclass(frozen=True)
class Facet:
    """One filter with its choices; only values of existing runs. `note`: what is not offered, and the remedy."""

    name: str
    label: str
    choices: tuple[Choice, ...]
    note: str = ""

    @property
    def chosen(self) -> int:
        return sum(choice.chosen for choice in self.choices)

    @property
    def words(self) -> str:
        """The chosen values, in short."""
        labels = [choice.label for choice in self.choices if choice.chosen]
        if not labels:
            return "any"
        return labels[0] if len(labels) == 1 else f"{len(labels)} of {len(self.choices)}"


@dataclass(frozen=True)
class Filters:
    """The parsed query string, and `problems` of parameters that were ignored."""

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
    """One query per kind of object to choose from, and one for each requested tag that no recent run has."""
    problems: list[str] = []
    tags, all_tags = _tags(query.getlist("tag"))
    offered = _offered(tags)
    chosen: dict[str, tuple[str, ...]] = {}
    for name, _, options in offered:
        known = {value for value, _ in options}
        asked = [value for value in query.getlist(name) if value]
        chosen[name] = tuple(value for value in asked if value in known)
        problems += [f"No run has {name} “{value}”; this filter was left out." for value in asked if value not in known]
    since = _day(query.get("since", ""), "since", problems)
    until = _day(query.get("until", ""), "until", problems)
    text = query.get("text", "").replace("\0", " ").strip()  # database columns cannot store NUL
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
        quality=chosen["quality"],
        since=_midnight(since),
        until=_midnight(until, after=1),
        text=text,
    )
    facets = tuple(
        Facet(
            name,
            label,
            tuple(Choice(value, words, value in chosen[name]) for value, words in options),
            note="" if name != "tag" or all_tags else OLDER_TAGS,
        )
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


def _offered(tags: Iterable[str]) -> list[tuple[str, str, Options]]:
    # From the small tables, with one index lookup of the runs per row: joins would read every run.
    systems = System.objects.filter(Exists(Run.objects.order_by().filter(system=OuterRef("pk"))))
    workloads = Workload.objects.filter(Exists(Run.objects.order_by().filter(workload=OuterRef("pk"))))
    measured = list(systems)
    platforms = Platform.objects.filter(releases__systems__in=measured).distinct()
    releases = Release.objects.filter(systems__in=measured).select_related("platform").distinct()
    hardware = HardwareClass.objects.filter(systems__in=measured).distinct()
    return [
        ("platform", "Platform", [(platform.slug, platform.name) for platform in platforms]),
        ("release", "Release", [(str(release.pk), str(release)) for release in releases]),
        ("hardware", "Hardware", [(one.slug, one.name) for one in hardware]),
        ("system", "System", [(system.slug, system.name) for system in measured]),
        ("workload", "Workload", [(str(workload.pk), str(workload)) for workload in workloads]),
        ("state", "State", [(str(value), str(label)) for value, label in Run.State.choices]),
        ("outcome", "Outcome", [(str(value), str(label).lower()) for value, label in Run.Outcome.choices]),
        ("provenance", "Origin", [(str(value), str(label)) for value, label in Run.Provenance.choices]),
        ("quality", "Quality", [(FAILED_CHECK, "failed a check"), (EXCLUDED, "excluded by a user")]),
        ("tag", "Tag", [(tag, tag) for tag in tags]),
    ]


def _tags(asked: Iterable[str]) -> tuple[list[str], bool]:
    """Tags of the newest runs, and those of `asked` that an older run has; True if these were all runs."""
    newest = Run.objects.order_by("-started_at", "-id").values_list("tags", flat=True)[:TAGGED_RUNS]
    rows = list(newest)
    found = {tag for tags in rows for tag in tags}
    for tag in set(asked) - found:
        if "\0" not in tag and Run.objects.filter(tags__contains=[tag]).exists():
            found.add(tag)
    return sorted(found), len(rows) < TAGGED_RUNS


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
    """Start of `day`, or of the day `after` days later, UTC; None after the calendar's last day."""
    if day is None or (date.max - day).days < after:
        return None
    return datetime.combine(day + timedelta(days=after), time(), UTC)
