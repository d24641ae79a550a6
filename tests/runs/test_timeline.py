"""What happened on a run's clock is listed lane by lane and in words."""

from typing import Any

import numpy as np
import pytest

from apps.runs import queries, timeline
from apps.runs.queries import EventDetail
from tests.runs.uploads import an_open_run, an_upload
from tests.web.runs.recorded_runs import a_sealed_run, samples
from workers.protocol.wire import EventMessage


def an_event(kind: str, at: float, until: float | None = None, **fields: Any) -> EventDetail:
    values: dict[str, Any] = {"label": kind, "node": "", "detail": {}} | fields
    return EventDetail(kind=kind, starts_at=at, ends_at=until, **values)


def _entries(events: list[EventDetail], lane: str) -> list[tuple[str, float, float | None]]:
    found = timeline.happenings(events, (10.0, 60.0), 65.0)
    return [(one.label, one.starts_at, one.ends_at) for one in found if one.lane == lane]


def test_warm_up_measured_phase_and_what_came_after_are_spans() -> None:
    assert _entries([], "phases") == [
        ("warm-up", 0.0, 10.0),
        ("measured phase", 10.0, 60.0),
        ("after the measured phase", 60.0, 65.0),
    ]
    assert timeline.happenings([], None, 65.0) == []


def test_complaints_second_by_second_are_one_burst_that_counts_them_by_their_words() -> None:
    deadlock: dict[str, Any] = {"label": "deadlock, tried again", "node": "client"}
    events = [
        an_event("error", 21.0, detail={"code": 1213, "count": 4}, **deadlock),
        an_event("error", 22.0, label="lock wait timeout (1205)", node="client", detail={"code": 1205, "count": 1}),
        an_event("error", 23.0, detail={"code": 1213, "count": 2}, **deadlock),
        an_event("error", 40.0, detail={"code": 1213, "count": 1}, **deadlock),
    ]
    assert _entries(events, "errors") == [
        ("6 × error 1213: deadlock, tried again; 1 × lock wait timeout (1205)", 21.0, 23.0),
        ("error 1213: deadlock, tried again", 40.0, None),
    ]


def test_faults_statements_and_nodes_have_lanes_of_their_own_and_what_is_no_moment_has_none() -> None:
    events = [
        an_event("fault", 20.0, 20.1),
        an_event("promotion", 21.0, 24.0),
        an_event("ddl", 30.0, 34.0, detail={"text": "ALTER TABLE sbtest1 ADD COLUMN c INT"}),
        an_event("node_state", 21.0, label="answers: yes → no", node="db1"),
        an_event("check", 60.0),
        an_event("not_observable", 0.6),
        an_event("checkpoint", 12.0),
    ]
    found = {one.kind: (one.lane, one.label) for one in timeline.happenings(events, None, None)}
    assert found == {
        "fault": ("faults", "fault"),
        "promotion": ("faults", "promotion"),
        "ddl": ("schema", "ALTER TABLE sbtest1 ADD COLUMN c INT"),
        "node_state": ("nodes", "answers: yes → no"),
        "checkpoint": ("others", "checkpoint"),
    }


def test_stolen_time_is_shown_where_it_is_more_than_the_quality_check_lets_pass() -> None:
    at = np.arange(1.0, 11.0)
    values = np.array([0, 0, 5, 12, 0, 3, np.nan, 0, 0, 0.5])
    (one,) = timeline.stolen({"db1": (at, values)})
    assert (one.label, one.node) == ("up to 12.0 % of the CPU time was stolen", "db1")
    assert (one.starts_at, one.ends_at) == (2.0, 6.0)
    assert timeline.stolen({"db1": (np.zeros(0), np.zeros(0))}) == []


def test_nodes_that_lose_time_at_once_are_shown_together() -> None:
    at = np.arange(1.0, 31.0)
    early, later, apart = np.zeros(30), np.zeros(30), np.zeros(30)
    early[4:7], later[6:9], apart[20] = 5.0, 7.0, 3.0
    found = timeline.stolen({"db2": (at, early), "db1": (at, later), "db3": (at, apart)})
    assert [(one.node, one.starts_at, one.ends_at) for one in found] == [("db1, db2", 4.0, 9.0), ("db3", 20.0, 21.0)]
    assert "7.0 %" in found[0].label


def test_a_node_that_was_not_sampled_for_a_while_has_a_gap_and_a_late_second_is_none() -> None:
    clock = np.array([0.0, 1.0, 2.0, 3.6, 4.0, 9.0, 10.0])
    (gap,) = timeline.gaps("db2", clock)
    assert (gap.starts_at, gap.ends_at, gap.label) == (4.0, 9.0, "not sampled for 5.0 s")
    assert timeline.gaps("db2", clock[:1]) == []


@pytest.mark.django_db
def test_a_live_run_tells_what_happened_before_it_is_sealed() -> None:
    state = EventMessage(kind="node_state", label="answers: yes → no", starts_at=3.0, node="db1")
    upload = an_upload(run=an_open_run(), nodes={"db1": samples()}, events=[state])
    upload.send_batch(0)
    found = queries.timelines([upload.run.pk])[upload.run.pk]
    assert found.is_live
    assert [(one.kind, one.starts_at) for one in found.happenings] == [("node_state", 3.0)]
    assert found.whole is not None
    assert found.whole[1] >= 9


@pytest.mark.django_db
def test_a_sealed_run_has_its_phases_and_events_in_a_constant_number_of_queries(
    django_assert_num_queries: Any,
) -> None:
    runs = [a_sealed_run().pk, a_sealed_run(repetition=2).pk]
    with django_assert_num_queries(9):
        found = queries.timelines(runs)
    kinds = {one.kind for one in found[runs[0]].happenings}
    assert {"measured", "checkpoint"} <= kinds
    with django_assert_num_queries(9):
        queries.timelines(runs[:1])
