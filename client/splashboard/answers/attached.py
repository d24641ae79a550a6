"""Generated from the OpenAPI schema: `make types`."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class AttachedNode:
    name: str
    metrics: list[str]  # keys of our metrics that the node has by these series
    own: int  # how many series keep names of their own: prometheus.<name>
    known: int  # how many the node had; those stay as they were
    interval: float  # median time between samples, s
    moved: float  # the most by which samples were moved to the node's clock, s


@dataclass(frozen=True)
class AttachedSeries:
    run: int
    artifact: str
    created: bool
    nodes: list[AttachedNode]
    warnings: list[str]


@dataclass(frozen=True)
class Column:
    name: str
    unit: str  # empty: text, or a plain count


@dataclass(frozen=True)
class Table:
    artifact: str
    title: str
    columns: list[Column]
    rows: list[list[Any]]  # a list of cells each, the largest first; None: not reported
    total: int  # rows of the file; at most 200 are here
    note: str  # what the rows cover
    unparsed_lines: list[str]
    problem: str  # why it cannot be read; else empty
    format: str
    address: str  # of the file itself
