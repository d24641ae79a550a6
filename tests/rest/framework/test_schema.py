"""The OpenAPI schema says all of the API, without warnings, and the page for people says the same."""

import json
import subprocess
import sys
from typing import Any

import pytest
from django.test import Client
from django.urls import URLPattern
from drf_spectacular.drainage import GENERATOR_STATS
from drf_spectacular.generators import SchemaGenerator
from openapi_spec_validator import validate
from rest_framework.test import APIClient

from apps.catalog import services as catalog
from apps.dispatch.campaigns import plan as campaigns_plan
from apps.rest.framework.formats import FORMATS
from apps.rest.series.parameters import SeriesOfRunsParameters, SeriesParameters
from apps.rest.urls import urlpatterns
from tests.paths import ROOT

# For people, not for programs.
NOT_IN_THE_SCHEMA = {"docs/"}


@pytest.fixture(scope="module")
def schema() -> dict[str, Any]:
    GENERATOR_STATS.reset()
    generator = SchemaGenerator()  # type: ignore[no-untyped-call]
    generated: dict[str, Any] = generator.get_schema(request=None, public=True)  # type: ignore[no-untyped-call]
    return generated


def operations(schema: dict[str, Any]) -> list[tuple[str, str, dict[str, Any]]]:
    return [
        (address, method, entry) for address, entries in schema["paths"].items() for method, entry in entries.items()
    ]


def test_it_is_generated_without_a_warning_and_is_valid(schema: dict[str, Any]) -> None:
    GENERATOR_STATS.emit_summary()  # shown when the test fails
    assert not GENERATOR_STATS
    validate(schema)


IN_ANOTHER_ORDER = """
import importlib, json, pkgutil
import django
django.setup()
from drf_spectacular.generators import SchemaGenerator
import apps.rest
names = [found.name for found in pkgutil.walk_packages(apps.rest.__path__, "apps.rest.")]
for name in sorted(set(names) - {"apps.rest.urls"}, reverse=True):
    importlib.import_module(name)
print(json.dumps(SchemaGenerator().get_schema(request=None, public=True)["components"], sort_keys=True))
"""


def test_the_order_of_imports_does_not_change_it(schema: dict[str, Any]) -> None:
    found = subprocess.run([sys.executable, "-c", IN_ANOTHER_ORDER], cwd=ROOT, check=True, capture_output=True)
    assert json.loads(found.stdout) == json.loads(json.dumps(schema["components"]))


def test_every_address_is_described(schema: dict[str, Any]) -> None:
    described = {address.removeprefix("/api/v1/") for address in schema["paths"]}
    addresses = {simplified(pattern) for pattern in urlpatterns} - NOT_IN_THE_SCHEMA
    assert described == addresses


def simplified(pattern: URLPattern) -> str:
    """`runs/<int:run_id>/` as OpenAPI writes it."""
    text = str(pattern.pattern)
    for name, converter in pattern.pattern.converters.items():
        kind = {"IntConverter": "int", "StringConverter": "str", "UUIDConverter": "uuid", "SlugConverter": "slug"}
        text = text.replace(f"<{kind[type(converter).__name__]}:{name}>", f"{{{name}}}")
        text = text.replace(f"<{name}>", f"{{{name}}}")
    return text


def test_every_operation_says_what_it_does_and_which_problems_it_answers(schema: dict[str, Any]) -> None:
    for address, method, entry in operations(schema):
        where = f"{method} {address}"
        assert entry.get("description"), where
        problems = {status for status in entry["responses"] if status.startswith("4")}
        expected = {"400"} | ({"404"} if "{" in address else set()) | ({"409", "422"} if method != "get" else set())
        assert expected <= problems, where
        for status in problems:
            assert "application/problem+json" in entry["responses"][status]["content"], f"{where}: {status}"


