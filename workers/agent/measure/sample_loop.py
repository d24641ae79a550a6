"""The sampling loop: one thread per node reads its sources, mostly once a second, on a schedule without drift.

Besides counters it records changes of node state, what is not observable, and the sampling's own time.
"""

import logging
import math
import queue
import threading
from collections.abc import Sequence
from dataclasses import dataclass

from workers.agent.measure.clock import RunClock
from workers.agent.measure.recorder import LABEL_LIMIT, SampleSink
from workers.agent.measure.share import go_first
from workers.agent.samplers import HiddenFromSampler, NothingObserved, SampleSource, SourceFailed, SourceReading
from workers.protocol.wire import EventMessage, Number

log = logging.getLogger("splashboard.agent.sampling")
INTERVAL = 1.0  # s
TIMEOUT = 0.9  # s for all sources of a node together, so that a hanging source does not block the others
# s. A counter read this much later than its sample's time would yield a rate too high by that share of a second,
# followed by one too low.
LATE = 0.1  # s
# s. A source without a response for this long is no longer waited for.
GIVEN_UP = 3.0
ANSWERS, YES, NO = "answers", "yes", "no"


def next_slot(slot: int, elapsed: float, interval: float = INTERVAL) -> int:
    """The next slot after `slot`, `elapsed` s after the first; missed slots are skipped."""
    return max(slot + 1, math.ceil(elapsed / interval))


class ReadLate(SourceFailed):
    """The answer came too late to assign its counters a time; the server itself may be healthy."""


@dataclass(frozen=True)
class _Answer:
    reading: SourceReading | Exception
    seconds: float  # duration of the read
    at: float  # time of the answer, s on the run's clock


class _Asker:
    """Reads one source on its own thread, so that a hanging source delays only itself."""

    def __init__(self, source: SampleSource, clock: RunClock) -> None:
        self.source = source
        self._clock = clock
        self.sees_nothing = False
        self.asked_in: int | None = None  # the last slot with a read, counted in the source's intervals
        self._requests: queue.SimpleQueue[bool] = queue.SimpleQueue()
        self._answers: queue.SimpleQueue[_Answer] = queue.SimpleQueue()
        self._pending = False
        self._late = False
        self._begun = 0.0
        threading.Thread(target=self._work, name=f"source {source.name}", daemon=True).start()

    def is_due(self, slot: int) -> bool:
        """Missed slots are not caught up: a source with a 5 s interval is due in the first slot after them."""
        due = slot // self.source.interval
        return not self.sees_nothing and (self.asked_in is None or due > self.asked_in)

    def begin(self, slot: int) -> None:
        """Requests a read, unless an earlier one is unanswered; that answer is stale when it comes."""
        self.asked_in = slot // self.source.interval
        self._late = False
        if self._pending:
            try:
                self._answers.get_nowait()
            except queue.Empty:
                self._late = True
                return
        self._pending = True
        self._begun = self._clock.now()
        self._requests.put(True)

    def finish(self, timeout: float) -> _Answer:
        """After `begin`. Raises NothingObserved, or SourceFailed (ReadLate), also without an answer in `timeout` s."""
        if self._late:
            raise SourceFailed("it has not answered yet")
        try:
            answer = self._clock.get(self._answers, max(timeout, 0.001))
        except queue.Empty as error:
            raise SourceFailed("it did not answer in time") from error
        self._pending = False
        if isinstance(answer.reading, Exception):
            raise answer.reading
        if self.source.prompt and answer.at - self._begun > LATE:
            raise ReadLate(f"it was read {answer.at - self._begun:.1f} s late: the agent's host is too busy")
        return answer

    def close(self) -> None:
        self._requests.put(False)

    def _work(self) -> None:
        go_first()
        while self._clock.get(self._requests):
            began = self._clock.now()
            found: SourceReading | Exception
            try:
                found = self.source.read()
            except (SourceFailed, NothingObserved) as failure:
                found = failure
            except Exception as error:  # a counter of unknown format must not end the run
                log.exception("source %s", self.source.name)
                found = SourceFailed(f"{type(error).__name__}: {error}")
            ended = self._clock.now()
            self._answers.put(_Answer(found, ended - began, ended))
        self.source.close()


@dataclass
class _Stretch:
    """A period without data from a source."""

    since: float
    reason: str


