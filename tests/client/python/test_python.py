"""The client as a module: its methods are operations of the schema, and its tables hold the server's numbers."""

import inspect
import json
import re
import sys
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, get_args

import pytest
from drf_spectacular.generators import SchemaGenerator

from apps.rest import client_types
from splashboard import Listing, Misuse, RefusedField, RequestRefused, ServerUnreachable, Splashboard, shapes
from splashboard.answers.runs import RunList
from splashboard.server import Server
from tests.client.conftest import FakeServer
from tests.paths import ROOT
from tests.regressions.releases.released import NEW, OLD, two_releases
from tests.rest.submissions import POINT_SELECT

LIVE = pytest.mark.django_db(transaction=True)
# Method -> the operation that it asks for, and what it is called with.
READS: dict[str, tuple[str, tuple[Any, ...]]] = {
    "platforms": ("list_platforms", ()),
    "releases": ("list_releases", ()),
    "hardware_classes": ("list_hardware_classes", ()),
    "systems": ("list_systems", ()),
    "workloads": ("list_workloads", ()),
    "metrics": ("list_metrics", ()),
    "runs": ("list_runs", ()),
    "run": ("read_run", (1,)),
    "series_index": ("list_series", (1,)),
    "series": ("read_series_of_runs", (1, "client.throughput")),
    "compare": ("compare", ("a", "b")),
    "checked_releases": ("list_checked_releases", ()),
    "gate": ("check_release", ("mariadb", "11.8")),
    "trends": ("list_histories", ()),
    "trend": ("read_history", (1,)),
    "findings": ("list_findings", ()),
    "finding": ("read_finding", (1,)),
    "campaigns": ("list_campaigns", ()),
    "campaign": ("read_campaign", (1,)),
}
WRITES = {"submit": "submit_run", "attach": "attach_series", "start_campaign": "start_campaign_file"}
# Parameters of pages, of formats, of the page of a list.
NOT_OFFERED = {"cursor", "limit", "format", "acknowledged", "clock", "level", "per", "show", "variables"}
# Type of a parameter in the schema -> annotations that allow it.
ALLOWED = {
    "array": ("Text", "Number", "str"),  # str: as *arguments
    "string": ("str", "Moment", "Text", "Sequence[int]"),  # the last two are joined by commas
    "integer": ("int",),
    "number": ("float",),
    "boolean": ("bool",),
}


@pytest.fixture(scope="module")
def schema() -> dict[str, Any]:
    generated: dict[str, Any] = SchemaGenerator().get_schema(request=None, public=True)  # type: ignore[no-untyped-call]
    return generated


def operation_of(schema: dict[str, Any], name: str) -> tuple[str, dict[str, Any]]:
    (found,) = [
        (address.removeprefix("/api/v1/"), each)
        for address, path in schema["paths"].items()
        for each in path.values()
        if each["operationId"] == name
    ]
    return found


class Asked(Exception):
    """Ends a method when it has asked."""


class RecordingServer:
    """Keeps what is asked for, and as what the answer is read."""

    path: str = ""
    shape: type = object
    parameters: list[tuple[str, str]]

    def read(self, path: str, parameters: Any = ()) -> "RecordingServer":
        self.path, self.parameters = path, list(parameters)
        return self

    def json(self, shape: type) -> Any:
        self.shape = shape
        raise Asked


def called(method: Any, *arguments: Any, **options: Any) -> None:
    next(iter(method(*arguments, **options)))  # a listing asks when it is iterated


def test_every_public_method_is_in_the_table() -> None:
    assert {name for name in vars(Splashboard) if not name.startswith("_")} == {*READS, *WRITES, "url"}


@pytest.mark.parametrize("method", READS)
def test_a_method_has_the_address_the_parameters_and_the_answer_of_its_operation(
    schema: dict[str, Any], method: str
) -> None:
    name, arguments = READS[method]
    address, operation = operation_of(schema, name)
    described = {each["name"]: each["schema"] for each in operation.get("parameters", ()) if each["in"] == "query"}
    signature = inspect.signature(getattr(Splashboard, method)).parameters
    options: dict[str, Any] = {each: 1 for each, one in signature.items() if one.kind is one.KEYWORD_ONLY}
    options |= {each: value for each, value in {"runs": [1], "include": "ladder"}.items() if each in options}

    asked, server = Splashboard("http://a.example"), RecordingServer()
    asked._server = server  # type: ignore[assignment]  # has what is called
    with pytest.raises(Asked):
        called(getattr(asked, method), *arguments, **options)

    assert re.sub(r"\b1\b", "{}", server.path) == re.sub(r"\{\w+\}", "{}", address)
    sent = {each for each, _ in server.parameters}
    assert sent <= described.keys()
    assert described.keys() - sent - NOT_OFFERED - ({"series"} if method == "compare" else set()) == set()
    for each, one in signature.items():
        if (of := described.get(each.rstrip("_"))) is not None:
            kinds = [of["type"]] if isinstance(of["type"], str) else of["type"]
            allowed = {text for kind in kinds for text in ALLOWED.get(kind, ())}
            allowed |= {"int"} if all(value.isdecimal() for value in of.get("enum", ["-"])) else set()
            assert str(one.annotation).removesuffix(" | None") in allowed, each

    (answer,) = [each["$ref"].rpartition("/")[2] for each in client_types._answers(operation)]
    assert answer in [base.__name__ for base in server.shape.__mro__]


