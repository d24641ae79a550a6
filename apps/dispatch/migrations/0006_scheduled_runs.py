from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("dispatch", "0005_schedules"), ("regressions", "0001_initial")]

    operations = [migrations.RenameModel("Slot", "ScheduledRun")]
