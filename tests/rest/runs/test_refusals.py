"""What is refused of a submission is named so that it can be corrected: field, byte, encoding, allowed characters."""

import gzip
import json
from typing import Any

import pytest
from django.test.client import encode_multipart
from rest_framework.test import APIClient

from apps.runs.models import Run
from tests.rest.submissions import ADDRESS, POINT_SELECT, a_description, a_file, fields_of, send


@pytest.mark.parametrize(
    ("name", "fields"),
    [
        ("description", {"description": json.dumps(a_description(session="@"), ensure_ascii=False)}),
        ("session", {"session": "@"}),
        ("tag", {"tag": "@"}),
    ],
)
def test_text_in_another_encoding_is_refused_by_its_byte(
    engineer: APIClient, name: str, fields: dict[str, str]
) -> None:
    form = fields | {"output": a_file(POINT_SELECT.read_bytes())}
    if name != "description":
        form["description"] = json.dumps(a_description())
    body = encode_multipart("b", form)
    place = fields[name].index("@") + 3
    for text, status in (("café".encode("latin-1"), 422), ("café".encode(), 201)):
        sent = body.replace(b"@", text)
        answer = engineer.post(ADDRESS, sent, content_type="multipart/form-data; boundary=b")
        assert answer.status_code == status, answer.content
        if status == 422:
            assert answer.json()["errors"] == [
                {"field": name, "message": f"is not UTF-8: byte {place} is 0xe9; send it in UTF-8"}
            ]
    run = Run.objects.get()
    assert "café" in (run.session, *run.tags)


@pytest.mark.parametrize("address", [ADDRESS, "/api/v1/systems/", "/api/v1/own-address", "/api/v1/agent/hello"])
def test_a_body_with_a_content_encoding_is_refused_by_its_name(engineer: APIClient, address: str) -> None:
    body = gzip.compress(b"{}")
    answer = engineer.post(address, body, content_type="application/json", headers={"Content-Encoding": "gzip"})
    assert (answer.status_code, answer["Content-Type"]) == (415, "application/problem+json")
    said = "The body has the Content-Encoding 'gzip': send it unpacked, without this header."
    assert answer.json()["detail"] == said


@pytest.mark.parametrize("format_", [..., "sysbench"])
def test_a_compressed_output_is_named_as_such(engineer: APIClient, format_: Any) -> None:
    answer = send(engineer, a_description(format=format_), gzip.compress(POINT_SELECT.read_bytes()))
    assert (answer.status_code, answer.json()["detail"]) == (422, "output: is gzip (send it unpacked)")


@pytest.mark.parametrize(
    ("change", "field", "said"),
    [
        ({"system": "my server"}, "system", "only ASCII letters, digits, '-', '_' and '.'"),
        ({"system": a_description()["system"] | {"slug": "a/b"}}, "system.slug", "only ASCII letters"),
        ({"system": a_description()["system"] | {"name": "a\nb"}}, "system.name", "has a line break"),
        ({"tags": ["a\tb"]}, "tags.0", "has a line break"),
        ({"workload": "oltp_read_write"}, "workload", "a whole number) or an object with its parameters"),
    ],
)
def test_refusal_says_what_is_allowed(engineer: APIClient, change: dict[str, Any], field: str, said: str) -> None:
    answer = send(engineer, a_description(**change))
    assert (answer.status_code, fields_of(answer)) == (422, [field])
    assert said in answer.json()["detail"]
