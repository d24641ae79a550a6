import threading
import time
from collections.abc import Mapping
from itertools import pairwise

import pytest

from workers.agent.clock import RunClock
from workers.agent.recorder import Recorder
from workers.agent.samplers import NotObservable, Reading, SeesNothing, Source, SourceFailed
from workers.agent.sampling import NodeSampler, next_slot
from workers.wire import EventMessage, Number


class Recording(Recorder):
    """Keeps what samplers say instead of spooling it."""

    def __init__(self) -> None:
        self.samples: list[tuple[float, dict[str, Number]]] = []
        self.own: list[dict[str, Number]] = []
        self.events: list[EventMessage] = []

    def sample(self, *, node: str, role: str, t: float, values: Mapping[str, Number]) -> None:
        assert (node, role) == ("db1", "writer")
        self.samples.append((t, {key: value for key, value in values.items() if not key.startswith("agent.")}))
        self.own.append({key: value for key, value in values.items() if key.startswith("agent.")})

    def event(self, event: EventMessage) -> None:
        self.events.append(event)


class Scripted:
    """Each answer is a value, an exception, or an event to wait for."""

    def __init__(self, name: str, *answers: float | Exception | threading.Event | Reading, interval: int = 1) -> None:
        self.name = name
        self.interval = interval
        self.prompt = False
        self._answers = list(answers)
        self.closed = threading.Event()

    def read(self) -> Reading:
        answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, Reading):
            return answer
        if isinstance(answer, threading.Event):
            answer.wait(10)
            return Reading({f"{self.name}.value": -1})
        return Reading({f"{self.name}.value": answer})

    def close(self) -> None:
        self.closed.set()


def sampled(*sources: Source, samples: int) -> Recording:
    """What `samples` seconds of sampling recorded."""
    recording = Recording()
    sampler = NodeSampler(node="db1", role="writer", sources=sources, clock=RunClock(), recorder=recording)
    sampler.start()
    deadline = time.monotonic() + samples + 2
    while len(recording.samples) < samples and time.monotonic() < deadline:
        time.sleep(0.01)
    sampler.stop()
    return recording


class Ticking:
    """A counter of the host that rises by 100 each second, read at once, or `late` s after it was asked."""

    name, interval, prompt = "host", 1, True

    def __init__(self, *late: float) -> None:
        self._late = list(late)

    def read(self) -> Reading:
        time.sleep(self._late.pop(0) if self._late else 0)
        return Reading({"host.ticks": 100 * time.monotonic()})

    def close(self) -> None:
        """Holds nothing."""


class Slow(Scripted):
    """A server that answers now at once, now after 0.6 s."""

    def read(self) -> Reading:
        time.sleep(self._answers.pop(0) if len(self._answers) > 1 else 0)  # type: ignore[arg-type]
        return Reading({"mysql.value": 1})


def test_a_server_that_is_slow_to_answer_does_not_date_the_host_s_counters_wrong() -> None:
    samples = sampled(Slow("mysql", 0.6, 0.0, 0.6, 0.0, 0.0), Ticking(), samples=5).samples
    ticks = [(t, values["host.ticks"]) for t, values in samples if values.get("host.ticks") is not None]
    rates = [(after - before) / (end - start) for (start, before), (end, after) in pairwise(ticks)]  # type: ignore[operator]
    assert len(rates) >= 3
    assert rates == pytest.approx([100] * len(rates), rel=0.12)


def test_a_counter_of_the_host_that_was_read_late_is_left_out_and_told() -> None:
    recording = sampled(Scripted("mysql", 1), Ticking(0, 0.4), samples=3)
    assert ["host.ticks" in values for _, values in recording.samples] == [True, False, True]
    (event,) = [event for event in recording.events if event.kind == "sampler_error"]
    assert event.label.startswith("host: it was read 0.4 s late")


def test_a_first_source_that_was_read_late_is_not_said_to_be_silent() -> None:
    recording = sampled(Ticking(0, 0.4), samples=3)
    assert [event.kind for event in recording.events] == ["sampler_error"]


def test_slots_already_gone_by_are_skipped_and_never_bunch_up() -> None:
    assert next_slot(0, 0.1) == 1
    assert next_slot(4, 4.999) == 5
    assert next_slot(4, 5.0) == 5
    assert next_slot(4, 7.2) == 8
    assert next_slot(4, 4.0) == 5


