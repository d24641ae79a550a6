"""A release's check as text for a terminal: the answer, why, and the rows that say something."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

SIGNS = {"worse": "▼", "better": "▲", "unchanged": "=", "not told apart": "≈"}  # of all others: ?
MOST_NEEDED = 1000  # repetitions; the server says one more for more than these
HEAD = ("verdict", "workload", "load", "metric", "before", "after", "ratio [95 % interval]", "p", "")
RIGHT = (4, 5, 7)  # columns of numbers


def text(check: Mapping[str, Any], *, every_row: bool) -> str:
    lines = [f"{check['title']}: {check['result']}", *(f"  {sentence}" for sentence in check["why"])]
    lines += [f"  Note: {sentence}" for sentence in check["notes"]]
    shown = [row for row in check["rows"] if every_row or is_telling(row)]
    if shown:
        lines += ["", *_columns([HEAD, *(_cells(row) for row in shown)])]
    hidden = Counter(row["verdict"] for row in check["rows"] if not every_row and not is_telling(row))
    if hidden:
        counts = ", ".join(f"{count} {verdict}" for verdict, count in hidden.items())
        lines += ["", f"Not shown (--all): {counts}."]
    return "\n".join([*lines, "", check["address"]]) + "\n"


def is_telling(row: Mapping[str, Any]) -> bool:
    """Whether a reader must know of it: it differs, or too little is known."""
    return bool(row["is_coarse"]) if row["verdict"] == "not told apart" else row["verdict"] != "unchanged"


def number(value: float | None) -> str:
    """Three significant digits, or the whole number."""
    if value is None:
        return "none"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:#.3g}".rstrip(".")


def ratio(row: Mapping[str, Any]) -> str:
    """Never without its interval, or the word for why there is none."""
    if row["ratio"] is None or row["low"] is None or row["high"] is None:
        return "no ratio" if row["ratio"] is None else "no interval"
    return f"{row['ratio']:.3f} [{row['low']:.3f}, {row['high']:.3f}]"


def remark(row: Mapping[str, Any]) -> str:
    """What people and the server add to a row."""
    told = []
    if row["finding"] is not None:
        told.append(f"finding {row['finding']}, {row['finding_state']}")
    if row["reason"]:
        told.append(row["reason"])
    if row["needed"] is not None:
        number = f"{row['needed']}" if row["needed"] <= MOST_NEEDED else f"more than {MOST_NEEDED:,}"
        told.append(f"{number} repetitions of each side are likely to tell")
    return "; ".join(told)


def _cells(row: Mapping[str, Any]) -> tuple[str, ...]:
    return (
        f"{SIGNS.get(row['verdict'], '?')} {row['verdict']}",
        row["workload"],
        row["level"],
        f"{row['metric_name']} ({row['unit']})" if row["unit"] else row["metric_name"],
        number(row["before"]),
        number(row["after"]),
        ratio(row),
        "none" if row["p"] is None else "<0.001" if row["p"] < 0.001 else f"{row['p']:.3f}",
        remark(row),
    )


def _columns(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(len(row[place]) for row in rows) for place in range(len(HEAD))]
    return [
        "  ".join(
            cell.rjust(width) if place in RIGHT else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(row, widths))
        ).rstrip()
        for row in rows
    ]
