"""What sealing stores of a histogram, and how it is read back."""

from typing import Any

import pytest
from pytest_django.fixtures import DjangoAssertNumQueries

from apps.runs import queries, seal
from apps.runs.ingest import accept
from apps.runs.models import Artifact, Distribution, Measurement, Run
from apps.runs.samples.histograms import merge
from apps.runs.storage import artifacts
from tests.paths import RECORDINGS
from tests.runs.uploads import OUTPUT, an_upload

pytestmark = pytest.mark.django_db

WITHOUT = (RECORDINGS / "sysbench_single" / "oltp_read_write_t4_p99.txt").read_bytes()


def sealed(**what: Any) -> Run:
    run = an_upload(**what).send()
    assert accept.seal(run_id=run.pk)
    return run


def test_a_histogram_is_stored_with_its_grid_and_the_bytes_it_was_read_from() -> None:
    run = sealed()
    (found,) = queries.distributions([run.pk])
    output = artifacts.read_artifact(Artifact.objects.get(run=run))
    lines = output[found.byte_start : found.byte_end].decode().splitlines()
    grid = found.distribution.grid
    assert [f"{grid.value(bucket):.3f}" for bucket in found.distribution.buckets] == [line.split()[0] for line in lines]
    assert list(found.distribution.counts) == [int(line.split()[-1]) for line in lines]
    assert (found.metric, found.unit, found.parser, grid.id) == (
        *("client.latency", "ms", "sysbench"),
        "sysbench:1024:0.001:100000",
    )
    assert found.distribution.count == Measurement.objects.get(run=run, metric__key="client.transactions").value


def test_its_percentiles_are_the_headline_numbers() -> None:
    run = sealed()
    (found,) = queries.distributions([run.pk])
    measured = {
        m.metric: m.value for m in queries.measurements([run.pk], [f"client.latency.p{p}" for p in (50, 95, 99)])
    }
    assert len(measured) == 3
    for key, value in measured.items():
        # sysbench prints its own with two decimals, its histogram with three.
        assert found.distribution.percentile(int(key.rpartition("p")[2])).value == pytest.approx(value, abs=0.006)


@pytest.mark.parametrize(
    "output", [WITHOUT, OUTPUT.replace(b"events:              23861", b"events:              23800")]
)
def test_a_run_without_a_histogram_that_holds_its_events_has_no_distribution(output: bytes) -> None:
    run = sealed(output=output)
    assert Measurement.objects.filter(run=run).exists()
    assert queries.distributions([run.pk]) == []


def test_many_runs_are_read_with_one_query_and_merged(django_assert_num_queries: DjangoAssertNumQueries) -> None:
    runs = [sealed(), sealed()]
    with django_assert_num_queries(1):
        one, other = queries.distributions([run.pk for run in runs])
    merged = merge([one.distribution, other.distribution])
    assert merged.count == 2 * one.distribution.count
    assert merged.percentile(99).value == one.distribution.percentile(99).value


def test_a_run_sealed_before_histograms_were_kept_gets_its_own_when_it_is_sealed_again() -> None:
    run = sealed()
    before = queries.distributions([run.pk])
    Distribution.objects.filter(run=run).delete()
    assert seal.reseal(run_id=run.pk)
    assert queries.distributions([run.pk]) == before
