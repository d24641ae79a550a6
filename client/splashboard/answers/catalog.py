"""Generated from the OpenAPI schema: `make types`."""

from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Literal, Optional


@dataclass(frozen=True)
class Platform:
    slug: str
    name: str
    replication: Optional[str] = None
    description: Optional[str] = None
    color: Optional[int] = None


@dataclass(frozen=True)
class PlatformList:
    next: Optional[str]  # the next page; None: this is the last
    results: list[Platform]


@dataclass(frozen=True)
class Release:
    id: int
    platform: str
    version: str
    released_on: Optional[date] = None


@dataclass(frozen=True)
class ReleaseList:
    next: Optional[str]  # the next page; None: this is the last
    results: list[Release]


@dataclass(frozen=True)
class HardwareClass:
    slug: str
    name: str
    usd_per_hour: Optional[str]
    provider: Optional[str] = None
    instance_type: Optional[str] = None
    vcpu: Optional[int] = None
    memory_bytes: Optional[int] = None
    storage: Optional[str] = None
    storage_bytes: Optional[int] = None
    iops: Optional[int] = None
    network_bits_per_second: Optional[int] = None
    region: Optional[str] = None
    price_source: Optional[str] = None
    price_date: Optional[date] = None
    label: Optional[str] = None


@dataclass(frozen=True)
class HardwareClassList:
    next: Optional[str]  # the next page; None: this is the last
    results: list[HardwareClass]


RoleEnum = Literal["writer", "reader", "proxy", "manager", "client"]


@dataclass(frozen=True)
class Node:
    name: str
    role: RoleEnum
    hardware_class: str
    zone: Optional[str] = None


AwsPlaceKindEnum = Literal["cluster", "instance"]


@dataclass(frozen=True)
class AwsPlace:
    """Location of a system at AWS."""

    region: str
    kind: AwsPlaceKindEnum
    identifier: str


@dataclass(frozen=True)
class System:
    slug: str
    name: str
    short_name: str
    platform: str
    version: str
    hardware_class: str
    settings: dict[str, str]
    labels: list[str]
    nodes: list[Node]
    aws: Optional[AwsPlace]  # None: it is elsewhere
    created_at: datetime
    endpoint: Optional[str] = None
    archived_at: Optional[datetime] = None


@dataclass(frozen=True)
class SystemList:
    next: Optional[str]  # the next page; None: this is the last
    results: list[System]


@dataclass(frozen=True)
class Workload:
    id: int
    tool: str
    name: str
    parameters: dict[str, Any]
    content_hash: str
    primary_metric: str
    description: Optional[str] = None


@dataclass(frozen=True)
class WorkloadList:
    next: Optional[str]  # the next page; None: this is the last
    results: list[Workload]
