"""What the tests of submitting share: a real output of sysbench and a description that goes with it."""

import json
from io import BytesIO
from typing import Any

from rest_framework.test import APIClient

from tests.paths import RECORDINGS

POINT_SELECT = RECORDINGS / "sysbench_single" / "oltp_point_select_t16_p99.txt"
RATE_200 = RECORDINGS / "sysbench_single" / "oltp_read_write_t8_rate200_p99.txt"
CHECKPOINTS = RECORDINGS / "sysbench_single" / "oltp_read_write_t4_checkpoints5.txt"
NO_TABLE = RECORDINGS / "sysbench_errors" / "fatal_missing_table_t4.txt"
ADDRESS = "/api/v1/runs/"


def a_description(**changes: Any) -> dict[str, Any]:
    description: dict[str, Any] = {
        "system": {
            "slug": "my-server",
            "platform": "mariadb",
            "version": "10.11.19-MariaDB",
            "hardware_class": "my-box",
            "hardware": [{"slug": "my-box", "name": "my box", "vcpu": 2, "memory_bytes": 8589934592}],
        },
        "workload": {
            "tool": "sysbench",
            "parameters": {"test": "oltp_point_select", "tables": 4, "table_size": 100000},
        },
        "started_at": "2026-11-20T10:00:00Z",
    }
    return {name: value for name, value in (description | changes).items() if value is not ...}


def send(client: APIClient, description: object = None, output: bytes | None = None, **fields: Any) -> Any:
    """Submits as multipart/form-data; a `description` of None is left out, bytes go as they are."""
    form: dict[str, Any] = {"output": a_file(POINT_SELECT.read_bytes() if output is None else output), **fields}
    if isinstance(description, bytes):
        form["description"] = a_file(description, "description.json")
    elif description is not None:
        form["description"] = json.dumps(description)
    return client.post(ADDRESS, form, format="multipart")


def a_file(content: bytes, name: str = "sysbench.txt") -> BytesIO:
    file = BytesIO(content)
    file.name = name
    return file


def fields_of(answer: Any) -> list[str]:
    assert answer["Content-Type"] == "application/problem+json", answer.content
    return [error["field"] for error in answer.json().get("errors", [])]
