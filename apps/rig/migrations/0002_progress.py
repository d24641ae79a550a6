from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("rig", "0001_initial")]

    operations = [
        migrations.AlterField(
            model_name="studystate",
            name="loaded_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="studystate",
            name="wanted",
            field=models.PositiveIntegerField(default=0),
        ),
        migrations.AddField(
            model_name="studystate",
            name="restored",
            field=models.PositiveIntegerField(default=0),
        ),
        migrations.AddField(
            model_name="studystate",
            name="changed_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
    ]
