"""Compressed columns are stored as they are: compressing them again costs time and saves nothing."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("runs", "0001_initial")]

    operations = [
        migrations.RunSQL(
            sql=f"ALTER TABLE {table} ALTER COLUMN {column} SET STORAGE EXTERNAL",
            reverse_sql=f"ALTER TABLE {table} ALTER COLUMN {column} SET STORAGE EXTENDED",
        )
        for table, column in (
            ("runs_series", "samples"),
            ("runs_runnode", "clock"),
            ("runs_batch", "payload"),
        )
    ]
