"""An export of any length is written as it is read: memory for a few series, and no reader overlooks a break."""

import io
import json
import tracemalloc
from collections.abc import Iterator
from typing import Any

import duckdb
import pandas as pd
import pyarrow as pa
import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from pyarrow import ipc, parquet

from apps.rest.framework.problems import ApiProblem
from apps.rest.series import read as series_read
from apps.runs.models import Run
from tests.runs.long_runs import a_long_run, a_node

NAMES = ["csv", "arrow", "parquet", "json"]


@pytest.fixture
def answers(db: None) -> Client:
    return Client(raise_request_exception=False)


def exported(client: Client, run: Run, name: str, query: str = "") -> Any:
    answer: Any = client.get(f"/api/v1/runs/{run.pk}/series/?format={name}&{query}")
    assert answer.status_code == 200
    return answer


def peak_of_export(client: Client, run: Run, name: str) -> tuple[int, int]:
    """Bytes held at once by Python, numpy and Arrow while the answer is read and thrown away piece by piece, and how
    many queries were made after it had begun."""
    before = pa.total_allocated_bytes()
    tracemalloc.start()
    try:
        answer = exported(client, run, name)
        assert answer.streaming
        assert not answer.has_header("Content-Length")
        most = 0
        with CaptureQueriesContext(connection) as rest:
            for _ in answer.streaming_content:
                most = max(most, pa.total_allocated_bytes() - before)
        return tracemalloc.get_traced_memory()[1] + most, len(rest)
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("name", NAMES)
def test_an_export_of_four_times_the_series_does_not_hold_what_it_has_more(
    answers: Client, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(series_read, "STRETCH", 2**16)
    samples, few, many = 20_000, 20, 80
    exported(answers, a_long_run(a_node(samples=10, series=2)), name)  # what is imported once is not counted
    one, other = [
        peak_of_export(answers, a_long_run(a_node(samples=samples, series=series)), name) for series in (few, many)
    ]
    arrays = 16 * samples * (many - few)  # bytes of their times and values alone; as the text of CSV they have 60
    assert other[0] - one[0] < arrays / 10
    assert 0 < one[1] < other[1]


def test_all_samples_arrive(answers: Client) -> None:
    run = a_long_run(a_node("db1", samples=7_000, series=120), a_node("db2", samples=3_000, series=120))
    pieces = exported(answers, run, "arrow").streaming_content
    read = ipc.open_stream(io.BytesIO(b"".join(pieces))).read_all()
    assert read.num_rows == (6_999 + 2_999) * 120
    query = "SELECT metric, node, count(*), count(value), min(seconds), max(seconds) FROM read GROUP BY ALL"
    found: Any = duckdb.sql(query)
    counts = found.fetchall()
    assert {row[1:] for row in counts} == {
        ("db1", 6999, 6999, 1.25, 6999.25),
        ("db2", 2999, 2999, 1.25, 2999.25),
    }
    assert len(counts) == 240


def test_a_small_answer_comes_whole_with_its_length(answers: Client) -> None:
    run = a_long_run(a_node(samples=100, series=5))
    for name in NAMES:
        answer = exported(answers, run, name)
        assert not answer.streaming
        assert int(answer["Content-Length"]) == len(answer.content)


def test_compression_on_the_way_leaves_alone_what_is_compressed(answers: Client) -> None:
    run = a_long_run(a_node(samples=10_000, series=60))
    for name, encoding in (("csv", "gzip"), ("json", "gzip"), ("arrow", ""), ("parquet", "")):
        answer: Any = answers.get(f"/api/v1/runs/{run.pk}/series/?format={name}", headers={"Accept-Encoding": "gzip"})
        assert answer.streaming
        assert answer.get("Content-Encoding", "") == encoding
        assert answer["ETag"].startswith("W/") == bool(encoding)
        pieces = list(answer.streaming_content)
        assert sum(len(piece) > 1000 for piece in pieces) >= 2, "it comes in pieces"


def test_a_run_that_is_stored_anew_meanwhile_ends_the_answer_as_broken(answers: Client) -> None:
    run = a_long_run(a_node(samples=10_000, series=120))
    for name, reads in READS.items():
        pieces = exported(answers, run, name).streaming_content
        content = next(pieces)
        Run.objects.filter(pk=run.pk).update(derivation=run.derivation + 1)
        received = [content]
        with pytest.raises(ApiProblem, match="was replaced"):
            received.extend(pieces)
        Run.objects.filter(pk=run.pk).update(derivation=run.derivation)
        for read in reads:
            with pytest.raises((ValueError, pa.ArrowException, duckdb.Error, OSError)):
                read(b"".join(received))


def with_pandas(content: bytes) -> Any:
    return pd.read_csv(io.BytesIO(content))


def with_arrow(content: bytes) -> Any:
    return ipc.open_stream(content).read_all()


def with_parquet(content: bytes) -> Any:
    return parquet.read_table(pa.BufferReader(content))


READS: dict[str, list[Any]] = {
    "csv": [with_pandas],
    "arrow": [with_arrow],
    "parquet": [with_parquet],
    "json": [json.loads],
}


def test_one_that_is_stored_anew_before_anything_was_sent_is_a_problem(
    answers: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = a_long_run(a_node(samples=10, series=1))
    stretches = series_read._stretches

    def meanwhile(asked: Any) -> Iterator[Any]:
        yield from stretches(asked)
        Run.objects.filter(pk=run.pk).update(derivation=run.derivation + 1)

    monkeypatch.setattr(series_read, "_stretches", meanwhile)
    answer = answers.get(f"/api/v1/runs/{run.pk}/series/?format=parquet")
    assert (answer.status_code, answer["Content-Type"]) == (503, "application/problem+json")
    assert answer.json()["type"] == "urn:splashboard:problem:stored-anew"


def test_many_runs_are_read_some_at_a_time(answers: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = [a_long_run(a_node(samples=100, series=4)) for _ in range(6)]
    metrics = "&".join(f"metric=mysql.status.Counter_{number}" for number in range(4))
    path = f"/api/v1/series/?{'&'.join(f'run={run.pk}' for run in runs)}&{metrics}&format=csv"
    whole: Any = answers.get(path)
    monkeypatch.setattr(series_read, "STRETCH", 1000)
    with CaptureQueriesContext(connection) as queries:
        parts: Any = answers.get(path)
        content = b"".join(parts.streaming_content)
    assert content == whole.content
    assert len([query for query in queries if "substring(b.data" in query["sql"]]) == 3
