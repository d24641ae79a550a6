"""The samples of a node's series move from a block in each row into one block per node, with a checksum in each."""

import struct
import zlib

import django.contrib.postgres.fields
import django.db.models.deletion
from django.db import migrations, models


def gather(apps, schema_editor):
    """Old blocks: type, length of the map of gaps, map, values. New ones: type, CRC-32, the same, and a length before
    the values. What they hold stays."""
    Series, Block = apps.get_model("runs", "Series"), apps.get_model("runs", "Block")
    for node in apps.get_model("runs", "RunNode").objects.exclude(clock=b"").iterator():
        node.clock = _with_checksum(bytes(node.clock))
        node.save(update_fields=["clock"])
    places = Series.objects.order_by("run_id", "node").values_list("run_id", "node").distinct()
    for run_id, node in list(places):
        data = bytearray()
        for row in Series.objects.filter(run_id=run_id, node=node).order_by("metric_id"):
            block = _with_checksum(bytes(row.samples))
            Series.objects.filter(run_id=run_id, node=node, metric_id=row.metric_id).update(
                offset=len(data), length=len(block)
            )
            data += block
        Block.objects.create(run_id=run_id, node=node, size=len(data), data=bytes(data))


def _with_checksum(old):
    tag, gap_length = struct.unpack_from("<cI", old)
    gaps, packed = old[5 : 5 + gap_length], old[5 + gap_length :]
    body = tag + struct.pack("<I", gap_length) + gaps + (struct.pack("<I", len(packed)) + packed if packed else b"")
    return tag + struct.pack("<I", zlib.crc32(body)) + body[1:]


class Migration(migrations.Migration):

    dependencies = [
        ('catalog', '0001_initial'),
        ('runs', '0004_seal_attempts'),
    ]

    operations = [
        migrations.AddField(
            model_name='run',
            name='derivation',
            field=models.PositiveSmallIntegerField(default=0),
        ),
        migrations.AddField(
            model_name='run',
            name='told',
            field=models.JSONField(blank=True, default=dict),
        ),
        migrations.AddField(
            model_name='series',
            name='base',
            field=models.BigIntegerField(default=0, verbose_name='what its integers are counted from'),
        ),
        migrations.AddField(
            model_name='series',
            name='length',
            field=models.PositiveIntegerField(default=0, verbose_name="length in the node's block, bytes"),
        ),
        migrations.AddField(
            model_name='series',
            name='offset',
            field=models.PositiveIntegerField(default=0, verbose_name="place in the node's block, bytes"),
        ),
        migrations.AddField(
            model_name='series',
            name='whole_count',
            field=models.PositiveIntegerField(default=0),
        ),
        migrations.AddField(
            model_name='series',
            name='whole_first',
            field=models.FloatField(null=True),
        ),
        migrations.AddField(
            model_name='series',
            name='whole_increase',
            field=models.FloatField(null=True),
        ),
        migrations.AddField(
            model_name='series',
            name='whole_last',
            field=models.FloatField(null=True),
        ),
        migrations.AddField(
            model_name='series',
            name='whole_maximum',
            field=models.FloatField(null=True),
        ),
        migrations.AddField(
            model_name='series',
            name='whole_mean',
            field=models.FloatField(null=True),
        ),
        migrations.AddField(
            model_name='series',
            name='whole_minimum',
            field=models.FloatField(null=True),
        ),
        migrations.AddField(
            model_name='series',
            name='whole_p1',
            field=models.FloatField(null=True),
        ),
        migrations.AddField(
            model_name='series',
            name='whole_p5',
            field=models.FloatField(null=True),
        ),
        migrations.AddField(
            model_name='series',
            name='whole_p50',
            field=models.FloatField(null=True),
        ),
        migrations.AddField(
            model_name='series',
            name='whole_p95',
            field=models.FloatField(null=True),
        ),
        migrations.AddField(
            model_name='series',
            name='whole_p99',
            field=models.FloatField(null=True),
        ),
        migrations.AddField(
            model_name='series',
            name='whole_resets',
            field=models.PositiveIntegerField(default=0),
        ),
        migrations.AddField(
            model_name='series',
            name='whole_stddev',
            field=models.FloatField(null=True),
        ),
        migrations.AlterField(
            model_name='series',
            name='count',
            field=models.PositiveIntegerField(default=0),
        ),
        migrations.CreateModel(
            name='ArchivedRun',
            fields=[
                ('run', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='archived', serialize=False, to='runs.run')),
                ('manifest', models.CharField(max_length=300, verbose_name='path of the manifest in the archive')),
                ('manifest_sha256', models.CharField(max_length=64)),
                ('size', models.BigIntegerField(verbose_name='size of all its files, bytes')),
                ('archived_at', models.DateTimeField()),
                ('moved_at', models.DateTimeField(blank=True, null=True)),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('manifest_sha256__regex', '^[0-9a-f]{64}$')), name='archived_hash_is_sha256'), models.CheckConstraint(condition=models.Q(('size__gte', 0)), name='archived_size_not_negative')],
            },
        ),
        migrations.CreateModel(
            name='Block',
            fields=[
                ('pk', models.CompositePrimaryKey('run_id', 'node', blank=True, editable=False, primary_key=True, serialize=False)),
                ('node', models.PositiveSmallIntegerField()),
                ('size', models.BigIntegerField(verbose_name='size, bytes')),
                ('data', models.BinaryField(null=True)),
                ('run', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='blocks', to='runs.run')),
            ],
        ),
        migrations.CreateModel(
            name='Distribution',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('node', models.PositiveSmallIntegerField(default=0)),
                ('starts_at', models.FloatField(verbose_name="start, s on the run's clock")),
                ('ends_at', models.FloatField(verbose_name="end, s on the run's clock")),
                ('grid', models.CharField(max_length=60)),
                ('buckets', django.contrib.postgres.fields.ArrayField(base_field=models.IntegerField(), size=None)),
                ('counts', django.contrib.postgres.fields.ArrayField(base_field=models.BigIntegerField(), size=None)),
                ('byte_start', models.BigIntegerField()),
                ('byte_end', models.BigIntegerField()),
                ('parser', models.CharField(max_length=40)),
                ('parser_version', models.CharField(max_length=20)),
                ('artifact', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='distributions', to='runs.artifact')),
                ('metric', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='catalog.metric')),
                ('run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='distributions', to='runs.run')),
            ],
            options={
                'ordering': ['run', 'metric', 'node', 'starts_at'],
                'constraints': [models.UniqueConstraint(fields=('run', 'metric', 'node', 'starts_at'), name='distribution_once'), models.CheckConstraint(condition=models.Q(('buckets__len', models.F('counts__len'))), name='distribution_has_a_count_per_bucket'), models.CheckConstraint(condition=models.Q(('ends_at__gte', models.F('starts_at'))), name='distribution_in_order')],
            },
        ),
        migrations.RunSQL(
            sql="ALTER TABLE runs_block ALTER COLUMN data SET STORAGE EXTERNAL",
            reverse_sql=migrations.RunSQL.noop,
        ),
        migrations.RunPython(gather, migrations.RunPython.noop),
    ]
