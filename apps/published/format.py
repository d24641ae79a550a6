"""Fields of the YAML format of published results, explained in docs/reference/published-format.md. Pure."""

from typing import Any

import msgspec

Scalar = str | int | float | bool

# Questions that figures answer, in the order of the pages.
QUESTIONS = {
    "failover": "Failover",
    "ingest": "Ingest",
    "oltp": "OLTP",
    "tpcc": "TPC-C",
    "latency": "Latency near saturation",
    "ddl": "Schema change",
    "engines": "Storage engines",
    "disk": "Disk",
    "cost": "Cost",
    "steadiness": "Steadiness",
    "other": "Other figures",
}
QUALIFIERS = ("exact", "approx", "at_least", "at_most")
RATIO = "ratio"


class MalformedFile(Exception):
    """A file rejected as a whole. `entry` and `field`: location, `message`: what is expected."""

    def __init__(self, file: str, entry: str, field: str, message: str) -> None:
        where = ".".join(part for part in (entry, field) if part)
        super().__init__(": ".join(part for part in (file, where, message) if part))
        self.file = file
        self.entry = entry
        self.field = field
        self.message = message


class _Entry(msgspec.Struct, forbid_unknown_fields=True):
    pass


class ArticleSource(_Entry):
    """Dates as stated: YYYY, YYYY-MM or YYYY-MM-DD."""

    title: str
    published: str | int
    tested: str | int = ""
    author: str = ""
    publisher: str = ""
    address: str = ""


class ArticleHardware(_Entry):
    """A machine as described by the article; `hardware_class`: its slug in the catalog."""

    hardware_class: str = ""
    label: str = ""
    vcpu: int | None = None
    hardware_threads: int | None = None
    memory_gb: float | None = None
    memory_available_gb: float | None = None
    storage: str = ""
    nodes: int | None = None
    region: str = ""
    note: str = ""


class ArticleSide(_Entry):
    """Subject of figures; `platform`: its slug in the catalog, if any; `hardware`: keys of the file's `hardware`."""

    name: str
    platform: str = ""
    release: str = ""
    hardware: list[str] = []
    replication: str = ""
    endpoint: str = ""
    connection_limit: int | None = None
    note: str = ""


class WorkloadEntry(_Entry):
    question: str
    tool: str = ""
    parameters: dict[str, Scalar | list[Scalar]] = {}
    note: str = ""


class FigureEntry(_Entry):
    workload: str
    metric: str
    conditions: dict[str, Scalar | list[Scalar]] = {}
    unit: str = ""
    value: float | None = None
    low: float | None = None
    high: float | None = None
    qualifier: str = ""
    side: str = ""
    numerator: str = ""
    denominator: str = ""
    hardware: str = ""
    of_which: dict[str, float] = {}
    note: str = ""


class FigureColumn(_Entry):
    """Either an `axis` (name of a condition, or "side"), or a metric with its figures below."""

    axis: str = ""
    metric: str = ""
    unit: str = ""
    side: str = ""
    numerator: str = ""
    denominator: str = ""
    qualifier: str = ""


class TableEntry(_Entry):
    """Many figures of one workload, one row per combination of its axes."""

    title: str
    workload: str
    columns: list[FigureColumn]
    rows: list[list[Scalar | None]]
    conditions: dict[str, Scalar | list[Scalar]] = {}
    qualifier: str = "exact"
    side: str = ""
    hardware: str = ""
    note: str = ""


class StatedBottleneck(_Entry):
    """Resources found saturated by the article."""

    workload: str
    side: str
    saturated: list[str]
    conditions: dict[str, Scalar | list[Scalar]] = {}
    note: str = ""


class StatedLoadLevels(_Entry):
    """Load levels tested."""

    workload: str
    conditions: dict[str, Scalar | list[Scalar]] = {}
    threads: list[int] = []
    max_threads: int | None = None


class StatedError(_Entry):
    """An error reported by the article."""

    workload: str
    side: str
    code: int
    note: str = ""


class File(_Entry):
    """Entries are converted one by one, so that an error names its entry."""

    format: int
    slug: str
    source: Any
    workloads: dict[str, Any]
    hardware: dict[str, Any] = {}
    sides: dict[str, Any] = {}
    conditions: dict[str, Scalar | list[Scalar]] = {}
    topology: dict[str, Scalar] = {}
    client: dict[str, Scalar] = {}
    releases: list[str] = []
    load_levels: list[Any] = []
    figures: list[Any] = []
    tables: list[Any] = []
    bottlenecks: list[Any] = []
    errors: list[Any] = []
    notes: list[str] = []


class StatedFigure(msgspec.Struct, frozen=True, kw_only=True):
    """One figure with its entry in the file."""

    entry: str
    figure: FigureEntry


class Document(msgspec.Struct, frozen=True, kw_only=True):
    """A parsed file; `figures`: those of the list and of the tables' cells."""

    file: str
    slug: str
    source: ArticleSource
    hardware: dict[str, ArticleHardware]
    sides: dict[str, ArticleSide]
    workloads: dict[str, WorkloadEntry]
    conditions: dict[str, Scalar | list[Scalar]]
    topology: dict[str, Scalar]
    client: dict[str, Scalar]
    releases: list[str]
    load_levels: list[StatedLoadLevels]
    tables: list[TableEntry]
    bottlenecks: list[StatedBottleneck]
    errors: list[StatedError]
    notes: list[str]
    figures: list[StatedFigure]
