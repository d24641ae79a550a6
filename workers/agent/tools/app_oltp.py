"""The load of an OLTP application."""

from collections.abc import Mapping
from typing import Any

from workers.agent.measure import database
from workers.agent.tools import Finished, InvalidToolParameters, RunCheckResult, report_output
from workers.agent.tools.lua import LuaTool
from workers.agent.tools.report_output import Reported
from workers.protocol.workloads import app_oltp


class AppOltp(LuaTool):
    spec = app_oltp.SPEC

    def checked(self, parameters: Mapping[str, Any]) -> dict[str, Any]:
        chosen = super().checked(parameters)
        if not any(chosen[name] for name in ("reads", "updates", "creates", "deletes")):
            raise InvalidToolParameters(
                "parameters reads, updates, creates and deletes are all 0; give one of them a weight"
            )
        return chosen

    def rows(self, chosen: Mapping[str, Any]) -> dict[str, int]:
        # Children first, so that tables are dropped before those they reference.
        sizes = {"child": chosen["rows"] * chosen["children"], "parent": chosen["rows"]}
        return {f"{kind}{number}": size for number in range(1, chosen["tables"] + 1) for kind, size in sizes.items()}

    def claims(self, finished: Finished, reported: Reported, chosen: Mapping[str, Any]) -> list[RunCheckResult]:
        prepared = self.rows(chosen)
        found = sum(report_output.count_rows(finished, list(prepared)).values())
        inserted, deleted = reported.counts["rows"], reported.counts["rows_deleted"]
        label = (
            f"of {sum(prepared.values())} rows the client deleted {deleted} and inserted {inserted}; "
            f"the tables hold {found}"
        )
        held = found == sum(prepared.values()) + inserted - deleted
        return [
            report_output.all_matched(reported),
            RunCheckResult("rows", held, label),
            _no_orphans(finished, chosen["tables"]),
        ]


def _no_orphans(finished: Finished, tables: int) -> RunCheckResult:
    """Checks that each child row has its parent. Raises DatabaseFailed."""
    orphans = 0
    with database.session(finished.system, doing="look for children without parents") as cursor:
        for number in range(1, tables + 1):
            cursor.execute(
                f"SELECT COUNT(*) FROM `{finished.schema}`.child{number} c "  # noqa: S608  (names are ours)
                f"LEFT JOIN `{finished.schema}`.parent{number} p ON p.id = c.parent_id WHERE p.id IS NULL"
            )
            orphans += int((cursor.fetchone() or (0,))[0])
    return RunCheckResult("orphans", orphans == 0, f"{orphans} child rows have no parent")
