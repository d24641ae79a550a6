"""The time a request waits until the server starts it."""

from collections.abc import Mapping
from typing import Any

from workers.agent.tools import Finished, RunCheckResult, report_output
from workers.agent.tools.lua import LuaTool
from workers.agent.tools.report_output import Reported
from workers.protocol.workloads import execution_latency

MOST_NEGATIVE = 0.01  # share of requests


class ExecutionLatency(LuaTool):
    spec = execution_latency.SPEC

    def rows(self, chosen: Mapping[str, Any]) -> dict[str, int]:
        return {"served": chosen["rows"]}

    def claims(self, finished: Finished, reported: Reported, chosen: Mapping[str, Any]) -> list[RunCheckResult]:
        return [
            report_output.all_matched(reported),
            report_output.rows_are(finished, self.rows(chosen)),
            _clocks_agree(reported),
        ]


def _clocks_agree(reported: Reported) -> RunCheckResult:
    """Checks the clocks' offset: no request is served before it was sent."""
    requests, negative = reported.counts["transactions"], reported.values["client.clock.negative"]
    drift, uncertainty = (reported.values[f"client.clock.{name}"] for name in ("drift", "uncertainty"))
    label = (
        f"{negative:.0f} of {requests} requests started before they were sent by these clocks; the clocks drifted by "
        f"{drift:.3f} ms, uncertainty {uncertainty:.3f} ms"
    )
    return RunCheckResult("clocks", negative <= requests * MOST_NEGATIVE, label)
