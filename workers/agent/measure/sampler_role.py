"""The sampler role: adds samples of its nodes to runs driven by another agent, on those runs' clocks."""

import logging
import threading
import time
from collections.abc import Callable

from workers.agent.measure.clock import Bearing, RunClock, ServerClock
from workers.agent.measure.nodes import AGENT, NodeSampling
from workers.agent.measure.recorder import LABEL_LIMIT, SampleRecorder
from workers.agent.runtime.client import LeaseGone, Rejected, ServerClient, Unreachable
from workers.agent.runtime.config import Config, SystemConfig
from workers.agent.runtime.spool import Spool, SpoolMessage
from workers.protocol import wire

log = logging.getLogger("splashboard.agent.sampler")
TICK = 0.2  # s
LONGEST_SILENCE = 60.0  # s without an answer from the server; then the run may have ended


class StreamRecorder(SampleRecorder):
    """Recorder of one stream, separate from the run that this agent drives."""

    def __init__(self, sampled: wire.SampledRun, *, spool: Spool, minimum_free: int, flush_interval: float) -> None:
        super().__init__(spool=spool, run=sampled.run, minimum_free=minimum_free, flush_interval=flush_interval)
        self._group = f"stream-{sampled.run}"
        self._path = f"agent/runs/{sampled.run}/streams/{sampled.stream}"

    def write_batch(self, sequence: int, payload: bytes) -> None:
        headers = {"Content-Type": "application/gzip", "X-Checksum": wire.checksum(payload)}
        self._put("stream-batch", "PUT", f"/batches/{sequence}", headers, payload)

    def end(self) -> None:
        """Ends the stream; the server detects unwritten batches by the count. Raises OSError."""
        self.flush()
        message = wire.StreamEndMessage(batches=self._encoder.sequence)
        self._put("stream-end", "POST", "/end", {"Content-Type": "application/json"}, wire.to_json(message))

    def _put(self, kind: str, method: str, path: str, headers: dict[str, str], body: bytes) -> None:
        self._spool.put(
            SpoolMessage(
                group=self._group, kind=kind, method=method, path=self._path + path, headers=headers, body=body
            )
        )


class Joined:
    """A run that is being sampled."""

    def __init__(
        self, sampled: wire.SampledRun, system: SystemConfig, bearing: Bearing, recorder: StreamRecorder
    ) -> None:
        self.recorder = recorder
        self._sampled = sampled
        self._system = system
        self._bearing = bearing
        self._clock = RunClock(zero=sampled.zero - bearing.offset)
        self._began = self._clock.now()
        self._sampling = NodeSampling(system, clock=self._clock, recorder=recorder, own=f"{AGENT}-{sampled.stream}")
        self._sampling.start()
        log.info("run %s of %s: sampling, from %.1f s of its clock on", sampled.run, system.slug, self._began)

    def end(self, name: str, bearing: Bearing | None) -> None:
        """`bearing`: the server's clock now; its shift since the start is reported. Raises OSError."""
        self._sampling.stop()
        nodes = node_names(self._system)
        # The uncertainties of both agents add up; None: the driving agent had not measured the server's clock.
        known = self._sampled.uncertainty
        within = None if known is None else round(known + self._bearing.uncertainty, 6)
        detail = {"agent": name, "uncertainty_seconds": within, "own_uncertainty_seconds": self._bearing.uncertainty}
        if bearing:
            detail["moved_seconds"] = round(bearing.offset - self._bearing.offset, 6)
        words = "accuracy not known" if within is None else f"±{1000 * within:.2g} ms"
        self.recorder.event(
            wire.EventMessage(
                kind="sampler",
                label=f"{', '.join(nodes)} sampled by {name}, its clock set to the run's: {words}"[:LABEL_LIMIT],
                starts_at=round(self._began, 6),
                ends_at=round(max(self._clock.now(), self._began), 6),
                node=nodes[0],
                detail=detail,
            )
        )
        self.recorder.end()


def node_names(system: SystemConfig) -> list[str]:
    return [*(node.name for node in system.nodes), *([system.proxy.name] if system.proxy else [])]


class Sampler:
    """One thread. Asks for runs every `poll_interval`, even while this agent drives a job of another system."""

    def __init__(
        self, *, client: ServerClient, spool: Spool, config: Callable[[], Config], server: ServerClock
    ) -> None:
        self._client = client
        self._spool = spool
        self._config = config
        self._server = server
        self._joined: dict[str, Joined] = {}
        self._done: set[str] = set()
        self._heard_at = time.monotonic()
        self._complaint = ""
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._work, name="sampler", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Ends all streams; they are then in the spool."""
        self._stopping.set()
        self._thread.join(timeout=10)

    def _work(self) -> None:
        asked_at = 0.0
        while not self._stopping.wait(TICK):
            try:
                if time.monotonic() - asked_at >= self._config().poll_interval:
                    asked_at = time.monotonic()
                    self._ask()
                for run, joined in list(self._joined.items()):
                    joined.recorder.tick()
                    if joined.recorder.problem:
                        self._end(run)
            except Exception:  # a bug must not block later runs
                log.exception("the sampler failed")
        for run in list(self._joined):
            self._end(run)

    def _ask(self) -> None:
        config = self._config()
        systems = config.sampled
        if not systems and not self._joined:
            return
        nodes = {slug: node_names(system) for slug, system in systems.items()}
        try:
            answer = self._client.sampling(wire.SamplingMessage(systems=nodes))
        except (Unreachable, Rejected, LeaseGone) as problem:
            self._warn_once(f"cannot read the runs to sample: {problem}")
            if time.monotonic() - self._heard_at > LONGEST_SILENCE:
                for run in list(self._joined):
                    self._end(run)
            return
        self._complaint, self._heard_at = "", time.monotonic()
        found = {each.run: each for each in answer.runs if each.system in systems}
        for run in self._joined.keys() - found.keys():
            self._end(run)
        for run, each in found.items():
            # A stream begun by an earlier process cannot be resumed.
            if run not in self._joined and run not in self._done and not each.began:
                self._join(each, systems[each.system], config)

    def _join(self, sampled: wire.SampledRun, system: SystemConfig, config: Config) -> None:
        bearing = self._server.measure()
        if bearing is None:
            return  # retried in a second
        recorder = StreamRecorder(
            sampled, spool=self._spool, minimum_free=config.minimum_free, flush_interval=config.flush_interval
        )
        self._joined[sampled.run] = Joined(sampled, system, bearing, recorder)

    def _end(self, run: str) -> None:
        joined = self._joined.pop(run)
        self._done.add(run)
        try:
            joined.end(self._config().name, self._server.measure())
        except OSError as error:
            log.error("the end of the samples of run %s cannot be written: %s", run, error)
        else:
            log.info("run %s: no longer sampled", run)

    def _warn_once(self, complaint: str) -> None:
        if not self._complaint:
            log.warning("%s", complaint)
        self._complaint = complaint
