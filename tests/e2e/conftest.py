"""One web server and one worker for all of these tests; the database and the agents are each test's own."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db import OperationalError, connection
from pytest_django.plugin import DjangoDbBlocker

from tests.e2e.stack import Stack
from tests.support.cloud import aws_server, lead_to
from tests.support.waiting import eventually


@pytest.fixture(scope="package")
def product(
    tmp_path_factory: pytest.TempPathFactory,
    var_folder: Path,
    django_db_setup: None,
    django_db_blocker: DjangoDbBlocker,
) -> Iterator[Stack]:
    """AWS is moto's server for all of it."""
    with aws_server() as endpoint, pytest.MonkeyPatch.context() as patch, django_db_blocker.unblock():
        lead_to(endpoint, patch)
        running = Stack(tmp_path_factory.mktemp("stack"), var_folder)
        try:
            call_command("seed_catalog", verbosity=0)
            running.start()
            yield running
        finally:
            running.close()
            eventually(_empty_database, what="the database is empty")


@pytest.fixture
def transactional_db(product: Stack, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """In place of pytest-django's, whose clean-up fails when it and a worker that is still at work lock tables against
    each other; by this name it knows that the tests need a database."""
    with django_db_blocker.unblock():
        call_command("seed_catalog", verbosity=0)
        yield
        eventually(_empty_database, what="the database is empty")


@pytest.fixture
def seeded(product: Stack, transactional_db: None) -> Stack:
    """The product with an installation's catalog and nothing else."""
    return product


def _empty_database() -> bool:
    """False: a deadlock with the worker, which PostgreSQL ended."""
    try:
        # Numbers go on, so that a task that comes late finds nothing under the one that it was given.
        call_command("flush", interactive=False, verbosity=0, reset_sequences=False)
    except OperationalError:
        return False
    except CommandError as failed:
        if isinstance(failed.__cause__, OperationalError):
            return False
        raise
    finally:
        connection.close()
    return True