def test_what_is_written_has_its_address_and_answer(schema: dict[str, Any]) -> None:
    addresses = {name: operation_of(schema, operation)[0] for name, operation in WRITES.items()}
    assert addresses == {
        "submit": "runs/",
        "attach": "runs/{run_id}/series/",
        "start_campaign": "campaigns/files/",
    }
    for name, operation in WRITES.items():
        answers = {
            each["$ref"].rpartition("/")[2] for each in client_types._answers(operation_of(schema, operation)[1])
        }
        assert {inspect.signature(getattr(Splashboard, name)).return_annotation} == answers


def test_every_field_of_the_types_is_the_schemas(schema: dict[str, Any]) -> None:
    """Independent of how they were written: name, kind and whether it may be None or missing."""
    seen = []
    for text in client_types.MODULES:
        module = __import__(f"splashboard.answers.{text}", fromlist=[text])
        for name, kind in vars(module).items():
            if not is_dataclass(kind) or kind.__module__ != module.__name__:
                continue
            component = schema["components"]["schemas"][name]
            hints = shapes.hints(kind)  # type: ignore[arg-type]  # a class
            assert set(hints) == set(component["properties"]), name
            for each in fields(kind):
                of = component["properties"][each.name]
                optional = each.name not in component.get("required", ())
                nullable = "null" in json.dumps(of.get("type", "")) or any(
                    "null" in json.dumps(one.get("type", "")) for one in of.get("oneOf", ())
                )
                allows_none = type(None) in get_args(hints[each.name]) or hints[each.name] is Any
                assert allows_none or not (optional or nullable), f"{name}.{each.name}"
                assert allows_none <= (optional or nullable), f"{name}.{each.name}"
                seen.append(each.name)
    assert len(seen) > 300


@pytest.mark.parametrize(
    "change",
    [
        lambda ratio: ratio["properties"].pop("low"),
        lambda ratio: ratio["properties"]["value"].update(type="number"),
        lambda ratio: ratio["required"].remove("p"),
        lambda ratio: ratio["properties"].update(another={"type": "string"}),
    ],
    ids=["removed", "never null", "not always there", "added"],
)
def test_a_changed_answer_makes_other_types(schema: dict[str, Any], change: Any) -> None:
    other = json.loads(json.dumps(schema, default=str))
    change(other["components"]["schemas"]["Ratio"])
    written = client_types.modules(other)["comparisons"]
    assert written != (ROOT / "client" / "splashboard" / "answers" / "comparisons.py").read_text()


@LIVE
def test_a_comparison_has_a_row_per_level_metric_and_pair_with_the_servers_numbers(study: int) -> None:
    splash = Splashboard()
    sides = ("example-single", "example-galera", "example-mha")
    found = splash.compare(*sides, workload=study, include=["latency"])
    table = found.to_pandas()
    assert len(table) == 2 * 2 * 2 == len(found.pairs())
    for row in table.itertuples():
        (cell,) = [
            each
            for each in found.cells
            if (each.side, each.metric) == (row.side, row.metric)
            and each.level in [level.id for level in found.levels if level.threads == row.threads]
        ]
        assert cell.ratio
        assert cell.summary
        assert (row.ratio, row.ratio_low, row.ratio_high) == (cell.ratio.value, cell.ratio.low, cell.ratio.high)
        assert (row.value, row.minimum, row.maximum) == (
            cell.summary.value,
            cell.summary.minimum,
            cell.summary.maximum,
        )
        assert row.verdict == cell.words
        assert row.runs == [each.run for each in cell.replicates]
    assert set(table["unit"]) == {"transactions/s", "ms"}
    assert table["needed"].dtype == "Int64"

    same = found.to_polars()
    assert same.columns == list(table.columns)
    assert same["ratio"].to_list() == table["ratio"].tolist()
    assert same["runs"].to_list() == table["runs"].tolist()
    assert str(same.schema["rate"]) == "Float64", "though no level has a rate"