def test_samples_keep_to_the_second_without_drift() -> None:
    class Slow(Scripted):
        def read(self) -> Reading:
            time.sleep(0.2)
            return super().read()

    times = [t for t, _ in sampled(Slow("a", 1.0), samples=4).samples]
    seconds = [round(t - times[0]) for t in times]
    assert seconds == sorted(set(seconds))
    # Waiting a second after each answer would have lost 0.6 s by now.
    assert times[-1] - times[0] - seconds[-1] < 0.4


def test_a_source_that_fails_is_not_observed_and_told_once_as_a_span_and_that_the_node_does_not_answer() -> None:
    failing = Scripted("mysql", 1, SourceFailed("gone away"), SourceFailed("refused"), 4)
    recording = sampled(failing, Scripted("host", 7), samples=4)
    assert [values for _, values in recording.samples] == [
        {"mysql.value": 1, "host.value": 7},
        {"host.value": 7},
        {"host.value": 7},
        {"mysql.value": 4, "host.value": 7},
    ]
    (event,) = [event for event in recording.events if event.kind == "sampler_error"]
    assert (event.label, event.node) == ("mysql: gone away", "db1")
    assert event.ends_at is not None
    assert 1.5 < event.ends_at - event.starts_at < 3.5
    told = [event for event in recording.events if event.kind == "node_state"]
    assert [each.label for each in told] == ["answers: yes → no (gone away)", "answers: no → yes"]
    assert [each.starts_at for each in told] == pytest.approx([event.starts_at, event.ends_at], abs=0.5)


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
    (event,) = [event for event in recording.events if event.kind == "sampler_error"]
    assert event.ends_at is not None
    assert event.ends_at >= event.starts_at
    assert [values for _, values in recording.samples] == [{}, {}]


def test_an_unforeseen_error_of_a_source_does_not_end_the_sampling() -> None:
    recording = sampled(Scripted("host", ValueError("new form"), 2), samples=2)
    assert recording.samples[1][1] == {"host.value": 2}
    assert "host: ValueError: new form" in {event.label for event in recording.events}


def test_sources_are_closed_at_the_end() -> None:
    source = Scripted("a", 1)
    sampled(source, samples=1)
    assert source.closed.wait(2)


def test_a_state_that_changes_is_an_event_and_one_that_stays_is_none() -> None:
    states = [{"wsrep": "Synced", "read_only": "OFF"}, {"wsrep": "Donor/Desynced", "read_only": "OFF"}]
    recording = sampled(Scripted("mysql", *(Reading({}, states=each) for each in states)), samples=2)
    (event,) = recording.events
    assert (event.kind, event.label, event.ends_at) == ("node_state", "wsrep: Synced → Donor/Desynced", None)
    assert event.detail == {"what": "wsrep", "from": "Synced", "to": "Donor/Desynced"}


def test_what_cannot_be_observed_is_told_once_with_reason_and_remedy() -> None:
    nothing = Scripted("waits", SeesNothing(NotObservable("waits", "performance_schema is OFF", "turn it ON")))
    part = Scripted("host", Reading({"host.cpus": 2}, hidden=[NotObservable("pressure", "the kernel has no PSI")]))
    recording = sampled(part, nothing, samples=2)
    assert [(event.kind, event.label, event.detail) for event in recording.events] == [
        (
            "not_observable",
            "pressure: the kernel has no PSI",
            {"what": "pressure", "reason": "the kernel has no PSI", "remedy": ""},
        ),
        (
            "not_observable",
            "waits: performance_schema is OFF; turn it ON",
            {"what": "waits", "reason": "performance_schema is OFF", "remedy": "turn it ON"},
        ),
    ]
    assert [values for _, values in recording.samples] == [{"host.cpus": 2}] * len(recording.samples)


def test_a_source_may_be_asked_less_often_than_each_second() -> None:
    recording = sampled(Scripted("mysql", 1), Scripted("waits", 7, interval=2), samples=3)
    assert ["waits.value" in values for _, values in recording.samples[:3]] == [True, False, True]


def test_what_sampling_took_and_the_statements_it_issued_are_recorded() -> None:
    class Slow(Scripted):
        def read(self) -> Reading:
            time.sleep(0.05)
            return Reading({"a": 1}, statements=2)

    recording = sampled(Slow("mysql", 1), Scripted("host", 1), samples=2)
    assert [own["agent.statements"] for own in recording.own[:2]] == [2, 4]
    seconds = recording.own[1]["agent.sampling.mysql.seconds"]
    assert seconds is not None
    assert 0.05 <= seconds < 0.5
    assert "agent.sampling.host.seconds" in recording.own[1]
