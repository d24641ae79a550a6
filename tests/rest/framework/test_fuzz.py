"""Whatever is sent, the answer is a success or a problem that names a field, never an error of the server."""

import json
from typing import Any
from urllib.parse import urlencode

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from rest_framework.test import APIClient

from apps.runs.models import Run
from tests.examples import examples
from tests.rest.series.test_series import sealed
from tests.rest.submissions import ADDRESS, POINT_SELECT, a_description, a_file, send
from tests.support.builders import a_user

pytestmark = pytest.mark.django_db
FEW = examples(40, suppress_health_check=[HealthCheck.function_scoped_fixture])

TEXTS = st.text(max_size=30) | st.sampled_from(
    ["\0", "\ud800", "a" * 5000, "-1", "1e999", "nan", "٣", "my-server", "2026-11-20T10:00:00Z", "../x", "%00"]
)
NUMBERS = (
    st.integers()
    | st.sampled_from([2**31, 2**63, 2**64, -(2**63), 10**400, 0, -1])
    | st.floats()
    | st.sampled_from([1e308, 5e-324, -0.0])
)
JSON = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=8,
)
PATHS = st.sampled_from(
    [
        ("system",),
        ("system", "slug"),
        ("system", "platform"),
        ("system", "version"),
        ("system", "hardware_class"),
        ("system", "hardware"),
        ("system", "nodes"),
        ("system", "settings"),
        ("system", "endpoint"),
        ("workload",),
        ("workload", "tool"),
        ("workload", "name"),
        ("workload", "parameters"),
        ("workload", "parameters", "test"),
        ("workload", "parameters", "tables"),
        ("workload", "parameters", "rand_type"),
        ("load_level",),
        ("load_level", "threads"),
        ("load_level", "rate"),
        ("started_at",),
        ("warmup",),
        ("repetition",),
        ("tags",),
        ("server_version",),
        ("variables",),
        ("uid",),
        ("outcome",),
        ("reason",),
        ("surprise",),
    ]
)


@pytest.fixture
def quick_engineer(db: None) -> APIClient:
    """One that lets an unforeseen error through instead of raising it in the test."""
    client = APIClient(raise_request_exception=False)
    client.force_authenticate(a_user())
    return client


def check(answer: Any, *, whole: bool = False) -> None:
    """`whole`: a problem may be one of the body as a whole."""
    assert answer.status_code in (200, 201) or 400 <= answer.status_code < 500, answer.content[:2000]
    if answer.status_code >= 400:
        assert answer["Content-Type"] == "application/problem+json"
        document = answer.json()
        assert document["status"] == answer.status_code
        assert document["detail"]
        assert all(set(error) <= {"field", "message", "remedy"} for error in document.get("errors", []))
        if answer.status_code == 422:
            assert document["errors"]
            assert whole or all(error["field"] for error in document["errors"])


def placed(path: tuple[str, ...], value: Any) -> dict[str, Any]:
    description: dict[str, Any] = json.loads(json.dumps(a_description()))
    inside = description
    for name in path[:-1]:
        inside = inside.setdefault(name, {})
    inside[path[-1]] = value
    return description


@FEW
@given(path=PATHS, value=JSON)
def test_any_value_anywhere_in_a_description(quick_engineer: APIClient, path: tuple[str, ...], value: Any) -> None:
    check(send(quick_engineer, json.dumps(placed(path, value)).encode()))


@FEW
@given(path=PATHS)
def test_any_field_left_out_of_a_description(quick_engineer: APIClient, path: tuple[str, ...]) -> None:
    description = placed(path, None)
    inside = description
    for name in path[:-1]:
        inside = inside[name]
    del inside[path[-1]]
    check(send(quick_engineer, description))


@FEW
@given(description=JSON.map(lambda value: json.dumps(value).encode()) | st.binary(max_size=200))
def test_any_description(quick_engineer: APIClient, description: bytes) -> None:
    check(send(quick_engineer, description))


