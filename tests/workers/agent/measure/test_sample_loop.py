import threading
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

from tests.support.waiting import LIMIT
from tests.workers.agent.virtual import VirtualClock
from workers.agent.measure.recorder import Recorder
from workers.agent.measure.sample_loop import NodeSampler, next_slot
from workers.agent.samplers import HiddenFromSampler, NothingObserved, SourceFailed, SourceReading
from workers.protocol.wire import EventMessage, Number


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


@dataclass(frozen=True)
class Late:
    """An answer that comes so many seconds after it was asked for."""

    seconds: float
    answer: float | SourceReading


class Scripted:
    """Each answer is a value, one that comes late, or an exception."""

    clock: VirtualClock

    def __init__(self, name: str, *answers: float | Exception | Late | SourceReading, interval: int = 1) -> None:
        self.name = name
        self.interval = interval
        self.prompt = False
        self._answers = list(answers)
        self.closed = threading.Event()

    def read(self) -> SourceReading:
        answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        if isinstance(answer, Late):
            self.clock.sleep(answer.seconds)
            answer = answer.answer
        if isinstance(answer, Exception):
            raise answer
        return answer if isinstance(answer, SourceReading) else SourceReading({f"{self.name}.value": answer})

    def close(self) -> None:
        self.closed.set()


def sampled(*sources: Scripted, samples: int) -> Recording:
    """What the seconds of so many samples recorded."""
    clock = VirtualClock(threads=1 + len(sources))
    for source in sources:
        source.clock = clock
    recording = Recording()
    sampler = NodeSampler(node="db1", role="writer", sources=sources, clock=clock, recorder=recording)
    sampler.start()
    clock.pass_until(samples - 0.01)
    sampler.stop()
    return recording


class Ticking(Scripted):
    """A counter of the host that rises by 100 each second, read at once, or `late` s after it was asked."""

    def __init__(self, *late: float) -> None:
        super().__init__("host", 0)
        self.prompt = True
        self._late = list(late)

    def read(self) -> SourceReading:
        self.clock.sleep(self._late.pop(0) if self._late else 0)
        return SourceReading({"host.ticks": 100 * self.clock.now()})


def test_a_server_that_is_slow_to_answer_does_not_date_the_host_s_counters_wrong() -> None:
    server = Scripted("mysql", Late(0.6, 1), 1, Late(0.6, 1), 1)
    samples = sampled(server, Ticking(), samples=5).samples
    ticks = [(t, values["host.ticks"]) for t, values in samples]
    rates = [(after - before) / (end - start) for (start, before), (end, after) in pairwise(ticks)]  # type: ignore[operator]
    assert rates == [100] * 4


def test_a_counter_of_the_host_that_was_read_late_is_left_out_and_reported() -> None:
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
    assert [t for t, _ in sampled(Scripted("a", Late(0.2, 1)), samples=4).samples] == [0, 1, 2, 3]


def test_a_source_that_fails_is_not_observed_and_reported_once_as_a_span_and_that_the_node_does_not_answer() -> None:
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
    assert (event.starts_at, event.ends_at) == (1, 3)
    changes = [event for event in recording.events if event.kind == "node_state"]
    assert [each.label for each in changes] == ["answers: yes → no (gone away)", "answers: no → yes"]
    assert [each.starts_at for each in changes] == [1, 3]


def test_a_source_that_hangs_does_not_blind_the_others_and_its_late_answer_is_not_used() -> None:
    recording = sampled(Scripted("mysql", Late(2.2, -1), 5), Scripted("host", 7), samples=5)
    assert [values for _, values in recording.samples] == [
        {"host.value": 7},
        {"host.value": 7},
        {"host.value": 7},
        {"mysql.value": 5, "host.value": 7},
        {"mysql.value": 5, "host.value": 7},
    ]
    assert [t for t, _ in recording.samples] == [0, 1, 2, 3, 4]


def test_a_source_still_silent_at_the_end_leaves_its_span() -> None:
    recording = sampled(Scripted("mysql", SourceFailed("gone")), samples=2)
    (event,) = [event for event in recording.events if event.kind == "sampler_error"]
    assert (event.starts_at, event.ends_at) == (0, 1.99)
    assert [values for _, values in recording.samples] == [{}, {}]


