"""sysbench's OLTP family with our reports."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from workers.agent.tools import DataSet, Finished, RunCheckResult, report_output
from workers.agent.tools.lua import LuaTool
from workers.agent.tools.report_output import Reported
from workers.agent.tools.sysbench import ids_are_dense
from workers.protocol.workloads import sysbench_oltp

UPDATES = ("oltp_read_write", "oltp_write_only", "oltp_update_index", "oltp_update_non_index")
CHANGES_ROWS = ("oltp_insert", "oltp_delete")  # the row count changes during a run


class SysbenchOltp(LuaTool):
    spec = sysbench_oltp.SPEC
    # sysbench's --test is the name of its own script.
    renamed = {"test": "oltp_test"}

    def rows(self, chosen: Mapping[str, Any]) -> dict[str, int]:
        size = 0 if _draws_ids(chosen) else chosen["table_size"]
        return {f"sbtest{number}": size for number in range(1, chosen["tables"] + 1)}

    def data_set(self, parameters: Mapping[str, Any]) -> DataSet:
        return replace(super().data_set(parameters), is_emptied=_draws_ids(self.checked(parameters)))

    def claims(self, finished: Finished, reported: Reported, chosen: Mapping[str, Any]) -> list[RunCheckResult]:
        found = []
        if chosen["auto_inc"]:
            found.append(ids_are_dense(finished))
        if chosen["test"] in UPDATES:
            # Threads delete and insert the same ids; without a transaction other threads find them missing.
            found.append(report_output.all_matched(reported, most=0.1 if chosen["skip_trx"] else 0.01))
        if chosen["test"] == "oltp_delete":
            found.append(report_output.all_matched(reported, most=0.5))
        if chosen["test"] not in CHANGES_ROWS:
            found.append(report_output.rows_are(finished, self.rows(chosen)))
        if _draws_ids(chosen):
            found.append(report_output.rows_in_all_are(finished, tuple(self.rows(chosen)), reported.counts["writes"]))
        return found


def _draws_ids(chosen: Mapping[str, Any]) -> bool:
    """oltp_insert with random 32-bit ids: those inserted by prepare or another run would soon be drawn again."""
    return chosen["test"] == "oltp_insert" and not chosen["auto_inc"]
