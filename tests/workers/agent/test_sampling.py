import threading
import time
from collections.abc import Mapping

from workers.agent.clock import RunClock
from workers.agent.recorder import Recorder
from workers.agent.samplers import SourceFailed
from workers.agent.sampling import NodeSampler, next_slot
from workers.wire import EventMessage, Number


class Recording(Recorder):
    """Keeps what samplers say instead of spooling it."""

    def __init__(self) -> None:
        self.samples: list[tuple[float, dict[str, Number]]] = []
        self.events: list[EventMessage] = []

    def sample(self, *, node: str, role: str, t: float, values: Mapping[str, Number]) -> None:
        assert (node, role) == ("db1", "writer")
        self.samples.append((t, dict(values)))

    def event(self, event: EventMessage) -> None:
        self.events.append(event)


class Scripted:
    """Each answer is a value, an exception, or an event to wait for."""

    def __init__(self, name: str, *answers: float | Exception | threading.Event) -> None:
        self.name = name
        self._answers = list(answers)
        self.closed = threading.Event()

    def read(self) -> Mapping[str, Number]:
        answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, threading.Event):
            answer.wait(10)
            return {f"{self.name}.value": -1}
        return {f"{self.name}.value": answer}

    def close(self) -> None:
        self.closed.set()


def sampled(*sources: Scripted, samples: int) -> Recording:
    """What `samples` seconds of sampling recorded."""
    recording = Recording()
    sampler = NodeSampler(node="db1", role="writer", sources=sources, clock=RunClock(), recorder=recording)
    sampler.start()
    deadline = time.monotonic() + samples + 2
    while len(recording.samples) < samples and time.monotonic() < deadline:
        time.sleep(0.01)
    sampler.stop()
    return recording


def test_slots_already_gone_by_are_skipped_and_never_bunch_up() -> None:
    assert next_slot(0, 0.1) == 1
    assert next_slot(4, 4.999) == 5
    assert next_slot(4, 5.0) == 5
    assert next_slot(4, 7.2) == 8
    assert next_slot(4, 4.0) == 5


def test_samples_keep_to_the_second_without_drift() -> None:
    class Slow(Scripted):
        def read(self) -> Mapping[str, Number]:
            time.sleep(0.2)
            return super().read()

    times = [t for t, _ in sampled(Slow("a", 1.0), samples=4).samples]
    seconds = [round(t - times[0]) for t in times]
    assert seconds == sorted(set(seconds))
    # Waiting a second after each answer would have lost 0.6 s by now.
    assert times[-1] - times[0] - seconds[-1] < 0.4


def test_a_source_that_fails_is_not_observed_and_told_once_as_a_span() -> None:
    failing = Scripted("mysql", 1, SourceFailed("gone away"), SourceFailed("refused"), 4)
    recording = sampled(failing, Scripted("host", 7), samples=4)
    assert [values for _, values in recording.samples] == [
        {"mysql.value": 1, "host.value": 7},
        {"host.value": 7},
        {"host.value": 7},
        {"mysql.value": 4, "host.value": 7},
    ]
    (event,) = recording.events
    assert (event.kind, event.label, event.node) == ("sampler_error", "mysql: gone away", "db1")
    assert event.ends_at is not None
    assert 1.5 < event.ends_at - event.starts_at < 3.5


def test_a_source_that_hangs_does_not_blind_the_others_and_its_late_answer_is_not_used() -> None:
    release = threading.Event()
    hanging = Scripted("mysql", release, 5)
    recording = Recording()
    sources = (hanging, Scripted("host", 7))
    sampler = NodeSampler(node="db1", role="writer", sources=sources, clock=RunClock(), recorder=recording)
    sampler.start()
    time.sleep(2.2)
    release.set()
    time.sleep(1.8)
    sampler.stop()
    values = [values for _, values in recording.samples]
    assert values[0] == {"host.value": 7}
    assert values[-1] == {"mysql.value": 5, "host.value": 7}
    assert not any(value.get("mysql.value") == -1 for value in values)


def test_a_source_still_silent_at_the_end_leaves_its_span() -> None:
    recording = sampled(Scripted("mysql", SourceFailed("gone")), samples=2)
    (event,) = recording.events
    assert event.ends_at is not None
    assert event.ends_at >= event.starts_at
    assert [values for _, values in recording.samples] == [{}, {}]


def test_an_unforeseen_error_of_a_source_does_not_end_the_sampling() -> None:
    recording = sampled(Scripted("host", ValueError("new form"), 2), samples=2)
    assert recording.samples[1][1] == {"host.value": 2}
    assert recording.events[0].label == "host: ValueError: new form"


def test_sources_are_closed_at_the_end() -> None:
    source = Scripted("a", 1)
    sampled(source, samples=1)
    assert source.closed.wait(2)
