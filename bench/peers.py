"""The peers: each a server of its own with temporary storage, written to and queried as by its users."""

import json
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Protocol
from urllib.parse import urlencode

import numpy as np

from bench import remote_write, servers
from bench.servers import Connection, Failed
from config.launch import processes
from lab.ports import free_port

VICTORIA_METRICS, PROMETHEUS = "VictoriaMetrics", "Prometheus"
# Peer -> program and Debian package.
PROGRAMS = {VICTORIA_METRICS: "victoria-metrics", PROMETHEUS: "prometheus"}
AFTER = 5 * 3600  # s: a sample this long after all others makes Prometheus write them to disk
QUANTILE = 0.95


@dataclass(frozen=True)
class Span:
    """A time span, s since 1970, that contains all samples of a set."""

    start: int
    end: int


class Peer(Protocol):
    name: ClassVar[str]
    health: ClassVar[str]
    version: str

    @staticmethod
    def command(home: Path, port: int) -> list[str | Path]:
        """Command that starts the server on loopback, with its files in `home`."""

    def write(self, body: bytes) -> float:
        """Send a remote-write request; returns s."""

    def flush(self) -> None:
        """Bring accepted samples to disk, or as near to it as the peer does without being forced."""

    def settle(self, span: Span) -> None:
        """Bring everything written into its final form; afterwards nothing may be written to `span`."""

    def size(self) -> int:
        """Bytes on disk of samples and indexes."""

    def cpu(self) -> float:
        """CPU seconds since the server's start."""

    def rates(self, *, metrics: Sequence[str], runs: Sequence[str], span: Span, points: int) -> float:
        """Read counters as rates at `points` times, in as few queries as the peer allows; returns s to the last byte.
        Raises Failed for too few values."""

    def five_statistics(self, *, metric: str, runs: Sequence[str], span: Span, is_counter: bool) -> float:
        """Mean, deviation, minimum, maximum and a quantile of each run over `span`, for a counter of its rate; returns
        s to the last byte."""


def apart(peer: Peer, *, metrics: Sequence[str], runs: Sequence[str], span: Span, points: int) -> float:
    """The same with one query per metric and run: runs follow each other in time, so a chart with a common clock needs
    a query with its own time span for each."""
    return sum(peer.rates(metrics=[key], runs=[run], span=span, points=points) for run in runs for key in metrics)


def version_of(name: str) -> str | None:
    """None: the peer is not installed."""
    program = PROGRAMS[name]
    if shutil.which(program) is None:
        return None
    asked = subprocess.run(
        ["dpkg-query", "-W", "-f", "${Version}", program], capture_output=True, text=True, check=False
    )
    found = re.match(r"[\d.]+", asked.stdout)
    return found[0] if found else "of unknown version"


@contextmanager
def started(name: str, folder: Path) -> Iterator[Peer]:
    """The peer, which runs until the block ends. Raises Failed."""
    kinds: dict[str, type[VictoriaMetrics | Prometheus]] = {VICTORIA_METRICS: VictoriaMetrics, PROMETHEUS: Prometheus}
    kind = kinds[name]
    home = folder / PROGRAMS[name]
    home.mkdir()
    port = free_port(home)
    argv = kind.command(home, port)
    with servers.running(argv, folder=folder, name=PROGRAMS[name], env=processes.clean_environment()) as pid:
        servers.await_answer(port, kind.health, log=folder / f"{PROGRAMS[name]}.log")
        yield kind(version_of(name) or "", home, Connection(port), pid)


@dataclass
class _Server:
    version: str
    home: Path
    http: Connection
    pid: int

    def cpu(self) -> float:
        return servers.cpu_seconds(self.pid)

    def _ask(self, path: str, **parameters: str | float) -> tuple[bytes, float]:
        return self.http.send("GET", f"{path}?{urlencode(parameters)}")


@dataclass
class VictoriaMetrics(_Server):
    name: ClassVar[str] = VICTORIA_METRICS
    health: ClassVar[str] = "/health"

    @staticmethod
    def command(home: Path, port: int) -> list[str | Path]:
        return [
            PROGRAMS[VICTORIA_METRICS], f"-storageDataPath={home}", f"-httpListenAddr=127.0.0.1:{port}",
            "-retentionPeriod=100y", "-http.connTimeout=24h", "-http.idleConnTimeout=24h",
            "-search.maxUniqueTimeseries=1000000",
        ]  # fmt: skip

    def write(self, body: bytes) -> float:
        return self.http.send("POST", "/api/v1/write", body, remote_write.HEADERS)[1]

    def flush(self) -> None:
        self._ask("/internal/force_flush")

    def settle(self, span: Span) -> None:  # noqa: ARG002 - all of it settles
        self.flush()
        self._ask("/internal/force_merge")
        servers.settled(self.size)

    def size(self) -> int:
        return servers.size_of(self.home / "data", self.home / "indexdb")

    def rates(self, *, metrics: Sequence[str], runs: Sequence[str], span: Span, points: int) -> float:
        query = f"rate({_selector(metrics, runs)}[{_window(span, points)}]) keep_metric_names"
        answer, took = self._range(query, span, points)
        _require(answer, series=len(metrics) * len(runs), points=points)
        return took

    def _range(self, query: str, span: Span, points: int) -> tuple[bytes, float]:
        # Without its result cache: a repeated query would not be measured.
        return self._ask("/api/v1/query_range", query=query, nocache=1, **_steps(span, points))

    def five_statistics(self, *, metric: str, runs: Sequence[str], span: Span, is_counter: bool) -> float:
        of = _over(metric, runs, span, is_counter=is_counter)
        four = '("avg_over_time","stddev_over_time","min_over_time","max_over_time")'
        query = f"union(aggr_over_time({four}, {of}), label_set(quantile_over_time({QUANTILE}, {of}), 'rollup', 'q'))"
        answer, took = self._ask("/api/v1/query", query=query, time=span.end, nocache=1)
        _require(answer, series=5 * len(runs), points=1)
        return took


