"""Sentences of the scorecard: what is measured, how sure it is, what articles state."""

from collections.abc import Mapping, Sequence

from apps.comparison.api import ScorecardCell, ScorecardRow
from apps.comparison.pure import WITHHELD, Cell, Direction, inverse, with_interval
from apps.core.text import and_list
from apps.core.units import NBSP
from apps.published.frames import Frame, FrameMark
from apps.runs.pure import title_of
from apps.web.compare.wording import remedy
from workers.protocol.workloads.kinds import FAILOVER, INGEST, MIXED, SCHEMA_CHANGE, TPCC

TITLES = {INGEST: "Ingest", MIXED: "OLTP", TPCC: "TPC-C", FAILOVER: "Failover", SCHEMA_CHANGE: "Schema change"}
# For "Plan an ingest campaign".
ARTICLES = {
    INGEST: "an ingest",
    MIXED: "an OLTP",
    TPCC: "a TPC-C",
    FAILOVER: "a failover",
    SCHEMA_CHANGE: "a schema change",
}
# Kind of load -> question of the articles.
QUESTIONS = {INGEST: "ingest", MIXED: "oltp", TPCC: "tpcc", FAILOVER: "failover", SCHEMA_CHANGE: "ddl"}
DECIDED = ("better", "worse")
# More runs than this are no advice.
MOST_NAMED = 200
EQUIVALENT = "equivalent"


def answer(rows: Sequence[ScorecardRow], *, has_figures: bool) -> str:
    """Which architecture is ahead in which row, and what is not known."""
    if not any(row.measured for row in rows):
        return "Nothing is measured yet; published figures only." if has_figures else "Nothing is measured yet."
    led = {row.kind: cells for row in rows if (cells := _decided(row))}
    claims: dict[str, dict[str, list[str]]] = {}
    for row in rows:
        if row.kind in led:
            behind = and_list([_named(cell) for cell in led[row.kind]])
            claims.setdefault(_best(row), {}).setdefault(behind, []).append(TITLES[row.kind])
    sentences = [
        f"{best} is ahead {', and '.join(f'of {behind} in {and_list(titles)}' for behind, titles in own.items())}"
        for best, own in claims.items()
    ]
    open_rows = [row for row in rows if len(row.measured) > 2 and row.kind not in led and not _is_equal(row)]
    undecided = [TITLES[row.kind] for row in open_rows]
    single = [TITLES[row.kind] for row in rows if len(row.measured) < 2]
    sentences += _equal(rows)
    sentences += _open_pairs(rows)
    sentences += [f"undecided: {and_list(undecided)}"] if undecided else []
    sentences += [f"not compared yet: {and_list(single)}"] if single else []
    return " ".join(map(_sentence, sentences))


def _equal(rows: Sequence[ScorecardRow]) -> list[str]:
    """Of rows in which nobody differs from the best: "Aurora, PXC/Galera and MHA: equivalent in OLTP"."""
    found: dict[str, list[str]] = {}
    for row in filter(_is_equal, rows):
        if all(cell.words == EQUIVALENT for _, cell in _behind(row)):
            words = f"{and_list([_named(cell) for cell in row.measured])}: equivalent"
        else:
            words = f"{and_list([_named(cell) for cell in _others(row)])}: equivalent to {_best(row)}"
        found.setdefault(words, []).append(TITLES[row.kind])
    return [f"{words} in {and_list(titles)}" for words, titles in found.items()]


def _is_equal(row: ScorecardRow) -> bool:
    others = _others(row)
    return bool(others) and all(cell.cell and cell.cell.words == EQUIVALENT for cell in others)


def _open_pairs(rows: Sequence[ScorecardRow]) -> list[str]:
    """Of those behind the best, and of two where no others are measured: "MHA and PXC/Galera: undecided in Ingest"."""
    pairs: dict[str, list[str]] = {}
    for row in rows:
        both = tuple(_named(cell) for cell in row.measured)
        alone = [(both, cell.cell) for cell in _others(row) if cell.cell] if len(both) == 2 else []
        for names, cell in alone or _behind(row):
            if cell.words not in (*DECIDED, EQUIVALENT):
                pairs.setdefault(and_list(sorted(names)), []).append(TITLES[row.kind])
    return [f"{pair}: undecided in {and_list(titles)}" for pair, titles in pairs.items()]


def between(row: ScorecardRow) -> tuple[str, str]:
    """Of the families behind the best, in short, and with all intervals: "PXC/Galera and MHA: inconclusive."."""
    short, whole = [], []
    for (second, other), cell in _behind(row):
        ratio = with_interval(cell.ratio) if cell.ratio and cell.words != WITHHELD else ""
        sentence = f"{other} {ratio} of {second}: {cell.words}" if ratio else f"{other} and {second}: {cell.words}"
        short.append(sentence if cell.words in DECIDED else f"{other} and {second}: {cell.words}")
        whole.append(sentence)
    return (_sentence("; ".join(short)), _sentence("; ".join(whole))) if short else ("", "")


