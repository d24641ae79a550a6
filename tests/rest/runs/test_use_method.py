"""What limits a run, and the table of resources, over HTTP."""

import pytest
from rest_framework.test import APIClient

from apps.use_method.resource_table import INDICATORS, RESOURCES
from tests.support.builders import a_run
from tests.use_method.panels.test_panels import a_busy_run

pytestmark = pytest.mark.django_db


def test_a_run_answers_level_value_evidence_and_when(anyone: APIClient) -> None:
    run = a_busy_run()
    document = anyone.get(f"/api/v1/runs/{run.pk}/use/").json()
    assert (document["run"], document["live"]) == (run.pk, False)
    assert {"name": "db1", "role": "writer"} in document["nodes"]
    cpu = next(one for one in document["resources"] if one["resource"] == "cpu")
    assert (cpu["layer"], cpu["level"]) == ("machine", "saturated")
    worst = next(one for one in cpu["whole"] if one["aspect"] == "utilization")
    assert (worst["level"], worst["indicator"], worst["node"], worst["nodes"]) == (
        "saturated",
        "cpu.busy",
        "db1",
        ["db1"],
    )
    busy = next(one for one in document["readings"] if (one["indicator"], one["node"]) == ("cpu.busy", "db1"))
    assert (busy["aspect"], busy["level"], busy["value"], busy["unit"]) == ("utilization", "saturated", 98.0, "%")
    assert busy["words"].startswith("at least 95 % all the time")
    assert busy["metric"] == "derived.cpu.busy"
    assert busy["spans"]


def test_what_was_not_observed_is_null_with_its_reason(anyone: APIClient) -> None:
    readings = anyone.get(f"/api/v1/runs/{a_busy_run().pk}/use/").json()["readings"]
    unseen = [one for one in readings if one["level"] == "not_observable"]
    assert unseen
    assert all(one["value"] is None and one["words"] for one in unseen)


def test_a_run_that_nobody_sampled_has_no_reading_and_one_that_is_not_there_no_panel(anyone: APIClient) -> None:
    assert anyone.get(f"/api/v1/runs/{a_run().pk}/use/").json()["readings"] == []
    assert anyone.get("/api/v1/runs/999999/use/").status_code == 404


def test_the_table_names_every_indicator_with_formula_limits_and_sources(anyone: APIClient) -> None:
    document = anyone.get("/api/v1/use-method/").json()
    assert [one["key"] for one in document["resources"]] == [resource.key for resource in RESOURCES]
    indicators = {one["key"]: one for resource in document["resources"] for one in resource["indicators"]}
    assert set(indicators) == set(INDICATORS)
    assert indicators["cpu.busy"]["limits"] == INDICATORS["cpu.busy"].limits.replace("\u00a0", " ")
    assert indicators["cpu.busy"]["sources"]["Linux"]
