"""Migrations of data, run on rows that need them."""

from django.db import connection
from django.db.migrations.loader import MigrationLoader


def apply_again(app: str, *names: str) -> None:
    """Applies these migrations in their order, on top of all others."""
    loader = MigrationLoader(connection)
    for name in names:
        migration = loader.get_migration(app, name)
        state = loader.project_state((app, name), at_end=False)
        with connection.schema_editor(atomic=migration.atomic) as editor:
            migration.apply(state, editor)
