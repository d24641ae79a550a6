"""What happened on a run's clock, over HTTP."""

import pytest
from rest_framework.test import APIClient

from apps.runs.models import Event, Run
from tests.support.builders import a_run

pytestmark = pytest.mark.django_db


def test_events_are_listed_in_order_to_a_millisecond(anyone: APIClient) -> None:
    run = a_run(measured_from=10.0, measured_to=70.0)
    Event.objects.create(run=run, kind="fault", label="kill -9 writer db1", starts_at=30.1234567, node="db1")
    Event.objects.create(run=run, kind="ddl", label="add column", starts_at=20.0, ends_at=25.9999996)
    document = anyone.get(f"/api/v1/runs/{run.pk}/timeline/").json()
    assert (document["run"], document["live"], document["measured"]) == (run.pk, False, [10.0, 70.0])
    events = {one["kind"]: one for one in document["happenings"]}
    assert (events["fault"]["starts_at"], events["fault"]["ends_at"], events["fault"]["node"]) == (30.123, None, "db1")
    assert (events["ddl"]["starts_at"], events["ddl"]["ends_at"]) == (20.0, 26.0)
    starts = [one["starts_at"] for one in document["happenings"]]
    assert starts == sorted(starts)


def test_a_complete_run_is_sent_once_and_a_live_one_each_time(anyone: APIClient) -> None:
    address = f"/api/v1/runs/{a_run().pk}/timeline/"
    etag = anyone.get(address).headers["ETag"]
    assert anyone.get(address, HTTP_IF_NONE_MATCH=etag).status_code == 304
    live = a_run(state=Run.State.OPEN, outcome="", ended_at=None, sealed_at=None)
    answer = anyone.get(f"/api/v1/runs/{live.pk}/timeline/")
    assert (answer.json()["live"], "ETag" in answer.headers) == (True, False)
