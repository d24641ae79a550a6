"""Files of one's own: the documented examples become runs, what is wrong is refused by field, or row and column."""

import json
import re
from typing import Any

import pytest
from rest_framework.test import APIClient

from apps.catalog import services as catalog
from apps.catalog.models import Metric, Workload
from apps.comparison import compare
from apps.runs import seal
from apps.runs.models import Run
from tests.paths import ROOT
from tests.rest.submissions import a_description, a_file, fields_of, send

PAGE = (ROOT / "docs" / "howto" / "own-results.md").read_text()
CSV, LADDER = (text.encode() for text in re.findall(r"```csv\n(.+?)```", PAGE, re.DOTALL))
YAML, LADDER_YAML = (text.encode() for text in re.findall(r"```yaml\n(.+?)```", PAGE, re.DOTALL))
DESCRIPTION, JSON, JSON_MAPPING = (text.encode() for text in re.findall(r"```json\n(.+?)```", PAGE, re.DOTALL))


@pytest.fixture(autouse=True)
def metrics(db: None) -> None:
    catalog.seed()


def describe(**changes: Any) -> dict[str, Any]:
    return a_description(format="own", workload={"parameters": {"benchmark": "checkout"}}, **changes)


def values_of(answer: Any) -> dict[str, tuple[float, str, str]]:
    assert answer.status_code == 201, answer.content
    found = answer.json()["measurements"]
    return {one["metric"]: (one["value"], one["unit"], one["direction"]) for one in found}


def test_the_documented_description_registers_its_system(engineer: APIClient) -> None:
    described = {**json.loads(DESCRIPTION), "format": "own", "started_at": "2026-11-20T10:00:00Z"}
    assert send(engineer, described, CSV, mapping=a_file(YAML, "checkout.yaml")).status_code == 201
    assert Run.objects.get().system.slug == "my-server"
    again = {**described, "system": "my-server", "started_at": "2026-11-20T11:00:00Z"}
    assert send(engineer, again, CSV, mapping=a_file(YAML, "checkout.yaml")).status_code == 201


def test_the_documented_csv_becomes_a_run_with_totals_and_series(engineer: APIClient) -> None:
    answer = send(engineer, describe(), CSV, mapping=a_file(YAML, "checkout.yaml"))
    throughput, errors = (values_of(answer)[key] for key in ("client.throughput", "client.errors.total"))
    assert throughput[0] == pytest.approx(1510.3333)
    assert throughput[1:] == ("transactions/s", "higher")
    assert errors == (1.0, "errors", "lower")
    rate = next(one for one in answer.json()["measurements"] if one["metric"] == "client.errors")
    assert rate["value"] == pytest.approx(1 / 3)
    assert CSV[rate["byte_start"] : rate["byte_end"]].split(b";")[0] == b"0", "from the first row's cell on"
    assert (answer.json()["state"], answer.json()["outcome"]) == ("sealed", "succeeded")
    address = answer.json()["api"]
    (latency,) = engineer.get(f"{address}series/?metric=client.latency.p99&raw=true").json()["series"]
    assert (latency["at"], latency["values"]) == ([1.0, 2.0, 3.0], [8.2, 8.4, 8.1])
    (hits,) = engineer.get(f"{address}series/?metric=client.own.cache_hits&raw=true").json()["series"]
    assert (hits["values"], hits["unit"]) == ([940, 955, 961], "hits/s")
    assert engineer.get(address).json()["load_level"]["threads"] == 32


def test_errors_of_which_the_file_has_the_number_are_compared(engineer: APIClient) -> None:
    for place, slug in enumerate(("my-server", "another-server")):
        described = describe(
            system={**a_description()["system"], "slug": slug}, started_at=f"2026-11-20T1{place}:00:00Z"
        )
        assert send(engineer, described, CSV, mapping=a_file(YAML, "checkout.yaml")).status_code == 201
    found = compare.compare(sides=["my-server", "another-server"], workload_id=Run.objects.latest("pk").workload_id)
    (cell,) = [cell for cell in found.cells if cell.metric == "client.errors" and cell.ratio]
    assert [each.value for each in cell.replicates] == [pytest.approx(1 / 3)]


def test_the_documented_json_becomes_a_run_by_the_mapping_in_its_description(engineer: APIClient) -> None:
    answer = send(engineer, describe(mapping=json.loads(JSON_MAPPING)), JSON)
    assert values_of(answer)["client.latency.p99"] == (8.3, "ms", "lower")
    p99 = next(one for one in answer.json()["measurements"] if one["metric"] == "client.latency.p99")
    assert JSON[p99["byte_start"] : p99["byte_end"]] == b"8.3"
    (series,) = engineer.get(f"{answer.json()['api']}series/?metric=client.throughput&raw=true").json()["series"]
    assert (series["at"], series["values"]) == ([10.0, 20.0], [1498.2, 1522.6])


def test_it_is_read_again_by_the_mapping_that_was_kept(engineer: APIClient) -> None:
    answer = send(engineer, describe(mapping=json.loads(JSON_MAPPING)), JSON)
    names = [one.name for one in Run.objects.get(pk=answer.json()["id"]).artifacts.all()]
    assert sorted(names) == ["own-mapping.json", "own.txt"]
    assert seal.reseal(run_id=answer.json()["id"])
    assert engineer.get(answer.json()["api"]).json()["measurements"] == answer.json()["measurements"]
    series = engineer.get(f"{answer.json()['api']}series/?metric=client.throughput&raw=true").json()["series"]
    assert series[0]["at"] == [10.0, 20.0]