@pytest.mark.parametrize(
    ("address", "parameters"),
    [
        ("runs/{run_id}/series/", set(SeriesParameters().fields) | {"run_id"}),
        ("series/", set(SeriesOfRunsParameters().fields)),
        ("runs/{run_id}/series-index/", {"run_id", "format"}),
    ],
)
def test_series_are_described_with_every_format_and_parameter(
    schema: dict[str, Any], address: str, parameters: set[str]
) -> None:
    described = schema["paths"][f"/api/v1/{address}"]["get"]
    assert set(described["responses"]["200"]["content"]) == {one.media_type for one in FORMATS}
    assert {"304", "406"} <= set(described["responses"])
    names = [parameter["name"] for parameter in described["parameters"]]
    assert sorted(names) == sorted(parameters | {"If-None-Match"})
    (named,) = [parameter for parameter in described["parameters"] if parameter["name"] == "format"]
    assert sorted(named["schema"]["enum"]) == sorted(str(one.format) for one in FORMATS)


def test_limits_of_a_plan_are_those_that_are_kept(schema: dict[str, Any]) -> None:
    plan = schema["components"]["schemas"]["CampaignPlan"]["properties"]
    stated = {name: plan[name]["maximum"] for name in ("repetitions", "warmup", "duration")}
    assert stated == {
        "repetitions": campaigns_plan.MAX_REPETITIONS,
        "warmup": campaigns_plan.MAX_WARMUP,
        "duration": campaigns_plan.MAX_DURATION,
    }
    level = schema["components"]["schemas"]["PlannedLoadLevel"]["properties"]
    assert level["threads"]["maximum"] == catalog.MAX_THREADS


def test_slugs_with_dots_fit_the_schema(schema: dict[str, Any]) -> None:
    assert "^[-a-zA-Z0-9_]+$" not in json.dumps(schema["components"])


def test_raw_files_have_any_media_type(schema: dict[str, Any]) -> None:
    answer = schema["paths"]["/api/v1/runs/{run_id}/artifacts/{name}"]["get"]["responses"]["200"]
    assert set(answer["content"]) == {"*/*"}


def test_operations_have_names_of_their_own(schema: dict[str, Any]) -> None:
    names = [entry["operationId"] for _, _, entry in operations(schema)]
    assert len(names) == len(set(names))


@pytest.mark.parametrize(
    ("query", "start", "kind"),
    [
        ("", b"openapi: 3", "application/vnd.oai.openapi; charset=utf-8"),
        ("?format=json", b"{", "application/vnd.oai.openapi+json"),
    ],
)
def test_it_is_served_as_yaml_and_json(anyone: APIClient, query: str, start: bytes, kind: str) -> None:
    answer = anyone.get(f"/api/v1/schema/{query}")
    assert (answer.status_code, answer.headers["Content-Type"]) == (200, kind)
    assert answer.content.startswith(start)


def test_strangers_who_ask_again_do_not_have_it_made_again(anyone: APIClient, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Any] = []
    generate: Any = SchemaGenerator.get_schema

    def counted(*args: Any, **options: Any) -> Any:
        made.append(options)
        return generate(*args, **options)

    monkeypatch.setattr(SchemaGenerator, "get_schema", counted)
    addresses = ("/api/v1/schema/", "/api/v1/schema/?format=json", "/api/v1/docs/")
    first = [anyone.get(address).content for address in addresses]
    made.clear()
    assert [anyone.get(f"{address}{'&' if '?' in address else '?'}version=2").content for address in addresses] == first
    assert made == []


def test_the_page_for_people_shows_every_operation_and_asks_no_other_host(
    client: Client, schema: dict[str, Any]
) -> None:
    answer = client.get("/api/v1/docs/")
    text = answer.content.decode()
    assert answer.status_code == 200
    for _, _, entry in operations(schema):
        assert f'id="{entry["operationId"]}"' in text
    assert "//" not in text.replace("<!doctype html>", "").replace("http://testserver", "")
