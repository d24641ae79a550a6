"""Apart from 0005, whose writes PostgreSQL must have checked before the table changes."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("runs", "0005_blocks")]

    operations = [migrations.RemoveField(model_name="series", name="samples")]