@dataclass
class Prometheus(_Server):
    name: ClassVar[str] = PROMETHEUS
    health: ClassVar[str] = "/-/ready"

    @staticmethod
    def command(home: Path, port: int) -> list[str | Path]:
        config = home / "prometheus.yml"
        config.write_text("{}\n")
        return [
            PROGRAMS[PROMETHEUS], f"--config.file={config}", f"--storage.tsdb.path={home / 'data'}",
            f"--web.listen-address=127.0.0.1:{port}", "--web.enable-remote-write-receiver",
            "--storage.tsdb.retention.time=100y", "--log.level=warn",
        ]  # fmt: skip

    def write(self, body: bytes) -> float:
        return self.http.send("POST", "/api/v1/write", body, remote_write.HEADERS)[1]

    def flush(self) -> None:
        """Its write-ahead log is on disk when it responds."""

    def settle(self, span: Span) -> None:
        """A later sample makes it write its memory as a block."""
        blocks = len(self._blocks())
        self.write(
            remote_write.write_request(
                [
                    remote_write.Series(
                        labels=[remote_write.labels_of({"__name__": "later"})],
                        at=np.array([(span.start + AFTER) * 1000]),
                        values=np.ones((1, 1)),
                        observed=np.ones((1, 1), dtype=np.bool_),
                    )
                ]
            )
        )
        servers.settled(lambda: (len(self._blocks()) > blocks or None, self.size()))
        if len(self._blocks()) <= blocks:
            raise Failed("Prometheus wrote no block")

    def size(self) -> int:
        """Blocks with their indexes, without the write-ahead log, which is truncated as blocks are written."""
        return servers.size_of(*self._blocks())

    def _blocks(self) -> list[Path]:
        return [path.parent for path in (self.home / "data").glob("*/meta.json")]

    def rates(self, *, metrics: Sequence[str], runs: Sequence[str], span: Span, points: int) -> float:
        """One query per metric, as panels of a dashboard send them: `rate` drops the metric's name."""
        total = 0.0
        for metric in metrics:
            query = f"rate({_selector([metric], runs)}[{_window(span, points)}])"
            answer, took = self._ask("/api/v1/query_range", query=query, **_steps(span, points))
            _require(answer, series=len(runs), points=points)
            total += took
        return total

    def five_statistics(self, *, metric: str, runs: Sequence[str], span: Span, is_counter: bool) -> float:
        of = _over(metric, runs, span, is_counter=is_counter)
        total = 0.0
        for query in (
            *(f"{name}_over_time({of})" for name in ("avg", "stddev", "min", "max")),
            f"quantile_over_time({QUANTILE}, {of})",
        ):
            answer, took = self._ask("/api/v1/query", query=query, time=span.end)
            _require(answer, series=len(runs), points=1)
            total += took
        return total


def _selector(metrics: Sequence[str], runs: Sequence[str]) -> str:
    run = f'run=~"{"|".join(runs)}"' if len(runs) > 1 else f'run="{runs[0]}"'
    if len(metrics) == 1:
        return f"{metrics[0]}{{{run}}}"
    return f'{{__name__=~"{"|".join(metrics)}",{run}}}'


def _over(metric: str, runs: Sequence[str], span: Span, *, is_counter: bool) -> str:
    """All samples of a gauge; the rate of a counter at every second."""
    length = span.end - span.start
    selector = _selector([metric], runs)
    return f"rate({selector}[{_window(span, length)}])[{length}s:1s]" if is_counter else f"{selector}[{length}s]"


def _window(span: Span, points: int) -> str:
    """Range of a rate: four samples, as in dashboards, or a step if that is longer."""
    return f"{max(4000, (span.end - span.start) * 1000 // points)}ms"


def _steps(span: Span, points: int) -> dict[str, str]:
    return {"start": str(span.start), "end": str(span.end), "step": f"{(span.end - span.start) / points:.3f}"}


def _require(answer: bytes, *, series: int, points: int) -> None:
    """Raises Failed for an incomplete response, such as one truncated by a limit."""
    result = json.loads(answer)["data"]["result"]
    found = sum(len(entry["values"]) if "values" in entry else 1 for entry in result)
    if len(result) < series or found < 0.9 * series * points:
        raise Failed(f"a peer answered {len(result)} series with {found} values, expected {series} with {points} each")
