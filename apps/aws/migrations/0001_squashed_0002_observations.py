import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    replaces = [
        ('aws', '0001_sightings'),
        ('aws', '0002_observations'),
    ]
    initial = True

    dependencies = [
        ('catalog', '0001_squashed_0005_workload_names'),
        ('runs', '0001_squashed_0018_series_lock_no_metric'),
    ]

    operations = [
        migrations.CreateModel(
            name='Collection',
            fields=[
                ('run', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='collection', serialize=False, to='runs.run')),
                ('due_at', models.DateTimeField()),
                ('attempts', models.PositiveIntegerField(default=0)),
                ('problem', models.TextField(blank=True)),
                ('done_at', models.DateTimeField(blank=True, null=True)),
            ],
            options={
                'indexes': [models.Index(condition=models.Q(('done_at', None)), fields=['due_at'], name='collection_due')],
            },
        ),
        migrations.CreateModel(
            name='Observation',
            fields=[
                ('system', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='observation', serialize=False, to='catalog.system')),
                ('tried_at', models.DateTimeField()),
                ('seen_at', models.DateTimeField(blank=True, null=True)),
                ('problem', models.TextField(blank=True)),
                ('engine', models.CharField(blank=True, max_length=60)),
                ('engine_version', models.CharField(blank=True, max_length=80)),
                ('status', models.CharField(blank=True, max_length=60)),
                ('endpoint', models.CharField(blank=True, max_length=255)),
                ('storage', models.CharField(blank=True, max_length=40)),
                ('instances', models.JSONField(blank=True, default=list)),
                ('prices', models.JSONField(blank=True, default=dict)),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('seen_at__isnull', False), models.Q(('problem', ''), _negated=True), _connector='OR'), name='sighting_or_its_problem')],
            },
        ),
    ]
