"""The stores of this process of the tests: as other programs are given them, and as migrations change them."""

import fcntl
import os
import subprocess
import sys
from pathlib import Path
from urllib.parse import quote

import redis
from django.conf import settings
from django.db import connection
from django.db.migrations.loader import MigrationLoader

from tests.paths import ROOT


def template() -> str:
    """Database with all migrations, of which each process of the tests takes a copy; empty: there is none.

    `make test` has started an empty one for it. The first process that needs it migrates it, others wait.
    """
    name = os.environ.get("SPLASHBOARD_TEST_TEMPLATE", "")
    if name:
        with open(Path(os.environ["SPLASHBOARD_VAR"]) / "template", "a+") as made:
            fcntl.flock(made, fcntl.LOCK_EX)
            if not made.tell():
                subprocess.run([sys.executable, "manage.py", "migrate", "--verbosity", "0"], cwd=ROOT, check=True)
                made.write("migrated")
    return name


def database_url() -> str:
    """Address of the tests' database."""
    wanted = connection.settings_dict
    password = f":{quote(wanted['PASSWORD'])}" if wanted["PASSWORD"] else ""
    port = f":{wanted['PORT']}" if wanted["PORT"] else ""
    # A folder of a socket can only be given in the query.
    host, query = ("", f"?host={quote(wanted['HOST'])}") if wanted["HOST"].startswith("/") else (wanted["HOST"], "")
    return f"postgres://{wanted['USER']}{password}@{host}{port}/{wanted['NAME']}{query}"


def apply_again(app: str, *names: str) -> None:
    """Applies these migrations in their order, on top of all others."""
    loader = MigrationLoader(connection)
    for name in names:
        migration = loader.get_migration(app, name)
        state = loader.project_state((app, name), at_end=False)
        with connection.schema_editor(atomic=migration.atomic) as editor:
            migration.apply(state, editor)


def forget_tasks() -> None:
    """What other tests sent to the broker, and no worker took."""
    with redis.Redis.from_url(settings.REDIS_URL) as client:
        for queue in client.scan_iter("celery*"):
            client.delete(queue)
