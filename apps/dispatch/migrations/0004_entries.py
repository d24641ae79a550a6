"""Load levels, warm-up and duration belong to each workload of a campaign, no longer to the campaign as a whole.

The entries of campaigns that exist get what their campaign said for all of its workloads.
"""

import django.db.models.deletion
from django.db import migrations, models

FILL = """
INSERT INTO dispatch_entry (campaign_id, place, workload_id, warmup, duration, ends_when_refused)
SELECT c.id, row_number() OVER (PARTITION BY c.id ORDER BY min(j.position), w.workload_id) - 1,
       w.workload_id, c.warmup, c.duration, false
FROM dispatch_campaign c
JOIN dispatch_campaign_workloads w ON w.campaign_id = c.id
LEFT JOIN dispatch_job j ON j.campaign_id = c.id AND j.workload_id = w.workload_id
GROUP BY c.id, w.workload_id;

INSERT INTO dispatch_entry_load_levels (entry_id, loadlevel_id)
SELECT e.id, l.loadlevel_id
FROM dispatch_entry e JOIN dispatch_campaign_load_levels l ON l.campaign_id = e.campaign_id;

UPDATE dispatch_job SET entry_id = e.id
FROM dispatch_entry e WHERE e.campaign_id = dispatch_job.campaign_id AND e.workload_id = dispatch_job.workload_id;

-- Foreign keys are checked at the end otherwise, and no table with a check to come may be altered.
SET CONSTRAINTS ALL IMMEDIATE;
"""


class Migration(migrations.Migration):
    dependencies = [
        ("catalog", "0001_initial"),
        ("dispatch", "0003_job_transitions"),
    ]

    operations = [
        migrations.CreateModel(
            name="Entry",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("place", models.PositiveIntegerField()),
                ("warmup", models.FloatField(default=0, verbose_name="warm-up of each run, s")),
                ("duration", models.FloatField(verbose_name="measured phase of each run, s")),
                ("ends_when_refused", models.BooleanField(default=False)),
                ("least_gain", models.FloatField(blank=True, null=True)),
                (
                    "campaign",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="entries", to="dispatch.campaign"
                    ),
                ),
                ("load_levels", models.ManyToManyField(related_name="entries", to="catalog.loadlevel")),
                (
                    "workload",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="entries", to="catalog.workload"
                    ),
                ),
            ],
            options={"ordering": ["campaign", "place"]},
        ),
        migrations.CreateModel(
            name="Skip",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("reason", models.TextField()),
                (
                    "job",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="skips", to="dispatch.job"
                    ),
                ),
                (
                    "load_level",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="skips", to="catalog.loadlevel"
                    ),
                ),
            ],
            options={"ordering": ["job", "load_level"]},
        ),
        migrations.AddField(
            model_name="job",
            name="entry",
            field=models.ForeignKey(
                null=True, on_delete=django.db.models.deletion.CASCADE, related_name="jobs", to="dispatch.entry"
            ),
        ),
        migrations.RunSQL(sql=FILL),
        migrations.AlterField(
            model_name="job",
            name="entry",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="jobs", to="dispatch.entry"
            ),
        ),
        migrations.RemoveConstraint(model_name="job", name="job_once"),
        migrations.AddConstraint(
            model_name="job",
            constraint=models.UniqueConstraint(fields=("entry", "system", "repetition"), name="job_once"),
        ),
        migrations.RemoveConstraint(model_name="campaign", name="campaign_times_positive"),
        migrations.RemoveField(model_name="campaign", name="duration"),
        migrations.RemoveField(model_name="campaign", name="warmup"),
        migrations.RemoveField(model_name="campaign", name="load_levels"),
        migrations.RemoveField(model_name="campaign", name="workloads"),
        migrations.AddConstraint(
            model_name="entry",
            constraint=models.UniqueConstraint(fields=("campaign", "place"), name="entry_place_once"),
        ),
        migrations.AddConstraint(
            model_name="entry",
            constraint=models.CheckConstraint(
                condition=models.Q(("duration__gt", 0), ("warmup__gte", 0)), name="entry_times_positive"
            ),
        ),
        migrations.AddConstraint(
            model_name="entry",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("least_gain", None), models.Q(("least_gain__gt", 0), ("least_gain__lt", 1)), _connector="OR"
                ),
                name="entry_gain_is_a_share",
            ),
        ),
        migrations.AddConstraint(
            model_name="skip",
            constraint=models.UniqueConstraint(fields=("job", "load_level"), name="skip_once"),
        ),
    ]
