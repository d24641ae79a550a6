"""Watched series and thresholds over the API."""

from typing import Any

import pytest
from rest_framework.test import APIClient

from apps.regressions.models import Threshold, Trend
from tests.regressions.trends.made_series import a_release, followed, runs_of, values
from tests.support.builders import a_load_level

pytestmark = pytest.mark.django_db
API = "/api/v1/"


@pytest.fixture
def fell(db: None) -> Trend:
    runs = runs_of(a_release("10.11.20"), values(runs=36, changes=[(24, 0.85)]))
    followed(runs[-1:])
    followed(runs_of(a_release("10.11.20"), [1.0], load_level=a_load_level(16)))
    return Trend.objects.get(load_level__threads=4)


def test_histories_are_listed_by_pages_and_filtered(reader: APIClient, fell: Trend) -> None:
    answer = reader.get(f"{API}trends/?limit=1").json()
    assert (len(answer["results"]), bool(answer["next"])) == (1, True)
    assert len(reader.get(answer["next"]).json()["results"]) == 1
    (row,) = reader.get(f"{API}trends/?sight=changed&text=write").json()["results"]
    assert (row["id"], row["runs"], row["changes"], row["reason"]) == (fell.pk, 36, 1, "")
    assert (row["platform"], row["platform_name"]) == (fell.platform.slug, fell.platform.name)
    assert (row["hardware"], row["hardware_name"]) == (fell.hardware_class.slug, fell.hardware_class.name)
    assert len(reader.get(f"{API}trends/?platform={row['platform']}").json()["results"]) == 2
    assert reader.get(f"{API}trends/?platform={row['platform_name']}").status_code == 400
    assert 0.01 < row["effect"] < 0.1
    assert reader.get(f"{API}trends/?sight=blue").status_code == 400
    assert reader.get(f"{API}trends/?sihgt=fit").status_code == 400
    refused = reader.get(f"{API}trends/?cursor=nonsense")
    assert (refused.status_code, refused.json()["errors"][0]["field"]) == (400, "cursor")


def test_a_history_has_its_runs_levels_and_changes(reader: APIClient, fell: Trend) -> None:
    answer = reader.get(f"{API}trends/{fell.pk}/").json()
    assert len(answer["points"]) == 36
    (change,) = answer["changes_told"]
    assert change["run"] == answer["points"][change["place"]]["run"]
    assert change["verdict"] == "worse"
    assert [(level["start"], level["end"]) for level in answer["levels"]] == [(0, 24), (24, 36)]
    assert answer["threshold"] == {"smallest": 0.005, "significant": 1e-5, "set_for": "the default"}
    assert reader.get(f"{API}trends/{fell.pk + 9}/").status_code == 404


def test_a_threshold_is_tried_set_and_dropped(
    engineer: APIClient, reader: APIClient, fell: Trend, enqueued: list[Any]
) -> None:
    tried = reader.get(f"{API}thresholds/preview/?workload={fell.workload_id}&smallest=0.3").json()
    assert (tried["raised"], tried["new"], tried["withdrawn"], tried["looked_at"]) == (0, 0, 1, 2)
    assert tried["too_short"] == 1
    assert tried["releases"] == {"checks": 0, "rows": 0, "passed": 0, "worse": 0, "beyond": 0}
    threshold = {"workload": fell.workload_id, "smallest": 0.3, "margin": 0.4}
    assert reader.put(f"{API}thresholds/", threshold, format="json").status_code == 403
    assert reader.get(f"{API}thresholds/").json()["results"] == []
    kept = engineer.put(f"{API}thresholds/", threshold, format="json").json()
    assert (kept["workload"], kept["metric"], kept["smallest"], kept["significant"], kept["margin"]) == (
        fell.workload_id,
        None,
        0.3,
        1e-5,
        0.4,
    )
    assert reader.get(f"{API}thresholds/").json()["results"] == [kept]
    assert engineer.delete(f"{API}thresholds/{kept['id']}/").status_code == 204
    assert engineer.delete(f"{API}thresholds/{kept['id']}/").status_code == 404
    assert [name for name, _ in enqueued] == ["follow_rest", "follow_rest"]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"smallest": 2}, "smallest"),
        ({"smallest": 0.1, "significant": 0.5}, "significant"),
        ({"smallest": 0.1, "workload": 999_999}, "workload"),
        ({"smallest": 0.1, "metric": "no.such"}, "metric"),
        ({"smallest": 0.1, "biggest": 1}, "biggest"),
        ({"smallest": 0.1, "margin": 1.5}, "margin"),
        ({"smallest": 0.1, "margin": "wide"}, "margin"),
        ({}, "smallest"),
    ],
)
def test_what_is_no_threshold_is_refused_by_its_field(engineer: APIClient, body: dict[str, Any], field: str) -> None:
    answer = engineer.put(f"{API}thresholds/", body, format="json")
    assert answer.status_code in (400, 422)
    assert [problem["field"] for problem in answer.json()["errors"]] == [field]
    assert not Threshold.objects.exists()
