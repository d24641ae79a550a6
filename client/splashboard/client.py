"""Splashboard from Python: typed answers, lists as iterators, tables as pandas or polars.

What the answers have is in `splashboard.answers`, written from the server's OpenAPI schema.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Union

from splashboard import attach, campaigns, shapes, submitting
from splashboard.answers.attached import AttachedSeries
from splashboard.answers.campaigns import Campaign, CampaignDetail, CampaignList
from splashboard.answers.catalog import (
    HardwareClass,
    HardwareClassList,
    Platform,
    PlatformList,
    Release,
    ReleaseList,
    System,
    SystemList,
    Workload,
    WorkloadList,
)
from splashboard.answers.findings import Finding, FindingDetail, FindingList
from splashboard.answers.regressions import (
    CheckedRelease,
    CheckedReleaseList,
    CheckRow,
    ReleaseCheck,
    Trend,
    TrendDetail,
    TrendList,
)
from splashboard.answers.runs import (
    Metric,
    MetricList,
    Run,
    RunDetail,
    RunList,
    SeriesIndex,
    SeriesOfRuns,
    SubmittedRun,
)
from splashboard.comparisons import ComparisonAnswer
from splashboard.failures import Misuse
from splashboard.frames import AsFrame, FrameColumn, columns_of, samples_of
from splashboard.listing import Listing, parameters
from splashboard.server import Server, token_of

Text = Union[str, Sequence[str]]
Number = Union[int, Sequence[int]]
Moment = Union[str, datetime]


@dataclass(frozen=True)
class SeriesAnswer(SeriesOfRuns, AsFrame):
    """Series as lists of times (s) and values; as a table a row per sample."""

    def columns(self) -> dict[str, FrameColumn]:
        return samples_of(self.series)


@dataclass(frozen=True)
class GateAnswer(ReleaseCheck, AsFrame):
    """The check of a release; as a table its rows."""

    def columns(self) -> dict[str, FrameColumn]:
        return columns_of(CheckRow, self.rows)


@dataclass(frozen=True)
class RunAnswer(RunDetail):
    """As Splashboard.run returns it."""

    _splashboard: Any = field(default=None, repr=False, compare=False)

    def series(self, *metrics: str, **options: Any) -> SeriesAnswer:
        """As Splashboard.series of this run."""
        found: SeriesAnswer = self._splashboard.series(self.id, *metrics, **options)
        return found


class Splashboard:
    """A server. What is not given is taken from SPLASHBOARD_URL, SPLASHBOARD_TOKEN and SPLASHBOARD_TOKEN_FILE.

    `timeout`: s for an answer, over all tries. `on_retry` is called with a sentence for each failed try.
    Every method raises RequestRefused (with status, and the fields at fault) or ServerUnreachable.
    """

    def __init__(
        self,
        url: str = "",
        *,
        token: str = "",
        timeout: float = 60.0,
        on_retry: Callable[[str], None] = lambda _words: None,
    ) -> None:
        """Raises Misuse where the address or the token cannot be one."""
        url = url or os.environ.get("SPLASHBOARD_URL", "")
        if not url:
            raise Misuse("which server? Give its address as url or in SPLASHBOARD_URL")
        self._server = Server(
            url=url,
            token=token_of(token),
            timeout=timeout,
            on_retry=on_retry,
        )

    @property
    def url(self) -> str:
        return self._server.url

    # ------------------------------------------------------------ catalog

    def platforms(self) -> Listing[Platform]:
        return Listing(self._server, "platforms/", PlatformList, {})

    def releases(self, *, platform: str | None = None) -> Listing[Release]:
        return Listing(self._server, "releases/", ReleaseList, {"platform": platform})

    def hardware_classes(self) -> Listing[HardwareClass]:
        return Listing(self._server, "hardware-classes/", HardwareClassList, {})

    def systems(self) -> Listing[System]:
        return Listing(self._server, "systems/", SystemList, {})

    def workloads(self) -> Listing[Workload]:
        return Listing(self._server, "workloads/", WorkloadList, {})

    def metrics(self, *, resource: str | None = None, curated: bool | None = None) -> Listing[Metric]:
        return Listing(self._server, "metrics/", MetricList, {"resource": resource, "curated": curated})

    # ------------------------------------------------------------ runs

    def runs(
        self,
        *,
        platform: Text | None = None,
        release: Number | None = None,
        hardware: Text | None = None,
        system: Text | None = None,
        workload: Number | None = None,
        threads: Number | None = None,
        state: Text | None = None,
        outcome: Text | None = None,
        provenance: Text | None = None,
        quality: Text | None = None,
        tag: Text | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        q: str | None = None,
    ) -> Listing[Run]:
        """Newest first. `release`, `workload`: ids; `threads`: of the load level; `tag`: all of them; `since`, `until`:
        of their starts."""
        return Listing(self._server, "runs/", RunList, _stated(locals()))

    def run(self, run: int) -> RunAnswer:
        """With its measurements, nodes, events, artifacts and quality checks."""
        found: RunAnswer = self._server.read(f"runs/{run:d}/").json(RunAnswer)
        return replace(found, _splashboard=self)

    def series_index(self, run: int) -> SeriesIndex:
        """Which series a run has, with their statistics."""
        found: SeriesIndex = self._server.read(f"runs/{run:d}/series-index/", [("format", "json")]).json(SeriesIndex)
        return found

    def series(
        self,
        run: Number,
        *metric: str,
        node: Text | None = None,
        from_: float | None = None,
        to: float | None = None,
        points: int | None = None,
        align: str | None = None,
        event: str | None = None,
        event_label: str | None = None,
        over_nodes: str | None = None,
        raw: bool | None = None,
    ) -> SeriesAnswer:
        """Series of up to 100 runs. Without metrics all of them; `from_`, `to`: s; `points`: thinned to about so many.

        Values have six significant digits; all of them are in Parquet: docs/howto/read-series.md.
        """
        asked = parameters({**_stated(locals()), "format": "json"})
        found: SeriesAnswer = self._server.read("series/", asked).json(SeriesAnswer)
        return found

    def submit(
        self,
        output: str,
        *,
        series: str | None = None,
        mapping: str | None = None,
        description: Mapping[str, Any] | None = None,
        started_at: Moment | None = None,
        **stated: Any,
    ) -> SubmittedRun:
        """Submits a load tool's output, a file, as the command does: `stated` are its options (system=, workload=,
        threads=, format=, tag=, …), which go before `description`. The same submission again is the same run.
        A file of several runs is refused: the command sends each."""
        unknown = [name for name in stated if name not in submitting.OPTIONS]
        if unknown:
            known = ", ".join(submitting.OPTIONS)
            raise Misuse(f"submit has no option {', '.join(unknown)}: give {known}, and other fields in description")
        moment = started_at.isoformat() if isinstance(started_at, datetime) else started_at
        if isinstance(stated.get("tag"), str):
            stated["tag"] = [stated["tag"]]
        described = submitting.describe(description or {}, {**stated, "started_at": moment})
        parts = submitting.parts_of(output, described)
        if len(parts) > 1:
            raise Misuse(f"{output} has {len(parts)} runs: send each by itself, or all by `splashboard submit`")
        runs, _ = submitting.submit(self._server, parts, series=series, mapping=mapping)
        found: SubmittedRun = shapes.checked(runs[0], SubmittedRun)
        return found

    def attach(
        self,
        run: int,
        *,
        prometheus: str = "",
        file: str = "",
        nodes: Mapping[str, str] | None = None,
        match: str = "",
        step: float | None = None,
        **access: Any,
    ) -> AttachedSeries:
        """Attaches series of Prometheus, or a file that `splashboard attach --save` wrote, to a complete run.

        `nodes`: {"db1": "10.0.0.1:9100"}; `access`: other options of the command, such as user= or ca=.
        """
        options = argparse.Namespace(
            **{**attach.DEFAULTS, **access}, run=run, prometheus=prometheus, file=file, match=match, step=step
        )
        options.node = [f"{name}={instance}" for name, instance in (nodes or {}).items()]
        options.timeout = self._server.timeout
        found: AttachedSeries = shapes.checked(attach.attach(self._server, options), AttachedSeries)
        return found

    # ------------------------------------------------------------ comparisons

    def compare(
        self,
        *side: str,
        workload: int,
        campaign: int | None = None,
        runs: Sequence[int] | None = None,
        include: Text = (),
        objective: float | None = None,
        percentile: int | None = None,
    ) -> ComparisonAnswer:
        """Compares two to four sides, the first being the baseline.

        `side`: slug of a system, or slug:id of a workload of its own. `include`: parts such as "ladder" or "latency",
        which are left as JSON. `objective` (ms), `percentile`: of "ladder".
        """
        stated = {
            "side": side,
            "workload": workload,
            "campaign": campaign,
            "runs": None if runs is None else ",".join(map(str, runs)),
            "include": (include if isinstance(include, str) else ",".join(include)) or None,
            "objective": objective,
            "percentile": percentile,
        }
        found: ComparisonAnswer = self._server.read("comparisons/", parameters(stated)).json(ComparisonAnswer)
        return found

    # ------------------------------------------------------------ releases, trends, findings

    def checked_releases(
        self, *, platform: str | None = None, release: str | None = None, hardware: str | None = None
    ) -> Listing[CheckedRelease]:
        return Listing(self._server, "checked-releases/", CheckedReleaseList, _stated(locals()))

    def gate(
        self,
        platform: str,
        release: str,
        *,
        baseline: str | None = None,
        hardware: str | None = None,
        tolerance: float | None = None,
        allow_missing: bool | None = None,
    ) -> GateAnswer:
        """Checks a release against an earlier one; `result` is "fine", "regression" or "cannot tell"."""
        asked = parameters({**_stated(locals()), "format": "json"})
        found: GateAnswer = self._server.read("release-checks/", asked).json(GateAnswer)
        return found

    def trends(
        self,
        *,
        platform: str | None = None,
        hardware: str | None = None,
        tool: str | None = None,
        workload: int | None = None,
        sight: str | None = None,
        text: str | None = None,
    ) -> Listing[Trend]:
        return Listing(self._server, "trends/", TrendList, _stated(locals()))

    def trend(self, trend: int) -> TrendDetail:
        """With its points, levels and changes."""
        found: TrendDetail = self._server.read(f"trends/{trend:d}/").json(TrendDetail)
        return found

    def findings(
        self,
        *,
        state: Text | None = None,
        verdict: Text | None = None,
        kind: str | None = None,
        platform: str | None = None,
        release: str | None = None,
        hardware: str | None = None,
        family: str | None = None,
        label: Text | None = None,
        owner: str | None = None,
        smallest: float | None = None,
        text: str | None = None,
        sort: str | None = None,
    ) -> Listing[Finding]:
        """`smallest`: relative change, 0.05 for 5 %."""
        return Listing(self._server, "findings/", FindingList, _stated(locals()))

    def finding(self, finding: int) -> FindingDetail:
        found: FindingDetail = self._server.read(f"findings/{finding:d}/").json(FindingDetail)
        return found

    # ------------------------------------------------------------ campaigns

    def campaigns(self) -> Listing[Campaign]:
        return Listing(self._server, "campaigns/", CampaignList, {})

    def campaign(self, campaign: int) -> CampaignDetail:
        found: CampaignDetail = self._server.read(f"campaigns/{campaign:d}/").json(CampaignDetail)
        return found

    def start_campaign(self, file: str) -> CampaignDetail:
        """Plans the campaign of a file; each call plans another."""
        found: CampaignDetail = shapes.checked(campaigns.start(self._server, file=file), CampaignDetail)
        return found


def _stated(names: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in names.items() if name != "self"}
