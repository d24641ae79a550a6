"""The catalog as frozen values for the Catalog page, in a fixed number of queries."""

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from difflib import get_close_matches
from typing import Any

from django.db.models import Count, Prefetch, Q

from apps.catalog.metrics import counter_rules, derived_metrics
from apps.catalog.models import HardwareClass, Metric, Node, Platform, Release, System, Workload
from apps.core.text import and_list, counted

PLURALS = {Node.Role.PROXY: "proxies"}
LONGEST_KEY, LIKE, MOST_GUESSED = 160, 0.75, 5


@dataclass(frozen=True)
class SystemValue:
    slug: str
    name: str
    short_name: str
    hardware: str
    nodes: str
    endpoint: str
    settings: dict[str, Any]


@dataclass(frozen=True)
class ReleaseValue:
    version: str
    released_on: date | None
    systems: tuple[SystemValue, ...]


@dataclass(frozen=True)
class PlatformValue:
    """`releases`: oldest first."""

    slug: str
    name: str
    color: int | None
    replication: str
    description: str
    releases: tuple[ReleaseValue, ...]


@dataclass(frozen=True)
class HardwareValue:
    """None and empty text: not stated."""

    slug: str
    name: str
    provider: str
    label: str
    vcpu: int | None
    memory_bytes: int | None
    storage: str
    iops: int | None
    network_bits_per_second: int | None
    region: str
    price_per_hour: Decimal | None
    price_source: str
    price_date: date | None
    systems: int

    @property
    def network_gigabits(self) -> float | None:
        """Gbit/s."""
        return None if self.network_bits_per_second is None else self.network_bits_per_second / 1e9


@dataclass(frozen=True)
class WorkloadValue:
    id: int
    tool: str
    name: str
    parameters: dict[str, Any]
    primary_metric: str
    content_hash: str


@dataclass(frozen=True)
class MetricValue:
    """`rate_unit`: unit of a counter in charts, empty for a gauge. `formula`: of a derived metric, else empty."""

    key: str
    name: str
    unit: str
    rate_unit: str
    kind: str
    direction: str
    resource: str
    aspect: str
    description: str
    curated: bool
    formula: str


@dataclass(frozen=True)
class MetricFilter:
    """Empty: all described metrics. `text` is searched in key, name and description."""

    text: str = ""
    resource: str = ""
    direction: str = ""
    aspect: str = ""
    undescribed: bool = False  # include metrics without a curated description


@dataclass(frozen=True)
class MetricCounts:
    described: int
    undescribed: int


def list_platforms() -> list[PlatformValue]:
    systems = System.objects.filter(archived_at=None).select_related("hardware_class").prefetch_related("nodes")
    releases = Release.objects.prefetch_related(Prefetch("systems", queryset=systems))
    found = Platform.objects.prefetch_related(Prefetch("releases", queryset=releases))
    platforms = [
        PlatformValue(
            slug=platform.slug,
            name=platform.name,
            color=platform.color,
            replication=platform.replication,
            description=platform.description,
            releases=tuple(_release(release) for release in platform.releases.all()),
        )
        for platform in found
    ]
    return sorted(platforms, key=lambda p: (p.color is None, p.color, p.name))


def list_hardware() -> list[HardwareValue]:
    """Sorted by name, machines of a provider first."""
    found = [
        HardwareValue(
            slug=row.slug,
            name=row.name,
            provider=row.provider,
            label=row.label,
            vcpu=row.vcpu,
            memory_bytes=row.memory_bytes,
            storage=row.storage,
            iops=row.iops,
            network_bits_per_second=row.network_bits_per_second,
            region=row.region,
            price_per_hour=row.price_per_hour,
            price_source=row.price_source,
            price_date=row.price_date,
            systems=row.systems_held,
        )
        for row in HardwareClass.objects.annotate(systems_held=Count("systems"))
    ]
    return sorted(found, key=lambda h: (not h.provider, h.name))


