"""Every operation of the OpenAPI schema, with bodies and parameters made from it, answers as the schema says."""

from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from django.core.handlers.wsgi import WSGIHandler
from django.core.signals import request_finished, request_started
from django.db import close_old_connections
from drf_spectacular.generators import SchemaGenerator
from hypothesis import HealthCheck
from schemathesis import Case
from schemathesis.checks import load_all_checks
from schemathesis.specs.openapi.checks import negative_data_rejection, positive_data_acceptance
from schemathesis.specs.openapi.schemas import OpenApiSchema

from apps.rest.agents.batches import BatchDoor
from tests.examples import examples
from tests.rest.talk import SECRET, the_agent
from tests.support.builders import a_system, a_token, a_user

load_all_checks()


@schemathesis.serializer("application/gzip")
def as_it_is(_context: object, value: Any) -> bytes:
    return value if isinstance(value, bytes) else str(value).encode()


# Besides the limits of each parameter and field; 60 each, 7,200 in all, with HYPOTHESIS_PROFILE=deep.
EACH = examples(3, suppress_health_check=list(HealthCheck))


def _schema() -> OpenApiSchema:
    generator = SchemaGenerator()  # type: ignore[no-untyped-call]  # untyped
    made = schemathesis.openapi.from_dict(generator.get_schema(request=None, public=True))  # type: ignore[no-untyped-call]  # untyped
    made.app = BatchDoor(WSGIHandler())
    return made


schema = _schema()


@pytest.fixture
def one_connection() -> Iterator[None]:
    """Requests leave the test's transaction alone, as they do with Django's test client."""
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    yield
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


@pytest.fixture
def authorizations(db: None, one_connection: None, settings: Any, enqueued: object) -> dict[str, str]:
    """Scheme -> header."""
    settings.SPLASHBOARD_PUBLIC_READ = False
    settings.ALLOWED_HOSTS = ["*"]
    _, token = a_token(a_user())
    the_agent(a_system())
    return {"token": f"Token {token}", "agent": f"Agent {SECRET}"}


@schema.parametrize()
@EACH
def test_answers_are_those_of_the_schema(case: "Case[Any]", authorizations: dict[str, str]) -> None:
    wanted = [name for each in case.operation.definition.raw.get("security", []) for name in each]
    headers = {"Accept-Encoding": "identity"}  # the transport decompresses nothing
    if known := [authorizations[name] for name in wanted if name in authorizations]:
        headers["Authorization"] = known[0]
    # Whether a system exists or a range has an order is no matter of a schema: 422 names the field.
    excluded: list[Any] = [positive_data_acceptance]
    if "" in (case.query or {}).values():
        excluded.append(negative_data_rejection)  # an empty parameter of a form counts as not given
    case.call_and_validate(headers=headers, excluded_checks=excluded)
