"""Series as CSV, Arrow and Parquet: to the last bit what the query layer reads, in every format the same."""

import io
import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from pyarrow import csv, ipc, parquet
from rest_framework.test import APIClient

from apps.runs import queries
from apps.runs.ingest import accept
from apps.runs.models import Block, Run, RunNode
from apps.runs.samples.columns import SampledNode
from apps.runs.samples.rates import SeriesStatistics
from apps.runs.storage import codec
from tests.rest.series.test_series import QUESTIONS, RUNNING, sealed
from tests.rest.submissions import ADDRESS, fields_of
from tests.runs.long_runs import a_long_run
from tests.runs.uploads import a_minute, an_upload
from tests.support.builders import a_metric
from workers.protocol.wire import EventMessage, Number

HUGE = 2**53 + 1
STATES = "mysql.status.Innodb_row_lock_current_waits"
COLUMNS = ["run", "metric", "node", "unit", "seconds", "value", "missing"]


def of_csv(content: bytes) -> pa.Table:
    types = {
        **dict.fromkeys(("seconds", "value"), pa.float64()),
        **dict.fromkeys(("integer", "run"), pa.int64()),
        **dict.fromkeys(("metric", "node", "unit", "missing"), pa.string()),
        "unsigned": pa.uint64(),
    }
    return csv.read_csv(
        io.BytesIO(content), convert_options=csv.ConvertOptions(column_types=types, strings_can_be_null=True)
    )


def of_arrow(content: bytes) -> pa.Table:
    return ipc.open_stream(content).read_all()


def of_parquet(content: bytes) -> pa.Table:
    return parquet.read_table(pa.BufferReader(content))


READERS: dict[str, Callable[[bytes], pa.Table]] = {"csv": of_csv, "arrow": of_arrow, "parquet": of_parquet}


def content_of(answer: Any) -> bytes:
    return b"".join(answer.streaming_content) if answer.streaming else answer.content


def table(client: APIClient, path: str, name: str) -> pa.Table:
    """Its words as strings, whatever the format calls them."""
    answer = client.get(f"/api/v1/{path}{'&' if '?' in path else '?'}format={name}")
    assert answer.status_code == 200, answer.content
    read = READERS[name](content_of(answer))
    words = [pa.field(f.name, pa.string() if pa.types.is_dictionary(f.type) else f.type) for f in read.schema]
    return read.cast(pa.schema(words))


def samples_of(client: APIClient, run: Run, query: str, name: str) -> pa.Table:
    return table(client, f"runs/{run.pk}/series/?{query}", name)


def expected_rows(**asked: Any) -> list[tuple[Any, ...]]:
    return [
        (one.run_id, one.metric, one.node, one.unit, at, None if np.isnan(value) else value, None)
        for one in queries.load_series(**asked)
        for at, value in zip(one.at.tolist(), one.values.tolist(), strict=True)
    ]


def rows_of(read: pa.Table) -> list[tuple[Any, ...]]:
    return list(zip(*(read[name].to_pylist() for name in read.column_names), strict=True))


@pytest.fixture
def run(db: None) -> Run:
    """Counters and gauges on two nodes: gaps, a restart, large integers, a late node, an uneven clock."""
    questions: list[Number] = [HUGE, HUGE + 2, None, HUGE + 9, 5, 6]
    running: list[Number] = [1, 0.1 + 0.2, None, None, 1e-300, 1e150]
    clock = [0.0, 1.05, 2.0, 3.3, 4.0, 5.0]
    first = [
        (at, {QUESTIONS: total, RUNNING: gauge, STATES: 7})
        for at, total, gauge in zip(clock, questions, running, strict=True)
    ]
    return sealed(nodes={"db1": first, "db2": a_minute()[4:]})


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize(
    ("query", "asked"),
    [
        ("", {"metrics": ""}),
        ("metric=*", {"metrics": ""}),
        (f"metric={RUNNING}", {"metrics": [RUNNING]}),
        (f"metric={RUNNING}&metric={QUESTIONS}&node=db2", {"metrics": [RUNNING, QUESTIONS], "nodes": ["db2"]}),
        (f"metric={RUNNING}&from=1.05&to=4", {"metrics": [RUNNING], "between": (1.05, 4.0)}),
        (f"metric={RUNNING}&to=4", {"metrics": [RUNNING], "between": (-np.inf, 4.0)}),
        (f"metric={QUESTIONS}&over_nodes=sum", {"metrics": [QUESTIONS], "over_nodes": "sum"}),
        (f"metric={RUNNING}&over_nodes=mean", {"metrics": [RUNNING], "over_nodes": "mean"}),
    ],
)
def test_every_sample_is_exactly_what_was_read(
    anyone: APIClient, run: Run, name: str, query: str, asked: dict[str, Any]
) -> None:
    asked["metrics"] = asked["metrics"] or sorted({info.metric for info in queries.series_index(run.pk)})
    read = samples_of(anyone, run, query, name)
    expected = expected_rows(run_ids=[run.pk], **asked)
    assert len(expected) >= 4
    assert rows_of(read.select(COLUMNS)) == expected


