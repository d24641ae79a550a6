"""Histograms over HTTP."""

import pytest
from rest_framework.test import APIClient

from apps.runs.ingest import accept
from apps.runs.models import Run
from apps.runs.samples.histograms import SYSBENCH, HistogramCounts
from tests.rest.submissions import ADDRESS
from tests.runs.uploads import OUTPUT, an_upload

pytestmark = pytest.mark.django_db


def sealed() -> Run:
    run = an_upload().send()
    assert accept.seal(run_id=run.pk)
    return run


def test_counts_bounds_and_percentiles_are_those_of_the_output(anyone: APIClient) -> None:
    run = sealed()
    document = anyone.get(f"{ADDRESS}{run.pk}/distributions/").json()
    (found,) = document["distributions"]
    buckets = found["buckets"]
    assert (document["run"], found["metric"], found["unit"]) == (run.pk, "client.latency", "ms")
    assert (found["grid"], found["count"], sum(buckets["count"])) == (SYSBENCH.id, 23861, 23861)
    assert (found["starts_at"], found["ends_at"]) == (0, 20.0061)
    assert all(
        low < value < high for low, value, high in zip(buckets["low"], buckets["value"], buckets["high"], strict=True)
    )
    assert OUTPUT[found["byte_start"] : found["byte_end"]].split()[0] == f"{buckets['value'][0]:.3f}".encode()
    again = HistogramCounts(SYSBENCH, tuple(buckets["index"]), tuple(buckets["count"]))
    quantiles = {one["percentile"]: one for one in found["quantiles"]}
    assert list(quantiles) == [50, 90, 95, 99, 99.9, 100]
    assert quantiles[95]["value"] == again.percentile(95).value == pytest.approx(5.67, abs=0.006)
    assert quantiles[95]["low"] < quantiles[95]["value"] < quantiles[95]["high"]
    assert (quantiles[100]["value"], quantiles[100]["beyond"]) == (again.maximum.value, 0)


def test_a_run_without_a_histogram_has_none(anyone: APIClient) -> None:
    upload = an_upload()
    assert anyone.get(f"{ADDRESS}{upload.run.pk}/distributions/").json()["distributions"] == []
    assert anyone.get(f"{ADDRESS}{upload.run.pk + 1}/distributions/").status_code == 404


def test_a_complete_run_is_not_sent_twice_to_who_holds_it(anyone: APIClient) -> None:
    address = f"{ADDRESS}{sealed().pk}/distributions/"
    etag = anyone.get(address)["ETag"]
    assert anyone.get(address, headers={"If-None-Match": etag}).status_code == 304
    assert anyone.get(f"{ADDRESS}{sealed().pk}/distributions/", headers={"If-None-Match": etag}).status_code == 200
    assert "ETag" not in anyone.get(f"{ADDRESS}{an_upload().run.pk}/distributions/")
