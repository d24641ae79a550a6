"""Keys become rows once, whoever asks first."""

import threading

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from apps.catalog import services
from apps.catalog.models import Metric
from apps.catalog.services import InvalidField
from apps.core import limits
from tests.support.waiting import LIMIT

pytestmark = pytest.mark.django_db


def test_a_curated_key_is_curated_even_before_the_seed() -> None:
    metric = services.metrics_for(["client.throughput"])["client.throughput"]
    assert (metric.unit, metric.direction, metric.curated) == ("transactions/s", "higher", True)


def test_an_unknown_counter_is_stored_and_marked_as_not_described() -> None:
    metric = services.metrics_for(["mysql.status.Brand_new_thing"])["mysql.status.Brand_new_thing"]
    assert (metric.kind, metric.direction, metric.curated) == ("counter", "neutral", False)


def test_a_second_call_gives_the_same_rows() -> None:
    keys = ["client.queries", "mysql.status.Brand_new_thing"]
    first, second = services.metrics_for(keys), services.metrics_for(reversed(keys))
    assert {k: m.pk for k, m in first.items()} == {k: m.pk for k, m in second.items()}


@pytest.mark.parametrize("count", [3, 700])
def test_the_number_of_queries_does_not_grow_with_the_keys(count: int) -> None:
    keys = [f"mysql.status.Thing_{i}" for i in range(count)]
    with CaptureQueriesContext(connection) as creating:
        services.metrics_for(keys)
    with CaptureQueriesContext(connection) as finding:
        services.metrics_for(keys)
    creates = [query["sql"] for query in creating if "SAVEPOINT" not in query["sql"]]
    assert (len(creates), len(finding)) == (3, 1)


@pytest.mark.django_db(transaction=True)
def test_many_callers_at_once_get_the_same_rows() -> None:
    keys = [f"mysql.status.Thing_{i}" for i in range(50)]
    found: list[dict[str, int]] = []
    start = threading.Barrier(6)

    def ask(own: list[str]) -> None:
        try:
            start.wait(timeout=LIMIT)
            found.append({key: metric.pk for key, metric in services.metrics_for(own).items()})
        finally:
            connection.close()

    threads = [threading.Thread(target=ask, args=(keys[:: 1 if i % 2 else -1],)) for i in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=LIMIT)
    assert len(found) == 6
    assert all(answer == found[0] for answer in found)
    assert Metric.objects.filter(key__in=keys).count() == 50


def test_more_new_keys_than_a_run_may_bring_are_refused_and_none_is_made() -> None:
    keys = [f"client.n{place}" for place in range(limits.NEW_METRICS + 1)]
    with pytest.raises(InvalidField, match="5,001 are new; at most 5,000 may be"):
        services.metrics_for(keys)
    assert not Metric.objects.filter(key__startswith="client.n").exists()


def test_a_name_made_of_a_long_key_is_cut() -> None:
    key = f"derived.disk.{'x' * 141}.await"
    assert len(services.metrics_for([key])[key].name) == 160


@pytest.mark.parametrize("key", ["", "two words", "x" * 161, "line\nbreak"])
def test_a_key_that_cannot_be_one_is_refused(key: str) -> None:
    with pytest.raises(InvalidField, match="metric"):
        services.metrics_for([key])
    assert not Metric.objects.filter(key=key).exists()
