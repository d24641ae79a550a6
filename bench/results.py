"""bench/results.json, and the table of docs/reference/performance.md generated from it."""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal

import msgspec

from bench.rounds import Compared

ROOT = Path(__file__).resolve().parents[1]
FILE = ROOT / "bench" / "results.json"
PARTS = (
    "ingest",
    "disk",
    "q1",
    "q2",
    "live",
    "pages",
    "crowd",
    "panels",
    "start",
    "memory",
    "verdicts",
    "detection",
    "histories",
)
# Measured only where asked for: they take an hour, 40 minutes, and 20, on an idle machine.
LONG_PARTS = ("load", "cost", "duet")
OURS = "Splashboard"
PAGE = ROOT / "docs" / "reference" / "performance.md"
TABLE = re.compile(r"(?<=<!-- from bench/results.json -->\n).*?(?=<!-- to here -->)", flags=re.DOTALL)


class Figure(msgspec.Struct, frozen=True, kw_only=True):
    """One comparison. `ratio` is ours / theirs: over the rounds (`bench.rounds`), with the interval `low` to `high`.

    `limit`: target of the ratio, its maximum or minimum by `better`; `limit_ours`: target of our own value. Without
    either, the figure is not judged. `skipped`: why nothing was measured.
    """

    key: str  # what.peer
    part: str
    title: str
    peer: str
    unit: str
    better: Literal["lower", "higher"]
    measured_on: str  # ISO date
    version: str = ""  # of Splashboard
    ours: float | None = None
    # 95 % interval of our own value.
    ours_low: float | None = None
    ours_high: float | None = None
    theirs: float | None = None
    ratio: float | None = None
    low: float | None = None
    high: float | None = None
    rounds: int = 0
    limit: float | None = None
    limit_ours: float | None = None
    passed: bool | None = None
    skipped: str = ""


class Results(msgspec.Struct, frozen=True, kw_only=True):
    measured_on: str = ""
    machine: dict[str, str | int | float] = {}
    versions: dict[str, str] = {}
    data: dict[str, str | int | float] = {}
    figures: list[Figure] = []

    def passed(self) -> bool:
        return all(figure.passed is not False for figure in self.figures)


def figure(
    *,
    key: str,
    part: str,
    title: str,
    peer: str,
    unit: str,
    better: Literal["lower", "higher"],
    measured_on: str,
    found: Compared,
    limit: float | None = None,
    limit_ours: float | None = None,
) -> Figure:
    """Judged by `limit` (the ratio), `limit_ours` (our own value), or both."""
    verdicts = []
    if limit is not None:
        verdicts.append(holds(found.ratio, limit, better))
    if limit_ours is not None:
        verdicts.append(holds(found.ours, limit_ours, better))
    return Figure(
        key=key,
        part=part,
        title=title,
        peer=peer,
        unit=unit,
        better=better,
        measured_on=measured_on,
        ours=found.ours,
        theirs=found.theirs,
        ratio=found.ratio,
        low=found.low,
        high=found.high,
        rounds=found.rounds,
        limit=limit,
        limit_ours=limit_ours,
        passed=all(verdicts) if verdicts else None,
    )


def holds(value: float, limit: float, better: str) -> bool:
    return value <= limit if better == "lower" else value >= limit


def load(file: Path = FILE) -> Results:
    """The last results; empty if there are none."""
    return msgspec.json.decode(file.read_bytes(), type=Results) if file.exists() else Results()


def merged(before: Results, now: Results) -> Results:
    """A part that was measured again replaces all of its figures; parts are in the order of PARTS."""
    parts = {figure.part for figure in now.figures}
    kept = [figure for figure in before.figures if figure.part not in parts]
    figures = sorted([*kept, *now.figures], key=lambda figure: [*PARTS, *LONG_PARTS].index(figure.part))
    return msgspec.structs.replace(
        now, versions={**before.versions, **now.versions}, data={**before.data, **now.data}, figures=figures
    )


