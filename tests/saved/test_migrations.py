"""Data of earlier releases survives: snapshots of saved comparisons were called editions."""

from typing import Any

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from apps.comparison.models import SavedComparison
from apps.saved import services
from tests.saved.test_saved import A, B, a_query, measure
from tests.support.builders import a_system, a_user

BEFORE = [("comparison", "0002_saved_pins")]


def migrated_to(targets: list[tuple[str, str]]) -> Any:
    executor = MigrationExecutor(connection)
    executor.migrate(targets)
    return MigrationExecutor(connection).loader.project_state(targets).apps


@pytest.mark.django_db(transaction=True)
def test_an_edition_of_an_earlier_release_is_shown_as_a_snapshot() -> None:
    measure(a_system("a"), A), measure(a_system("b"), B)
    services.save(query=a_query(), title="kept", note="", by=a_user())
    latest = MigrationExecutor(connection).loader.graph.leaf_nodes()
    try:
        edition = migrated_to(BEFORE).get_model("comparison", "Edition").objects.get()
        edition.pk, edition.number = None, 2
        edition.save()
    finally:
        migrated_to(latest)
    newest, first = services.load("kept"), services.load("kept", 1)
    assert [each.number for each in newest.snapshots] == [2, 1]
    assert newest.comparison == first.comparison is not None
    assert not services.standing(newest).out_of_date
    SavedComparison.objects.get().delete()
