"""The steps of a run are listed in order, from the fault on, and what was checked is said with its verdict."""

from typing import Any

from apps.runs.queries import EventDetail
from apps.web.runs import steps


def an_event(kind: str, at: float, until: float | None = None, **fields: Any) -> EventDetail:
    values: dict[str, Any] = {"label": kind, "node": "", "detail": {}, "from_output": True} | fields
    return EventDetail(kind=kind, starts_at=at, ends_at=until, **values)


EVENTS = [
    an_event("promotion", 13.5, 24.95, node="db2"),
    an_event("fault", 13.38, 13.42, node="db1"),
    an_event("outage", 13.38, 25.7),
    an_event("phase", 2.0, 4.0),
    an_event("node_state", 14.0, from_output=False),
    an_event("sampler_error", 13.7, 41.0, from_output=False),
    an_event("error", 15.0),
    an_event("check", 59.0, label="rows", detail={"held": True, "text": "all 596 rows are there"}),
    an_event("check", 59.0, label="step", detail={"held": False}),
]


def test_steps_are_listed_in_their_order_with_seconds_since_the_fault() -> None:
    story = steps.run_steps(EVENTS)
    assert [(step.kind, step.after, step.lasted, step.at) for step in story.steps] == [
        ("phase", "", "2.00", "2.00"),
        ("fault", "0.00", "0.04", "13.38"),
        ("outage", "0.00", "12.32", "13.38"),
        ("promotion", "0.12", "11.45", "13.50"),
    ]
    assert story.has_fault


def test_what_was_checked_is_shown_in_full_with_its_verdict() -> None:
    claims = steps.run_steps(EVENTS).claims
    assert [(claim.label, claim.holds) for claim in claims] == [("all 596 rows are there", True), ("step", False)]


def test_a_run_without_steps_has_no_story() -> None:
    story = steps.run_steps([an_event("load", 1.0, 9.0, from_output=False)])
    assert (list(story.steps), list(story.claims), story.has_fault) == ([], [], False)


def test_who_wrote_before_and_after_a_failover_is_told_in_one_line() -> None:
    def wrote(node: str, at: float, until: float) -> EventDetail:
        return an_event("role", at, until, node=node, detail={"role": "writer"})

    reader = an_event("role", 0.0, 60.0, node="db3", detail={"role": "reader"})
    assert steps.writers([wrote("db2", 28.0, 60.0), reader, wrote("db1", 0.0, 21.0)]) == "db1 until 21 s, db2 from 28 s"
    assert steps.writers([wrote("db1", 0.0, 60.0), reader]) == "db1"
    assert steps.writers([reader]) == ""
    assert not steps.run_steps([wrote("db1", 0.0, 21.0)]).steps, "it is no step of the tool"