@FEW
@given(cut=st.integers(0, 3054), piece=st.binary(max_size=40), drop=st.integers(0, 400))
def test_any_damage_to_an_output(quick_engineer: APIClient, cut: int, piece: bytes, drop: int) -> None:
    output = POINT_SELECT.read_bytes()
    check(send(quick_engineer, a_description(), output[:cut] + piece + output[cut + drop :]))


@FEW
@given(
    fields=st.dictionaries(
        st.sampled_from(["system", "workload", "threads", "rate", "started_at", "warmup", "repetition", "tag", "uid"])
        | st.text(min_size=1, max_size=10),
        st.text(max_size=20) | st.integers().map(str),
        max_size=5,
    )
)
def test_any_form_fields(quick_engineer: APIClient, fields: dict[str, str]) -> None:
    def readable(text: str) -> str:
        return text.encode("utf-8", "replace").decode().replace("\r", "").replace("\n", "").replace('"', "")

    form = {readable(name) or "x": readable(value) for name, value in fields.items()}
    check(quick_engineer.post(ADDRESS, {**form, "output": a_file(POINT_SELECT.read_bytes())}, format="multipart"))


@FEW
@given(body=st.binary(max_size=300), boundary=st.sampled_from(["b", "--b", "b; charset=utf-7", 'b"', ""]))
def test_any_multipart_body(quick_engineer: APIClient, body: bytes, boundary: str) -> None:
    framed = b"--b\r\n" + body + b"\r\n--b--\r\n"
    check(quick_engineer.post(ADDRESS, framed, content_type=f"multipart/form-data; boundary={boundary}"))


@FEW
@given(body=JSON, address=st.sampled_from(["systems/", "campaigns/"]))
def test_any_json_body(quick_engineer: APIClient, body: Any, address: str) -> None:
    text = json.dumps(body).encode()
    answer = quick_engineer.post(f"/api/v1/{address}", text, content_type="application/json")
    check(answer, whole=not isinstance(body, dict))


@FEW
@given(
    address=st.sampled_from(["runs/", "metrics/", "campaigns/", "published/", "comparisons/", "releases/"]),
    name=st.sampled_from(
        ["cursor", "limit", "tag", "q", "since", "platform", "side", "workload", "runs", "state", "release", "article"]
    ),
    value=TEXTS | NUMBERS.map(str),
)
def test_any_query(quick_engineer: APIClient, address: str, name: str, value: str) -> None:
    query = {name: value.encode("utf-8", "replace").decode()}
    check(quick_engineer.get(f"/api/v1/{address}", query_params=query))


@FEW
@given(
    path=st.sampled_from(["runs/{}/series/", "runs/{}/series-index/", "series/?run={}&"]),
    name=st.sampled_from(
        [
            "metric",
            "node",
            "points",
            "from",
            "to",
            "align",
            "event",
            "event_label",
            "over_nodes",
            "raw",
            "format",
            "run",
        ]
    ),
    value=TEXTS
    | NUMBERS.map(str)
    | st.sampled_from(["*", "true", "sum", "event", "measured", "csv", "arrow", "parquet"]),
    accept=st.sampled_from(["", "*/*", "text/csv", "text/html", "a/b;q=0.5;q=2, text/csv;q=1e5"])
    | st.text(max_size=20),
)
def test_any_question_about_series(quick_engineer: APIClient, path: str, name: str, value: str, accept: str) -> None:
    run = Run.objects.first() or sealed()
    query = urlencode({name: value.encode("utf-8", "replace").decode()})
    address = path.format(run.pk)
    accepted = "".join(character for character in accept if character.isprintable()).encode("latin-1", "replace")
    check(
        quick_engineer.get(
            f"/api/v1/{address}{'' if '?' in address else '?'}{query}", headers={"Accept": accepted.decode("latin-1")}
        )
    )