def test_an_unforeseen_error_of_a_source_does_not_end_the_sampling() -> None:
    recording = sampled(Scripted("host", ValueError("new form"), 2), samples=2)
    assert [values for _, values in recording.samples][1] == {"host.value": 2}
    assert "host: ValueError: new form" in {event.label for event in recording.events}


def test_sources_are_closed_at_the_end() -> None:
    source = Scripted("a", 1)
    sampled(source, samples=1)
    assert source.closed.wait(LIMIT)


def test_a_state_that_changes_is_an_event_and_one_that_stays_is_none() -> None:
    states = [{"wsrep": "Synced", "read_only": "OFF"}, {"wsrep": "Donor/Desynced", "read_only": "OFF"}]
    recording = sampled(Scripted("mysql", *(SourceReading({}, states=each) for each in states)), samples=2)
    (event,) = recording.events
    assert (event.kind, event.label, event.ends_at) == ("node_state", "wsrep: Synced → Donor/Desynced", None)
    assert event.detail == {"what": "wsrep", "from": "Synced", "to": "Donor/Desynced"}


def test_what_cannot_be_observed_is_reported_once_with_reason_and_remedy() -> None:
    nothing = Scripted("waits", NothingObserved(HiddenFromSampler("waits", "performance_schema is OFF", "turn it ON")))
    part = Scripted(
        "host", SourceReading({"host.cpus": 2}, hidden=[HiddenFromSampler("pressure", "the kernel has no PSI")])
    )
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


def test_a_source_of_what_the_server_does_not_have_is_read_once_and_not_reported() -> None:
    none = Scripted("group", NothingObserved())
    recording = sampled(Scripted("host", SourceReading({"host.cpus": 2})), none, samples=3)
    assert recording.events == []
    assert all(values == {"host.cpus": 2} for _, values in recording.samples)


def test_a_source_may_be_asked_less_often_than_each_second() -> None:
    recording = sampled(Scripted("mysql", 1), Scripted("waits", 7, interval=2), samples=3)
    assert ["waits.value" in values for _, values in recording.samples] == [True, False, True]


def test_what_sampling_took_and_the_statements_it_issued_are_recorded() -> None:
    slow = Scripted("mysql", Late(0.05, SourceReading({"a": 1}, statements=2)))
    recording = sampled(slow, Scripted("host", 1), samples=2)
    assert [own["agent.statements"] for own in recording.own] == [2, 4]
    assert recording.own[0]["agent.sampling.mysql.seconds"] == 0.05
    assert recording.own[0]["agent.sampling.host.seconds"] == 0


def test_a_sample_counts_as_taken_once_it_is_recorded() -> None:
    clock, recording = VirtualClock(threads=2), Recording()
    source = Scripted("mysql", Late(0.5, 1))
    source.clock = clock
    sampler = NodeSampler(node="db1", role="writer", sources=[source], clock=clock, recorder=recording)
    sampler.start()
    clock.pass_until(0.4)
    assert not sampler.has_sampled_since(0)
    clock.pass_until(0.6)
    assert sampler.has_sampled_since(0)
    assert not sampler.has_sampled_since(0.3)
    sampler.stop()
    assert sampler.has_sampled_since(9), "none will be"


def test_a_sample_counts_as_taken_once_every_source_has_answered_or_was_silent_for_three_seconds() -> None:
    for silent, counted in ((1, 1.0), (99, 3.0)):
        clock, recording = VirtualClock(threads=3), Recording()
        source = Scripted("mysql", *[SourceFailed("too busy")] * silent, 1)
        sampler = NodeSampler(
            node="db1", role="writer", sources=[source, Scripted("host", 1)], clock=clock, recorder=recording
        )
        sampler.start()
        clock.pass_until(counted - 0.5)
        assert not sampler.has_sampled_since(0)
        clock.pass_until(counted + 0.5)
        assert sampler.has_sampled_since(counted)
        sampler.stop()
