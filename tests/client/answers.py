"""What a Splashboard answers, as far as the client reads it."""

from typing import Any


def a_row(verdict: str = "unchanged", **changes: Any) -> dict[str, Any]:
    names = ("tool", "workload", "level", "metric", "metric_name", "unit", "direction", "system", "baseline_system")
    row: dict[str, Any] = {name: f"a {name}" for name in names}
    row |= dict.fromkeys(("before", "after", "ratio", "low", "high", "p", "needed", "finding"))
    row |= {"is_accepted": False, "is_coarse": False, "reason": "", "finding_state": "", "runs_before": []}
    return {**row, "runs_after": [], "verdict": verdict, **changes}


def a_check(*rows: dict[str, Any], **changes: Any) -> dict[str, Any]:
    names = ("title", "platform", "release", "baseline", "hardware", "address")
    check: dict[str, Any] = {name: f"a {name}" for name in names}
    check |= {"result": "cannot tell", "why": ["A reason."], "notes": [], "checked_at": "2026-11-21T14:00:00Z"}
    return {**check, "rows": list(rows), **changes}


def a_stored_run(**changes: Any) -> dict[str, Any]:
    run = {"id": 7, "outcome": "succeeded", "reason": "", "address": "http://a/runs/7/", "state": "sealed"}
    return {**run, "unparsed_lines": 0, "warnings": [], "measurements": [], **changes}
