"""Pairs of systems to compare: of a release and of its predecessor, on one hardware class."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from django.db.models import QuerySet

from apps.catalog.models import HardwareClass, Release, System
from apps.runs.api import places
from apps.runs.models import Run

# Origins of measured runs, as opposed to synthetic and example runs.
MEASURED = (Run.Provenance.AGENT.value, Run.Provenance.SUBMITTED.value)
MOST_SETTINGS = 4
# (workload, load level) with runs that count.
Where = tuple[int, int]


@dataclass(frozen=True)
class Pair:
    """`differs`: differences in settings, if the only candidate has others; empty: same settings. `only`: what is
    compared; None: all that the baseline's system ran."""

    baseline: System
    system: System
    differs: str = ""
    only: frozenset[Where] | None = None

    def compared(self, ran: AbstractSet[Where]) -> AbstractSet[Where]:
        """What of `ran`, by the baseline's system, is compared."""
        return ran if self.only is None else self.only


@dataclass(frozen=True)
class Lines:
    """`pairs` of systems with runs that count, of `release` and of `baseline` (None: no earlier release has any).
    `alone`: systems of the release without a match; `lost`: those of the baseline. `unused`: those of the baseline with
    the settings of others, which ran the same."""

    release: Release
    hardware_class: HardwareClass
    baseline: Release | None
    pairs: tuple[Pair, ...] = ()
    alone: tuple[System, ...] = ()
    lost: tuple[System, ...] = ()
    unused: tuple[System, ...] = ()


@dataclass(frozen=True)
class _Ran:
    """A system with runs that count. `is_measured`: whether any of them was measured; `where`: of all of them."""

    system: System
    is_measured: bool
    where: AbstractSet[Where]


def lines(release: Release, hardware_class: HardwareClass, baseline: Release | None = None) -> Lines:
    """`baseline` None: the newest earlier release with runs that count on this hardware. A system is compared with the
    one with the same settings, else with the only one there is; for what that did not run, with others of these
    settings. Systems with measured runs are compared with each other, systems with synthetic and example runs alone
    likewise."""
    ran = _with_runs(release.platform_id, hardware_class)
    wanted = any(each.is_measured for each in ran if each.system.release_id == release.pk)
    own = [each.system for each in ran if each.is_measured == wanted]
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
    pairs += _further(pairs, older, {each.system.pk: each.where for each in ran})
    matched = {pair.baseline.pk for pair in pairs}
    rest = [system for system in older if system.pk not in matched]
    alike = {system.settings_hash for system in newer}
    lost = tuple(system for system in rest if system.settings_hash not in alike)
    unused = tuple(system for system in rest if system.settings_hash in alike)
    return Lines(release, hardware_class, baseline, tuple(pairs), tuple(alone), lost, unused)


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
    found = [each.system.release for each in _with_runs(platform, hardware_class) if each.is_measured]
    return list({each.pk: each for each in found}.values())


def on_hardware(release: Release) -> list[HardwareClass]:
    """Hardware classes on which it has runs that count; if any were measured, only those. Two queries."""
    ran = _ran(System.objects.filter(release=release).order_by("hardware_class__name"))
    wanted = any(each.is_measured for each in ran)
    found = [each.system.hardware_class for each in ran if each.is_measured == wanted]
    return list({each.pk: each for each in found}.values())


def _with_runs(platform: int, hardware_class: HardwareClass) -> list[_Ran]:
    systems = System.objects.filter(release__platform=platform, hardware_class=hardware_class)
    return _ran(systems.order_by("-created_at", "-pk"))


def _ran(systems: "QuerySet[System]") -> list[_Ran]:
    """Those of the systems with runs that count. Two queries, from index to index."""
    known = list(systems.select_related("release__platform", "hardware_class"))
    origins: dict[int, set[str]] = defaultdict(set)
    where: dict[int, set[Where]] = defaultdict(set)
    for place in places.counted(systems=[system.pk for system in known], most=0) if known else ():
        origins[place.system].update(place.kind)
        where[place.system].add((place.workload, place.level))
    return [
        _Ran(system, not origins[system.pk].isdisjoint(MEASURED), where[system.pk])
        for system in known
        if system.pk in origins
    ]


def _matching_system(system: System, older: Sequence[System]) -> System | None:
    alike = _alike(system, older)
    if alike:
        return alike[0]
    return older[0] if len(older) == 1 else None


def _alike(system: System, others: Iterable[System]) -> list[System]:
    """Those with the same settings: the most similar name, then the newest, first."""
    alike = [each for each in others if each.settings_hash == system.settings_hash]
    return sorted(alike, key=lambda each: _shared(each.slug, system.slug), reverse=True)


def _further(pairs: Sequence[Pair], older: Sequence[System], where: Mapping[int, AbstractSet[Where]]) -> list[Pair]:
    """Pairs with further systems of the baseline that have the same settings, for what the matching systems did not
    run: what the release's system ran too, and what none of the release did, which is missing."""
    matched = {pair.baseline.pk for pair in pairs}
    found: dict[tuple[System, System], set[Where]] = defaultdict(set)
    # By settings: what has a row.
    compared: dict[str, set[Where]] = defaultdict(set)
    for pair in pairs:
        done = set(where[pair.baseline.pk])
        for other in _alike(pair.system, older):
            if only := (where[other.pk] & where[pair.system.pk]) - done:
                found[other, pair.system] |= only
                done |= only
        compared[pair.baseline.settings_hash] |= done
    for other in older:
        missing = where[other.pk] - compared[other.settings_hash]
        closest = _alike(other, (pair.system for pair in pairs))
        if missing and closest and other.pk not in matched:
            found[other, closest[0]] |= missing
            compared[other.settings_hash] |= missing
    return [Pair(other, system, only=frozenset(only)) for (other, system), only in found.items()]


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
