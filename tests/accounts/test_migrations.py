"""Tokens from before there were scopes keep what their owner's role allows, and have no end."""

from collections.abc import Iterator

import pytest
from django.apps.registry import Apps
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

pytestmark = pytest.mark.django_db(transaction=True)


def migrated(name: str) -> Apps:
    targets = [("accounts", name)]
    MigrationExecutor(connection).migrate(targets)
    return MigrationExecutor(connection).loader.project_state(targets).apps


@pytest.fixture(autouse=True)
def back_to_the_latest() -> Iterator[None]:
    latest = MigrationExecutor(connection).loader.graph.leaf_nodes()
    yield
    MigrationExecutor(connection).migrate(latest)


def test_existing_tokens_get_the_widest_scope_of_the_role_and_no_end() -> None:
    before = migrated("0002_saved_filters")
    for role in ("reader", "engineer", "administrator"):
        user = before.get_model("accounts", "User").objects.create(username=role, role=role)
        before.get_model("accounts", "ApiToken").objects.create(user=user, name="old", prefix="x", digest=role)
    after = migrated("0003_token_scope_and_expiry").get_model("accounts", "ApiToken")
    assert list(after.objects.order_by("id").values_list("user__role", "scope", "expires_at")) == [
        ("reader", "read", None),
        ("engineer", "review", None),
        ("administrator", "review", None),
    ]
