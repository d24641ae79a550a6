"""Samplers have streams of their own; the same may happen to two nodes at the same moment."""

import django.contrib.postgres.fields
import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('runs', '0011_events_from_output'),
    ]

    operations = [
        migrations.CreateModel(
            name='Stream',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveSmallIntegerField()),
                ('agent', models.CharField(max_length=80)),
                ('nodes', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=80), default=list, size=None)),
                ('joined_at', models.DateTimeField(auto_now_add=True)),
                ('batches_expected', models.PositiveIntegerField(blank=True, null=True)),
                ('wait_until', models.DateTimeField(blank=True, null=True)),
                ('closed', models.BooleanField(default=False)),
            ],
            options={
                'ordering': ['run', 'number'],
            },
        ),
        migrations.CreateModel(
            name='StreamBatch',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('sequence', models.PositiveIntegerField()),
                ('checksum', models.CharField(max_length=64)),
                ('payload', models.BinaryField()),
                ('received_at', models.DateTimeField(auto_now_add=True)),
            ],
        ),
        migrations.RemoveConstraint(
            model_name='event',
            name='event_once',
        ),
        migrations.AddConstraint(
            model_name='event',
            constraint=models.UniqueConstraint(fields=('run', 'kind', 'starts_at', 'label', 'node'), name='event_once'),
        ),
        migrations.AddField(
            model_name='stream',
            name='run',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='streams', to='runs.run'),
        ),
        migrations.AddField(
            model_name='streambatch',
            name='stream',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='batches', to='runs.stream'),
        ),
        migrations.AddConstraint(
            model_name='stream',
            constraint=models.UniqueConstraint(fields=('run', 'number'), name='stream_number_once'),
        ),
        migrations.AddConstraint(
            model_name='stream',
            constraint=models.UniqueConstraint(fields=('run', 'agent'), name='stream_once_per_agent'),
        ),
        migrations.AddConstraint(
            model_name='streambatch',
            constraint=models.UniqueConstraint(fields=('stream', 'sequence'), name='stream_batch_once'),
        ),
        migrations.AddConstraint(
            model_name='streambatch',
            constraint=models.CheckConstraint(condition=models.Q(('checksum__regex', '^[0-9a-f]{64}$')), name='stream_batch_checksum_is_sha256'),
        ),
        migrations.RunSQL(
            sql="ALTER TABLE runs_streambatch ALTER COLUMN payload SET STORAGE EXTERNAL",
            reverse_sql="ALTER TABLE runs_streambatch ALTER COLUMN payload SET STORAGE EXTENDED",
        ),
    ]