def of_version(results: Results) -> Results:
    """With the version that was measured in each figure that has none."""
    version = results.versions.get(OURS, "")
    figures = [msgspec.structs.replace(each, version=each.version or version) for each in results.figures]
    return msgspec.structs.replace(results, figures=figures)


def save(results: Results, *, file: Path = FILE, page: Path = PAGE) -> None:
    file.write_bytes(msgspec.json.format(msgspec.json.encode(results), indent=2) + b"\n")
    page.write_text(TABLE.sub(lambda _: table(results), page.read_text()))


def table_in(text: str) -> str:
    """The table in the page. Raises ValueError if the page has no markers for it."""
    found = TABLE.search(text)
    if found is None:
        raise ValueError("the page has no markers for the table")
    return found[0]


def table(results: Results) -> str:
    """Markdown: the machine, the programs, a row per figure."""
    machine = results.machine
    lines = [
        f"Last measured on {results.measured_on}: {machine.get('cpu', 'unknown processor')}, "
        f"{machine.get('cores', '?')} cores, {machine.get('memory_gb', '?')} GB, {machine.get('system', 'Linux')}; "
        + ", ".join(f"{name} {version}" for name, version in results.versions.items() if name != OURS)
        + ".",
        "",
        *_rows(results.figures),
    ]
    return "\n".join(lines) + "\n"


def sentence(figure: Figure) -> str:
    """The figure as one line of output."""
    if figure.skipped:
        return f"{figure.title}; {figure.peer}: NOT MEASURED, {figure.skipped}"
    bar = _bar(figure)
    verdict = {None: "", True: f": meets {bar}", False: f": MISSES {bar}"}[figure.passed]
    if figure.theirs is None:
        return f"{figure.title}: {_own(figure)} {figure.unit}{verdict}"
    values = f"{_own(figure)} against {figure.peer}'s {_short(figure.theirs)} {figure.unit}"
    return f"{figure.title}: {values}, ratio {_spread(figure)}{verdict}"


def _own(figure: Figure) -> str:
    """Our value, with its interval if it has one."""
    own = f" ({_short(figure.ours_low)} – {_short(figure.ours_high)})" if figure.ours_low is not None else ""
    return _short(figure.ours) + own


def _rows(figures: Iterable[Figure]) -> list[str]:
    # Parts are measured separately, so each row has its date and the product's version.
    head = ["what", "peer", "ours", "theirs", "ratio (95 % interval)", "bar", "met", "measured"]
    return [
        f"| {' | '.join(head)} |",
        f"|{'---|' * len(head)}",
        *(f"| {' | '.join(_cells(figure))} |" for figure in figures),
    ]


def _cells(figure: Figure) -> Sequence[str]:
    what = f"{figure.title}, {figure.unit}"
    if figure.skipped:
        return what, figure.peer, "", "", f"not measured: {figure.skipped}", _bar(figure), "", ""
    verdict = {None: "", True: "yes", False: "**no**"}[figure.passed]
    values = _own(figure), _short(figure.theirs), _spread(figure)
    return what, figure.peer, *values, _bar(figure), verdict, f"{figure.measured_on} {figure.version}".strip()


def _spread(figure: Figure) -> str:
    """The ratio, with its interval if there were several rounds."""
    if figure.rounds < 2 or figure.ratio is None:
        return _short(figure.ratio)
    return f"{_short(figure.ratio)} ({_short(figure.low)} – {_short(figure.high)})"


def _bar(figure: Figure) -> str:
    sign = "≤" if figure.better == "lower" else "≥"
    bars = []
    if figure.limit is not None:
        bars.append(f"{sign} {figure.limit:g} ×")
    if figure.limit_ours is not None:
        bars.append(f"{sign} {figure.limit_ours:g} {figure.unit}")
    return ", ".join(bars)


def _short(value: float | None) -> str:
    """Three significant digits, large numbers in full."""
    if value is None:
        return ""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
