"""Registering a system by hand: everything it needs is created, nothing known is changed, no secret is taken."""

from typing import Any

import pytest
from rest_framework.test import APIClient

from apps.catalog.models import HardwareClass, Platform, System
from tests.support.builders import a_system

ADDRESS = "/api/v1/systems/"
GALERA: dict[str, Any] = {
    "slug": "galera-3",
    "name": "Galera, three nodes",
    "platform": "mariadb-galera",
    "version": "10.11.19-MariaDB",
    "hardware_class": "my-box",
    "hardware": [{"slug": "my-box", "name": "my box", "vcpu": 8, "memory_bytes": 34359738368}],
    "endpoint": "10.0.0.5:3306",
    "settings": {"innodb_flush_log_at_trx_commit": "2"},
    "nodes": [{"name": "g1"}, {"name": "g2", "role": "reader", "zone": "eu-1b"}],
}


def fields_of(answer: Any) -> list[str]:
    assert answer["Content-Type"] == "application/problem+json", answer.content
    return [error["field"] for error in answer.json().get("errors", [])]


def test_a_system_brings_its_platform_release_and_hardware_along(engineer: APIClient) -> None:
    answer = engineer.post(ADDRESS, GALERA, format="json")
    assert answer.status_code == 201, answer.content
    system = System.objects.get(slug="galera-3")
    assert (system.release.platform.slug, system.release.version_key) == ("mariadb-galera", [10, 11, 19])
    assert system.hardware_class.vcpu == 8
    assert answer.json()["nodes"][1] == {"name": "g2", "role": "reader", "zone": "eu-1b", "hardware_class": "my-box"}
    assert "mariadb-galera" in answer.json()["warnings"][0]


def test_the_same_system_twice_is_one(engineer: APIClient) -> None:
    engineer.post(ADDRESS, GALERA, format="json")
    again = engineer.post(ADDRESS, GALERA, format="json")
    assert (again.status_code, again.json()["warnings"]) == (200, [])
    assert System.objects.count() == 1


def test_another_system_under_a_known_slug_is_a_conflict_and_changes_nothing(engineer: APIClient) -> None:
    engineer.post(ADDRESS, GALERA, format="json")
    answer = engineer.post(ADDRESS, GALERA | {"settings": {}, "platform": "surprise"}, format="json")
    assert (answer.status_code, fields_of(answer)) == (409, ["slug"])
    text = answer.content.decode()
    assert "the catalog keeps settings" in text
    assert "this message has {}" in text
    # Nobody's agent, and nothing that the refusal took back.
    assert "agent" not in text
    assert "was added" not in text
    assert not Platform.objects.filter(slug="surprise").exists()


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"slug": "no blanks"}, "slug"),
        ({"slug": None}, "slug"),
        ({"endpoint": "root:secret@10.0.0.5:3306"}, "endpoint"),
        ({"hardware_class": "never-described"}, "hardware_class"),
        ({"version": ""}, "version"),
        ({"platfrom": "pxc"}, "platfrom"),
        ({"nodes": [{"name": "g1", "role": "dictator"}]}, "nodes.0.role"),
        ({"nodes": [{"name": "g1"}, {"name": "g1"}]}, "nodes"),
        ({"hardware": [{"slug": "my-box", "name": "b", "vcpu": 10**30, "memory_bytes": 1}]}, "hardware.0.vcpu"),
        ({"settings": {"a": {"b": 1}}}, "settings.a"),
        ({"settings": {"a": "x\0y"}}, "settings.a"),
        ({"settings": {"a\0b": "x"}}, "settings"),
        ({"zone": 2**64}, "zone"),
        ({"settings": ["a"]}, "settings"),
    ],
)
def test_what_is_wrong_is_named_and_nothing_is_stored(engineer: APIClient, change: dict[str, Any], field: str) -> None:
    answer = engineer.post(ADDRESS, GALERA | change, format="json")
    assert (answer.status_code, fields_of(answer)) == (422, [field])
    assert not System.objects.exists()
    assert not HardwareClass.objects.exists()


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b'{"slug": "a', "JSON"),
        (b'{"slug": "\xff"}', "UTF-8"),
        (b'{"vcpu": NaN}', "NaN"),
        (b'{"vcpu": 1e999}', "too large"),
        (b'{"slug": "a", "slug": "b"}', "twice"),
        (b"[" * 100_000, "nested"),
        (b"[" * 30 + b"]" * 30, "nested"),
        (b'"' + b"x" * 3_000_000 + b'"', "bytes"),
    ],
)
def test_a_body_that_is_no_sound_json_says_why(engineer: APIClient, body: bytes, words: str) -> None:
    answer = engineer.post(ADDRESS, body, content_type="application/json")
    assert answer.status_code == 400
    assert words in answer.json()["detail"]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        (b'{"slug": "\\ud800"}', "slug"),
        (b'{"nodes": [{"\\udfff": 1}]}', "nodes.0"),
        (b'{"nodes": [{"name": "a\\u0000b"}]}', "nodes.0.name"),
    ],
)
def test_a_text_that_no_database_holds_is_named(engineer: APIClient, body: bytes, field: str) -> None:
    answer = engineer.post(ADDRESS, body, content_type="application/json")
    assert (answer.status_code, fields_of(answer)) == (422, [field])


def test_only_engineers_register_systems(anyone: APIClient, reader: APIClient) -> None:
    for client, status in ((anyone, 401), (reader, 403)):
        answer = client.post(ADDRESS, GALERA, format="json")
        assert (answer.status_code, answer["Content-Type"]) == (status, "application/problem+json")
    a_system("known")
    assert anyone.get(ADDRESS).json()["results"][0]["slug"] == "known"