def list_workloads() -> list[WorkloadValue]:
    return [
        WorkloadValue(
            id=row.pk,
            tool=row.tool,
            name=row.name,
            parameters=row.parameters,
            primary_metric=row.primary_metric.key,
            content_hash=row.content_hash,
        )
        for row in Workload.objects.select_related("primary_metric")
    ]


def list_metrics(chosen: MetricFilter) -> list[MetricValue]:
    rows = Metric.objects.all() if chosen.undescribed else Metric.objects.filter(curated=True)
    if chosen.text:
        text = chosen.text
        rows = rows.filter(Q(key__icontains=text) | Q(name__icontains=text) | Q(description__icontains=text))
    for field in ("resource", "direction", "aspect"):
        wanted = getattr(chosen, field)
        if wanted:
            rows = rows.filter(**{field: wanted})
    return [
        MetricValue(
            key=row.key,
            name=row.name,
            unit=row.unit,
            rate_unit=counter_rules.rate_unit(row.unit) if row.kind == Metric.Kind.COUNTER else "",
            kind=row.kind,
            direction=row.direction,
            resource=row.resource,
            aspect=row.aspect,
            description=row.description,
            curated=row.curated,
            formula=derived_metrics.formula_of(row.key),
        )
        for row in rows
    ]


def count_metrics() -> MetricCounts:
    counted = Metric.objects.aggregate(
        described=Count("pk", filter=Q(curated=True)), undescribed=Count("pk", filter=Q(curated=False))
    )
    return MetricCounts(**counted)


def list_resources() -> list[str]:
    return list(Metric.objects.exclude(resource="").order_by("resource").values_list("resource", flat=True).distinct())


def releases_named(*, version: str, platform: str | None = None) -> list[Release]:
    """Of a platform (slug), or of all: the release of that version, else those that begin with it in whole parts,
    newest first: 10.11.2 names 10.11.2-MariaDB-log, and not 10.11.20. One query."""
    if not version or "\0" in version:
        return []
    known = Release.objects.select_related("platform").order_by("-version_key", "-version")
    own = known if platform is None else known.filter(platform__slug=platform)
    found = list(own.filter(version__startswith=version))
    exact = [each for each in found if each.version == version]
    return exact or [each for each in found if not each.version[len(version)].isalnum()]


def _release(release: Release) -> ReleaseValue:
    return ReleaseValue(
        version=release.version,
        released_on=release.released_on,
        systems=tuple(
            SystemValue(
                slug=system.slug,
                name=system.name,
                short_name=system.short_name,
                hardware=system.hardware_class.name,
                nodes=_counted_nodes(system),
                endpoint=system.endpoint,
                settings=system.settings,
            )
            for system in release.systems.all()
        ),
    )


def _counted_nodes(system: System) -> str:
    """3 database nodes and 1 proxy."""
    roles = Counter(Node.Role(node.role) for node in system.nodes.all())
    data = roles.pop(Node.Role.WRITER, 0) + roles.pop(Node.Role.READER, 0)
    others = [counted(number, role.value, plural=PLURALS.get(role, "")) for role, number in sorted(roles.items())]
    return and_list([counted(data, "database node"), *others])


def choose_metrics(keys: Collection[str]) -> dict[str, str]:
    """What to do about keys that are no metric's: the one that is spelt most like each, if any is. One query."""
    known = list(Metric.objects.values_list("key", flat=True)) if keys else []
    found = {}
    for place, key in enumerate(dict.fromkeys(keys)):
        # Each takes some milliseconds: whoever guesses many has a list to look at.
        near = get_close_matches(key[:LONGEST_KEY], known, n=1, cutoff=LIKE) if place < MOST_GUESSED else []
        found[key] = f"did you mean {near[0]}? See /api/v1/metrics/" if near else "choose one of /api/v1/metrics/"
    return found