def _behind(row: ScorecardRow) -> list[tuple[tuple[str, ...], Cell]]:
    """Names of the second and of another family behind the best, with the verdict on the other."""
    if row.behind is None:
        return []
    names = {cell.side.slug: _named(cell) for cell in row.measured if cell.side}
    second, *others = row.behind.sides
    cells = {cell.side: cell for cell in row.behind.cells}
    return [
        ((names[second.slug], names[side.slug]), cells[side.slug])
        for side in others
        if side.slug in names and second.slug in names and cells[side.slug].replicates
    ]


def _best(row: ScorecardRow) -> str:
    return next(_named(cell) for cell in row.cells if cell.is_best)


def _named(cell: ScorecardCell) -> str:
    """ "the single server", as in the middle of a sentence."""
    return f"the {cell.family.name}" if cell.family.name.islower() else cell.family.name


def _others(row: ScorecardRow) -> list[ScorecardCell]:
    return [cell for cell in row.measured if not cell.is_best]


def _decided(row: ScorecardRow) -> list[ScorecardCell]:
    """The others that differ from the best by their verdict."""
    return [cell for cell in _others(row) if cell.cell and cell.cell.words in DECIDED]


def standing(row: ScorecardRow) -> str:
    """Of the side with the best value: "best" of all, or "ahead" of some; empty: no verdict says so."""
    decided = len(_decided(row))
    if not decided:
        return ""
    return "best" if decided == len(_others(row)) else "ahead"


def conclusion(row: ScorecardRow, *, as_speed: bool = False) -> str:
    """For example "PXC/Galera is best: MHA 1.42 × [1.30, 1.55]; Single server inconclusive, about 12 more runs per side
    needed". `as_speed`: ratios of times the other way round, as where the fastest is 1."""
    others = _others(row)
    if not row.measured:
        return "Not measured."
    if not others:
        return f"Only {_named(row.measured[0])} is measured."
    turned = as_speed and row.metric is not None and row.metric.direction == Direction.LOWER
    decided = [f"{_named(cell)} {_ratio(cell, turned=turned)}" for cell in _decided(row)]
    names = {cell.side.slug: _named(cell) for cell in row.measured if cell.side}
    rest = [_undecided(cell, names) for cell in others if not (cell.cell and cell.cell.words in DECIDED)]
    if decided:
        return _sentence("; ".join([f"{_best(row)} is {standing(row)}: {', '.join(decided)}", *rest]))
    return _sentence(f"{_best(row)} and {'; '.join(rest)}")


def limit(row: ScorecardRow) -> tuple[str, str]:
    """What failed checks make of the conclusion at worst: "Lower bound for MHA: load generator", and the sentence."""
    names = {cell.side.slug: _named(cell) for cell in row.measured if cell.side}
    for each in row.limits:
        sides = and_list([names[slug] for slug in each.sides if slug in names])
        return f"{each.head} for {sides}: {and_list([title_of(key) for key in each.checks])}", each.words
    return "", ""


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def _undecided(cell: ScorecardCell, names: Mapping[str, str]) -> str:
    """`names` of the row's families, by the side's slug."""
    found = cell.cell
    if found is None or found.words == WITHHELD:
        return f"{_named(cell)}: verdict withheld, their configurations differ"
    if found.words == EQUIVALENT:
        return f"{_named(cell)}: equivalent"
    is_named = 0 < max((each.runs for each in found.more), default=0) <= MOST_NAMED
    return f"{_named(cell)}: {found.words}{f'; {remedy(found, names)}' if is_named else ''}"


def _ratio(cell: ScorecardCell, *, turned: bool) -> str:
    """To the best of the row, with its interval."""
    ratio = cell.cell.ratio if cell.cell else None
    if ratio is None:
        return ""
    return with_interval(inverse(ratio) if turned else ratio)


def mark(found: FrameMark, contested: Frame | None = None) -> str:
    """Beside a published bar: "50 s", "≈ 0.33 ×", "1 ×"; of a frame that another one contradicts with the machine that
    it holds for: "1 ×, 4 vCPU"."""
    text = found.stated or f"{found.speed.text}{NBSP}×"
    if contested is None:
        return text
    return f"{text}, {_machine(contested) or contested.article.published[:4]}"


def stated(shown: Frame, other: Frame | None) -> str:
    """For example "Published 2015: MHA about 3 × PXC, PXC about 3 × Aurora."."""
    text = f"Published {shown.article.published[:4]}: {shown.sentence}{_box(shown)}"
    if other:
        year = f"{other.article.published[:4]}, " if other.article.published[:4] != shown.article.published[:4] else ""
        text += f"; {year}{other.sentence}{_box(other)}"
    return f"{text}."


def _box(frame: Frame) -> str:
    return f" ({_machine(frame)})" if frame.box else ""


def _machine(frame: Frame) -> str:
    return f"{frame.vcpu}{NBSP}vCPU" if frame.vcpu else frame.box