@pytest.mark.parametrize("before", ["", "\t", " ", "\u00a0", "\x07", "\u200b"])
@pytest.mark.parametrize(("name", "quote"), [("csv", "'"), ("arrow", "")])
@pytest.mark.django_db
def test_a_name_is_no_formula_to_a_spreadsheet(anyone: APIClient, name: str, quote: str, before: str) -> None:
    node = f"{before}=HYPERLINK(1)"
    read = samples_of(anyone, sealed(nodes={node: a_minute()}), f"metric={RUNNING}", name)
    assert set(read["node"].to_pylist()) == {f"{quote}{node}"}


@pytest.mark.parametrize("name", READERS)
def test_raw_counters_are_exact_beyond_what_a_float_holds(anyone: APIClient, run: Run, name: str) -> None:
    read = samples_of(anyone, run, f"metric={QUESTIONS}&metric={RUNNING}&node=db1&raw=true", name)
    assert read["integer"].to_pylist() == [HUGE, HUGE + 2, None, HUGE + 9, 5, 6] + [None] * 6
    assert read["unsigned"].to_pylist() == [None] * 12
    floats = [float(HUGE), float(HUGE + 2), None, float(HUGE + 9), 5.0, 6.0]
    assert read["value"].to_pylist() == [*floats, 1.0, 0.1 + 0.2, None, None, 1e-300, 1e150]
    assert list(dict.fromkeys(read["unit"].to_pylist())) == ["statements", "threads"]
    assert read["seconds"].to_pylist() == [0.0, 1.05, 2.0, 3.3, 4.0, 5.0] * 2


@pytest.mark.parametrize("name", READERS)
def test_totals_of_the_full_64_bits_stand_in_a_column_of_their_own(anyone: APIClient, name: str) -> None:
    totals = [1, 2**63 - 1, 2**63, 2**64 - 7]
    column = codec.Column(values=np.array(totals, np.uint64), observed=np.array([True, True, True, True]))
    run = a_long_run(SampledNode(name="db1", role="", clock=np.arange(4.0), changing={QUESTIONS: column}))
    read = samples_of(anyone, run, "raw=true", name)
    assert read["integer"].to_pylist() == [1, 2**63 - 1, None, None]
    assert read["unsigned"].to_pylist() == [None, None, 2**63, 2**64 - 7]
    assert read["value"].to_pylist() == [1.0, 2.0**63, 2.0**63, 2.0**64]


@pytest.mark.parametrize("name", READERS)
def test_thinned_tables_keep_the_extremes(anyone: APIClient, name: str) -> None:
    rows = [(float(t), {RUNNING: 900 if t == 777 else t % 3}) for t in range(2000)]
    run = sealed(nodes={"db1": rows}, seconds_a_batch=500)
    read = samples_of(anyone, run, f"metric={RUNNING}&points=100", name)
    assert 50 <= read.num_rows <= 220
    assert rows_of(read.select(COLUMNS)) == expected_rows(run_ids=[run.pk], metrics=[RUNNING], points=100)
    assert 900 in read["value"].to_pylist()


@pytest.mark.parametrize("name", READERS)
def test_a_live_run_is_given_as_far_as_it_is(anyone: APIClient, name: str) -> None:
    upload = an_upload()
    upload.send_batch(0)
    path = f"{ADDRESS}{upload.run.pk}/series/?format={name}"
    answer = anyone.get(path)
    assert (answer.has_header("ETag"), answer["Cache-Control"]) == (False, "no-store")
    before = READERS[name](content_of(answer)).num_rows
    upload.send_batch(1)
    assert READERS[name](content_of(anyone.get(path))).num_rows > before > 0


@pytest.mark.parametrize("name", READERS)
def test_several_runs_are_one_table(anyone: APIClient, run: Run, name: str) -> None:
    other, live = sealed(), an_upload().send()
    path = f"series/?run={other.pk}&run={run.pk}&run={live.pk}&metric={RUNNING}&metric={QUESTIONS}"
    assert rows_of(table(anyone, path, name)) == expected_rows(
        run_ids=[other.pk, run.pk, live.pk], metrics=[RUNNING, QUESTIONS]
    )


