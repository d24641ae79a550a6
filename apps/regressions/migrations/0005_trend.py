"""Names the model of a watched series Trend; its table keeps its name, so that nothing is altered in the database."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("regressions", "0004_rules_and_decisions")]

    operations = [
        migrations.AlterModelTable("history", "regressions_history"),
        migrations.RenameModel("History", "Trend"),
        migrations.AlterField(
            "change",
            "kind",
            models.CharField(
                choices=[("release", "between releases"), ("history", "in the trend"), ("missing", "Missing")],
                max_length=8,
            ),
        ),
    ]
