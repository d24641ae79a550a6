"""Names the model of a watched series Trend; its table keeps its name, so that nothing is altered in the database."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("regressions", "0004_rules_and_decisions")]

    operations = [
        migrations.AlterModelTable("history", "regressions_history"),
        migrations.RenameModel("History", "Trend"),
    ]