def test_several_runs_in_json_name_their_run_with_each_series(anyone: APIClient, run: Run) -> None:
    other = sealed()
    run.refresh_from_db()
    document = anyone.get(f"/api/v1/series/?run={other.pk}&run={run.pk}&metric={RUNNING}&metric=no.such").json()
    assert [entry["run"] for entry in document["runs"]] == [other.pk, run.pk]
    assert document["runs"][1] == {"run": run.pk, "uid": str(run.uid), "measured": [run.measured_from, run.measured_to]}
    assert [(entry["run"], entry["node"]) for entry in document["series"]] == [
        (other.pk, "db1"),
        (run.pk, "db1"),
        (run.pk, "db2"),
    ]
    assert [entry["run"] for entry in document["missing"]] == [other.pk, run.pk]


def test_the_answer_of_several_runs_is_held_only_while_all_are_complete(anyone: APIClient, run: Run) -> None:
    other, live = sealed(), an_upload().send()
    first = anyone.get(f"/api/v1/series/?run={run.pk}&metric={RUNNING}&format=csv")["ETag"]
    both = f"/api/v1/series/?run={run.pk}&run={other.pk}&metric={RUNNING}&format=csv"
    etag = anyone.get(both)["ETag"]
    assert etag != first
    assert anyone.get(both, headers={"If-None-Match": etag}).status_code == 304
    Run.objects.filter(pk=other.pk).update(derivation=99)
    assert anyone.get(both, headers={"If-None-Match": etag}).status_code == 200
    assert not anyone.get(f"{both}&run={live.pk}").has_header("ETag")


@pytest.mark.parametrize("name", READERS)
def test_what_is_missing_has_a_row_with_the_reason(anyone: APIClient, run: Run, name: str) -> None:
    a_metric("host.load.1m", unit="")
    read = samples_of(anyone, run, f"metric=no.such&metric={RUNNING}&metric=host.load.1m&to=0", name)
    assert rows_of(read)[0][4:] == (0.0, 1.0, None)
    assert rows_of(read)[1:] == [
        (run.pk, "no.such", None, None, None, None, "no metric has this key: choose one of /api/v1/metrics/"),
        (run.pk, "host.load.1m", None, None, None, None, "not observed in this run"),
    ]


@pytest.mark.parametrize("name", READERS)
def test_of_a_damaged_run_the_rest_is_given_and_what_is_damaged_is_named(
    anyone: APIClient, run: Run, name: str
) -> None:
    number = RunNode.objects.get(run=run, name="db2").number
    whole = samples_of(anyone, run, "", name)
    block = Block.objects.get(run=run, node=number)
    Block.objects.filter(run=run, node=number).update(data=bytes(len(block.data or b"")))
    read = samples_of(anyone, run, "", name)
    reasons = {row[1]: row[-1] for row in rows_of(read) if row[-1]}
    assert {QUESTIONS, RUNNING} <= reasons.keys()
    assert all(part in reasons[RUNNING] for part in (RUNNING, "db2", f"run {run.pk}"))
    rest = [row for row in rows_of(read) if row[2] != "db2"]
    assert rest == [row for row in rows_of(whole) if row[2] != "db2"]
    answer = anyone.get(f"{ADDRESS}{run.pk}/series/?metric={RUNNING}")
    assert not answer.has_header("ETag"), "once restored it is another"
    document = answer.json()
    assert [entry["node"] for entry in document["series"]] == ["db1"]
    assert [(one["metric"], one["node"]) for one in document["missing"]] == [(RUNNING, "db2")]
    assert document["missing"][0]["reason"] == reasons[RUNNING]


@pytest.mark.parametrize("name", ["arrow", "parquet"])
def test_the_schema_says_what_holds_for_runs_and_metrics(anyone: APIClient, name: str) -> None:
    run = an_upload().send(measured_from=5.0, measured_to=15.0)
    for query in (f"metric={QUESTIONS}", ""):
        answer = anyone.get(f"{ADDRESS}{run.pk}/series/?{query}&format={name}")
        read = READERS[name](content_of(answer))
        about = json.loads(read.schema.metadata[b"splashboard"])
        assert about["runs"] == [{"run": run.pk, "uid": str(run.uid), "measured": [5.0, 15.0]}]
        assert about["metrics"][QUESTIONS]["kind"] == "counter"
        assert set(about["metrics"][QUESTIONS]) == {"name", "direction", "kind"}
        assert all(pa.types.is_dictionary(read.schema.field(word).type) for word in ("metric", "node", "unit"))