@LIVE
def test_lists_are_read_to_their_end_and_series_have_a_row_per_sample(study: int) -> None:
    splash = Splashboard()
    found = Listing[Any](splash._server, "runs/", RunList, {"limit": 7})
    assert len(list(found)) == 30
    runs = splash.runs(system=["example-single", "example-mha"], workload=study)
    table = runs.to_pandas()
    assert table["started_at"].is_monotonic_decreasing
    assert len(table) == 20
    assert str(table["started_at"].dtype).startswith("datetime64")
    assert splash.runs(system="example-single").to_polars().shape == (10, len(table.columns))

    run = splash.run(int(table["id"][0]))
    assert {each.unit for each in run.measurements} == {"transactions/s", "ms"}
    series = run.series("client.throughput", "client.nothing")
    (one,) = series.series
    assert series.to_pandas()["value"].tolist() == one.values
    assert series.to_polars()["seconds"].to_list() == one.at == [1.0, 2.0, 3.0]
    assert [each.metric for each in series.missing] == ["client.nothing"]
    assert splash.series([run.id, run.id - 1], "client.throughput").to_pandas()["run"].nunique() == 2


@LIVE
def test_a_gate_has_its_verdict_and_a_row_for_each_workload(study: int) -> None:
    two_releases()
    gate = Splashboard().gate("mariadb", NEW, baseline=OLD, hardware="small")
    assert gate.result == "regression"
    (row,) = gate.to_pandas().query("verdict == 'worse'").itertuples()
    assert row.ratio == pytest.approx(0.88, abs=0.001)
    assert row.low < row.ratio < row.high


@LIVE
def test_a_refusal_names_field_and_remedy(study: int) -> None:
    with pytest.raises(RequestRefused) as caught:
        Splashboard().compare("example-single", "nobody", workload=study)
    assert caught.value.status == 400
    remedy = "choose one of the catalog's systems"
    assert caught.value.problems == (RefusedField("side", "there is no system 'nobody'", remedy),)


def test_what_is_not_installed_is_named_with_its_command(monkeypatch: pytest.MonkeyPatch, fake: FakeServer) -> None:
    page = b'{"next": null, "results": []}'
    fake.answers = [(200, {"Content-Type": "application/json"}, page)]
    for name in ("pandas", "polars"):
        monkeypatch.setitem(sys.modules, name, None)
        with pytest.raises(Misuse, match=rf"{name} is not installed: pip install 'splashboard\[{name}\]'"):
            getattr(Splashboard(fake.url).systems(), f"to_{name}")()


def test_an_empty_list_is_a_table_with_its_columns(fake: FakeServer) -> None:
    fake.answers = [(200, {"Content-Type": "application/json"}, b'{"next": null, "results": []}')]
    table = Splashboard(fake.url).runs().to_pandas()
    assert len(table) == 0
    assert {"started_at", "throughput", "workload_name"} <= set(table.columns)
    assert Splashboard(fake.url).runs().to_polars().columns == list(table.columns)


def test_an_answer_of_another_kind_is_refused_by_its_field(fake: FakeServer) -> None:
    fake.answers = [(200, {"Content-Type": "application/json"}, b'{"next": null, "results": [{"id": "1"}]}')]
    with pytest.raises(ServerUnreachable, match="an entry of 'results' lacks"):
        list(Splashboard(fake.url).runs())


def test_without_an_address_it_names_the_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SPLASHBOARD_URL", raising=False)
    with pytest.raises(Misuse, match="SPLASHBOARD_URL"):
        Splashboard()
    with pytest.raises(Misuse, match="token does not hold a token"):
        Splashboard("http://a.example", token="two words")


def test_the_token_comes_from_the_file_of_the_environment(
    fake: FakeServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "token").write_text("s3cret\n")
    monkeypatch.setenv("SPLASHBOARD_TOKEN_FILE", str(tmp_path / "token"))
    fake.answers = [(200, {"Content-Type": "application/json"}, b'{"next": null, "results": []}')]
    assert isinstance(Splashboard(fake.url)._server, Server)
    list(Splashboard(fake.url).systems())
    assert fake.received[0][2]["Authorization"] == "Token s3cret"


def test_an_option_of_submit_that_is_none_is_refused_with_those_that_there_are(fake: FakeServer) -> None:
    with pytest.raises(Misuse, match=r"submit has no option thread, tags: give .*threads.*, and other fields in desc"):
        Splashboard(fake.url).submit(str(POINT_SELECT), system="mine", thread=8, tags=["nightly"])
    assert fake.received == []


def test_a_tag_may_be_given_as_a_text(fake: FakeServer) -> None:
    fake.answers = [(422, {}, b"")]
    with pytest.raises(RequestRefused):
        Splashboard(fake.url).submit(str(POINT_SELECT), system="mine", tag="nightly")
    assert b'"tags": ["nightly"]' in fake.received[0][3]
