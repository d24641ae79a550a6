"""One thread a node asks its sources once a second, on a schedule that neither drifts nor bunches up."""

import logging
import math
import queue
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from workers.agent.clock import RunClock
from workers.agent.recorder import Recorder
from workers.agent.samplers import Source, SourceFailed
from workers.wire import EventMessage, Number

log = logging.getLogger("splashboard.agent.sampling")
INTERVAL = 1.0  # s
PATIENCE = 0.9  # s for all sources of a node together, so that one that hangs does not blind the others
LABEL_LIMIT = 200  # characters


def next_slot(slot: int, elapsed: float, interval: float = INTERVAL) -> int:
    """The slot to wait for after `slot`, `elapsed` s after the first: those already gone by are skipped."""
    return max(slot + 1, math.ceil(elapsed / interval))


class _Asker:
    """Asks one source on a thread of its own, so that a source that hangs holds up nothing but itself."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self._requests: queue.SimpleQueue[bool] = queue.SimpleQueue()
        self._answers: queue.SimpleQueue[Mapping[str, Number] | SourceFailed] = queue.SimpleQueue()
        self._pending = False
        threading.Thread(target=self._work, name=f"source {source.name}", daemon=True).start()

    def ask(self, timeout: float) -> Mapping[str, Number]:
        """Raises SourceFailed, also when no answer comes within `timeout` s; an answer that comes later is stale."""
        if self._pending:
            try:
                self._answers.get_nowait()
            except queue.Empty as error:
                raise SourceFailed("it has not answered yet") from error
        self._pending = True
        self._requests.put(True)
        try:
            answer = self._answers.get(timeout=max(timeout, 0.001))
        except queue.Empty as error:
            raise SourceFailed("it did not answer in time") from error
        self._pending = False
        if isinstance(answer, SourceFailed):
            raise answer
        return answer

    def close(self) -> None:
        self._requests.put(False)

    def _work(self) -> None:
        while self._requests.get():
            try:
                self._answers.put(self.source.read())
            except SourceFailed as failure:
                self._answers.put(failure)
            except Exception as error:  # a counter in an unknown form must not end the run
                log.exception("source %s", self.source.name)
                self._answers.put(SourceFailed(f"{type(error).__name__}: {error}"))
        self.source.close()


@dataclass
class _Stretch:
    """A time in which a source gave nothing."""

    since: float
    reason: str


class NodeSampler:
    def __init__(self, *, node: str, role: str, sources: Sequence[Source], clock: RunClock, recorder: Recorder) -> None:
        self._node = node
        self._role = role
        self._askers = [_Asker(source) for source in sources]
        self._clock = clock
        self._recorder = recorder
        self._stretches: dict[str, _Stretch] = {}
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._work, name=f"sampler {node}", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Ends within PATIENCE; afterwards nothing is recorded any more."""
        self._stopping.set()
        self._thread.join(timeout=INTERVAL + PATIENCE + 1)
        for asker in self._askers:
            asker.close()
        for name in list(self._stretches):
            self._recovered(name, self._clock.now())

    def _work(self) -> None:
        start, slot = time.monotonic(), 0
        while not self._stopping.wait(max(0.0, start + slot * INTERVAL - time.monotonic())):
            self._take()
            slot = next_slot(slot, time.monotonic() - start)

    def _take(self) -> None:
        deadline = time.monotonic() + PATIENCE
        values: dict[str, Number] = {}
        t: float | None = None
        for asker in self._askers:
            name = asker.source.name
            try:
                answer = asker.ask(deadline - time.monotonic())
            except SourceFailed as failure:
                self._stretches.setdefault(name, _Stretch(self._clock.now(), str(failure)))
                continue
            # The first answer dates the sample: the others are read at once after it.
            t = self._clock.now() if t is None else t
            values |= answer
            self._recovered(name, t)
        # A sample without any value still says that nothing was observed.
        self._recorder.sample(node=self._node, role=self._role, t=self._clock.now() if t is None else t, values=values)

    def _recovered(self, name: str, t: float) -> None:
        stretch = self._stretches.pop(name, None)
        if stretch:
            event = EventMessage(
                kind="sampler_error",
                label=f"{name}: {stretch.reason}"[:LABEL_LIMIT],
                starts_at=round(stretch.since, 6),
                ends_at=round(max(t, stretch.since), 6),
                node=self._node,
            )
            self._recorder.event(event)