def test_series_are_laid_over_each_other_at_their_measured_phase_or_an_event(anyone: APIClient) -> None:
    event = EventMessage(kind="fault", label="kill -9", starts_at=7.5)
    run = an_upload(events=[event]).send(measured_from=5.0, measured_to=15.0)
    assert accept.seal(run_id=run.pk)
    for query, zero in (("align=measured", 5.0), ("align=event&event=fault", 7.5), ("align=run", 0.0)):
        (entry,) = anyone.get(f"{ADDRESS}{run.pk}/series/?metric={RUNNING}&{query}").json()["series"]
        assert (entry["zero"], entry["at"][0]) == (zero, -zero)
    (none,) = anyone.get(f"{ADDRESS}{run.pk}/series/?metric={RUNNING}&align=event&event=ddl").json()["missing"]
    assert none["reason"] == f"run {run.pk} has no event of kind ddl"


def test_sums_over_nodes_say_of_how_many_they_are(anyone: APIClient, run: Run) -> None:
    (entry,) = anyone.get(f"{ADDRESS}{run.pk}/series/?metric={RUNNING}&over_nodes=sum").json()["series"]
    assert (entry["node"], entry["nodes"]) == ("sum", ["db1", "db2"])
    assert len(entry["parts"]) == len(entry["values"])
    assert samples_of(anyone, run, f"metric={RUNNING}&over_nodes=sum", "parquet")["parts"].to_pylist() == entry["parts"]


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("from=nan", "from"),
        ("from=x", "from"),
        ("to=1e999", "to"),
        ("from=5&to=4", "to"),
        ("align=start", "align"),
        ("align=event", "event"),
        ("event=ddl", "event"),
        ("event_label=x", "event_label"),
        ("over_nodes=max", "over_nodes"),
        ("raw=true&over_nodes=sum", "over_nodes"),
        ("raw=perhaps", "raw"),
    ],
)
def test_a_wrong_parameter_is_named(anyone: APIClient, run: Run, query: str, field: str) -> None:
    answer = anyone.get(f"{ADDRESS}{run.pk}/series/?metric={RUNNING}&{query}")
    assert (answer.status_code, fields_of(answer)) == (400, [field])


@pytest.mark.parametrize("query", ["", "run=", "run=x", "run=0", "&".join(["run=1"] * 101)])
def test_runs_are_named_by_their_ids(anyone: APIClient, query: str) -> None:
    answer = anyone.get(f"/api/v1/series/?{query}")
    assert answer.status_code == 400
    assert all(field.startswith("run") for field in fields_of(answer))


@pytest.mark.parametrize("name", READERS)
def test_the_index_has_all_statistics_of_the_measured_phase_and_the_whole_run(anyone: APIClient, name: str) -> None:
    upload = an_upload(nodes={"db1": [(float(t), {RUNNING: 90 if t < 5 else 2 + t % 2, STATES: 4}) for t in range(21)]})
    run = upload.send(measured_from=5.0, measured_to=20.0)
    assert accept.seal(run_id=run.pk)
    read = table(anyone, f"runs/{run.pk}/series-index/", name)
    index = queries.series_index(run.pk)
    names = SeriesStatistics._fields
    for row, info in zip(read.to_pylist(), index, strict=True):
        assert (row["run"], row["metric"], row["node"], row["constant"]) == (
            run.pk,
            info.metric,
            info.node,
            info.constant,
        )
        for statistic in names:
            assert row[statistic] == getattr(info.statistics, statistic)
            assert row[f"whole_{statistic}"] == getattr(info.whole, statistic)
    rows = {row["metric"]: row for row in read.to_pylist()}
    assert (rows[RUNNING]["count"], rows[RUNNING]["maximum"], rows[RUNNING]["whole_maximum"]) == (15, 3.0, 90.0)
    still = rows[STATES]
    assert (still["count"], still["whole_count"], still["p95"], still["stddev"], still["increase"]) == (
        15,
        21,
        4,
        0,
        None,
    )


@pytest.mark.parametrize("name", ["json", *READERS])
def test_more_metrics_and_runs_cost_no_more_queries(anyone: APIClient, run: Run, name: str) -> None:
    other = sealed()

    def ask(path: str) -> int:
        with CaptureQueriesContext(connection) as captured:
            assert content_of(anyone.get(f"/api/v1/{path}&format={name}"))
        return len(captured)

    assert ask(f"runs/{run.pk}/series/?metric={QUESTIONS}") == ask(
        f"runs/{run.pk}/series/?metric={QUESTIONS}&metric={RUNNING}&metric={STATES}"
    )
    assert ask(f"series/?run={run.pk}&metric={QUESTIONS}") == ask(
        f"series/?run={run.pk}&run={other.pk}&metric={QUESTIONS}&metric={RUNNING}"
    )