def test_totals_without_a_time_have_no_length(engineer: APIClient) -> None:
    header_and_row = b"".join(LADDER.splitlines(keepends=True)[:2])
    answer = send(engineer, describe(), header_and_row, mapping=a_file(LADDER_YAML))
    assert answer.status_code == 201, answer.content
    assert engineer.get(answer.json()["api"]).json()["duration"] is None


def test_sent_again_it_is_the_same_run_and_by_another_mapping_a_conflict(engineer: APIClient) -> None:
    first = send(engineer, describe(), CSV, mapping=a_file(YAML))
    again = send(engineer, describe(), CSV, mapping=a_file(YAML))
    assert (again.status_code, again.json()["id"]) == (200, first.json()["id"])
    other = send(engineer, describe(), CSV, mapping=a_file(YAML.replace(b"unit: us", b"unit: ms")))
    assert (other.status_code, fields_of(other)) == (409, ["mapping"])


def test_a_new_workload_is_judged_by_the_first_total_with_a_direction(engineer: APIClient) -> None:
    own = {"from": "score", "unit": "points", "direction": "higher", "name": "score"}
    mapping = {"totals": {"client.elapsed": {"from": "s", "unit": "s"}, "client.own.score": own}, "threads": 1}
    answer = send(engineer, describe(mapping=mapping), b"s,score\n60,1234.5\n")
    assert values_of(answer)["client.own.score"] == (1234.5, "points", "higher")
    workload = Workload.objects.get(tool="own")
    assert (workload.name, workload.primary_metric.key) == ("Own, checkout", "client.own.score")
    assert Run.objects.get(pk=answer.json()["id"]).measured_to == 60


def test_a_metric_of_ones_own_keeps_its_unit_and_direction(engineer: APIClient) -> None:
    values_of(send(engineer, describe(), CSV, mapping=a_file(YAML)))
    changed = YAML.replace(b"hits/s", b"hits/min")
    answer = send(engineer, describe(started_at="2026-11-20T11:00:00Z"), CSV, mapping=a_file(changed))
    assert (answer.status_code, fields_of(answer)) == (422, ["mapping.client.own.cache_hits"])
    assert "is known in hits/s" in answer.json()["detail"]
    assert Metric.objects.get(key="client.own.cache_hits").unit == "hits/s"


@pytest.mark.parametrize(
    ("before", "after", "field", "said"),
    [
        (b"client.own.cache_hits", b"client.cache_hits", "mapping.series.client.cache_hits", "client.own."),
        (b"unit: hits/s, direction: higher", b"unit: hits/s", "mapping.series.client.own.cache_hits", "direction"),
        (b"{from: p99_us, unit: us}", b"p99_us", "mapping.series.client.latency.p99", "is a time"),
        (b"unit: us", b"unit: ticks", "mapping.series.client.latency.p99.unit", "ticks"),
        (b"errors.total: {sum:", b"latency.p99: {unit: us, mean:", "mapping.totals.client.latency.p99", "a percentile"),
        (b"{mean: tps}", b"{sum: tps}", "mapping.totals.client.throughput", "sum gives a count"),
        (b"threads: clients", b"thread: clients", "mapping", "'thread' is unknown"),
        (b"time: {", b"warmup: 99\ntime: {", "output", "after the warm-up"),
        (b"from: second", b"from: secs", "output", "a column 'secs'"),
        (b"{mean: tps}", b"{mean: tps", "mapping", "line"),
    ],
)
def test_a_faulty_mapping_is_refused_by_its_part(
    engineer: APIClient, before: bytes, after: bytes, field: str, said: str
) -> None:
    assert before in YAML
    answer = send(engineer, describe(), CSV, mapping=a_file(YAML.replace(before, after)))
    assert (answer.status_code, fields_of(answer)) == (422, [field])
    assert said in answer.json()["detail"]
    assert not Run.objects.exists()


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        (b"1498,0", b"many", "line 3 is '2;32;many;8400;1;955'; expected in row 2, column 'tps'"),
        (b"1498,0", b"", "a mean needs one in each row"),
        (b"1498,0", b"1498.0", "column 'tps'"),
        (b"3;32", b"2;32", "a time after 2 s"),
        (b"3;32", b"3;16", "the threads of the rows before, '32'"),
        (b"\n1;32", b"\n0;32", "marks: start"),
        (b"3;32;", b"3;", "6 cells"),
    ],
)
def test_a_faulty_cell_is_refused_by_line_row_and_column(
    engineer: APIClient, before: bytes, after: bytes, said: str
) -> None:
    answer = send(engineer, describe(), CSV.replace(before, after), mapping=a_file(YAML))
    assert (answer.status_code, fields_of(answer)) == (422, ["output"])
    assert said in answer.json()["detail"]


def test_several_runs_in_one_file_are_refused_at_the_second_with_the_remedy(engineer: APIClient) -> None:
    answer = send(engineer, describe(), LADDER, mapping=a_file(LADDER_YAML))
    assert (answer.status_code, fields_of(answer)) == (422, ["output"])
    assert "line 3" in answer.json()["detail"]
    assert "--split COLUMN" in answer.json()["detail"]


def test_a_mapping_goes_with_the_format_own_and_it_with_a_mapping(engineer: APIClient) -> None:
    assert fields_of(send(engineer, describe(), CSV)) == ["mapping"]
    assert fields_of(send(engineer, a_description(), mapping=a_file(YAML))) == ["mapping"]
