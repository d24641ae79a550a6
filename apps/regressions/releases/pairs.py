"""Pairs of systems to compare: of a release and of its predecessor, on one hardware class."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.db.models import QuerySet

from apps.catalog.models import HardwareClass, Release, System
from apps.runs.api import places
from apps.runs.models import Run

# Origins of measured runs, as opposed to synthetic and example runs.
MEASURED = (Run.Provenance.AGENT.value, Run.Provenance.SUBMITTED.value)
MOST_SETTINGS = 4


@dataclass(frozen=True)
class Pair:
    """`differs`: differences in settings, if the only candidate has others; empty: same settings."""

    baseline: System
    system: System
    differs: str = ""


@dataclass(frozen=True)
class Lines:
    """`pairs` of systems with runs that count, of `release` and of `baseline` (None: no earlier release has any).
    `alone`: systems of the release without a match; `lost`: those of the baseline."""

    release: Release
    hardware_class: HardwareClass
    baseline: Release | None
    pairs: tuple[Pair, ...] = ()
    alone: tuple[System, ...] = ()
    lost: tuple[System, ...] = ()


def lines(release: Release, hardware_class: HardwareClass, baseline: Release | None = None) -> Lines:
    """`baseline` None: the newest earlier release with runs that count on this hardware. A system is compared with the
    one with the same settings, else with the only one there is. Systems with measured runs are compared with each
    other, systems with synthetic and example runs alone likewise."""
    ran = _with_runs(release.platform_id, hardware_class)
    wanted = any(is_measured for system, is_measured in ran if system.release_id == release.pk)
    own = [system for system, is_measured in ran if is_measured == wanted]
    if baseline is None:
        baseline = before(release, [system.release for system in own])
    if baseline is None:
        return Lines(release, hardware_class, None)
    newer = [system for system in own if system.release_id == release.pk]
    older = [system for system in own if system.release_id == baseline.pk]
    pairs, alone = [], []
    for system in newer:
        matching = _matching_system(system, older)
        if matching is None:
            alone.append(system)
        else:
            pairs.append(Pair(matching, system, _differs(matching, system)))
    matched = {pair.baseline.pk for pair in pairs}
    alike = {system.settings_hash for system in newer}
    lost = [system for system in older if system.pk not in matched and system.settings_hash not in alike]
    return Lines(release, hardware_class, baseline, tuple(pairs), tuple(alone), tuple(lost))


def order(release: Release) -> tuple[list[int], str]:
    """Sort key of releases of a platform."""
    return release.version_key, release.version


def before(release: Release, known: Iterable[Release]) -> Release | None:
    """The newest of `known` that is older."""
    return max((each for each in known if order(each) < order(release)), key=order, default=None)


def after(release: Release, known: Iterable[Release]) -> Release | None:
    """The oldest of `known` that is newer."""
    return min((each for each in known if order(each) > order(release)), key=order, default=None)


def with_runs(platform: int, hardware_class: HardwareClass) -> list[Release]:
    """Releases of a platform that have measured runs that count on this hardware. Two queries."""
    found = [system.release for system, is_measured in _with_runs(platform, hardware_class) if is_measured]
    return list({each.pk: each for each in found}.values())


def on_hardware(release: Release) -> list[HardwareClass]:
    """Hardware classes on which it has runs that count; if any were measured, only those. Two queries."""
    ran = _ran(System.objects.filter(release=release).order_by("hardware_class__name"))
    wanted = any(is_measured for _, is_measured in ran)
    found = [system.hardware_class for system, is_measured in ran if is_measured == wanted]
    return list({each.pk: each for each in found}.values())


def _with_runs(platform: int, hardware_class: HardwareClass) -> list[tuple[System, bool]]:
    systems = System.objects.filter(release__platform=platform, hardware_class=hardware_class)
    return _ran(systems.order_by("-created_at", "-pk"))


def _ran(systems: "QuerySet[System]") -> list[tuple[System, bool]]:
    """The systems with runs that count, and whether any of these runs was measured. Two queries, from index to
    index."""
    known = list(systems.select_related("release__platform", "hardware_class"))
    origins: dict[int, set[str]] = {}
    for place in places.counted(systems=[system.pk for system in known], most=0) if known else ():
        origins.setdefault(place.system, set()).update(place.kind)
    return [(system, not origins[system.pk].isdisjoint(MEASURED)) for system in known if system.pk in origins]


def _matching_system(system: System, older: Sequence[System]) -> System | None:
    alike = [each for each in older if each.settings_hash == system.settings_hash]
    if alike:
        # The most similar name, then the newest.
        return max(alike, key=lambda each: _shared(each.slug, system.slug))
    return older[0] if len(older) == 1 else None


def _shared(one: str, other: str) -> int:
    """Characters that two slugs share at their beginning and end."""
    return _common(one, other) + _common(one[::-1], other[::-1])


def _common(one: str, other: str) -> int:
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def _differs(baseline: System, system: System) -> str:
    if baseline.settings_hash == system.settings_hash:
        return ""
    names = sorted({*baseline.settings, *system.settings})
    texts = [
        f"{name} {baseline.settings.get(name, 'not set')} → {system.settings.get(name, 'not set')}"
        for name in names
        if baseline.settings.get(name) != system.settings.get(name)
    ]
    more = f" and {len(texts) - MOST_SETTINGS} more" if len(texts) > MOST_SETTINGS else ""
    return ", ".join(texts[:MOST_SETTINGS]) + more
