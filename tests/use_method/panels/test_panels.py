"""A run's panel: judged when it is complete, kept, and judged anew when rules change or the run is sealed again."""

from datetime import timedelta

import numpy as np
from django.db.models import F

from apps.runs.models import Event, Run
from apps.use_method.models import UsePanel
from apps.use_method.panels import panels
from apps.use_method.values import UseLevel
from tests.comparison.sampled import a_node, a_sampled_run
from tests.support.builders import a_run
from tests.use_method.builders import reading

SECONDS = np.arange(0.0, 71.0)


def a_busy_run(**fields: object) -> Run:
    """One node whose CPU is 98 % busy all the time."""
    node = a_node(
        "db1",
        SECONDS,
        {"host.cpu.user": 1.96 * SECONDS, "host.cpu.idle": 0.04 * SECONDS},
        dict.fromkeys(("host.cpu.nice", "host.cpu.system", "host.cpu.irq", "host.cpu.softirq"), 0),
    )
    return a_sampled_run([node], {"client.throughput": 500.0}, **fields)


def test_a_panel_is_kept_and_read_as_it_was_judged(db: None) -> None:
    run = a_busy_run()
    judged = panels.judge(run_id=run.pk)
    assert judged is not None
    assert reading(judged, "cpu.busy", "db1").level is UseLevel.SATURATED
    assert panels.kept_of([run.pk]) == {run.pk: judged}
    assert panels.panel_of(run.pk) == judged


def test_a_run_is_due_until_it_is_judged_and_again_when_rules_change_or_it_is_sealed_again(db: None) -> None:
    run = a_busy_run()
    assert panels.due() == [run.pk]
    panels.judge(run_id=run.pk)
    assert panels.due() == []
    UsePanel.objects.update(version=0)
    assert panels.due() == [run.pk]
    panels.judge(run_id=run.pk)
    Run.objects.update(sealed_at=F("sealed_at") + timedelta(seconds=1))
    assert panels.due() == [run.pk]
    assert panels.kept_of([run.pk]) == {}


def test_a_made_up_run_is_judged_when_it_is_looked_at_and_not_before(db: None) -> None:
    run = a_busy_run(provenance=Run.Provenance.RIG)
    assert panels.due() == []
    assert reading(panels.panel_of(run.pk), "cpu.busy", "db1").value == 98.0


def test_a_run_without_samples_has_no_cell(db: None) -> None:
    run = a_run(state=Run.State.SEALED)
    assert panels.panel_of(run.pk).readings == ()


def test_errors_of_the_warm_up_do_not_count(db: None) -> None:
    """A tool reports the errors of a second at its end: those of the last one of the warm-up soon after it."""
    run = a_busy_run()
    assert run.measured_from is not None
    for at, count in ((-5.0, 1), (0.002, 20), (1.002, 300), (2.002, 4000)):
        detail = {"code": 1213, "count": count}
        Event.objects.create(run=run, kind="error", label="Deadlock", starts_at=run.measured_from + at, detail=detail)
    found = reading(panels.panel_of(run.pk), "errors.conflict", "db1")
    assert found.value == 4300