class NodeSampler:
    """Samples one node; its first source determines whether the node can be reached."""

    def __init__(
        self, *, node: str, role: str, sources: Sequence[SampleSource], clock: RunClock, recorder: SampleSink
    ) -> None:
        self._node = node
        self._role = role
        self._askers = [_Asker(source, clock) for source in sources]
        self._clock = clock
        self._recorder = recorder
        self._stretches: dict[str, _Stretch] = {}
        self._states: dict[str, str] = {}
        self._hidden: set[str] = set()
        self._statements = 0
        self._sampled_at = -math.inf
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._work, name=f"sampler {node}", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Stops within TIMEOUT; nothing is recorded afterwards."""
        self._stopping.set()
        self._thread.join(timeout=INTERVAL + TIMEOUT + 1)
        for asker in self._askers:
            asker.close()
        for name in list(self._stretches):
            self._end_stretch(name, self._clock.now())

    def has_sampled_since(self, t: float) -> bool:
        """Whether a sample of `t` or later is recorded in which no source that still answers is missing, or none will
        follow."""
        return self._sampled_at >= t or not self._thread.is_alive()

    def hide(self, hidden: HiddenFromSampler) -> None:
        """Reports once what is not observable on this node."""
        if hidden.what not in self._hidden:
            self._hidden.add(hidden.what)
            detail = {"what": hidden.what, "reason": hidden.reason, "remedy": hidden.remedy}
            self._event("not_observable", str(hidden), self._clock.now(), detail)

    def _work(self) -> None:
        go_first()
        start, slot = self._clock.now(), 0
        while not self._clock.wait(self._stopping, max(0.0, start + slot * INTERVAL - self._clock.now())):
            self._take(slot)
            slot = next_slot(slot, self._clock.now() - start)

    def _take(self, slot: int) -> None:
        deadline = self._clock.now() + TIMEOUT
        values: dict[str, Number] = {}
        # All reads start together, at the sample's time: a slow server would otherwise delay the others.
        t = self._clock.now()
        due = [asker for asker in self._askers if asker.is_due(slot)]
        for asker in due:
            asker.begin(slot)
        for asker in due:
            try:
                answer = asker.finish(deadline - self._clock.now())
            except SourceFailed as failure:
                self._failed(asker, failure)
                continue
            except NothingObserved as nothing:
                asker.sees_nothing = True
                if nothing.hidden:
                    self.hide(nothing.hidden)
                continue
            self._record_answer(asker, answer, t, values)
        if self._statements:
            values["agent.statements"] = self._statements
        # A sample without values still shows that nothing was observed.
        self._recorder.sample(node=self._node, role=self._role, t=t, values=values)
        if all(t - stretch.since >= GIVEN_UP for stretch in self._stretches.values()):
            self._sampled_at = t

    def _record_answer(self, asker: _Asker, answer: _Answer, t: float, values: dict[str, Number]) -> None:
        reading, name = answer.reading, asker.source.name
        assert isinstance(reading, SourceReading)  # noqa: S101  `finish` raises what is none
        values.update(reading.values)
        values[f"agent.sampling.{name}.seconds"] = round(answer.seconds, 6)
        self._statements += reading.statements
        self._end_stretch(name, t)
        for hidden in reading.hidden:
            self.hide(hidden)
        for what, state in reading.states.items():
            before = self._states.get(what)
            self._states[what] = state
            if before is not None and before != state:
                self._changed(what, before, state, t)
        if asker is self._askers[0] and self._states.get(ANSWERS) == NO:
            self._states[ANSWERS] = YES
            self._changed(ANSWERS, NO, YES, t)

    def _failed(self, asker: _Asker, failure: SourceFailed) -> None:
        t, reason = self._clock.now(), str(failure)
        self._stretches.setdefault(asker.source.name, _Stretch(t, reason))
        if isinstance(failure, ReadLate):
            return
        if asker is self._askers[0] and self._states.get(ANSWERS) != NO:
            self._states[ANSWERS] = NO
            self._changed(ANSWERS, YES, NO, t, reason)

    def _changed(self, what: str, before: str, now: str, t: float, reason: str = "") -> None:
        label = f"{what}: {before} → {now}" + (f" ({reason})" if reason else "")
        detail = {"what": what, "from": before, "to": now} | ({"reason": reason} if reason else {})
        self._event("node_state", label, t, detail)

    def _end_stretch(self, name: str, t: float) -> None:
        stretch = self._stretches.pop(name, None)
        if stretch:
            self._event("sampler_error", f"{name}: {stretch.reason}", stretch.since, ends_at=max(t, stretch.since))

    def _event(
        self, kind: str, label: str, at: float, detail: dict[str, str] | None = None, ends_at: float | None = None
    ) -> None:
        self._recorder.event(
            EventMessage(
                kind=kind,
                label=label[:LABEL_LIMIT],
                starts_at=round(at, 6),
                ends_at=None if ends_at is None else round(ends_at, 6),
                node=self._node,
                detail=detail or {},
            )
        )
