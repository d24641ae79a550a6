import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("comparison", "0002_saved_pins")]

    operations = [
        migrations.RenameModel(old_name="Edition", new_name="Snapshot"),
        migrations.AlterField(
            model_name="snapshot",
            name="comparison",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="snapshots",
                to="comparison.savedcomparison",
            ),
        ),
        migrations.RemoveConstraint(model_name="snapshot", name="edition_once"),
        migrations.RemoveConstraint(model_name="snapshot", name="edition_hash_is_sha256"),
        migrations.AddConstraint(
            model_name="snapshot",
            constraint=models.UniqueConstraint(fields=["comparison", "number"], name="snapshot_once"),
        ),
        migrations.AddConstraint(
            model_name="snapshot",
            constraint=models.CheckConstraint(
                condition=models.Q(("state_hash__regex", "^[0-9a-f]{64}$")), name="snapshot_hash_is_sha256"
            ),
        ),
    ]
