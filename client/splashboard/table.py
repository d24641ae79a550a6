"""A release check as text for a terminal: result, reasons, and the rows that matter."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

SIGNS = {"worse": "▼", "better": "▲", "unchanged": "=", "inconclusive": "≈"}  # others: ?
MOST_NEEDED = 1000  # repetitions; the server sends this number plus one for anything above
NUMBERS = range(3, 6)  # right-aligned columns
METRIC = 7


def text(check: Mapping[str, Any], *, every_row: bool) -> str:
    lines = [f"{check['title']}: {check['result']}", *(f"  {sentence}" for sentence in check["why"])]
    lines += [f"  Note: {sentence}" for sentence in check["notes"]]
    shown = [row for row in check["rows"] if every_row or is_telling(row)]
    if shown:
        lines += ["", *_table(check, shown)]
    hidden = Counter(row["verdict"] for row in check["rows"] if not every_row and not is_telling(row))
    if hidden:
        counts = ", ".join(f"{count} {verdict}" for verdict, count in hidden.items())
        lines += ["", f"Not shown (--all): {counts}."]
    return "\n".join([*lines, "", check["address"]]) + "\n"


def is_telling(row: Mapping[str, Any]) -> bool:
    """Whether the row matters: it differs, or may be worse by more than its margin."""
    return bool(row["is_coarse"]) or row["verdict"] not in ("inconclusive", "unchanged")


def number(value: float | None) -> str:
    """Three significant digits, or the integer."""
    if value is None:
        return "no runs"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:#.3g}".rstrip(".")


def ratio(row: Mapping[str, Any]) -> str:
    """Always with its interval, or the reason why there is none."""
    if row["ratio"] is None or row["low"] is None or row["high"] is None:
        return "no ratio" if row["ratio"] is None else "no interval"
    return f"{row['ratio']:.3f} [{row['low']:.3f}, {row['high']:.3f}]"


def metric(row: Mapping[str, Any]) -> str:
    unit = f" ({row['unit']})" if row["unit"] else ""
    return f"{row['metric_name']}{unit}, {row['direction']} is better"


def finding(row: Mapping[str, Any]) -> str:
    return "" if row["finding"] is None else f"finding {row['finding']}, {row['finding_state']}"


def remark(row: Mapping[str, Any]) -> str:
    """Why there is no verdict, the number of repetitions needed, and what failed checks make of the verdict."""
    texts = [row["reason"]] if row["reason"] else []
    if row["needed"] is not None:
        count = f"{row['needed']}" if row["needed"] <= MOST_NEEDED else f"more than {MOST_NEEDED:,}"
        texts.append(f"{count} {'sessions' if row.get('sessions') else 'repetitions'} per side needed")
    if row.get("margin") is not None:
        texts.append(f"margin {row['margin'] * 100:g} %")
    texts += [each["words"].rstrip(".") for each in row.get("claim_limits", ())]
    return "; ".join(texts)


def _table(check: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """A metric common to all rows stands above them; remarks, often shared, below."""
    metrics = list(dict.fromkeys(map(metric, rows)))
    remarks = list(dict.fromkeys(filter(None, map(remark, rows))))
    versions = (check["baseline"] or "before", check["release"])
    cells = [("verdict", "workload", "load", *versions, "p", "ratio [95 % interval]", "metric", "systems", "")]
    for row in rows:
        place = f"[{remarks.index(remark(row)) + 1}]" if remark(row) else ""
        cells.append(
            (
                f"{SIGNS.get(row['verdict'], '?')} {row['verdict']}" + (" (accepted)" if row["is_accepted"] else ""),
                *(row["workload"], row["level"], number(row["before"]), number(row["after"]), _p(row["p"])),
                *(ratio(row), metric(row), _systems(row)),
                " ".join(filter(None, [finding(row), place])),
            )
        )
    columns = list(zip(*cells))
    if len(metrics) == 1:
        columns.remove(columns[METRIC])
    if len(set(map(_systems, rows))) == 1:
        columns.remove(columns[-2])
    above = [metrics[0], ""] if len(metrics) == 1 else []
    below = [f"[{place}] {words}" for place, words in enumerate(remarks, start=1)]
    return [*above, *_lines(columns), *([""] if below else []), *below]


def _systems(row: Mapping[str, Any]) -> str:
    return f"{row['baseline_system']} → {row['system'] or 'none'}"


def _p(value: float | None) -> str:
    if value is None:
        return "none"
    return "<0.001" if value < 0.001 else f"{value:.3f}"


def _lines(columns: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in columns]
    return [
        "  ".join(
            cell.rjust(width) if place in NUMBERS else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(row, widths))
        ).rstrip()
        for row in zip(*columns)
    ]
