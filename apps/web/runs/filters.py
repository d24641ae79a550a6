"""Filters of the list of runs: parsing the query string to a RunFilter, and the choices of the form."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

from django.db.models import Exists, OuterRef, Q
from django.http import QueryDict
from django.utils.http import urlencode

from apps.catalog.models import HardwareClass, LoadLevel, Platform, Release, System, Workload
from apps.core.problems import FieldProblem, Invalid
from apps.core.query import Address
from apps.runs.api import EXCLUDED, FAILED_CHECK, RunFilter, queries
from apps.runs.models import Run

# Tags have no table of their own: those of this many newest runs are offered.
TAGGED_RUNS = 2000
OLDER_TAGS = f"Tags of the latest {TAGGED_RUNS:,} runs; search for older ones under Words."
# Where the label says less than the word that the rows have.
ORIGINS = {Run.Provenance.RIG.value: "synthetic"}
NUMBERED = ("release", "workload", "threads")  # facets whose values are ids or counts
FACETS = (
    "platform",
    "release",
    "hardware",
    "system",
    "workload",
    "threads",
    "state",
    "outcome",
    "provenance",
    "quality",
    "tag",
)
# Facets that are always in sight; the others stand behind "More filters".
USUAL = ("platform", "system", "workload", "threads", "outcome")
# What a saved filter keeps: all that the form has, and the order.
KEPT = (*FACETS, "since", "until", "text", "sort")


@dataclass(frozen=True)
class Choice:
    value: str
    label: str
    chosen: bool


@dataclass(frozen=True)
class Facet:
    """One filter with its choices: values of existing runs (threads: of planned ones too), and known ones that the
    address names.

    `note`: what is not offered, and the remedy.
    """

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
    """The parsed query string, and its `problems`, with which no run is listed: a refused filter must not widen it.

    `order`: one of queries.ORDERS.
    """

    run_filter: RunFilter
    facets: tuple[Facet, ...]
    text: str
    since: str
    until: str
    order: str
    problems: tuple[FieldProblem, ...]

    @property
    def set(self) -> bool:
        return bool(self.text or self.since or self.until or any(facet.chosen for facet in self.facets))

    @property
    def usual(self) -> list[Facet]:
        return [facet for facet in self.facets if facet.name in USUAL and facet.choices]

    @property
    def others(self) -> list[Facet]:
        return [facet for facet in self.facets if facet.name not in USUAL and facet.choices]

    @property
    def has_others(self) -> bool:
        """Whether one that does not stand in sight is set."""
        return bool(self.since or self.until or any(facet.chosen for facet in self.others))


def read(query: QueryDict) -> Filters:
    """One query per kind of object to choose from, and one for each requested tag that no recent run has."""
    address = Address(query, *KEPT, "before")
    asked = {name: _asked(address, name) for name in FACETS}
    tags, all_tags = _tags(asked["tag"])
    offered = _offered(tags, asked)
    chosen: dict[str, tuple[str, ...]] = {}
    for name, _, options in offered:
        known = {value for value, _ in options}
        chosen[name] = tuple(value for value in asked[name] if value in known)
        for value in asked[name]:
            if value not in known:
                address.refuse(name, f"{value!r:.60} is not known", "choose one from the list")
    since, until = _day(address, "since"), _day(address, "until")
    address.number("before")
    text = address.text("text").strip()
    order = address.choice("sort", queries.ORDERS)
    run_filter = RunFilter(
        platforms=chosen["platform"],
        releases=tuple(map(int, chosen["release"])),
        hardware=chosen["hardware"],
        workloads=tuple(map(int, chosen["workload"])),
        threads=tuple(map(int, chosen["threads"])),
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
        order=order if order in queries.ORDERS else queries.NEWEST,
        problems=_problems(address),
    )


def kept(query: QueryDict) -> str:
    """The query string of filters and order alone, in one spelling; empty: none is set."""
    pairs = [(name, text) for name in KEPT for text in query.getlist(name) if text]
    return urlencode([pair for pair in pairs if pair != ("sort", queries.NEWEST)])


Options = list[tuple[str, str]]


def _asked(address: Address, name: str) -> tuple[str, ...]:
    if name in NUMBERED:
        return tuple(str(number) for number in address.numbers(name))
    return tuple(text for text in address.texts(name) if text.isprintable())


def _problems(address: Address) -> tuple[FieldProblem, ...]:
    try:
        address.check()
    except Invalid as error:
        return error.errors
    return ()


def _offered(tags: Iterable[str], asked: Mapping[str, Iterable[str]]) -> list[tuple[str, str, Options]]:
    # From the small tables, with one index lookup of the runs per row: joins would read every run.
    of_system = Exists(Run.objects.order_by().filter(system=OuterRef("pk")))
    of_workload = Exists(Run.objects.order_by().filter(workload=OuterRef("pk")))
    systems = list(System.objects.filter(of_system | Q(slug__in=asked["system"])))
    # Of planned runs too: few levels never get one.
    threads = LoadLevel.objects.order_by("threads")
    workloads = Workload.objects.filter(of_workload | Q(pk__in=asked["workload"]))
    of_systems = Q(systems__in=systems)
    platforms = Platform.objects.filter(Q(releases__systems__in=systems) | Q(slug__in=asked["platform"])).distinct()
    releases = Release.objects.filter(of_systems | Q(pk__in=asked["release"])).select_related("platform").distinct()
    hardware = HardwareClass.objects.filter(of_systems | Q(slug__in=asked["hardware"])).distinct()
    return [
        ("platform", "Platform", [(platform.slug, platform.name) for platform in platforms]),
        ("release", "Release", [(str(release.pk), str(release)) for release in releases]),
        ("hardware", "Hardware", [(one.slug, one.name) for one in hardware]),
        ("system", "System", [(system.slug, system.short_name) for system in systems]),
        ("workload", "Workload", [(str(workload.pk), str(workload)) for workload in workloads]),
        (
            "threads",
            "Threads",
            [(str(each), str(each)) for each in threads.values_list("threads", flat=True).distinct()],
        ),
        ("state", "State", [(str(value), str(label)) for value, label in Run.State.choices]),
        ("outcome", "Outcome", [(str(value), str(label).lower()) for value, label in Run.Outcome.choices]),
        ("provenance", "Origin", [(value, ORIGINS.get(value, label)) for value, label in Run.Provenance.choices]),
        ("quality", "Quality", [(FAILED_CHECK, "failed a check"), (EXCLUDED, "excluded by a user")]),
        ("tag", "Tag", [(tag, tag) for tag in tags]),
    ]


def _tags(asked: Iterable[str]) -> tuple[list[str], bool]:
    """Tags of the newest runs, and those of `asked` that an older run has; True if these were all runs."""
    newest = Run.objects.order_by("-started_at", "-id").values_list("tags", flat=True)[:TAGGED_RUNS]
    rows = list(newest)
    found = {tag for tags in rows for tag in tags}
    for tag in set(asked) - found:
        if Run.objects.filter(tags__contains=[tag]).exists():
            found.add(tag)
    return sorted(found), len(rows) < TAGGED_RUNS


def _day(address: Address, name: str) -> date | None:
    text = address.text(name)
    if not text:
        return None
    try:
        return date.fromisoformat(text)
    except ValueError:
        address.refuse(name, f"{text!r:.60} is not a date", "write it as 2026-01-31")
        return None


def _midnight(day: date | None, *, after: int = 0) -> datetime | None:
    """Start of `day`, or of the day `after` days later, UTC; None after the calendar's last day."""
    if day is None or (date.max - day).days < after:
        return None
    return datetime.combine(day + timedelta(days=after), time(), UTC)
