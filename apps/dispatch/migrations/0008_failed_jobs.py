from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False  # agents write jobs while the index is built
    dependencies = [
        ("dispatch", "0007_agent_systems"),
    ]

    operations = [
        AddIndexConcurrently(
            model_name="job",
            index=models.Index(condition=models.Q(("state", "failed")), fields=["finished_at"], name="job_failed"),
        ),
    ]
