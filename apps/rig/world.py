"""The rig's world: systems over platforms, releases and hardware, workloads, and the speed of each side. Pure.

Speeds follow the universal scalability law: with n threads a side does `rate` x n / (1 + a (n - 1) + b n (n - 1))
transactions/s, times the shares of its platform, release and hardware. All figures are invented.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from apps.rig.recordings import GALERA, SINGLE

PREFIX = "rig-"
THREADS = (1, 2, 4, 8, 16, 32, 64, 128, 256)


@dataclass(frozen=True)
class PlatformSpec:
    """`nodes`: name and role; `share`: of the throughput of a single server, by kind of load; `recorded`: the nodes
    replayed."""

    slug: str
    releases: tuple[tuple[str, str], ...]  # release, version as reported by the server
    nodes: tuple[tuple[str, str], ...]
    share: Mapping[str, float]
    recorded: tuple[str, ...] = SINGLE


@dataclass(frozen=True)
class RigWorkload:
    """`kind`: selects the recorded seconds. `rate`: transactions/s of one thread; `contention` and `coherence`: a and b
    of the law. `queries`: statements per transaction, `reads` and `writes` included."""

    test: str
    kind: str
    rate: float
    contention: float
    coherence: float
    queries: int
    reads: int
    writes: int


@dataclass(frozen=True)
class SystemSpec:
    slug: str
    name: str
    short_name: str
    platform: PlatformSpec
    release: str
    server_version: str
    hardware: str
    settings: Mapping[str, str]
    speed: float  # of its hardware and release

    def throughput(self, workload: RigWorkload, threads: int) -> float:
        """In transactions/s."""
        law = 1 + workload.contention * (threads - 1) + workload.coherence * threads * (threads - 1)
        return workload.rate * threads / law * self.platform.share[workload.kind] * self.speed


CLUSTER = (("db1", "writer"), ("db2", "reader"), ("db3", "reader"))
ONE = (("db1", "writer"),)
PLATFORMS = (
    PlatformSpec(
        "aurora",
        (("3.04.0", "8.0.28"), ("3.07.1", "8.0.36"), ("3.08.0", "8.0.39")),
        CLUSTER[:2],
        {"read_write": 1.15, "read_only": 0.95, "write_only": 1.4},
    ),
    PlatformSpec(
        "pxc",
        (("8.0.35-27.1", "8.0.35-27.1"), ("8.0.36-28.1", "8.0.36-28.1"), ("8.4.2-2.1", "8.4.2-2.1")),
        CLUSTER,
        {"read_write": 0.8, "read_only": 0.97, "write_only": 0.6},
        GALERA,
    ),
    PlatformSpec(
        "mha",
        (("5.7.44", "5.7.44-log"), ("8.0.36", "8.0.36")),
        CLUSTER,
        {"read_write": 0.93, "read_only": 1.0, "write_only": 0.85},
    ),
    PlatformSpec(
        "galera",
        (("10.6.17", "10.6.17-MariaDB"), ("10.11.8", "10.11.8-MariaDB"), ("11.4.2", "11.4.2-MariaDB")),
        CLUSTER,
        {"read_write": 0.82, "read_only": 1.02, "write_only": 0.63},
        GALERA,
    ),
    PlatformSpec(
        "mysql", (("8.0.36", "8.0.36"), ("8.4.2", "8.4.2")), ONE, {"read_write": 1, "read_only": 1, "write_only": 1}
    ),
    PlatformSpec(
        "mariadb",
        (("10.11.8", "10.11.8-MariaDB"), ("11.4.2", "11.4.2-MariaDB")),
        ONE,
        {"read_write": 1.04, "read_only": 1.05, "write_only": 1.02},
    ),
    PlatformSpec("rds-mysql", (("8.0.36", "8.0.36"),), ONE, {"read_write": 0.9, "read_only": 0.98, "write_only": 0.75}),
)
# Slug of a class that every installation has -> factor of the speed.
HARDWARE = {"m4.xlarge": 1.0, "c4.4xlarge": 2.6, "i3.8xlarge": 4.4}
WORKLOADS = (
    RigWorkload("oltp_read_write", "read_write", 145, 0.035, 0.00006, 20, 14, 4),
    RigWorkload("oltp_read_only", "read_only", 190, 0.02, 0.00002, 16, 14, 0),
    RigWorkload("oltp_write_only", "write_only", 420, 0.05, 0.00012, 6, 0, 4),
    RigWorkload("oltp_point_select", "read_only", 3900, 0.015, 0.00002, 1, 1, 0),
    RigWorkload("oltp_insert", "write_only", 1100, 0.06, 0.00015, 1, 0, 1),
    RigWorkload("oltp_update_index", "write_only", 900, 0.07, 0.0002, 1, 0, 1),
)


def systems() -> list[SystemSpec]:
    """The first two are those measured every night."""
    found = [
        SystemSpec(
            slug=f"{PREFIX}{platform.slug}-{release}-{hardware}".lower(),
            name=f"{_title(platform.slug)} {release} on {hardware} (rig)",
            short_name=f"{_title(platform.slug)} {_version(release, platform)} {hardware.partition('.')[0]}",
            platform=platform,
            release=release,
            server_version=server_version,
            hardware=hardware,
            settings={"innodb_flush_log_at_trx_commit": "1", "sync_binlog": "1" if place % 2 else "0"},
            speed=share * (1 + 0.04 * place),
        )
        for platform in PLATFORMS
        for place, (release, server_version) in enumerate(platform.releases)
        for hardware, share in HARDWARE.items()
    ]
    nightly = ("aurora", "pxc")
    first = {slug: max(spec.slug for spec in found if spec.platform.slug == slug) for slug in nightly}
    return sorted(
        found, key=lambda spec: [spec.slug != first[slug] for slug in nightly if slug == spec.platform.slug] or [True]
    )


def _title(slug: str) -> str:
    return {
        "aurora": "Aurora",
        "pxc": "PXC",
        "mha": "MHA",
        "galera": "Galera",
        "rds-mysql": "RDS",
        "mysql": "MySQL",
        "mariadb": "MariaDB",
    }[slug]


def _version(release: str, platform: PlatformSpec) -> str:
    """Its first two numbers, or three where another release of the platform has the same two."""
    numbers = release.partition("-")[0]
    minor = ".".join(numbers.split(".")[:2])
    return numbers if sum(each.startswith(f"{minor}.") for each, _ in platform.releases) > 1 else minor


def of_kind(kinds: Sequence[str]) -> list[RigWorkload]:
    return [spec for spec in WORKLOADS if spec.kind in kinds]
