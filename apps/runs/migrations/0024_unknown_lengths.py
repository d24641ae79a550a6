from django.db import migrations

# A planned length of 0 s meant that the tool's output states no phase; the seal stores it as not known.
MEND = "UPDATE runs_run SET duration = NULL WHERE duration = 0 AND state = 'sealed'"


class Migration(migrations.Migration):
    """Reads the table while others write to it."""

    dependencies = [("runs", "0023_readable_times_of_all")]

    operations = [migrations.RunSQL(MEND, migrations.RunSQL.noop)]
