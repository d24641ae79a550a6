import datetime

from django.contrib.postgres.operations import AddConstraintNotValid
from django.db import migrations, models
from django.db.models import Q

EARLIEST = datetime.datetime(2000, 1, 1, tzinfo=datetime.UTC)
LATEST = datetime.datetime(2100, 1, 1, tzinfo=datetime.UTC)


class Migration(migrations.Migration):
    """New and changed rows only, so that the table is locked for a moment; the next migration looks at the others."""

    dependencies = [("runs", "0021_session")]

    operations = [
        AddConstraintNotValid(
            "run",
            models.CheckConstraint(
                condition=Q(started_at__gte=EARLIEST, started_at__lt=LATEST)
                & Q(ended_at__gte=EARLIEST, ended_at__lt=LATEST),
                name="run_times_readable",
            ),
        )
    ]
