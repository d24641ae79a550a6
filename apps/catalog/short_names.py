"""Short names of systems for tables, charts and titles. Pure.

A system is named by platform and nodes ("Galera ×3", "MHA 1+2", "MySQL single"). Beside another system like it the name
has what differs: version, hardware, a setting ("Galera 10.11.19", "MySQL flush=2"); if nothing fits, the slug or a
number. Names stay: a system named by "10.11" today may have one of another patch release beside it tomorrow.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations, count, product

LONGEST = 16
PLATFORMS = {"galera": "Galera", "group-replication": "GR", "rds-mysql": "RDS"}
# Platforms whose nodes hold the same data and all take writes: counted together.
MULTI_PRIMARY = ("galera", "pxc")
# What a person called this way of setting a server up (splashboard run --variant).
VARIANT = "variant"
# Shown in place of a variable's name, the most telling first.
SETTINGS = {
    VARIANT: "",
    "innodb_flush_log_at_trx_commit": "flush",
    "sync_binlog": "sync",
    "innodb_buffer_pool_size": "pool",
    "innodb_flush_method": "",
    "binlog_format": "",
    "innodb_io_capacity": "io",
}
Part = Callable[["Traits"], str]


@dataclass(frozen=True)
class Traits:
    """`name`: as its owner wrote it. `roles`: of its nodes."""

    slug: str
    name: str
    platform_slug: str
    platform: str
    version: str
    hardware: str
    settings: Mapping[str, object]
    roles: Sequence[str]


def short_name(own: Traits, *, others: Sequence[Traits], taken: Collection[str]) -> str:
    """Of at most LONGEST characters, not among `taken` in whatever case. `others`: the platform's other systems."""
    used = {each.casefold() for each in taken}
    return next(each for each in _candidates(own, others) if each.casefold() not in used and len(each) <= LONGEST)


def topology(own: Traits) -> str:
    """Nodes that hold data: "single", "×3", or "1+2" for one writer and two readers; empty: not known."""
    writers, readers = own.roles.count("writer"), own.roles.count("reader")
    if writers + readers < 2:
        return "single" if writers + readers else ""
    alike = own.platform_slug in MULTI_PRIMARY or not readers
    return f"\N{MULTIPLICATION SIGN}{writers + readers}" if alike else f"{writers}+{readers}"


def _candidates(own: Traits, others: Sequence[Traits]) -> Iterator[str]:
    if own.name != own.slug:
        yield own.name
    platform = PLATFORMS.get(own.platform_slug, own.platform)
    head = f"{platform} {topology(own)}".strip()
    alike = [each for each in others if topology(each) == topology(own)]
    if VARIANT in own.settings:
        variant = str(own.settings[VARIANT])
        yield from (f"{platform} {variant}", f"{variant} {_numbers(own)}", variant)
    if not alike:
        yield from (head, platform)
    keys = [key for key in _ordered(own.settings) if any(_setting(key, each) != _setting(key, own) for each in alike)]
    axes: list[list[Part]] = [[_numbers, _minor], [_family, _hardware], [partial(_setting, key) for key in keys]]
    choices = [
        parts for size in range(1, len(axes) + 1) for chosen in combinations(axes, size) for parts in product(*chosen)
    ]
    for parts in choices:
        texts = [part(own) for part in parts]
        if all(texts) and alike and not any([part(each) for part in parts] == texts for each in alike):
            yield from (" ".join((start, *texts)) for start in (head, platform))
    yield from (own.slug, head, platform)
    yield from (f"{start} #{number}" for start in (head, platform) for number in range(2, 10))
    yield from (f"{platform[: LONGEST - 8].strip()} #{number}" for number in count(2))


def _ordered(settings: Mapping[str, object]) -> list[str]:
    return [key for key in SETTINGS if key in settings] + sorted(settings.keys() - SETTINGS.keys())


def _minor(own: Traits) -> str:
    return ".".join(_numbers(own).split(".")[:2])


def _numbers(own: Traits) -> str:
    """ "10.11.19" of "10.11.19-MariaDB-log"."""
    found = re.match(r"\d+(\.\d+)*", own.version)
    return found[0] if found else ""


def _family(own: Traits) -> str:
    """ "r5" of "db.r5.4xlarge"."""
    return _hardware(own).partition(".")[0]


def _hardware(own: Traits) -> str:
    """ "r5.4xl" of "db.r5.4xlarge"."""
    return own.hardware.removeprefix("db.").replace("xlarge", "xl")


def _setting(key: str, own: Traits) -> str:
    """ "flush=2"; a value that names itself alone."""
    if key not in own.settings:
        return ""
    word = SETTINGS.get(key, key.removeprefix("innodb_").removeprefix("wsrep_"))
    return f"{word}={own.settings[key]}" if word else str(own.settings[key])
