from django.contrib.postgres.operations import ValidateConstraint
from django.db import migrations

# No list with such a run could be read: what is left of its times is when this server heard of it.
MEND = """
UPDATE runs_run SET
  started_at = CASE
    WHEN started_at >= '2000-01-01 00:00+00' AND started_at < '2100-01-01 00:00+00' THEN started_at
    ELSE created_at END,
  ended_at = CASE
    WHEN ended_at IS NULL OR (ended_at >= '2000-01-01 00:00+00' AND ended_at < '2100-01-01 00:00+00') THEN ended_at
    ELSE coalesce(sealed_at, created_at) END
WHERE started_at < '2000-01-01 00:00+00' OR started_at >= '2100-01-01 00:00+00'
   OR ended_at < '2000-01-01 00:00+00' OR ended_at >= '2100-01-01 00:00+00'
"""


class Migration(migrations.Migration):
    """Reads the table while others write to it."""

    dependencies = [("runs", "0022_readable_times")]

    operations = [
        migrations.RunSQL(MEND, migrations.RunSQL.noop),
        ValidateConstraint("run", "run_times_readable"),
    ]
